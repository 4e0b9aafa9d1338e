"""What weights of one layout do in code of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import challenges, layout_demo
from rope_core.theory.layout_demo import HeadShapes
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import PlotlyProps, line_trace, plotly_axis, plotly_figure
from ui.film.colours import BLUE, GREEN, ORANGE, RED
from ui.text.words import PageTexts

DISTANCES = 128
CHECKED, CHECKED_BASE = (0, 1, 2, 8, 32), 10_000.0
"""At which distances and with which base the checkpoints of the challenge are compared."""


LOOKS = {"both": (BLUE, "dash"), "none": (RED, "solid"), "query_only": (ORANGE, "dot"), "query_heads": (GREEN, "solid")}


def possible_conversions(shapes: HeadShapes) -> list[str]:
    """Return the conversions that these shapes let through."""
    return [
        name
        for name in layout_demo.CONVERSIONS
        if name != "query_heads" or layout_demo.is_head_count_mistake_silent(shapes)
    ]


def conversion_error_curve(x: Any, y: Array, name: str, t: PageTexts) -> PlotlyProps:
    """Return the curve of a conversion in its own look."""
    colour, dash = LOOKS[name]
    return line_trace(x, y, colour, name=t(name), dash=dash)


def conversion_errors_recipe(rope: rc.Rope, kv_heads: int, group: int, names: list[str]) -> str:
    """Python lines that print the errors of the named conversions."""
    return f"""
        import rope_core as rc
        from rope_core.theory import challenges, layout_demo
        shapes = layout_demo.HeadShapes(head_dim={rope.dim}, kv_heads={kv_heads}, group={group})
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta
        print(shapes.heads, shapes.kv_heads)
        for conversion in {names!r}:
            error = layout_demo.conversion_scores(shapes, conversion, range({DISTANCES}), theta)
            print(conversion, error.largest, error.relative[:4], error.relative.max())
        """


@cached_figure
def conversion_error_chart(rope: rc.Rope, kv_heads: int, group: int, t: PageTexts) -> Drawing:
    """Draw the error of all heads' scores over the distance after each conversion."""
    shapes = HeadShapes(rope.dim, kv_heads, group)
    at = np.arange(DISTANCES)
    names = possible_conversions(shapes)
    results = {name: layout_demo.conversion_scores(shapes, name, at, rope.theta).relative for name in names}
    figure = plotly_figure(
        [conversion_error_curve(at, (100 * relative).round(2), name, t) for name, relative in results.items()],
        margin={"t": 70},
        xaxis=plotly_axis(t("distance")),
        yaxis=plotly_axis(t("error_axis"), rangemode="tozero"),
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
        conversion_errors_recipe(rope, kv_heads, group, names),
    )


def checkpoint_scores_by_distance_table(t: PageTexts) -> dict[str, list[str]]:
    """Return the challenge's table: a head's score at each distance, of the original model and of each checkpoint."""
    right, scores = challenges.checkpoint_scores(CHECKED, CHECKED_BASE)
    rows = {t("as_trained"): right} | {t(f"challenge.which.{name}"): got for name, got in scores.items()}
    head = {t("checkpoint"): list(rows)}
    columns = np.stack(list(rows.values()), axis=1)
    return head | {
        t("at_distance", d=d): [f"{value:.2f}".replace("-", "−") for value in column]
        for d, column in zip(CHECKED, columns, strict=True)
    }
