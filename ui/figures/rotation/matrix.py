"""The rotation as a matrix, element by element, as complex numbers, and backwards."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.rotation import rotate_by_elements
from rope_core.theory import demo
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import Props, axis, heatmap, plot, scatter
from ui.film.colours import DIVERGING_SCALE, GREY
from ui.text.words import Words


def entry(value: float) -> str:
    """Return a matrix entry to two places; nothing for a zero, and no rounded zero that looks like one."""
    if not value:
        return ""
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "≈0"


def entry_size(width: int) -> int:
    """Letters with which an entry fits its cell of a matrix 280 pixels wide; 0 where no legible ones do."""
    size = min(15, 108 // width)
    return size if size >= 9 else 0


@cached_figure
def matrix(width: int, position: int, base: float, t: Words) -> Drawing:
    """Draw the rotation matrix with its 2 x 2 blocks along the diagonal."""
    rope = rc.Rope(width, base)
    values = rc.rotation_matrix(position, rope.theta, "interleaved")
    figure = plot(
        [
            heatmap(
                values,
                DIVERGING_SCALE,
                text=[[entry(v) for v in row] for row in values.tolist()],
                texttemplate="%{text}" if entry_size(width) else "",
                textfont={"size": entry_size(width) or 15, "color": "black"},
                # Twice the range of the entries: even the darkest cell leaves its black number legible.
                zmid=0,
                zmin=-2,
                zmax=2,
                xgap=1,
                ygap=1,
                showscale=False,
            )
        ],
        height=430,
        shapes=[
            {"type": "rect", "x0": low, "x1": low + 2, "y0": low, "y1": low + 2, "line": {"width": 3, "color": "black"}}
            for low in np.arange(-0.5, width - 1, 2).tolist()
        ],
        xaxis=axis(t("matrix_in"), dtick=1, constrain="domain"),
        yaxis=axis(t("matrix_out"), autorange="reversed", dtick=1, scaleanchor="x", constrain="domain"),
    )
    off = float(np.abs(values @ values.T - np.eye(width)).max())
    return Drawing(
        "matrix",
        figure,
        t("matrix_finding", blocks=width // 2, m=position, off=f"{off:.2g}"),
        lambda: {f"column {j}": values[:, j] for j in range(width)},
        f"""
        import rope_core as rc
        rope = rc.Rope({width}, {base!r})
        print(rc.rotation_matrix({position}, rope.theta, "interleaved"))
        """,
    )


@cached_figure
def three_forms(width: int, position: int, base: float, t: Words) -> Drawing:
    """One vector turned in three ways: the bars coincide."""
    rope = rc.Rope(width, base)
    x = demo.drawn_vectors(width, 1)[0]
    ways = demo.three_ways(x, position, rope.theta, "interleaved")
    at = np.arange(width)
    ways_drawn = (
        (t("by_matrix"), ways.matrix, "circle-open", 22),
        (t("by_elements"), ways.elements, "x", 13),
        (t("by_complex"), ways.complex, "circle", 7),
    )
    figure = plot(
        [scatter(at, x, "markers", t("before"), marker={"color": GREY})]
        + [marks(at, values, name, symbol, size) for name, values, symbol, size in ways_drawn],
        height=360,
        xaxis=axis(t("dimension")),
        yaxis=axis(t("value")),
    )
    norm = abs(float(np.linalg.norm(ways.matrix) - np.linalg.norm(x)))
    return Drawing(
        "three_forms",
        figure,
        t("three_finding", residual=f"{ways.residual:.2g}", norm=f"{norm:.2g}"),
        lambda: {"dimension": at, "x": x, "matrix": ways.matrix, "elements": ways.elements, "complex": ways.complex},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        x = demo.drawn_vectors({width}, 1)[0]
        print(demo.three_ways(x, {position}, rc.Rope({width}, {base!r}).theta, "interleaved"))
        """,
    )


@cached_figure
def backward(width: int, position: int, base: float, t: Words) -> Drawing:
    """Draw a gradient pulled back through the rotation: R^T g, which is g turned by the negative angle."""
    theta = rc.Rope(width, base).theta
    gradient = demo.drawn_vectors(width, 1, seed=1)[0]
    exact = rc.rotation_matrix(position, theta, "interleaved").T @ gradient
    turned = rotate_by_elements(gradient, -position, theta, "interleaved")
    both = ((t("transpose"), exact, "circle-open", 20), (t("negative"), turned, "x", 12))
    figure = plot(
        [marks(np.arange(width), values, name, symbol, size) for name, values, symbol, size in both],
        height=320,
        xaxis=axis(t("dimension")),
        yaxis=axis(t("value")),
    )
    return Drawing(
        "backward",
        figure,
        t("backward_finding", residual=f"{np.abs(exact - turned).max():.2g}"),
        lambda: {"dimension": np.arange(width), "transpose": exact, "negative_angle": turned},
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import demo
        g = demo.drawn_vectors({width}, 1, seed=1)[0]
        print(rc.rotation_matrix({position}, rc.Rope({width}, {base!r}).theta, "interleaved").T @ g)
        """,
    )


def marks(x: Any, y: Array, name: str, symbol: str, size: int) -> Props:
    """Return marks of one shape."""
    return scatter(x, y, "markers", name, marker={"symbol": symbol, "size": size, "line": {"width": 3}})
