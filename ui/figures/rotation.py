"""Figures of the rotation page."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.rotation import rotate_by_elements
from rope_core.theory import demo
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREY, RED, SIGNED, Animated, Drawing, kept, styled
from ui.figures.plain import make_subplots
from ui.text.words import Words

FRAMES = 64


def arrow(tip: Array, name: str, colour: str) -> go.Scatter:
    """A vector from the origin to ``tip`` (2,)."""
    return go.Scatter(
        x=[0, float(tip[0])],
        y=[0, float(tip[1])],
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": 5},
        marker={"size": [1, 15], "color": colour, "symbol": "circle"},
    )


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

    figure = make_subplots(1, 2, figure=Animated(), column_widths=[0.42, 0.58], horizontal_spacing=0.16)
    figure.add_trace(arrow(at_q[0], t("q"), BLUE), 1, 1)
    figure.add_trace(arrow(at_k[0], t("k"), RED), 1, 1)
    figure.add_trace(
        go.Scatter(
            x=shifts, y=scores, mode="lines", name=t("score"), showlegend=False, line={"color": GREY, "width": 4}
        ),
        1,
        2,
    )
    marker = {"size": 16, "color": BLUE}
    figure.add_trace(go.Scatter(x=[shift], y=[scores[0]], mode="markers", marker=marker, showlegend=False), 1, 2)
    figure.animate(
        {
            "name": str(s),
            "traces": [0, 1, 3],
            "data": [
                {"type": "scatter", "x": [0, a[0]], "y": [0, a[1]]},
                {"type": "scatter", "x": [0, b[0]], "y": [0, b[1]]},
                {"type": "scatter", "x": [int(s)], "y": [v]},
            ],
        }
        for a, b, s, v in zip(at_q.round(4).tolist(), at_k.round(4).tolist(), shifts, scores.tolist(), strict=True)
    )
    for tip, colour in ((at_q[0], BLUE), (at_k[0], RED)):
        reach = float(np.hypot(*tip))
        ring = {"x0": -reach, "x1": reach, "y0": -reach, "y1": reach}
        figure.add_shape(type="circle", line={"color": colour, "width": 1, "dash": "dot"}, row=1, col=1, **ring)
    styled(figure, height=365)
    figure.update_layout(legend={"x": 0.24})
    play = {"frame": {"duration": 90, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": True}
    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons",
                "x": 0.0,
                "y": 1.0,
                "xanchor": "left",
                "yanchor": "bottom",
                "buttons": [{"label": t("play"), "method": "animate", "args": [None, play]}],
            }
        ]
    )
    figure.update_xaxes(range=[-radius, radius], row=1, col=1, title_text=t("first", i=pair))
    figure.update_yaxes(range=[-radius, radius], scaleanchor="x", row=1, col=1, title_text=t("second", i=pair))
    middle = float(scores[0])
    span = float(np.linalg.norm(q) * np.linalg.norm(k)) / 4
    figure.update_xaxes(title_text=t("shift_axis"), row=1, col=2)
    figure.update_yaxes(title_text=t("score_axis"), range=[middle - span, middle + span], row=1, col=2)
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
    text = [[entry(v) for v in row] for row in values.tolist()]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            text=text,
            texttemplate="%{text}" if entry_size(width) else "",
            textfont={"size": entry_size(width) or 15, "color": "black"},
            colorscale=SIGNED,
            # Twice the range of the entries: even the darkest cell leaves its black number legible.
            zmid=0,
            zmin=-2,
            zmax=2,
            xgap=1,
            ygap=1,
            showscale=False,
        )
    )
    for i in range(width // 2):
        box = {"x0": 2 * i - 0.5, "x1": 2 * i + 1.5, "y0": 2 * i - 0.5, "y1": 2 * i + 1.5}
        figure.add_shape(type="rect", line={"width": 3, "color": "black"}, **box)
    styled(figure, height=430, x=t("matrix_in"), y=t("matrix_out"))
    figure.update_yaxes(autorange="reversed", dtick=1, scaleanchor="x", constrain="domain")
    figure.update_xaxes(dtick=1, constrain="domain")
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
    figure = go.Figure(go.Scatter(x=np.arange(width), y=x, mode="markers", name=t("before"), marker={"color": GREY}))
    for name, values, symbol, size in (
        (t("by_matrix"), ways.matrix, "circle-open", 22),
        (t("by_elements"), ways.elements, "x", 13),
        (t("by_complex"), ways.complex, "circle", 7),
    ):
        mark = {"symbol": symbol, "size": size, "line": {"width": 3}}
        figure.add_trace(go.Scatter(x=np.arange(width), y=values, mode="markers", name=name, marker=mark))
    styled(figure, height=360, x=t("dimension"), y=t("value"))
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
    figure = go.Figure()
    for name, values, symbol, size in ((t("transpose"), exact, "circle-open", 20), (t("negative"), turned, "x", 12)):
        mark = {"symbol": symbol, "size": size, "line": {"width": 3}}
        figure.add_trace(go.Scatter(x=np.arange(width), y=values, mode="markers", name=name, marker=mark))
    styled(figure, height=320, x=t("dimension"), y=t("value"))
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


def shown_pair(rope: rc.Rope, wanted: int) -> int:
    """The pair to draw: the wanted one, or the last one of a narrower rotation."""
    return min(wanted, rope.pairs - 1)
