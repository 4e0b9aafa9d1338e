"""Document 000: the forward pass in three notations."""

from __future__ import annotations

import numpy as np

from rope_core.layout import convert
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim
from rope_core.ledger.kit import (
    DIM,
    ROPE,
    M,
    N,
    elementwise_rotation,
    random_normal,
    rotate_every_two,
    rotate_half,
    rotation_block_matrix,
)
from rope_core.rope import Array
from rope_core.rotation import roformer_frequencies, roformer_frequencies_from_zero, rotate_by_complex, rotation_matrix

X, Y = random_normal(1, 2, DIM)
W_Q, W_K = random_normal(2, 2, DIM, DIM)
THETA = ROPE.theta
R_M, R_N = rotation_matrix(M, THETA, "interleaved"), rotation_matrix(N, THETA, "interleaved")


def _half_printed(position: float) -> Array:
    half = DIM // 2
    matrix = np.zeros((DIM, DIM))
    for j in range(half):
        c, s = np.cos(position * THETA[j]), np.sin(position * THETA[j])
        matrix[j, j], matrix[j, j + half], matrix[j + half, j], matrix[j + half, j + half] = c, -s, s, c
    return matrix


@register_claim("000-f-qk")
def f_qk() -> ClaimCheck:
    lengths = [np.linalg.norm(R_M @ w @ X) - np.linalg.norm(w @ X) for w in (W_Q, W_K)]
    scores = [
        (rotation_matrix(M + k, THETA, "interleaved") @ W_Q @ X)
        @ (rotation_matrix(N + k, THETA, "interleaved") @ W_K @ Y)
        for k in (0, 5)
    ]
    return ClaimCheck(max(float(np.abs(lengths).max()), max_difference(scores[0], scores[1])))


@register_claim("000-f-q")
def f_q() -> ClaimCheck:
    return ClaimCheck(max_difference(R_M @ W_Q @ X, rotate_by_complex(W_Q @ X, M, THETA, "interleaved")))


@register_claim("000-f-k")
def f_k() -> ClaimCheck:
    return ClaimCheck(max_difference(R_N @ W_K @ Y, rotate_by_complex(W_K @ Y, N, THETA, "interleaved")))


@register_claim("000-associative-q")
def associative_q() -> ClaimCheck:
    return ClaimCheck(max_difference((R_M @ W_Q) @ X, R_M @ (W_Q @ X)))


@register_claim("000-associative-k")
def associative_k() -> ClaimCheck:
    return ClaimCheck(max_difference((R_N @ W_K) @ Y, R_N @ (W_K @ Y)))


@register_claim("000-matrix-paper")
def matrix_paper() -> ClaimCheck:
    printed = rotation_block_matrix(M, roformer_frequencies(DIM))
    return ClaimCheck(max_difference(R_N, printed), corrected=max_difference(R_M, printed))


@register_claim("000-elements-paper")
def elements_paper() -> ClaimCheck:
    printed = elementwise_rotation(X, rotate_every_two(X), M, roformer_frequencies(DIM))
    return ClaimCheck(max_difference(R_N @ X, printed), corrected=max_difference(R_M @ X, printed))


@register_claim("000-theta-paper")
def theta_paper() -> ClaimCheck:
    return ClaimCheck(max_difference([10_000 ** (-2 * (i - 1) / DIM) for i in range(1, DIM // 2 + 1)], THETA))


@register_claim("000-matrix-zero")
def matrix_zero() -> ClaimCheck:
    printed = rotation_block_matrix(M, roformer_frequencies_from_zero(DIM))
    return ClaimCheck(
        max_difference(R_N, printed),
        corrected=max_difference(rotation_block_matrix(M, roformer_frequencies(DIM)), printed),
    )


@register_claim("000-elements-zero")
def elements_zero() -> ClaimCheck:
    printed = elementwise_rotation(X, rotate_every_two(X), M, roformer_frequencies_from_zero(DIM))
    return ClaimCheck(max_difference(R_N @ X, printed), corrected=max_difference(R_M @ X, printed))


@register_claim("000-theta-zero")
def theta_zero() -> ClaimCheck:
    return ClaimCheck(max_difference([10_000 ** (-i / DIM) for i in range(0, DIM, 2)], THETA))


@register_claim("000-matrix-llama")
def matrix_llama() -> ClaimCheck:
    printed = _half_printed(M)
    return ClaimCheck(
        max_difference(rotation_matrix(N, THETA, "half"), printed),
        corrected=max_difference(rotation_matrix(M, THETA, "half"), printed),
    )


@register_claim("000-elements-llama")
def elements_llama() -> ClaimCheck:
    angle = np.concatenate([M * THETA, M * THETA])
    printed = X * np.cos(angle) + rotate_half(X) * np.sin(angle)
    r_m, r_n = (rotation_matrix(position, THETA, "half") for position in (M, N))
    return ClaimCheck(max_difference(r_n @ X, printed), corrected=max_difference(r_m @ X, printed))


@register_claim("000-theta-llama")
def theta_llama() -> ClaimCheck:
    return ClaimCheck(max_difference(roformer_frequencies_from_zero(DIM), THETA))


@register_claim("000-llama-equivalent")
def llama_equivalent() -> ClaimCheck:
    order = convert(DIM, "interleaved", "half")
    return ClaimCheck(
        max_difference(_half_printed(M) @ X, R_M @ X),
        condition=max_difference(_half_printed(M) @ X[order], (R_M @ X)[order]),
    )


def _rows(vectors: Array, positions: list[int]) -> Array:
    return np.stack([rotation_matrix(p, THETA, "interleaved") @ v for p, v in zip(positions, vectors, strict=True)])


@register_claim("000-f-rows-q")
def f_rows_q() -> ClaimCheck:
    q = random_normal(3, 4, DIM)
    by_row = np.stack([q[t] @ rotation_matrix(t, THETA, "interleaved").T for t in range(4)])
    return ClaimCheck(
        max_difference(q @ R_M.T, _rows(q, [0, 1, 2, 3])), condition=max_difference(by_row, _rows(q, [0, 1, 2, 3]))
    )


@register_claim("000-f-rows-k")
def f_rows_k() -> ClaimCheck:
    q, k = random_normal(4, 2, 4, DIM)
    left = (q @ R_M.T) @ (k @ R_M.T).T
    right = _rows(q, [0, 1, 2, 3]) @ _rows(k, [0, 1, 2, 3]).T
    by_row = np.stack([k[t] @ rotation_matrix(t, THETA, "interleaved").T for t in range(4)])
    return ClaimCheck(max_difference(left, right), condition=max_difference(_rows(q, [0, 1, 2, 3]) @ by_row.T, right))
