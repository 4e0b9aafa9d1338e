"""A key and a query that are activated and then turned, beside the other order, at every place of the two."""

from __future__ import annotations

import numpy as np

from rope_core.lrpe import lrpe_rotate
from rope_core.lrpe.activations import apply_activation
from rope_core.rope import Array
from ui.figures.home import single_drawn_pair
from ui.figures.lrpe.order import ROPE
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint, text_lines, verdict_marks, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack
from ui.text.words import PageTexts

KEY, QUERY = (0.25, 0.97), (0.95, 0.3)
"""Two chosen pairs: the first number goes up, the second to the right."""
DISTANCE, LAST, FIRST_PLACE = 4, 15, 2
ACT = "relu"
SMALL = 0.04
"""The length below which an arrow is a dot."""
BAR, FOOT, HIGH = 0.3, -1.95, 0.55
"""A bar's width, where bars begin and the greatest one's height, in radii of the circle."""


def rotated_pairs(vector: tuple[float, float], step: int, *, activation_first: bool) -> tuple[Array, Array]:
    """Return a pair at each place, ``step`` places further on: before the last operation and after it, (places, 2)."""
    rows = np.tile(np.array(vector), (LAST + 1 + step, 1))[None]
    theta = ROPE.theta[[single_drawn_pair(ROPE)]]
    before = lrpe_rotate(rows, theta)
    after = lrpe_rotate(rows, theta, act=ACT) if activation_first else apply_activation(before, ACT, None)
    return np.asarray(before[0, step:]), np.asarray(after[0, step:])


def scores_by_key_place(*, activation_first: bool) -> Array:
    """Return the score of the two at each place of the key, the query `DISTANCE` places on, (places,)."""
    (_, k), (_, q) = (
        rotated_pairs(vector, step, activation_first=activation_first) for vector, step in ((KEY, 0), (QUERY, DISTANCE))
    )
    return np.asarray((q * k).sum(axis=-1))


def activation_order_panels(place: Control, t: PageTexts) -> tuple[Panel, Panel]:
    """Return both orders: the two arrows at the place in force, and the score at every place."""
    return _side(place, t, activation_first=True), _side(place, t, activation_first=False)


def _polar(vectors: Array) -> tuple[Array, Array]:
    """Return lengths and angles, the clock's way from the top, unwrapped, (places,) each."""
    return np.hypot(*vectors.T), np.unwrap(np.arctan2(vectors[:, 1], vectors[:, 0]))


def _arrows(place: Control, *, activation_first: bool) -> list[Mark]:
    drawn: list[Mark] = []
    for vector, step, colour in ((KEY, 0, KEY_COLOUR), (QUERY, DISTANCE, QUERY_COLOUR)):
        before, after = rotated_pairs(vector, step, activation_first=activation_first)
        length, angle = _polar(after)
        if not activation_first:
            whole, way = _polar(before)
            hand = place.numbers(np.pi / 2 - way)
            drawn.append(marks.vector(0.0, 0.0, float(whole[0]), hand, colour, 2, True, stroke_dash="5 4", opacity=0.6))
        shown = place.numbers_where(length > SMALL, length)
        gone = place.numbers(np.where(length > SMALL, np.nan, 0.0))
        turned = place.numbers(np.pi / 2 - angle)
        drawn += [marks.vector(0.0, 0.0, shown, turned, colour, 6, has_head=True), marks.dot(gone, 0.0, colour, 7)]
    return drawn


def _side(place: Control, t: PageTexts, *, activation_first: bool) -> Panel:
    """Return one order: a circle with the two arrows, the score in figures, and bars of all scores below."""
    values, both = scores_by_key_place(activation_first=activation_first), scores_by_key_place(activation_first=True)
    colour = TRAINED_COLOUR if activation_first else UNSEEN_COLOUR
    where = np.arange(LAST + 1.0)
    left, high = -1.0 + BAR * where, FOOT + HIGH * values / max(both.max(), values.max())
    here, top = place.numbers(left), place.numbers(high)
    right = place.numbers(left[:, None] + 0.8 * BAR)
    score = place.texts(t("score_is", score=f"{value:.2f}") for value in values + 0.0)
    key, query = (
        place.texts(t(label, place=int(at) + step) for at in where)
        for label, step in (("key_place", 0), ("query_place", DISTANCE))
    )
    drawn: list[Mark] = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        *_arrows(place, activation_first=activation_first),
        marks.text(1.25, 0.8, key, KEY_COLOUR, anchor="start", bold=True),
        marks.text(1.25, 0.5, query, QUERY_COLOUR, anchor="start", bold=True),
        marks.text(1.25, -0.75, score, colour, anchor="start", bold=True, font_size=23),
        marks.line([-1.05, left[-1] + BAR], [FOOT, FOOT], GREY, 1.5),
        marks.rect(left, left + 0.8 * BAR, FOOT, np.maximum(high, FOOT + 0.02), colour, opacity=0.35),
        marks.rect(here, right, FOOT, top, colour),
        marks.text(-1.0, FOOT + HIGH, t("bars"), anchor="start", bold=True, dy=-10, font_size=14),
        *(marks.text(left[at] + 0.4 * BAR, FOOT, str(at), MUTED_COLOUR, dy=17, font_size=13) for at in range(0, 16, 3)),
    ]
    lines = t("whole_turn" if activation_first else "cut_turn").split("|")
    drawn += text_lines(1.25, 0.15, lines, MUTED_COLOUR, anchor="start", font_size=14)
    words = (t("same_everywhere"), "") if activation_first else ("", t("place_counts"))
    drawn += verdict_marks(-1.0, FOOT, *words, dy=42)
    if activation_first:
        grips = [marks.rect(here, right, FOOT, top, TRAINED_COLOUR)]
        drawn.append(marks.drag_handle(place, here, FOOT, colour, t("grab_place"), grips, radius_px=0))
        drawn += marks.in_wide_panel(400, drag_hint(x_hidden_past_stop(place, 9, 1.25), -0.35, t("drag_place"), dy=6))
    else:
        drawn.insert(0, marks.wedge(0.0, 0.0, 1.0, 0.0, np.pi / 2, UNSEEN_COLOUR, opacity=0.12))
    title = t("activation_first" if activation_first else "turn_first")
    return Panel(Axis(-1.1, 3.9), Axis(FOOT - 0.55, 1.1), drawn, title, min_width=330, height=340, equal_aspect=True)


def activation_order_finding(place: Control, t: PageTexts) -> TextTrack:
    """Return both scores at every place."""
    kept, cut = scores_by_key_place(activation_first=True) + 0.0, scores_by_key_place(activation_first=False) + 0.0
    rows = zip(range(LAST + 1), kept, cut, strict=True)
    return place.texts(t("activation_finding", place=k, kept=f"{a:.2f}", cut=f"{b:.2f}") for k, a, b in rows)
