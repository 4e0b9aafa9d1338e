"""The first picture of the page: six keys added as they are and turned first, in two orders of the words."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.lrpe.activations import apply_activation
from rope_core.rope import Array
from rope_core.theory.demo import random_vectors
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, SKY, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint, mark_angle_from_clock, word_tile, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextTrack
from ui.text.words import PageTexts

FIRST, LAST, WORDS = 1, 5, 6
"""Where the red word stands in either order, and how many words there are; the blue one has its other place."""
COLOURS = {FIRST: KEY_COLOUR, LAST: QUERY_COLOUR}
ROPE = rc.Rope(128, 10_000.0, 4096)
RADIUS = 0.42
SEED = 4
QUERY_PLACE = WORDS
"""Where the word after all of them stands, whose query reads the sum."""
RECIPE = (
    "import rope_core as rc",
    "from rope_core.lrpe.activations import apply_activation",
    "from rope_core.theory.demo import random_vectors",
    f"keys = apply_activation(random_vectors(2, {WORDS - 1}, {SEED}), 'sigmoid', None)[[0, 1, 2, 3, 0, 4]]",
    f"theta = rc.Rope({ROPE.dim}, {ROPE.base!r}).theta[[{single_drawn_pair(ROPE)}]]",
    "for row in (keys, keys[[0, 5, 2, 3, 4, 1]]):",
    "    kept, moved = row.sum(axis=0), sum(rc.rotation_matrix(n, theta, 'half') @ key for n, key in enumerate(row))",
    "    print(kept, moved)",
    f"    print(keys[{FIRST}] @ kept, rc.rotation_matrix({QUERY_PLACE}, theta, 'half') @ keys[{FIRST}] @ moved)",
)
"""Python lines that print both sums in both orders, and what the next word's query reads of them."""


def word_keys() -> Array:
    """Return the words' keys, a pair each, (WORDS, 2), all above 0; the first and the fifth word are the same."""
    each = apply_activation(random_vectors(2, WORDS - 1, SEED), "sigmoid", None)
    return np.asarray(each[[0, 1, 2, 3, 0, 4]])


def word_places_in_both_orders() -> np.ndarray:
    """Return each word's place in both orders, (2, WORDS)."""
    orders = np.tile(np.arange(WORDS), (2, 1))
    orders[1, [FIRST, LAST]] = LAST, FIRST
    return orders


def keys_in_both_orders(turns: bool) -> Array:
    """Return the keys in both orders, turned by their places or as they are, (2, WORDS, 2)."""
    theta = ROPE.theta[[single_drawn_pair(ROPE)]]
    return np.array(
        [
            [
                rc.rotation_matrix(int(place) * turns, theta, "half") @ key
                for place, key in zip(row, word_keys(), strict=True)
            ]
            for row in word_places_in_both_orders()
        ]
    )


def key_sums_in_both_orders(turns: bool) -> Array:
    """Return the sum of the keys in both orders, (2, 2)."""
    return np.asarray(keys_in_both_orders(turns).sum(axis=1))


def query_readings(turns: bool) -> Array:
    """Return what a query like the red word's key, of the word after all of them, reads of the sum, in both orders."""
    theta = ROPE.theta[[single_drawn_pair(ROPE)]]
    query = rc.rotation_matrix(QUERY_PLACE * turns, theta, "half") @ word_keys()[FIRST]
    return np.asarray(key_sums_in_both_orders(turns) @ query)


