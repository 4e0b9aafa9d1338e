"""The first picture of the page: one query in both orders, the same arrows, and one order in the other's code."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.layout import INTERLEAVED, DimIndices
from rope_core.rope import Array
from rope_core.theory import layout_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.layouts import mended
from ui.figures.layouts.mended import COLOURS
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR, text_colour_on
from ui.film.composite_marks import drag_hint, link_curve, mark_angle_from_clock, verdict_marks
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextTrack, scene_in_beats
from ui.text.words import PageTexts

OWN, OTHER = 0, 1
"""The stops: numbers in Hugging Face's order go to their own code, or to Meta's."""
SIXTEENTHS = np.array([2, 3, 4, 5])
"""How far from the fastest the drawn pairs lie: they turn visibly, and not far, in a few words."""
SEED = 3420
"""Its error is the median of 4,000 drawn pairs of vectors, 0.83."""
QUERY_POSITION, KEY_POSITION = 5, 1
TILE, HIGH = 0.46, 0.3
"""Half a tile's width and height, in places."""
RADIUS = 0.72


class LayoutVectors:
    """A query and a key of four pairs, turned at their positions by each order's own code and by the other's."""

    def __init__(self, rope: rc.Rope) -> None:
        self.theta: Array = rope.theta[rope.pairs * SIXTEENTHS // 16]
        rng = np.random.default_rng(SEED)
        self.query = layout_demo.rotations_in_both_layouts(self.theta, [0, QUERY_POSITION], rng)
        self.key = layout_demo.rotations_in_both_layouts(self.theta, [0, KEY_POSITION], rng)

    def rotated_number_columns(self) -> dict[str, Array]:
        """Return both words' numbers after the turn, for the table."""
        each = {"query": self.query, "key": self.key}
        kinds = ("interleaved", "half", "mixed")
        return {f"{word}_{kind}": getattr(numbers, kind)[1] for word, numbers in each.items() for kind in kinds}

    def score_text(self, kind: str) -> str:
        """Return the score of the two words, ``kind`` "interleaved", "half" or "mixed"."""
        return two_decimal_text(float(getattr(self.query, kind)[1] @ getattr(self.key, kind)[1]))


@cached_figure
def layout_permutation_film(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a head's numbers in both orders with their arrows, then the permutation that mends mixed orders."""
    given = Control("given", t("field.given"), (0.0, 1.0), (t("own_code"), t("other_code")))
    at = Control("mended", t("field.mended"), (0.0, 1.0), (t("left_out"), t("in_place")))
    drawn = LayoutVectors(rope)
    product = mended.LayoutMatrices(drawn.theta)
    scene = scene_in_beats(
        t,
        "permutation",
        (given, layout_order_panels(drawn, given, t), layout_score_finding(drawn, given, t)),
        (at, mended.permuted_matrix_panels(product, at, t), mended.permuted_scores_finding(product, at, t)),
    )
    return Film(
        "permutation",
        scene,
        lambda: (
            {"place": np.arange(drawn.query.order.size), "interleaved_dimension": drawn.query.order}
            | drawn.rotated_number_columns()
            | {"distance": np.arange(product.errors.size), "mixed_error": product.errors}
        ),
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import layout_demo
        theta, rng = {drawn.theta.tolist()!r}, np.random.default_rng({SEED})
        q = layout_demo.rotations_in_both_layouts(theta, [0, {QUERY_POSITION}], rng)
        k = layout_demo.rotations_in_both_layouts(theta, [0, {KEY_POSITION}], rng)
        print(q.order, q.interleaved[0])
        print(q.interleaved[1] @ k.interleaved[1], q.half[1] @ k.half[1], q.mixed[1] @ k.mixed[1])
        P = np.eye(8)[rc.convert(8, "interleaved", "half")]
        R = rc.rotation_matrix({mended.WORDS}, theta, "interleaved")
        print(np.abs(P @ R @ P.T - rc.rotation_matrix({mended.WORDS}, theta, "half")).max())
        print(layout_demo.mixed_layout_score_error(theta, range({mended.FARTHEST + 1})))
        """,
    )


def two_decimal_text(value: float) -> str:
    """Return a number with two decimals.

    >>> two_decimal_text(-0.4)
    '−0.40'
    """
    return f"{value:.2f}".replace("-", "−")


def layout_score_finding(drawn: LayoutVectors, given: Control, t: PageTexts) -> TextTrack:
    """Return what becomes of arrows and score by their own code and by the other's."""
    right, wrong = drawn.score_text("half"), drawn.score_text("mixed")
    return given.texts((t("same_finding", score=right), t("mixed_finding", score=wrong, right=right)))


def layout_order_panels(drawn: LayoutVectors, given: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return both rows of numbers with the arrows between them, for a wide screen and for a phone."""
    return _picture(drawn, given, t, wide=True), _picture(drawn, given, t, wide=False)


def _picture(drawn: LayoutVectors, given: Control, t: PageTexts, *, wide: bool) -> Panel:
    middle, low = (-1.75, -3.5) if wide else (-2.1, -4.2)
    height = HIGH if wide else TILE
    font_size = 17 if wide else 13
    query = drawn.query
    numbers, owners = query.interleaved[0], np.repeat(np.arange(4), 2)
    moved, half_owners = numbers[query.order], owners[query.order]
    travels = given.numbers(np.array([[low], [0.0]]))
    whole = _row(moved, half_owners, travels, height, font_size)
    drawing = [
        *_threads(owners, owners, -height, middle + RADIUS),
        *_only(given, OTHER, _threads(half_owners, owners, -height, middle + RADIUS)),
        *_only(given, OWN, _threads(half_owners, half_owners, low + height, middle - RADIUS)),
        *_arrows(drawn, given, middle, wide=wide),
        *_brackets(given, owners, half_owners, height),
        *_row(numbers, owners, given.numbers(np.zeros((2, 1))), height, 0),
        *_row(numbers, owners, _shown(given, OWN, 0.0), height, font_size),
        *_row(moved, half_owners, _shown(given, OTHER, low), height, 0),
        marks.drag_handle(given, 4.0, travels, "ink", t("grab_row"), whole, radius_px=0),
        *(_wide_words if wide else _narrow_words)(drawn, given, middle, low, t),
    ]
    return Panel(
        Axis(-2.75, 10.2) if wide else Axis(-0.1, 8.1),
        Axis(-4.35, 1.05) if wide else Axis(-6.15, 1.85),
        drawing,
        min_width=2000 if wide else 300,
        height=390,
        equal_aspect=True,
        screen="wide" if wide else "narrow",
    )


def _shown(given: Control, stop: int, *values: float) -> NumberTrack:
    """Return numbers at one stop alone: what has them is away at the other."""
    return given.numbers(np.where(np.arange(2)[:, None] == stop, np.array(values), np.nan))


def _row(numbers: Array, owners: DimIndices, y: NumberTrack, height: float, font_size: int) -> list[Mark]:
    """Return numbers in tiles of their pairs' colours; without a ``font_size`` the dashed outlines alone."""
    drawn: list[Mark] = []
    for place, (value, owner) in enumerate(zip(numbers.tolist(), owners.tolist(), strict=True)):
        colour, x = COLOURS[owner], place + 0.5
        low, high = (NumberTrack(y.drivers, y.keyframes + by) for by in (-height, height))
        if not font_size:
            edge: dict[str, Any] = {"outline": colour, "stroke_dash": "5 4", "corner_px": 5, "opacity": 0.6}
            drawn.append(marks.rect(x - TILE, x + TILE, low, high, "none", **edge))
            continue
        ink = text_colour_on(colour)
        drawn += [
            marks.rect(x - TILE, x + TILE, low, high, colour, corner_px=5),
            marks.text(x, y, two_decimal_text(value), ink, bold=True, halo=False, font_size=font_size, dy=6),
        ]
    return drawn


def _threads(owners: DimIndices, dials: DimIndices, tiles_y: float, dials_y: float) -> list[Mark]:
    """Return a curve from each tile, in its pair's colour, to the dial of ``dials`` that its code turns it in."""
    each = enumerate(zip(owners.tolist(), dials.tolist(), strict=True))
    return [
        link_curve(place + 0.5, tiles_y, 2.0 * dial + 1, dials_y, COLOURS[owner], stroke_width=2.5)
        for place, (owner, dial) in each
    ]


def _only(given: Control, stop: int, lines: list[Mark]) -> list[Mark]:
    """Return lines that are there at one stop alone."""
    return [line | {"y": _shown(given, stop, *line["y"])} for line in lines]


def _arrows(drawn: LayoutVectors, given: Control, y: float, *, wide: bool) -> list[Mark]:
    """Return each pair's arrow after the turn; by the wrong code it is product of two numbers of different pairs.

    ``wide``: with the arrow before the turn, thin.
    """
    right, wrong = (INTERLEAVED.split_pairs(numbers[1]) for numbers in (drawn.query.interleaved, drawn.query.mixed))
    start = INTERLEAVED.split_pairs(drawn.query.interleaved[0])
    shapes: list[Mark] = []
    for pair, colour in enumerate(COLOURS):
        x = 2.0 * pair + 1
        (a, b), (c, d) = (right[0][pair], right[1][pair]), (wrong[0][pair], wrong[1][pair])
        lengths, angles = np.hypot([a, c], [b, d]), np.unwrap(np.arctan2([b, d], [a, c]))
        reach, angle = given.numbers(0.85 * RADIUS * lengths[:, None]), given.numbers(angles)
        index = given.numbers(np.array([[0], [1]], dtype=np.int8))
        still = mark_angle_from_clock(float(angles[0]))
        before = marks.vector(
            _shown(given, OWN, x),
            y,
            0.85 * RADIUS * float(np.hypot(start[0][pair], start[1][pair])),
            mark_angle_from_clock(float(np.arctan2(start[1][pair], start[0][pair]))),
            colour,
            2,
            True,
        )
        shapes += [
            marks.circle(x, y, RADIUS, GREY, 1.5),
            *([before | {"opacity": 0.7}] if wide else []),
            marks.vector(x, y, 0.85 * RADIUS * lengths[0], still, colour, 3, True, stroke_dash="4 4"),
            marks.vector(x, y, reach, mark_angle_from_clock(angle), (colour, UNSEEN_COLOUR), 6, True, index),
            marks.dot([x], [y], "ink", 4),
        ]
    return shapes


def _brackets(given: Control, owners: DimIndices, half_owners: DimIndices, height: float) -> list[Mark]:
    """Return brackets over the neighbours that Meta's code turns together, in the colours of their pairs."""
    low, high = height + 0.06, height + 0.22
    own, other = (
        [
            marks.line([place + 0.5, place + 0.5, place // 2 * 2 + 1.0], [low, high, high], COLOURS[owner], 3)
            for place, owner in enumerate(each.tolist())
        ]
        for each in (owners, half_owners)
    )
    crosses = [
        marks.text(2.0 * dial + 1, _shown(given, OTHER, high), "✗", UNSEEN_COLOUR, bold=True, font_size=18, dy=7)
        for dial in range(4)
    ]
    return [*own, *_only(given, OTHER, other), *crosses]


def _at(given: Control, own: str, other: str) -> TextTrack:
    return given.texts((own, other))


def _score(drawn: LayoutVectors, given: Control, t: PageTexts) -> tuple[TextTrack, TextTrack]:
    """Return the score that Meta's code gives as right and as wrong text, one of them empty."""
    return _at(given, drawn.score_text("interleaved"), ""), _at(
        given, "", f"✗ {drawn.score_text('mixed')} {t('wrong')}"
    )


def _wide_words(drawn: LayoutVectors, given: Control, middle: float, low: float, t: PageTexts) -> list[Mark]:
    """Return what the rows and arrows are, at the left, and the scores at the right."""
    left: dict[str, Any] = {"anchor": "start"}
    head = {**left, "bold": True, "font_size": 18}
    right = drawn.score_text("half")
    lines = [
        marks.text(-2.7, middle, _at(given, t("thin"), t("after_turn")), MUTED_COLOUR, dy=-20, **left),
        marks.text(-2.7, middle, _at(given, t("thick", place=QUERY_POSITION), ""), dy=4, **left),
        marks.text(-2.7, middle, _at(given, t("same_arrows"), ""), dy=28, **head | {"font_size": 16}),
        marks.text(-2.7, middle, _at(given, "", t("solid")), UNSEEN_COLOUR, dy=4, **head | {"font_size": 16}),
        marks.text(-2.7, middle, _at(given, "", t("dashed")), dy=28, **left),
        marks.text(-2.7, middle, t("components"), MUTED_COLOUR, dy=52, **left | {"font_size": 13}),
    ]
    arrow = marks.vector(9.2, _shown(given, OWN, low + 0.45), -low - 1.25, np.pi / 2, "ink", 2, True, stroke_dash="6 5")
    return [
        marks.text(4.0, HIGH + 0.45, _at(given, t("before_turn"), ""), MUTED_COLOUR),
        marks.text(4.0, HIGH + 0.45, _at(given, "", t("strangers")), bold=True, font_size=17),
        marks.text(-2.7, 0.0, t("meta"), dy=-2, **head),
        marks.text(-2.7, 0.0, _at(given, t("side_by_side"), t("turns_neighbours")), MUTED_COLOUR, dy=20, **left),
        marks.text(-2.7, 0.0, _at(given, t("in_paper"), ""), MUTED_COLOUR, dy=40, **left),
        *lines,
        marks.text(-2.7, low, t("hugging_face"), dy=-8, **head),
        marks.text(-2.7, low, _at(given, t("half_apart"), t("moved")), MUTED_COLOUR, dy=13, **left),
        marks.text(-2.7, low, _at(given, t("rotate_half"), ""), MUTED_COLOUR, dy=33, **left),
        drag_hint(_shown(given, OWN, 4.0), low - HIGH, t("drag_row"), dy=26, anchor="middle"),
        marks.text(8.3, 0.0, t("score"), KEY_COLOUR, dy=-14, **left),
        *verdict_marks(8.3, 0.0, *_score(drawn, given, t), font_size=24, dy=16),
        marks.text(8.3, 0.0, _at(given, t("paired_alike"), t("mixed_too")), MUTED_COLOUR, dy=38, **left),
        arrow,
        marks.text(8.3, low, _at(given, t("score"), t("in_own_code")), KEY_COLOUR, dy=-14, **left),
        marks.text(
            8.3, low, _at(given, right, f"✓ {right}"), TRAINED_COLOUR, dy=16, anchor="start", bold=True, font_size=24
        ),
    ]


def _narrow_words(drawn: LayoutVectors, given: Control, middle: float, low: float, t: PageTexts) -> list[Mark]:
    """Return the rows' names and scores above and below them."""
    right = drawn.score_text("half")
    head: dict[str, Any] = {"anchor": "start", "bold": True, "font_size": 16}
    end: dict[str, Any] = {"anchor": "end", "bold": True, "font_size": 17}
    own = _at(given, f"{t('score')} {right}", "")
    top, foot = 1.45, low - 0.85
    return [
        marks.text(0.05, top, t("meta"), **head),
        marks.text(
            0.05, top, _at(given, t("side_by_side"), t("turns_neighbours")), MUTED_COLOUR, anchor="start", dy=19
        ),
        *verdict_marks(8.0, top, own, _score(drawn, given, t)[1], **end),
        marks.text(0.05, foot, t("hugging_face"), **head),
        marks.text(0.05, foot, _at(given, t("half_apart"), t("moved")), MUTED_COLOUR, anchor="start", dy=19),
        drag_hint(_shown(given, OWN, 0.05), foot, t("drag_row"), dy=44),
        marks.text(8.0, foot, [t("score"), " ", _at(given, right, f"✓ {right}")], TRAINED_COLOUR, **end),
    ]
