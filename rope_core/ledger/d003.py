"""Document 003: encodings, RoPE's frequencies and the ways to a longer context."""

from __future__ import annotations

import numpy as np

from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided
from rope_core.ledger.kit import (
    DIM,
    ROPE,
    M,
    N,
    elementwise_rotation,
    negate_even_dims,
    random_normal,
    rotate_every_two,
    rotation_block_matrix,
)
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.spectrum import Spectrum
from rope_core.theory.attention import decay_bound
from rope_core.theory.encodings.additive import sinusoidal_vectors
from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights, relative_residual
from rope_core.theory.encodings.digits import digit_phases, rope_beta
from rope_core.theory.encodings.relative import nezha_table, shaw_logits, shaw_output
from rope_core.theory.softmax import softmax

THETA = ROPE.theta
LLAMA = Rope(128, 10_000.0, 2048)


@register_claim("003-sinusoidal")
def printed_sinusoidal() -> ClaimCheck:
    printed = np.zeros((5, DIM))
    for i in range(5):
        for d in range(DIM // 2):
            printed[i, 2 * d] = np.sin((i + M) / 10_000 ** (2 * d / DIM))
            printed[i, 2 * d + 1] = np.cos((i + M) / 10_000 ** (2 * d / DIM))
    return ClaimCheck(max_difference(printed, sinusoidal_vectors(np.arange(M, M + 5), DIM)))


def _relative_case() -> tuple[Array, Array, Array, Array, Array]:
    q, k, v = random_normal(31, 3, 6, DIM)
    return q, k, v, nezha_table(4, DIM), softmax(shaw_logits(q, k, np.arange(6), nezha_table(4, DIM)))


@register_claim("003-relative-k")
def relative_k() -> ClaimCheck:
    q, k, _, table, a = _relative_case()
    loops = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            loops[i, j] = np.exp(q[i] @ (k[j] + table[np.clip(j - i, -4, 4) + 4]) / np.sqrt(DIM))
    w = random_encoding_weights(16)
    moved = relative_residual(position_only_logits("nezha", np.arange(30), w), np.arange(30))
    return ClaimCheck(max(max_difference(loops / loops.sum(axis=1, keepdims=True), a), moved))


@register_claim("003-relative-v")
def relative_v() -> ClaimCheck:
    _, _, v, table, a = _relative_case()
    loops = [sum(a[i, j] * (v[j] + table[np.clip(j - i, -4, 4) + 4]) for j in range(6)) for i in range(6)]
    return ClaimCheck(max_difference(loops, shaw_output(a, v, np.arange(6), table)))


def _elements(seed: int) -> ClaimCheck:
    x = random_normal(seed, DIM)
    right = rotation_matrix(M, THETA, "interleaved") @ x
    return ClaimCheck(
        max_difference(elementwise_rotation(x, negate_even_dims(x), M, THETA), right),
        corrected=max_difference(elementwise_rotation(x, rotate_every_two(x), M, THETA), right),
    )


@register_claim("003-elements")
def elements() -> ClaimCheck:
    return _elements(32)


@register_claim("003-elements-again")
def elements_again() -> ClaimCheck:
    return _elements(33)


@register_claim("003-theta")
def theta() -> ClaimCheck:
    printed = np.array([10_000 ** (-2 * d / DIM) for d in range(DIM // 2)])
    return ClaimCheck(max_difference(printed, THETA))


@register_claim("003-theta-range")
def theta_range() -> ClaimCheck:
    inside = bool(np.all((LLAMA.theta > 0) & (LLAMA.theta <= 1)))
    return ClaimCheck(0.0 if inside and bool(np.all(np.diff(LLAMA.theta) < 0)) else 1.0)


@register_claim("003-angle-range")
def angle_range() -> ClaimCheck:
    def outside(positions: Array) -> float:
        angle = positions[:, None] * LLAMA.theta
        return float(np.mean(~((angle > 0) & (angle <= positions[:, None]))))

    return ClaimCheck(outside(np.arange(0.0, 4096)), condition=outside(np.arange(1.0, 4096)))


@register_claim("003-sin")
def sine() -> ClaimCheck:
    i = np.arange(50.0)[:, None]
    return ClaimCheck(max_difference(np.sin(i * THETA), np.sin(10_000 ** (-2 * np.arange(DIM // 2) / DIM) * i)))


@register_claim("003-omega")
def omega() -> ClaimCheck:
    """Measure that the general form's omega is theta: the sine repeats after 2 pi / theta and not before."""
    t = np.linspace(0, 500, 64)[:, None]
    after = max_difference(np.sin((t + ROPE.wavelength) * THETA), np.sin(t * THETA))
    halfway = max_difference(np.sin((t + ROPE.wavelength / 2) * THETA), -np.sin(t * THETA))
    return ClaimCheck(max(after, halfway))


@register_claim("003-beta")
def beta() -> ClaimCheck:
    b = 10_000 ** (2 / DIM)
    return ClaimCheck(max_difference([b**-d for d in range(DIM // 2)], THETA))


@register_claim("003-digit-row")
def digit_row() -> ClaimCheck:
    phases = digit_phases(M, rope_beta(ROPE), DIM // 2)
    return ClaimCheck(
        max(max_difference(np.cos(M * THETA), np.cos(phases)), max_difference(np.sin(M * THETA), np.sin(phases)))
    )


@register_claim("003-decay")
def decay() -> ClaimCheck:
    """Measure the bound's single steps, many of which rise, and its means over 256 tokens, which fall up to 2048."""
    bound = decay_bound(Spectrum.from_inv_freq(LLAMA.theta), np.arange(2048.0))
    falls = np.diff(bound.reshape(-1, 256).mean(axis=1))
    return ClaimCheck(float(np.mean(np.diff(bound) > 0)), condition=float(np.mean(falls > 0)))


@register_claim("003-llama-code")
def llama_code() -> ClaimCheck:
    """Compare the printed class and rotate_half, run in float64, with the half layout's matrix."""
    x = random_normal(38, 5, DIM)
    t = np.arange(5.0)
    freqs = np.einsum("i,j->ij", t, 1.0 / (10_000 ** (np.arange(0, DIM, 2) / DIM)))
    emb = np.concatenate([freqs, freqs], axis=-1)
    half = DIM // 2
    rotate_half = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    embedded = x * np.cos(emb) + rotate_half * np.sin(emb)
    return ClaimCheck(max_difference(embedded, [rotation_matrix(p, THETA, "half") @ x[p] for p in range(5)]))


@register_claim("003-code-comment")
def code_comment() -> ClaimCheck:
    """Scores of the code's pairing against the paper's: with the same W_q and W_k, then with their rows permuted."""
    x, y = random_normal(41, 2, DIM)
    w_q, w_k = random_normal(42, 2, DIM, DIM)

    def score(layout: str, rows: list[int]) -> float:
        r_m, r_n = (rotation_matrix(position, THETA, layout) for position in (M, N))
        return float((r_m @ w_q[rows] @ x) @ (r_n @ w_k[rows] @ y))

    same, halves = list(range(DIM)), [*range(0, DIM, 2), *range(1, DIM, 2)]
    paper = score("interleaved", same)
    return ClaimCheck(abs(score("half", same) - paper), condition=abs(score("half", halves) - paper))


@register_claim("003-llama-pairing")
def llama_pairing() -> ClaimCheck:
    """Share of the i whose named partner is not the dimension that R mixes them with."""
    half = DIM // 2

    def strangers(layout: str, pairs: list[tuple[int, int]]) -> float:
        matrix = rotation_matrix(M, THETA, layout)
        return float(np.mean([j >= DIM or matrix[i, j] == 0 for i, j in pairs]))

    everywhere = max(
        strangers("interleaved", [(i, i + 1) for i in range(DIM)]),
        strangers("half", [(i, i + half) for i in range(DIM)]),
    )
    first = max(
        strangers("interleaved", [(i, i + 1) for i in range(0, DIM, 2)]),
        strangers("half", [(i, i + half) for i in range(half)]),
    )
    return ClaimCheck(everywhere, condition=first)


@register_claim("003-llama-elements")
def llama_elements() -> ClaimCheck:
    x = random_normal(39, DIM)
    half = DIM // 2
    angle = np.concatenate([M * THETA, M * THETA])
    swapped = np.array([-x[i + half] if i < half else x[i - half] for i in range(DIM)])
    return ClaimCheck(
        max_difference(x * np.cos(angle) + swapped * np.sin(angle), rotation_matrix(M, THETA, "half") @ x)
    )


@register_claim("003-llama-reordered")
def llama_reordered() -> ClaimCheck:
    x = random_normal(40, DIM)
    half = DIM // 2
    order = [i // 2 + half * (i % 2) for i in range(DIM)]
    printed = elementwise_rotation(x[order], rotate_every_two(x[order]), M, THETA)
    right = rotation_matrix(M, THETA, "half") @ x
    return ClaimCheck(
        max_difference(printed, right),
        condition=max(
            max_difference(printed, right[order]), max_difference(printed, rotation_block_matrix(M, THETA) @ x[order])
        ),
    )


register_undecided("003-better", "003-relative-better", "003-long-texts")