def key_sum_panels(cat: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the words over their keys, and the keys added as they are and turned first."""
    return _row(cat, t), _chain(cat, False, t), _chain(cat, True, t)


def key_sum_finding(cat: Control, t: PageTexts) -> TextTrack:
    """Return what becomes of either sum, in both orders."""
    return cat.texts((t("order_finding"), t("swapped_finding")))


def _row(cat: Control, t: PageTexts) -> Panel:
    """Return the words in tiles and each one's key in a circle, before and after its turn."""
    words, at = t("words_order").split(), word_places_in_both_orders()
    theta = float(ROPE.theta[single_drawn_pair(ROPE)])
    raw, long = np.arctan2(*word_keys().T[::-1]), np.hypot(*word_keys().T)
    long = RADIUS * long / long.max()
    drawn: list[Mark] = []
    tiles: dict[int, list[Mark]] = {}
    for k, word in enumerate(words):
        x, colour = cat.numbers(at[:, [k]]), COLOURS.get(k, GREY)
        tiles[k] = word_tile(x, 1.0, word, COLOURS.get(k, ""), 0.21)
        angle = cat.numbers(raw[k] + at[:, [k]] * theta)
        drawn += [
            marks.circle(x, 0.0, RADIUS, GREY, 1, length_unit="y"),
            marks.vector(x, 0.0, long[k], mark_angle_from_clock(raw[k]), GREY, 2, length_unit="y", stroke_dash="3 3"),
            marks.vector(x, 0.0, long[k], mark_angle_from_clock(angle), colour, 5, True, length_unit="y"),
        ]
    for place in range(WORDS):
        ink = [COLOURS.get(place, MUTED_COLOUR), COLOURS.get(FIRST + LAST - place, MUTED_COLOUR)]
        text = degrees_text(place * theta) if place else t("not_turned")
        for stop in range(2 if place in COLOURS else 1):
            shown = np.full((2, 1), float(place))
            if place in COLOURS:
                shown[1 - stop] = np.nan
            drawn.append(marks.text(cat.numbers(shown), -0.66, text, ink[stop], bold=place > 0, font_size=15))
    drawn.append(marks.text((WORDS - 1) / 2, -0.66, t("before_turn"), MUTED_COLOUR, font_size=13, dy=17))
    here = cat.numbers(at[:, [FIRST]])
    still = [mark for k, tile in tiles.items() if k != FIRST for mark in tile]
    picture = [
        *drawn,
        *still,
        drag_hint(x_hidden_past_stop(cat, FIRST, FIRST - 0.45), 1.42, t("drag_cat"), dy=3),
        marks.drag_handle(cat, here, 1.0, KEY_COLOUR, t("grab_cat"), tiles[FIRST], radius_px=0),
    ]
    return Panel(Axis(-0.6, WORDS - 0.4), Axis(-0.92, 1.6), picture, min_width=2000, height=160)


def _chain(cat: Control, turns: bool, t: PageTexts) -> Panel:
    """Return six keys added tip to tail in the order in force, the other order and both sums dashed, and the query."""
    each, at = keys_in_both_orders(turns), word_places_in_both_orders()
    angles = cat.numbers(_angles(turns))
    long = np.hypot(*word_keys().T)
    start = np.zeros((2, WORDS, 2))
    ghosts: list[Mark] = []
    for order in range(2):
        row = each[order][np.argsort(at[order])]
        joints = np.vstack([np.zeros(2), row.cumsum(axis=0)])
        start[order] = joints[at[order]]
        ghosts.append(marks.line(joints[:, 1], joints[:, 0], GREY, 1.5, "4 4"))
    ends = key_sums_in_both_orders(turns)
    size = cat.numbers(np.hypot(*ends.T))
    way = cat.numbers(np.arctan2(*ends.T[::-1]))
    colour = TRAINED_COLOUR if turns else UNSEEN_COLOUR
    index = np.array([{FIRST: 1, LAST: 2}.get(k, 0) for k in range(WORDS)], dtype=np.int8)
    x, y = (cat.numbers(start[..., k]) for k in (1, 0))
    tip_x, tip_y = (cat.numbers(ends[:, [k]]) for k in (1, 0))
    # Beside its arrow, where the chain is not.
    aside = np.array([[0.3, -0.5], [-0.05, -0.5]] if turns else [[0.3, -0.5], [-0.3, 0.2]])
    sum_x, sum_y = (cat.numbers(ends[:, [k]] / 2 + aside[:, [1 - k]]) for k in (1, 0))
    up, at_query = (Axis(-1.3, 1.15), (3.1, 1.0)) if turns else (Axis(-0.15, 2.4), (2.6, 0.1))
    asks = np.arctan2(*word_keys()[FIRST][::-1]) + turns * QUERY_PLACE * float(ROPE.theta[single_drawn_pair(ROPE)])
    inside = [
        *ghosts,
        *(
            marks.vector(
                0.0,
                0.0,
                np.hypot(*end),
                mark_angle_from_clock(np.arctan2(*end[::-1])),
                GREY,
                2,
                True,
                stroke_dash="7 5",
            )
            for end in ends
        ),
        marks.vector(*at_query, long[FIRST], mark_angle_from_clock(asks), SKY, 4, has_head=True),
        marks.text(*at_query, t("query"), SKY, bold=True, anchor="end", dx=-5, dy=5),
        marks.vector(x, y, long, mark_angle_from_clock(angles), (GREY, KEY_COLOUR, QUERY_COLOUR), 4, True, index),
        marks.vector(0.0, 0.0, size, mark_angle_from_clock(way), "ink", 5, has_head=True),
        marks.dot([0.0], [0.0], "ink", 5),
        *(marks.circle(end[1], end[0], 0.13, colour, 2, opacity=0.5) for end in ends),
        marks.circle(tip_x, tip_y, 0.13, colour, 4),
        marks.text(sum_x, sum_y, t("sum"), bold=True, font_size=17),
    ]
    title = t("turned_first" if turns else "as_they_are")
    shown = [f"{value:.2f}".replace("-", "−") for value in query_readings(turns)]
    reading = cat.texts(t("query_reads", now=now, other=other) for now, other in (shown, shown[::-1]))
    paragraphs = (Paragraph(t("kept" if turns else "lost"), colour, 16, bold=True), Paragraph(reading, font_size=15))
    return Panel(
        Axis(-0.2, 3.75), up, inside, title, min_width=165, height=172, equal_aspect=True, paragraphs=paragraphs
    )


def _angles(turns: bool) -> Array:
    """Return where the keys point, the clock's way from the top, in both orders, (2, WORDS) rad, unwrapped."""
    theta = float(ROPE.theta[single_drawn_pair(ROPE)])
    return np.asarray(np.arctan2(*word_keys().T[::-1]) + turns * word_places_in_both_orders() * theta)
