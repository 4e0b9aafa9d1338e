"""Document 004, positions: sine embeddings, the Taylor argument, digits, cross terms."""

from __future__ import annotations

import numpy as np

from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided, relative_shortfall
from rope_core.ledger.kit import DIM, ROPE, M, N, distance_from_full_turn, from_complex_pairs, random_normal
from rope_core.rope import Array, Rope
from rope_core.theory.encodings.additive import (
    additive_score_terms,
    cos_sin_vectors,
    hessian_term,
    random_hessian,
    sinusoidal_shift_matrix,
    sinusoidal_vectors,
)
from rope_core.theory.encodings.compare import random_encoding_weights, relative_residual, word_order_difference
from rope_core.theory.encodings.digits import beta_digits, digit_phases, rope_beta
from rope_core.theory.softmax import softmax

THETA = ROPE.theta
DELTA = 5
LINE = np.arange(40) + 3


@register_claim("004-swap-pairs")
def swap_pairs() -> ClaimCheck:
    """Exchange two key-value pairs: each pair's weight and the query's output stay."""
    q, k, v = random_normal(71, DIM), *random_normal(72, 2, 6, DIM)
    order = [3, 1, 2, 0, 4, 5]
    before, after = softmax(k @ q), softmax(k[order] @ q)
    return ClaimCheck(max(max_difference(before[order], after), max_difference(before @ v, after @ v[order])))


@register_claim("004-sinusoidal")
def printed_sinusoidal() -> ClaimCheck:
    printed = [
        [(np.sin if c % 2 == 0 else np.cos)(i / 10_000 ** ((c - c % 2) / DIM)) for c in range(DIM)] for i in range(9)
    ]
    return ClaimCheck(max_difference(printed, sinusoidal_vectors(np.arange(9), DIM)))


@register_claim("004-slower-columns")
def slower_columns() -> ClaimCheck:
    """Binary digits and sine columns both change more slowly from one column to the next."""
    n = np.arange(4096)
    flips = [np.count_nonzero(np.diff((n >> bit) & 1)) for bit in range(8)]
    turns = [np.count_nonzero(np.diff(np.sign(np.sin(n * t)))) for t in Rope(16, 10_000.0).theta]
    return ClaimCheck(float(np.mean(np.diff(flips) >= 0) + np.mean(np.diff(turns) >= 0)))


@register_claim("004-columns-differ")
def columns_differ() -> ClaimCheck:
    """Measure the largest share of pairs of columns that agree within one row: rows 0 to 999, then 1 to 999."""
    p = sinusoidal_vectors(np.arange(1000), DIM)
    upper = np.triu(np.ones((DIM, DIM), dtype=bool), 1)
    agree = (p[:, :, None] == p[:, None, :])[:, upper].mean(axis=1)
    return ClaimCheck(float(agree.max()), condition=float(agree[1:].max()))


@register_claim("004-rows-differ")
def rows_differ() -> ClaimCheck:
    """Measure the smallest distance of two rows among 65,536; it depends on the difference of the positions alone."""
    near = min(
        float(np.linalg.norm(np.exp(1j * np.arange(low, low + 4096)[:, None] * Rope(64).theta) - 1.0, axis=1).min())
        for low in range(1, 65_536, 4096)
    )
    return ClaimCheck(relative_shortfall(near, 0.1))


@register_claim("004-shift-map")
def shift() -> ClaimCheck:
    moved = sinusoidal_vectors(LINE, DIM) @ sinusoidal_shift_matrix(DELTA, DIM).T
    printed = np.zeros((DIM, DIM))
    for j, w in enumerate(THETA):
        c, s = np.cos(DELTA * w), np.sin(DELTA * w)
        printed[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[c, s], [-s, c]]
    return ClaimCheck(
        max(
            max_difference(moved, sinusoidal_vectors(LINE + DELTA, DIM)),
            max_difference(printed, sinusoidal_shift_matrix(DELTA, DIM)),
        )
    )


@register_claim("004-shift-transform")
def shift_transform() -> ClaimCheck:
    x, y = random_normal(73, 2)
    c, s = np.cos(DELTA * THETA[1]), np.sin(DELTA * THETA[1])
    return ClaimCheck(
        max_difference(np.array([[c, s], [-s, c]]) @ [x, y], sinusoidal_shift_matrix(DELTA, DIM)[2:4, 2:4] @ [x, y])
    )


@register_claim("004-shift-lines")
def shift_lines() -> ClaimCheck:
    x, y = random_normal(74, 2)
    c, s = np.cos(DELTA * THETA[1]), np.sin(DELTA * THETA[1])
    return ClaimCheck(
        max_difference([x * c + y * s, -x * s + y * c], sinusoidal_shift_matrix(DELTA, DIM)[2:4, 2:4] @ [x, y])
    )


