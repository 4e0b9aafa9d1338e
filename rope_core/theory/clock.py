"""Rotary position embedding as a clock: a position is a time, a pair is a hand, a scheme slows the hands down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.rope import Array, Rope
from rope_core.schemes import ntk

MAX_HANDS = 64
MAX_WINDOWS = 200_000

Interval = tuple[float, float]


@dataclass(frozen=True)
class Clock:
    """Hands that turn at constant speeds and all start at 0 degrees.

    Args:
        periods: seconds per turn of each hand, fastest first as a rule; infinite for a hand that does not move.

    Raises:
        ValueError: on fewer than 2 or more than 64 hands, or a period that is not a positive number.

    Source: the analogy is NTK-aware RoPE's author's, quoted in zhuanlan.zhihu.com "浅谈LLM的长度外推"; a 12-hour clock
    is three pairs, dimension 6, whose hour hand is 12 (not 60) times slower than the minute hand.

    >>> Clock((60, 3600, 43_200)).angles(3 * 3600 + 30).tolist()
    [180.0, 3.0, 90.25]
    """

    periods: tuple[float, ...]

    def __post_init__(self) -> None:
        rule = f"2..{MAX_HANDS} positive numbers of seconds per turn"
        if not isinstance(self.periods, Sequence | np.ndarray) or isinstance(self.periods, str):
            raise argument_error("periods", rule, self.periods)
        if not 2 <= len(self.periods) <= MAX_HANDS:
            raise argument_error("periods", rule, self.periods)
        object.__setattr__(self, "periods", tuple(_period(value, rule) for value in self.periods))

    @property
    def slowest_period(self) -> float:
        """Seconds until the slowest moving hand has turned once; no reading repeats before. Infinite if none moves."""
        return max((period for period in self.periods if math.isfinite(period)), default=math.inf)

    def angles(self, seconds: npt.ArrayLike) -> Array:
        """Return the angles of the hands ``seconds`` (...) after 0 o'clock, degrees in [0, 360), float64 (..., hands).

        Raises ValueError on a time that is negative or not finite.
        """
        time = np.asarray(seconds)
        if time.dtype.kind not in "iuf" or not np.all(np.isfinite(time)) or np.any(time < 0):
            raise argument_error("seconds", "numbers_least", seconds, low=0)
        periods = np.array(self.periods)
        return np.asarray(np.mod(time.astype(np.float64)[..., None], periods) / periods * 360.0)

    def slowed(self, slowdown: npt.ArrayLike) -> Clock:
        """Return the clock whose hands turn ``slowdown`` times slower, (hands,).

        >>> WALL.slowed([1.0, 1.5, 2.0]).periods
        (60.0, 5400.0, 86400.0)
        """
        factors = np.asarray(slowdown, dtype=np.float64)
        if factors.shape != (len(self.periods),) or not np.all(factors > 0):
            raise argument_error("slowdown", "positive_per_pair", slowdown, pairs=len(self.periods))
        return Clock(tuple((np.array(self.periods) * factors).tolist()))

    def hand_angle_differences(self, seconds: float) -> Array:
        """Return how far each hand turns in ``seconds``, the short way: degrees in [0, 180], float64 (hands,).

        >>> slow = WALL.slowed([4.0, 4.0, 4.0])
        >>> WALL.hand_angle_differences(1.0).tolist(), slow.hand_angle_differences(1.0)[0].item()
        ([6.0, 0.1, 0.008333333333333333], 1.5)
        """
        moved = self.angles(abs(checked_finite("seconds", seconds)))
        return np.minimum(moved, 360.0 - moved)

    def is_distinguishable(self, seconds: float, error: float | Sequence[float]) -> bool:
        """Say whether two times ``seconds`` apart differ on some hand by more than the reading error, degrees.

        >>> clocks = WALL, WALL.slowed([4.0, 4.0, 4.0])
        >>> [tuple(each.is_distinguishable(1.0, error) for each in clocks) for error in (1.0, 1.5, 5.9, 6.0)]
        [(True, True), (True, False), (True, False), (False, False)]
        """
        return bool(np.any(self.hand_angle_differences(seconds) > self._errors(error)))

    def finest_difference(self, error: float | Sequence[float]) -> float:
        """Return the time difference, seconds, above which a hand moves by more than the reading error, degrees.

        >>> WALL.finest_difference(3.0), WALL.slowed([4.0, 4.0, 4.0]).finest_difference(3.0)
        (0.5, 2.0)
        """
        return float(np.min(self._errors(error) / 360.0 * np.array(self.periods)))

    def possible_times(
        self, angles: npt.ArrayLike, error: float | Sequence[float], until: float | None = None
    ) -> list[Interval]:
        """Return every interval of times in [0, until] at which the hands can have been read as ``angles``.

        Args:
            angles: the reading, degrees, (hands,).
            error: what each hand may be misread by, degrees in [0, 180); one number is for every hand.
            until: seconds; None means once_round.

        Returns:
            Disjoint (first, last) seconds in ascending order. One interval: the time is known to its width. Several:
            the reading is ambiguous. None: no time gives this reading.

        Raises:
            ValueError: on a reading of another length, an error outside its range, an ``until`` that is not positive
                and finite, or a search through more than 200,000 turns of a hand.

        >>> WALL.possible_times([180.0, 3.0, 90.25], error=1.5)
        [(10829.75, 10830.25)]
        """
        reading = np.asarray(angles, dtype=np.float64)
        if reading.shape != (len(self.periods),) or not np.all(np.isfinite(reading)):
            raise argument_error("angles", "degrees_each", angles, hands=len(self.periods))
        last = checked_finite("until", self.slowest_period if until is None else until, "finite_above", low=0)
        if last <= 0:
            raise argument_error("until", "finite_above", until, low=0)
        times: list[Interval] = [(0.0, last)]
        hands = sorted(zip(self.periods, reading % 360.0, self._errors(error), strict=True), reverse=True)
        for period, angle, slack in hands:
            if sum(high - low for low, high in times) / period + 2 * len(times) > MAX_WINDOWS:
                raise argument_error("until", "searchable_time", last, limit=MAX_WINDOWS)
            times = [window for span in times for window in _windows(span, period, float(angle), float(slack))]
        return times

    def repeats_after(self, error: float | Sequence[float], until: float | None = None) -> float:
        """Return the seconds after which every hand is back within the reading error, degrees.

        It is the middle of the first such interval apart from the one around 0; infinite if there is none by ``until``
        (seconds; None means twenty rounds of the slowest hand).

        >>> WALL.repeats_after(1.0), WALL.slowed([1.0, 1.5, 2.0]).repeats_after(1.0)
        (43200.0, 86400.0)
        """
        if until is None:
            until = 20.0 * self.slowest_period
        returns = self.possible_times(np.zeros(len(self.periods)), error, until)
        return sum(returns[1]) / 2.0 if len(returns) > 1 else math.inf

    def _errors(self, error: float | Sequence[float]) -> Array:
        errors = np.asarray(error, dtype=np.float64)
        if errors.shape not in ((), (len(self.periods),)) or not np.all((errors >= 0) & (errors < 180)):
            raise argument_error("error", "degrees_error", error)
        return np.broadcast_to(errors, (len(self.periods),))


@dataclass(frozen=True)
class DurationReading:
    """One reading of source 003's "129.6k seconds": slow-downs of the hands, and what the clock then measures.

    ``once_round`` and ``repeats_after`` are in seconds; ``repeats_after`` at the stated reading error.
    """

    key: str
    slowdown: tuple[float, ...]
    once_round: float
    repeats_after: float


def clock_readings(error: float = 1.0) -> list[DurationReading]:
    """Return what the wall clock measures as source 003 prints it, with the slow-downs compounding, and under NTK at 3.

    Printed: minutes 1.5 and hours 2 times slower, read literally. The quoted 129,600 s needs each hand to inherit
    the slow-down of the one before. ``error`` is the reading error in degrees.

    >>> [(claim.key, claim.once_round) for claim in clock_readings()][:2]
    [('printed', 86400.0), ('compounded', 129600.0)]
    """
    printed = np.array([1.0, 1.5, 2.0])
    vectors = {
        "printed": printed,
        "compounded": np.cumprod(printed),
        "ntk_at_3": ntk(Rope(2 * len(WALL.periods)), 1, 3.0).slowdown,
    }
    clocks = {key: WALL.slowed(vector) for key, vector in vectors.items()}
    return [
        DurationReading(key, tuple(vectors[key].tolist()), clock.slowest_period, clock.repeats_after(error))
        for key, clock in clocks.items()
    ]


def _period(value: object, rule: str) -> float:
    if value == math.inf:
        return math.inf
    number = checked_finite("periods", value, rule)
    if number <= 0:
        raise argument_error("periods", rule, value)
    return number


def _windows(span: Interval, period: float, angle: float, error: float) -> list[Interval]:
    """Return the parts of ``span`` in which a hand of ``period`` is within ``error`` degrees of ``angle``."""
    if not math.isfinite(period):
        return [span] if min(angle, 360.0 - angle) <= error else []
    centre, reach = angle / 360.0, error / 360.0
    first = math.floor(span[0] / period - centre - reach)
    last = math.ceil(span[1] / period - centre + reach)
    intervals = []
    for turn in range(first, last + 1):
        low = max(span[0], (turn + centre - reach) * period)
        high = min(span[1], (turn + centre + reach) * period)
        if low <= high:
            intervals.append((low, high))
    return intervals


WALL = Clock((60.0, 3600.0, 43_200.0))
