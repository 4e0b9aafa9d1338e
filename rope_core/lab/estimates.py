"""Perplexities and their ratios with intervals over documents, from the losses of single bytes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rope_core.errors import finite, reject, whole
from rope_core.rope import Array

RESAMPLES = 4000
Z95 = 1.959963984540054
# Student's t for 95 %, by documents from 2 on: drawn again, so few documents scatter less than they should, and the
# interval would hold the truth in 50 % of cases for 2 documents and in 89 % for 8.
T95 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
FEW = len(T95) + 1


@dataclass(frozen=True)
class Estimate:
    """A number measured over documents, with the 95 % interval that resampling the documents gives.

    With fewer than 12 documents the interval is Student's; with one there is none: low and high are NaN.
    """

    value: float
    low: float
    high: float
    documents: int


def perplexity(nats: Array, first: float = 0.0, last: float = 1.0) -> Estimate:
    """Return the perplexity per byte over a share of the window.

    Args:
        nats: float64 (documents, length).
        first, last: the share of positions, as fractions of the length; 0.75 to 1 is the last quarter.

    >>> perplexity(np.full((2, 4), np.log(3.0))).value.__round__(12)
    3.0
    """
    return estimate(share(nats, first, last).mean(1))


def ratio(a: Array, b: Array, first: float = 0.0, last: float = 1.0) -> Estimate:
    """Return how many times b's perplexity a's is, documents paired: below 1, a reads better.

    Raises ValueError when the two are not of the same documents' number.
    """
    if a.shape[0] != b.shape[0]:
        raise reject("a and b", "of the same documents", (a.shape, b.shape))
    return estimate(share(a, first, last).mean(1) - share(b, first, last).mean(1))


def share(nats: Array, first: float, last: float) -> Array:
    """Return the columns of a share of the window, at least one."""
    if not 0.0 <= first < last <= 1.0:
        raise reject("first and last", "fractions with 0 <= first < last <= 1", (first, last))
    length = nats.shape[1]
    low = min(length - 1, round(first * length))
    return nats[:, low : max(low + 1, round(last * length))]


def estimate(per_document: Array) -> Estimate:
    """Return exp of the mean of (documents,) losses, and of its 95 % interval, resampled or Student's."""
    count = per_document.size
    value = float(np.exp(per_document.mean()))
    if count < 2:
        return Estimate(value, float("nan"), float("nan"), count)
    if count <= FEW:
        ends = per_document.mean() + student(per_document) * np.array([-1.0, 1.0])
    else:
        draws = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
        ends = np.quantile(per_document[draws].mean(1), (0.025, 0.975))
    # An end past all floats is an interval that says nothing, not a warning.
    with np.errstate(over="ignore"):
        low, high = (float(end) for end in np.exp(ends))
    return Estimate(value, low, high, count)


def student(values: Array) -> Array:
    """Return half the width of Student's 95 % interval of the mean over the first axis, 2 to ``FEW`` values long."""
    count = len(values)
    found: Array = np.asarray(T95[count - 2] * values.std(0, ddof=1) / math.sqrt(count))
    return found


def over_seeds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of one value per seed, and the lowest and highest: with three seeds an interval is its range."""
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        raise reject("values", "one per seed, at least one", list(values))
    return float(found.mean()), float(found.min()), float(found.max())


@dataclass(frozen=True)
class Curve:
    """Perplexity against position: bins of the window, each with its interval; arrays (bins,)."""

    position: Array
    value: Array
    low: Array
    high: Array


def curve(nats: Array, bins: int = 32) -> Curve:
    """Return perplexity per byte in equal bins of the window, each at its middle position.

    Raises ValueError when there are more bins than positions.
    """
    length = nats.shape[1]
    edges = np.linspace(0, length, whole("bins", bins, 1, length) + 1).round().astype(int)
    found = [estimate(nats[:, a:b].mean(1)) for a, b in itertools.pairwise(edges)]
    return Curve(
        (edges[:-1] + edges[1:]) / 2.0,
        np.array([each.value for each in found]),
        np.array([each.low for each in found]),
        np.array([each.high for each in found]),
    )


def wilson(right: float, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, which also stands at 0 and at all of them.

    Args:
        right: how many of the trials; or the sum of a share in [0, 1] of each, which scatter less, so that the interval
            is then rather too wide than too narrow.

    Raises ValueError on no trials, or more right ones than trials.

    Source: Wilson, Journal of the American Statistical Association 22 (1927), 209-212.

    >>> [round(v, 4) for v in wilson(0, 10)]
    [0.0, 0.2775]
    """
    n = whole("trials", trials, 1, 2**31)
    if not 0.0 <= finite("right", right) <= n:
        raise reject("right", f"a number in [0, {n}]", right)
    p = right / n
    middle = p + Z95**2 / (2 * n)
    reach = Z95 * math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n))
    low, high = ((middle + sign * reach) / (1 + Z95**2 / n) for sign in (-1, 1))
    # Rounding must not put an end on the wrong side of the share itself.
    return max(0.0, min(low, p)), min(1.0, max(high, p))
