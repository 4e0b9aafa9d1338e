"""What a comparison draws of a column: scores by distance, cells by pair and position, shares of each pair's circle.

Frequencies f and theta (pairs,) in rad/token, lengths and distances in tokens. What is no number is a still pair.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.comparisons.margins import Array
from rope_core.spectrum import Spectrum
from rope_core.theory.extension import mean_cosine_per_bin, position_bin_edges

IntArray = npt.NDArray[np.int64]
POINTS, CELLS, ROWS = 160, 120, 64
WINDOW = 0.07
"""Half the width of the window of a smooth score, in distances."""
TURN = 2.0 * np.pi


def usable(f: Array) -> Array:
    """Return frequencies with 0 for what is no number."""
    return np.where(np.isfinite(f), f, 0.0)


def distances(length: int) -> Array:
    """Return whole distances from 1 to a length, at equal ratios as far as they are whole."""
    return np.unique(np.rint(np.geomspace(1, max(length, 2), POINTS)))


def score(f: Array, at: Array, a: float = 1.0, *, smooth: bool = False) -> Array:
    """Return the score of equal vectors at distances, over that at 0 without a: a^2 times the mean cosine, (n,).

    ``smooth``: the mean over distances 7 % nearer to 7 % farther, in which a sum of waves shows its trend.

    >>> score(np.array([np.pi]), np.array([1.0, 2.0]), 2.0).round(9).tolist()
    [-4.0, 4.0]
    """
    angles = np.multiply.outer(at, usable(f))
    shrink = np.sinc(WINDOW * angles / np.pi) if smooth else 1.0
    return np.asarray(a * a * (np.cos(angles) * shrink).mean(axis=1))


def sampled_wave(f: Array, at: Array) -> Array:
    """Return cos(f * distance) of each pair, (pairs, n); nan where distances are too far apart to show its turns.

    >>> sampled_wave(np.array([1.0]), np.array([1.0, 2.0, 9.0])).round(2).tolist()
    [[0.54, -0.42, nan]]
    """
    gap = np.diff(at, prepend=at[0])
    return np.where(np.multiply.outer(np.abs(f), gap) <= TURN / 4, np.cos(np.multiply.outer(usable(f), at)), np.nan)


def rows_of(pairs: int) -> IntArray:
    """Return the pairs that a map draws, at most ROWS."""
    return np.unique(np.linspace(0, pairs - 1, min(pairs, ROWS)).astype(int))


def edges_of(length: int) -> IntArray:
    """Return the borders of a map's cells of whole positions, logarithmic from 1 to the length."""
    return position_bin_edges(length, CELLS, logarithmic=True)


def bin_mean_cosines(f: Array, edges: IntArray) -> Array:
    """Return the mean cosine of each row's pair over each cell, (rows, cells)."""
    shown = np.abs(usable(f))[rows_of(f.size)]
    return np.where(
        np.isfinite(f)[rows_of(f.size), None], mean_cosine_per_bin(Spectrum.from_inv_freq(shown), edges), np.nan
    )


def turns_apart(f: Array, other: Array, edges: IntArray) -> Array:
    """Return by how many turns each row's pair is ahead of another's in the middle of each cell, (rows, cells)."""
    shown = rows_of(f.size)
    return np.asarray(np.multiply.outer((f - other)[shown], (edges[:-1] + edges[1:] - 1) / 2.0 / TURN))


def share(f: Array, length: float) -> Array:
    """Return the share of its circle that each pair passes within a length, at most 1, (pairs,); nan for no number."""
    return np.minimum(np.abs(f) * length / TURN, 1.0)


def neighbour_steps(f: Array, theta: Array) -> Array:
    """Return how far apart each pair puts neighbours on its circle, over training's, (pairs,); nan for no number.

    >>> neighbour_steps(np.array([0.5, 0.1]), np.array([1.0, 0.1])).round(4).tolist()
    [0.516, 1.0]
    """
    return np.where(np.isfinite(f), np.abs(np.sin(usable(f) / 2.0) / np.sin(theta / 2.0)), np.nan)


def first_unfinished(theta: Array, trained: float) -> int:
    """Return the first pair that did not complete a turn in training; the number of pairs where all did."""
    return int((theta * trained >= TURN).sum())
