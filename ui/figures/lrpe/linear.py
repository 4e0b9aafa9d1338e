"""Figures of the LRPE page's second half: the document's slips, and what linear attention does with the op."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.lrpe import errata, explain, linear
from rope_core.rope import Array
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, Drawing, grid, kept
from ui.figures.lrpe.op import apart, base_layout, limit, panel, title
from ui.text.words import Words

TOKENS = 32
DRAWN, REACH = 256, 64
POINTS = 240
# What the document prints and what holds, by erratum.
FORMULAS = {
    "row": ("lrpe_row_printed", "lrpe_row_corrected"),
    "halves": ("lrpe_halves_printed", "lrpe_halves_corrected"),
    "from_o": ("lrpe_from_o_printed", "lrpe_from_o_corrected"),
    "derivative": ("lrpe_derivative_printed", "lrpe_derivative_corrected"),
    "theta": ("lrpe_theta_printed", "lrpe_theta_corrected"),
}


@kept
def slip(base: float, position: int, t: Words) -> Drawing:
    """One vector by the element-wise lines, by x^T W and by x^T W^T: the first pair on a circle, all entries beside."""
    x, theta = errata.drawn(base)
    found = explain.row_vector_slip(x, theta, position)
    by_transpose = x @ explain.block_diagonal(theta, position).T
    half = theta.size
    shown = ((t("before"), x, GREY, "circle", 10), (t("by_lines"), found.by_elements, BLUE, "circle-open", 22))
    shown += ((t("by_transpose"), by_transpose, GREEN, "circle", 9), (t("by_rows"), found.by_rows, RED, "x", 14))
    data = []
    for name, values, colour, symbol, size in shown:
        mark = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 3, "color": colour}}
        look = {
            "type": "scatter",
            "marker": mark,
            "name": name,
            "legendgroup": name,
            "line": {"color": colour, "width": 4},
        }
        arrow = {"mode": "lines+markers", "x": [0, values[0]], "y": [0, values[half]]}
        sizes = mark | {"size": [0.1, size]}
        data.append(look | arrow | {"marker": sizes, "showlegend": False})
        data.append(look | {"mode": "markers", "x": np.arange(x.size), "y": values, "xaxis": "x2", "yaxis": "y2"})
    radius = 1.15 * float(np.hypot(x[0], x[half]))
    layout = base_layout(400) | {"showlegend": True}
    layout["xaxis"] = {"domain": [0, 0.36], "range": [-radius, radius], "title": {"text": t("slip_first")}}
    layout["yaxis"] = {"range": [-radius, radius], "scaleanchor": "x", "title": {"text": t("slip_second", i=half)}}
    layout["xaxis2"] = {"domain": [0.48, 1], "anchor": "y2", "dtick": 1, "title": {"text": t("dimension")}}
    layout["yaxis2"] = {"anchor": "x2"}
    said = t(
        "slip_finding",
        t=f"{position:,}",
        rows=f"{found.residual:.3g}",
        back=apart(found.residual_backwards),
        fixed=apart(found.residual_transposed),
    )
    columns = {"x": x, "element_wise": found.by_elements, "x_W": found.by_rows, "x_W_transposed": by_transpose}
    return Drawing(
        "slip",
        go.Figure({"data": data, "layout": layout}),
        said,
        lambda: columns,
        f"""
        from rope_core.lrpe import errata, explain
        x, theta = errata.drawn({base!r})
        print(explain.row_vector_slip(x, theta, {position}))
        print(errata.errata({base!r}, {position}))
        """,
    )


def errata_list(base: float, position: int, t: Words) -> str:
    """The document's slips as a Markdown list: what it prints, how far off that is, what holds, how far that is."""
    lines = []
    for row in errata.errata(base, position):
        printed, right = (f"${t.formula(key)}$" for key in FORMULAS[row.key])
        numbers = {"off": f"{row.printed:.3g}", "left": apart(row.corrected)}
        lines.append("- " + t("slip_line", printed=printed, right=right, why=t(f"erratum.{row.key}"), **numbers))
    return "\n".join(lines)


