"""Document 002: a derivation by the inner product."""

from __future__ import annotations

import numpy as np

from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim
from rope_core.ledger.kit import (
    DIM,
    ROPE,
    M,
    N,
    elementwise_rotation,
    from_complex_pairs,
    random_normal,
    rotate_every_two,
    rotation_block_matrix,
    to_complex_pairs,
)
from rope_core.rotation import rotation_matrix
from rope_core.theory.softmax import softmax

THETA = ROPE.theta
T = 0.37
X_M, X_N = random_normal(21, 2, DIM)
W_Q, W_K = random_normal(22, 2, 2, DIM)
Q, K = W_Q @ X_M, W_K @ X_N


def _turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@register_claim("002-y-m")
def y_m() -> ClaimCheck:
    literal = Q * np.exp(1j * M * T)
    as_pair = (Q[0] + 1j * Q[1]) * np.exp(1j * M * T)
    return ClaimCheck(
        max_difference(literal, _turn(M * T) @ Q),
        condition=max_difference([as_pair.real, as_pair.imag], _turn(M * T) @ Q),
    )


@register_claim("002-y-n")
def y_n() -> ClaimCheck:
    printed, right = W_Q @ X_N, W_K @ X_N
    return ClaimCheck(max_difference(printed, right), corrected=max_difference(K, right))


@register_claim("002-inner")
def inner() -> ClaimCheck:
    score = (_turn(M * T) @ Q) @ (_turn(N * T) @ K)
    return ClaimCheck(
        max_difference(Q @ _turn((M - N) * T) @ K, score), corrected=max_difference(Q @ _turn((N - M) * T) @ K, score)
    )


@register_claim("002-inner-shape")
def inner_shape() -> ClaimCheck:
    printed = float(Q @ Q) * (_turn((N - M) * T) @ K)
    corrected = Q @ _turn((N - M) * T) @ K
    return ClaimCheck(float(np.ndim(printed)), corrected=float(np.ndim(corrected)))


@register_claim("002-inner-conjugate")
def inner_conjugate() -> ClaimCheck:
    """How far the product moves when both positions move by 3: without the conjugate, then with it."""
    q, k = complex(*Q), complex(*K)

    def product(shift: int, conjugate: bool) -> float:
        y_m, y_n = q * np.exp(1j * (M + shift) * T), k * np.exp(1j * (N + shift) * T)
        return float((y_m * (np.conj(y_n) if conjugate else y_n)).real)

    printed, corrected = (abs(product(3, given) - product(0, given)) for given in (False, True))
    return ClaimCheck(printed, corrected=corrected)


@register_claim("002-complex")
def as_complex() -> ClaimCheck:
    q, k = Q[0] + 1j * Q[1], K[0] + 1j * K[1]
    return ClaimCheck(max(abs((q * np.conj(k)).real - Q @ K), abs(abs(q) - np.linalg.norm(Q))))


@register_claim("002-stacked")
def stacked() -> ClaimCheck:
    return ClaimCheck(max_difference([W_Q[0] @ X_M, W_Q[1] @ X_M], W_Q @ X_M))


@register_claim("002-euler-sum")
def euler_sum() -> ClaimCheck:
    a = M * T
    right = np.cos(a) + 1j * np.sin(a)
    return ClaimCheck(abs(np.exp(1j * a) + np.exp(-1j * a) - right), corrected=abs(np.exp(1j * a) - right))


@register_claim("002-euler-product")
def euler_product() -> ClaimCheck:
    a, (q1, q2) = M * T, Q
    return ClaimCheck(abs((q1 + 1j * q2) * np.exp(1j * a) - (q1 + 1j * q2) * (np.cos(a) + 1j * np.sin(a))))


@register_claim("002-expand")
def expand() -> ClaimCheck:
    a, (q1, q2) = M * T, Q
    lines = (q1 * np.cos(a) - q2 * np.sin(a)) + 1j * (q2 * np.cos(a) + q1 * np.sin(a))
    return ClaimCheck(abs((q1 + 1j * q2) * (np.cos(a) + 1j * np.sin(a)) - lines))


@register_claim("002-to-matrix")
def to_matrix() -> ClaimCheck:
    turned = (Q[0] + 1j * Q[1]) * np.exp(1j * M * T)
    return ClaimCheck(max_difference(_turn(M * T) @ Q, [turned.real, turned.imag]))


@register_claim("002-attention")
def attention() -> ClaimCheck:
    q, k, v = random_normal(23, 3, 5, DIM)
    whole = softmax(q @ k.T / np.sqrt(DIM)) @ v
    rows = []
    for query in q:
        e = np.array([np.exp(query @ key / np.sqrt(DIM)) for key in k])
        rows.append(sum(weight * value for weight, value in zip(e / e.sum(), v, strict=True)))
    return ClaimCheck(max_difference(whole, rows))


