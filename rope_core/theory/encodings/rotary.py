"""Encodings that turn the vector: RoPE, partial RoPE, xPos, two-dimensional RoPE and M-RoPE's sections."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.layout import Layout, checked_even_dim
from rope_core.rope import Array, Rope
from rope_core.rotation import rotate
from rope_core.theory.attention import checked_vector

IntArray = npt.NDArray[np.int64]
AXES = ("t", "h", "w")


def rotate_rows(x: npt.ArrayLike, angle: npt.ArrayLike, layout: str | Layout = "interleaved") -> Array:
    """Turn the first 2 * pairs dimensions of each row by its own angles, float64 (n, dim).

    Args:
        x: (n, dim).
        angle: rad, (n, pairs), 2 * pairs <= dim; the other dimensions pass.

    >>> rotate_rows([[1.0, 0.0, 5.0]], [[np.pi / 2]]).round(12).tolist()
    [[0.0, 1.0, 5.0]]
    """
    values, phase = np.asarray(x, dtype=np.float64), np.asarray(angle, dtype=np.float64)
    return np.asarray(rotate(values[:, None], np.cos(phase), np.sin(phase), layout)[:, 0])


def rope_logits(
    q: npt.ArrayLike, k: npt.ArrayLike, angle: npt.ArrayLike, layout: str | Layout = "interleaved"
) -> Array:
    """Return (R_i q_i) (R_j k_j) / sqrt(dim), float64 (n, n), rows the query; ``angle`` (n, pairs) turns both."""
    query, key = rotate_rows(q, angle, layout), rotate_rows(k, angle, layout)
    return np.asarray(query @ key.T / math.sqrt(query.shape[1]))


def position_angles(positions: npt.ArrayLike, inv_freq: npt.ArrayLike) -> Array:
    """Return position * inv_freq, rad, float64 (n, pairs)."""
    return np.asarray(checked_vector("positions", positions)[:, None] * np.asarray(inv_freq, dtype=np.float64))


def xpos_scale(dim: int) -> Array:
    """Return xPos's decay base of each pair, zeta_i = (2i/dim + 0.4) / 1.4, float64 (dim/2,).

    Source: xPos, arXiv:2212.10554, section 3; torchscale xpos_relative_position.py ((2i + 0.4 dim) / (1.4 dim)).

    >>> xpos_scale(4).round(6).tolist()
    [0.285714, 0.642857]
    """
    width = checked_even_dim("dim", dim)
    return np.asarray((2.0 * np.arange(width // 2) / width + 0.4) / 1.4)


def xpos_logits(
    q: npt.ArrayLike, k: npt.ArrayLike, positions: npt.ArrayLike, rope: Rope, scale_base: float = 512.0
) -> Array:
    """Return RoPE's logits with pair i multiplied by zeta_i**((m - n) / scale_base), float64 (n, n), rows the query.

    Queries carry zeta**(m/scale_base) and keys its inverse, so the product is relative; for n > m it grows, which is
    why xPos is causal.
    """
    where = checked_vector("positions", positions)
    # Centred positions: only the difference counts, and the powers stay in range.
    power = (where - where.mean()) / checked_finite("scale_base", scale_base)
    decay = np.repeat(xpos_scale(rope.dim) ** power[:, None], 2, axis=1)
    angle = position_angles(where, rope.theta)
    query, key = rotate_rows(q, angle) * decay, rotate_rows(k, angle) / decay
    return np.asarray(query @ key.T / math.sqrt(query.shape[1]))


def axial_angles(positions: npt.ArrayLike, dim: int, base: float = 10_000.0) -> Array:
    """Return two-dimensional RoPE's angles: the first half of the pairs turns by row, the rest by column.

    Args:
        positions: (row, column), (n, 2).
        dim: rotary width, a multiple of 4; each axis has the frequencies base**(-4i/dim), i = 0..dim/4 - 1.

    Returns:
        rad, float64 (n, dim/2).

    Source: transformers 5.24 models/qwen2_vl/modeling_qwen2_vl.py, VisionRotaryEmbedding.
    """
    width = checked_even_dim("dim", dim)
    if width % 4:
        raise argument_error("dim", "multiple_of", dim, factor=4)
    where = checked_position_matrix(positions, 2)
    theta = Rope(width // 2, base).theta
    return np.concatenate([where[:, :1] * theta, where[:, 1:] * theta], axis=1)


def checked_position_matrix(positions: npt.ArrayLike, axes: int) -> Array:
    """Return positions as a finite float64 matrix (n, axes), or raise ValueError."""
    where = np.asarray(positions, dtype=np.float64)
    if where.ndim != 2 or where.shape[1] != axes or not where.size or not np.all(np.isfinite(where)):
        raise argument_error("positions", f"a matrix (n, {axes}) of finite numbers", where.shape)
    return where


def mrope_axes(sections: npt.ArrayLike, interleaved: bool = False) -> IntArray:
    """Return which axis turns each pair, 0 time, 1 height, 2 width, int64 (dim/2,).

    Args:
        sections: pairs per axis, three positive numbers; their sum is dim/2.
        interleaved: t h w t h w ... as in Qwen3-VL, the rest t; otherwise three blocks as in Qwen2-VL.

    Raises:
        ValueError: on other than three positive whole numbers, or interleaved sections that do not fit.

    Source: transformers 5.24 models/qwen2_vl and models/qwen3_vl, mrope_section.

    >>> mrope_axes([2, 1, 1]).tolist(), mrope_axes([2, 1, 1], interleaved=True).tolist()
    ([0, 0, 1, 2], [0, 1, 2, 0])
    """
    counts = np.asarray(sections)
    if counts.shape != (3,) or np.any(counts < 1) or np.any(counts != np.floor(counts)):
        raise argument_error("sections", "three positive whole numbers", sections)
    t, h, w = (int(count) for count in counts)
    if not interleaved:
        return np.repeat(np.arange(3), [t, h, w])
    axes = np.zeros(t + h + w, dtype=np.int64)
    for axis, count in ((1, h), (2, w)):
        slots = np.arange(axis, 3 * count, 3)
        if slots[-1] >= axes.size:
            raise argument_error("sections", "such that height and width fit every third pair", sections)
        axes[slots] = axis
    return axes


def mrope_angles(positions: npt.ArrayLike, inv_freq: npt.ArrayLike, axes: npt.ArrayLike) -> Array:
    """Return M-RoPE's angles, rad, float64 (n, dim/2): pair i turns by inv_freq_i times the position on its axis.

    Positions are (time, height, width), (n, 3); text has the same number on all three, and is then plain RoPE.
    """
    where = checked_position_matrix(positions, 3)
    f, axis = np.asarray(inv_freq, dtype=np.float64), np.asarray(axes, dtype=np.int64)
    if f.shape != axis.shape:
        raise argument_error("axes", f"one axis per pair, {f.size} of them", axis.size)
    return np.asarray(where[:, axis] * f)
