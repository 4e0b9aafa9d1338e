"""The front page: one pair of a key and a query, whose angle is their distance, and all pairs by the distance."""

from __future__ import annotations

from functools import partial

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import (
    TOP,
    angle_wedge,
    drag_hint,
    ghost_tile,
    growing_word_row,
    mark_angle_from_clock,
    position_ticks,
    span_bracket,
    word_tile,
    x_hidden_past_stop,
)
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Paragraph,
    TextOrTrack,
    TextTrack,
    field_control,
    scene_in_beats,
    sentence_parts,
    text_panel,
)
from ui.text.words import PageTexts

DOUBLINGS = 12
"""Powers of two of the last position that a drawn curve goes to."""
KEY_POSITION, START, FIRST, LAST = 1, 5, 3, 10
"""Where the red word stands, where the blue one does at first, and the positions that it can have."""
GHOST = 9
"""Where the dashed tile shows that the blue word can go."""
SHARE = 8
"""The pair that is drawn alone lies this share of the way from the fastest: it turns 18 degrees a word."""
FARTHEST, STEPS = 54_400, 150
DISTANCES = tuple(np.unique(np.rint(np.geomspace(1, FARTHEST, STEPS)).astype(int)).tolist())
"""Distances in growing steps, up to a turn of the slowest arrow of Llama 2."""
ACROSS = 8
"""Arrows in a row of the picture of all of them."""


def single_drawn_pair(rope: rc.Rope) -> int:
    """Return the pair that is drawn alone."""
    return rope.pairs // SHARE


def degrees_text(radians: float, whole_from: float = 100.0, below: str = ".3g") -> str:
    """Return an angle in whole degrees from ``whole_from`` on, and in the format ``below`` under it.

    >>> degrees_text(1.2649), degrees_text(2.846), degrees_text(0.1, 9.5, ".1f")
    ('72.5°', '163°', '5.7°')
    """
    value = float(np.degrees(radians))
    return f"{value:,.0f}°" if value >= whole_from else f"{value:{below}}°"


def _words(wavelength: float) -> str:
    return f"{wavelength:,.1f}" if wavelength < 100 else f"{wavelength:,.0f}"


def _turns(far: Control, wavelength: float) -> TextTrack:
    """Return how often an arrow has turned at each distance."""
    turns = (np.array(far.stops) / wavelength).tolist()
    return far.texts(f"{value:,.0f}" if value >= 100 else f"{value:.2g}" for value in turns)


@cached_figure
def angle_of_distance_film(rope: rc.Rope, position: int, distances: tuple[int, ...], t: PageTexts) -> Film:
    """Return two words and the angle between their arrows, then all pairs at a distance; ``position`` of the query."""
    mat = field_control(t, "position", tuple(range(FIRST, LAST + 1)), play_seconds=6.0)
    far = field_control(t, "distance", distances, play_seconds=16.0)
    pair = single_drawn_pair(rope)
    theta = float(rope.theta[pair])
    apart = [int(stop) - KEY_POSITION for stop in mat.stops]
    turned = np.array(far.stops)[:, None] * rope.theta
    whole = (turned >= 2 * np.pi).sum(axis=1)
    count = mat.texts(map(str, apart))
    angle = mat.texts(degrees_text(words * theta) for words in apart)
    findings = (
        sentence_parts(partial(t, "angle_finding"), words=count, angle=angle),
        sentence_parts(
            partial(t, "all_finding", pairs=rope.pairs),
            words=far.stop_text,
            round=far.texts(map(str, whole.tolist())),
            slowest=far.texts(map(degrees_text, turned[:, -1].tolist())),
        ),
    )
    left = far.texts(map(str, (rope.pairs - whole).tolist()))
    ends = (("fastest", rope.wavelength[0], "often"), ("slowest", rope.wavelength[-1], "seldom"))
    counted = text_panel(
        Paragraph(sentence_parts(partial(t, "first_turn", pairs=rope.pairs), count=left), DISTANCE_COLOUR, bold=True),
        *(
            Paragraph(sentence_parts(partial(t, name, wave=_words(wave)), **{slot: _turns(far, wave)}), font_size=15)
            for name, wave, slot in ends
        ),
        min_width=160,
        width_share=0.6,
    )
    step = f"{np.degrees(theta):.4g}"
    product = mat.texts(f"{np.cos(words * theta):.2f}".replace("-", "−") for words in apart)
    reading = sentence_parts(partial(t, "attention_reads"), angle=angle, product=product)
    meanings = _meanings(rope, pair, [count, t("words_to", step=step), angle], reading, t)
    scene = scene_in_beats(
        t,
        "dials",
        (mat, (_text(mat, count, t), _circle(mat, theta, t), *meanings), findings[0]),
        (far, (_comes_round(theta, t), _all_pairs(rope, far, turned, t), counted), findings[1]),
        pairs=str(rope.pairs),
    )
    recipe = f"""
        import numpy as np
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        words = position - {KEY_POSITION}
        print(words, np.degrees(words * rope.theta[{pair}]), np.cos(words * rope.theta[{pair}]))
        turned = distance * rope.theta
        print(int((turned >= 2 * np.pi).sum()), "of", rope.pairs, np.degrees(turned[-1]))
        """
    return Film("dials", scene, lambda: {"distance": np.array(apart), "angle_rad": np.array(apart) * theta}, recipe)


