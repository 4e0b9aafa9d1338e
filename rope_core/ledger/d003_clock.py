"""Document 003, the clock: a position as a time of day."""

from __future__ import annotations

import numpy as np

from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim
from rope_core.rope import Rope
from rope_core.theory.clock import WALL, clock_readings

QUOTED = {reading.key: reading for reading in clock_readings()}


@register_claim("003-clock-dimension")
def dimension() -> ClaimCheck:
    """Measure a three-hand clock against the RoPE that the text names, by its dimension and its pairs."""
    hands = len(WALL.periods)
    return ClaimCheck(float(abs(2 * hands - 3)), corrected=float(abs(Rope(6, 60.0**3).pairs - hands)))


@register_claim("003-clock-minute")
def minute() -> ClaimCheck:
    return ClaimCheck(abs(WALL.periods[0] / WALL.periods[1] - 1 / 60))


@register_claim("003-clock-base")
def base() -> ClaimCheck:
    """Ratios of neighbouring hands, against those of a RoPE whose digits have base 60, and against 60 and 12."""
    hands, rope = np.array(WALL.periods), Rope(6, 60.0**3).wavelength
    ratios = hands[1:] / hands[:-1]
    return ClaimCheck(
        max_difference(ratios / (rope[1:] / rope[:-1]), np.ones(2)), corrected=max_difference(ratios, [60.0, 12.0])
    )


@register_claim("003-clock-hour")
def hour() -> ClaimCheck:
    """Measure what the hour hand moves in a minute against 1/60: as a share of a turn, then of an hour's mark."""
    moved = 60.0 / WALL.periods[2]
    return ClaimCheck(abs(60 * moved - 1.0), condition=abs(60 * 12 * moved - 1.0))


@register_claim("003-clock-43200")
def half_day() -> ClaimCheck:
    return ClaimCheck(max(abs(WALL.slowest_period / 43_200 - 1), abs(WALL.repeats_after(1.0) / 43_200 - 1)))


@register_claim("003-clock-slow")
def linear_slow() -> ClaimCheck:
    """Slowed 4 times, two times a second apart differ by a quarter of what they did, on the second hand too."""
    slow = WALL.slowed([4.0, 4.0, 4.0])
    return ClaimCheck(max_difference(slow.hand_angle_differences(1.0) * 4.0, WALL.hand_angle_differences(1.0)))


@register_claim("003-clock-still")
def still() -> ClaimCheck:
    """Slowed 4 times, what the second hand moves in a second, against nothing; then against a quarter of 6 degrees."""
    slow = WALL.slowed([4.0, 4.0, 4.0]).hand_angle_differences(1.0)[0] / WALL.hand_angle_differences(1.0)[0]
    return ClaimCheck(float(slow), corrected=float(abs(slow - 0.25)))


@register_claim("003-clock-ntk-time")
def ntk_time() -> ClaimCheck:
    """Measure the share of hands that NTK slows, then the second hand's own slow-down."""
    slow = np.array(QUOTED["ntk_at_3"].slowdown)
    return ClaimCheck(float(np.mean(slow > 1.0)), condition=float(abs(slow[0] - 1.0)))


@register_claim("003-clock-second-kept")
def second_kept() -> ClaimCheck:
    return ClaimCheck(abs(QUOTED["ntk_at_3"].slowdown[0] - 1.0))


@register_claim("003-clock-90")
def ninety_minutes() -> ClaimCheck:
    slow = WALL.slowed(QUOTED["printed"].slowdown)
    return ClaimCheck(max(abs(slow.periods[1] / 60 / 90 - 1), abs(slow.periods[2] / 3600 / 24 - 1)))


@register_claim("003-clock-129600")
def reading() -> ClaimCheck:
    residuals = [abs(QUOTED[key].once_round / 129_600 - 1) for key in ("printed", "compounded")]
    return ClaimCheck(residuals[0], corrected=residuals[1])


@register_claim("003-clock-is-ntk")
def is_ntk() -> ClaimCheck:
    """Measure the quoted slow-downs against those of the scheme at the factor that the quoted 129,600 s asks for."""
    scheme = QUOTED["ntk_at_3"].slowdown
    return ClaimCheck(
        max_difference(QUOTED["printed"].slowdown, scheme), corrected=max_difference(scheme, [1.0, 3.0**0.5, 3.0])
    )
