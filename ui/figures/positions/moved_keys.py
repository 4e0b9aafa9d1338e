"""Stored keys whose words get smaller numbers when a cache drops old ones: left as stored, and turned back."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.position_demo import cached_key_distances_by_mode
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import (
    angle_wedge,
    drag_hint,
    link_curve,
    mark_angle_from_clock,
    offset,
    verdict_where,
    word_tile,
    x_hidden_past_stop,
)
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack
from ui.text.words import PageTexts

CACHED, MOST, FIRST_DROPPED = 9, 4, 2
"""Keys that the cache held, how many words it drops at most, and at first; the very first word always stays."""
CAT, TRUE = MOST + 1, CACHED - MOST - 1
"""The red word's position, and its distance from the new word."""
COLOURS = {CAT: KEY_COLOUR, CACHED: QUERY_COLOUR}


def stored_and_turned_distances(dropped: int) -> tuple[int, int]:
    """Return the distance between the new word and the red one with its key left as stored, and turned back."""
    reads = cached_key_distances_by_mode(CACHED, dropped)
    return int(reads["renumbered"][CAT - dropped]), int(reads["moved"][CAT - dropped])


def dropped_word_panels(rope: rc.Rope, dropped: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the words as stored and after some are dropped, then both arrows in each way."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    gone = list(map(int, dropped.stops))
    return (
        _rows(dropped, gone, t),
        _dial(dropped, gone, theta, t, back=False),
        _dial(dropped, gone, theta, t, back=True),
    )


def _rows(dropped: Control, gone: list[int], t: PageTexts) -> Panel:
    """Return the stored words with their numbers, those that are dropped struck out, and the rest renumbered below."""
    words, away = t("words_cached").split(), np.array(gone)
    drawn: list[Mark] = []
    tiles: list[Mark] = []
    for k, word in enumerate(words):
        colour, number = COLOURS.get(k, ""), COLOURS.get(k, MUTED_COLOUR)
        drawn += word_tile(float(k), 3.0, word, colour if k < CACHED else "")
        drawn.append(
            marks.text(float(k), 2.2, str(k) if k < CACHED else t("new"), number, font_size=13, bold=k in COLOURS)
        )
        if 0 < k <= MOST:
            struck = np.where((k <= away)[:, None], [k - 0.45, k + 0.45], np.nan)
            drawn.append(marks.line(dropped.numbers(struck), [2.6, 3.4], UNSEEN_COLOUR, 3))
        stays = (k == 0) | (k > away)
        x = dropped.numbers_where(stays, k - away * (k > 0))
        drawn.append(link_curve(float(k), 2.0, x, 1.25, colour or GREY, stroke_width=3 if colour else 1.2))
        tile = word_tile(x, 0.75, word, colour)
        (tiles if k == CAT else drawn).extend(tile)
        at = dropped.texts(str(k - n * (k > 0)) for n in gone)
        drawn.append(marks.text(x, -0.05, at, number, font_size=13, bold=k in COLOURS))
    cat = dropped.numbers(CAT - away)
    hint = offset(x_hidden_past_stop(dropped, MOST - 1, 0.0), 0.0)
    assert isinstance(hint, NumberTrack)
    after = hint + (CACHED - away + 0.6)[:, None]
    shown = [
        *drawn,
        marks.drag_handle(dropped, cat, 0.75, KEY_COLOUR, t("grab_dropped"), tiles, radius_px=0),
        *marks.in_wide_panel(500, drag_hint(after, 0.75, t("drag_dropped"), dy=6)),
    ]
    return Panel(Axis(-0.55, CACHED + 0.55), Axis(-0.3, 3.6), shown, t("dropped_title"), min_width=2000, height=150)


def _dial(dropped: Control, gone: list[int], theta: float, t: PageTexts, *, back: bool) -> Panel:
    """Return the stored key and the new query in a circle, with the distance that RoPE takes for it."""
    away = np.array(gone)
    key, query = CAT - away * back, CACHED - away

    turned, at = dropped.numbers(key * theta), dropped.numbers(query * theta)
    taken = [stored_and_turned_distances(n)[int(back)] for n in gone]
    good = [each == TRUE for each in taken]
    words = [
        t("one_place") if n == 0 else t("takes_for", words=t("one_word") if n == 1 else t("so_many_words", count=n))
        for n in taken
    ]
    lines: list[tuple[float, TextOrTrack, str]] = [
        (0.75, dropped.texts(t("key_turned", n=int(n)) for n in key), KEY_COLOUR),
        (0.45, dropped.texts(t("query_turned", n=int(n)) for n in query), QUERY_COLOUR),
        (-0.05, dropped.texts(words), DISTANCE_COLOUR),
        (-0.4, dropped.texts(degrees_text(abs(n) * theta) if n else t("same_turn") for n in taken), DISTANCE_COLOUR),
    ]
    right, wrong = f"✓ {t('right_distance')}", f"✗ {t('wrong_distance', true=TRUE)}"
    drawn: list[Mark] = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        *angle_wedge(0.0, 0.0, 0.85, turned, at),
        marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(turned), KEY_COLOUR, 8, has_head=True),
        marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(at), QUERY_COLOUR, 4, has_head=True),
        *(marks.text(1.2, y, line, colour, anchor="start", bold=True, font_size=16, dy=5) for y, line, colour in lines),
        *verdict_where(dropped, good, 1.2, -0.85, right, wrong, dy=5, font_size=15),
    ]
    if back:
        drawn.append(
            marks.arc(0.0, 0.0, 0.5, mark_angle_from_clock(CAT * theta), mark_angle_from_clock(turned), KEY_COLOUR, 3)
        )
    title = t("turned_back" if back else "left_as_stored")
    return Panel(Axis(-1.1, 4.0), Axis(-1.1, 1.1), drawn, title, min_width=330, height=185, equal_aspect=True)


def dropped_word_distance_finding(rope: rc.Rope, dropped: Control, t: PageTexts) -> TextOrTrack:
    """Return what RoPE takes the two words' distance for in each way."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    texts = []
    for n in map(int, dropped.stops):
        stored, _ = stored_and_turned_distances(n)
        if n == 0:
            texts.append(t("none_dropped", true=TRUE))
        else:
            words = t("one_word") if stored == 1 else t("so_many_words", count=stored)
            taken = t("as_one_place") if stored == 0 else t("as_words", words=words)
            texts.append(t("dropped_finding", dropped=n, taken=taken, angle=degrees_text(n * theta), true=TRUE))
    return dropped.texts(texts)