def _meanings(rope: rc.Rope, pair: int, apart: TextOrTrack, reading: TextOrTrack, t: PageTexts) -> tuple[Panel, ...]:
    """Return what the two arrows say, what attention reads of them, and of what they are; shorter on a phone."""
    lines = [
        Paragraph(apart, DISTANCE_COLOUR, 26, bold=True),
        Paragraph(t("angle_is_distance"), font_size=19, bold=True),
        Paragraph(reading),
        Paragraph(t("same_vector", step=f"{np.degrees(rope.theta[pair]):.4g}"), MUTED_COLOUR),
        Paragraph(t("one_pair", pairs=rope.pairs, round=f"{rope.wavelength[pair]:,.0f}"), MUTED_COLOUR),
    ]
    look = {"min_width": 250, "width_share": 1.1}
    return text_panel(*lines, **look, screen="wide"), text_panel(lines[0], lines[2], lines[-1], **look, screen="narrow")


def _text(mat: Control, count: TextTrack, t: PageTexts) -> Panel:
    """Return the words, cat red and mat blue, which moves while the words between fill in, and their distance."""
    rows = [row.split() for row in t("rows").split("|")]
    here = mat.stop_number
    target, fixed = word_tile(here, 1.0, rows[-1][-1], QUERY_COLOUR), {KEY_POSITION: KEY_COLOUR}
    shown = [
        *growing_word_row(mat, rows, 1.0, fixed),
        *marks.in_wide_panel(600, *ghost_tile(x_hidden_past_stop(mat, START, GHOST), 1.0, rows[-1][-1])),
        drag_hint(x_hidden_past_stop(mat, START, 5.7), 1.0, t("drag_mat"), dy=6),
        *span_bracket(float(KEY_POSITION), here, -0.35, [count, t("words_apart")]),
        *position_ticks(range(LAST + 1), 0.08, {KEY_POSITION: KEY_COLOUR}),
        marks.drag_handle(mat, here, 1.0, QUERY_COLOUR, t("grab_mat"), target, radius_px=0),
    ]
    return Panel(Axis(-0.55, LAST + 0.55), Axis(-1.25, 1.6), shown, min_width=2000, height=104, phone_height=84)


def _circle(mat: Control, theta: float, t: PageTexts) -> Panel:
    """Return cat's key and mat's query as arrows, and the angle between them in a slice for each word."""
    stops = np.array(mat.stops)
    key = KEY_POSITION * theta
    query = mat.numbers(stops * theta)
    starts = (KEY_POSITION + np.arange(LAST - KEY_POSITION)) * theta
    slices = []
    for odd in (0, 1):
        ends = np.clip(stops[:, None] * theta, starts[odd::2], starts[odd::2] + theta)
        (mark,) = angle_wedge(0.0, 0.0, 1.0, starts[odd::2], mat.numbers(ends))
        slices.append(mark | {"opacity": (0.3, 0.6)[odd]})
    tip = marks.vector(0.0, 0.0, 0.98, mark_angle_from_clock(query), QUERY_COLOUR, 7, has_head=True)
    name_x, name_y = (mat.numbers(1.16 * turn(stops * theta)[:, None]) for turn in (np.sin, np.cos))
    picture = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        *slices,
        marks.line([0.0, 0.0], [0.0, 1.0], GREY, 1, stroke_dash="3 4"),
        marks.text(-0.02, 1.0, t("at_zero"), MUTED_COLOUR, anchor="end", font_size=14, dy=-5),
        marks.vector(0.0, 0.0, 0.98, TOP - key, KEY_COLOUR, 7, has_head=True),
        marks.turn_handle(
            mat, 0.0, 0.0, 0.98, mark_angle_from_clock(query), QUERY_COLOUR, t("grab_query"), [tip], radius_px=0
        ),
        marks.dot([0.0], [0.0], "ink", 6),
        marks.text(
            1.14 * np.sin(key), 1.1 * np.cos(key), t("cats_key"), KEY_COLOUR, anchor="start", bold=True, font_size=17
        ),
        *_following(name_x, name_y, stops * theta, t("mats_query"), mat),
    ]
    return Panel(
        Axis(-2.05, 2.05),
        Axis(-1.3, 1.3),
        picture,
        min_width=250,
        width_share=1.2,
        height=262,
        phone_height=165,
        equal_aspect=True,
    )


