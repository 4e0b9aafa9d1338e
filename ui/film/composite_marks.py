"""Marks made of others, which several pages share: words over their positions, dials, brackets, links, verdicts.

Angles on a page go the clock's way from the top; `mark_angle_from_clock` turns them into those of marks. Every
function returns a list of marks, from the back to the front. Numbers may be tracks where the argument says
`NumbersOrTrack`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ui.film import marks
from ui.film.colours import (
    ACTION_COLOUR,
    DISTANCE_COLOUR,
    GREY,
    MUTED_COLOUR,
    TRAINED_COLOUR,
    UNSEEN_COLOUR,
    text_colour_on,
)
from ui.film.marks import NumbersOrTrack
from ui.film.scene import Control, Mark, NumberTrack, TextOrTrack, TextTrack

TILE = 0.46
"""Half the width of a word's tile, in positions."""
LINK_POINTS = np.linspace(0.0, 1.0, 24)
TOP = np.pi / 2


def offset(value: NumbersOrTrack, by: float) -> NumbersOrTrack:
    """Return numbers, plain or at every stop, with ``by`` added."""
    if isinstance(value, NumberTrack):
        return NumberTrack(value.drivers, value.keyframes + by)
    return np.asarray(value) + by


def mark_angle_from_clock(angle: NumbersOrTrack) -> NumbersOrTrack:
    """Return a mark's angle (rad, counter-clockwise from the right) from one that goes the clock's way from the top.

    >>> float(mark_angle_from_clock(np.pi / 2))
    0.0
    """
    if isinstance(angle, NumberTrack):
        return NumberTrack(angle.drivers, TOP - angle.keyframes)
    return TOP - np.asarray(angle)


def word_tile(
    x: NumbersOrTrack, y: float, content: TextOrTrack, colour: str = "", half_height: float = 0.5, **style: Any
) -> list[Mark]:
    """Return a word in a tile about (x, y): grey, or white bold letters on ``colour``."""
    left, right = offset(x, -TILE), offset(x, TILE)
    tile = marks.rect(left, right, y - half_height, y + half_height, colour or GREY, corner_px=5)
    letters = {"bold": True, "halo": False, "font_size": 16} if colour else {"font_size": 15, "halo": False}
    tile |= {} if colour else {"opacity": 0.18}
    ink = {"": "ink", "ink": "paper"}.get(colour) or text_colour_on(colour)
    return [tile, marks.text(x, y, content, ink, dy=5, **(letters | style))]


def ghost_tile(x: NumbersOrTrack, y: float, content: TextOrTrack, half_height: float = 0.5) -> list[Mark]:
    """Return the dashed outline of a tile: where a word is to be dragged."""
    edge: dict[str, Any] = {"outline": ACTION_COLOUR, "stroke_dash": "5 4", "corner_px": 5}
    tile = marks.rect(offset(x, -TILE), offset(x, TILE), y - half_height, y + half_height, "none", **edge)
    return [tile, marks.text(x, y, content, ACTION_COLOUR, dy=5, font_size=15)]


def word_row(
    words: Sequence[TextOrTrack], positions: Sequence[NumbersOrTrack], y: float, colours: Mapping[int, str] = {}
) -> list[Mark]:
    """Return words in tiles over their positions; ``colours``: of chosen ones, by their index. nan hides a tile."""
    each = enumerate(zip(words, positions, strict=True))
    return [mark for k, (word, x) in each for mark in word_tile(x, y, word, colours.get(k, ""))]


def growing_word_row(
    control: Control, rows: Sequence[Sequence[str]], y: float, colours: Mapping[int, str] = {}
) -> list[Mark]:
    """Return the words before each row's last in tiles over their positions; ``rows``: one for each stop."""
    places = range(len(rows[-1]) - 1)
    words = [TextTrack((control,), tuple(row[k] if k < len(row) - 1 else "" for row in rows)) for k in places]
    shown = [NumberTrack((control,), np.array([[k if k < len(row) - 1 else np.nan] for row in rows])) for k in places]
    return word_row(words, shown, y, colours)


def x_hidden_past_stop(control: Control, stop: float, x: float) -> NumberTrack:
    """Return a place that is there until the control is moved past ``stop``."""
    return NumberTrack((control,), np.where(np.array(control.stops) <= stop, x, np.nan)[:, None])


def position_ticks(positions: Sequence[int], y: float, highlighted: Mapping[int, str] = {}) -> list[Mark]:
    """Return the numbers of positions below a row of words; chosen ones bold in a colour."""
    return [
        marks.text(float(k), y, str(k), highlighted.get(k, MUTED_COLOUR), bold=k in highlighted, font_size=14)
        for k in positions
    ]


