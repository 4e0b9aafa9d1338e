"""One rotation as three matrices, and what weights of one layout do in code of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.layout import as_layout
from rope_core.rope import Array
from rope_core.theory import challenges, layout_demo
from rope_core.theory.layout_demo import Shapes
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    Props,
    axis,
    headings,
    heatmap,
    in_panel,
    line,
    panels,
    plot,
    split,
)
from ui.film.colours import BLUE, GREEN, ORANGE, RED, SERIES_COLOURS, tint
from ui.text.words import Words

DISTANCES = 128
CHECKED, CHECKED_BASE = (0, 1, 2, 8, 32), 10_000.0
"""At which distances and with which base the checkpoints of the challenge are compared."""
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


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


@cached_figure
def matrices(width: int, position: int, base: float, t: Words) -> Drawing:
    """Draw one rotation as the paper prints it, numbered from 0, and as LLaMA's code has it; a colour is a pair."""
    three = layout_demo.three_matrices(width, position, base)
    pairs, columns = width // 2, split([1, 1, 1], 0.06)
    scale = [(edge, tint(SERIES_COLOURS[i])) for i in range(pairs) for edge in (i / pairs, (i + 1) / pairs)]
    shown = ((three.paper, "interleaved", 1), (three.from_zero, "interleaved", 0), (three.half, "half", 0))
    data = []
    for panel, (values, layout, first) in enumerate(shown, start=1):
        owner, names = entries(width, layout, first)
        labels = np.arange(first, first + width)
        data.append(
            in_panel(
                panel,
                heatmap(
                    owner,
                    scale,
                    x=labels,
                    y=labels,
                    zmin=-0.5,
                    zmax=pairs - 0.5,
                    showscale=False,
                    text=names,
                    texttemplate="%{text}",
                    textfont={"color": "black"},
                    customdata=values.round(6),
                    hovertemplate="%{text} = %{customdata}<extra></extra>",
                    xgap=1,
                    ygap=1,
                ),
            )
        )
    bare: Props = {"dtick": 1, "constrain": "domain", "showgrid": False, "zeroline": False}
    figure = plot(
        data,
        height=380,
        margin={"l": 40, "r": 10, "t": 66, "b": 34},
        title={"text": f"m = {position}", "x": 0.0, "y": 0.98, "yanchor": "top", "font": {"size": 18}},
        annotations=headings([t("matrix_paper"), t("matrix_zero"), t("matrix_half")], columns),
        **panels(
            [(axis(**bare), axis(**bare, autorange="reversed", scaleanchor=x)) for x in ("x", "x2", "x3")], columns
        ),
    )
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
        from rope_core.theory import challenges, layout_demo
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
    """Return the conversions that these shapes let through."""
    return [name for name in layout_demo.CONVERSIONS if name != "query_heads" or layout_demo.query_heads_fit(shapes)]


def curve(x: Any, y: Array, name: str, t: Words) -> Props:
    """Return the curve of a conversion in its own look."""
    colour, dash = LOOKS[name]
    return line(x, y, colour, name=t(name), dash=dash)


def recipe(rope: rc.Rope, kv_heads: int, group: int, names: list[str]) -> str:
    """Python lines that print the errors of the named conversions."""
    return f"""
        import rope_core as rc
        from rope_core.theory import challenges, layout_demo
        shapes = layout_demo.Shapes(head_dim={rope.dim}, kv_heads={kv_heads}, group={group})
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta
        for conversion in {names!r}:
            error = layout_demo.layout_error(shapes, conversion, range({DISTANCES}), theta)
            print(conversion, error.largest, error.relative[:4])
        """


@cached_figure
def errors(rope: rc.Rope, kv_heads: int, group: int, t: Words) -> Drawing:
    """Draw the error of all heads' scores over the distance after each conversion."""
    shapes = Shapes(rope.dim, kv_heads, group)
    at = np.arange(DISTANCES)
    names = possible(shapes)
    results = {name: layout_demo.layout_error(shapes, name, at, rope.theta).relative for name in names}
    figure = plot(
        [curve(at, (100 * relative).round(2), name, t) for name, relative in results.items()],
        margin={"t": 70},
        xaxis=axis(t("distance")),
        yaxis=axis(t("error_axis"), rangemode="tozero"),
    )
    wrong = 100 * results["none"]
    sentence = t("errors_finding", zero=f"{wrong[0]:.1f}", one=f"{wrong[1]:.0f}", late=f"{wrong.max():.0f}")
    if "query_heads" not in results:
        sentence += t("count_refused", heads=shapes.heads)
    elif group == 1:
        sentence += t("count_same", heads=shapes.heads)
    else:
        at_zero = f"{100 * results['query_heads'][0]:.0f}"
        sentence += t("count_wrong", heads=shapes.heads, kv_heads=kv_heads, zero=at_zero)
    return Drawing(
        "errors",
        figure,
        sentence,
        lambda: {"distance": at} | {f"{name}_relative_error": relative for name, relative in results.items()},
        recipe(rope, kv_heads, group, names),
    )


def checkpoints(t: Words) -> dict[str, list[str]]:
    """Return the challenge's table: a head's score at each distance, of the original model and of each checkpoint."""
    right, scores = challenges.checkpoint_scores(CHECKED, CHECKED_BASE)
    rows = {t("as_trained"): right} | {t(f"challenge.which.{name}"): got for name, got in scores.items()}
    head = {t("checkpoint"): list(rows)}
    columns = np.stack(list(rows.values()), axis=1)
    return head | {
        t("at_distance", d=d): [f"{value:.2f}".replace("-", "−") for value in column]
        for d, column in zip(CHECKED, columns, strict=True)
    }