def _following(x: NumberTrack, y: NumberTrack, angles: Array, name: str, mat: Control) -> list[Mark]:
    """Return a name at an arrow's tip, right of it in the right half of the circle and left of it in the left."""
    right = np.sin(angles)[:, None] >= 0
    return [
        marks.text(
            mat.numbers(np.where(side, x.keyframes, np.nan)),
            y,
            name,
            QUERY_COLOUR,
            anchor=anchor,
            bold=True,
            font_size=17,
            dy=6,
        )
        for side, anchor in ((right, "start"), (~right, "end"))
    ]


def _comes_round(theta: float, t: PageTexts) -> Panel:
    """Return the single pair at four words and at a whole turn more, where it points nearly the same way."""
    once = round(2 * np.pi / theta)
    near, later = 4, 4 + once
    drawn = []
    for x, words in ((-1.3, near), (1.3, later)):
        drawn += [
            marks.circle(x, 0.0, 1.0, GREY, 1.5),
            *angle_wedge(x, 0.0, 0.9, 0.0, (words * theta) % (2 * np.pi)),
            marks.vector(x, 0.0, 0.95, TOP, KEY_COLOUR, 4, has_head=True),
            marks.vector(x, 0.0, 0.95, TOP - words * theta, QUERY_COLOUR, 5, has_head=True),
            marks.text(
                x,
                -1.0,
                t("words_turned", words=words, angle=degrees_text(words * theta)),
                DISTANCE_COLOUR,
                bold=True,
                dy=24,
            ),
        ]
    cannot = marks.text(0.0, -1.0, t("cannot_tell"), UNSEEN_COLOUR, bold=True, dy=52, font_size=16)
    inside = [*drawn, marks.text(0.0, 0.0, "≈", font_size=30, dy=10), cannot]
    return Panel(
        Axis(-2.5, 2.5), Axis(-1.75, 1.1), inside, t("one_alone"), min_width=250, height=220, equal_aspect=True
    )


def _all_pairs(rope: rc.Rope, far: Control, turned: Array, t: PageTexts) -> Panel:
    """Return every pair as a small dial at a distance: filled while it is in its first turn, pale once gone round."""
    at = np.arange(rope.pairs)
    across = ACROSS if rope.pairs <= 64 else 2 * ACROSS
    x, y = (at % across).astype(float), -(at // across).astype(float)
    first = turned < 2 * np.pi
    fill = far.numbers(np.where(first, turned, 0.0))
    pale = far.numbers((~first).astype(np.int8))
    last = far.numbers(turned[:, -1:])
    slowest = marks.vector(x[-1], y[-1], 0.4, mark_angle_from_clock(last), QUERY_COLOUR, 3, has_head=True)
    edge = np.isin(at, (0, rope.pairs - 1))
    x_axis = Axis(-0.6, across - 0.4)
    up = Axis(float(y[-1]) - 0.6, 0.6)
    painted = [
        marks.circle(x[~edge], y[~edge], 0.42, GREY, 1),
        marks.circle(x[edge], y[edge], 0.42, "ink", 2.5),
        *angle_wedge(x, y, 0.42, 0.0, fill),
        marks.vector(x, y, 0.38, TOP, KEY_COLOUR, 1.5),
        marks.vector(x, y, 0.4, mark_angle_from_clock(far.numbers(turned)), (QUERY_COLOUR, GREY), 2, True, pale),
        marks.turn_handle(
            far, x[-1], y[-1], 0.4, mark_angle_from_clock(last), QUERY_COLOUR, t("grab_slowest"), [slowest], radius_px=0
        ),
    ]
    title = sentence_parts(partial(t, "all_title", pairs=rope.pairs), words=far.stop_text)
    return Panel(x_axis, up, painted, title, min_width=300, width_share=1.2, height=300, equal_aspect=True)


@cached_figure
def finished_pairs_sketch(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a place to draw how many pairs have turned once, over the position, and the true curve."""
    x = np.linspace(0.0, DOUBLINGS, 10 * DOUBLINGS + 1)
    positions = np.rint(2**x).astype(int)
    left = [frequency_demo.incomplete_pair_mask(rc.Rope(rope.dim, rope.base, at)).sum() for at in positions.tolist()]
    counts = rope.pairs - np.array(left)
    columns = {f"{2**k:,}": float(k) for k in range(DOUBLINGS + 1)}
    ticks = tuple((place, text) for text, place in columns.items() if place % 3 == 0)
    y_axis = Axis(0.0, float(rope.pairs), tuple((float(n), str(n)) for n in (0, rope.pairs)), t("finished_axis"))
    panel = Panel(Axis(0.0, float(DOUBLINGS), ticks, t("position_axis")), y_axis, [], height=180)
    return sketch_film(
        "finished",
        panel,
        (x, counts),
        columns,
        t,
        lambda: {"position": positions, "pairs_turned_once": counts},
        f"""
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for position in (1, 64, 4096):
            print(position, int((rope.wavelength <= position).sum()))
        """,
        digits=0,
    )
