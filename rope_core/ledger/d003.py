"""Document 003: encodings, RoPE's frequencies and the ways to a longer context."""

from __future__ import annotations

import numpy as np

from rope_core import schemes
from rope_core.attention import decay_bound, score_curve
from rope_core.encodings import (
    changed_base,
    digit_phases,
    nezha_table,
    order_gap,
    pooled,
    relative_residual,
    rope_beta,
    score_matrix,
    shaw_logits,
    shaw_output,
    sinusoidal,
    weights,
    words,
)
from rope_core.interpolation import compare_bounds, interpolation_bound, printed_bound, worst_interpolation
from rope_core.ledger.entry import Check, claim, gap, shortfall, undecided
from rope_core.ledger.kit import DIM, ROPE, M, adjacent, blocks, columns, draw
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.spectrum import Spectrum
from rope_core.temperature import softmax

THETA = ROPE.theta
LLAMA = Rope(128, 10_000.0, 2048)
SCALE = 8.0
FIRST, SECOND = "小明喜欢狗但不喜欢猫", "小明不喜欢狗但喜欢猫"


@claim("003-same-vectors")
def same_vectors() -> Check:
    x, y = words(list(FIRST), 16), words(list(SECOND), 16)
    as_sets = gap(x[np.lexsort(x.T)], y[np.lexsort(y.T)])
    seen = order_gap("nope", list(FIRST), list(SECOND), weights(16))
    return Check(gap(x, y), condition=max(as_sets, seen))


@claim("003-order-seen")
def order_seen() -> Check:
    """Each kind of encoding the document names must tell the two sentences apart."""
    w = weights(16)
    size = float(np.abs(pooled("nope", list(FIRST), w)).max())
    least = min(order_gap(name, list(FIRST), list(SECOND), w) for name in ("sinusoidal", "nezha", "deberta", "rope"))
    return Check(shortfall(least, 1e-3 * size))


