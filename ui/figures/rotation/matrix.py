"""The rotation of four pairs as one matrix, the model's own by its blocks, three ways to write it; and backwards."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.rotation import rotate_by_elements
from rope_core.theory import demo
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.home import degrees_text
from ui.figures.layouts.mended import COLOURS
from ui.figures.layouts.threads import SIXTEENTHS, LayoutVectors
from ui.figures.plot import plotly_axis, plotly_figure, scatter_trace
from ui.figures.rotation.names import KEY_POSITION, matrix_entry_text, rotation_matrix_name
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, QUERY_COLOUR
from ui.film.composite_marks import bracketed_matrix, drag_hint, word_tile, x_hidden_past_stop
from ui.film.scene import (
    Axis,
    Control,
    Panel,
    Paragraph,
    TextOrTrack,
    TextTrack,
    sentence_parts,
    text_panel,
)
from ui.text.words import PageTexts

MARKED = 1
"""The drawn pair whose turn is written out."""


class RotationMatrices:
    """Four pairs of a query at every position of a control: their matrices, and the query before and after.

    Attributes:
        matrices: float64 (positions, 8, 8), interleaved.
        query, turned: float64 (8,) and (positions, 8).
        difference: between the matrix, element by element and complex numbers, the largest of all positions.
        relative: between R_n^T R_m and R_(m-n), n the key's position, likewise.
    """

    def __init__(self, rope: rc.Rope, positions: tuple[float, ...]) -> None:
        drawn = LayoutVectors(rope)
        self.theta: Array = drawn.theta
        self.query: Array = drawn.query.interleaved[0]

        def at(position: float) -> Array:
            return rc.rotation_matrix(position, self.theta, "interleaved")

        self.matrices: Array = np.array([at(m) for m in positions])
        self.turned: Array = self.matrices @ self.query
        ways = [demo.rotation_forms(self.query, m, self.theta, "interleaved").residual for m in positions]
        self.difference = max(ways)
        products = [
            at(KEY_POSITION).T @ matrix - at(m - KEY_POSITION)
            for m, matrix in zip(positions, self.matrices, strict=True)
        ]
        self.relative = float(np.abs(products).max())


def rotation_matrix_panels(rope: rc.Rope, turns: RotationMatrices, at: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the word on its line, its matrix times the query, one pair written three ways, and the model's matrix."""
    return _line(at, t), _product(turns, at, t), _three_ways(turns, at, t), _model(rope, t)


