"""The four steps of an angle's computation, each rounded by itself, and the largest error that it leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ui.figures.precision.drift import HALF_TURN, angle_error_text
from ui.figures.precision.formats import REACH, SINGLE
from ui.film import marks
from ui.film.colours import GREEN, ORANGE, PURPLE, SKY
from ui.film.composite_marks import verdict_where
from ui.film.scene import Axis, Control, Mark, Panel
from ui.text.words import PageTexts

STAGE_COLOURS = {"inv_freq": ORANGE, "position": PURPLE, "angle": SKY, "table": GREEN}
SMALL = 1.0
"""Degrees below which an error is called harmless."""
HIGH, LINE = 190, 17
"""The height of the curves, and of a line of letters, in px."""
ROOM, ABOVE = 2.0, 2
"""The room for the lines' names: right of the last position in powers of ten, above the highest end in lines."""
SIGNS = ("×", "=", "→")


def rounding_step_panels(
    positions: tuple[int, ...], largest: dict[str, np.ndarray], at: Control, dtype: str, t: PageTexts
) -> tuple[Panel, Panel]:
    """Return the steps with their largest error, rad up to each position by stage, and its curves."""
    return _chain(largest, at, t), _curves(positions, largest, at, dtype, t)


def _chain(largest: dict[str, np.ndarray], at: Control, t: PageTexts) -> Panel:
    """Return frequency times position is angle, and its table of cosines and sines, each with a verdict below."""
    drawn: list[Mark] = []
    for k, stage in enumerate(SINGLE):
        colour = STAGE_COLOURS[stage]
        small = [math.degrees(float(each)) < SMALL for each in largest[stage]]
        texts = [angle_error_text(float(each), t) for each in largest[stage]]
        right, wrong = ([f"{sign} {text}" for text in texts] for sign in "✓✗")
        edge: dict[str, Any] = {"outline": colour, "stroke_width": 2, "corner_px": 6}
        drawn += [
            marks.rect(k - 0.38, k + 0.38, 0.2, 1.2, "none", **edge),
            marks.text(float(k), 0.7, t(f"stage.{stage}"), colour, bold=True, font_size=16, dy=5),
            *verdict_where(at, small, float(k), -0.25, right, wrong, anchor="middle", font_size=16, dy=5),
        ]
        if k:
            drawn.append(marks.text(k - 0.5, 0.7, SIGNS[k - 1], bold=True, font_size=18, dy=6))
    return Panel(Axis(-0.45, len(SINGLE) - 0.55), Axis(-0.6, 1.3), drawn, t("chain_title"), min_width=2000, height=85)


def _curves(positions: tuple[int, ...], largest: dict[str, np.ndarray], at: Control, dtype: str, t: PageTexts) -> Panel:
    """Return the largest error of each stage up to every position, each line named at its end."""
    where = np.log10(positions)
    logs = {stage: np.log10(np.where(each > 0, np.degrees(_finite(each)), np.nan)) for stage, each in largest.items()}
    half, every = math.log10(HALF_TURN), np.concatenate(list(logs.values()))
    low = math.floor(min(np.nanmin(every), half))
    high = low + (max(np.nanmax(every), half) - low) / (1 - ABOVE * LINE / HIGH)
    here, end = at.numbers(where), math.log10(REACH)
    line = at.numbers(np.stack([where, where], axis=1))
    ticks = [
        (k, f"{10.0**k:,g}°" if k > -3 else f"10{power_of_ten_text(k)}°")
        for k in range(low, min(math.floor(high), 4) + 1, 2 if high - low > 4 else 1)
    ]
    ends = {stage: each[np.isfinite(each)][-1] for stage, each in logs.items() if np.isfinite(each).any()}
    x = Axis(0.0, end + ROOM, tuple((k, f"{10**k:,}") for k in range(0, 7, 2)), t("position_log"))
    y = Axis(low, high, tuple(ticks), t("off_axis"))
    shown = [
        marks.rect(0.0, end, half, high, ORANGE, opacity=0.14),
        marks.text(0.0, half, t("anywhere"), ORANGE, anchor="start", bold=True, dx=6, dy=-7),
        *(
            marks.line(where, each, STAGE_COLOURS[stage], 3, "5 4" if stage == "angle" else "")
            for stage, each in logs.items()
        ),
        *(
            marks.text(end, place, t(f"stage.{stage}"), STAGE_COLOURS[stage], anchor="start", bold=True, dx=8, dy=5)
            for stage, place in _spaced_heights(ends, LINE * (high - low) / HIGH).items()
        ),
        *(marks.dot(here, at.numbers(each), STAGE_COLOURS[stage], 6) for stage, each in logs.items()),
        marks.link_symbol(
            "m", marks.drag_handle(at, here, low, "ink", t("grab"), [marks.line(line, [low, high], "ink", 2, "4 4")])
        ),
    ]
    return Panel(x, y, shown, t("largest_title", dtype=dtype), min_width=2000, height=HIGH)


def _spaced_heights(ends: dict[str, float], least: float) -> dict[str, float]:
    """Return heights in their order, none nearer than ``least`` to the next: moved up from the lowest."""
    places: dict[str, float] = {}
    for stage in sorted(ends, key=lambda each: ends[each]):
        places[stage] = max([ends[stage], *(place + least for place in places.values())])
    return places


def _finite(values: np.ndarray) -> np.ndarray:
    """Return values with nan where a format has overflowed."""
    return np.where(np.isfinite(values), values, np.nan)


def power_of_ten_text(power: int) -> str:
    """Return a power of ten as its small raised digits."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
