"""The first picture of the page: a word's query, key and value at the position that the word is dragged to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

import rope_core as rc
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, UNSEEN_COLOUR, VALUE_COLOUR
from ui.film.composite_marks import (
    TOP,
    angle_wedge,
    drag_hint,
    ghost_tile,
    growing_word_row,
    link_curve,
    mark_angle_from_clock,
    offset,
    position_ticks,
    text_lines,
    word_tile,
    x_hidden_past_stop,
)
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack, sentence_parts
from ui.text.words import PageTexts

COLOURS = {"q": QUERY_COLOUR, "k": KEY_COLOUR, "v": VALUE_COLOUR}
CAT, START, FIRST, LAST = 1, 5, 3, 10
"""Where the red word stands, where the dragged one does at first, and the positions that it can have."""
CENTRES, NARROW = {"q": 2.35, "k": 5.75, "v": 9.15}, {"q": 1.12, "k": 3.36, "v": 5.6}
"""Where the circles stand on a wide and on a narrow screen, in radii."""
ACROSS = {True: 11.0, False: 6.72}
"""How wide the panel of the circles is on a wide and on a narrow screen, in radii."""
MARGIN = 0.55


def query_key_value_panels(rope: rc.Rope, token: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return a word's three vectors, for a wide and for a narrow screen, and the text that it is dragged along."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    return (
        *(_circles(token, theta, t, wide=wide) for wide in (True, False)),
        *(_text(token, t, wide=wide) for wide in (True, False)),
    )


def rotation_angle_text(token: Control, theta: float, less: int = 0) -> TextTrack:
    """Return by which angle a vector at the word's position, or ``less`` words before it, is turned."""
    return token.texts(degrees_text((stop - less) * theta) for stop in token.stops)


def rotation_angles_finding(rope: rc.Rope, token: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return how far the word's query and key have turned, and the other word's key."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    return sentence_parts(
        partial(t, "word_finding", own=degrees_text(CAT * theta)),
        m=token.stop_text,
        angle=rotation_angle_text(token, theta),
    )


def _circles(token: Control, theta: float, t: PageTexts, *, wide: bool) -> Panel:
    """Return the query, the key and the value as an arrow each, with where they point at position 0."""
    centres = CENTRES if wide else NARROW
    stops = np.array(token.stops)[:, None]
    drawn: list[Mark] = []
    for name, x in centres.items():
        colour = COLOURS[name]
        angle = token.numbers(stops * theta * (name != "v"))
        hand = marks.vector(x, 0.0, 0.96, mark_angle_from_clock(angle), colour, 7, has_head=True)
        drawn.append(marks.circle(x, 0.0, 1.0, GREY, 1.5))
        if name == "q":
            drawn += _between(x, token, theta, t, wide=wide)
        elif name == "k":
            drawn += [mark | {"opacity": 0.16} for mark in angle_wedge(x, 0.0, 0.96, 0.0, angle, colour)]
        if name == "v":
            drawn += _value_if_turned(x, token, theta, t, wide=wide)
        else:
            drawn.append(marks.vector(x, 0.0, 0.96, TOP, GREY, 2, True, stroke_dash="5 4"))
            drawn.append(marks.arc(x, 0.0, 0.45, TOP, mark_angle_from_clock(angle), colour, 3))
        hand = marks.link_symbol(name, hand)
        drawn.append(
            marks.turn_handle(
                token, x, 0.0, 0.96, mark_angle_from_clock(angle), colour, t("grab_query"), [hand], radius_px=0
            )
            if name == "q"
            else hand
        )
        if name == "q":
            drawn.append(marks.vector(x, 0.0, 0.92, TOP - CAT * theta, KEY_COLOUR, 4, has_head=True))
        drawn += _names(name, x, token, theta, t, wide=wide)
    if wide:
        drawn += text_lines(0.0, 0.3, t("each_arrow").split("|"), MUTED_COLOUR, step=18, anchor="start", font_size=14)
        drawn += _heading(centres, t)
    else:
        drawn += [
            marks.text(x, 1.34, t(label), bold=True, font_size=15, dy=-8)
            for x, label in (((centres["q"] + centres["k"]) / 2, "compared_short"), (centres["v"], "handed_on_short"))
        ]
    across = Axis(0.0, ACROSS[wide])
    y = Axis(-1.6, 1.58) if wide else Axis(-2.85, 1.8)
    return Panel(across, y, drawn, min_width=2000, height=300, equal_aspect=True, screen="wide" if wide else "narrow")


