"""Medians, their intervals, and when two records differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rope_core.errors import argument_error


@dataclass(frozen=True)
class SampleSummary:
    """The median of samples, their 20th and 80th percentile, and an interval that holds the true median.

    Attributes:
        low, high: order statistics between which the median lies with at least 95 %, from the binomial distribution;
            the extremes where there are too few samples for that.
    """

    median: float
    p20: float
    p80: float
    low: float
    high: float
    count: int


def summarize_samples(samples: Sequence[float]) -> SampleSummary:
    """Summarise samples, or raise ValueError where there are none.

    >>> s = summarize_samples([3.0, 1.0, 2.0])
    >>> s.median, s.low, s.high
    (2.0, 1.0, 3.0)
    """
    values = np.sort(np.asarray(samples, dtype=np.float64))
    if not values.size or not np.all(np.isfinite(values)):
        raise argument_error("samples", "finite_vector", list(samples)[:5])
    skip = median_interval_trim(values.size)
    p20, median, p80 = (float(v) for v in np.quantile(values, (0.2, 0.5, 0.8)))
    return SampleSummary(median, p20, p80, float(values[skip]), float(values[-1 - skip]), int(values.size))


def median_interval_trim(count: int, risk: float = 0.05) -> int:
    """Return how many samples may be left out at each end of ``count`` and the median still lies between the rest.

    The chance that at most j of count samples fall on one side of the median is a binomial tail; both sides together
    may use up ``risk``.

    >>> median_interval_trim(5), median_interval_trim(6), median_interval_trim(20)
    (0, 0, 5)
    """
    tail, skip = 0.0, 0
    for j in range(count // 2):
        tail += math.comb(count, j) / 2.0**count
        if 2.0 * tail > risk:
            break
        skip = j
    return skip


@dataclass(frozen=True)
class SampleComparison:
    """How two sets of samples compare.

    Attributes:
        ratio: median of b over median of a.
        low, high: the smallest and the largest ratio that the two intervals allow.
        verdict: "a is faster", "b is faster" or "no difference".
    """

    ratio: float
    low: float
    high: float
    verdict: str


def compare_timings(times: Sequence[float], other_times: Sequence[float]) -> SampleComparison:
    """Compare two sets of times; they differ only where their intervals do not overlap.

    >>> compare_timings([1.0] * 9, [2.0] * 9).verdict, compare_timings([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).verdict
    ('a is faster', 'no difference')
    """
    first, second = summarize_samples(times), summarize_samples(other_times)
    low, high = second.low / first.high, second.high / first.low
    verdict = (
        "a is faster" if second.low > first.high else "b is faster" if first.low > second.high else "no difference"
    )
    return SampleComparison(second.median / first.median, low, high, verdict)
