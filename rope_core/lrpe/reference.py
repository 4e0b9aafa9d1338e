"""LRPE in float64 numpy: the document's formulas, forward and backward."""

from __future__ import annotations

import numpy as np

from rope_core.errors import argument_error
from rope_core.lrpe.activations import activate_backward, apply_activation
from rope_core.lrpe.arguments import LrpeSpec, PositionIds
from rope_core.rope import Array


def checked_float64(argument: str, value: object) -> Array:
    """Return ``value`` as float64, or raise ValueError unless it holds real numbers."""
    given = np.asarray(value)
    if given.dtype.kind not in "fiu":
        raise argument_error(argument, "real_array", value)
    return given.astype(np.float64)


def angles(theta: Array, where: PositionIds) -> Array:
    """Return position times theta, float64 (1 | B, N, 1 | H, 1 | P), rad."""
    return np.asarray(where[:, :, None, None] * theta[None, None])


def turn(x: Array, angle: Array, p: LrpeSpec) -> Array:
    """Rotate dimensions (start + i, start + pairs + i) of x (B, N, H, D) by ``angle``; the others pass."""
    middle = p.start + p.pairs
    a, b = x[..., p.start : middle], x[..., middle : p.rotary_end]
    cos, sin = np.cos(angle), np.sin(angle)
    out = x.copy()
    with np.errstate(invalid="ignore"):
        out[..., p.start : middle] = a * cos - b * sin
        out[..., middle : p.rotary_end] = a * sin + b * cos
    return out


def lrpe_forward(x: Array, theta: Array, where: PositionIds, p: LrpeSpec) -> Array:
    """Return O (B, N, H, D): the activation, then the rotation."""
    return turn(apply_activation(x, p.act, p.dim), angles(theta, where), p)


def lrpe_backward(x: Array, theta: Array, where: PositionIds, grad: Array, p: LrpeSpec) -> tuple[Array, Array]:
    """Return dX (B, N, H, D) and dTheta (1 | H, 1 | P) from dO.

    dO is turned by -theta; that is the gradient at the activation's output. As dO1/dtheta = -m O2 and
    dO2/dtheta = m O1, theta's gradient is the sum of m (dO2 O1 - dO1 O2), and turning both O and dO back leaves that
    product as it is.
    """
    angle = angles(theta, where)
    inner = turn(grad, -angle, p)
    bar = apply_activation(x, p.act, p.dim)
    middle = p.start + p.pairs
    first, second = slice(p.start, middle), slice(middle, p.rotary_end)
    slope = where[:, :, None, None] * (inner[..., second] * bar[..., first] - inner[..., first] * bar[..., second])
    return activate_backward(x, inner, p.act, p.dim), sum_to_theta_shape(slope, p.theta_shape)


def sum_to_theta_shape(slope: Array, shape: tuple[int, int]) -> Array:
    """Sum (B, N, H, P) down to theta's own (1 | H, 1 | P)."""
    total = slope.sum(axis=(0, 1))
    axes = tuple(axis for axis in (0, 1) if shape[axis] == 1)
    return np.asarray(total.sum(axis=axes, keepdims=True))
