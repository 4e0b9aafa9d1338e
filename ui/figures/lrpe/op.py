"""Figures of the LRPE page: the op's stages, its frequencies and matrix, decoding, and the backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rope_core.lrpe import explain
from rope_core.lrpe.demo import HEADS, TOKENS, LrpeExample, backward_steps
from rope_core.rope import Array
from ui.figures.drawing import Drawing, TableColumns, heatmap_table
from ui.figures.plot import (
    POWERS,
    WHOLE,
    Figure,
    PlotlyProps,
    dot_trace,
    heatmap_trace,
    line_trace,
    panel_axes,
    panel_domains,
    plotly_axis,
    plotly_figure,
    text_annotation,
    trace_in_panel,
)
from ui.film.colours import BLUE, DIVERGING_SCALE, SERIES_COLOURS
from ui.text.words import PageTexts, exponent_text

GAP_X, GAP_Y = 0.1, 0.2
LAYOUT: PlotlyProps = {"margin": {"r": 12}, "legend": {"font": {"size": 14}}}


def example_recipe(case: LrpeExample, *lines: str) -> str:
    """Python lines that begin with the case."""
    head = (
        "from rope_core.lrpe import explain, lrpe_rotate",
        "from rope_core.lrpe.demo import LrpeExample, backward_steps",
    )
    return "\n".join((*head, f"case = {case!r}", *lines))


def largest_magnitude_or_one(*values: Array) -> float:
    """Return the largest magnitude among the values, 1 where there is none above zero."""
    return float(np.nanmax(np.abs(np.concatenate([v.ravel() for v in values])))) or 1.0


def as_float32(values: Array) -> Array:
    """Return the values for the browser: four bytes each."""
    return np.asarray(values, dtype=np.float32)


def signed_heatmap(z: Array, x: Any, y: Any, top: float, bar: PlotlyProps | None = None) -> PlotlyProps:
    """Return a heatmap of signed values between -top and top, with a colour bar where one is given."""
    looks = {"zmid": 0, "zmin": -top, "zmax": top, "showscale": bar is not None} | ({"colorbar": bar} if bar else {})
    return heatmap_trace(
        as_float32(z), DIVERGING_SCALE, x=x, y=y, hovertemplate="%{x}, %{y}: %{z:.4f}<extra></extra>", **looks
    )


def panel_title(text: str, x: float, y: float) -> PlotlyProps:
    """Return a panel's title above its upper left corner."""
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "font": {"size": 16}}
    return text_annotation(text, x, y, **place)


def signed_colour_bar(top: float) -> dict[str, object]:
    """Return the colour bar of panels whose titles say their own largest value."""
    return {"thickness": 14, "tickvals": [-top, 0, top], "ticktext": ["−", "0", "+"], "tickfont": {"size": 18}}


def four_heatmaps_figure(
    case: LrpeExample, maps: Sequence[tuple[str, Array, float]], marks: Sequence[int], t: PageTexts
) -> Figure:
    """Return four linked heatmaps over dimension and position, two by two, the marked token's pair framed in each.

    ``maps``: (name, values (12, D), largest magnitude); ``marks``: token and the pair's two dimensions.
    """
    columns, rows = panel_domains([1, 1], GAP_X), panel_domains([1, 1], GAP_Y)
    across, down = np.arange(case.width), case.positions
    data, heads, axes = [], [], []
    token, first, second = marks
    square = {"symbol": "square-open", "line": {"width": 3}}
    for number, (name, values, top) in enumerate(maps):
        left, low = number % 2 == 0, number >= 2
        bar = signed_colour_bar(top) if number == 0 else None
        spots = dot_trace([first, second], [down[token]] * 2, "black", 15, marker=square, hoverinfo="skip")
        data.append(trace_in_panel(number + 1, signed_heatmap(values, across, down, top, bar)))
        data.append(trace_in_panel(number + 1, spots))
        heads.append(panel_title(f"<b>{name}</b>  ±{top:.3g}", columns[number % 2][0], rows[0 if low else 1][1]))
        linked: tuple[PlotlyProps, PlotlyProps] = (
            ({}, {"autorange": "reversed"}) if number == 0 else ({"matches": "x"}, {"matches": "y"})
        )
        x = plotly_axis(t("dimension") if low else "", nticks=5, showticklabels=low, **linked[0])
        y = plotly_axis(t("axis.position") if left else "", nticks=5, tickformat="d", showticklabels=left, **linked[1])
        axes.append((x, y))
    return plotly_figure(
        data, height=396, **LAYOUT, showlegend=False, annotations=heads, **panel_axes(axes, columns, rows)
    )


def example_table(case: LrpeExample, **columns: Array) -> TableColumns:
    """Named columns of values (12, D), one row per token and dimension."""
    first, *rest = columns.items()
    table = dict(heatmap_table(np.arange(case.width), case.positions, first[1], ("dimension", "position", first[0])))
    return table | {name: values.ravel() for name, values in rest}


def residual_text(value: float) -> str:
    """Return a residual as a reader writes it."""
    return exponent_text(f"{value:.1e}") if value else "0"


