"""How often rotation tells near from far, and one token from another: exact for Gaussian keys, against length and base.

A query and a key whose pairs all have one length give the score K(r) = mean over pairs of cos(r theta_i) at distance r.
Two questions have a closed answer for keys with independent normal entries:

order: key 1 scores above key 2 at distance 0; at distance r it does not, with probability arccos(K(r)) / pi, because
the difference of their scores at the two distances is a pair of normal variables with correlation K(r).

locality: a key is the query's own direction plus noise, ``signal`` standard deviations of a random score high; its copy
at a near distance scores below the one at a far distance with probability
normal_cdf(-signal (K(near) - K(far)) / sqrt(2 (1 - K(far - near)))).

Both are 1/2 where K is 0, as its mean over long distances is; K itself swings by 1/sqrt(dim) about it. A larger base
keeps K up: order fails less, locality more.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.rope import Array
from rope_core.spectrum import MAX_POSITION, Spectrum, position_angles
from rope_core.theory.block.activation import normal_cdf

# A square root of the golden section: points of one stretch that no number of them leaves a gap in.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def mean_cosine(s: Spectrum, distances: npt.ArrayLike) -> Array:
    """Return K(r), the mean over pairs of cos(r inv_freq_i), float64 (n,), for integer distances in [0, 2**31).

    >>> mean_cosine(Spectrum.from_inv_freq([np.pi, 0.0]), [0, 1, 2]).round(9).tolist()
    [1.0, 0.0, 1.0]
    """
    return np.asarray(np.cos(position_angles(s, distances)).mean(axis=1))


def order_failure_probability(s: Spectrum, distances: npt.ArrayLike) -> Array:
    """Return the probability that two random keys change their order between distance 0 and each distance, (n,).

    Source: Sheppard's formula for the signs of two correlated normal variables.

    >>> order_failure_probability(Spectrum.from_inv_freq([np.pi, 0.0]), [0, 1]).tolist()
    [0.0, 0.5]
    """
    return np.asarray(np.arccos(np.clip(mean_cosine(s, distances), -1.0, 1.0)) / np.pi)


def locality_failure_probability(s: Spectrum, near: npt.ArrayLike, far: npt.ArrayLike, signal: float) -> Array:
    """Return the probability that a key scores lower at ``near`` than at ``far``, float64 (n,).

    Args:
        s: a Spectrum.
        near, far: integer distances (n,), near < far.
        signal: mean score of the key at distance 0, in standard deviations of a random key's; 0 or more.

    Raises ValueError on distances out of order or a negative signal.

    >>> locality_failure_probability(Spectrum.from_inv_freq([np.pi / 2]), [0], [1], 0.0).tolist()
    [0.5]
    """
    a, b = np.asarray(near), np.asarray(far)
    if a.shape != b.shape or np.any(a >= b):
        raise argument_error("far", "numbers_above", far, low="near")
    if checked_finite("signal", signal) < 0:
        raise argument_error("signal", "finite_least", signal, low=0)
    apart = np.sqrt(np.maximum(2.0 * (1.0 - mean_cosine(s, b - a)), 1e-300))
    score = signal * (mean_cosine(s, a) - mean_cosine(s, b)) / apart
    return normal_cdf(-score)


def spread_distance_pairs(length: int, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return pairs near < far of distances in [0, length), spread evenly over all such pairs, int64 (n,) each.

    n is ``count`` less the few in which both would be equal.
    """
    checked_int("length", length, 2, MAX_POSITION)
    index = np.arange(checked_int("count", count, 1, 2**20)) + 0.5
    points = np.stack([index / count, np.mod(index * _GOLDEN, 1.0)])
    low, high = np.sort(np.floor(points * length).astype(np.int64), axis=0)
    kept = low < high
    return low[kept], high[kept]


def order_and_locality_failure_rates(s: Spectrum, length: int, signal: float, count: int = 4096) -> tuple[float, float]:
    """Return how often order and locality fail within ``length`` tokens, means over distances, and near and far."""
    near, far = spread_distance_pairs(length, count)
    places = np.floor((np.arange(count) + 0.5) / count * length).astype(np.int64)
    return float(order_failure_probability(s, places).mean()), float(
        locality_failure_probability(s, near, far, signal).mean()
    )


def converged_failure_rates(s: Spectrum, length: int, signal: float, digit: float = 0.01) -> tuple[float, float]:
    """Return both failure rates from so many distances that twice as many change neither by a tenth of ``digit``."""
    count, last = 1024, (math.inf, math.inf)
    while True:
        both = order_and_locality_failure_rates(s, length, signal, count)
        if count >= 2**18 or all(abs(a - b) < digit / 10 for a, b in zip(both, last, strict=True)):
            return both
        count, last = 2 * count, both


def simulated_failure_rates(s: Spectrum, length: int, signal: float, trials: int, seed: int) -> tuple[float, float]:
    """Return the shares of drawn keys and distances for which order and locality fail, by turning the vectors.

    Each trial draws a query of unit pairs, two keys of normal entries, a distance in [0, length) for the order, and two
    for locality of a key along the query.
    """
    rng = np.random.default_rng(seed)
    size = (checked_int("trials", trials, 1, 2**20), s.inv_freq.size)
    q = np.exp(2j * np.pi * rng.random(size))

    def keys() -> npt.NDArray[np.complex128]:
        return np.asarray(rng.normal(size=size) + 1j * rng.normal(size=size))

    def score(k: npt.NDArray[np.complex128], distances: npt.NDArray[np.int64]) -> Array:
        return np.asarray(np.real(q * np.exp(1j * position_angles(s, distances)) * k.conj()).sum(axis=1))

    difference = keys() - keys()
    flipped = score(difference, np.zeros(trials, np.int64)) * score(difference, rng.integers(0, length, trials)) < 0
    # A random key's score has variance dim/2 here, the query's own direction scores dim/2.
    own = signal / math.sqrt(s.inv_freq.size) * q + keys()
    low, high = np.sort(rng.integers(0, length, (2, trials)), axis=0)
    wrong = np.where(low < high, score(own, low) < score(own, high), np.nan)
    return float(flipped.mean()), float(np.nanmean(wrong))


__all__ = [
    "converged_failure_rates",
    "locality_failure_probability",
    "mean_cosine",
    "order_and_locality_failure_rates",
    "order_failure_probability",
    "simulated_failure_rates",
    "spread_distance_pairs",
]
