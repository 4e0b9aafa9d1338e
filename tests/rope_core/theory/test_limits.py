"""Probabilities of failure against drawn vectors, and what they tend to."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import Request, Rope, Spectrum, rotate, spectrum
from rope_core.theory.limits import (
    converged_failure_rates,
    locality_failure_probability,
    mean_cosine,
    order_and_locality_failure_rates,
    order_failure_probability,
    simulated_failure_rates,
    spread_distance_pairs,
)


def plain(dim: int, base: float) -> Spectrum:
    return spectrum(Request(Rope(dim, base, 4096)))


@pytest.mark.parametrize(("dim", "base", "distance"), [(16, 300.0, 3), (128, 1e4, 50), (64, 5e5, 4000)])
def test_order_fails_as_often_as_with_turned_keys(dim: int, base: float, distance: int) -> None:
    """Turn real vectors by rope_core's own rotate and count; three standard errors of 40,000 trials."""
    rng, s = np.random.default_rng(8), plain(dim, base)
    phases = rng.random(dim // 2) * 2 * math.pi
    q = np.concatenate([np.cos(phases), np.sin(phases)])
    first, two = rng.normal(size=(2, 40_000, 1, dim))
    table = [distance * s.inv_freq[None, :]]
    turned = rotate(q[None, None, :], np.cos(table[0]), np.sin(table[0]), "half")[0, 0]
    flipped = ((first - two)[:, 0] @ q) * ((first - two)[:, 0] @ turned) < 0
    expected = order_failure_probability(s, [distance])[0]
    assert flipped.mean() == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / 40_000))


@pytest.mark.parametrize(("dim", "base", "near", "far", "signal"), [(16, 300.0, 2, 9, 1.5), (128, 1e4, 10, 3000, 3.0)])
def test_locality_fails_as_often_as_with_turned_keys(dim: int, base: float, near: int, far: int, signal: float) -> None:
    rng, s = np.random.default_rng(9), plain(dim, base)
    phases = rng.random(dim // 2) * 2 * math.pi
    q = np.concatenate([np.cos(phases), np.sin(phases)])
    keys = rng.normal(size=(40_000, dim)) + signal * q / np.linalg.norm(q)
    scores = []
    for distance in (near, far):
        angle = distance * s.inv_freq[None, :]
        scores.append(keys @ rotate(q[None, None, :], np.cos(angle), np.sin(angle), "half")[0, 0])
    expected = locality_failure_probability(s, [near], [far], signal)[0]
    assert (scores[0] < scores[1]).mean() == pytest.approx(
        expected, abs=3 * math.sqrt(expected * (1 - expected) / 40_000)
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(8, 64).map(lambda n: 2 * n), st.floats(100.0, 1e7), st.integers(64, 100_000), st.floats(0.0, 5.0))
def test_drawing_agrees_within_its_own_error(dim: int, base: float, length: int, signal: float) -> None:
    s = plain(dim, base)
    for exact, counted in zip(
        order_and_locality_failure_rates(s, length, signal, 2048),
        simulated_failure_rates(s, length, signal, 4000, 5),
        strict=True,
    ):
        assert counted == pytest.approx(exact, abs=0.04)


def test_a_larger_base_keeps_order_and_loses_locality() -> None:
    """The trade that arXiv:2605.15514 states; here it is seen on the exact probabilities, not proved."""
    result = np.array(
        [order_and_locality_failure_rates(plain(128, base), 8192, 3.0) for base in (1e4, 1e5, 1e6, 1e7, 1e8)]
    )
    assert np.all(np.diff(result[:, 0]) < 0)
    assert np.all(np.diff(result[1:, 1]) > 0)


def test_both_tend_to_a_half_with_length() -> None:
    s = plain(128, 1e4)
    result = np.array([order_and_locality_failure_rates(s, length, 3.0) for length in (256, 4096, 65_536, 2**24)])
    assert np.all(np.diff(result, axis=0) > 0)
    assert np.all(np.abs(result[-1] - 0.5) < 0.02)


def test_random_keys_have_no_locality_at_all() -> None:
    assert locality_failure_probability(plain(64, 1e4), [3, 100], [70, 9000], 0.0).tolist() == [0.5, 0.5]


def test_pairs_of_distances_are_spread() -> None:
    near, far = spread_distance_pairs(1000, 4096)
    assert np.all((near >= 0) & (near < far) & (far < 1000))
    assert near.mean() == pytest.approx(333, abs=5)
    assert far.mean() == pytest.approx(667, abs=5)


def test_refusals() -> None:
    s = plain(8, 100.0)
    with pytest.raises(ValueError, match="far must be"):
        locality_failure_probability(s, [3], [3], 1.0)
    with pytest.raises(ValueError, match="signal must be"):
        locality_failure_probability(s, [3], [4], -1.0)
    assert mean_cosine(s, [0]).tolist() == [1.0]


@pytest.mark.parametrize("base", [1e3, 1e4, 1e6])
def test_the_mean_cosine_swings_about_zero(base: float) -> None:
    k = mean_cosine(plain(128, base), np.random.default_rng(1).integers(10**8, 2**31, 20_000))
    assert abs(k.mean()) < 0.003 and np.sqrt(np.mean(k**2)) == pytest.approx(128**-0.5, rel=0.03)


@pytest.mark.parametrize(("base", "length", "signal"), [(1e4, 512, 8.0), (1e6, 512, 8.0), (500.0, 300, 3.0)])
def test_a_settled_share_holds_over_every_pair_of_distances(base: float, length: int, signal: float) -> None:
    """Printed in whole percent: within a fifth of one of the mean over all pairs."""
    s = plain(64, base)
    near, far = np.triu_indices(length, 1)
    wanted = (
        order_failure_probability(s, np.arange(length)).mean(),
        locality_failure_probability(s, near, far, signal).mean(),
    )
    np.testing.assert_allclose(converged_failure_rates(s, length, signal), wanted, atol=0.002)