@register_claim("004-shift-direction")
def shift_direction() -> ClaimCheck:
    """Measure the turn of (p_2j, p_2j+1) = (sin, cos) from position i to i + delta, against + and - delta omega."""
    before, after = (sinusoidal_vectors([p], DIM)[0, 2:4] for p in (M, M + DELTA))
    turned = np.arctan2(after[1], after[0]) - np.arctan2(before[1], before[0])
    return ClaimCheck(
        distance_from_full_turn(turned - DELTA * THETA[1]), corrected=distance_from_full_turn(turned + DELTA * THETA[1])
    )


@register_claim("004-omega")
def omega() -> ClaimCheck:
    return ClaimCheck(max_difference([1 / 10_000 ** (2 * j / DIM) for j in range(DIM // 2)], THETA))


@register_claim("004-symmetric")
def symmetric() -> ClaimCheck:
    """Exchange two words: a last word's output, without and with the causal mask of an autoregressive model."""
    x = random_normal(75, 5, DIM)
    w = random_normal(76, 3, DIM, DIM)

    def mean_output(z: Array, causal: bool) -> Array:
        logits = (z @ w[0]) @ (z @ w[1]).T
        masked = np.where(np.tril(np.ones((5, 5))) > 0, logits, -np.inf) if causal else logits
        return np.asarray((softmax(masked) @ (z @ w[2])).mean(axis=0))

    other = x[[2, 1, 0, 3, 4]]
    return ClaimCheck(*(max_difference(mean_output(x, causal), mean_output(other, causal)) for causal in (True, False)))


@register_claim("004-additive")
def additive_form() -> ClaimCheck:
    """Axes of the middle of the printed line, the words (n, dim), against those of f, a number; then of f-tilde."""
    words = random_normal(74, 3, DIM)

    def f(x: Array) -> float:
        return float(np.sin(x).sum())

    moved = f(words + sinusoidal_vectors(np.arange(3), DIM))
    return ClaimCheck(
        float(abs(np.ndim(words) - np.ndim(moved))), corrected=float(abs(np.ndim(f(words)) - np.ndim(moved)))
    )


@register_claim("004-additive-breaks")
def additive() -> ClaimCheck:
    """Measure how added vectors break the symmetry: two orders of the same words get different outputs."""
    w = random_encoding_weights(16)
    first, second = ["a", "b", "c"], ["c", "b", "a"]
    return ClaimCheck(
        relative_shortfall(
            word_order_difference("sinusoidal", first, second, w),
            1e3 * word_order_difference("nope", first, second, w) + 1e-9,
        )
    )


@register_claim("004-taylor")
def taylor() -> ClaimCheck:
    """Halving p must make what the expansion leaves out 8 times smaller: it is of third order."""
    x_m, x_n, p_m, p_n = random_normal(77, 4, 3)
    a = random_normal(78, 3, 3)

    def f(u: Array, v: Array) -> float:
        return float(np.sin(u @ a @ v) + np.exp(0.3 * u.sum()) * np.cos(v.sum()))

    def derivatives(step: float = 1e-4) -> tuple[Array, Array]:
        z = np.concatenate([x_m, x_n])
        base, unit = f(x_m, x_n), step * np.eye(6)

        def at(shift: Array) -> float:
            return f(*np.split(z + shift, 2))

        first = np.array([(at(e) - at(-e)) / (2 * step) for e in unit])
        second = np.array(
            [[(at(d + e) - at(d - e) - at(e - d) + at(-d - e)) / (4 * step**2) for e in unit] for d in unit]
        )
        return first, np.where(np.eye(6) > 0, [(at(e) + at(-e) - 2 * base) / step**2 for e in unit], second)

    first, second = derivatives()

    def left_out(size: float) -> float:
        pm, pn = size * p_m, size * p_n
        lines = pm @ first[:3] + pn @ first[3:] + 0.5 * pm @ second[:3, :3] @ pm + 0.5 * pn @ second[3:, 3:] @ pn
        return float(abs(f(x_m + pm, x_n + pn) - f(x_m, x_n) - lines - pm @ second[:3, 3:] @ pn))

    return ClaimCheck(abs(np.log2(left_out(0.08) / left_out(0.04)) - 3.0), tolerance=0.25)


@register_claim("004-absolute-terms")
def absolute_terms() -> ClaimCheck:
    """Measure the share of the first five terms that do not move when both positions do; then of the four with a p."""
    slopes, curves = random_normal(93, 2, DIM), random_normal(94, 2, DIM, DIM)

    def terms(shift: int) -> Array:
        p = cos_sin_vectors([M + shift, N + shift], DIM)
        return np.array([1.0, *(p[i] @ slopes[i] for i in (0, 1)), *(0.5 * p[i] @ curves[i] @ p[i] for i in (0, 1))])

    still = np.abs(terms(3) - terms(0)) < 1e-9
    return ClaimCheck(float(still.mean()), condition=float(still[1:].mean()))


def _hessian(off: float, within: float) -> float:
    return relative_residual(hessian_term(random_hessian(DIM, off, within), cos_sin_vectors(LINE, DIM)), LINE)


@register_claim("004-hessian-diagonal")
def hessian_diagonal() -> ClaimCheck:
    return ClaimCheck(_hessian(0.0, 0.5), condition=_hessian(0.0, 0.0))


@register_claim("004-hessian-general")
def hessian_general() -> ClaimCheck:
    """Measure what a general H leaves that is not relative; it grows with the entries off the diagonal."""
    residuals = [_hessian(off, 0.0) for off in (0.0, 0.01, 0.1, 1.0)]
    return ClaimCheck(0.0 if residuals[1] > 1e-3 and all(np.diff(residuals) > 0) else 1.0)


@register_claim("004-p-m")
def p_m() -> ClaimCheck:
    printed = cos_sin_vectors([M], DIM)[0].copy()
    printed[3] = np.sin(N * THETA[1])
    right = from_complex_pairs(np.exp(1j * M * THETA))
    return ClaimCheck(max_difference(printed, right), corrected=max_difference(cos_sin_vectors([M], DIM)[0], right))


def _spelled(n: int, beta: float, digits: int) -> float:
    return float(abs(beta_digits(n, beta, digits) @ beta ** np.arange(digits) - n) / n)


@register_claim("004-digit")
def digit() -> ClaimCheck:
    """Spell the number from its digits for a whole beta, then for RoPE's beta = 10000^(2/d), which is not."""
    return ClaimCheck(_spelled(1234, rope_beta(Rope(64)), 32), condition=max(_spelled(1234, b, 12) for b in (2, 8, 10)))


@register_claim("004-digit-row")
def digit_row() -> ClaimCheck:
    n = 123_456
    right = from_complex_pairs(np.exp(1j * n * THETA))
    return ClaimCheck(
        max_difference(from_complex_pairs(np.exp(1j * digit_phases(n, rope_beta(ROPE), DIM // 2))), right)
    )


@register_claim("004-beta")
def beta() -> ClaimCheck:
    b = 10_000 ** (2 / DIM)
    return ClaimCheck(max(abs(b - rope_beta(ROPE)), max_difference(b ** -np.arange(DIM // 2), THETA)))


@register_claim("004-mod-period")
def mod_period() -> ClaimCheck:
    """x mod beta repeats after beta, and cos x after a full turn; neither after half of that."""
    x, b = np.linspace(0.1, 9.0, 50), rope_beta(ROPE)
    turns = np.exp(2j * np.pi * np.mod(x, b) / b)
    later, half = (np.exp(2j * np.pi * np.mod(x + step, b) / b) for step in (b, b / 2))
    if max_difference(half, turns) < 0.01:
        return ClaimCheck(float("nan"))
    return ClaimCheck(max(max_difference(later, turns), max_difference(np.cos(x + 2 * np.pi), np.cos(x))))


@register_claim("004-digits-carry")
def digits_carry() -> ClaimCheck:
    """Measure that 40 positions' vectors differ and their inner products depend on the distance alone."""
    p = cos_sin_vectors(LINE, DIM)
    apart = np.linalg.norm(p[:, None] - p[None], axis=-1)[~np.eye(len(LINE), dtype=bool)]
    return ClaimCheck(max(relative_residual(p @ p.T, LINE), relative_shortfall(float(apart.min()), 0.1)))


@register_claim("004-embed-name")
def embed_name() -> ClaimCheck:
    """Embed(x, i) against the word plus the sines of place i, written out: with the vector of pos, then of i."""
    word = random_normal(97, DIM)
    written = [v + (np.cos if c % 2 else np.sin)(M / 10_000 ** ((c - c % 2) / DIM)) for c, v in enumerate(word)]
    printed, corrected = (max_difference(word + sinusoidal_vectors([place], DIM)[0], written) for place in (N, M))
    return ClaimCheck(printed, corrected=corrected)


@register_claim("004-cross-sum")
def cross_sum() -> ClaimCheck:
    x, p = random_normal(80, 6, DIM), sinusoidal_vectors(np.arange(6), DIM)
    terms = additive_score_terms(x, p, np.eye(DIM), np.eye(DIM))
    return ClaimCheck(max_difference(sum(terms.values()), (x + p) @ (x + p).T))


@register_claim("004-cross-not-relative")
def cross_not_relative() -> ClaimCheck:
    """Of the printed list <v_x, v_y>, <v_x, PE_j>, ..., the first carries no position and the last is relative."""
    x = np.tile(random_normal(81, 1, DIM), (40, 1))
    terms = additive_score_terms(x, sinusoidal_vectors(LINE, DIM), np.eye(DIM), np.eye(DIM))
    relative = {name: relative_residual(part, LINE) < 1e-9 for name, part in terms.items()}
    printed = [relative[name] for name in terms]
    crossed = [relative[name] for name in ("word_position", "position_word")]
    return ClaimCheck(float(np.mean(printed)), condition=float(np.mean(crossed)))


register_undecided("004-memorise", "004-rows-learned")