def pair_rotation_finding(turns: RotationMatrices, at: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return how far each of the four pairs has turned, and how many places are empty."""
    angles = np.multiply.outer(np.array(at.stops), turns.theta)
    written = {name: at.texts(map(degrees_text, angles[:, k].tolist())) for k, name in enumerate("abcd")}
    size = turns.query.size
    given = partial(t, "matrix_finding", zeros=size * (size - 2), all=size * size)
    return sentence_parts(given, m=at.stop_text, **written)


def _line(at: Control, t: PageTexts) -> Panel:
    """Return the text as a line of positions, and the word on it that is dragged."""
    first, last = at.stops[0], at.stops[-1]
    unit = (last - first) / 8
    here = at.stop_number
    tile = word_tile(here, 0.55, t("query_word"), QUERY_COLOUR)
    for side, by in (("x0", -0.45), ("x1", 0.45)):
        tile[0][side] = here + by * unit
    ends = ((first, f"{first:,.0f}", "middle"), (last, f"{last:,.0f}", "middle"))
    shown = [
        marks.line([first, last], [0.0, 0.0], GREY, 2),
        *(marks.text(x, 0.0, label, MUTED_COLOUR, anchor=anchor, font_size=13, dy=17) for x, label, anchor in ends),
        marks.text((first + last) / 2, 0.0, t("text_axis"), MUTED_COLOUR, font_size=14, dy=17),
        drag_hint(x_hidden_past_stop(at, 12.0, first + 5.0 + 0.8 * unit), 0.55, t("drag_mat"), dy=6),
        marks.link_symbol("m", marks.drag_handle(at, here, 0.55, QUERY_COLOUR, t("grab_mat"), tile, radius_px=0)),
    ]
    return Panel(Axis(first - 0.55 * unit, last + 0.55 * unit), Axis(-0.9, 1.1), shown, min_width=2000, height=58)


def _tracked(at: Control, values: Array) -> TextTrack:
    return at.texts(matrix_entry_text(value) for value in values.tolist())


def _column(at: Control, values: Array) -> list[list[TextOrTrack]]:
    return [[_tracked(at, values[:, i])] for i in range(values.shape[1])]


def _product(turns: RotationMatrices, at: Control, t: PageTexts) -> Panel:
    """Return the matrix with its blocks, the query, and the turned query."""
    size, rows = turns.query.size, [COLOURS[i // 2] for i in range(turns.query.size)]
    blocks = np.kron(np.eye(size // 2), np.ones((2, 2)))
    entries: list[list[TextOrTrack]] = [
        [_tracked(at, turns.matrices[:, i, j]) if blocks[i, j] else "" for j in range(size)] for i in range(size)
    ]
    strengths = at.numbers(np.abs(turns.matrices).reshape(len(at.stops), -1))
    before = np.tile(turns.query, (len(at.stops), 1))
    names = at.texts(rotation_matrix_name(int(m)) for m in at.stops)
    top = 2.0 * -MARKED
    head: dict[str, Any] = {"bold": True, "font_size": 17, "dy": -12}
    picture = [
        *bracketed_matrix(entries, strengths, 0.0, 0.0, rows, font_size=11),
        *bracketed_matrix(_column(at, before), np.full(size, 1.0), 9.0, 0.0, rows, width=1.3, font_size=14),
        *bracketed_matrix(_column(at, turns.turned), np.full(size, 0.3), 12.0, 0.0, rows, width=1.3, font_size=14),
        *(
            marks.rect(x0, x1, top, top - 2, "none", outline=COLOURS[MARKED], stroke_width=2.5, corner_px=4)
            for x0, x1 in ((-0.03, 8.03), (8.95, 10.35), (11.95, 13.35))
        ),
        marks.text(4.0, 0.0, sentence_parts(partial(t, "matrix_title"), name=names), **head),
        marks.link_symbol("q", marks.text(9.65, 0.0, "q", QUERY_COLOUR, **head)),
        marks.text(11.15, -4.0, "=", font_size=24, dy=8, bold=True),
        marks.text(12.65, 0.0, [names, "q"], QUERY_COLOUR, **head),
    ]
    return Panel(
        Axis(-0.3, 13.5), Axis(-8.25, 1.0), picture, min_width=330, width_share=1.6, height=300, equal_aspect=True
    )


def _difference(value: float) -> str:
    return f"{value:.0e}" if value else "0"


def _three_ways(turns: RotationMatrices, at: Control, t: PageTexts) -> Panel:
    """Return the marked pair's turn written as a block, element by element and complex, and what is left in a score."""
    a, b = map(matrix_entry_text, turns.query[2 * MARKED : 2 * MARKED + 2].tolist())
    u, v = (_tracked(at, turns.turned[:, 2 * MARKED + k]) for k in (0, 1))
    angle = at.texts(degrees_text(m * turns.theta[MARKED]) for m in at.stops)
    names: dict[str, TextOrTrack] = {
        "on": at.texts(rotation_matrix_name(int(m)) for m in at.stops),
        "rest": at.texts(rotation_matrix_name(int(m) - KEY_POSITION) for m in at.stops),
    }
    relative = partial(
        t, "relative_matrix", back=rotation_matrix_name(KEY_POSITION) + "ᵀ", difference=_difference(turns.relative)
    )
    return text_panel(
        Paragraph(t("three_title"), "ink", 17, bold=True),
        Paragraph(sentence_parts(partial(t, "three_given", a=a, b=b), angle=angle), MUTED_COLOUR, 15),
        *(Paragraph(t(f"three_{name}"), font_size=15) for name in ("block", "elements", "complex")),
        Paragraph(sentence_parts(partial(t, "three_same"), u=u, v=v), "ink", 17, bold=True),
        Paragraph(t("three_difference", difference=_difference(turns.difference)), font_size=15),
        Paragraph(sentence_parts(relative, **names), font_size=15),
        min_width=250,
        width_share=1.0,
    )


def _model(rope: rc.Rope, t: PageTexts) -> Panel:
    """Return the model's matrix by its blocks, black where it is not zero, and where the four drawn pairs are."""
    at = np.arange(rope.pairs)
    four = rope.pairs * SIXTEENTHS // 16
    near, far = 4.0 * rope.dim / 128, 16.0 * rope.dim / 128
    ticks = [
        marks.rect(2.0 * pair + near, 2.0 * pair + far, -2.0 * pair + near / 4, -2.0 * pair - 2 - near / 4, colour)
        for pair, colour in zip(four.tolist(), COLOURS, strict=True)
    ]
    empty = f"{100 * (1 - 2 / rope.dim):.0f}"
    across = Axis(0.0, float(rope.dim))
    y = Axis(-float(rope.dim), 0.0)
    inside = [
        marks.rect(0.0, float(rope.dim), -float(rope.dim), 0.0, "none", outline=GREY),
        marks.rect(2.0 * at, 2.0 * at + 2, -2.0 * at - 2, -2.0 * at, "ink"),
        *ticks,
        marks.text(2.0 * four[-1] + far, -2.0 * four[1], t("drawn_four"), MUTED_COLOUR, anchor="start", dx=6, dy=4),
    ]
    paragraphs = (
        Paragraph(t("model_title", dim=rope.dim), bold=True),
        Paragraph(t("model_blocks", pairs=rope.pairs, empty=empty), MUTED_COLOUR, 15),
    )
    return Panel(
        across, y, inside, paragraphs=paragraphs, min_width=150, width_share=0.7, height=160, equal_aspect=True
    )


@cached_figure
def rotated_gradient_chart(width: int, position: int, base: float, t: PageTexts) -> Drawing:
    """Draw a gradient pulled back through the rotation: R^T g, which is g turned by the negative angle."""
    theta = rc.Rope(width, base).theta
    gradient = demo.random_vectors(width, 1, seed=1)[0]
    exact = rc.rotation_matrix(position, theta, "interleaved").T @ gradient
    turned = rotate_by_elements(gradient, -position, theta, "interleaved")
    both: tuple[tuple[str, Array, dict[str, Any]], ...] = (
        (t("transpose"), exact, {"symbol": "circle-open", "size": 20}),
        (t("negative"), turned, {"symbol": "x", "size": 12}),
    )
    data = [
        scatter_trace(np.arange(width), values, "markers", name, marker=look | {"line": {"width": 3}})
        for name, values, look in both
    ]
    figure = plotly_figure(data, height=320, xaxis=plotly_axis(t("dimension")), yaxis=plotly_axis(t("value")))
    return Drawing(
        "backward",
        figure,
        t("backward_finding", residual=f"{np.abs(exact - turned).max():.2g}"),
        lambda: {"dimension": np.arange(width), "transpose": exact, "negative_angle": turned},
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import demo
        g = demo.random_vectors({width}, 1, seed=1)[0]
        print(rc.rotation_matrix({position}, rc.Rope({width}, {base!r}).theta, "interleaved").T @ g)
        """,
    )
