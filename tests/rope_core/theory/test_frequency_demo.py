"""The frequency tables against cosines written out, and what a base spans against the definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core.rope import Rope
from rope_core.theory import frequency_demo

ropes = st.builds(
    Rope,
    dim=st.integers(1, 40).map(lambda n: 2 * n),
    base=st.floats(1.5, 1e7),
    train_len=st.integers(16, 100_000),
)


@given(st.integers(1, 2**31 - 1), st.integers(1, 500))
def test_sampled_positions_are_even_and_fit(span: int, count: int) -> None:
    at = frequency_demo.sampled_positions(span, count)
    assert at[0] == 0
    assert at[-1] < span
    assert at.size <= count
    if at.size > 1:
        assert set(np.diff(at)) == {at[1]}
        assert at[-1] + at[1] >= span
        assert span <= count or (at[1] - 1) * count < span
    if span <= count:
        assert at.size == span


@given(ropes, st.lists(st.integers(1, 100_000), min_size=1, max_size=5))
@settings(max_examples=50)
def test_tables_hold_one_row_per_pair(rope: Rope, positions: list[int]) -> None:
    angle, cos, sin = (frequency_demo.table(rope, kind, positions) for kind in ("angle", "cos", "sin"))
    assert angle.shape == (rope.pairs, len(positions))
    for pair in range(rope.pairs):
        for column, position in enumerate(positions):
            exact = position * rope.base ** (-2 * pair / rope.dim)
            assert cos[pair, column] == pytest.approx(math.cos(exact), abs=1e-8)
            assert sin[pair, column] == pytest.approx(math.sin(exact), abs=1e-8)
            assert math.remainder(exact - angle[pair, column], 2 * math.pi) == pytest.approx(0, abs=1e-8)
    assert np.abs(angle).max() <= np.pi


def test_a_quarter_turn_of_the_table() -> None:
    rope = Rope(2, 10.0)
    assert frequency_demo.table(rope, "sin", [1])[0, 0] == pytest.approx(0.8414709848078965)
    with pytest.raises(ValueError, match="kind must be one of angle, cos, sin, got 'tan'"):
        frequency_demo.table(rope, "tan", [1])


@pytest.mark.parametrize(
    ("dim", "base", "context", "count"),
    [(128, 1e4, 4096, 18), (128, 5e5, 8192, 29), (128, 1e6, 32_768, 24), (2, 2.0, 6, 1)],
)
def test_pairs_that_never_complete_a_turn(dim: int, base: float, context: int, count: int) -> None:
    rope = Rope(dim, base, context)
    never = frequency_demo.incomplete(rope)
    assert int(never.sum()) == count
    assert never.tolist() == [2 * math.pi * base ** (2 * i / dim) > context for i in range(dim // 2)]


@given(ropes, st.floats(0.001, 6.0), st.floats(0.01, 1e5))
def test_a_ruler_resolves_its_marks_and_repeats_at_its_end(rope: Rope, error: float, distance: float) -> None:
    result = frequency_demo.rulers(rope, error)
    np.testing.assert_allclose(result.finest * rope.theta, error)
    np.testing.assert_allclose(np.cos(result.longest * rope.theta), 1.0)
    want = [error <= distance * theta < 2 * math.pi for theta in rope.theta]
    close = np.abs(distance * rope.theta / error - 1).min() < 1e-9
    assert close or result.useful(distance).tolist() == want


@pytest.mark.parametrize("error", [0.0, -1.0, 7.0, math.nan])
def test_a_ruler_needs_an_angle(error: float) -> None:
    with pytest.raises(ValueError, match="error must be an angle"):
        frequency_demo.rulers(Rope(4), error)


@given(ropes, st.integers(1, 5000))
def test_similarity_is_the_product_of_two_codes(rope: Rope, distance: int) -> None:
    def code(position: int) -> np.ndarray:
        return np.concatenate([np.cos(position * rope.theta), np.sin(position * rope.theta)])

    alike = frequency_demo.similarity(rope, distance + 1)
    assert alike.shape == (distance + 1,)
    assert alike[0] == 1.0
    assert alike[-1] == pytest.approx(code(700 + distance) @ code(700) / rope.pairs, abs=1e-9)


def mean_cosine(rope: Rope, count: int) -> np.ndarray:
    """One cosine for each distance and pair."""
    return np.asarray(np.cos(np.arange(count)[:, None] * rope.theta).mean(axis=1))


@given(st.sampled_from([8, 32, 64]), st.floats(50, 3000))
@settings(max_examples=20)
def test_positive_until_is_the_first_negative_sum(dim: int, base: float) -> None:
    result = frequency_demo.positive_until(dim, base)
    sums = mean_cosine(Rope(dim, base), int(result) + 1)
    assert (sums[:-1] >= 0).all()
    assert sums[-1] < 0


def test_the_search_goes_as_far_as_it_says() -> None:
    late = mean_cosine(Rope(128, 3e5), 16_384)
    assert frequency_demo.positive_until(128, 3e5) == int(np.argmax(late < 0)) > frequency_demo.reach(128) / 2


def test_beyond_its_reach_nothing_is_claimed() -> None:
    assert frequency_demo.reach(128) == 16_384
    assert math.isnan(frequency_demo.positive_until(128, 231_644.0))
    assert frequency_demo.reach(2) == frequency_demo.REACH


def test_spans_stand_in_the_order_of_their_bases() -> None:
    result = frequency_demo.spans(64, 100.0, 10_000.0, 3)
    np.testing.assert_allclose(result.base, [100, 1000, 10_000])
    np.testing.assert_allclose(result.wavelength, [2 * math.pi * b ** (62 / 64) for b in (100, 1000, 10_000)])
    assert result.positive.tolist() == [frequency_demo.positive_until(64, b) for b in (100.0, 1000.0, 10_000.0)]
