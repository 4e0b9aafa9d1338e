"""Document 003, longer contexts: interpolation, NTK, dynamic NTK, YaRN, and the code printed for them."""

from __future__ import annotations

import numpy as np

from rope_core import schemes
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided, relative_shortfall
from rope_core.ledger.kit import DIM, ROPE, random_normal
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.spectrum import Spectrum
from rope_core.theory.attention import score_curve
from rope_core.theory.encodings.digits import ntk_number_base, rope_beta
from rope_core.theory.interpolation import interpolation_bounds
from rope_core.theory.softmax import softmax

THETA = ROPE.theta
LLAMA = Rope(128, 10_000.0, 2048)
SCALE = 8.0


@register_claim("003-pi")
def position_interpolation() -> ClaimCheck:
    i = np.arange(100.0)[:, None]
    return ClaimCheck(
        max_difference((i / SCALE) * LLAMA.theta, i * (LLAMA.theta / schemes.linear(LLAMA, 1, SCALE).slowdown))
    )


@register_claim("003-2048-scale")
def reach() -> ClaimCheck:
    """Measure the first whole position whose interpolated place is past the trained 2048."""
    trained = np.arange(2048 * SCALE + 5) / SCALE < 2048
    return ClaimCheck(abs(float(np.argmin(trained)) / (2048 * SCALE) - 1.0))


@register_claim("003-precision")
def precision() -> ClaimCheck:
    """Neighbours are 1/scale as far apart in every phase."""
    step = LLAMA.theta / schemes.linear(LLAMA, 1, SCALE).slowdown
    return ClaimCheck(max_difference(step / LLAMA.theta, np.full(64, 1 / SCALE)))


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


@register_claim("003-code-linear")
def code_linear() -> ClaimCheck:
    wanted = LLAMA.theta / schemes.linear(LLAMA, 4096, SCALE).slowdown
    return ClaimCheck(max_difference(_code(4096, "interpolate") / wanted, np.ones(64)))


@register_claim("003-code-ntk")
def code_ntk() -> ClaimCheck:
    wanted = LLAMA.theta / schemes.ntk(LLAMA, 1, SCALE).slowdown
    short, long = (max_difference(_code(length, "raise") / wanted, np.ones(64)) for length in (1024, 4096))
    return ClaimCheck(max(short, long), corrected=long)


def _frequencies(lengths: list[int], remember: bool) -> list[Array]:
    """Run the printed forward on calls of these lengths: it fills its cache only past the longest length seen."""
    used, longest, current = [], 2048, _code(2048, "follow")
    for length in lengths:
        if length > longest or not remember:
            longest, current = max(length, longest), _code(length, "follow")
        used.append(current)
    return used


@register_claim("003-dynamic-on-demand")
def dynamic_on_demand() -> ClaimCheck:
    """Measure a long call, then a short one, against the frequencies that the formula gives each."""
    lengths = [16_384, 1024]
    wanted = [LLAMA.theta / schemes.dynamic(LLAMA, length, SCALE).slowdown for length in lengths]
    printed, corrected = (
        max(max_difference(f / w, np.ones(64)) for f, w in zip(_frequencies(lengths, remember), wanted, strict=True))
        for remember in (True, False)
    )
    return ClaimCheck(printed, corrected=corrected)


@register_claim("003-code-dynamic")
def code_dynamic() -> ClaimCheck:
    worst = 0.0
    for length in (1024, 2048, 3000, 16_384):
        wanted = LLAMA.theta / schemes.dynamic(LLAMA, length, SCALE).slowdown
        worst = max(worst, max_difference(_code(length, "follow") / wanted, np.ones(64)))
    return ClaimCheck(worst)


@register_claim("003-600")
def about_600() -> ClaimCheck:
    """Stated "at least about 600": the smallest true ratio up to 131,072 tokens, then 512 where B(s) >= d."""
    far, near = (interpolation_bounds(LLAMA, reach) for reach in (131_072, 4096))
    return ClaimCheck(
        relative_shortfall(far.smallest, 600.0),
        corrected=max(relative_shortfall(near.smallest, near.proven), abs(near.proven / 512.0 - 1.0)),
        tolerance=0.02,
    )


@register_claim("003-ntk-beta")
def ntk_beta() -> ClaimCheck:
    b = 10_000 ** (2 / 128)
    return ClaimCheck(
        max(max_difference(b ** -np.arange(64.0) / LLAMA.theta, np.ones(64)), abs(b / rope_beta(LLAMA) - 1.0))
    )


