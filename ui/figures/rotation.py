"""Figures of the rotation page."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.rotation import rotate_by_elements
from rope_core.theory import demo
from ui.figures.colours import BLUE, GREY, RED, SIGNED
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import Props, axis, dots, frame, heatmap, in_panel, line, panels, play, plot, scatter, split
from ui.text.words import Words

FRAMES = 64


def arrow(tip: Array, name: str, colour: str) -> Props:
    """Return a vector from the origin to ``tip`` (2,)."""
    head = {"size": [1, 15], "color": colour, "symbol": "circle"}
    return line([0, float(tip[0])], [0, float(tip[1])], colour, 5, name, mode="lines+markers", marker=head)


def ring(tip: Array, colour: str) -> Props:
    """Return the circle about the origin on which ``tip`` (2,) turns."""
    reach = float(np.hypot(*tip))
    ends = {"x0": -reach, "x1": reach, "y0": -reach, "y1": reach}
    return {"type": "circle", "xref": "x", "yref": "y", **ends, "line": {"color": colour, "width": 1, "dash": "dot"}}


@kept
def circle(rope: rc.Rope, pair: int, m: int, n: int, shift: int, t: Words) -> Drawing:
    """q and k of one pair turned to m + shift and n + shift, and the whole score for every shift."""
    q, k = demo.drawn_vectors(rope.dim)
    shifts = np.arange(shift, shift + FRAMES)
    at_q = demo.pair_path(q, pair, m + shifts, rope.theta, "interleaved")
    at_k = demo.pair_path(k, pair, n + shifts, rope.theta, "interleaved")
    scores = demo.scores_under_shift(q, k, m, n, shifts, rope.theta, "interleaved")
    reference = demo.score(q, k, m, n, rope.theta, "interleaved")
    drift = float(np.abs(scores - reference).max())
    radius = 1.1 * float(max(np.hypot(*at_q[0]), np.hypot(*at_k[0])))

    middle, span = float(scores[0]), float(np.linalg.norm(q) * np.linalg.norm(k)) / 4
    steps = zip(at_q.round(4).tolist(), at_k.round(4).tolist(), shifts.tolist(), scores.tolist(), strict=True)
    plane = {"range": [-radius, radius]}
    figure = plot(
        [
            arrow(at_q[0], t("q"), BLUE),
            arrow(at_k[0], t("k"), RED),
            in_panel(2, line(shifts, scores, GREY, name=t("score"), showlegend=False)),
            in_panel(2, dots([shift], [scores[0]], BLUE, 16)),
        ],
        height=365,
        frames=[
            frame(
                s, {0: {"x": [0, a[0]], "y": [0, a[1]]}, 1: {"x": [0, b[0]], "y": [0, b[1]]}, 3: {"x": [s], "y": [v]}}
            )
            for a, b, s, v in steps
        ],
        shapes=[ring(at_q[0], BLUE), ring(at_k[0], RED)],
        legend={"x": 0.24},
        updatemenus=play(t("play"), 90, x=0.0, xanchor="left"),
        **panels(
            [
                (axis(t("first", i=pair), **plane), axis(t("second", i=pair), scaleanchor="x", **plane)),
                (axis(t("shift_axis")), axis(t("score_axis"), range=[middle - span, middle + span])),
            ],
            split([0.42, 0.58], 0.16),
        ),
    )
    return Drawing(
        "circle",
        figure,
        t("circle_finding", m=m + shift, n=n + shift, score=f"{scores[0]:.6f}", d=m - n, drift=f"{drift:.2g}"),
        lambda: (
            {"shift": shifts, "score": scores, "q_first": at_q[:, 0], "q_second": at_q[:, 1]}
            | {"k_first": at_k[:, 0], "k_second": at_k[:, 1]}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.drawn_vectors(rope.dim)
        print(demo.scores_under_shift(q, k, {m}, {n}, range({shift}, {shift + FRAMES}), rope.theta, "interleaved"))
        """,
        wide=True,
    )


def entry(value: float) -> str:
    """A matrix entry to two places; nothing for a zero, and no rounded zero that looks like one."""
    if not value:
        return ""
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "≈0"


def entry_size(width: int) -> int:
    """Letters with which an entry fits its cell of a matrix 280 pixels wide; 0 where no legible ones do."""
    size = min(15, 108 // width)
    return size if size >= 9 else 0


@kept
def matrix(width: int, position: int, base: float, t: Words) -> Drawing:
    """The rotation matrix with its 2 x 2 blocks along the diagonal."""
    rope = rc.Rope(width, base)
    values = rc.rotation_matrix(position, rope.theta, "interleaved")
    figure = plot(
        [
            heatmap(
                values,
                SIGNED,
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


@kept
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
        lambda: {"x": x, "matrix": ways.matrix, "elements": ways.elements, "complex": ways.complex},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        x = demo.drawn_vectors({width}, 1)[0]
        print(demo.three_ways(x, {position}, rc.Rope({width}, {base!r}).theta, "interleaved"))
        """,
    )


@kept
def backward(width: int, position: int, base: float, t: Words) -> Drawing:
    """A gradient pulled back through the rotation: R^T g, which is g turned by the negative angle."""
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
        lambda: {"transpose": exact, "negative_angle": turned},
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


def shown_pair(rope: rc.Rope, wanted: int) -> int:
    """Return the pair to draw: the wanted one, or the last one of a narrower rotation."""
    return min(wanted, rope.pairs - 1)
