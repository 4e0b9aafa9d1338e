"""The reference: rotation as a matrix, element by element, and as a complex product, in float64."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.layout import HALF, Layout, checked_layout
from rope_core.rope import Array, Rope

# A float64 matrix of this width takes 128 MiB.
MAX_MATRIX = 4096


def rotation_matrix(position: float, inv_freq: npt.ArrayLike, layout: str | Layout) -> Array:
    """Return R with ``R @ x`` = x turned by position * inv_freq, float64 (dim, dim).

    In the plane of a pair's (first, second) dimension the block is [[cos, -sin], [sin, cos]]: a quarter turn takes
    (1, 0) to (0, 1). ``f(Q) = Q R^T`` holds row by row, each row with its own position.

    Raises ValueError on a position or frequency that is not finite, more than 2048 frequencies, or an unknown layout.

    Source: RoFormer, arXiv:2104.09864, equation 15 (interleaved).

    >>> rotation_matrix(1, [np.pi / 2], "half").round(12).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    m = checked_finite("position", position)
    theta = _frequencies(inv_freq)
    if theta.size > MAX_MATRIX // 2:
        raise argument_error("inv_freq", f"at most {MAX_MATRIX // 2} numbers for a full matrix", theta.size)
    chosen = checked_layout(layout)
    first, second = chosen.first(theta.size), chosen.second(theta.size)
    cos, sin = np.cos(m * theta), np.sin(m * theta)
    matrix = np.zeros((2 * theta.size, 2 * theta.size))
    matrix[first, first] = cos
    matrix[first, second] = -sin
    matrix[second, first] = sin
    matrix[second, second] = cos
    return matrix


def _frequencies(inv_freq: npt.ArrayLike) -> Array:
    theta = np.asarray(inv_freq, dtype=np.float64)
    if theta.ndim != 1 or not theta.size or not np.all(np.isfinite(theta)):
        raise argument_error("inv_freq", "a non-empty vector of finite numbers", inv_freq)
    return theta


def _vectors(x: npt.ArrayLike, inv_freq: npt.ArrayLike) -> tuple[Array, Array]:
    values, theta = np.asarray(x, dtype=np.float64), _frequencies(inv_freq)
    if not values.ndim or values.shape[-1] != 2 * theta.size:
        raise argument_error("x", f"of shape (..., {2 * theta.size}) to fit the frequencies", values.shape)
    return values, theta