def _alpha(scale: float = SCALE) -> float:
    return float(scale ** (2 / (128 - 2)))


@register_claim("003-ntk-theta")
def ntk_theta() -> ClaimCheck:
    printed = (_alpha() * rope_beta(LLAMA)) ** -np.arange(64.0)
    return ClaimCheck(max_difference(printed * schemes.ntk(LLAMA, 1, SCALE).slowdown / LLAMA.theta, np.ones(64)))


@register_claim("003-ntk-alpha")
def ntk_alpha() -> ClaimCheck:
    slowest = (_alpha() * rope_beta(LLAMA)) ** -63.0
    return ClaimCheck(
        max(
            abs(slowest * SCALE / LLAMA.theta[-1] - 1),
            abs(ntk_number_base(LLAMA, SCALE) / rope_beta(LLAMA) / _alpha() - 1),
            relative_shortfall(_alpha(), 1.0),
        )
    )


@register_claim("003-ntk-base")
def ntk_base() -> ClaimCheck:
    d = np.arange(64.0)
    lines = [
        (_alpha() * rope_beta(LLAMA)) ** -d,
        (rope_beta(LLAMA) * SCALE ** (2 / 126)) ** -d,
        (10_000 ** (2 / 128) * SCALE ** (2 / 126)) ** -d,
        (10_000 * SCALE ** (128 / 126)) ** (-2 * d / 128),
    ]
    return ClaimCheck(max(max_difference(line / lines[0], np.ones(64)) for line in lines))


@register_claim("003-ntk-high-kept")
def ntk_high_kept() -> ClaimCheck:
    slow = schemes.ntk(LLAMA, 1, SCALE).slowdown
    return ClaimCheck(float(slow[1] - 1.0), condition=float(abs(slow[0] - 1.0)))


@register_claim("003-ntk-ramp")
def ntk_ramp() -> ClaimCheck:
    """Measure the share of steps on which the slow-down does not grow: with position i, then with dimension d."""
    by_position = [schemes.ntk(LLAMA, length, SCALE).slowdown[32] for length in (1, 1024, 8192)]
    by_dimension = schemes.ntk(LLAMA, 1, SCALE).slowdown
    return ClaimCheck(float(np.mean(np.diff(by_position) <= 0)), corrected=float(np.mean(np.diff(by_dimension) <= 0)))


@register_claim("003-ntk-lowest")
def ntk_lowest() -> ClaimCheck:
    """Where the first pair leaves its trained angles, token by token, against the slowest pair's 2048 scale."""
    slow = schemes.ntk(LLAMA, 1, SCALE).slowdown
    partial = LLAMA.turns < 1.0
    positions = np.arange(1.0, 2048 * SCALE + 1)[:, None]
    unseen = np.any(positions * (LLAMA.theta / slow)[partial] > 2048 * LLAMA.theta[partial] * (1 + 1e-12), axis=1)
    reach = float(np.argmax(unseen))
    return ClaimCheck(1.0 - reach / (2048 * SCALE), corrected=abs(reach - np.floor(2048 * slow[partial].min())))


@register_claim("003-ntk-because")
def ntk_because() -> ClaimCheck:
    """Linear scales every angle, and its nearest positions still differ: by this share of the unscaled distance."""
    steps = np.arange(1, 4096)[:, None]
    plain, linear = (np.linalg.norm(np.exp(1j * steps * LLAMA.theta / s) - 1.0, axis=1).min() for s in (1.0, SCALE))
    return ClaimCheck(float(linear / plain), corrected=float(abs(schemes.ntk(LLAMA, 1, SCALE).slowdown[0] - 1.0)))


@register_claim("003-ntk-every-token")
def ntk_every_token() -> ClaimCheck:
    """Measure the share of new tokens that leave the printed code's frequencies alone: NTK's, then dynamic NTK's."""

    def unchanged(kind: str) -> float:
        return float(np.mean([max_difference(_code(n, kind), _code(n + 1, kind)) == 0 for n in range(4096, 4106)]))

    return ClaimCheck(unchanged("raise"), corrected=unchanged("follow"))


@register_claim("003-slower")
def slower() -> ClaimCheck:
    """Slow-downs of linear, NTK and dynamic NTK at 8 times: none below 1, some above."""
    slow = [f(LLAMA, 16_384, SCALE).slowdown for f in (schemes.linear, schemes.ntk, schemes.dynamic)]
    return ClaimCheck(float(max(relative_shortfall(min(s), 1.0) + (max(s) <= 1.0) for s in slow)))


