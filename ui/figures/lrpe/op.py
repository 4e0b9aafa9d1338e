"""Figures of the LRPE page: the op's stages, its frequencies and matrix, decoding, and the backward."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rope_core.layout import convert
from rope_core.lrpe import explain
from rope_core.lrpe.demo import HEADS, TOKENS, Case, backward_steps
from rope_core.rope import Array
from ui.figures import plain as go
from ui.figures.drawing import BLUE, COLOURS, GREY, ORANGE, SIGNED, Animated, Drawing, Table, grid
from ui.page.state import Field
from ui.text.words import Words

GAP_X, GAP_Y = 0.1, 0.2
LEGEND = {"legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "font": {"size": 14}}}
# Without a redraw Plotly drops the heatmaps of the subplots in which a frame moves a line.
MOVED = {"duration": 450, "redraw": True}


def left_alone(name: str, width: int) -> Field:
    """The field of the dimensions left alone on one side of a head: at least one pair turns."""
    return Field(name, "int", 0, 0, width - 2, step=2, even=True)


def recipe(case: Case, *lines: str) -> str:
    """Python lines that begin with the case."""
    head = ("from rope_core.lrpe import explain, lrpe_rotate", "from rope_core.lrpe.demo import Case, backward_steps")
    return "\n".join((*head, f"case = {case!r}", *lines))


def limit(*values: Array) -> float:
    """The largest magnitude among the values, 1 where there is none above zero."""
    return float(np.nanmax(np.abs(np.concatenate([v.ravel() for v in values])))) or 1.0


def small(values: Array) -> Array:
    """The values for the browser: four bytes each."""
    return np.asarray(values, dtype=np.float32)


def panel(
    z: Array, x: Array, y: Array, axis: str, top: float, bar: dict[str, object] | None = None
) -> dict[str, object]:
    """A heatmap of signed values between -top and top on axes x<axis> and y<axis>."""
    looks = {"colorscale": SIGNED, "zmid": 0, "zmin": -top, "zmax": top, "showscale": bar is not None}
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "x": x, "y": y, "z": small(z)}
    return {"type": "heatmap", "hovertemplate": "%{x}, %{y}: %{z:.4f}<extra></extra>", **looks, **place} | (
        {"colorbar": bar} if bar else {}
    )


def title(text: str, x: float, y: float) -> dict[str, object]:
    """A panel's title above its upper left corner."""
    where = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    return {"text": text, "x": x, "y": y, "font": {"size": 16}, **where}


def shades(top: float) -> dict[str, object]:
    """The colour bar of panels whose titles say their own largest value."""
    return {"thickness": 14, "tickvals": [-top, 0, top], "ticktext": ["−", "0", "+"], "tickfont": {"size": 18}}


