"""The first picture of the page: fillers in front of a text that are counted for stored words, not for the new one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.theory.position_demo import stored_and_new_positions
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import (
    TILE,
    angle_wedge,
    drag_hint,
    link_curve,
    mark_angle_from_clock,
    position_ticks,
    text_lines,
    verdict_where,
    word_tile,
    x_hidden_past_stop,
)
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack, sentence_parts
from ui.text.words import PageTexts

STORED, CAT, START, MOST = 5, 1, 2, 4
"""Words whose keys are stored, the red one's place among them, and how many fillers stand in front."""
COLOURS = {CAT: KEY_COLOUR, STORED: QUERY_COLOUR}
ROW, NUMBER, NEW, BELIEVED, TRUE, READ = 9.2, 7.5, 4.3, 3.25, 1.3, 0.45
"""How high the rows of the picture are."""


def filler_position_panels(rope: rc.Rope, fillers: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the row of words with their numbers, and both arrows, for a wide and for a narrow screen."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    wide = (_rows(fillers, t, wide=True), _dial(fillers, theta, t, wide=True))
    return (*wide, _rows(fillers, t, wide=False), _dial(fillers, theta, t, wide=False))


def filler_distance_finding(fillers: Control, t: PageTexts) -> TextTrack:
    """Return how far apart the two words are taken for, at every number of fillers."""
    texts = [t("right_finding", true=STORED - CAT)]
    for count, counted in zip(_counts(fillers)[1:-1], t("counted").split("|"), strict=True):
        stored, new = stored_and_new_positions(STORED, count)
        texts.append(t("fillers_finding", counted=counted, apart=_words(int(new - stored[CAT]), t), true=STORED - CAT))
    return fillers.texts((*texts, t("same_finding")))


def _words(count: int, t: PageTexts) -> str:
    """Return a number of words, in words."""
    return t("one_word") if count == 1 else t("so_many_words", count=count)


def _counts(fillers: Control) -> list[int]:
    return list(map(int, fillers.stops))


def _numbers(fillers: Control) -> np.ndarray:
    """Return each word's number, the new word's last, (stops, words)."""
    each = [stored_and_new_positions(STORED, count) for count in _counts(fillers)]
    return np.array([[*stored, new] for stored, new in each])


def _rows(fillers: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return the words behind the fillers, the number that each comes with, and its place for RoPE."""
    words, numbers = t("words_padded").split(), _numbers(fillers)
    places = np.array(_counts(fillers))[:, None] + np.arange(STORED + 1)
    row = [fillers.numbers(places[:, [k]]) for k in range(STORED + 1)]
    given = [fillers.numbers(numbers[:, [k]]) for k in range(STORED + 1)]
    tiles = [mark for k, word in enumerate(words) for mark in word_tile(row[k], ROW, word, COLOURS.get(k, ""))]
    drawn: list[Mark] = _fillers(fillers, t)
    for k in (0, 2, 3, 4, CAT, STORED):
        colour, width = COLOURS.get(k, GREY), 3 if k in COLOURS else 1.5
        drawn.append(link_curve(row[k], ROW - 0.5, row[k], NUMBER + 0.5, colour, stroke_width=width))
        goal = BELIEVED if k < STORED else NEW
        way = link_curve(row[k], NUMBER - 0.5, given[k], goal + 0.5, colour, stroke_width=width)
        drawn.append(way if k in COLOURS else way | {"stroke_dash": "4 4"})
    for k, word in enumerate(words):
        colour = COLOURS.get(k, GREY)
        drawn.append(_box(row[k], NUMBER, colour))
        text = fillers.texts(map(str, numbers[:, k].tolist()))
        drawn.append(marks.text(row[k], NUMBER, text, colour, bold=True, font_size=18, dy=6, halo=False))
        drawn += word_tile(given[k], BELIEVED if k < STORED else NEW, word, COLOURS.get(k, ""))
    drawn += [
        *_counted(fillers, t, wide=wide),
        *position_ticks(range(STORED + MOST + 1), BELIEVED - 1.05),
        *_distances(fillers, given, t, wide=wide),
        drag_hint(x_hidden_past_stop(fillers, START, 2.6 if wide else -0.5), ROW + 0.95, t("drag_words"), dy=4),
        marks.drag_handle(fillers, row[2], ROW, QUERY_COLOUR, t("grab_words"), tiles, radius_px=0),
    ]
    if wide:
        for y, label in ((ROW, "row_head"), (NUMBER, "number_head"), (BELIEVED, "believed_head")):
            drawn += text_lines(-3.3, y, t(label).split("|"), dy=-4, anchor="start", bold=True, font_size=15)
    return Panel(
        Axis(-3.35, 11.0) if wide else Axis(-0.55, 9.75),
        Axis(0.0, 10.5),
        drawn,
        min_width=600 if wide else 330,
        width_share=3.0,
        height=372 if wide else 300,
        screen="wide" if wide else "narrow",
    )


def _box(x: NumberTrack, y: float, colour: str) -> Mark:
    """Return the frame of a number."""
    return marks.rect(x - 0.36, x + 0.36, y - 0.46, y + 0.46, "paper", outline=colour, stroke_width=2, corner_px=4)


def _fillers(fillers: Control, t: PageTexts) -> list[Mark]:
    """Return a dashed tile for each filler."""
    drawn: list[Mark] = []
    for k in range(MOST):
        x = fillers.numbers_where(k < np.array(_counts(fillers)), k)
        look: dict[str, Any] = {"outline": GREY, "stroke_dash": "4 3", "corner_px": 5}
        drawn.append(marks.rect(x - TILE, x + TILE, ROW - 0.5, ROW + 0.5, "none", **look))
        drawn.append(marks.text(x, ROW, t("fill"), MUTED_COLOUR, font_size=14, dy=5))
    return drawn


def _counted(fillers: Control, t: PageTexts, *, wide: bool) -> list[Mark]:
    """Return which numbers the fillers were counted in, under a bracket, and which not."""
    some = np.array([[count if count else np.nan] for count in _counts(fillers)], dtype=float)
    y, ends = NUMBER - 0.72, np.array([-0.4, -0.4, STORED - 0.6, STORED - 0.6])
    middle, new = (fillers.numbers(some + by) for by in (STORED / 2 - 0.5, STORED + 0.0))
    beside = fillers.numbers(some + STORED + 0.5)
    look: dict[str, Any] = {"bold": True, "font_size": 15}
    short: dict[str, Any] = {"anchor": "end", "dx": -5, "dy": -5, "bold": True, "font_size": 14}
    notes = t("not_counted").split("|")
    return [
        marks.line(fillers.numbers(some + ends), [y + 0.15, y, y, y + 0.15], UNSEEN_COLOUR, 2),
        marks.text(middle, y, t("counted_in" if wide else "counted_short"), UNSEEN_COLOUR, dy=17, **look),
        *(
            text_lines(beside, NUMBER, notes, QUERY_COLOUR, step=18, dy=-4, anchor="start", **look)
            if wide
            else [marks.text(new, NUMBER + 0.5, notes[-1], QUERY_COLOUR, **short)]
        ),
    ]


def _distances(fillers: Control, given: list[NumberTrack], t: PageTexts, *, wide: bool) -> list[Mark]:
    """Return the words' true distance and the one that RoPE takes for it, as lines with words."""
    read = _numbers(fillers)[:, STORED] - _numbers(fillers)[:, CAT]
    good, bad = ([f"{sign} {_words(each, t)}" for each in read.tolist()] for sign in "✓✗")
    ends = fillers.numbers(np.stack([given[CAT].keyframes[:, 0], given[STORED].keyframes[:, 0]], axis=1))
    stand = [fillers.numbers(np.array(_counts(fillers))[:, None] + place) for place in (CAT, STORED)]
    both = fillers.numbers(np.concatenate([each.keyframes for each in stand], axis=1).astype(float))
    x, true = fillers.numbers(stand[1].keyframes + 0.4), _words(STORED - CAT, t)
    middle = fillers.numbers(both.keyframes.mean(axis=1, keepdims=True))
    drawn = [
        marks.line(both, [TRUE, TRUE], GREY, 2, "5 4"),
        marks.line(ends, [READ, READ], DISTANCE_COLOUR, 5),
        marks.text(x, TRUE, true, MUTED_COLOUR, anchor="start", bold=True, dy=6)
        if wide
        else marks.text(middle, TRUE, t("in_truth", words=true), MUTED_COLOUR, bold=True, font_size=14, dy=-5),
        *verdict_where(fillers, read == STORED - CAT, x if wide else STORED + 0.4, READ, good, bad, dy=6),
    ]
    for end in stand:
        ends = fillers.numbers(np.repeat(end.keyframes, 2, axis=1).astype(float))
        drawn.append(marks.line(ends, [TRUE - 0.18, TRUE + 0.18], GREY, 2))
    heads = (("true_head", TRUE, MUTED_COLOUR), ("read_head", READ, DISTANCE_COLOUR))
    if wide:
        drawn += [
            marks.text(-3.3, y, t(label), c, anchor="start", bold=True, font_size=15, dy=6) for label, y, c in heads
        ]
    else:
        look: dict[str, Any] = {"anchor": "end", "bold": True, "font_size": 14, "dx": 8, "dy": 6}
        drawn.append(marks.text(CAT - 0.5, READ, t("for_rope"), DISTANCE_COLOUR, **look))
    return drawn


def _dial(fillers: Control, theta: float, t: PageTexts, *, wide: bool) -> Panel:
    """Return the two words' arrows, turned by their numbers, and the angle between them."""
    numbers = _numbers(fillers)
    cat, mat = (fillers.numbers(numbers[:, [k]] * theta) for k in (CAT, STORED))
    lines: list[tuple[TextOrTrack, str]] = []
    for k, label in ((CAT, "cat_turned"), (STORED, "mat_turned")):
        number = fillers.texts(map(str, numbers[:, k].tolist()))
        angle = fillers.texts(degrees_text(each * theta) for each in numbers[:, k].tolist())
        lines.append((sentence_parts(partial(t, label), number=number, angle=angle), COLOURS[k]))
    between = (numbers[:, STORED] - numbers[:, CAT]).tolist()
    apart = (t("apart_by", angle=degrees_text(each * theta)) if each else t("same_turn") for each in between)
    lines.append((fillers.texts(apart), DISTANCE_COLOUR))
    x, y, at = (0.0, -1.0, (30, 54, 82)) if wide else (1.3, 0.0, (-22, 4, 32))
    return Panel(
        Axis(-1.35, 1.35) if wide else Axis(-1.1, 5.2),
        Axis(-2.15, 1.3) if wide else Axis(-1.1, 1.25),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
            *angle_wedge(0.0, 0.0, 0.8, cat, mat),
            marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(cat), KEY_COLOUR, 9, has_head=True),
            marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(mat), QUERY_COLOUR, 4, has_head=True),
            marks.text(0.0, 1.0, t("number_zero"), MUTED_COLOUR, font_size=14, dy=-7),
            *(
                marks.text(x, y, line, colour, bold=True, dy=dy, anchor="middle" if wide else "start")
                for (line, colour), dy in zip(lines, at, strict=True)
            ),
        ],
        t("dial_title", step=degrees_text(theta)),
        min_width=230 if wide else 330,
        height=310 if wide else 125,
        equal_aspect=True,
        screen="wide" if wide else "narrow",
    )