def head_frequency_chart(case: LrpeExample, head: int, t: PageTexts) -> Drawing:
    """Draw the frequencies of every head in the shape they come in."""
    pairs, values = np.arange(case.pairs), case.theta_by_head_and_pair
    each = case.theta.shape[0] != HEADS or case.theta.ndim == 1
    shown = [head] if each else [h for h in range(HEADS) if h != head] + [head]
    data = []
    for h in shown:
        width, colour, dash = (6, BLUE, "solid") if h == head else (3, SERIES_COLOURS[1 + h % 3], "dot")
        name = t("all_heads") if each else t("one_head", head=h)
        data.append(line_trace(pairs, values[h], colour, width, name, dash, mode="lines+markers", marker={"size": 9}))
    figure = plotly_figure(
        data,
        height=320,
        **LAYOUT,
        showlegend=True,
        xaxis=plotly_axis(t("axis.pair"), nticks=9, tickformat="d"),
        yaxis=plotly_axis(t("theta_axis"), **POWERS),
    )
    shape = "(" + ", ".join(str(n) for n in case.theta.shape) + ("," if case.theta.ndim == 1 else "") + ")"
    key = case.kind.replace(" ", "_")
    sentence = t(
        f"thetas_{key}", shape=shape, base=f"{case.base:,.12g}", high=f"{values.max():.3g}", low=f"{values.min():.3g}"
    )
    table = {"pair": pairs} | {f"head_{h}": values[h] for h in range(HEADS)}
    return Drawing(
        "thetas", figure, sentence, lambda: table, example_recipe(case, "print(case.theta.shape, case.theta)")
    )


def decoding_chart(case: LrpeExample, head: int, t: PageTexts) -> Drawing:
    """Draw the whole sequence at once above, one token at a time with a growing offset below."""
    strip = explain.compare_decoding(case.x, case.theta, **case.options)
    at_once, steps = strip.whole[0, :, head].T, strip.steps[0, :, head].T
    top, low, high = largest_magnitude_or_one(at_once, steps), case.offset - 0.5, case.offset + TOKENS - 0.5
    rows = np.arange(case.width)
    x: PlotlyProps = {"range": [low, high], "tickformat": "d", "nticks": 7}
    y: PlotlyProps = {"range": [case.width - 0.5, -0.5], "nticks": 5}
    strips = [[0.0, 0.42], [0.58, 1.0]]
    figure = plotly_figure(
        [
            signed_heatmap(at_once, case.positions, rows, top),
            trace_in_panel(2, signed_heatmap(steps, case.positions, rows, top)),
        ],
        **LAYOUT,
        showlegend=False,
        annotations=[
            panel_title(f"<b>{t(text)}</b>", 0, top)
            for text, (_, top) in zip(("at_once", "step_by_step"), strips[::-1], strict=True)
        ],
        **panel_axes(
            [
                (plotly_axis(**x, showticklabels=False), plotly_axis(t("dimension"), **y)),
                (plotly_axis(t("decode_axis"), **x), plotly_axis(t("dimension"), **y)),
            ],
            WHOLE,
            strips,
        ),
    )
    difference = float(np.abs(at_once - steps).max())
    key = "decode_same" if strip.same_bits else "decode_apart"
    sentence = t(
        key, tokens=TOKENS, first=f"{case.offset:,}", last=f"{case.positions[-1]:,}", apart=f"{difference:.3g}"
    )
    code = example_recipe(
        case,
        "strip = explain.compare_decoding(case.x, case.theta, **case.options)",
        f"print(strip.same_bits, abs(strip.whole - strip.steps)[0, :, {head}].max())",
        "print(case.positions.size, case.positions[0], case.positions[-1])",
    )
    return Drawing(
        "decode", figure, sentence, lambda: example_table(case, at_once=at_once.T, step_by_step=steps.T), code
    )


def backward_pass_chart(case: LrpeExample, head: int, token: int, wanted: int, t: PageTexts) -> Drawing:
    """DO, turned by -theta, the activation's derivative, and dX, each beside torch's autograd."""
    results = backward_steps(case)
    grad, turned, factor, dx = (v[0, :, head] for v in (results.grad, results.turned, results.factor, results.dx))
    _, *at = case.pair_at(wanted)
    soft = results.gap_factor is None
    top = largest_magnitude_or_one(grad, turned)
    panels = [("dO", grad, top), (t("turned_back"), turned, top)]
    panels += [
        (t("soft_factor" if soft else "slope"), factor, largest_magnitude_or_one(factor)),
        ("dX", dx, largest_magnitude_or_one(dx)),
    ]
    gaps = {"turned": results.gap_turned, "dx": results.gap_dx, "dtheta": results.gap_dtheta}
    if results.gap_factor is not None:
        gaps["slope"] = results.gap_factor
    sentence = t(
        "backward_softmax" if soft else "backward_finding",
        act=t(f"act.{case.act}"),
        **{key: residual_text(value) for key, value in gaps.items()},
    )
    names = {"dO": grad, "turned_by_minus_theta": turned, "softmax" if soft else "slope": factor, "dX": dx}
    figure = four_heatmaps_figure(case, panels, (token, *at), t)
    return Drawing(
        "backward",
        figure,
        sentence,
        lambda: example_table(case, **names),
        example_recipe(case, "print(backward_steps(case))"),
    )


def rotary_slice_text(case: LrpeExample, t: PageTexts) -> str:
    """Return what turns of a head, in words."""
    key = "whole_head" if 2 * case.pairs == case.width else "part_of_head"
    return t(key, width=case.width, first=case.front, last=case.width - case.behind - 1)
