"""What the frequencies page shows: sampled tables, unfinished pairs, and whether all of them come back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.theory.attention import cosine_sums

REACH = 131_072
WORK = 2**20
BLUR = 2.0
"""Columns: the standard deviation over which a drawn row is averaged."""


def sampled_positions(span: int, count: int) -> npt.NDArray[np.int64]:
    """Return at most ``count`` evenly spaced positions from 0 below ``span``, int64; every one where they fit.

    >>> sampled_positions(10, 4).tolist()
    [0, 3, 6, 9]
    """
    length = checked_int("span", span, 1, MAX_LEN)
    step = -(-length // checked_int("count", count, 1, MAX_LEN))
    return np.arange(0, length, step, dtype=np.int64)


def cosines(rope: Rope, pairs: npt.ArrayLike, positions: npt.ArrayLike) -> Array:
    """Return cos(x theta_i) of some pairs at places x between tokens too, float64 (pairs, n)."""
    return np.asarray(np.cos(np.multiply.outer(rope.theta[np.asarray(pairs)], np.asarray(positions, dtype=np.float64))))


def stripes(rope: Rope, end: float, columns: int) -> tuple[Array, Array]:
    """Return cos(x theta_i) at the middles of ``columns`` equal parts of [0, end), and the contrast of each pair.

    A row is the Gaussian mean of the cosine over ``BLUR`` columns' deviation, so that stripes too fine to draw fade to
    one shade: its contrast, 0 to 1, is what is left. float64 (pairs, columns), (pairs,).

    >>> cells, contrast = stripes(Rope(4, 1e6), 100.0, 50)
    >>> cells.shape, contrast.round(3).tolist()
    ((2, 50), [0.0, 1.0])
    """
    part = end / columns
    contrast = np.exp(-((BLUR * part * rope.theta) ** 2) / 2)
    middles = (np.arange(columns) + 0.5) * part
    return contrast[:, None] * cosines(rope, np.arange(rope.pairs), middles), contrast


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


def closest_return(alike: Array) -> int:
    """Return the distance of the highest similarity after the first rise; the last one where it never rises.

    >>> closest_return(np.array([1.0, 0.4, 0.2, 0.5, 0.3]))
    3
    """
    rises = np.flatnonzero(np.diff(alike) > 0)
    return len(alike) - 1 if not rises.size else int(rises[0] + np.argmax(alike[rises[0] :]))


def similarity_curve_length(dim: int) -> int:
    """Return over how many tokens codes are compared: 2**20 cosines, at most 131,072 tokens."""
    return min(REACH, 2 * WORK // dim)
