"""The first picture of the page: both words move, their matrices change, and the matrix in their score does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.home import degrees_text, single_drawn_pair
from ui.figures.rotation import matrix, places
from ui.figures.rotation.names import KEY_POSITION, QUERY_POSITION, matrix_entry_text, rotation_matrix_name
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR
from ui.film.composite_marks import (
    angle_wedge,
    bracketed_matrix,
    drag_hint,
    mark_angle_from_clock,
    position_ticks,
    span_bracket,
    word_row,
    word_tile,
)
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    TextOrTrack,
    TextTrack,
    field_control,
    scene_in_beats,
    sentence_parts,
)
from ui.text.words import PageTexts

MOST_BEFORE = 6
"""How many words can be put before the sentence."""
CELL = 1.0


@cached_figure
def rotation_score_film(rope: rc.Rope, positions: tuple[int, ...], t: PageTexts) -> Film:
    """Return the score's matrices while a sentence moves, then a whole vector's matrix, then all places' scores."""
    before = field_control(t, "before", range(MOST_BEFORE + 1), play_seconds=6.0)
    at = field_control(t, "m", positions, play_seconds=12.0)
    apart = field_control(t, "apart", range(places.PLACES), play_seconds=8.0)
    turns, maps = matrix.RotationMatrices(rope, at.stops), places.scores_by_encoding(rope.base)
    scene = scene_in_beats(
        t,
        "circle",
        (before, score_matrix_panels(rope, before, t), score_rotation_finding(before, t)),
        (at, matrix.rotation_matrix_panels(rope, turns, at, t), matrix.pair_rotation_finding(turns, at, t)),
        (apart, places.score_map_panels(maps, apart, t), places.score_by_distance_finding(maps, apart, t)),
    )
    return Film(
        "circle",
        scene,
        lambda: (
            {"query_place": np.repeat(np.arange(places.PLACES), places.PLACES)}
            | {"key_place": np.tile(np.arange(places.PLACES), places.PLACES)}
            | {kind: scores.ravel() for kind, scores in maps.items()}
        ),
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        key, query = before + {KEY_POSITION}, before + {QUERY_POSITION}
        turned = [rc.rotation_matrix(n, rope.theta, "half") for n in (key, query, query - key)]
        print(key, query, query - key, np.abs(turned[0].T @ turned[1] - turned[2]).max())
        theta = {turns.theta.tolist()}
        matrix = rc.rotation_matrix(m, theta, "interleaved")
        print(np.degrees(m * np.array(theta)), (matrix == 0).sum(), "of", matrix.size)
        head = random_encoding_weights({places.WIDTH}, {rope.base!r})
        for kind in {places.KINDS}:
            scores = np.diagonal(position_only_logits(kind, np.arange({places.PLACES}), head), -apart)
            print(kind, scores.min(), scores.max())
        """,
    )


def score_matrix_panels(rope: rc.Rope, before: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the sentence with words before it, both arrows, and the score's matrices, shown in the first beat."""
    theta = float(rope.theta[single_drawn_pair(rope)])
    return (_sentence(before, t), _product(before, theta, t), _left_over(before, theta, t), _circle(before, theta, t))


def score_rotation_finding(before: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return what is seen: how far the score turns both, and what is left."""
    key, query = (_along(before, place, str) for place in (KEY_POSITION, QUERY_POSITION))
    left = str(QUERY_POSITION - KEY_POSITION)
    return sentence_parts(partial(t, "matrices_finding", left=left), back=key, on=query)


def _along(before: Control, place: int, write: Callable[[int], str]) -> TextTrack:
    """Return a text made of a word's position, at every stop."""
    return before.texts(write(place + int(stop)) for stop in before.stops)


def _sentence(before: Control, t: PageTexts) -> Panel:
    """Return the sentence, which is dragged to the right while words come before it."""
    words, earlier = t("sentence").split(), t("words_before").split()
    shift = np.array(before.stops)
    whole: list[Mark] = []
    for k, word in enumerate(words):
        colour = {KEY_POSITION: KEY_COLOUR, QUERY_POSITION: QUERY_COLOUR}.get(k, "")
        whole += word_tile(before.numbers(k + shift), 1.0, word, colour)
    come = [before.texts(_last(earlier, k, before)) for k in range(MOST_BEFORE)]
    places = [before.numbers_where(k < shift, float(k)) for k in range(MOST_BEFORE)]
    key, query = (before.numbers(place + shift) for place in (KEY_POSITION, QUERY_POSITION))
    hint = before.numbers_where(shift == 0, len(words) - 0.3)
    last = len(words) + MOST_BEFORE
    shown = [
        *word_row(come, places, 1.0),
        *marks.in_wide_panel(600, drag_hint(hint, 1.0, t("drag_sentence"), dy=6)),
        *marks.in_narrow_panel(600, drag_hint(hint, 1.0, t("drag_sentence_short"), dy=6)),
        *span_bracket(key, query, -0.35, t("words_apart", words=QUERY_POSITION - KEY_POSITION)),
        *position_ticks(range(last), 0.08),
        marks.drag_handle(before, query, 1.0, QUERY_COLOUR, t("grab_sentence"), whole, radius_px=0),
    ]
    return Panel(Axis(-0.55, last - 0.45), Axis(-1.25, 1.6), shown, min_width=2000, height=104, phone_height=70)


def _last(earlier: list[str], k: int, before: Control) -> tuple[str, ...]:
    """Return the word at place ``k`` when so many of the last earlier words come before it."""
    counts = [int(stop) for stop in before.stops]
    return tuple(earlier[len(earlier) - count + k] if k < count else "" for count in counts)


def _circle(before: Control, theta: float, t: PageTexts) -> Panel:
    """Return the key's and the query's arrow, where they were at first, and the angle between them."""
    shift = np.array(before.stops)
    angles = {place: (place + shift)[:, None] * theta for place in (KEY_POSITION, QUERY_POSITION)}
    key, query = (before.numbers(angles[place]) for place in angles)
    drawn = [marks.circle(0.0, 0.0, 1.0, GREY, 1.5), *angle_wedge(0.0, 0.0, 1.0, key, query)]
    for place, colour, name in ((KEY_POSITION, KEY_COLOUR, "key_word"), (QUERY_POSITION, QUERY_COLOUR, "query_word")):
        angle = before.numbers(angles[place])
        first = marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(place * theta), colour, 2, True, stroke_dash="4 4")
        x, y = (before.numbers(1.22 * turn(angles[place])) for turn in (np.sin, np.cos))
        drawn += [
            first | {"opacity": 0.6},
            marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(angle), colour, 6, has_head=True),
            marks.text(x, y, t(name), colour, bold=True, font_size=16, dy=6),
        ]
    left = QUERY_POSITION - KEY_POSITION
    given = {"left": left, "step": f"{np.degrees(theta):.4g}°", "angle": degrees_text(left * theta)}
    words = before.texts(t("still_apart" if stop else "apart", **given) for stop in before.stops)
    picture = [
        *drawn,
        marks.dot([0.0], [0.0], "ink", 5),
        marks.text(0.0, -1.6, words, DISTANCE_COLOUR, bold=True),
        marks.text(0.0, -1.6, t("components"), MUTED_COLOUR, font_size=13, dy=19),
    ]
    return Panel(
        Axis(-1.4, 1.4),
        Axis(-1.95, 1.35),
        picture,
        min_width=200,
        width_share=0.8,
        height=250,
        equal_aspect=True,
        phone_min_width=140,
        phone_height=150,
    )