@claim("003-sinusoidal")
def printed_sinusoidal() -> Check:
    printed = np.zeros((5, DIM))
    for i in range(5):
        for d in range(DIM // 2):
            printed[i, 2 * d] = np.sin((i + M) / 10_000 ** (2 * d / DIM))
            printed[i, 2 * d + 1] = np.cos((i + M) / 10_000 ** (2 * d / DIM))
    return Check(gap(printed, sinusoidal(np.arange(M, M + 5), DIM)))


def _relative_case() -> tuple[Array, Array, Array, Array, Array]:
    q, k, v = draw(31, 3, 6, DIM)
    return q, k, v, nezha_table(4, DIM), softmax(shaw_logits(q, k, np.arange(6), nezha_table(4, DIM)))


@claim("003-relative-k")
def relative_k() -> Check:
    q, k, _, table, a = _relative_case()
    loops = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            loops[i, j] = np.exp(q[i] @ (k[j] + table[np.clip(j - i, -4, 4) + 4]) / np.sqrt(DIM))
    w = weights(16)
    moved = relative_residual(score_matrix("nezha", np.arange(30), w), np.arange(30))
    return Check(max(gap(loops / loops.sum(axis=1, keepdims=True), a), moved))


@claim("003-relative-v")
def relative_v() -> Check:
    _, _, v, table, a = _relative_case()
    loops = [sum(a[i, j] * (v[j] + table[np.clip(j - i, -4, 4) + 4]) for j in range(6)) for i in range(6)]
    return Check(gap(loops, shaw_output(a, v, np.arange(6), table)))


def _elements(seed: int) -> Check:
    x = draw(seed, DIM)
    signs = np.tile([-1.0, 1.0], DIM // 2)
    right = rotation_matrix(M, THETA, "interleaved") @ x
    return Check(gap(columns(x, signs * x, M, THETA), right), corrected=gap(columns(x, adjacent(x), M, THETA), right))


@claim("003-elements")
def elements() -> Check:
    return _elements(32)


@claim("003-elements-again")
def elements_again() -> Check:
    return _elements(33)


@claim("003-theta")
def theta() -> Check:
    printed = np.array([10_000 ** (-2 * d / DIM) for d in range(DIM // 2)])
    return Check(gap(printed, THETA))


@claim("003-theta-range")
def theta_range() -> Check:
    inside = bool(np.all((LLAMA.theta > 0) & (LLAMA.theta <= 1)))
    return Check(0.0 if inside and bool(np.all(np.diff(LLAMA.theta) < 0)) else 1.0)


@claim("003-angle-range")
def angle_range() -> Check:
    def outside(positions: Array) -> float:
        angle = positions[:, None] * LLAMA.theta
        return float(np.mean(~((angle > 0) & (angle <= positions[:, None]))))

    return Check(outside(np.arange(0.0, 4096)), condition=outside(np.arange(1.0, 4096)))


@claim("003-sin")
def sine() -> Check:
    i = np.arange(50.0)[:, None]
    return Check(gap(np.sin(i * THETA), np.sin(10_000 ** (-2 * np.arange(DIM // 2) / DIM) * i)))


@claim("003-omega")
def omega() -> Check:
    """The general form's omega is theta: the sine repeats after 2 pi / theta and not before."""
    t = np.linspace(0, 500, 64)[:, None]
    after = gap(np.sin((t + ROPE.wavelength) * THETA), np.sin(t * THETA))
    halfway = gap(np.sin((t + ROPE.wavelength / 2) * THETA), -np.sin(t * THETA))
    return Check(max(after, halfway))


@claim("003-beta")
def beta() -> Check:
    b = 10_000 ** (2 / DIM)
    return Check(gap([b**-d for d in range(DIM // 2)], THETA))


@claim("003-digit-row")
def digit_row() -> Check:
    phases = digit_phases(M, rope_beta(ROPE), DIM // 2)
    return Check(max(gap(np.cos(M * THETA), np.cos(phases)), gap(np.sin(M * THETA), np.sin(phases))))


@claim("003-pi")
def position_interpolation() -> Check:
    i = np.arange(100.0)[:, None]
    return Check(gap((i / SCALE) * LLAMA.theta, i * (LLAMA.theta / schemes.linear(LLAMA, 1, SCALE).slowdown)))


@claim("003-2048-scale")
def reach() -> Check:
    """The first whole position whose interpolated place is past the trained 2048."""
    trained = np.arange(2048 * SCALE + 5) / SCALE < 2048
    return Check(abs(float(np.argmin(trained)) / (2048 * SCALE) - 1.0))


@claim("003-precision")
def precision() -> Check:
    """Neighbours stand 1/scale as far apart in every phase."""
    step = LLAMA.theta / schemes.linear(LLAMA, 1, SCALE).slowdown
    return Check(gap(step / LLAMA.theta, np.full(64, 1 / SCALE)))


def _code(seq_len: int, kind: str) -> Array:
    """Run a printed _set_cos_sin_cache in float64 and return the frequencies it uses, trained length 2048."""
    dim, base, trained, factor = 128, 10_000.0, 2048, SCALE
    t = np.arange(seq_len, dtype=np.float64)
    inv_freq = 1.0 / base ** (np.arange(0, dim, 2) / dim)
    if kind == "interpolate":
        t = t / factor
    if kind == "raise" and seq_len > trained:
        inv_freq = 1.0 / (base * factor ** (dim / (dim - 2))) ** (np.arange(0, dim, 2) / dim)
    if kind == "follow" and seq_len > trained:
        grown = base * (factor * seq_len / trained - (factor - 1)) ** (dim / (dim - 2))
        inv_freq = 1.0 / grown ** (np.arange(0, dim, 2) / dim)
    return np.asarray(np.outer(t, inv_freq)[1])


@claim("003-code-linear")
def code_linear() -> Check:
    wanted = LLAMA.theta / schemes.linear(LLAMA, 4096, SCALE).slowdown
    return Check(gap(_code(4096, "interpolate") / wanted, np.ones(64)))


@claim("003-code-ntk")
def code_ntk() -> Check:
    wanted = LLAMA.theta / schemes.ntk(LLAMA, 1, SCALE).slowdown
    short, long = (gap(_code(length, "raise") / wanted, np.ones(64)) for length in (1024, 4096))
    return Check(max(short, long), corrected=long)


@claim("003-code-dynamic")
def code_dynamic() -> Check:
    worst = 0.0
    for length in (1024, 2048, 3000, 16_384):
        wanted = LLAMA.theta / schemes.dynamic(LLAMA, length, SCALE).slowdown
        worst = max(worst, gap(_code(length, "follow") / wanted, np.ones(64)))
    return Check(worst)


@claim("003-600")
def about_600() -> Check:
    """Stated "at least about 600": the smallest true ratio to distance 131,072, then the paper's own 64 ln(base)."""
    found = compare_bounds(LLAMA, 131_072)
    return Check(shortfall(found.smallest, 600.0), condition=abs(found.printed / 600.0 - 1.0), tolerance=0.02)


@claim("003-600-bound")
def bound_of_600() -> Check:
    reached = worst_interpolation(LLAMA)
    over, under = reached / printed_bound(LLAMA) - 1.0, reached / interpolation_bound(LLAMA) - 1.0
    return Check(max(over, 0.0), corrected=max(under, 0.0))


def _alpha(scale: float = SCALE) -> float:
    return float(scale ** (2 / (128 - 2)))


@claim("003-ntk-theta")
def ntk_theta() -> Check:
    printed = (_alpha() * rope_beta(LLAMA)) ** -np.arange(64.0)
    return Check(gap(printed * schemes.ntk(LLAMA, 1, SCALE).slowdown / LLAMA.theta, np.ones(64)))


@claim("003-ntk-alpha")
def ntk_alpha() -> Check:
    slowest = (_alpha() * rope_beta(LLAMA)) ** -63.0
    return Check(
        max(
            abs(slowest * SCALE / LLAMA.theta[-1] - 1),
            abs(changed_base(LLAMA, SCALE) / rope_beta(LLAMA) / _alpha() - 1),
        )
    )


@claim("003-ntk-base")
def ntk_base() -> Check:
    d = np.arange(64.0)
    lines = [
        (_alpha() * rope_beta(LLAMA)) ** -d,
        (rope_beta(LLAMA) * SCALE ** (2 / 126)) ** -d,
        (10_000 ** (2 / 128) * SCALE ** (2 / 126)) ** -d,
        (10_000 * SCALE ** (128 / 126)) ** (-2 * d / 128),
    ]
    return Check(max(gap(line / lines[0], np.ones(64)) for line in lines))


@claim("003-ntk-high-kept")
def ntk_high_kept() -> Check:
    slow = schemes.ntk(LLAMA, 1, SCALE).slowdown
    return Check(float(slow[1] - 1.0), condition=float(abs(slow[0] - 1.0)))


@claim("003-ntk-sweep")
def ntk_sweep() -> Check:
    """The alpha that a curve of factor 2, 4, 8, 16 carries, against alpha = scale**(2/(d-2)) of the text."""
    sweep = np.array([2.0, 4.0, 8.0, 16.0])
    return Check(
        gap(np.array([_alpha(s) for s in sweep]), sweep),
        corrected=gap(np.array([_alpha(s) for s in sweep]) ** 63, sweep),
    )


@claim("003-ntk-2-billion")
def two_billion() -> Check:
    return Check(abs(2048 * 1e6 / 2e9 - 1.0), tolerance=0.03)


@claim("003-ntk-distinguishable")
def distinguishable() -> Check:
    """Stretched a million times, no two positions of 131,072 come closer than neighbours do without any stretch / 2."""
    f = LLAMA.theta / schemes.ntk(LLAMA, 1, 1e6).slowdown
    near = np.linalg.norm(np.exp(1j * LLAMA.theta) - 1.0)
    apart = min(
        float(np.linalg.norm(np.exp(1j * np.arange(low, low + 4096)[:, None] * f) - 1.0, axis=1).min())
        for low in range(1, 131_072, 4096)
    )
    return Check(shortfall(apart, float(near) / 2))


@claim("003-ntk-cache")
def ntk_cache() -> Check:
    """The share of the named tensors Q, K, V that change with the base where only K is cached and rotated."""
    x = draw(34, 6, DIM)
    w_k, w_v = draw(35, 2, DIM, DIM)
    slow = schemes.ntk(ROPE, 1, SCALE).slowdown
    changed = []
    for project, rotates in ((w_k, True), (w_v, False)):
        z = x @ project.T
        old, new = (
            [rotation_matrix(t, f, "interleaved") @ z[t] if rotates else z[t] for t in range(6)]
            for f in (THETA, THETA / slow)
        )
        changed.append(gap(old, new) > 1e-6)
    return Check(1.0 - float(np.mean(changed)), corrected=0.0 if changed == [True, False] else 1.0)


@claim("003-dynamic")
def dynamic() -> Check:
    def error(length: int) -> float:
        stretch = length / 2048 * SCALE - (SCALE - 1)
        if stretch <= 0:
            return float("inf")
        printed = (10_000 * stretch ** (128 / 126)) ** (-2 * np.arange(64) / 128)
        return gap(printed * schemes.dynamic(LLAMA, length, SCALE).slowdown / LLAMA.theta, np.ones(64))

    return Check(error(2000), condition=max(error(length) for length in (2048, 2049, 10_000)))


@claim("003-temperature")
def temperature_form() -> Check:
    q, k = draw(36, 2, 6, DIM)
    t = 1 / schemes.temperature(SCALE) ** 2
    rq, rk = (np.stack([rotation_matrix(p, THETA, "interleaved") @ row for p, row in enumerate(z)]) for z in (q, k))
    a = softmax(rq @ rk.T / (t * np.sqrt(DIM)))
    root = np.sqrt(1 / t)
    return Check(gap(a, softmax((root * rq) @ (root * rk).T / np.sqrt(DIM))))


@claim("003-closer")
def closer() -> Check:
    """Mean score over the trained distances, interpolated against plain: drawn q and k, then q = k."""
    d = np.arange(1.0, 2048)
    plain, slowed = Spectrum.of(LLAMA.theta), Spectrum.of(LLAMA.theta / SCALE)
    gains = []
    for seed in range(16):
        q, k = draw(370 + seed, 2, 128)
        gains.append(float(np.mean(score_curve(slowed, d, q, k) - score_curve(plain, d, q, k))))
    same = float(np.mean(score_curve(slowed, d) - score_curve(plain, d)))
    return Check(float(np.mean(np.array(gains) <= 0)), condition=0.0 if same > 0 else 1.0)


@claim("003-decay")
def decay() -> Check:
    """The bound rises at many single steps; its means over 256 tokens fall up to 2048."""
    bound = decay_bound(Spectrum.of(LLAMA.theta), np.arange(2048.0))
    falls = np.diff(bound.reshape(-1, 256).mean(axis=1))
    return Check(float(np.mean(np.diff(bound) > 0)), condition=float(np.mean(falls > 0)))


@claim("003-llama-code")
def llama_code() -> Check:
    """The printed class and rotate_half, run in float64, against the half layout's matrix."""
    x = draw(38, 5, DIM)
    t = np.arange(5.0)
    freqs = np.einsum("i,j->ij", t, 1.0 / (10_000 ** (np.arange(0, DIM, 2) / DIM)))
    emb = np.concatenate([freqs, freqs], axis=-1)
    half = DIM // 2
    rotate_half = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    embedded = x * np.cos(emb) + rotate_half * np.sin(emb)
    return Check(gap(embedded, [rotation_matrix(p, THETA, "half") @ x[p] for p in range(5)]))


@claim("003-llama-elements")
def llama_elements() -> Check:
    x = draw(39, DIM)
    half = DIM // 2
    angle = np.concatenate([M * THETA, M * THETA])
    swapped = np.array([-x[i + half] if i < half else x[i - half] for i in range(DIM)])
    return Check(gap(x * np.cos(angle) + swapped * np.sin(angle), rotation_matrix(M, THETA, "half") @ x))


@claim("003-llama-reordered")
def llama_reordered() -> Check:
    x = draw(40, DIM)
    half = DIM // 2
    order = [i // 2 + half * (i % 2) for i in range(DIM)]
    printed = columns(x[order], adjacent(x[order]), M, THETA)
    right = rotation_matrix(M, THETA, "half") @ x
    return Check(
        gap(printed, right), condition=max(gap(printed, right[order]), gap(printed, blocks(M, THETA) @ x[order]))
    )


undecided(
    "003-better",
    "003-relative-better",
    "003-table-end",
    "003-pretraining",
    "003-no-finetuning",
    "003-dynamic-better",
    "003-yarn-fit",
    "003-yarn-quote",
)