def four(case: Case, panels: Sequence[tuple[str, Array, float]], marks: tuple[int, int, int], t: Words) -> go.Figure:
    """Four linked heatmaps over dimension and position, two by two, with the marked token's pair framed in each.

    ``panels``: (name, values (12, D), largest magnitude); ``marks``: token and the pair's two dimensions.
    """
    columns, rows = np.arange(case.width), case.positions
    wide, high = (1 - GAP_X) / 2, (1 - GAP_Y) / 2
    data, layout = [], base_layout(396)
    token, first, second = marks
    spots = {"type": "scatter", "mode": "markers", "x": [first, second], "y": [rows[token]] * 2, "hoverinfo": "skip"}
    spots |= {"marker": {"symbol": "square-open", "size": 15, "color": "black", "line": {"width": 3}}}
    for number, (name, values, top) in enumerate(panels):
        axis = "" if number == 0 else str(number + 1)
        left, bottom = (number % 2) * (wide + GAP_X), (1 - number // 2) * (high + GAP_Y)
        data.append(panel(values, columns, rows, axis, top, shades(top) if number == 0 else None))
        data.append(spots | {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "showlegend": False})
        layout["annotations"].append(title(f"<b>{name}</b>  ±{top:.3g}", left, bottom + high))
        linked = {"matches": "x"} if axis else {}
        layout[f"xaxis{axis}"] = {"domain": [left, left + wide], "anchor": f"y{axis}", "nticks": 5, **linked}
        linked = {"matches": "y"} if axis else {"autorange": "reversed"}
        layout[f"yaxis{axis}"] = {"domain": [bottom, bottom + high], "anchor": f"x{axis}", "nticks": 5, **linked}
        layout[f"yaxis{axis}"] |= {"tickformat": "d"}
        if number % 2 == 0:
            layout[f"yaxis{axis}"]["title"] = {"text": t("axis.position")}
        layout[f"xaxis{axis}"]["showticklabels"] = number >= 2
        layout[f"yaxis{axis}"]["showticklabels"] = number % 2 == 0
        if number >= 2:
            layout[f"xaxis{axis}"]["title"] = {"text": t("dimension")}
    return go.Figure({"data": data, "layout": layout})


def base_layout(height: int) -> dict[str, object]:
    """The house's margins and type sizes as a plain layout."""
    margin = {"l": 64, "r": 12, "t": 34, "b": 52}
    return {"height": height, "margin": margin, "font": {"size": 15}, "showlegend": False, "annotations": []} | LEGEND


def cells(case: Case, **columns: Array) -> Table:
    """Named columns of values (12, D), one row per token and dimension."""
    first, *rest = columns.items()
    table = dict(grid(np.arange(case.width), case.positions, first[1], ("dimension", "position", first[0])))
    return table | {name: values.ravel() for name, values in rest}


def apart(value: float) -> str:
    """A residual as a reader writes it."""
    return f"{value:.1e}" if value else "0"


def couple(values: Array) -> str:
    """Two numbers as a reader writes a point."""
    return f"({values[0]:.3f}, {values[1]:.3f})"


def stages(case: Case, head: int, token: int, wanted: int, t: Words) -> Drawing:
    """X, f(X), the turn, and O of one head."""
    x, bar, out = (v[0, :, head] for v in (case.stages.x, case.stages.activated, case.stages.out))
    turn = case.turn_table(head)
    pair, *at = case.pair_at(wanted)
    top = limit(bar, out)
    name = t(f"act.{case.act}")
    panels = [("X", x, limit(x)), (t("activated", act=name), bar, top), (t("turn"), turn, 1.0), ("O", out, top)]
    off = float(np.abs(np.linalg.norm(out, axis=-1) - np.linalg.norm(bar, axis=-1)).max())
    values = {key: couple(v[token, at]) for key, v in (("x", x), ("f", bar), ("o", out))}
    angle = float(case.positions[token] * case.theta_grid[head, pair])
    said = t(
        "stages_finding",
        head=head,
        m=f"{case.positions[token]:,}",
        pair=pair,
        first=at[0],
        second=at[1],
        act=name,
        angle=f"{angle:,.4g}",
        off=apart(off),
        **values,
    )
    code = recipe(case, "print(lrpe_rotate(case.x, case.theta, **case.options)[0, :, " + f"{head}])")
    figure = four(case, panels, (token, *at), t)
    return Drawing("stages", figure, said, lambda: cells(case, X=x, f_of_X=bar, cos_then_sin=turn, O=out), code)


def thetas(case: Case, head: int, t: Words) -> Drawing:
    """The frequencies of every head in the shape they come in."""
    pairs, values = np.arange(case.pairs), case.theta_grid
    one = case.theta.shape[0] != HEADS or case.theta.ndim == 1
    shown = [head] if one else [h for h in range(HEADS) if h != head] + [head]
    data = []
    for h in shown:
        strong = {"width": 6 if h == head else 3, "color": BLUE if h == head else COLOURS[1 + h % 3]}
        name = t("all_heads") if one else t("one_head", head=h)
        trace = {"type": "scatter", "mode": "lines+markers", "x": pairs, "y": values[h], "name": name}
        data.append(trace | {"line": strong | ({} if h == head else {"dash": "dot"}), "marker": {"size": 9}})
    layout = base_layout(320) | {"showlegend": True}
    layout["xaxis"] = {"title": {"text": t("axis.pair")}, "nticks": 9, "tickformat": "d"}
    layout["yaxis"] = {"title": {"text": t("theta_axis")}, "type": "log", "exponentformat": "power", "dtick": 1}
    shape = "(" + ", ".join(str(n) for n in case.theta.shape) + ("," if case.theta.ndim == 1 else "") + ")"
    key = case.kind.replace(" ", "_")
    said = t(
        f"thetas_{key}", shape=shape, base=f"{case.base:,.12g}", high=f"{values.max():.4g}", low=f"{values.min():.4g}"
    )
    figure = go.Figure({"data": data, "layout": layout})
    table = {"pair": pairs} | {f"head_{h}": values[h] for h in range(HEADS)}
    return Drawing("thetas", figure, said, lambda: table, recipe(case, "print(case.theta.shape, case.theta)"))


def outline(blocks: int, size: int) -> tuple[list[float | None], list[float | None]]:
    """Squares along the diagonal as one broken line."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for low in (size * i - 0.5 for i in range(blocks)):
        high = low + size
        xs += [low, high, high, low, low, None]
        ys += [low, low, high, high, low, None]
    return xs, ys


def matrices(case: Case, head: int, token: int, t: Words) -> Drawing:
    """W_t with its blocks on the diagonal as the document writes it, and in halves as everybody computes it."""
    position, theta = int(case.positions[token]), case.theta_grid[head]
    block = explain.block_diagonal(theta, position, "interleaved")
    half = explain.block_diagonal(theta, position)
    size = np.arange(2 * case.pairs)
    bar = {"thickness": 14, "tickvals": [-1, 0, 1]}
    xs, ys = outline(case.pairs, 2)
    frame = {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "line": {"color": "black", "width": 3 if case.pairs <= 8 else 1},
        "cliponaxis": False,
    }
    data = [panel(block, size, size, "", 1.0, bar), frame | {"hoverinfo": "skip"}, panel(half, size, size, "2", 1.0)]
    layout = base_layout(320)
    square = {"constrain": "domain", "range": [-0.5, size.size - 0.5]}
    for axis, low, name in (("", 0.0, "written"), ("2", 0.56, "computed")):
        layout[f"xaxis{axis}"] = {"domain": [low, low + 0.44], "anchor": f"y{axis}", "nticks": 7} | square
        layout[f"yaxis{axis}"] = {"anchor": f"x{axis}", "nticks": 7, "constraintoward": "top"} | square
        layout[f"yaxis{axis}"]["showticklabels"] = not axis
        layout[f"yaxis{axis}"] |= {"scaleanchor": f"x{axis}", "range": square["range"][::-1]}
        layout["annotations"].append(title(f"<b>{t(name)}</b>", low, 1.0))
    off = float(np.abs(block @ block.T - np.eye(block.shape[0])).max())
    order = convert(size.size, "interleaved", "half")
    moved = float(np.abs(block[np.ix_(order, order)] - half).max())
    counts = {"blocks": case.pairs, "pairs": case.pairs}
    said = t("matrices_finding", m=f"{position:,}", off=apart(off), moved=apart(moved), **counts)
    code = recipe(
        case,
        f"print(explain.block_diagonal(case.theta_grid[{head}], {position}, 'interleaved'))",
        f"print(explain.block_diagonal(case.theta_grid[{head}], {position}, 'half'))",
    )
    names = ("column", "row", "as_written")
    table = {**grid(size, size, block, names), "in_halves": half.ravel()}
    return Drawing("matrices", go.Figure({"data": data, "layout": layout}), said, lambda: table, code)


def decode(case: Case, head: int, t: Words) -> Drawing:
    """The whole sequence at once above, one token at a time with a growing offset below; the film uncovers it."""
    strip = explain.decode_strip(case.x, case.theta, **case.options)
    at_once, steps = strip.whole[0, :, head].T, strip.steps[0, :, head].T
    top, low, high = limit(at_once, steps), case.offset - 0.5, case.offset + TOKENS - 0.5
    rows = np.arange(case.width)
    bottom, roof = case.width - 0.5, -0.5
    heights = [roof, roof, bottom, bottom, roof]
    cover = {"type": "scatter", "mode": "lines", "x": [high] * 5, "y": heights, "fill": "toself", "hoverinfo": "skip"}
    cover |= {"xaxis": "x2", "yaxis": "y2", "fillcolor": GREY, "line": {"color": GREY, "width": 1}}
    cursor = {"type": "scatter", "mode": "lines", "x": [high] * 2, "y": [roof, bottom], "hoverinfo": "skip"}
    cursor |= {"line": {"color": ORANGE, "width": 5}}
    data = [panel(at_once, case.positions, rows, "", top), panel(steps, case.positions, rows, "2", top), cover, cursor]
    layout = base_layout(400)
    for axis, base, text in (("", 0.58, "at_once"), ("2", 0.0, "step_by_step")):
        layout["annotations"].append(title(f"<b>{t(text)}</b>", 0, base + 0.42))
        layout[f"xaxis{axis}"] = {"anchor": f"y{axis}", "range": [low, high], "tickformat": "d", "nticks": 7}
        layout[f"yaxis{axis}"] = {"domain": [base, base + 0.42], "range": [bottom, roof], "anchor": f"x{axis}"}
        layout[f"yaxis{axis}"] |= {"title": {"text": t("dimension")}, "nticks": 5}
    layout["xaxis"]["showticklabels"] = False
    layout["xaxis2"]["title"] = {"text": t("decode_axis")}
    button = {"label": t("play"), "method": "animate", "args": [None, {"frame": MOVED, "transition": {"duration": 0}}]}
    menu = {"type": "buttons", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "buttons": [button]}
    layout["updatemenus"] = [menu]
    frames = [
        {
            "name": str(n),
            "traces": [2, 3],
            "data": [{"x": [edge, high, high, edge, edge]}, {"x": [edge, edge]}],
        }
        for n, edge in ((n, case.offset + n - 0.5) for n in range(TOKENS + 1))
    ]
    figure = Animated({"data": data, "layout": layout}).animate(frames)
    difference = float(np.abs(strip.whole - strip.steps).max())
    key = "decode_same" if strip.same_bits else "decode_apart"
    said = t(key, tokens=TOKENS, first=f"{case.offset:,}", last=f"{case.positions[-1]:,}", apart=f"{difference:.3g}")
    code = recipe(
        case,
        "strip = explain.decode_strip(case.x, case.theta, **case.options)",
        "print(strip.same_bits, abs(strip.whole - strip.steps).max())",
    )
    return Drawing("decode", figure, said, lambda: cells(case, at_once=at_once.T, step_by_step=steps.T), code)


def backward(case: Case, head: int, token: int, wanted: int, t: Words) -> Drawing:
    """DO, turned by -theta, the activation's derivative, and dX, each beside torch's autograd."""
    found = backward_steps(case)
    grad, turned, factor, dx = (v[0, :, head] for v in (found.grad, found.turned, found.factor, found.dx))
    _, *at = case.pair_at(wanted)
    soft = found.gap_factor is None
    top = limit(grad, turned)
    panels = [("dO", grad, top), (t("turned_back"), turned, top)]
    panels += [(t("soft_factor" if soft else "slope"), factor, limit(factor)), ("dX", dx, limit(dx))]
    gaps = {"turned": found.gap_turned, "dx": found.gap_dx, "dtheta": found.gap_dtheta}
    if found.gap_factor is not None:
        gaps["slope"] = found.gap_factor
    said = t(
        "backward_softmax" if soft else "backward_finding",
        act=t(f"act.{case.act}"),
        **{key: apart(value) for key, value in gaps.items()},
    )
    names = {"dO": grad, "turned_by_minus_theta": turned, "softmax" if soft else "slope": factor, "dX": dx}
    figure = four(case, panels, (token, *at), t)
    return Drawing("backward", figure, said, lambda: cells(case, **names), recipe(case, "print(backward_steps(case))"))


def slice_words(case: Case, t: Words) -> str:
    """What turns of a head, in words."""
    key = "whole_head" if 2 * case.pairs == case.width else "part_of_head"
    return t(key, width=case.width, first=case.front, last=case.width - case.behind - 1)