def span_bracket(
    x0: NumbersOrTrack, x1: NumbersOrTrack, y: float, content: TextOrTrack = "", thickness: float = 0.2
) -> list[Mark]:
    """Return a bracket from x0 to x1 in the colour of distances, with a text below its middle."""
    sides = [value.keyframes if isinstance(value, NumberTrack) else np.asarray(value) for value in (x0, x1)]
    drivers = next((value.drivers for value in (x1, x0) if isinstance(value, NumberTrack)), ())
    middle = NumberTrack(drivers, (sides[0] + sides[1]) / 2) if drivers else (sides[0] + sides[1]) / 2
    band = marks.rect(x0, x1, y, y + thickness, DISTANCE_COLOUR, opacity=0.45)
    ends = [
        marks.rect(offset(x, -0.02), offset(x, 0.02), y - thickness, y + 2 * thickness, DISTANCE_COLOUR)
        for x in (x0, x1)
    ]
    words = [marks.text(middle, y, content, DISTANCE_COLOUR, bold=True, font_size=17, dy=24)] if content else []
    return [band, *ends, *words]


def dial_marks(
    x: float,
    y: float,
    radius: float,
    angle: NumbersOrTrack,
    colour: str = "ink",
    *,
    trained_angle: float | None = None,
    stroke_width: float = 6,
    ring: bool = True,
    arrow: bool = True,
    **style: Any,
) -> list[Mark]:
    """Return a circle with an arrow at ``angle`` (rad, the clock's way from the top).

    ``trained_angle``: the greatest angle of training; its arc is green, the rest of the ring is hatched. ``arrow``:
    whether the arrow is drawn; it is not where it is a handle of its own.
    """
    back = [marks.circle(x, y, radius, GREY, 1.5, **style)] if ring else []
    if trained_angle is not None and trained_angle < 2 * np.pi:
        unseen = {"inner_radius": 0.84 * radius, "fill_pattern": "hatch"}
        back.append(marks.wedge(x, y, radius, TOP - trained_angle, TOP - 2 * np.pi, UNSEEN_COLOUR, **unseen, **style))
    if trained_angle is not None:
        end = TOP - min(trained_angle, 2 * np.pi)
        back.append(marks.wedge(x, y, radius, TOP, end, TRAINED_COLOUR, inner_radius=0.84 * radius, **style))
    hand = marks.vector(x, y, 0.97 * radius, mark_angle_from_clock(angle), colour, stroke_width, has_head=True, **style)
    return [*back, *([hand] if arrow else []), marks.dot([x], [y], "ink", stroke_width / 1.2)]


def angle_wedge(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    radius: float,
    start: NumbersOrTrack,
    end: NumbersOrTrack,
    colour: str = DISTANCE_COLOUR,
) -> list[Mark]:
    """Return the slice between two angles (rad, the clock's way from the top), in the colour of distances."""
    return [marks.wedge(x, y, radius, mark_angle_from_clock(start), mark_angle_from_clock(end), colour, opacity=0.45)]


def link_curve(x0: NumbersOrTrack, y0: float, x1: NumbersOrTrack, y1: float, colour: str, **style: Any) -> Mark:
    """Return a smooth curve down from (x0, y0) to (x1, y1), of 24 points (D3: link)."""
    ease = LINK_POINTS * LINK_POINTS * (3 - 2 * LINK_POINTS)
    given = [value.keyframes if isinstance(value, NumberTrack) else np.atleast_1d(value) for value in (x0, x1)]
    drivers = next((value.drivers for value in (x0, x1) if isinstance(value, NumberTrack)), ())
    x = given[0] * (1 - ease) + given[1] * ease
    path: NumbersOrTrack = NumberTrack(drivers, x) if drivers else x
    return marks.line(path, y0 + (y1 - y0) * LINK_POINTS, colour, **{"stroke_width": 2, **style})


TINTS = (8, 16, 26, 36, 46, 56)
"""Shares of a colour in a cell, percent: black and white letters are legible on all of them."""