def roformer_frequencies(dim: int, base: float = 10_000.0) -> Array:
    """Frequencies as the paper prints them, float64 (dim/2,): base**(-2(i-1)/dim) for i = 1..dim/2.

    >>> roformer_frequencies(4, 100.0).tolist()
    [1.0, 0.1]
    """
    rope = Rope(dim, base)
    i = np.arange(1, rope.dim // 2 + 1)
    return np.asarray(rope.base ** (-2.0 * (i - 1) / rope.dim), dtype=np.float64)


def roformer_frequencies_from_zero(dim: int, base: float = 10_000.0) -> Array:
    """Return the same frequencies numbered by dimension, float64 (dim/2,): base**(-i/dim) for i = 0, 2, ..., dim - 2.

    >>> roformer_frequencies_from_zero(4, 100.0).tolist()
    [1.0, 0.1]
    """
    rope = Rope(dim, base)
    i = np.arange(0, rope.dim, 2)
    return np.asarray(rope.base ** (-i / rope.dim), dtype=np.float64)


def quarter_turn_pairs(x: Any, layout: str | Layout) -> Any:
    """Return x with each pair (a, b) replaced by (-b, a): x turned by a quarter in every plane, numpy (..., dim).

    In the half layout this is LLaMA's rotate_half.

    >>> quarter_turn_pairs(np.array([1.0, 2.0, 3.0, 4.0]), "interleaved").tolist()
    [-2.0, 1.0, -4.0, 3.0]
    >>> quarter_turn_pairs(np.array([1.0, 2.0, 3.0, 4.0]), "half").tolist()
    [-3.0, -4.0, 1.0, 2.0]
    """
    chosen = checked_layout(layout)
    if not len(x.shape) or x.shape[-1] % 2:
        raise argument_error("x", "of shape (..., dim) with an even dim", tuple(x.shape))
    a, b = chosen.split_pairs(x)
    return join_pairs(-b, a, chosen)


def repeat_per_pair(values: npt.NDArray[Any], layout: str | Layout) -> npt.NDArray[Any]:
    """Write one value per pair to both of its dimensions: (..., dim/2) -> (..., dim).

    >>> repeat_per_pair(np.array([1.0, 2.0]), "interleaved").tolist()
    [1.0, 1.0, 2.0, 2.0]
    >>> repeat_per_pair(np.array([1.0, 2.0]), "half").tolist()
    [1.0, 2.0, 1.0, 2.0]
    """
    return np.asarray(join_pairs(values, values, layout))


def rotate_by_matrix(x: npt.ArrayLike, position: float, inv_freq: npt.ArrayLike, layout: str | Layout) -> Array:
    """Rotate the vectors x (..., dim) at one position by the full matrix, float64."""
    values, theta = _vectors(x, inv_freq)
    return values @ rotation_matrix(position, theta, layout).T


def rotate_by_elements(x: npt.ArrayLike, position: float, inv_freq: npt.ArrayLike, layout: str | Layout) -> Array:
    """Rotate x (..., dim) as x * cos + quarter_turn_pairs(x) * sin, float64; RoFormer equation 34."""
    values, theta = _vectors(x, inv_freq)
    angle = repeat_per_pair(checked_finite("position", position) * theta, layout)
    return np.asarray(values * np.cos(angle) + quarter_turn_pairs(values, layout) * np.sin(angle))


def rotate_by_complex(x: npt.ArrayLike, position: float, inv_freq: npt.ArrayLike, layout: str | Layout) -> Array:
    """Rotate x (..., dim) as (a + ib) * exp(i * position * inv_freq), float64."""
    values, theta = _vectors(x, inv_freq)
    a, b = checked_layout(layout).split_pairs(values)
    turned = (a + 1j * b) * np.exp(1j * checked_finite("position", position) * theta)
    return np.asarray(join_pairs(turned.real, turned.imag, layout))


def join_pairs(a: Any, b: Any, layout: str | Layout) -> Any:
    """Put pairs' members (..., dim/2) back into head vectors (..., dim); numpy or torch."""
    if isinstance(a, np.ndarray):
        if checked_layout(layout) is HALF:
            return np.concatenate([a, b], axis=-1)
        return np.stack([a, b], axis=-1).reshape(*a.shape[:-1], 2 * a.shape[-1])
    torch = importlib.import_module("torch")
    return torch.cat([a, b], -1) if checked_layout(layout) is HALF else torch.stack([a, b], -1).flatten(-2)


def rotate(x: Any, cos: Any, sin: Any, layout: str | Layout) -> Any:
    """Turn each pair of x by its angle; with ``-sin`` this is the backward, and the inverse of a pure rotation.

    Args:
        x: (..., seq, heads, dim), numpy or torch.
        cos, sin: (seq, rotary_dim/2) of the same library; the first rotary_dim dimensions turn, the rest pass.
        layout: "interleaved" or "half".

    Returns:
        An array like x. float16 and bfloat16 are computed in the tables' precision and rounded once.

    Raises:
        ValueError: when shapes do not fit or the layout is unknown.

    >>> one, zero = np.ones((1, 1)), np.zeros((1, 1))
    >>> rotate(np.array([[[1.0, 0.0]]]), zero, one, "half").tolist()  # a quarter turn
    [[[0.0, 1.0]]]
    """
    chosen = checked_layout(layout)
    if cos.shape != sin.shape or len(cos.shape) != 2:
        raise argument_error(
            "cos and sin", "two tables of one shape (seq, rotary_dim/2)", (tuple(cos.shape), tuple(sin.shape))
        )
    width = 2 * cos.shape[-1]
    if len(x.shape) < 3 or x.shape[-3] != cos.shape[0] or x.shape[-1] < width:
        rule = f"of shape (..., {cos.shape[0]}, heads, dim >= {width}) to fit the tables"
        raise argument_error("x", rule, tuple(x.shape))
    c, s = cos[:, None, :], sin[:, None, :]
    a, b = chosen.split_pairs(x[..., :width])
    turned = join_pairs(a * c - b * s, a * s + b * c, chosen)
    if isinstance(x, np.ndarray):
        return np.concatenate([turned.astype(x.dtype, copy=False), x[..., width:]], axis=-1)
    torch = importlib.import_module("torch")
    return torch.cat([turned.to(x.dtype), x[..., width:]], -1)
