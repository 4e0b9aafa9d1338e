"""A token's query, key and value under the hand: turned at its position, kept in the cache, and added to an output."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.block.demo import shifted_outputs
from rope_core.theory.demo import drawn_vectors
from ui.film import marks
from ui.film.colours import BLUE, GREY, PURPLE, RED, SKY, text_colour_on
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack, sentence_parts
from ui.text.words import Words

TOKENS, LATER, SHIFTS = 4, 100, 16
"""How many tokens the cache holds, how many words after them a query comes at most, and how far the text moves."""
LAST = TOKENS - 1 + LATER
REST = 2.2
"""How wide the text after the cache is drawn, in words of the cache."""
WORD = 1
"""The token whose query, key and value are drawn at every position."""
TILE, ROW = 0.45, 60
ALONE, KEPT = 0.43, 0.3
"""The length of a word's arrows, and of those beside each other in the cache, over the height of a row."""
ROWS = {"q": 3.0, "k": 2.0, "v": 1.0}
COLOURS = {"q": BLUE, "k": RED, "v": PURPLE}
UP = np.pi / 2
ONE = 8
"""The share of the pairs, from the fastest, at which the drawn pair lies: it turns 18 degrees a word."""


def directions() -> dict[str, Array]:
    """Return where the drawn pair of each token's query, key and value points before any turn, (TOKENS,) rad."""
    drawn = drawn_vectors(2, 3 * TOKENS).reshape(3, TOKENS, 2)
    return {name: np.arctan2(part[:, 1], part[:, 0]) for name, part in zip("qkv", drawn, strict=True)}


def places(positions: Array) -> Array:
    """Return where positions are along the text: the cache's one apart, the rest closer together."""
    return np.asarray(np.minimum(positions, TOKENS) + REST * np.maximum(positions - TOKENS, 0) / (LAST - TOKENS))


def text(rope: rc.Rope, token: Control, later: Control, t: Words) -> Panel:
    """Return a word's three arrows at the position that it is dragged to; then the cache and a query that comes later.

    In each column a query, a key and a value, the word itself at the bottom.
    """
    theta, points, every = float(rope.theta[rope.pairs // ONE]), directions(), np.arange(TOKENS)
    moved, far = np.array(token.stops), TOKENS - 1 + np.array(later.stops)
    words = t("words").split()
    word, new = _tile(token, moved, GREY, words[WORD]), _tile(later, far, BLUE, words[TOKENS])
    here, there = (NumberTrack((by,), places(at)[:, None]) for by, at in ((token, moved), (later, far)))
    still: list[Mark] = marks.from_beat(
        2,
        marks.rect(-0.5, TOKENS - 0.5, 0.5, 2.5, GREY, opacity=0.15),
        marks.rect(every - TILE, every + TILE, -0.3, 0.3, GREY, opacity=0.3),
        *(marks.text(float(k), 0.0, each, dy=5) for k, each in enumerate(words[:TOKENS])),
        marks.text((TOKENS - 1) / 2, 3.0, t("kept"), bold=True, dy=14),
    )
    for name, y in ROWS.items():
        turning, first = theta * (name != "v"), float(points[name][WORD])
        still.append(marks.text(-0.62, y, t(f"head_{name}"), COLOURS[name], anchor="end", bold=True, dy=5))
        still += marks.up_to_beat(
            1, _ring(here, y, ALONE), marks.vector(here, y, ALONE, first, GREY, 2, length_unit="y")
        )
        word.append(_arrow(name, here, y, ALONE, NumberTrack((token,), (first + moved * turning)[:, None])))
        if name != "q":
            angles, column = points[name] + every * turning, np.full(TOKENS, y)
            still += marks.from_beat(2, _ring(every, column, KEPT), _arrow(name, every, column, KEPT, angles))
    new.append(_arrow("q", there, ROWS["q"], KEPT, NumberTrack((later,), (points["q"][0] + far * theta)[:, None])))
    ticked = np.array([*every, 50, LAST])
    ticks = tuple(sorted([*zip(places(ticked).tolist(), map(str, ticked), strict=True), (TOKENS - 0.4, "⋯")]))
    return Panel(
        Axis(-1.6, TOKENS + REST + 0.55, ticks, t("place_axis", last=TOKENS - 1), grid=False),
        Axis(-0.4, 3.5),
        [
            *still,
            *marks.up_to_beat(
                1, marks.drag_handle(token, here, 0.0, GREY, t("grab", word=words[WORD]), word, radius_px=0)
            ),
            *marks.from_beat(
                2,
                _ring(there, ROWS["q"], KEPT),
                marks.drag_handle(later, there, 0.0, BLUE, t("grab_query"), new, radius_px=0),
            ),
        ],
        min_width=2000,
        height=4 * ROW,
        last_beat=2,
    )


def _tile(control: Control, positions: Array, colour: str, word: str) -> list[Mark]:
    x = places(positions)[:, None]
    left, middle, right = (NumberTrack((control,), x + side) for side in (-TILE, 0.0, TILE))
    opacity, ink = (0.4, "ink") if colour == GREY else (1.0, text_colour_on(colour))
    tile = marks.rect(left, right, -0.3, 0.3, colour, opacity=opacity)
    return [tile, marks.text(middle, 0.0, word, ink, bold=True, dy=5, halo=False)]


def _ring(x: marks.NumbersOrTrack, y: marks.NumbersOrTrack, r: float) -> Mark:
    return marks.circle(x, y, r, GREY, 1, length_unit="y")


def _arrow(
    name: str, x: marks.NumbersOrTrack, y: marks.NumbersOrTrack, length: float, angle: marks.NumbersOrTrack
) -> Mark:
    return marks.link_symbol(
        name,
        marks.vector(x, y, length, angle, COLOURS[name], 5 if length == ALONE else 4, has_head=True, length_unit="y"),
    )


def turns(rope: rc.Rope) -> tuple[Array, Array]:
    """Return how far the output's drawn pair has turned as the text moves, (SHIFTS + 1,) rad: v plain, v turned too."""
    moved, first = shifted_outputs(rope, np.arange(SHIFTS + 1)), 2 * (rope.pairs // ONE)
    plain, also = (np.unwrap(np.arctan2(*part[:, [first + 1, first]].T)) for part in (moved.plain, moved.rotated))
    return plain - plain[0], also - also[0]


def output(rope: rc.Rope, moved: Control, t: Words) -> Panel:
    """Return how far the output has turned once the text has moved, with v as it is and with v turned too."""
    still, goes = (NumberTrack((moved,), UP + each[:, None]) for each in turns(rope))
    sky = marks.vector(0.0, 0.0, 0.95, goes, SKY, 6, has_head=True)
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-2.3, 1.15),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
            marks.arc(0.0, 0.0, 0.4, UP, goes, SKY, 5),
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


def findings(rope: rc.Rope, token: Control, later: Control, moved: Control, t: Words) -> tuple[TextOrTrack, ...]:
    """Return what is read below: the turns at a position, the query's way, and how far each output has turned."""
    theta = float(rope.theta[rope.pairs // ONE])
    far = TOKENS - 1 + np.array(later.stops)
    plain, also = map(np.degrees, turns(rope))

    def by(driver: Control, values: Array, form: str = ",.0f") -> TextTrack:
        # A rounding error below zero is zero.
        return TextTrack((driver,), tuple(f"{value + 0.0:{form}}" for value in np.round(values, 6).tolist()))

    return (
        sentence_parts(
            lambda **slots: t("word_finding", **slots),
            m=TextTrack((token,), token.stop_labels),
            degrees=by(token, np.degrees(np.array(token.stops) * theta)),
        ),
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
