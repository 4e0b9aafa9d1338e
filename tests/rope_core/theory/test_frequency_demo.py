"""The frequency tables against cosines written out, and what a base spans against the definition."""

import math

import numpy as np
import pytest
from hypothesis import given
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


@pytest.mark.parametrize(
    ("dim", "base", "context", "count"),
    [(128, 1e4, 4096, 18), (128, 5e5, 8192, 29), (128, 1e6, 32_768, 24), (2, 2.0, 6, 1)],
)
def test_pairs_that_never_complete_a_turn(dim: int, base: float, context: int, count: int) -> None:
    rope = Rope(dim, base, context)
    never = frequency_demo.incomplete_pair_mask(rope)
    assert int(never.sum()) == count
    assert never.tolist() == [2 * math.pi * base ** (2 * i / dim) > context for i in range(dim // 2)]


@given(ropes, st.integers(1, 5000))
def test_similarity_is_the_product_of_two_codes(rope: Rope, distance: int) -> None:
    def code(position: int) -> np.ndarray:
        return np.concatenate([np.cos(position * rope.theta), np.sin(position * rope.theta)])

    alike = frequency_demo.mean_cosine_by_distance(rope, distance + 1)
    assert alike.shape == (distance + 1,)
    assert alike[0] == 1.0
    assert alike[-1] == pytest.approx(code(700 + distance) @ code(700) / rope.pairs, abs=1e-9)


def test_wide_heads_are_searched_less_far() -> None:
    assert frequency_demo.similarity_curve_length(128) == 16_384
    assert frequency_demo.similarity_curve_length(2) == frequency_demo.REACH


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_the_closest_return_comes_after_a_rise(values: list[float]) -> None:
    at = frequency_demo.highest_return_distance(np.array(values))
    rises = [k for k in range(len(values) - 1) if values[k + 1] > values[k]]
    assert values[at] == (max(values[rises[0] :]) if rises else values[-1])
    assert not rises or at > rises[0]


def test_no_distance_before_the_first_rise_counts() -> None:
    alike = frequency_demo.mean_cosine_by_distance(Rope(128, 1e4), 8192)
    at = frequency_demo.highest_return_distance(alike)
    assert (at, round(float(alike[at]), 3)) == (12, 0.662)