@register_claim("003-ntk-sweep")
def ntk_sweep() -> ClaimCheck:
    """Measure the alpha that a curve of factor 2, 4, 8, 16 carries, against alpha = scale**(2/(d-2)) of the text."""
    sweep = np.array([2.0, 4.0, 8.0, 16.0])
    return ClaimCheck(
        max_difference(np.array([_alpha(s) for s in sweep]), sweep),
        corrected=max_difference(np.array([_alpha(s) for s in sweep]) ** 63, sweep),
    )


@register_claim("003-ntk-2-billion")
def two_billion() -> ClaimCheck:
    return ClaimCheck(abs(2048 * 1e6 / 2e9 - 1.0), tolerance=0.03)


@register_claim("003-ntk-distinguishable")
def distinguishable() -> ClaimCheck:
    """Stretched a million times, no two positions of 131,072 come closer than neighbours do without any stretch / 2."""
    f = LLAMA.theta / schemes.ntk(LLAMA, 1, 1e6).slowdown
    near = np.linalg.norm(np.exp(1j * LLAMA.theta) - 1.0)
    apart = min(
        float(np.linalg.norm(np.exp(1j * np.arange(low, low + 4096)[:, None] * f) - 1.0, axis=1).min())
        for low in range(1, 131_072, 4096)
    )
    return ClaimCheck(relative_shortfall(apart, float(near) / 2))


@register_claim("003-ntk-cache")
def ntk_cache() -> ClaimCheck:
    """Measure the share of the named tensors Q, K, V that change with the base where only K is cached and rotated."""
    x = random_normal(34, 6, DIM)
    w_k, w_v = random_normal(35, 2, DIM, DIM)
    slow = schemes.ntk(ROPE, 1, SCALE).slowdown
    changed = []
    for project, rotates in ((w_k, True), (w_v, False)):
        z = x @ project.T
        old, new = (
            [rotation_matrix(t, f, "interleaved") @ z[t] if rotates else z[t] for t in range(6)]
            for f in (THETA, THETA / slow)
        )
        changed.append(max_difference(old, new) > 1e-6)
    return ClaimCheck(1.0 - float(np.mean(changed)), corrected=0.0 if changed == [True, False] else 1.0)


@register_claim("003-dynamic")
def dynamic() -> ClaimCheck:
    def error(length: int) -> float:
        stretch = length / 2048 * SCALE - (SCALE - 1)
        if stretch <= 0:
            return float("inf")
        printed = (10_000 * stretch ** (128 / 126)) ** (-2 * np.arange(64) / 128)
        return max_difference(printed * schemes.dynamic(LLAMA, length, SCALE).slowdown / LLAMA.theta, np.ones(64))

    return ClaimCheck(error(2000), condition=max(error(length) for length in (2048, 2049, 10_000)))


@register_claim("003-temperature")
def temperature_form() -> ClaimCheck:
    q, k = random_normal(36, 2, 6, DIM)
    t = 1 / schemes.yarn_attention_factor(SCALE) ** 2
    rq, rk = (np.stack([rotation_matrix(p, THETA, "interleaved") @ row for p, row in enumerate(z)]) for z in (q, k))
    a = softmax(rq @ rk.T / (t * np.sqrt(DIM)))
    root = np.sqrt(1 / t)
    return ClaimCheck(max_difference(a, softmax((root * rq) @ (root * rk).T / np.sqrt(DIM))))


@register_claim("003-closer")
def closer() -> ClaimCheck:
    """Mean score over the trained distances, interpolated against plain: drawn q and k, then q = k."""
    d = np.arange(1.0, 2048)
    plain, slowed = Spectrum.from_inv_freq(LLAMA.theta), Spectrum.from_inv_freq(LLAMA.theta / SCALE)
    gains = []
    for seed in range(16):
        q, k = random_normal(370 + seed, 2, 128)
        gains.append(float(np.mean(score_curve(slowed, d, q, k) - score_curve(plain, d, q, k))))
    same = float(np.mean(score_curve(slowed, d) - score_curve(plain, d)))
    return ClaimCheck(float(np.mean(np.array(gains) <= 0)), condition=0.0 if same > 0 else 1.0)


register_undecided(
    "003-pretraining",
    "003-no-finetuning",
    "003-dynamic-better",
    "003-distribution",
    "003-yarn-fit",
    "003-yarn-quote",
)
