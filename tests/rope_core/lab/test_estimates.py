"""Intervals hold what they say: Student's quantiles against mpmath, coverage by simulation."""

import math

import mpmath
import numpy as np
import pytest

from rope_core.lab import records
from rope_core.lab.estimates import mean_interval, paired_perplexity_ratio, perplexity_estimate, student_t


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9986])
@pytest.mark.parametrize("degrees", [1, 2, 3, 8, 11, 43])
def test_student_s_quantiles_are_those_of_the_distribution(degrees: int, level: float) -> None:
    t = mpmath.mpf(student_t(level, degrees))
    beyond = mpmath.betainc(mpmath.mpf(degrees) / 2, 0.5, 0, degrees / (degrees + t * t), regularized=True)
    assert float(1 - beyond) == pytest.approx(level, abs=1e-12)


# Skewness 1, more than nine in ten of the lab's own paired differences have.
KINDS = {"normal": lambda rng, size: rng.normal(0, 1, size), "skewed": lambda rng, size: rng.gamma(4, 1, size) - 4}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("documents", [6, 8, 12, 16, 24, 44])
def test_an_interval_holds_the_mean_in_94_to_96_cases_of_100(documents: int, kind: str) -> None:
    values = KINDS[kind](np.random.default_rng(documents), (documents, 40_000))
    low, high = mean_interval(values, skewed=True)
    share = float(((low <= 0) & (high >= 0)).mean())
    # Three standard errors of 40,000 draws are 0.0033.
    assert 0.94 - 0.0033 <= share <= 0.96
    mirrored = mean_interval(-values, skewed=True)
    assert np.allclose(mirrored[0], -high) and np.allclose(mirrored[1], -low)


@pytest.mark.parametrize("documents", [2, 3, 5, 24])
def test_pairs_and_few_documents_have_student_s_interval(documents: int) -> None:
    values = np.random.default_rng(1).gamma(2, 1, documents)
    reach = student_t(0.95, documents - 1) * values.std(ddof=1) / math.sqrt(documents)
    ends = np.exp([values.mean() - reach, values.mean() + reach])
    pair = paired_perplexity_ratio(values + 1, np.ones(documents))
    assert [pair.low, pair.high] == pytest.approx(ends)
    single = perplexity_estimate(values)
    assert ([single.low, single.high] == pytest.approx(ends)) == (documents < 6)


def test_the_correction_for_skewness_is_halls() -> None:
    """At each end Hall's cubic of the studentised mean, g its skewness over the root of n, is Student's quantile."""
    x = np.random.default_rng(3).gamma(1.5, 1, 9)
    n, s = len(x), x.std(ddof=1)
    # The unbiased skewness from sums of cubes over the sample's own deviation.
    g = n / ((n - 1) * (n - 2)) * sum(((each - x.mean()) / s) ** 3 for each in x) / math.sqrt(n)
    low, high = mean_interval(x, skewed=True)
    for end, side in ((low, 1), (high, -1)):
        t = (x.mean() - end) / (s / math.sqrt(n))
        assert ((1 + g * t / 3) ** 3 - 1) / g + g / 6 == pytest.approx(side * student_t(0.95, n - 1), rel=1e-9)


def test_a_wider_level_holds_the_narrower_one_and_equal_values_have_no_width() -> None:
    values = np.random.default_rng(2).gamma(2, 1, 9)
    (low, high), (lower, higher) = mean_interval(values, skewed=True), mean_interval(values, 0.999, skewed=True)
    assert lower < low < values.mean() < high < higher
    assert [*mean_interval(np.full(7, 2.0), skewed=True)] == [2.0, 2.0]
    assert all(math.isnan(end) for end in mean_interval(np.array([1.0])))


@pytest.mark.parametrize("name", records.shipped_record_names())
def test_a_shipped_interval_is_that_of_the_losses_beside_it(name: str) -> None:
    results = [
        (each.get("last") or each.get("copy"), each.get("nats")) for each in records.shipped_record(name).results
    ]
    for shown, nats in results:
        if shown:
            each = perplexity_estimate(np.array(nats))
            assert shown == pytest.approx([each.value, each.low, each.high], rel=1e-4)
