"""Position Interpolation's theorem: how far a score can stray between trained positions, and past them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.rope import Array, Rope
from rope_core.spectrum import Spectrum
from rope_core.theory.attention import checked_vector, partial_phasor_sums

MAX_REACH = 2**20
CHUNK = 2048


def printed_bound(rope: Rope) -> float:
    """Return the interpolation bound as the paper prints it, per max|h_j|, at the middle of a step: dim / (32 ln base).

    The proof takes base**x <= 1 + x ln(base) for x < 0, which is the wrong way round, so scores can exceed it by
    a little: see ``interpolation_bound``.

    Source: arXiv:2306.15595, theorem 2.1, with (s - s1)(s2 - s) <= 1/4.

    >>> round(128 / printed_bound(Rope(128, 10_000.0)), 2)
    294.73
    """
    return rope.dim / (32.0 * math.log(rope.base))


def interpolation_bound(rope: Rope) -> float:
    """Return the bound that holds, per max|h_j|: sum_j theta_j**2 / 8, for steps of one token.

    A score a(s) = sum_j Re[h_j exp(i s theta_j)] has |a''| <= max|h| sum theta_j**2, and a chord over one token
    misses a curve by at most max|a''| / 8.

    >>> interpolation_bound(Rope(4, 100.0))
    0.12625
    """
    return float(np.sum(rope.theta**2) / 8.0)


def extrapolation_bound(rope: Rope, distances: npt.ArrayLike) -> Array:
    """Return RoFormer's bound per max|h_j| at each distance, 2 B(s) with B(s) = sum_j |S_j|, float64 (n,).

    Source: arXiv:2306.15595, equation 8 and appendix B.
    """
    where = checked_vector("distances", distances)
    sums = partial_phasor_sums(Spectrum.from_inv_freq(rope.theta), where)
    return np.asarray(2.0 * np.abs(sums).sum(axis=1))


@dataclass(frozen=True)
class InterpolationBounds:
    """Both bounds of one geometry.

    Attributes:
        printed: ratio extrapolation / interpolation with the paper's bound, and B(s) replaced by dim: 64 ln(base).
        proven: the same with the interpolation bound that holds, 16 dim / sum theta**2.
        smallest: the smallest true ratio 2 B(s) / (sum theta**2 / 8) over the distances looked at.
        at: the distance where it is smallest, tokens.
        least_sum: the smallest B(s) / dim there; the paper takes it to be at least 1.
    """

    printed: float
    proven: float
    smallest: float
    at: int
    least_sum: float


@lru_cache(maxsize=64)
def interpolation_bounds(rope: Rope, reach: int) -> InterpolationBounds:
    """Compare the bounds at the whole distances 1..reach, tokens.

    >>> c = interpolation_bounds(Rope(128, 10_000.0), 64)
    >>> round(c.printed, 1), round(c.proven, 1)
    (589.5, 512.2)
    """
    length = checked_int("reach", reach, 1, MAX_REACH)
    least, at = math.inf, 0
    for low in range(1, length + 1, CHUNK):
        bound = extrapolation_bound(rope, np.arange(low, min(low + CHUNK, length + 1)))
        index = int(np.argmin(bound))
        if bound[index] < least:
            least, at = float(bound[index]), low + index
    exact = interpolation_bound(rope)
    return InterpolationBounds(
        printed=2.0 * rope.dim / printed_bound(rope),
        proven=2.0 * rope.dim / exact,
        smallest=least / exact,
        at=at,
        least_sum=least / (2.0 * rope.dim),
    )
