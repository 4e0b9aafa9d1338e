"""The clock analogy: hands, slow-downs, reading, and source 003's 129,600 seconds."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import Rope
from rope_core.rope import Array
from rope_core.theory.clock import WALL, Clock, clock_readings

CLOCK = Clock((60.0, 3600.0, 216_000.0))


def test_three_oclock_and_half_a_minute() -> None:
    assert WALL.angles(0).tolist() == [0.0, 0.0, 0.0]
    assert WALL.angles(15).tolist() == [90.0, 1.5, 0.125]
    assert WALL.angles(3 * 3600 + 30).tolist() == [180.0, 3.0, 90.25]
    assert WALL.angles(43_200).tolist() == [0.0, 0.0, 0.0]


def test_hands_are_the_phases_of_rope() -> None:
    seconds = np.array([1, 61, 3599, 50_000])
    tokens = seconds * 2 * math.pi / 60
    phases = np.degrees(tokens[:, None] * Rope(6, 60**3).theta) % 360
    assert np.allclose(CLOCK.angles(seconds), phases, rtol=0, atol=1e-9)


def test_neighbouring_seconds_vanish_under_fourfold_linear() -> None:
    slow = WALL.slowed([4.0, 4.0, 4.0])
    assert WALL.hand_angle_differences(1.0)[0] == 6.0
    assert slow.hand_angle_differences(1.0)[0] == 1.5
    assert WALL.hand_angle_differences(45.0)[0] == WALL.hand_angle_differences(-15.0)[0] == 90.0
    for error in (1.5, 3.0, 5.99):
        assert WALL.is_distinguishable(1.0, error)
        assert not slow.is_distinguishable(1.0, error)
    assert slow.is_distinguishable(1.0, 1.49)
    assert not WALL.is_distinguishable(1.0, 6.0)


def test_ntk_keeps_the_second_hand() -> None:
    kept = WALL.slowed([1.0, 2.0, 4.0])
    assert kept.hand_angle_differences(1.0)[0] == 6.0
    assert kept.slowest_period == 4 * 43_200


@given(st.floats(0.01, 100.0), st.floats(1.0, 50.0))
def test_finest_is_where_shows_begins(error: float, factor: float) -> None:
    clock = WALL.slowed([factor] * 3)
    edge = clock.finest_difference(error)
    assert not clock.is_distinguishable(edge * (1 - 1e-9), error)
    assert clock.is_distinguishable(edge * (1 + 1e-9), error)


def by_brute_force(clock: Clock, angles: list[float], error: float, grid: Array) -> npt.NDArray[np.bool_]:
    """Say for each time of the grid whether every hand is within error of its reading, by complex differences."""
    turned = np.exp(2j * np.pi * grid[:, None] / np.array(clock.periods))
    apart = np.abs(np.angle(turned * np.exp(-1j * np.radians(np.array(angles)))))
    return np.asarray((np.degrees(apart) <= error).all(axis=1))


@settings(deadline=None, max_examples=60)
@given(
    st.tuples(st.floats(5, 30), st.floats(31, 200), st.floats(201, 900)),
    st.floats(0, 900),
    st.floats(0.5, 170),
    # Not by the whole error: at time 0 rounding would put a reading at its very end before the start of the search.
    st.lists(st.floats(-0.999, 0.999), min_size=3, max_size=3),
)
def test_decode_finds_what_a_search_finds(
    periods: tuple[float, float, float], time: float, error: float, misread: list[float]
) -> None:
    clock = Clock(periods)
    reading = [angle + error * off for angle, off in zip(clock.angles(time).tolist(), misread, strict=True)]
    result = clock.possible_times(reading, error, until=1000.0)
    assert any(low - 1e-6 <= time <= high + 1e-6 for low, high in result)
    grid = np.arange(0, 1000, 0.0371)
    inside = np.zeros(grid.size, dtype=bool)
    edges = np.ones(grid.size, dtype=bool)
    for low, high in result:
        inside |= (grid >= low) & (grid <= high)
        edges &= (abs(grid - low) > 1e-6) & (abs(grid - high) > 1e-6)
    assert np.array_equal(inside[edges], by_brute_force(clock, reading, error, grid)[edges])


def test_a_careful_reader_knows_the_second_and_a_careless_one_does_not() -> None:
    [only] = WALL.possible_times(WALL.angles(12_345), error=2.9)
    assert only[0] <= 12_345 <= only[1]
    assert only[1] - only[0] < 1.0
    assert (
        len(WALL.possible_times(WALL.angles(12_345), error=6.0)) == 3
    )  # a minute more or less is 6 degrees of the minute hand


def test_decode_returns_nothing_for_a_reading_that_no_time_gives() -> None:
    assert WALL.possible_times([0.0, 0.0, 15.0], error=1.0) == []  # on the hour, the hour hand stands on a number


def test_spans_before_the_reading_repeats() -> None:
    assert WALL.slowest_period == WALL.repeats_after(1.0) == 43_200
    assert CLOCK.slowest_period == CLOCK.repeats_after(1.0) == 216_000
    assert WALL.slowed([1.0, 1.5, 2.0]).repeats_after(1.0) == 86_400 == math.lcm(60, 5400, 86_400)
    assert WALL.slowed([1.0, 1.5, 3.0]).repeats_after(1.0) == 129_600 == math.lcm(60, 5400, 129_600)
    # When the slowest hand alone does not close the round, a later one does.
    assert Clock((4.0, 6.0)).repeats_after(1.0) == 12.0
    assert Clock((1.0, math.sqrt(2))).repeats_after(1e-6) == math.inf


def test_source_003_for_what_it_is() -> None:
    printed, compounded, ntk = clock_readings()
    assert (printed.slowdown, printed.once_round) == ((1.0, 1.5, 2.0), 86_400.0)
    assert (compounded.slowdown, compounded.once_round) == ((1.0, 1.5, 3.0), 129_600.0)
    assert np.allclose(ntk.slowdown, [1, math.sqrt(3), 3], rtol=1e-15)
    assert ntk.once_round == pytest.approx(129_600, rel=1e-14)
    # sqrt(3) has no common multiple with the rest: the hour hand is round, the minute hand is elsewhere.
    assert ntk.repeats_after != pytest.approx(129_600, rel=1e-3)


def test_a_hand_that_does_not_move() -> None:
    clock = Clock((60.0, math.inf))
    assert clock.angles([0.0, 15.0]).tolist() == [[0.0, 0.0], [90.0, 0.0]]
    assert clock.slowest_period == 60.0
    assert clock.possible_times([90.0, 0.0], 0.0, until=100.0) == [(15.0, 15.0), (75.0, 75.0)]
    assert clock.possible_times([90.0, 50.0], 1.0) == []
    (window,) = clock.possible_times([90.0, 350.0], 11.0, until=20.0)
    assert window == pytest.approx((15.0 - 11 / 6, 15.0 + 11 / 6))
    assert Clock((math.inf, math.inf)).slowest_period == math.inf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Clock((60.0,)), "periods must be 2..64 positive"),
        (lambda: Clock((60.0, 0.0)), "periods must be"),
        (lambda: Clock((60.0, math.nan)), "periods must be"),
        (lambda: Clock("60"), "periods must be"),  # type: ignore[arg-type]
        (lambda: WALL.angles(-1.0), "seconds must be finite numbers >= 0"),
        (lambda: WALL.angles(math.inf), "seconds must be"),
        (lambda: WALL.angles("noon"), "seconds must be"),
        (lambda: WALL.slowed([1.0, 2.0]), "slowdown must be 3 positive numbers"),
        (lambda: WALL.slowed([1.0, 2.0, 0.0]), "slowdown must be"),
        (lambda: WALL.is_distinguishable(1.0, -1.0), "error must be"),
        (lambda: WALL.possible_times([0, 0, 0], 180.0), "error must be"),
        (lambda: WALL.possible_times([0, 0], 1.0), "angles must be 3 finite"),
        (lambda: WALL.possible_times([0, 0, 0], 1.0, until=0.0), "until must be"),
        (lambda: WALL.possible_times([0, 0, 0], 179.0, until=1e9), "until must be short enough"),
        (lambda: Clock((math.inf, math.inf)).possible_times([0, 0], 1.0), "until must be a finite"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
