"""Document 003, the appendix: how RoPE is derived, line by line."""

from __future__ import annotations

import numpy as np

from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim
from rope_core.ledger.kit import (
    DIM,
    ROPE,
    M,
    N,
    distance_from_full_turn,
    from_complex_pairs,
    random_normal,
    rotation_block_matrix,
    to_complex_pairs,
)
from rope_core.rotation import rotation_matrix

THETA = ROPE.theta
T = 0.37
QV, KV = random_normal(51, 2, 2)
Q, K = complex(*QV), complex(*KV)


def f(x: complex, i: float) -> complex:
    """Return the solution, x e^{i i theta}."""
    return x * complex(np.exp(1j * i * T))


def g(distance: float) -> complex:
    """Return the complex function of the distance, q k* e^{i (i - j) theta}."""
    return Q * K.conjugate() * complex(np.exp(1j * distance * T))


def arg(z: complex) -> float:
    """Return the argument of z, rad."""
    return float(np.angle(z))


def phi(x: complex, i: float) -> float:
    """arg f - arg x, rad."""
    return arg(f(x, i)) - arg(x)


@register_claim("003-proof-goal")
def goal() -> ClaimCheck:
    q, k = random_normal(52, 2, DIM)

    def score(i: int, j: int) -> float:
        return float((rotation_matrix(i, THETA, "interleaved") @ q) @ (rotation_matrix(j, THETA, "interleaved") @ k))

    start = max_difference(rotation_matrix(0, THETA, "interleaved") @ q, q)
    return ClaimCheck(max(start, *(abs(score(M + s, N + s) - score(M, N)) for s in (1, 50, 999))))


@register_claim("003-proof-goal-complex")
def goal_complex() -> ClaimCheck:
    """Without a conjugate, as printed, the product moves when both positions do; with it the real part does not."""
    printed = [f(Q, M + s) * f(K, N + s) for s in (0, 3, 400)]
    corrected = [(f(Q, M + s) * f(K, N + s).conjugate()).real for s in (0, 3, 400)]
    return ClaimCheck(
        max_difference(printed, [printed[0]] * 3), corrected=max_difference(corrected, [g(M - N).real] * 3)
    )


@register_claim("003-proof-inner")
def inner() -> ClaimCheck:
    return ClaimCheck(abs((Q * K.conjugate()).real - QV @ KV))


@register_claim("003-proof-goal-real")
def goal_real() -> ClaimCheck:
    return ClaimCheck(abs((f(Q, M) * f(K, N).conjugate()).real - g(M - N).real))


@register_claim("003-proof-ansatz")
def ansatz() -> ClaimCheck:
    """|f| e^{i phi(i)} with a phase that does not know x, against f; then with arg x in it."""
    without = abs(f(Q, M)) * np.exp(1j * M * T)
    return ClaimCheck(abs(without - f(Q, M)), corrected=abs(abs(f(Q, M)) * np.exp(1j * (arg(Q) + M * T)) - f(Q, M)))


@register_claim("003-proof-modulus")
def modulus() -> ClaimCheck:
    product = abs(f(Q, M)) * abs(f(K, N))
    turn = distance_from_full_turn(arg(f(Q, M)) - arg(f(K, N)) - arg(g(M - N)))
    real = abs(product - abs(g(M - N).real))
    return ClaimCheck(real, condition=max(abs(product - abs(g(M - N))), turn))


@register_claim("003-proof-same-place")
def same_place() -> ClaimCheck:
    moduli = [abs(f(Q, M)) * abs(f(K, M)), abs(g(0)), abs(f(Q, 0)) * abs(f(K, 0)), abs(Q) * abs(K)]
    turns = [arg(f(Q, M)) - arg(f(K, M)), arg(g(0)), arg(f(Q, 0)) - arg(f(K, 0)), arg(Q) - arg(K)]
    return ClaimCheck(
        max(max_difference(moduli, [moduli[0]] * 4), *(distance_from_full_turn(t - turns[0]) for t in turns))
    )


@register_claim("003-proof-arg-moved")
def arg_moved() -> ClaimCheck:
    return ClaimCheck(distance_from_full_turn((arg(f(Q, M)) - arg(Q)) - (arg(f(K, M)) - arg(K))))


@register_claim("003-proof-phi")
def phi_of_position() -> ClaimCheck:
    """|f| = |x|, and arg f - arg x is the same for every x."""
    return ClaimCheck(max(abs(abs(f(Q, M)) - abs(Q)), distance_from_full_turn(phi(Q, M) - phi(K, M))))


