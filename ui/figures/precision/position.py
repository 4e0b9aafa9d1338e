"""The first picture of the page: a position that a number format cannot hold, and where its arrow points instead."""

from __future__ import annotations

from functools import partial

import numpy as np

import rope_core as rc
from rope_core.theory import precision
from ui.figures import home
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import angle_wedge, clock_angle, dial_marks, drag_hint, word_tile
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack
from ui.text.words import PageTexts

FIRST, LAST = 992, 1040
"""The positions to drag over: both sides of 1,024, where bfloat16's gaps double."""
HALF = 2.0
"""Half the width of the word's tile, in positions."""
NAMED = 8
"""Every so many positions have their number."""


class PositionRounding:
    """The positions, what a format stores of them, and how far the fastest and the slowest arrow are off.

    Attributes:
        held: the stored positions, int64 (positions).
        off, slowest_off: of the fastest and the slowest pair, rad (positions), without their sign.
    """

    def __init__(self, spectrum: rc.Spectrum, dtype: str) -> None:
        self.positions = np.arange(FIRST, LAST + 1)
        self.held = np.rint(precision.round_to_dtype(self.positions.astype(float), dtype)).astype(np.int64)
        behind = np.abs(self.positions - self.held)
        self.step = float(spectrum.inv_freq[0])
        self.off, self.slowest_off = behind * self.step, behind * float(spectrum.inv_freq[-1])


def red_word_control(t: PageTexts) -> Control:
    """Return the position of the red word."""
    stops = tuple(map(float, range(FIRST, LAST + 1)))
    return Control("near", t("field.near"), stops, tuple(f"{at:,.0f}" for at in stops), play_seconds=10.0)


whole_degrees = partial(home.degrees_text, whole_from=1.0, below=".1g")


def finding(rounding: PositionRounding, near: Control, dtype: str, t: PageTexts) -> TextTrack:
    """Return what is stored of the position, and where the fastest arrow points because of it."""
    rows = zip(rounding.positions.tolist(), rounding.held.tolist(), rounding.off.tolist(), strict=True)
    texts = []
    for at, held, off in rows:
        given = {"dtype": dtype, "at": f"{at:,}", "held": f"{held:,}"}
        away = abs(at - held)
        words = t("one_word_off") if away == 1 else t("words_off", count=away)
        wrong = {"words": words, "off": whole_degrees(off)}
        texts.append(t("held_finding", **given) if at == held else t("snapped_finding", **given, **wrong))
    return near.texts(texts)


def panels(spectrum: rc.Spectrum, near: Control, dtype: str, t: PageTexts) -> tuple[Panel, ...]:
    """Return the exact and the rounded arrow then the digits, and the positions that the format holds."""
    rounding = PositionRounding(spectrum, dtype)
    exact = near.numbers(rounding.positions * rounding.step)
    held = near.numbers(rounding.held * rounding.step)
    return (
        _arrow(dial_marks(0.0, 0.0, 1.0, exact, KEY_COLOUR), "exact_at", near, rounding.positions, t),
        _arrow(
            [
                *(mark | {"opacity": 0.3} for mark in angle_wedge(0.0, 0.0, 0.85, held, exact, KEY_COLOUR)),
                marks.vector(0.0, 0.0, 0.95, clock_angle(exact), KEY_COLOUR, 3, True, stroke_dash="5 4"),
                *dial_marks(0.0, 0.0, 1.0, held),
            ],
            "stored_at",
            near,
            rounding.held,
            t,
            dtype,
        ),
        _digits(rounding, near, dtype, t),
        _ruler(rounding, near, t),
    )


def _arrow(drawn: list[Mark], label: str, near: Control, at: np.ndarray, t: PageTexts, dtype: str = "") -> Panel:
    """Return a dial under a title that names the position."""
    title = near.texts(t(label, at=f"{each:,}", dtype=dtype) for each in at.tolist())
    return Panel(
        Axis(-1.1, 1.1), Axis(-1.1, 1.1), drawn, title, min_width=150, height=200, phone_height=120, equal_aspect=True
    )


