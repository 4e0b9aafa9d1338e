"""The multiplications of a table of scores and of a running sum, as areas on one scale."""

from __future__ import annotations

from functools import partial

import numpy as np

from rope_core.lrpe.linear import multiplication_counts
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, VIOLET
from ui.film.composite_marks import drag_hint, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack, sentence_parts
from ui.text.words import PageTexts

FIRST_LENGTH, GOAL_LENGTH = 512, 4096
LENGTHS = tuple(sorted({*np.rint(2 ** np.arange(4.0, 14.1, 0.25)).astype(int).tolist()}))


def length_stops(own: int) -> tuple[int, ...]:
    """Return the lengths to drag to, four an octave from 16 to 16,384, and ``own``."""
    return tuple(sorted({own, *LENGTHS}))


def multiplication_count_panels(width: int, length: Control, t: PageTexts) -> tuple[Panel, Panel]:
    """Return the triangle of scores and the running sum, with the multiplications of each; ``width`` of the head."""
    return _area(width, length, t, table=True), _area(width, length, t, table=False)


def _area(width: int, length: Control, t: PageTexts, *, table: bool) -> Panel:
    """Return one area, in words by words over the longer of text and head, and its multiplications at the right."""
    n = np.array(length.stops)
    scores, running = (np.array(each) for each in zip(*(multiplication_counts(int(k), width) for k in n), strict=True))
    whole = np.maximum(n, width)
    side, across = n / whole, width / whole
    corners = length.numbers(np.stack([0 * side, 0 * side, side], axis=1))
    downs = length.numbers(np.stack([0 * side, -side, -side], axis=1))
    triangle = marks.line(corners, downs, VIOLET, 0, fill=VIOLET) | {"opacity": 0.55}
    outline = marks.line(
        length.numbers(np.stack([0 * side, 0 * side, side, 0 * side], axis=1)),
        length.numbers(np.stack([0 * side, -side, -side, 0 * side], axis=1)),
        VIOLET,
        1.5,
        "5 4",
    )
    strip = marks.rect(0.0, length.numbers(across), length.numbers(-side[:, None]), 0.0, TRAINED_COLOUR, opacity=0.6)
    counts = scores if table else running
    fewer = (scores < running) if table else (running < scores)
    millions = length.texts(_millions(float(each)) for each in counts)
    mark = length.texts(t("fewer") if each else "" for each in fewer)
    drawn: list[Mark] = [
        marks.line([0.0, 0.0], [0.0, -1.0], GREY, 1.2),
        *([triangle] if table else [strip, outline]),
        marks.text(1.08, -0.72, mark, TRAINED_COLOUR, anchor="start", bold=True, font_size=17),
        marks.text(1.08, -0.86, millions, anchor="start", bold=True, font_size=24),
        marks.text(1.08, -0.97, t("million"), MUTED_COLOUR, anchor="start", font_size=14),
        marks.text(
            0.44, -0.12, t("as_square" if table else "as_wide", width=width), VIOLET if table else TRAINED_COLOUR
        )
        | {"anchor": "start", "bold": True},
    ]
    if table:
        tip, foot = length.numbers(side), length.numbers(-side[:, None])
        drawn.append(marks.drag_handle(length, tip, foot, VIOLET, t("grab_length"), radius_px=9))
        hint = x_hidden_past_stop(length, GOAL_LENGTH / 2, 1.08)
        drawn.append(drag_hint(hint, -0.5, t("slide_length", words=f"{GOAL_LENGTH:,}"), font_size=15))
    title = t("triangle" if table else "running")
    return Panel(Axis(-0.05, 1.75), Axis(-1.06, 0.06), drawn, title, min_width=330, height=320, equal_aspect=True)


def _millions(value: float) -> str:
    """Return a count in millions."""
    return f"{value / 1e6:,.0f}" if value >= 1e8 else f"{value / 1e6:.3g}"


def multiplication_count_finding(width: int, length: Control, t: PageTexts) -> TextOrTrack:
    """Return how many times as much the table costs, and from which length on."""
    ratios = []
    for stop in length.stops:
        scores, running = multiplication_counts(int(stop), width)
        more, less = max(scores, running), min(scores, running)
        label = "table_costs" if scores > running else "sum_costs" if scores < running else "equal_cost"
        ratios.append(t(label, times=f"{more / less:.3g}"))
    return sentence_parts(
        partial(t, "area_finding", equal=f"{2 * width - 1:,}", width=width),
        n=length.stop_text,
        costs=length.texts(ratios),
    )
