"""Two texts packed into one row, each counted from 0, and what the last word attends to with and without a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.packing import cumulative_lengths, packed_positions
from rope_core.theory.position_demo import attention_by_distance, last_token_distances
from ui.film import marks
from ui.film.colours import (
    BLUE,
    DISTANCE_COLOUR,
    GREY,
    KEY_COLOUR,
    MUTED_COLOUR,
    QUERY_COLOUR,
    TRAINED_COLOUR,
    UNSEEN_COLOUR,
)
from ui.film.composite_marks import TILE, drag_hint, position_ticks, span_bracket, word_tile
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextTrack
from ui.text.words import PageTexts

PACKED, CAT, SHORTEST, FIRST_CUT = 10, 1, 2, 6
"""Words of the row, the red word's place in the first text, a text's fewest words, and the first text's at first."""
CUTS = range(SHORTEST, PACKED - SHORTEST + 1)
LONGEST = PACKED - SHORTEST


def packed_text_attention(rope: rc.Rope, cuts: Sequence[int]) -> tuple[Array, Array]:
    """Return the last word's attention to every word of the row, texts kept apart and mixed, (cuts, PACKED) each."""
    apart, mixed = (
        np.array(way) for way in zip(*(last_token_distances((at, PACKED - at)) for at in cuts), strict=True)
    )
    alone, both = (np.array([attention_by_distance(rope, row) for row in way]) for way in (apart, mixed))
    return alone, both