def _digits(rounding: PositionRounding, near: Control, dtype: str, t: PageTexts) -> Panel:
    """Return how far the arrow is off, and the position's binary digits: those that fit, and those that are lost."""
    bits = precision.DTYPES[dtype][0]
    rows = {"exact": rounding.positions.tolist(), "stored": rounding.held.tolist()}
    off = near.texts(t("off_by", off=whole_degrees(each)) for each in rounding.off.tolist())
    slowest = (t("slowest_off", off=whole_degrees(each)) for each in rounding.slowest_off.tolist())
    slow = near.texts(slowest)
    drawn = [
        marks.text(0.5, 0.9, t("fastest_arrow", step=whole_degrees(rounding.step)), bold=True),
        marks.text(0.5, 0.74, off, UNSEEN_COLOUR, bold=True, font_size=25),
        marks.text(0.5, 0.6, slow, MUTED_COLOUR),
    ]
    for y, (name, values) in zip((0.4, 0.26), rows.items(), strict=True):
        words = [f"{value:b}" for value in values]
        colour = KEY_COLOUR if name == "exact" else "ink"
        kept, lost = (tuple(part) for part in zip(*((word[:bits], word[bits:]) for word in words), strict=True))
        number = near.texts(f"{value:,} =" for value in values)
        drawn += [
            marks.text(0.3, y, number, colour, anchor="end", bold=True),
            marks.text(0.68, y, near.texts(kept), anchor="end", bold=True, font_size=19),
            marks.text(0.7, y, near.texts(lost), UNSEEN_COLOUR, anchor="start", font_size=19),
        ]
    fits = t("digits_fit", bits=bits)
    drawn.append(marks.text(0.5, 0.08, fits, MUTED_COLOUR, bold=True))
    return Panel(Axis(0.0, 1.0), Axis(0.0, 1.0), drawn, min_width=230, width_share=1.3, height=230, phone_height=160)


def _ruler(rounding: PositionRounding, near: Control, t: PageTexts) -> Panel:
    """Return the positions, thick where the format holds them, the word that is dragged, and where it snaps to."""
    exact = rounding.positions == rounding.held
    here = near.numbers(rounding.positions.astype(float))
    snapped = near.numbers(rounding.held.astype(float))
    tile = word_tile(here, 1.5, t("key_word"), KEY_COLOUR)
    tile[0] |= {side: here + by for side, by in (("x0", -HALF), ("x1", HALF))}
    named = [int(each) for each in rounding.positions if each % NAMED == 0]
    gaps = np.diff(rounding.positions[exact])
    first = near.numbers_where(rounding.positions <= FIRST + 14, FIRST + 17.0)
    ticks = tuple((float(each), f"{each:,}") for each in named)
    x = Axis(FIRST - 1.5, LAST + 1.5, ticks, t("held_axis", first=gaps[0], last=gaps[-1]), grid=False)
    shown = [
        marks.line([FIRST - 1.5, LAST + 1.5], [0.0, 0.0], GREY, 1.5),
        marks.rect(rounding.positions - 0.04, rounding.positions + 0.04, -0.25, 0.25, GREY),
        marks.rect(rounding.positions[exact] - 0.1, rounding.positions[exact] + 0.1, -0.55, 0.55, "ink"),
        marks.line(
            near.numbers(np.stack([rounding.positions, rounding.held], axis=1).astype(float)),
            [0.9, 0.0],
            KEY_COLOUR,
            2.5,
        ),
        marks.dot(snapped, 0.0, KEY_COLOUR, 7),
        *marks.in_wide_panel(600, drag_hint(first, 1.5, t("drag_cat"), dy=6)),
        marks.drag_handle(near, here, 1.5, KEY_COLOUR, t("grab_cat"), tile, radius_px=0),
    ]
    return Panel(x, Axis(-0.7, 2.1), shown, min_width=2000, height=110, phone_height=80)
