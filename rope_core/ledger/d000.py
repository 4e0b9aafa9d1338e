"""Document 000: the forward pass in three notations."""

from __future__ import annotations

import numpy as np

from rope_core.layout import convert
from rope_core.ledger.entry import ClaimCheck, claim, gap
from rope_core.ledger.kit import DIM, ROPE, M, N, adjacent, blocks, columns, draw, halves
from rope_core.rope import Array
from rope_core.rotation import paper_theta, paper_theta_from_zero, rotate_by_complex, rotation_matrix

X, Y = draw(1, 2, DIM)
W_Q, W_K = draw(2, 2, DIM, DIM)
THETA = ROPE.theta
R_M, R_N = rotation_matrix(M, THETA, "interleaved"), rotation_matrix(N, THETA, "interleaved")


def _half_printed(position: float) -> Array:
    half = DIM // 2
    matrix = np.zeros((DIM, DIM))
    for j in range(half):
        c, s = np.cos(position * THETA[j]), np.sin(position * THETA[j])
        matrix[j, j], matrix[j, j + half], matrix[j + half, j], matrix[j + half, j + half] = c, -s, s, c
    return matrix


@claim("000-f-qk")
def f_qk() -> ClaimCheck:
    lengths = [np.linalg.norm(R_M @ w @ X) - np.linalg.norm(w @ X) for w in (W_Q, W_K)]
    scores = [
        (rotation_matrix(M + k, THETA, "interleaved") @ W_Q @ X)
        @ (rotation_matrix(N + k, THETA, "interleaved") @ W_K @ Y)
        for k in (0, 5)
    ]
    return ClaimCheck(max(float(np.abs(lengths).max()), gap(scores[0], scores[1])))


@claim("000-f-q")
def f_q() -> ClaimCheck:
    return ClaimCheck(gap(R_M @ W_Q @ X, rotate_by_complex(W_Q @ X, M, THETA, "interleaved")))


@claim("000-f-k")
def f_k() -> ClaimCheck:
    return ClaimCheck(gap(R_N @ W_K @ Y, rotate_by_complex(W_K @ Y, N, THETA, "interleaved")))


@claim("000-associative-q")
def associative_q() -> ClaimCheck:
    return ClaimCheck(gap((R_M @ W_Q) @ X, R_M @ (W_Q @ X)))


@claim("000-associative-k")
def associative_k() -> ClaimCheck:
    return ClaimCheck(gap((R_N @ W_K) @ Y, R_N @ (W_K @ Y)))


@claim("000-matrix-paper")
def matrix_paper() -> ClaimCheck:
    printed = blocks(M, paper_theta(DIM))
    return ClaimCheck(gap(R_N, printed), corrected=gap(R_M, printed))


@claim("000-elements-paper")
def elements_paper() -> ClaimCheck:
    printed = columns(X, adjacent(X), M, paper_theta(DIM))
    return ClaimCheck(gap(R_N @ X, printed), corrected=gap(R_M @ X, printed))


@claim("000-theta-paper")
def theta_paper() -> ClaimCheck:
    return ClaimCheck(gap([10_000 ** (-2 * (i - 1) / DIM) for i in range(1, DIM // 2 + 1)], THETA))


@claim("000-matrix-zero")
def matrix_zero() -> ClaimCheck:
    printed = blocks(M, paper_theta_from_zero(DIM))
    return ClaimCheck(gap(R_N, printed), corrected=gap(blocks(M, paper_theta(DIM)), printed))


@claim("000-elements-zero")
def elements_zero() -> ClaimCheck:
    printed = columns(X, adjacent(X), M, paper_theta_from_zero(DIM))
    return ClaimCheck(gap(R_N @ X, printed), corrected=gap(R_M @ X, printed))


@claim("000-theta-zero")
def theta_zero() -> ClaimCheck:
    return ClaimCheck(gap([10_000 ** (-i / DIM) for i in range(0, DIM, 2)], THETA))


@claim("000-matrix-llama")
def matrix_llama() -> ClaimCheck:
    printed = _half_printed(M)
    return ClaimCheck(
        gap(rotation_matrix(N, THETA, "half"), printed), corrected=gap(rotation_matrix(M, THETA, "half"), printed)
    )


@claim("000-elements-llama")
def elements_llama() -> ClaimCheck:
    angle = np.concatenate([M * THETA, M * THETA])
    printed = X * np.cos(angle) + halves(X) * np.sin(angle)
    r_m, r_n = (rotation_matrix(position, THETA, "half") for position in (M, N))
    return ClaimCheck(gap(r_n @ X, printed), corrected=gap(r_m @ X, printed))


@claim("000-theta-llama")
def theta_llama() -> ClaimCheck:
    return ClaimCheck(gap(paper_theta_from_zero(DIM), THETA))


@claim("000-llama-equivalent")
def llama_equivalent() -> ClaimCheck:
    order = convert(DIM, "interleaved", "half")
    return ClaimCheck(gap(_half_printed(M) @ X, R_M @ X), condition=gap(_half_printed(M) @ X[order], (R_M @ X)[order]))


def _rows(vectors: Array, positions: list[int]) -> Array:
    return np.stack([rotation_matrix(p, THETA, "interleaved") @ v for p, v in zip(positions, vectors, strict=True)])


@claim("000-f-rows-q")
def f_rows_q() -> ClaimCheck:
    q = draw(3, 4, DIM)
    by_row = np.stack([q[t] @ rotation_matrix(t, THETA, "interleaved").T for t in range(4)])
    return ClaimCheck(gap(q @ R_M.T, _rows(q, [0, 1, 2, 3])), condition=gap(by_row, _rows(q, [0, 1, 2, 3])))


@claim("000-f-rows-k")
def f_rows_k() -> ClaimCheck:
    q, k = draw(4, 2, 4, DIM)
    left = (q @ R_M.T) @ (k @ R_M.T).T
    right = _rows(q, [0, 1, 2, 3]) @ _rows(k, [0, 1, 2, 3]).T
    by_row = np.stack([k[t] @ rotation_matrix(t, THETA, "interleaved").T for t in range(4)])
    return ClaimCheck(gap(left, right), condition=gap(_rows(q, [0, 1, 2, 3]) @ by_row.T, right))
