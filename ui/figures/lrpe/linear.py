"""Figures of the LRPE page's second half: the document's slips, and what linear attention does with the op."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.lrpe import demo, explain, linear
from rope_core.rope import Array
from ui.figures.drawing import Drawing, grid, kept
from ui.figures.lrpe.op import LAYOUT, apart, limit, signed_map, title
from ui.figures.plot import LOG, Props, axis, dots, in_panel, line, panels, plot, split
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, RED
from ui.text.words import Words

TOKENS = 32
DRAWN, REACH = 256, 64
POINTS = 240


@kept
def slip(base: float, position: int, t: Words) -> Drawing:
    """One vector by the element-wise lines, by x^T W and by x^T W^T: the first pair on a circle, all entries beside."""
    x, theta = demo.drawn_vector(base)
    results = explain.row_vector_slip(x, theta, position)
    by_transpose = x @ explain.block_diagonal(theta, position).T
    half = theta.size
    shown = (
        (t("before"), x, GREY, "circle", 10),
        (t("by_lines"), results.by_elements, BLUE, "circle-open", 22),
        (t("by_transpose"), by_transpose, GREEN, "circle", 9),
        (t("by_rows"), results.by_rows, RED, "x", 14),
    )
    data = []
    for name, values, colour, symbol, size in shown:
        look: Props = {"symbol": symbol, "line": {"width": 3, "color": colour}}
        tip: Props = {"marker": look | {"size": [0.1, size], "color": colour}, "name": name, "showlegend": False}
        data.append(line([0, values[0]], [0, values[half]], colour, mode="lines+markers", legendgroup=name, **tip))
        data.append(in_panel(2, dots(np.arange(x.size), values, colour, size, name, marker=look, legendgroup=name)))
    radius = 1.15 * float(np.hypot(x[0], x[half]))
    plane = {"range": [-radius, radius]}
    left = axis(t("slip_first"), **plane), axis(t("slip_second", i=half), scaleanchor="x", **plane)
    figure = plot(data, **LAYOUT, **panels([left, (axis(t("dimension"), dtick=1), {})], [[0, 0.36], [0.48, 1]]))
    sentence = t(
        "slip_finding",
        t=f"{position:,}",
        rows=f"{results.residual:.3g}",
        back=apart(results.residual_backwards),
        fixed=apart(results.residual_transposed),
    )
    columns = {"x": x, "element_wise": results.by_elements, "x_W": results.by_rows, "x_W_transposed": by_transpose}
    return Drawing(
        "slip",
        figure,
        sentence,
        lambda: columns,
        f"""
        from rope_core.lrpe import demo, explain
        print(explain.row_vector_slip(*demo.drawn_vector({base!r}), {position}))
        """,
    )


@kept
def attention(rope: rc.Rope, phi: str, t: Words) -> Drawing:
    """Scores of drawn non-negative features, plain and turned, on one scale."""
    results = linear.drawn_attention(rope.theta, phi, TOKENS)
    plain, scores = np.tril(results.plain), np.tril(results.scores)
    hidden = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), 1)
    top, tokens = limit(plain, scores), np.arange(TOKENS)
    columns, axes, data = split([1, 1], 0.08), [], []
    for side, values in enumerate((plain, scores)):
        bar = {"thickness": 14} if side else None
        data.append(in_panel(side + 1, signed_map(np.where(hidden, np.nan, values), tokens, tokens, top, bar)))
        down = axis(autorange="reversed", nticks=6, showgrid=False, showticklabels=not side)
        axes.append((axis(t("key_n"), showgrid=False), down if side else axis(t("query_m")) | down))
    heads = [title(f"<b>{t(name)}</b>", columns[k][0], 1.0) for k, name in enumerate(("plain_scores", "turned_scores"))]
    figure = plot(data, height=420, **LAYOUT, annotations=heads, **panels(axes, columns))
    sentence = t(
        "attention_finding",
        phi=t(f"act.{phi}"),
        least=f"{plain[~hidden].min():.3g}",
        negative=results.negative,
        count=int((~hidden).sum()),
        residual=apart(results.residual),
    )
    if results.undefined:
        sentence += t("attention_undefined", count=results.undefined)
    return Drawing(
        "attention",
        figure,
        sentence,
        lambda: {**grid(tokens, tokens, results.plain, ("key", "query", "plain")), "turned": results.scores.ravel()},
        f"""
        import rope_core as rc
        from rope_core.lrpe import linear
        found = linear.drawn_attention(rc.Rope({rope.dim}, {rope.base!r}).theta, {phi!r}, {TOKENS})
        print(found.negative, found.residual)
        """,
    )


def whole_distances(last: int) -> Array:
    """Distances from 1 to ``last``, whole and evenly spread on a logarithmic axis."""
    return np.unique(np.rint(np.geomspace(1, last, POINTS)))


@kept
def decay(rope: rc.Rope, phi: str, t: Words) -> Drawing:
    """How the mean score falls with distance: the formula up to the trained context, drawn features nearby."""
    far = whole_distances(max(rope.train_len, REACH))
    curve = explain.mean_decay(rope.theta, far)
    near = np.arange(1, REACH + 1)
    drawn = linear.drawn_decay(rope.theta, phi, DRAWN)[near]
    exact = explain.mean_decay(rope.theta, near)
    figure = plot(
        [
            line(far, small_list(curve), BLUE, name=t("expected")),
            dots(near, small_list(drawn), ORANGE, 8, t("measured")),
        ],
        height=360,
        **LAYOUT,
        shapes=[{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": GREY}}],
        xaxis=axis(t("distance"), **LOG, exponentformat="power"),
        yaxis=axis(t("share_left")),
    )
    ends = {"near": curve[0], "far": curve[-1]}
    sentence = t(
        "decay_finding",
        last=f"{int(far[-1]):,}",
        reach=REACH,
        phi=t(f"act.{phi}"),
        gap=f"{np.abs(drawn - exact).max():.2g}",
        **{key: f"{value:.3g}" for key, value in ends.items()},
    )
    return Drawing(
        "decay",
        figure,
        sentence,
        lambda: {"distance": far, "expected": curve, "drawn_distance": near, "drawn": drawn},
        f"""
        import rope_core as rc
        from rope_core.lrpe import explain, linear
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta
        print(explain.mean_decay(theta, [1, 10, 50]), linear.drawn_decay(theta, {phi!r}, {DRAWN})[[1, 10, 50]])
        """,
    )


def small_list(values: Array) -> list[float]:
    """Numbers to five digits after the point, short for the browser."""
    return list(values.round(5).tolist())