def _turning(before: Control, angles: Array, transposed: bool) -> tuple[list[list[TextOrTrack]], NumberTrack]:
    """Return the entries of a pair's rotation at every stop, written, and how large each is."""
    matrices = np.array([rc.rotation_matrix(1, [angle], "interleaved") for angle in angles.tolist()])
    matrices = matrices.transpose(0, 2, 1) if transposed else matrices
    written: list[list[TextOrTrack]] = [
        [before.texts(matrix_entry_text(value) for value in matrices[:, i, j].tolist()) for j in (0, 1)] for i in (0, 1)
    ]
    return written, before.numbers(np.abs(matrices).reshape(len(angles), 4))


def _matrix(entries: list[list[TextOrTrack]], sizes: NumberTrack, x: float, colour: str, wide_px: int) -> list[Mark]:
    """Return a matrix at (x, 0), its numbers smaller where its cells are, as on a phone."""
    place = (entries, sizes, x, 0.0, colour)
    return [
        *marks.in_wide_panel(wide_px, *bracketed_matrix(*place, cell=CELL, font_size=15)),
        *marks.in_narrow_panel(wide_px, *bracketed_matrix(*place, cell=CELL, font_size=13)),
    ]


def _product(before: Control, theta: float, t: PageTexts) -> Panel:
    """Return the score as key, its matrix transposed, the query's matrix and query, which all follow the sentence."""
    shift = np.array(before.stops)
    changed = before.texts("" if stop == 0 else t("changed") for stop in before.stops)
    drawn = [
        marks.text(0.0, -1.0, "=", font_size=24, dy=8, bold=True),
        marks.text(0.55, -1.0, "kᵀ", KEY_COLOUR, font_size=22, dy=8, bold=True),
        marks.text(6.35, -1.0, "q", QUERY_COLOUR, font_size=22, dy=8, bold=True),
    ]
    columns = ((KEY_POSITION, KEY_COLOUR, 1.1, "turn_back", "ᵀ"), (QUERY_POSITION, QUERY_COLOUR, 3.7, "turn_on", ""))
    for place, colour, x, label, raised in columns:
        entries, sizes = _turning(before, (place + shift) * theta, bool(raised))
        names = _along(before, place, lambda at, raised=raised: rotation_matrix_name(at) + raised)  # type: ignore[misc]
        drawn += [
            *_matrix(entries, sizes, x, colour, 400),
            marks.text(
                x + 1, 0.0, sentence_parts(partial(t, label), n=_along(before, place, str)), colour, bold=True, dy=-16
            ),
            marks.text(x + 1, -2.0, names, colour, bold=True, font_size=20, dy=30),
            marks.text(x + 1, -2.0, changed, colour, bold=True, dy=54),
        ]
    key, query = (_along(before, place, rotation_matrix_name) for place in (KEY_POSITION, QUERY_POSITION))
    title = sentence_parts(partial(t, "score_is"), k=key, q=query)
    return Panel(
        Axis(-0.3, 6.7),
        Axis(-3.2, 0.7),
        drawn,
        title,
        min_width=340,
        width_share=1.5,
        height=232,
        equal_aspect=True,
        phone_height=134,
    )