def bracketed_matrix(
    entries: Sequence[Sequence[TextOrTrack]],
    sizes: NumbersOrTrack,
    x: float,
    y: float,
    colour: str | Sequence[str],
    *,
    cell: float = 1.0,
    width: float = 0.0,
    font_size: int = 17,
) -> list[Mark]:
    """Return a matrix of written numbers between brackets, its top left corner at (x, y), rows downward.

    ``sizes``: (rows * columns) of 0 to 1, how strongly each cell is tinted, at every stop where they are a track;
    ``colour``: of all cells, or of each row; an entry "" is a zero and its cell an outline; ``width``: of a cell where
    it is no square.
    """
    rows, columns, wide = len(entries), len(entries[0]), width or cell
    across, down = np.tile(np.arange(columns), rows), np.repeat(np.arange(rows), columns)
    left, top = x + across * wide, y - down * cell
    given = sizes.keyframes if isinstance(sizes, NumberTrack) else np.asarray(sizes)
    of_rows = [colour] * rows if isinstance(colour, str) else list(colour)
    colours = list(dict.fromkeys(of_rows))
    first = np.repeat([colours.index(each) * len(TINTS) for each in of_rows], columns)
    levels = (first + np.rint(np.clip(given, 0.0, 1.0) * (len(TINTS) - 1))).astype(np.int8)
    shades = [f"color-mix(in srgb, {each} {share}%, transparent)" for each in colours for share in TINTS]
    gap = 0.03 * cell
    written = np.array([content != "" for row in entries for content in row])

    def tiles(which: Any, *look: Any, **style: Any) -> Mark:
        edges = left[which] + gap, left[which] + wide - gap, top[which] - cell + gap, top[which] - gap
        return marks.rect(*edges, *look, **style)

    shown = levels[..., written]
    index: NumbersOrTrack = NumberTrack(sizes.drivers, shown) if isinstance(sizes, NumberTrack) else shown
    drawn = [tiles(written, shades, index, corner_px=4)]
    if not written.all():
        drawn.append(tiles(~written, GREY, opacity=0.08, corner_px=4))
    drawn += [
        marks.text(
            x + (j + 0.5) * wide, y - (i + 0.5) * cell, content, font_size=font_size, dy=6, halo=False, bold=True
        )
        for i, row in enumerate(entries)
        for j, content in enumerate(row)
        if content != ""
    ]
    high, lip = rows * cell, 0.12 * cell
    for side, inward in ((x, lip), (x + columns * wide, -lip)):
        ends = [side + inward / 2, side - inward / 2, side - inward / 2, side + inward / 2]
        drawn.append(marks.line(ends, [y + lip / 2, y + lip / 2, y - high - lip / 2, y - high - lip / 2], "ink", 2))
    return drawn


def verdict_marks(
    x: NumbersOrTrack, y: NumbersOrTrack, right: TextOrTrack, wrong: TextOrTrack = "", **style: Any
) -> list[Mark]:
    """Return a text in green and one in amber at one point, of which one is empty at every stop: ✓ or ✗ and words."""
    look = {"bold": True, "anchor": "start", "font_size": 17} | style
    return [marks.text(x, y, right, TRAINED_COLOUR, **look), marks.text(x, y, wrong, UNSEEN_COLOUR, **look)]


def verdict_where(
    control: Control,
    is_right: Iterable[bool],
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    right: str | Sequence[str],
    wrong: str | Sequence[str],
    **style: Any,
) -> list[Mark]:
    """Return a verdict that is ``right`` or ``wrong`` at every stop of a control; one text for all, or one for each."""
    flags = list(is_right)
    good, bad = ([each] * len(flags) if isinstance(each, str) else each for each in (right, wrong))
    shown = control.texts(text if flag else "" for flag, text in zip(flags, good, strict=True))
    other = control.texts("" if flag else text for flag, text in zip(flags, bad, strict=True))
    return verdict_marks(x, y, shown, other, **style)


def text_lines(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    lines: Sequence[TextOrTrack],
    colour: str = "ink",
    *,
    step: float = 19,
    dy: float = 0,
    **style: Any,
) -> list[Mark]:
    """Return lines of text below each other, ``step`` px apart, the first moved ``dy`` px."""
    return [marks.text(x, y, line, colour, dy=dy + step * k, **style) for k, line in enumerate(lines)]


def turnable_hand(
    control: Control, x: float, y: float, length: float, angle: NumbersOrTrack, colour: str, label: str, width: int = 6
) -> Mark:
    """Return an arrow at ``angle`` (rad, the clock's way from the top) that turns a control, grabbed all along it."""
    hand = marks.vector(x, y, length, mark_angle_from_clock(angle), colour, width, has_head=True)
    return marks.turn_handle(control, x, y, length, mark_angle_from_clock(angle), colour, label, [hand], radius_px=0)


def drag_hint(x: NumbersOrTrack, y: NumbersOrTrack, content: TextOrTrack, **style: Any) -> Mark:
    """Return what is to be dragged, with a hand, in the colour of hints."""
    parts = [content] if isinstance(content, str | NumberTrack) or not isinstance(content, Sequence) else [*content]
    look = {"anchor": "start", "font_size": 16, "bold": True} | style
    return marks.text(x, y, ["☞ ", *parts], ACTION_COLOUR, **look)
