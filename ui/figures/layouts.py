"""Figures of the layouts page."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.layout import as_layout
from rope_core.rope import Array
from rope_core.theory import layout_demo
from rope_core.theory.layout_demo import Shapes
from ui.figures import plain as go
from ui.figures.drawing import BLUE, COLOURS, GREEN, GREY, ORANGE, RED, Drawing, kept, on, styled, wash
from ui.figures.plain import make_subplots
from ui.text.words import Words

STEPS = 20
REST = 8
DISTANCES = 128
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def arc(left: float, right: float, level: float, height: float) -> tuple[list[float | None], list[float | None]]:
    """Half an ellipse over [left, right] standing on ``level``, ended by a gap."""
    turn = np.linspace(0, np.pi, 15)
    x = (left + right) / 2 - (right - left) / 2 * np.cos(turn)
    y = level + height * np.sin(turn)
    return [*x.round(3).tolist(), None], [*y.round(3).tolist(), None]


@kept
def permutation(width: int, t: Words) -> Drawing:
    """The dimensions in the paper's order above and in LLaMA's below, each joined to itself; dots travel between."""
    order = rc.convert(width, "interleaved", "half")
    place = rc.convert(width, "half", "interleaved")
    dims = np.arange(width)
    colours = [COLOURS[dim // 2] for dim in dims]
    figure = go.Figure()
    for pair in range(width // 2):
        ends = 2 * pair, 2 * pair + 1
        below = [int(place[dim]) for dim in ends]
        over, under = arc(*ends, 1.09, 0.14), arc(*below, -0.09, -0.26)
        figure.add_trace(
            go.Scatter(
                x=over[0] + under[0],
                y=over[1] + under[1],
                mode="lines",
                line={"color": COLOURS[pair], "width": 4},
                name=t("pair", i=pair),
                hoverinfo="name",
            )
        )
        lines = [value for dim, to in zip(ends, below, strict=True) for value in (dim, to, None)]
        path = {"color": COLOURS[pair], "width": 3, "dash": "dot"}
        figure.add_trace(
            go.Scatter(x=lines, y=[1, 0, None] * 2, mode="lines", line=path, showlegend=False, hoverinfo="skip")
        )
    looks = {
        "mode": "markers+text",
        "showlegend": False,
        "hoverinfo": "skip",
    }
    letters = [on(colour) for colour in colours]
    spot = {"size": 30, "color": colours, "line": {"width": 0}}
    figure.add_trace(
        go.Scatter(
            x=dims,
            y=np.zeros(width),
            text=order.astype(str),
            **looks,
            textfont={"size": 17, "color": [letters[d] for d in order]},
            marker=spot | {"color": [colours[d] for d in order]},
        )
    )
    figure.add_trace(
        go.Scatter(
            x=dims,
            y=np.ones(width),
            text=dims.astype(str),
            **looks,
            textfont={"size": 17, "color": letters},
            marker=spot,
        )
    )
    moving = len(figure.traces) - 1
    figure.frames = [
        go.Frame(
            data=[
                {"type": "scatter", "x": (dims + s * (place - dims)).round(3).tolist(), "y": [round(1 - s, 3)] * width}
            ],
            traces=[moving],
            name=str(number),
        )
        for number, s in enumerate(there_and_back())
    ]
    styled(figure, height=320)
    play = {"frame": {"duration": 60, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": False}
    figure.update_layout(
        margin={"l": 16, "r": 16, "t": 36, "b": 4},
        showlegend=False,
        updatemenus=[
            {
                "type": "buttons",
                "x": 1.0,
                "y": 1.02,
                "xanchor": "right",
                "yanchor": "bottom",
                "buttons": [{"label": t("play"), "method": "animate", "args": [None, play]}],
            }
        ],
    )
    figure.update_xaxes(visible=False, range=[-0.7, width - 0.3])
    figure.update_yaxes(visible=False, range=[-0.66, 1.46])
    for level, key, anchor in ((1.27, "row_paper", "bottom"), (-0.4, "row_half", "top")):
        figure.add_annotation(
            x=-0.5, y=level, text=f"<b>{t(key)}</b>", showarrow=False, xanchor="left", yanchor=anchor, font={"size": 16}
        )
    return Drawing(
        "permutation",
        figure,
        t("permutation_finding", order=", ".join(map(str, order)), pairs=width // 2, seat=int(place[1])),
        lambda: {"half_split_place": dims, "interleaved_dimension": order},
        f"""
        import rope_core as rc
        print(rc.convert({width}, "interleaved", "half"))
        """,
    )


def there_and_back() -> list[float]:
    """Shares of the way at each frame: down with a soft start and end, a rest, and up again."""
    soft: Array = (1 - np.cos(np.linspace(0, np.pi, STEPS))) / 2
    return [*soft.tolist(), *[1.0] * REST, *soft[::-1].tolist()]


def entries(width: int, layout: str, first: int) -> tuple[Array, list[list[str]]]:
    """Which pair owns each entry of the matrix (nan: none), and the entry's name with pairs counted from ``first``."""
    chosen = as_layout(layout)
    owner = np.full((width, width), np.nan)
    names = [[""] * width for _ in range(width)]
    pairs = zip(chosen.first(width // 2).tolist(), chosen.second(width // 2).tolist(), strict=True)
    for pair, (a, b) in enumerate(pairs):
        index = str(pair + first).translate(SUBSCRIPT)
        for row, column, name in ((a, a, "c"), (a, b, "−s"), (b, a, "s"), (b, b, "c")):
            owner[row, column] = pair
            names[row][column] = name + index
    return owner, names


@kept
def matrices(width: int, position: int, base: float, t: Words) -> Drawing:
    """The same rotation as the paper prints it, numbered from 0, and as LLaMA's code has it; a colour is a pair."""
    three = layout_demo.three_matrices(width, position, base)
    figure = make_subplots(
        1, 3, horizontal_spacing=0.06, subplot_titles=[t("matrix_paper"), t("matrix_zero"), t("matrix_half")]
    )
    pairs = width // 2
    stops = [(edge, wash(COLOURS[i])) for i in range(pairs) for edge in (i / pairs, (i + 1) / pairs)]
    shown = ((three.paper, "interleaved", 1), (three.from_zero, "interleaved", 0), (three.half, "half", 0))
    for column, (values, layout, first) in enumerate(shown, start=1):
        owner, names = entries(width, layout, first)
        labels = np.arange(first, first + width)
        figure.add_trace(
            go.Heatmap(
                x=labels,
                y=labels,
                z=owner,
                zmin=-0.5,
                zmax=pairs - 0.5,
                colorscale=stops,
                showscale=False,
                text=names,
                texttemplate="%{text}",
                textfont={"color": "black"},
                customdata=values.round(6),
                hovertemplate="%{text} = %{customdata}<extra></extra>",
                xgap=1,
                ygap=1,
            ),
            1,
            column,
        )
    styled(figure, height=380)
    at = {"text": f"m = {position}", "x": 0.0, "y": 0.98, "yanchor": "top", "font": {"size": 18}}
    figure.update_layout(margin={"l": 40, "r": 10, "t": 66, "b": 34}, title=at)
    figure.update_annotations(font={"size": 16})
    figure.update_xaxes(dtick=1, constrain="domain", showgrid=False, zeroline=False)
    figure.update_yaxes(dtick=1, autorange="reversed", constrain="domain", showgrid=False, zeroline=False)
    for column in (1, 2, 3):
        suffix = "" if column == 1 else str(column)
        figure.update_yaxes(scaleanchor=f"x{suffix}", row=1, col=column)
    return Drawing(
        "matrices",
        figure,
        t(
            "matrices_finding",
            m=position,
            renumbered=f"{three.renumbered:.2g}",
            permuted=f"{three.permuted:.2g}",
        ),
        lambda: {
            f"{name} column {j}": matrix[:, j]
            for name, matrix in (("paper", three.paper), ("from_zero", three.from_zero), ("half", three.half))
            for j in range(width)
        },
        f"""
        from rope_core.theory import layout_demo
        three = layout_demo.three_matrices({width}, {position}, {base!r})
        print(three.renumbered, three.permuted)
        """,
        wide=True,
    )


LOOKS = {
    "both": (BLUE, "dash"),
    "none": (RED, "solid"),
    "query_only": (ORANGE, "dot"),
    "query_heads": (GREEN, "solid"),
}


def possible(shapes: Shapes) -> list[str]:
    """The conversions that these shapes let through."""
    return [name for name in layout_demo.CONVERSIONS if name != "query_heads" or layout_demo.query_heads_fit(shapes)]


@kept
def one_head(rope: rc.Rope, kv_heads: int, group: int, t: Words) -> Drawing:
    """One head's score over the distance: the original's, the converted weights', and the unconverted ones'."""
    shapes = Shapes(rope.dim, kv_heads, group)
    at = np.arange(DISTANCES)
    found = {name: layout_demo.layout_error(shapes, name, at, rope.theta) for name in ("both", "none")}
    right = found["both"].right
    line = {"color": GREY, "width": 9}
    figure = go.Figure(go.Scatter(x=at, y=right.round(4), name=t("original"), line=line, opacity=0.6))
    for name, error in found.items():
        line = {"color": LOOKS[name][0], "dash": LOOKS[name][1], "width": 4}
        figure.add_trace(go.Scatter(x=at, y=error.got.round(4), line=line, name=t(name)))
    styled(figure, height=400, x=t("distance"), y=t("score_axis"))
    figure.update_layout(margin={"t": 70})
    return Drawing(
        "one_head",
        figure,
        t("one_finding", right=f"{found['both'].largest:.1e}", wrong=f"{found['none'].largest:.3g}"),
        lambda: {"distance": at, "original": right} | {name: error.got for name, error in found.items()},
        recipe(rope, kv_heads, group, ["both", "none"]),
    )


def recipe(rope: rc.Rope, kv_heads: int, group: int, names: list[str]) -> str:
    """Python lines that print the errors of the named conversions."""
    return f"""
        import rope_core as rc
        from rope_core.theory import layout_demo
        shapes = layout_demo.Shapes(head_dim={rope.dim}, kv_heads={kv_heads}, group={group})
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta
        for conversion in {names!r}:
            error = layout_demo.layout_error(shapes, conversion, range({DISTANCES}), theta)
            print(conversion, error.largest, error.relative[:4])
        """


@kept
def errors(rope: rc.Rope, kv_heads: int, group: int, t: Words) -> Drawing:
    """The error of all heads' scores over the distance after each conversion."""
    shapes = Shapes(rope.dim, kv_heads, group)
    at = np.arange(DISTANCES)
    names = possible(shapes)
    found = {name: layout_demo.layout_error(shapes, name, at, rope.theta).relative for name in names}
    figure = go.Figure()
    for name, relative in found.items():
        line = {"color": LOOKS[name][0], "dash": LOOKS[name][1], "width": 4}
        figure.add_trace(go.Scatter(x=at, y=(100 * relative).round(2), line=line, name=t(name)))
    styled(figure, height=400, x=t("distance"), y=t("error_axis"))
    figure.update_layout(margin={"t": 70})
    figure.update_yaxes(rangemode="tozero")
    wrong = 100 * found["none"]
    said = t("errors_finding", zero=f"{wrong[0]:.1f}", one=f"{wrong[1]:.0f}", late=f"{wrong.max():.0f}")
    if "query_heads" not in found:
        said += t("count_refused", heads=shapes.heads)
    elif group == 1:
        said += t("count_same", heads=shapes.heads)
    else:
        at_zero = f"{100 * found['query_heads'][0]:.0f}"
        said += t("count_wrong", heads=shapes.heads, kv_heads=kv_heads, zero=at_zero)
    return Drawing(
        "errors",
        figure,
        said,
        lambda: {"distance": at} | {f"{name}_relative_error": relative for name, relative in found.items()},
        recipe(rope, kv_heads, group, names),
    )


@kept
def key_rows(dim: int, kv_heads: int, group: int, t: Words) -> Drawing:
    """Which row of the old W_k stands where in the new one, counted by KV heads and counted by query heads."""
    shapes = Shapes(dim, kv_heads, group)
    right = layout_demo.key_rows(shapes, kv_heads)
    rows = np.arange(right.size)
    figure = go.Figure()
    mark = {"symbol": "circle", "size": 8, "color": BLUE}
    figure.add_trace(go.Scatter(x=rows, y=right, mode="markers", name=t("by_kv", n=kv_heads), marker=mark))
    table = {"new_row": rows, "old_row_by_kv_heads": right}
    if layout_demo.query_heads_fit(shapes):
        wrong = layout_demo.key_rows(shapes, shapes.heads)
        mark = {"symbol": "x", "size": 6, "color": RED}
        figure.add_trace(go.Scatter(x=rows, y=wrong, mode="markers", name=t("by_query", n=shapes.heads), marker=mark))
        table["old_row_by_query_heads"] = wrong
        finding = t("rows_finding", n=int(np.count_nonzero(wrong != right)), rows=rows.size, kv_heads=kv_heads)
    else:
        finding = t("rows_refused", heads=shapes.heads, rows=rows.size)
    for edge in range(1, kv_heads):
        figure.add_vline(x=edge * dim - 0.5, line={"color": GREY, "width": 2, "dash": "dot"})
    styled(figure, height=380, x=t("new_row"), y=t("old_row"))
    return Drawing(
        "key_rows",
        figure,
        finding,
        lambda: table,
        f"""
        from rope_core.theory import layout_demo
        shapes = layout_demo.Shapes(head_dim={dim}, kv_heads={kv_heads}, group={group})
        print(layout_demo.key_rows(shapes, {kv_heads}))
        """,
    )
