"""Rotation over two and three axes: which way each pair's angle grows, and the score map that follows.

Pair i turns by position . f_i, a dot product: the frequency of a pair is a vector, one number for each axis.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.rope import Array
from rope_core.theory.encodings.rotary import mrope_axes


def _magnitudes(count: int, low: float, high: float) -> Array:
    """Return ``count`` frequencies in geometric progression from ``low`` to ``high``, rad per patch."""
    if not 0 < checked_finite("low", low) <= checked_finite("high", high):
        raise argument_error("low", "a number in (0, high]", low)
    return np.geomspace(low, high, count)


def axial_frequencies(pairs: int, low: float, high: float) -> Array:
    """Return the frequencies of pairs that follow one axis each, half of them rows, half columns: (pairs, 2) as (y, x).

    Raises ValueError on an odd number of pairs, or bounds out of order.

    >>> axial_frequencies(4, 0.1, 1.0).tolist()
    [[0.1, 0.0], [1.0, 0.0], [0.0, 0.1], [0.0, 1.0]]
    """
    return axial_frequencies_turned_by(pairs, low, high, 0.0)


def axial_frequencies_turned_by(pairs: int, low: float, high: float, angle: float) -> Array:
    """Return axial frequencies turned by ``angle`` rad, (pairs, 2) as (y, x).

    RoPE-Mixed starts every head so, with an angle of its own, and learns the vectors from there.

    Source: RoPE-ViT, arXiv:2403.13298; github.com/naver-ai/rope-vit, init_random_2d_freqs.

    >>> axial_frequencies_turned_by(2, 1.0, 1.0, np.pi / 2).round(9).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    if checked_int("pairs", pairs, 2, 2**16) % 2:
        raise argument_error("pairs", "even", pairs)
    size = _magnitudes(pairs // 2, low, high)[:, None]
    turn = checked_finite("angle", angle)
    first, second = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
    return np.concatenate([size * first, size * second]) + 0.0


def golden_gate_frequencies(pairs: int, low: float, high: float, axes: int = 2) -> Array:
    """Return frequencies whose directions fill the circle or sphere evenly, in no order: (pairs, axes).

    Direction i is the point frac(i / g), frac(i / g**2), ... with g the root of g**(axes + 1) = g + 1, mapped to normal
    numbers and to length 1; magnitudes rise from ``low`` to ``high``.

    Source: Jerry Xiong, On N-dimensional rotary positional embeddings, jerryxio.ng/posts/nd-rope (2025).

    >>> golden_gate_frequencies(3, 1.0, 1.0).round(3).tolist()
    [[0.969, 0.247], [0.023, -1.0], [-0.752, 0.66]]
    """
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (checked_int("axes", axes, 1, 16) + 1.0))
    places = np.mod(
        np.arange(1, checked_int("pairs", pairs, 1, 2**16) + 1)[:, None] * g ** -np.arange(1.0, axes + 1), 1.0
    )
    normal = np.vectorize(NormalDist().inv_cdf)(places)
    directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return np.asarray(directions * _magnitudes(pairs, low, high)[:, None])


def mrope_frequencies(pairs_per_axis: tuple[int, int, int], base: float, interleaved: bool) -> Array:
    """Return M-RoPE's frequencies, (pairs, 3) as (time, y, x): each pair of a one-dimensional rope follows one axis."""
    axis = mrope_axes(pairs_per_axis, interleaved)
    theta = checked_finite("base", base) ** (-np.arange(axis.size) / axis.size)
    return np.asarray(theta[:, None] * (axis[:, None] == np.arange(3)))


def mean_cosine_map(frequencies: Array, offsets: npt.ArrayLike) -> Array:
    """Return the mean cosine over pairs at offsets (..., axes): the score of a query and a key with equal pairs.

    >>> mean_cosine_map(axial_frequencies(2, np.pi, np.pi), [[0, 0], [0, 1], [1, 1]]).tolist()
    [1.0, 0.0, -1.0]
    """
    where = np.asarray(offsets, dtype=np.float64)
    if where.shape[-1:] != frequencies.shape[-1:]:
        raise argument_error("offsets", f"of shape (..., {frequencies.shape[-1]}) to fit the frequencies", where.shape)
    return np.asarray(np.cos(where @ frequencies.T).mean(axis=-1))


__all__ = [
    "axial_frequencies",
    "axial_frequencies_turned_by",
    "golden_gate_frequencies",
    "mean_cosine_map",
    "mrope_frequencies",
]
