"""Position Interpolation's theorem: what is printed, what holds, and what is reached."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import Rope
from rope_core.theory import interpolation as it


def test_the_printed_constants() -> None:
    rope = Rope(128, 10_000.0)
    assert rope.dim / it.printed_bound(rope) == pytest.approx(294.73, abs=0.01)
    assert it.interpolation_bounds(rope, 8).printed == pytest.approx(589.46, abs=0.01)


def chord_deviation(h: np.ndarray, rope: Rope, start: float, at: float = 0.5) -> float:
    """|a(s) - chord| at s = start + at, for the chord between start and start + 1."""
    a = [float(np.sum((h * np.exp(1j * s * rope.theta)).real)) for s in (start, start + at, start + 1)]
    return abs(a[1] - ((1 - at) * a[0] + at * a[2]))


def test_a_score_exceeds_the_printed_bound() -> None:
    rope = Rope(128, 10_000.0)
    reached = chord_deviation(np.exp(-0.5j * rope.theta), rope, 0.0)
    assert reached == pytest.approx(np.sum(1 - np.cos(rope.theta / 2)), rel=1e-12)
    assert reached > 1.13 * it.printed_bound(rope)
    later = chord_deviation(np.exp(-777.5j * rope.theta), rope, 777.0)
    assert later == pytest.approx(reached, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.floats(3.0, 1e6), st.integers(0, 2**31), st.floats(0, 1e4), st.floats(0, 1))
def test_the_proven_bound_holds(pairs: int, base: float, seed: int, start: float, at: float) -> None:
    rope = Rope(2 * pairs, base)
    parts = np.random.default_rng(seed).standard_normal((2, pairs))
    h = parts[0] + 1j * parts[1]
    bound = np.abs(h).max() * it.interpolation_bound(rope) * 4 * at * (1 - at)
    assert chord_deviation(h, rope, start, at) <= bound + 1e-9


def test_extrapolation_bound_is_the_sum_of_the_paper() -> None:
    rope = Rope(8, 50.0)
    sums = [abs(sum(np.exp(1j * 9 * rope.theta[j]) for j in range(k + 1))) for k in range(4)]
    assert it.extrapolation_bound(rope, [9])[0] == pytest.approx(2 * sum(sums))


def test_the_sum_falls_below_dim_past_the_trained_lengths() -> None:
    near, far = (it.interpolation_bounds(Rope(128, 10_000.0), reach) for reach in (4096, 16_384))
    assert near.least_sum > 1 > far.least_sum
    assert near.at <= 4096 < far.at
    rope = Rope(8, 50.0)
    assert it.interpolation_bounds(rope, 299).at == 1 + np.argmin(it.extrapolation_bound(rope, np.arange(1, 300)))
    assert far.smallest < far.proven < near.printed
