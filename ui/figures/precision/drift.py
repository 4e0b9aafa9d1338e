"""An arrow whose frequency is rounded, at three words, and its error in proportion to the position."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import precision
from ui.figures.precision.formats import REACH
from ui.film import marks
from ui.film.colours import GREEN, GREY, KEY_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import (
    angle_wedge,
    dial_marks,
    drag_hint,
    mark_angle_from_clock,
    word_tile,
    x_hidden_past_stop,
)
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack, sentence_parts
from ui.text.words import PageTexts, number_text

STILL = (1, 100)
"""The words whose arrows stay in the picture."""
FIRST_AT, NICE = 400, (1, 2, 2.5, 5, 10)
HALF_TURN, TURN = 180.0, 360.0
LEAST = 0.01
"""Degrees below which an error is not written out."""


def angle_error_text(error: float, t: PageTexts) -> str:
    """Return an error (rad) as a reader takes it in: degrees up to a turn, then turns."""
    if not math.isfinite(error):
        return t("overflow")
    degrees = math.degrees(abs(error))
    if 0 < degrees < LEAST:
        return t("hardly")
    return f"{degrees:.3g}°" if degrees < TURN else t("turns", count=f"{float(f'{degrees / TURN:.3g}'):,.10g}")


def position_axis_end(slope: float) -> float:
    """Return the last position of the axis, a round number: about where the error is a whole turn; slope: rad a word.

    >>> position_axis_end(math.radians(0.07))
    5000.0
    """
    wanted = min(2 * math.pi / max(slope, 1e-12), float(REACH))
    power = 10.0 ** math.floor(math.log10(wanted))
    return max(power * step for step in NICE if power * step <= wanted)


def frequency_rounding_panels(frequency: float, name: str, at: Control, dtype: str, t: PageTexts) -> tuple[Panel, ...]:
    """Return one pair's exact and rounded arrow at two words and at the dragged one, and the error over the position.

    ``frequency`` in rad a word; ``name``: which of the pairs it is.
    """
    single = rc.Spectrum.from_inv_freq([frequency])
    slope = float(precision.phase_error(single, [1], "inv_freq", dtype)[0, 0])
    errors = precision.phase_error(single, [*STILL, *map(int, at.stops)], "inv_freq", dtype)[:, 0]
    still = [
        _arrows(np.array(float(word)), frequency, errors[k : k + 1], None, t("word_at", at=word), t)
        for k, word in enumerate(STILL)
    ]
    title = sentence_parts(partial(t, "word_at"), at=at.stop_text)
    moving = _arrows(np.array(at.stops), frequency, errors[len(STILL) :], at, title, t)
    return *still, moving, _line(slope, frequency, name, at, dtype, t)


def _arrows(
    words: Array, frequency: float, errors: Array, at: Control | None, title: TextOrTrack, t: PageTexts
) -> Panel:
    """Return the rounded arrow of a word, the exact one dashed, the slice between them, and its angle below."""

    def track(values: Array) -> marks.NumbersOrTrack:
        return at.numbers(values) if at else float(values.reshape(-1)[0])

    exact, rounded = words * frequency, words * frequency + errors
    off = tuple(t("off_by", off=angle_error_text(float(each), t)) for each in errors)
    shown = [
        *(mark | {"opacity": 0.3} for mark in angle_wedge(0.0, 0.0, 0.85, track(exact), track(rounded), KEY_COLOUR)),
        *dial_marks(0.0, 0.0, 1.0, track(rounded), stroke_width=5),
        marks.vector(0.0, 0.0, 0.95, mark_angle_from_clock(track(exact)), KEY_COLOUR, 3, True, stroke_dash="5 4"),
        marks.text(0.0, -1.2, at.texts(off) if at else off[0], UNSEEN_COLOUR, bold=True, dy=6),
    ]
    return Panel(Axis(-1.1, 1.1), Axis(-1.45, 1.1), shown, title, min_width=100, height=165, equal_aspect=True)


def _line(slope: float, frequency: float, name: str, at: Control, dtype: str, t: PageTexts) -> Panel:
    """Return the error over the position, float32's beside it, and the word that is dragged."""
    end = position_axis_end(abs(slope))
    half = math.radians(HALF_TURN) / abs(slope) if slope else math.inf
    per_word = math.degrees(abs(slope))
    places = np.where(np.array(at.stops) <= end, at.stops, np.nan)
    here = at.numbers(places)
    height = at.numbers(places * per_word)
    tile = word_tile(here, -70.0, t("key_word"), KEY_COLOUR, half_height=32)
    tile[0] |= {side: here + by * end for side, by in (("x0", -0.03), ("x1", 0.03))}
    slots = {"name": name, "step": f"{math.degrees(frequency):.3g}°", "dtype": dtype, "more": f"{per_word:.2g}°"}
    drawn: list[Mark] = [
        marks.line([0.0, end], [0.0, 0.0], GREY, 1.5),
        marks.line([0.0, end], [0.0, end * per_word], "ink", 4),
        marks.text(end, end * per_word, dtype, anchor="end", bold=True, dx=-4, dy=42),
        marks.line(at.numbers(np.stack([places, places], axis=1)), [-40.0, HALF_TURN], KEY_COLOUR, 1.5, "4 4"),
        marks.dot(here, height, UNSEEN_COLOUR, 8),
        marks.link_symbol("m", marks.drag_handle(at, here, -70.0, KEY_COLOUR, t("grab"), tile, radius_px=0)),
    ]
    if dtype != "float32":
        drawn += [
            marks.line([0.0, end], [0.0, 0.0], GREEN, 4),
            marks.text(end, 0.0, t("float32_stays"), GREEN, anchor="end", bold=True, dx=-4, dy=-8),
        ]
    if half <= end:
        drawn += [
            marks.text(half, HALF_TURN, t("opposite"), UNSEEN_COLOUR, anchor="end", bold=True, dx=-14, dy=-6),
            *marks.in_wide_panel(
                500, drag_hint(x_hidden_past_stop(at, 0.9 * half, 0.0), HALF_TURN, t("drag_away"), dy=-34)
            ),
        ]
    ticks = tuple((end * share, f"{end * share:,.10g}") for share in (0.2, 0.4, 0.6, 0.8, 1.0))
    x = Axis(0.0, end, ticks, t("position_axis"), grid=False)
    up = Axis(-110.0, TURN, tuple((float(y), f"{y}°") for y in (0, 180, 360)), t("off_axis"))
    return Panel(x, up, drawn, t("drift_title", **slots), min_width=2000, height=170)


def frequency_rounding_finding(frequency: float, at: Control, dtype: str, t: PageTexts) -> TextOrTrack:
    """Return how far the rounded arrow is off at the dragged word, and how many times as far as at word 100."""
    errors = precision.phase_error(rc.Spectrum.from_inv_freq([frequency]), list(map(int, at.stops)), "inv_freq", dtype)[
        :, 0
    ]
    return sentence_parts(
        partial(t, "ahead_finding"),
        at=at.stop_text,
        off=at.texts(angle_error_text(float(each), t) for each in errors),
        times=at.texts(number_text(float(f"{stop / STILL[1]:.3g}")) for stop in at.stops),
    )