def _below(name: str, same: TextTrack, dy: float) -> list[Mark]:
    """Return the name of the matrix that is left, and below it whether it has changed."""
    look: dict[str, Any] = {"bold": True}
    return [
        marks.text(2.0, -2.0, name, DISTANCE_COLOUR, font_size=20, dy=dy, **look),
        marks.text(2.0, -2.0, same, DISTANCE_COLOUR, dy=dy + (22 if dy > 30 else 18), **look),
    ]


def _left_over(before: Control, theta: float, t: PageTexts) -> Panel:
    """Return the one matrix that is left in the score."""
    left = QUERY_POSITION - KEY_POSITION
    entries, sizes = _turning(before, np.full(len(before.stops), left * theta), False)
    frame = marks.rect(0.75, 3.25, -2.25, 0.25, "none", outline=DISTANCE_COLOUR, stroke_width=3, corner_px=8)
    on, back = (_along(before, place, str) for place in (QUERY_POSITION, KEY_POSITION))
    turned = sentence_parts(partial(t, "turn_left"), on=on, back=back, left=str(left))
    same = before.texts(t("the_same" if stop else "is_distance", left=left) for stop in before.stops)
    inside = [
        marks.text(-0.35, -1.0, "=", font_size=24, dy=8, bold=True),
        marks.text(0.3, -1.0, "kᵀ", KEY_COLOUR, font_size=22, dy=8, bold=True),
        *_matrix(entries, sizes, 1.0, DISTANCE_COLOUR, 200),
        frame,
        marks.text(3.75, -1.0, "q", QUERY_COLOUR, font_size=22, dy=8, bold=True),
        marks.text(2.0, 0.0, turned, DISTANCE_COLOUR, bold=True, dy=-22),
        *marks.in_wide_panel(200, *_below(rotation_matrix_name(left), same, 36)),
        *marks.in_narrow_panel(200, *_below(rotation_matrix_name(left), same, 28)),
    ]
    return Panel(
        Axis(-0.6, 4.1),
        Axis(-3.2, 0.7),
        inside,
        min_width=220,
        height=232,
        equal_aspect=True,
        phone_min_width=165,
        phone_height=156,
    )