@register_claim("002-v")
def v_stays() -> ClaimCheck:
    """Measure what a rotated v does, where the weights come from q and k: the output gets the absolute position."""
    q, k, v = random_normal(24, 3, 5, DIM)

    def outputs(start: int, turn_v: bool) -> np.ndarray:
        r = [rotation_matrix(start + t, THETA, "interleaved") for t in range(5)]
        rq, rk, rv = (np.stack([r[t] @ z[t] for t in range(5)]) for z in (q, k, v))
        return np.asarray(softmax(rq @ rk.T / np.sqrt(DIM)) @ (rv if turn_v else v))

    if max_difference(outputs(0, True), outputs(9, True)) < 0.01:
        return ClaimCheck(float("nan"))
    return ClaimCheck(max_difference(outputs(0, False), outputs(9, False)))


@register_claim("002-qk")
def from_qk() -> ClaimCheck:
    """Q K^T of the projected vectors, then of the rotated ones, against q^T R_{n-m} k."""
    score = Q @ _turn((N - M) * T) @ K
    return ClaimCheck(abs(Q @ K - score), condition=abs((_turn(M * T) @ Q) @ (_turn(N * T) @ K) - score))


@register_claim("002-y-matrix")
def y_matrix() -> ClaimCheck:
    return ClaimCheck(max_difference(_turn(M * T) @ Q, rotation_block_matrix(M, np.array([T])) @ Q))


@register_claim("002-matrix")
def matrix() -> ClaimCheck:
    q = random_normal(25, DIM)
    return ClaimCheck(
        max_difference(
            rotation_block_matrix(M, THETA) @ q, from_complex_pairs(to_complex_pairs(q) * np.exp(1j * M * THETA))
        )
    )


@register_claim("002-elements")
def elements() -> ClaimCheck:
    q = random_normal(26, DIM)
    return ClaimCheck(
        max_difference(elementwise_rotation(q, rotate_every_two(q), M, THETA), rotation_block_matrix(M, THETA) @ q)
    )


@register_claim("002-split-words")
def split_words() -> ClaimCheck:
    q = random_normal(27, DIM)
    angle = np.repeat(M * THETA, 2)
    first, second = q * np.cos(angle), rotate_every_two(q) * np.sin(angle)
    right = rotation_block_matrix(M, THETA) @ q
    return ClaimCheck(max_difference(first * second, right), corrected=max_difference(first + second, right))


@register_claim("002-theta")
def theta() -> ClaimCheck:
    return ClaimCheck(max_difference([10_000 ** (-2 * i / DIM) for i in range(DIM // 2)], THETA))


@register_claim("002-theta-code")
def theta_code() -> ClaimCheck:
    exponent = np.arange(0, 128, 2).astype(np.float32) / np.float32(128)
    printed = (np.float32(1.0) / np.float32(10_000.0) ** exponent).astype(np.float64)
    return ClaimCheck(
        float(np.abs(printed * 10_000 ** (np.arange(0, 128, 2) / 128) - 1.0).max()), tolerance=4 * 2.0**-24
    )


@register_claim("002-identity")
def identity() -> ClaimCheck:
    w, t = 1.3, np.linspace(-9, 9, 50)
    return ClaimCheck(max_difference(np.exp(-1j * w * t), np.cos(w * t) - 1j * np.sin(w * t)))


@register_claim("002-double")
def double() -> ClaimCheck:
    a = M * THETA
    doubled = np.concatenate([a[:, None], a[:, None]], axis=1).reshape(-1)
    return ClaimCheck(max_difference(doubled, [a[i // 2] for i in range(DIM)]))


@register_claim("002-code-index")
def code_index() -> ClaimCheck:
    angle = np.arange(5)[:, None, None] * THETA[None, None, :]
    doubled = np.concatenate([angle[:, :, :, None], angle[:, :, :, None]], axis=3)
    kept, right = doubled[:, :, :, 0], doubled.reshape(5, 1, DIM)
    return ClaimCheck(float(DIM - kept.shape[-1]), corrected=float(DIM - right.shape[-1]))


@register_claim("002-code-axes")
def code_axes() -> ClaimCheck:
    angle = np.arange(5)[:, None, None] * THETA[None, None, :]
    doubled = np.concatenate([angle[:, :, :, None], angle[:, :, :, None]], axis=3)
    printed = np.cos(doubled[:, :, :, 0])[:, None, None, :]
    corrected = np.cos(doubled.reshape(5, DIM))[:, None, None, :]
    return ClaimCheck(float(abs(printed.ndim - 4)), corrected=float(abs(corrected.ndim - 4)))
