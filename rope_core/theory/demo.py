"""The small experiments that the teaching pages run: drawn vectors, scores, and the residual of each claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.layout import Layout
from rope_core.rope import Array
from rope_core.rotation import rotate_by_complex, rotate_by_elements, rotate_by_matrix


def random_vectors(dim: int, count: int = 2, seed: int = 0) -> Array:
    """Return ``count`` vectors of independent standard normal entries, float64 (count, dim), the same for one seed."""
    return np.random.default_rng(seed).standard_normal((count, dim))


def rotated_score(
    q: npt.ArrayLike, k: npt.ArrayLike, m: float, n: float, inv_freq: npt.ArrayLike, layout: str | Layout
) -> float:
    """Return the attention score (R_m q) . (R_n k) before the division by sqrt(dim), in float64.

    >>> rotated_score([1.0, 0.0], [1.0, 0.0], 1, 0, [np.pi], "half")
    -1.0
    """
    turned_q = rotate_by_elements(q, m, inv_freq, layout)
    turned_k = rotate_by_elements(k, n, inv_freq, layout)
    return float(turned_q @ turned_k)


def shifted_scores(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    m: float,
    n: float,
    shifts: npt.ArrayLike,
    inv_freq: npt.ArrayLike,
    layout: str | Layout,
) -> Array:
    """Return the score of q at m + s and k at n + s for each shift s, float64 (shifts,)."""
    return np.array([rotated_score(q, k, m + s, n + s, inv_freq, layout) for s in np.asarray(shifts)])


@dataclass(frozen=True)
class RotationForms:
    """One vector turned by the matrix, element by element and as complex numbers, float64 (dim,) each."""

    matrix: Array
    elements: Array
    complex: Array

    @property
    def residual(self) -> float:
        """Largest difference between any two of the three."""
        rows = np.stack([self.matrix, self.elements, self.complex])
        return float(np.max(rows.max(axis=0) - rows.min(axis=0)))


def rotation_forms(x: npt.ArrayLike, position: float, inv_freq: npt.ArrayLike, layout: str | Layout) -> RotationForms:
    """Turn ``x`` (dim,) to ``position`` in three equivalent ways."""
    ways = (rotate_by_matrix, rotate_by_elements, rotate_by_complex)
    return RotationForms(*(way(x, position, inv_freq, layout) for way in ways))
