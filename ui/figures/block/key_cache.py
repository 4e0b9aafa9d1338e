"""Stored keys, each turned once, and a query that comes later and brings its own turn."""

from __future__ import annotations

from functools import partial

import numpy as np

import rope_core as rc
from ui.figures.block.vectors import CAT
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR
from ui.film.composite_marks import (
    angle_wedge,
    dial_marks,
    drag_hint,
    link_curve,
    mark_angle_from_clock,
    text_lines,
    x_hidden_past_stop,
)
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack, sentence_parts
from ui.text.words import PageTexts

MAT, LATER, FIRST_LATER = 5, 100, 5
"""The last word's position, how many words after it a query comes at most, and at first."""
RADIUS = 0.38
"""Of a key's circle, in positions."""
SIDE = 2.8
"""How far the cache's panel goes on past its words on a wide screen, in positions."""


def key_cache_panels(rope: rc.Rope, later: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the cache, for a wide and for a narrow screen, and the query of the last word and of a later one."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    far = MAT + np.array(later.stops)
    queries = _query(theta, later, np.full_like(far, MAT), t("query_of_mat"), t), _query(theta, later, far, None, t)
    return _cache(theta, t, wide=True), _cache(theta, t, wide=False), *queries


def _cache(theta: float, t: PageTexts, *, wide: bool) -> Panel:
    """Return each word's key as an arrow in a circle over its word, and lines down from one of them to the queries."""
    words = t("cached_words").split()
    left, right = (-SIDE, MAT + SIDE) if wide else (-0.55, MAT + 0.55)
    drawn: list[Mark] = [marks.rect(-0.5, MAT + 0.5, -0.85, 0.5, GREY, opacity=0.12, corner_px=8)]
    for k, word in enumerate(words):
        colour, width = (KEY_COLOUR, 5) if k == CAT else (GREY, 3)
        arrow = dial_marks(float(k), 0.0, RADIUS, k * theta, colour, stroke_width=width)
        drawn += [marks.link_symbol("k", mark) if mark["kind"] == "vector" else mark for mark in arrow]
        ink = colour if k == CAT else "ink"
        drawn.append(marks.text(float(k), -0.6, word, ink, bold=k == CAT, dy=5, font_size=16 if wide else 14))
        drawn.append(marks.text(k + 0.3, 0.28, str(k), MUTED_COLOUR, anchor="start", font_size=13))
    if wide:
        lines = (t("key_stays", angle=degrees_text(CAT * theta)), *t("never_again").split("|"))
        drawn.append(marks.text(MAT + 0.62, 0.12, lines[0], KEY_COLOUR, anchor="start", bold=True, dy=0))
        drawn += text_lines(MAT + 0.62, 0.12, lines[1:], anchor="start", bold=False, step=21, dy=21)
        ends = (left + (right - left) * share for share in (0.25, 0.75))
        drawn += [link_curve(float(CAT), -0.78, x, -1.25, KEY_COLOUR, stroke_dash="6 5", opacity=0.7) for x in ends]
    return Panel(
        Axis(left, right),
        Axis(-1.25 if wide else -0.9, 0.55),
        drawn,
        t("cache_title"),
        min_width=2000,
        height=200,
        equal_aspect=True,
        screen="wide" if wide else "narrow",
    )


def _query(theta: float, later: Control, at: np.ndarray, name: str | None, t: PageTexts) -> Panel:
    """Return the stored key and a query, turned by its position ``at`` each stop; ``name``: of one that stays."""
    distance = at - CAT
    own, angle = CAT * theta, later.numbers(at[:, None] * theta)
    between = later.numbers(own + (distance * theta) % (2 * np.pi))
    turns = (distance * theta // (2 * np.pi)).astype(int).tolist()
    apart = later.texts(degrees_text(d * theta % (2 * np.pi)) for d in distance.tolist())
    after = later.texts(t("after_turns", turns=turn) if turn else t("apart_now") for turn in turns)
    position = later.texts(f"{value:.0f}" for value in at.tolist())
    title: TextOrTrack = name or sentence_parts(partial(t, "query_later"), m=position)
    hand = marks.vector(0.0, 0.0, 0.96, mark_angle_from_clock(angle), QUERY_COLOUR, 6, has_head=True)
    hand = marks.link_symbol("q", hand)
    tip = mark_angle_from_clock(angle)
    grip = marks.turn_handle(later, 0.0, 0.0, 0.96, tip, QUERY_COLOUR, t("grab_new"), [hand], radius_px=0)
    away = later.texts(t("words_after", words=int(d)) for d in distance.tolist())
    drawn = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        *angle_wedge(0.0, 0.0, 0.9, own, between),
        marks.vector(0.0, 0.0, 0.96, mark_angle_from_clock(own), KEY_COLOUR, 5, has_head=True),
        hand if name else grip,
        marks.text(1.15, 0.35, away, DISTANCE_COLOUR, anchor="start", bold=True, font_size=18),
        marks.text(1.15, 0.05, apart, DISTANCE_COLOUR, anchor="start", bold=True, font_size=20, dy=5),
        marks.text(1.15, -0.25, after, MUTED_COLOUR, anchor="start", font_size=14, dy=8),
        marks.text(-1.15, 0.1, t("turned_by_words"), QUERY_COLOUR, anchor="end", font_size=14),
        marks.text(-1.15, -0.15, sentence_parts(partial(t, "by_words"), m=position), QUERY_COLOUR, anchor="end", dy=4),
    ]
    if not name:
        drawn.append(drag_hint(x_hidden_past_stop(later, LATER / 2, 0.2), 1.08, t("drag_query"), font_size=15))
    return Panel(Axis(-2.5, 2.9), Axis(-1.1, 1.3), drawn, title, min_width=330, height=210, equal_aspect=True)


def stored_key_finding(rope: rc.Rope, later: Control, t: PageTexts) -> TextOrTrack:
    """Return the sentence about the stored key and the later query."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    words = [MAT - CAT + int(stop) for stop in later.stops]
    return sentence_parts(
        lambda **slots: t("query_finding", own=degrees_text(CAT * theta), **slots),
        later=later.stop_text,
        words=later.texts(map(str, words)),
        angle=later.texts(degrees_text(each * theta % (2 * np.pi)) for each in words),
    )