def packed_text_panels(rope: rc.Rope, cut: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the row with its positions, and both texts over their positions without and with a mask."""
    cuts = list(map(int, cut.stops))
    alone, both = packed_text_attention(rope, cuts)
    return _row(cut, cuts, t), _overlap(cut, cuts, both, t, mask=False), _overlap(cut, cuts, alone, t, mask=True)


def _texts(cuts: Sequence[int], t: PageTexts) -> list[list[str]]:
    """Return the row's words at each boundary; the second text always ends with the same word."""
    first, second = t("words_first").split(), t("words_second").split()
    return [[*first[:at], *second[at - PACKED :]] for at in cuts]


def _row(cut: Control, cuts: Sequence[int], t: PageTexts) -> Panel:
    """Return the packed words over their positions, and the boundary that is dragged."""
    ids = np.array([packed_positions(cumulative_lengths([at, PACKED - at])) for at in cuts])
    rows, last = _texts(cuts, t), PACKED - 1
    edge = np.array(cuts, dtype=float) - 0.5
    here = cut.numbers(edge)
    drawn: list[Mark] = [marks.rect(here, last + 0.5, -0.95, 1.55, BLUE, opacity=0.1)]
    for k in range(PACKED):
        colour = {CAT: KEY_COLOUR, last: QUERY_COLOUR}.get(k, "")
        drawn += word_tile(float(k), 1.0, cut.texts(row[k] for row in rows), colour)
        number = cut.texts(map(str, ids[:, k].tolist()))
        frame: dict[str, Any] = {"outline": colour or GREY, "stroke_width": 2, "corner_px": 4}
        drawn.append(marks.rect(k - 0.2, k + 0.2, -0.65, 0.15, "paper", **frame))
        drawn.append(marks.text(float(k), -0.25, number, colour or "ink", bold=True, dy=6, font_size=16, halo=False))
    line = marks.line(cut.numbers(np.stack([edge, edge], axis=1)), [-0.95, 1.6], "ink", 3)
    start = np.where(np.array(cuts) == FIRST_CUT, edge, np.nan)[:, None]
    drawn += [
        marks.drag_handle(cut, here, -0.95, "ink", t("grab_boundary"), [line], radius_px=9),
        marks.text(-TILE, 1.62, t("first_text"), MUTED_COLOUR, anchor="start", bold=True, dy=-4, font_size=14),
        marks.text(here, 1.62, t("second_text"), BLUE, anchor="start", bold=True, dx=6, dy=-4, font_size=14),
        *marks.in_wide_panel(500, drag_hint(cut.numbers(start), 1.62, t("drag_border"), anchor="end", dx=-8, dy=-4)),
    ]
    return Panel(Axis(-0.55, PACKED - 0.45), Axis(-1.1, 2.1), drawn, min_width=2000, height=115)


def _overlap(cut: Control, cuts: Sequence[int], weights: Array, t: PageTexts, *, mask: bool) -> Panel:
    """Return both texts over their positions, and below them how the last word's attention is divided."""
    rows, counts = _texts(cuts, t), np.array(cuts)
    drawn: list[Mark] = []

    def place(k: int, there: np.ndarray) -> NumberTrack:
        return cut.numbers_where(there, float(k))

    home = cut.numbers(PACKED - counts - 1.0)
    for k in range(LONGEST):
        first = place(k, k < counts)
        text = cut.texts(row[k] if k < at else "" for row, at in zip(rows, cuts, strict=True))
        tile = word_tile(first, 2.0, text, "" if mask else {CAT: KEY_COLOUR}.get(k, ""))
        drawn += [mark | {"opacity": 0.1} if mask and mark["kind"] == "rect" else mark for mark in tile]
        second = place(k, k < PACKED - counts - 1)
        text = cut.texts(row[at + k] if k < PACKED - at - 1 else "" for row, at in zip(rows, cuts, strict=True))
        drawn += word_tile(second, 0.9, text)
    drawn += word_tile(home, 0.9, rows[0][-1], QUERY_COLOUR, font_size=14)
    drawn += position_ticks(range(LONGEST), -0.05)
    other = np.array([row[:at].sum() for row, at in zip(weights, cuts, strict=True)])
    wide = LONGEST - 0.1
    if mask:
        drawn.append(marks.line([-0.5, LONGEST - 0.5], [1.45, 1.45], TRAINED_COLOUR, 5))
        drawn.append(marks.text(LONGEST - 0.5, 2.6, t("the_mask"), TRAINED_COLOUR, anchor="end", bold=True))
    else:
        away = (PACKED - counts - 1 - CAT).tolist()
        texts = tuple(t("one_place_thinks") if each == 0 else t("thinks", words=each) for each in away)
        drawn += span_bracket(float(CAT), home, 2.65, "", 0.1)
        drawn.append(marks.text(-0.5, 3.05, cut.texts(texts), DISTANCE_COLOUR, anchor="start", bold=True, dy=-2))
    edge = cut.numbers(-0.45 + wide * other)
    colour = TRAINED_COLOUR if mask else UNSEEN_COLOUR
    parts = cut.texts(t("other_share", share=f"{100 * each:.0f}") for each in other.tolist())
    own = cut.texts(t("own_share", share=f"{100 - round(100 * each):.0f}") for each in other.tolist())
    drawn += [
        marks.text(-0.45, -0.75, t("homes_attention"), anchor="start", bold=True, font_size=14, dy=2),
        marks.rect(-0.45, -0.45 + wide, -1.95, -1.05, BLUE, opacity=0.2),
        *([] if mask else [marks.rect(-0.45, edge, -1.95, -1.05, UNSEEN_COLOUR)]),
        *([] if mask else [marks.text(-0.35, -1.5, parts, "black", anchor="start", bold=True, dy=5, halo=False)]),
        marks.text(-0.45 + wide - 0.1, -1.5, own, anchor="end", bold=True, dy=5),
        marks.text(-0.45, -2.4, t("parted" if mask else "not_parted"), colour, anchor="start", bold=True, dy=5),
    ]
    x = Axis(-0.55, LONGEST - 0.45)
    return Panel(x, Axis(-2.7, 3.4), drawn, t("with_mask" if mask else "without_mask"), min_width=330, height=245)


def packed_text_attention_finding(rope: rc.Rope, cut: Control, t: PageTexts) -> TextTrack:
    """Return how much of its attention the last word gives to the other text, and how near its red word seems."""
    cuts = list(map(int, cut.stops))
    _, both = packed_text_attention(rope, cuts)
    texts = []
    for at, row in zip(cuts, both, strict=True):
        away = PACKED - at - 1 - CAT
        words = t("one_word") if away == 1 else t("so_many_words", count=away)
        seems = t("seems_same") if away == 0 else t("seems", words=words)
        texts.append(t("packing_finding", share=f"{100 * float(row[:at].sum()):.0f}", seems=seems))
    return cut.texts(texts)