def _value_if_turned(x: float, token: Control, theta: float, t: PageTexts, *, wide: bool) -> list[Mark]:
    """Return where the value would point if it were turned like the others, dashed, and what that would be."""
    angle = token.numbers(np.array(token.stops)[:, None] * theta)
    # In a phone's circle the words stand left, where the arrow that would be turned does not come.
    at, words = ((x, -0.3), t("if_turned")) if wide else ((x - 0.53, 0.02), t("if_turned_short"))
    lines = text_lines(*at, words.split("|"), UNSEEN_COLOUR, step=15, font_size=13)
    return [marks.vector(x, 0.0, 0.96, mark_angle_from_clock(angle), UNSEEN_COLOUR, 2, True, stroke_dash="5 4"), *lines]


def _heading(centres: Mapping[str, float], t: PageTexts) -> list[Mark]:
    """Return what is done with the vectors, over brackets."""
    drawn = []
    for first, last, label in (("q", "k", "compared"), ("v", "v", "handed_on")):
        left, right = centres[first] - 1.0, centres[last] + 1.0
        drawn.append(marks.line([left, left, right, right], [1.26, 1.34, 1.34, 1.26], GREY, 1.5))
        drawn.append(marks.text((left + right) / 2, 1.34, t(label), bold=True, dy=-7))
    return drawn


def _between(x: float, token: Control, theta: float, t: PageTexts, *, wide: bool) -> list[Mark]:
    """Return the slice between the other word's key and the query, with its angle and the key's name."""
    stops, own = np.array(token.stops), CAT * theta
    middle = (stops * theta + own) / 2
    along, up = (token.numbers(1.1 * part(middle)[:, None]) for part in (np.sin, np.cos))
    apart = sentence_parts(partial(t, "apart"), angle=rotation_angle_text(token, theta, CAT))
    key_x, key_y = x + 1.06 * np.sin(own), 1.06 * np.cos(own)
    name = t("cats_key", own=degrees_text(own)) if wide else t("cats_key_short")
    below = sentence_parts(partial(t, "apart_long"), angle=rotation_angle_text(token, theta, CAT))
    written = marks.text(offset(along, x), up, apart, DISTANCE_COLOUR, anchor="start", bold=True, dy=8)
    return [
        *angle_wedge(x, 0.0, 0.98, own, token.numbers(stops[:, None] * theta)),
        marks.text(key_x, key_y, name, KEY_COLOUR, anchor="start", bold=True, font_size=15, dy=-4),
        written if wide else marks.text(NARROW["k"], -1.0, below, DISTANCE_COLOUR, bold=True, font_size=15, dy=92),
    ]


def _names(name: str, x: float, token: Control, theta: float, t: PageTexts, *, wide: bool) -> list[Mark]:
    """Return what a vector is called, how far it has turned and what it is for."""
    colour, far = COLOURS[name], rotation_angle_text(token, theta)
    angle = t("stands_still") if name == "v" else sentence_parts(partial(t, "turned_by"), angle=far)
    head = t(f"head_{name}")
    rows = [[head, t("colon"), *([angle] if isinstance(angle, str) else angle)]] if wide else [[head], angle]
    lines = text_lines(x, -1.0, rows, colour, step=20, dy=25, bold=True, font_size=18 if wide else 15)
    use, size, dy = (f"for_{name}", 15, 47) if wide else (f"for_{name}_short", 13, 66)
    lines.append(marks.text(x, -1.0, t(use), MUTED_COLOUR, font_size=size, dy=dy))
    at = t("at_every" if name == "v" else "at_zero")
    if name == "q" and wide:
        lines.append(marks.text(x - 0.08, 1.0, at, MUTED_COLOUR, anchor="end", font_size=14, dy=-7))
    elif name == "v" or (name == "k" and wide):
        lines.append(marks.text(x, 1.0, at, colour if name == "v" else MUTED_COLOUR, font_size=14, dy=-7))
    return lines


def _text(token: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return the text, the word that is dragged along it, and lines from the word to its vectors."""
    rows = [row.split() for row in t("rows").split("|")]
    here = token.stop_number
    word, width = rows[-1][-1], LAST + 2 * MARGIN
    up = [
        link_curve(x / ACROSS[True] * width - MARGIN, 1.5, here, 0.55, COLOURS[name], opacity=0.6)
        for name, x in CENTRES.items()
    ]
    shown = [
        *(up if wide else ()),
        *growing_word_row(token, rows, 0.0, {CAT: KEY_COLOUR}),
        *(ghost_tile(x_hidden_past_stop(token, START, LAST), 0.0, word) if wide else ()),
        drag_hint(x_hidden_past_stop(token, START, START + 0.7), 0.0, t("drag_mat"), dy=6),
        *position_ticks(range(LAST + 1), -0.9, {CAT: KEY_COLOUR}),
        marks.drag_handle(token, here, 0.0, "ink", t("grab"), word_tile(here, 0.0, word, "ink"), radius_px=0),
    ]
    x, y, screen = Axis(-MARGIN, LAST + MARGIN), Axis(-0.95, 1.5 if wide else 0.55), "wide" if wide else "narrow"
    return Panel(x, y, shown, min_width=2000, height=88 if wide else 54, screen=screen)