@register_claim("003-proof-phi-difference")
def phi_difference() -> ClaimCheck:
    left = phi(Q, M) - phi(K, N)
    printed = arg(g(M - N)) + arg(Q) - arg(K)
    return ClaimCheck(
        distance_from_full_turn(left - printed),
        corrected=distance_from_full_turn(left - (arg(g(M - N)) - arg(Q) + arg(K))),
    )


@register_claim("003-proof-phi-step")
def phi_step() -> ClaimCheck:
    printed = arg(g(1)) + arg(Q) - arg(K)
    return ClaimCheck(
        distance_from_full_turn(printed - T), corrected=distance_from_full_turn(arg(g(1)) - arg(Q) + arg(K) - T)
    )


@register_claim("003-proof-arithmetic")
def arithmetic() -> ClaimCheck:
    return ClaimCheck(max(distance_from_full_turn(phi(Q, i) - i * T) for i in range(40)))


@register_claim("003-proof-summary")
def summary() -> ClaimCheck:
    return ClaimCheck(max(abs(abs(f(Q, i)) - abs(Q)) + distance_from_full_turn(phi(Q, i) - i * T) for i in (0, M, N)))


@register_claim("003-proof-solution")
def solution() -> ClaimCheck:
    """Measure the printed |x| e^{i i theta}, which at i = 0 is |x| and not x."""
    printed = [abs(Q) * np.exp(1j * i * T) for i in (0, M)]
    return ClaimCheck(
        max_difference(printed, [f(Q, 0), f(Q, M)]),
        corrected=max_difference([Q * np.exp(1j * i * T) for i in (0, M)], [f(Q, 0), f(Q, M)]),
    )


@register_claim("003-proof-plane")
def plane() -> ClaimCheck:
    turned = np.array([[np.cos(M * T), -np.sin(M * T)], [np.sin(M * T), np.cos(M * T)]]) @ QV
    return ClaimCheck(abs(complex(*turned) - f(Q, M)))


@register_claim("003-proof-blocks")
def in_blocks() -> ClaimCheck:
    x = random_normal(53, DIM)
    return ClaimCheck(
        max_difference(
            rotation_block_matrix(M, THETA) @ x, from_complex_pairs(to_complex_pairs(x) * np.exp(1j * M * THETA))
        )
    )


@register_claim("003-proof-relative")
def relative() -> ClaimCheck:
    q, k = random_normal(54, 2, DIM)
    r_i, r_j = rotation_block_matrix(M, THETA), rotation_block_matrix(N, THETA)
    lines = [(r_i @ q) @ (r_j @ k), q @ r_i.T @ r_j @ k, q @ rotation_block_matrix(N - M, THETA) @ k]
    return ClaimCheck(max_difference(lines, [lines[0]] * 3))


SYMMETRIC = (1, -1, -1, 1)


@register_claim("003-proof-symmetric")
def symmetric() -> ClaimCheck:
    return ClaimCheck(
        max_difference(rotation_block_matrix(M, THETA, SYMMETRIC), rotation_block_matrix(M, THETA, (1, -1, 1, 1))),
        corrected=max_difference(rotation_block_matrix(M, THETA), rotation_matrix(M, THETA, "interleaved")),
    )


def _two(i: float, j: float, off: tuple[float, float]) -> np.ndarray:
    c = np.cos(i) * np.cos(j) + np.sin(i) * np.sin(j)
    return np.array([[c, off[0]], [off[1], c]])


@register_claim("003-proof-product")
def product() -> ClaimCheck:
    i, j = M * T, N * T
    s = -np.cos(i) * np.sin(j) - np.sin(i) * np.cos(j)
    right = rotation_block_matrix(M, np.array([T])).T @ rotation_block_matrix(N, np.array([T]))
    corrected = _two(
        i, j, (np.sin(i) * np.cos(j) - np.cos(i) * np.sin(j), np.cos(i) * np.sin(j) - np.sin(i) * np.cos(j))
    )
    return ClaimCheck(max_difference(_two(i, j, (s, s)), right), corrected=max_difference(corrected, right))


@register_claim("003-proof-sum-angle")
def sum_angle() -> ClaimCheck:
    c, s = np.cos((M - N) * T), np.sin((M + N) * T)
    right = rotation_block_matrix(N - M, np.array([T]))
    d = np.sin((M - N) * T)
    return ClaimCheck(max_difference([[c, -s], [-s, c]], right), corrected=max_difference([[c, d], [-d, c]], right))
