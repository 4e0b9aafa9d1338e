"""What the frequencies page shows: sampled tables, unfinished pairs, and whether all of them come back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.theory.attention import cosine_sums

REACH = 131_072
WORK = 2**20
BLUR = 0.09
"""The standard deviation over which a drawn row is averaged, over the position."""


def sampled_positions(span: int, count: int) -> npt.NDArray[np.int64]:
    """Return at most ``count`` evenly spaced positions from 0 below ``span``, int64; every one where they fit.

    >>> sampled_positions(10, 4).tolist()
    [0, 3, 6, 9]
    """
    length = checked_int("span", span, 1, MAX_LEN)
    step = -(-length // checked_int("count", count, 1, MAX_LEN))
    return np.arange(0, length, step, dtype=np.int64)


def pair_cosines(rope: Rope, pairs: npt.ArrayLike, positions: npt.ArrayLike) -> Array:
    """Return cos(x theta_i) of some pairs at places x between tokens too, float64 (pairs, n)."""
    return np.asarray(np.cos(np.multiply.outer(rope.theta[np.asarray(pairs)], np.asarray(positions, dtype=np.float64))))


def cosine_stripes_and_contrast(rope: Rope, end: float, columns: int) -> Array:
    """Return cos(x theta_i) at the middles of ``columns`` equal parts of [0, log end), float64 (pairs, columns).

    A cell is the Gaussian mean of the cosine about its x, so that turns too close to each other to draw fade.

    >>> cosine_stripes_and_contrast(Rope(4, 1e6), 100.0, 3).round(2).tolist()
    [[-0.54, -0.56, -0.0], [1.0, 1.0, 1.0]]
    """
    x = np.exp((np.arange(columns) + 0.5) / columns * np.log(end))
    contrast = np.exp(-((BLUR * np.multiply.outer(rope.theta, x)) ** 2) / 2)
    return np.asarray(contrast * pair_cosines(rope, np.arange(rope.pairs), x))


def incomplete_pair_mask(rope: Rope) -> npt.NDArray[np.bool_]:
    """Return which pairs do not complete a single turn within the trained context, bool (pairs,).

    >>> int(incomplete_pair_mask(Rope(128, 10_000.0, 4096)).sum())  # Llama 2
    18
    """
    return np.asarray(rope.turns < 1.0)


def mean_cosine_by_distance(rope: Rope, count: int) -> Array:
    """Return the mean over pairs of cos(m theta_i) at the distances m = 0, 1, ..., count - 1, float64 (count,).

    1 for the same place, 0 for none in common.

    >>> mean_cosine_by_distance(Rope(2, 10.0), 3).round(9).tolist()
    [1.0, 0.540302306, -0.416146837]
    """
    return cosine_sums(rope.theta, 0, count) / rope.pairs


def highest_return_distance(similarity: Array) -> int:
    """Return the distance of the highest similarity after the first rise; the last one where it never rises.

    >>> highest_return_distance(np.array([1.0, 0.4, 0.2, 0.5, 0.3]))
    3
    """
    rises = np.flatnonzero(np.diff(similarity) > 0)
    return len(similarity) - 1 if not rises.size else int(rises[0] + np.argmax(similarity[rises[0] :]))


def similarity_curve_length(dim: int) -> int:
    """Return over how many tokens codes are compared: 2**20 cosines, at most 131,072 tokens."""
    return min(REACH, 2 * WORK // dim)
