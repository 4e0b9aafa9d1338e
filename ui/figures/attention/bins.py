"""A score over so many distances that a picture has no room for each: the mean of every bin and what it spans."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rope_core.rope import Array
from rope_core.theory.extension import position_bin_edges

POINTS = 160
FEW = 32
"""So many distances of a wide bin are computed, evenly spread; of a narrower one, all."""


def distance_bins(reach: int) -> tuple[npt.NDArray[np.int64], Array, Callable[[Array], tuple[Array, Array, Array]]]:
    """Return the distances to compute, 1 to ``reach``, the middle of each bin (bins,), and what folds scores into bins.

    The fold takes scores (..., distances) and returns their mean, least and greatest in each bin, (..., bins). One
    score for each bin would show slow swings that are not there: bins are wider than the turns of the fast pairs.
    """
    edges = position_bin_edges(reach, POINTS, True)
    cells = [
        np.unique(np.linspace(low, high - 1, min(high - low, FEW)).round().astype(np.int64))
        for low, high in pairwise(edges.tolist())
    ]
    cells.append(edges[-1:])
    sizes = np.array([cell.size for cell in cells])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    middle = np.array([np.sqrt(float(cell[0]) * float(cell[-1])) for cell in cells])

    def fold(scores: Array) -> tuple[Array, Array, Array]:
        ends = (np.minimum.reduceat(scores, starts, axis=-1), np.maximum.reduceat(scores, starts, axis=-1))
        return np.add.reduceat(scores, starts, axis=-1) / sizes, *ends

    return np.concatenate(cells), middle, fold
