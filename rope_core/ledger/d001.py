"""Document 001: LRPE rotate, forward and backward."""

from __future__ import annotations

import numpy as np

from rope_core.layout import convert
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided
from rope_core.ledger.kit import DIM, ROPE, M, numerical_gradient, random_normal, rotation_block_matrix
from rope_core.rope import Array
from rope_core.theory.block.activation import activation_and_derivative
from rope_core.theory.softmax import softmax

OFFSET = 11
THETA = ROPE.theta
HALF = DIM // 2
X = random_normal(11, DIM)
D_O = random_normal(12, DIM)
W = rotation_block_matrix(M + OFFSET, THETA)


def _output(x: Array, angle: Array) -> Array:
    x1, x2 = x[..., :HALF], x[..., HALF:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)


ANGLE = (M + OFFSET) * THETA


@register_claim("001-activation-dim")
def activation_dim() -> ClaimCheck:
    x = random_normal(13, 5, 6)
    same = max(
        max_difference(activation_and_derivative(name, x)[0], activation_and_derivative(name, x.T)[0].T)
        for name in ("relu", "silu")
    )
    sums = max(max_difference(softmax(x, axis).sum(axis=axis), np.ones(x.shape[1 - axis])) for axis in (0, 1))
    return ClaimCheck(max(same, sums))


@register_claim("001-row-form")
def row_form() -> ClaimCheck:
    order = convert(DIM, "interleaved", "half")
    lines = _output(X[order], ANGLE)
    return ClaimCheck(max_difference((X @ W)[order], lines), corrected=max_difference((X @ W.T)[order], lines))


@register_claim("001-block-diagonal")
def block_diagonal() -> ClaimCheck:
    return ClaimCheck(max(max_difference(W @ W.T, np.eye(DIM)), abs(np.linalg.det(W) - 1.0)))


@register_claim("001-block")
def block() -> ClaimCheck:
    angles = [np.arctan2(W[2 * k + 1, 2 * k], W[2 * k, 2 * k]) - (M + OFFSET) * THETA[k] for k in range(HALF)]
    return ClaimCheck(max(float(abs(np.exp(1j * a) - 1.0)) for a in angles))


@register_claim("001-notice")
def notice() -> ClaimCheck:
    x1, x2 = X[:2]
    t = 0.7
    product = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ [x1, x2]
    return ClaimCheck(max_difference(product, [x1 * np.cos(t) - x2 * np.sin(t), x2 * np.cos(t) + x1 * np.sin(t)]))


@register_claim("001-halves")
def in_halves() -> ClaimCheck:
    order = convert(DIM, "interleaved", "half")
    return ClaimCheck(
        max_difference(W @ X, _output(X, ANGLE)), condition=max_difference((W @ X)[order], _output(X[order], ANGLE))
    )


@register_claim("001-output")
def output() -> ClaimCheck:
    """Compare the printed cos and sin of theta, the input, then those of (t + offset) theta, which W has."""
    turned = (X[:HALF] + 1j * X[HALF:]) * np.exp(1j * ANGLE)
    right = np.concatenate([turned.real, turned.imag])
    return ClaimCheck(max_difference(_output(X, THETA), right), condition=max_difference(_output(X, ANGLE), right))


@register_claim("001-backward-o")
def backward_o() -> ClaimCheck:
    """Measure the gradient of the forward that the output lines compute, o = W x, by central differences."""
    right = numerical_gradient(lambda x: float((W @ x) @ D_O), X)
    return ClaimCheck(max_difference((W @ X) @ W.T, right), corrected=max_difference(D_O @ W, right), tolerance=1e-7)


@register_claim("001-transpose")
def transpose() -> ClaimCheck:
    return ClaimCheck(max_difference(W.T, rotation_block_matrix(-(M + OFFSET), THETA)))


@register_claim("001-backward-lines")
def backward_lines() -> ClaimCheck:
    """Measure the lines with theta as dX, the gradient of the whole; then with the angle, of the rotation alone."""

    def lines(angle: Array) -> Array:
        d1, d2, cos, sin = D_O[:HALF], D_O[HALF:], np.cos(angle), np.sin(angle)
        return np.concatenate([d1 * cos + d2 * sin, -d1 * sin + d2 * cos])

    whole = numerical_gradient(lambda x: float(_output(activation_and_derivative("silu", x)[0], ANGLE) @ D_O), X)
    rotation = numerical_gradient(lambda x: float(_output(x, ANGLE) @ D_O), X)
    return ClaimCheck(
        max_difference(lines(THETA), whole), condition=max_difference(lines(ANGLE), rotation), tolerance=1e-7
    )


@register_claim("001-backward-activation")
def backward_activation() -> ClaimCheck:
    d_bar = _output(D_O, -ANGLE)
    right = numerical_gradient(lambda x: float(_output(activation_and_derivative("silu", x)[0], ANGLE) @ D_O), X)
    without_x = activation_and_derivative("silu", d_bar)[1]
    return ClaimCheck(
        max_difference(without_x, right),
        corrected=max_difference(activation_and_derivative("silu", X)[1] * d_bar, right),
        tolerance=1e-7,
    )


@register_claim("001-offset")
def offset() -> ClaimCheck:
    x = random_normal(14, 6, DIM)
    whole = _output(np.vstack([random_normal(15, OFFSET, DIM), x]), np.arange(OFFSET + 6)[:, None] * THETA)
    part = _output(x, (np.arange(6) + OFFSET)[:, None] * THETA)
    return ClaimCheck(max_difference(whole[OFFSET:], part))


@register_claim("001-theta-shapes")
def theta_shapes() -> ClaimCheck:
    """With as many heads as pairs, one vector can mean a frequency per pair or per head."""
    heads = HALF
    x, given = random_normal(16, heads, DIM), np.abs(random_normal(17, heads))
    per_pair, per_head = (_output(x, M * np.broadcast_to(t, (heads, HALF))) for t in (given[None, :], given[:, None]))
    other = np.abs(random_normal(18, 3))
    fewer = _output(x[:3], M * np.repeat(other[:, None], HALF, axis=1))
    one_by_one = np.stack([_output(x[h], np.full(HALF, M * other[h])) for h in range(3)])
    return ClaimCheck(max_difference(per_pair, per_head), condition=max_difference(fewer, one_by_one))


@register_claim("001-partial")
def partial() -> ClaimCheck:
    x = random_normal(19, DIM + 6)
    turned = np.concatenate([_output(x[:DIM], ANGLE), x[DIM:]])
    back = np.concatenate([_output(turned[:DIM], -ANGLE), turned[DIM:]])
    longer = float(abs(np.linalg.norm(turned) - np.linalg.norm(x)))
    return ClaimCheck(max(max_difference(back, x), longer, max_difference(turned[DIM:], x[DIM:])))


register_undecided("001-offset-inference")
