"""Document 004, RoPE and its proof."""

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
from rope_core.rope import Array
from rope_core.rotation import rotation_matrix
from rope_core.theory.softmax import softmax

THETA = ROPE.theta


def turn(angle: float) -> Array:
    """Return the printed 2 x 2 rotation matrix."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@register_claim("004-relative-form")
def relative_form() -> ClaimCheck:
    x, y = random_normal(79, 2, DIM)
    scores = [
        (rotation_matrix(M + s, THETA, "interleaved") @ x) @ (rotation_matrix(N + s, THETA, "interleaved") @ y)
        for s in (0, 8, 900)
    ]
    return ClaimCheck(max_difference(scores, [scores[0]] * 3))


@register_claim("004-rotation")
def rotation() -> ClaimCheck:
    r = turn(0.9)
    return ClaimCheck(
        max(
            max_difference(r @ r.T, np.eye(2)),
            abs(np.linalg.det(r) - 1),
            max_difference(r @ [1.0, 0.0], [np.cos(0.9), np.sin(0.9)]),
        )
    )


@register_claim("004-relative-turn")
def relative_turn() -> ClaimCheck:
    a, b = random_normal(82, 2, 2)
    return ClaimCheck(abs((turn(1.3) @ a) @ (turn(0.4) @ b) - (turn(1.3 - 0.4) @ a) @ b))


@register_claim("004-apply")
def apply_matrix() -> ClaimCheck:
    q = random_normal(83, DIM)
    return ClaimCheck(max_difference(rotation_block_matrix(M, THETA) @ q, rotation_matrix(M, THETA, "interleaved") @ q))


@register_claim("004-angle-name")
def angle_name() -> ClaimCheck:
    """Measure the angle of each pair at position 2, against theta_2 for all of them and against 2 theta_j."""
    turned = np.angle(to_complex_pairs(rotation_block_matrix(2, THETA) @ np.tile([1.0, 0.0], DIM // 2)))
    return ClaimCheck(max_difference(turned, np.full(DIM // 2, THETA[2])), corrected=max_difference(turned, 2 * THETA))


@register_claim("004-before-rotation")
def before_rotation() -> ClaimCheck:
    """Measure a word's vector before rotation: the same at two places in layer one, not after one causal layer."""
    word = random_normal(84, DIM)
    x = np.stack([random_normal(85, DIM), *[word] * 5])
    w = random_normal(86, 3, DIM, DIM) / np.sqrt(DIM)
    places = range(6)
    q, k = (
        np.stack([rotation_matrix(p, THETA, "interleaved") @ z @ v for p, v in zip(places, x, strict=True)])
        for z in w[:2]
    )
    logits = np.where(np.tril(np.ones((6, 6))) > 0, q @ k.T, -np.inf)
    second = x + softmax(logits) @ (x @ w[2])
    return ClaimCheck(max_difference(second[2], second[5]), condition=max_difference(x[2], x[5]))


@register_claim("004-block-2")
def block_2() -> ClaimCheck:
    z = random_normal(87, 2)
    return ClaimCheck(abs(complex(*(turn(M * THETA[1]) @ z)) - complex(*z) * np.exp(1j * M * THETA[1])))


@register_claim("004-z")
def as_pairs() -> ClaimCheck:
    """z_j = x_{2j-1} + i x_{2j}, j = 1..N, keeps inner products: Re[z w*] summed is x y."""
    x, y = random_normal(88, 2, DIM)
    z, w = ([complex(v[2 * j - 2], v[2 * j - 1]) for j in range(1, DIM // 2 + 1)] for v in (x, y))
    return ClaimCheck(abs(sum((a * b.conjugate()).real for a, b in zip(z, w, strict=True)) - x @ y))


@register_claim("004-z-turn")
def z_turn() -> ClaimCheck:
    x = random_normal(89, DIM)
    return ClaimCheck(
        max_difference(
            from_complex_pairs(to_complex_pairs(x) * np.exp(1j * M * THETA)), rotation_block_matrix(M, THETA) @ x
        )
    )


@register_claim("004-theta-index")
def theta_index() -> ClaimCheck:
    """With j = 1, ..., N, as the text states it."""
    return ClaimCheck(max_difference([1 / 10_000 ** (2 * (j - 1) / DIM) for j in range(1, DIM // 2 + 1)], THETA))


@register_claim("004-z-product")
def z_product() -> ClaimCheck:
    a, b = random_normal(90, 2)
    t = M * THETA[1]
    return ClaimCheck(abs(complex(a, b) * np.exp(1j * t) - complex(a, b) * (np.cos(t) + 1j * np.sin(t))))


@register_claim("004-z-expand")
def z_expand() -> ClaimCheck:
    a, b = random_normal(91, 2)
    t = M * THETA[1]
    line = (a * np.cos(t) - b * np.sin(t)) + 1j * (a * np.sin(t) + b * np.cos(t))
    return ClaimCheck(abs(complex(a, b) * np.exp(1j * t) - line))


@register_claim("004-matrix")
def matrix() -> ClaimCheck:
    theta = np.array([1 / 10_000 ** (2 * (j - 1) / DIM) for j in range(1, DIM // 2 + 1)])
    return ClaimCheck(max_difference(rotation_block_matrix(M, theta), rotation_matrix(M, THETA, "interleaved")))


@register_claim("004-big-matrix")
def big_matrix() -> ClaimCheck:
    """Measure the share of the block matrix's multiplications by zero; then the element-wise form against it."""
    q = random_normal(95, DIM)
    whole = rotation_block_matrix(M, THETA)
    return ClaimCheck(
        float(np.mean(whole == 0.0)),
        corrected=max_difference(elementwise_rotation(q, rotate_every_two(q), M, THETA), whole @ q),
    )


@register_claim("004-carries-relative")
def carries_relative() -> ClaimCheck:
    """Both positions moved by 5, the distance kept: how far the rotated vector moves; then the score."""
    q, k = random_normal(96, 2, DIM)
    turned = [(rotation_block_matrix(M + s, THETA) @ q, rotation_block_matrix(N + s, THETA) @ k) for s in (0, 5)]
    scores = [a @ b for a, b in turned]
    return ClaimCheck(max_difference(turned[0][0], turned[1][0]), corrected=abs(scores[0] - scores[1]))


@register_claim("004-transpose")
def transpose() -> ClaimCheck:
    return ClaimCheck(max_difference(rotation_block_matrix(M, THETA).T, rotation_block_matrix(-M, THETA)))


@register_claim("004-compose")
def compose() -> ClaimCheck:
    return ClaimCheck(
        max_difference(
            rotation_block_matrix(M, THETA).T @ rotation_block_matrix(N, THETA), rotation_block_matrix(N - M, THETA)
        )
    )


@register_claim("004-proof")
def proof() -> ClaimCheck:
    q, k = random_normal(92, 2, DIM)
    r_m, r_n = rotation_block_matrix(M, THETA), rotation_block_matrix(N, THETA)
    lines = [(r_m @ q) @ (r_n @ k), q @ (r_m.T @ r_n @ k), q @ (rotation_block_matrix(N - M, THETA) @ k)]
    return ClaimCheck(max_difference(lines, [lines[0]] * 3))
