"""Cached keys and values under the hand, with a query that comes later, and the output that they add up to."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.block.demo import shifted_outputs
from rope_core.theory.demo import drawn_vectors
from ui.figures.block.vectors import COLOURS
from ui.figures.home import single
from ui.film import marks
from ui.film.colours import GREY, PURPLE, QUERY_COLOUR, SKY
from ui.film.composite_marks import TILE, TOP, clock_angle, word_tile
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack, sentence_parts
from ui.text.words import Words

TOKENS, LATER, SHIFTS = 4, 100, 16
"""How many tokens the cache holds, how many words after them a query comes at most, and how far the text moves."""
LAST = TOKENS - 1 + LATER
REST = 2.2
"""How wide the text after the cache is drawn, in words of the cache."""
ROW = 60
KEPT = 0.3
"""The length of an arrow, over the height of a row."""
ROWS = {"q": 3.0, "k": 2.0, "v": 1.0}


def directions() -> dict[str, Array]:
    """Return where the drawn pair of each token's query, key and value points before any turn, (TOKENS,) rad."""
    drawn = drawn_vectors(2, 3 * TOKENS).reshape(3, TOKENS, 2)
    return {name: np.arctan2(part[:, 1], part[:, 0]) for name, part in zip("qkv", drawn, strict=True)}


def places(positions: Array) -> Array:
    """Return where positions are along the text: the cache's one apart, the rest closer together."""
    return np.asarray(np.minimum(positions, TOKENS) + REST * np.maximum(positions - TOKENS, 0) / (LAST - TOKENS))


def text(rope: rc.Rope, later: Control, t: Words) -> Panel:
    """Return the cache, in each column a key and a value over their word, and a query that comes later."""
    theta, points, every = float(rope.theta[single(rope)]), directions(), np.arange(TOKENS)
    far = TOKENS - 1 + np.array(later.stops)
    words = t("words").split()
    there = NumberTrack((later,), places(far)[:, None])
    new = word_tile(there, 0.0, words[TOKENS], QUERY_COLOUR, 0.3)
    still: list[Mark] = [
        marks.rect(-0.5, TOKENS - 0.5, 0.5, 2.5, GREY, opacity=0.15),
        marks.rect(every - TILE, every + TILE, -0.3, 0.3, GREY, opacity=0.3),
        *(marks.text(float(k), 0.0, each, dy=5) for k, each in enumerate(words[:TOKENS])),
        marks.text((TOKENS - 1) / 2, 3.0, t("kept"), bold=True, dy=14),
    ]
    for name, y in ROWS.items():
        still.append(marks.text(-0.62, y, t(f"head_{name}"), COLOURS[name], anchor="end", bold=True, dy=5))
        if name != "q":
            angles, column = points[name] + every * theta * (name == "k"), np.full(TOKENS, y)
            still += [_ring(every, column), _arrow(name, every, column, angles)]
    new.append(_arrow("q", there, ROWS["q"], NumberTrack((later,), (points["q"][0] + far * theta)[:, None])))
    ticked = np.array([*every, 50, LAST])
    ticks = tuple(sorted([*zip(places(ticked).tolist(), map(str, ticked), strict=True), (TOKENS - 0.4, "⋯")]))
    return Panel(
        Axis(-1.6, TOKENS + REST + 0.55, ticks, t("place_axis", last=TOKENS - 1), grid=False),
        Axis(-0.4, 3.5),
        [
            *still,
            _ring(there, ROWS["q"]),
            marks.drag_handle(later, there, 0.0, QUERY_COLOUR, t("grab_new"), new, radius_px=0),
        ],
        min_width=2000,
        height=4 * ROW,
        first_beat=2,
        last_beat=2,
    )


def _ring(x: marks.NumbersOrTrack, y: marks.NumbersOrTrack) -> Mark:
    return marks.circle(x, y, KEPT, GREY, 1, length_unit="y")


def _arrow(name: str, x: marks.NumbersOrTrack, y: marks.NumbersOrTrack, angle: marks.NumbersOrTrack) -> Mark:
    arrow = marks.vector(x, y, KEPT, clock_angle(angle), COLOURS[name], 4, has_head=True, length_unit="y")
    return marks.link_symbol(name, arrow)


def turns(rope: rc.Rope) -> tuple[Array, Array]:
    """Return how far the output's drawn pair has turned as the text moves, (SHIFTS + 1,) rad: v plain, v turned too."""
    moved, first = shifted_outputs(rope, np.arange(SHIFTS + 1)), 2 * single(rope)
    plain, also = (np.unwrap(np.arctan2(*part[:, [first + 1, first]].T)) for part in (moved.plain, moved.rotated))
    return plain - plain[0], also - also[0]


def output(rope: rc.Rope, moved: Control, t: Words) -> Panel:
    """Return how far the output has turned once the text has moved, with v as it is and with v turned too."""
    still, goes = (NumberTrack((moved,), TOP - each[:, None]) for each in turns(rope))
    sky = marks.vector(0.0, 0.0, 0.95, goes, SKY, 6, has_head=True)
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-2.3, 1.15),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
            marks.arc(0.0, 0.0, 0.4, TOP, goes, SKY, 5),
            marks.link_symbol("o", marks.vector(0.0, 0.0, 0.95, still, PURPLE, 6, has_head=True)),
            marks.turn_handle(moved, 0.0, 0.0, 0.95, goes, SKY, t("grab_output"), [sky], radius_px=0),
            marks.text(0.0, -1.0, t("v_plain"), PURPLE, bold=True, dy=22),
            marks.text(0.0, -1.0, t("v_rotated"), SKY, bold=True, dy=42),
        ],
        t("output_title"),
        min_width=105,
        width_share=0.6,
        height=270,
        equal_aspect=True,
        first_beat=3,
    )


def findings(rope: rc.Rope, later: Control, moved: Control, t: Words) -> tuple[TextOrTrack, ...]:
    """Return what is read below: the query's way, and how far each output has turned."""
    theta = float(rope.theta[single(rope)])
    far = TOKENS - 1 + np.array(later.stops)
    plain, also = map(np.degrees, turns(rope))

    def by(driver: Control, values: Array, form: str = ",.0f") -> TextTrack:
        # A rounding error below zero is zero.
        return TextTrack((driver,), tuple(f"{value + 0.0:{form}}" for value in np.round(values, 6).tolist()))

    return (
        sentence_parts(
            lambda **slots: t("query_finding", **slots),
            m=by(later, far),
            later=TextTrack((later,), later.stop_labels),
            turns=by(later, far * theta / (2 * np.pi), ".3g"),
        ),
        sentence_parts(
            lambda **slots: t("output_finding", **slots),
            moved=TextTrack((moved,), moved.stop_labels),
            plain=by(moved, plain),
            turned=by(moved, also),
        ),
    )