@kept
def attention(rope: rc.Rope, phi: str, t: Words) -> Drawing:
    """Scores of drawn non-negative features, plain and turned, on one scale."""
    found = linear.drawn_attention(rope.theta, phi, TOKENS)
    plain, scores = np.tril(found.plain), np.tril(found.scores)
    hidden = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), 1)
    top, tokens = limit(plain, scores), np.arange(TOKENS)
    layout, data = base_layout(420), []
    for axis, left, values, name in (("", 0.0, plain, "plain_scores"), ("2", 0.54, scores, "turned_scores")):
        bar = {"thickness": 14} if axis else None
        data.append(panel(np.where(hidden, np.nan, values), tokens, tokens, axis, top, bar))
        layout["annotations"].append(title(f"<b>{t(name)}</b>", left, 1.0))
        layout[f"xaxis{axis}"] = {"domain": [left, left + 0.46], "anchor": f"y{axis}", "title": {"text": t("key_n")}}
        layout[f"xaxis{axis}"]["showgrid"] = False
        layout[f"yaxis{axis}"] = {"anchor": f"x{axis}", "autorange": "reversed", "nticks": 6, "showgrid": False}
        layout[f"yaxis{axis}"]["showticklabels"] = not axis
    layout["yaxis"]["title"] = {"text": t("query_m")}
    said = t(
        "attention_finding",
        phi=t(f"act.{phi}"),
        least=f"{plain[~hidden].min():.3g}",
        negative=found.negative,
        count=int((~hidden).sum()),
        residual=apart(found.residual),
    )
    if found.undefined:
        said += t("attention_undefined", count=found.undefined)
    return Drawing(
        "attention",
        go.Figure({"data": data, "layout": layout}),
        said,
        lambda: {**grid(tokens, tokens, found.plain, ("key", "query", "plain")), "turned": found.scores.ravel()},
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
    line = explain.mean_decay(rope.theta, far)
    near = np.arange(1, REACH + 1)
    dots = linear.drawn_decay(rope.theta, phi, DRAWN)[near]
    exact = explain.mean_decay(rope.theta, near)
    line_look = {"mode": "lines", "name": t("expected"), "line": {"color": BLUE, "width": 4}}
    dot_look = {"mode": "markers", "name": t("measured"), "marker": {"color": ORANGE, "size": 8}}
    data = [
        {"type": "scatter", "x": far, "y": small_list(line)} | line_look,
        {"type": "scatter", "x": near, "y": small_list(dots)} | dot_look,
    ]
    layout = base_layout(360) | {"showlegend": True}
    layout["xaxis"] = {"type": "log", "title": {"text": t("distance")}, "exponentformat": "power"}
    layout["yaxis"] = {"title": {"text": t("share_left")}}
    layout["shapes"] = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": GREY}}]
    ends = {"near": line[0], "far": line[-1]}
    said = t(
        "decay_finding",
        last=f"{int(far[-1]):,}",
        reach=REACH,
        phi=t(f"act.{phi}"),
        gap=f"{np.abs(dots - exact).max():.2g}",
        **{key: f"{value:.3f}" for key, value in ends.items()},
    )
    return Drawing(
        "decay",
        go.Figure({"data": data, "layout": layout}),
        said,
        lambda: {"distance": far, "expected": line, "drawn_distance": near, "drawn": dots},
        f"""
        import rope_core as rc
        from rope_core.lrpe import explain, linear
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta
        print(explain.mean_decay(theta, [1, 10, 50]), linear.drawn_decay(theta, {phi!r}, {DRAWN})[[1, 10, 50]])
        """,
    )


def small_list(values: Array) -> list[float]:
    """Numbers to five digits after the point, short for the browser."""
    return values.round(5).tolist()
