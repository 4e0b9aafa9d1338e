"""The extrapolation page, first half: perplexity against position, the order of the lines, the same over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rope_core.lab import view
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import ExperimentResults
from rope_core.lab.view import SweepCell
from rope_core.rope import Array
from ui.figures.drawing import Drawing, TableColumns
from ui.figures.extrapolation.words import (
    estimate_text,
    length_factor_text,
    line_name,
    ranking_text,
    ratio_text,
    seed_order_text,
)
from ui.figures.plot import (
    LOG,
    Figure,
    PlotlyProps,
    dot_trace,
    error_bars,
    line_end_labels,
    line_trace,
    plotly_axis,
    plotly_figure,
    scatter_trace,
    text_annotation,
    vertical_line,
)
from ui.film.colours import BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, RED, SKY, YELLOW
from ui.text.words import PageTexts

TURNS = (GREY, PURPLE, ORANGE, SKY, YELLOW, GREEN, BLUE, RED, LINE)
TICKS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000, 10_000, 100_000)
PLAIN_LOG = {"type": "log", "tickvals": TICKS, "ticktext": [f"{tick:g}" for tick in TICKS]}
TWO, ALL, OFF = "two", "all", "off"
# Bytes that a point of a curve stands for at the least: fewer, and the text's own ups and downs are all that shows.
LEAST = 32
# Height of a label at a curve's end, as a share of the plot.
LABEL = 0.072


def line_colour(key: str) -> str:
    """Return a line's colour, by its place in the ladder."""
    keys = [each.key for each in scheme_lines()]
    return TURNS[keys.index(key) % len(TURNS)] if key in keys else GREY


def results_recipe(seen: ExperimentResults, *more: str) -> str:
    """Python lines that put the results in hand, and then print what a figure shows."""
    room = "experiments" if "experiments." in "".join(more) else "view"
    return "\n".join((f"from rope_core.lab import {room}", seen.code, *more))


def band_colour(shade: str) -> str:
    """Return a colour for a band, nearly clear.

    >>> band_colour("#0072B2")
    'rgba(0,114,178,0.18)'
    """
    red, green, blue = (int(shade[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def perplexity_curves_table(results: Sequence[SweepCell]) -> TableColumns:
    """Every curve as named columns."""
    return {
        "weights": [each.weights for each in results for _ in each.curve.position],
        "line": [each.line for each in results for _ in each.curve.position],
        "length": [each.length for each in results for _ in each.curve.position],
        **{
            part: np.concatenate([getattr(each.curve, part) for each in results])
            for part in ("position", "value", "low", "high")
        },
    }


def perplexity_table(results: Sequence[SweepCell]) -> TableColumns:
    """Every cell's two perplexities as named columns."""
    table: dict[str, list[object]] = {
        "weights": [each.weights for each in results],
        "line": [each.line for each in results],
        "length": [each.length for each in results],
        "documents": [each.documents for each in results],
    }
    for share in ("whole", "last"):
        for part in ("value", "low", "high"):
            table[f"{share}_{part}"] = [getattr(getattr(each, share), part) for each in results]
    return table


def perplexity_figure(
    results: Sequence[SweepCell],
    labels: Sequence[str],
    shades: Sequence[str],
    strong: Sequence[bool],
    banded: Sequence[bool],
    trained_length: int,
    t: PageTexts,
    *,
    weak: str = "solid",
    data: Sequence[PlotlyProps] = (),
    notes: Sequence[PlotlyProps] = (),
    xaxis: PlotlyProps | None = None,
) -> Figure:
    """Return perplexity over position with the curves' names at their right ends; the last ones lie on top.

    ``strong``: drawn thick; ``weak``: the dash of the others; ``data``, ``notes``: more to draw; ``xaxis``: where it is
    not the position in bytes.
    """
    across = plotly_axis(t("position_axis")) if xaxis is None else xaxis
    traces, ends = [], []
    for cell, label, shade, bold, band in zip(results, labels, shades, strong, banded, strict=True):
        x, curve = cell.curve.position, cell.curve
        if band and np.isfinite(curve.low).all():
            traces.append(interval_band(x, curve.low, curve.high, shade, label))
        width, dash = (5, "solid") if bold else (3, weak)
        traces.append(line_trace(x, curve.value, shade, width, label, dash, showlegend=False))
        ends.append(float(np.log10(curve.value[-1])))
    shown: list[tuple[Array, ...]] = [(each.curve.value,) for each in results]
    shown += [(each.curve.low, each.curve.high) for each, band in zip(results, banded, strict=True) if band]
    finite = np.log10(np.concatenate([part[np.isfinite(part)] for parts in shown for part in parts]))
    # The band of two or three documents can be as wide as all numbers: it leaves the picture, the curves stay in it.
    drawn = np.log10(np.concatenate([part for part, *_ in shown[: len(results)]]))
    low = max(float(finite.min()), float(drawn.min()) - 0.5) - 0.05
    high = min(float(finite.max()), float(drawn.max()) + 0.5) + 0.08
    bold_ones = [k for k, bold in enumerate(strong) if bold]
    names, heights, margin = line_end_labels(labels, ends, shades, LABEL * (high - low), bold_ones)
    return plotly_figure(
        [*traces, *data],
        height=410,
        margin={"r": margin, "t": 28},
        shapes=[vertical_line(trained_length, GREY, 3, "dash")],
        annotations=[*names, *notes, trained_length_label(trained_length, t, across)],
        xaxis=across,
        yaxis=plotly_axis(
            t("perplexity_axis"),
            **LOG,
            range=[min(low, *heights) - 0.03, max(high, *heights) + 0.03],
            tickvals=TICKS,
            ticktext=[f"{tick:,g}" for tick in TICKS],
        ),
    )


def interval_band(x: Array, low: Array, high: Array, shade: str, name: str = "") -> PlotlyProps:
    """Return the area between two curves over x, nearly clear."""
    around, edge = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    look = {"fill": "toself", "fillcolor": band_colour(shade), "line": {"width": 0}, "hoverinfo": "skip"}
    return scatter_trace(around, edge, "lines", name, **look) | {"showlegend": False}


def interval_error_bars(results: Sequence[Estimate], **look: Any) -> PlotlyProps:
    """Return the error bars of numbers, of no length where one has no interval."""
    ends = [(each.low, each.high) if each.has_interval else (each.value, each.value) for each in results]
    return error_bars([each.value for each in results], [low for low, _ in ends], [high for _, high in ends], **look)


def trained_length_label(trained_length: int, t: PageTexts, across: PlotlyProps | None = None) -> PlotlyProps:
    """Return the label above the line where the model's training ended."""
    place = {"xanchor": "left", "xshift": 4, "yref": "paper", "yanchor": "bottom"}
    # Plotly places shapes on a logarithmic axis by the value, annotations by its logarithm.
    x = math.log10(trained_length) if (across or {}).get("type") == "log" else trained_length
    return text_annotation(
        t("trained_mark", length=f"{trained_length:,}"), x, 1, font={"size": 14, "color": GREY}, **place
    )


def perplexity_chart(seen: ExperimentResults, trained_length: int, bands: str, t: PageTexts) -> Drawing:
    """Perplexity against position at the longest length, all lines at once."""
    cells = view.read_cells(seen.results)
    length = max(view.cell_lengths(cells))
    results = view.cells_at_length(cells, length)
    places = view.rank_cells(results)
    best, plain_line = places[0].cell.line, scheme_lines()[0].key
    drawn = [replace(each.cell, curve=view.coarsen_curve(each.cell.curve, LEAST)) for each in reversed(places)]
    strong = [each.line in (best, plain_line) for each in drawn]
    banded = [bands == ALL or (bands == TWO and bold) for bold in strong]
    names, shades = [line_name(each.line, t) for each in drawn], [line_colour(each.line) for each in drawn]
    figure = perplexity_figure(drawn, names, shades, strong, banded, trained_length, t)
    return Drawing(
        "curves",
        figure,
        perplexity_order_sentence(results, trained_length, t)
        + best_just_past_training_sentence(cells, trained_length, t),
        lambda: perplexity_curves_table([each for each in cells if not each.undefined]),
        results_recipe(
            seen,
            "cells = view.read_cells(results)",
            f"for cell in view.cells_at_length(cells, {length}): print(cell.line, cell.documents, cell.curve)",
            f"for length in [n for n in view.cell_lengths(cells) if n > {trained_length}]:",
            f"    print(length / {trained_length}, 'times the trained length')",
            "    for place in view.rank_cells(view.cells_at_length(cells, length)):",
            "        print(place.cell.line, place.cell.last, place.behind, place.settled)",
        ),
    )


def perplexity_order_sentence(results: Sequence[SweepCell], trained_length: int, t: PageTexts) -> str:
    """Return the order of cells of one length on their last quarter, as one sentence."""
    places = view.rank_cells(results)
    best, worst = places[0].cell, places[-1].cell
    return t(
        "order_finding" if len(places) > 1 else "alone_finding",
        length=f"{best.length:,}",
        times=length_factor_text(best.length, trained_length),
        documents=best.documents,
        best=line_name(best.line, t),
        low=estimate_text(best.last),
        worst=line_name(worst.line, t),
        high=estimate_text(worst.last),
        order=ranking_text(places, t),
    )


def best_just_past_training_sentence(cells: Sequence[SweepCell], trained_length: int, t: PageTexts) -> str:
    """Who reads best at the shortest length past the trained one, where that is not the longest; else nothing."""
    past = [length for length in view.cell_lengths(cells) if length > trained_length]
    if len(past) < 2 or not view.cells_at_length(cells, past[0]):
        return ""
    best = view.group_ties(view.rank_cells(view.cells_at_length(cells, past[0])))[0]
    names = t("tied").join(line_name(place.cell.line, t) for place in best)
    value = estimate_text(best[0].cell.last)
    return t(
        "order_near", length=f"{past[0]:,}", times=length_factor_text(past[0], trained_length), best=names, value=value
    )


def perplexity_ratio_chart(seen: ExperimentResults, length: int, trained_length: int, t: PageTexts) -> Drawing:
    """How many times the best line's perplexity each line has at one length, documents paired."""
    results = view.cells_at_length(view.read_cells(seen.results), length)
    places = list(reversed(view.rank_cells(results)))
    ratios = [place.over_best for place in places]
    ends = [each.high if each.has_interval else each.value for each in ratios]
    span = float(np.log10(max(ends)))
    names = [line_name(place.cell.line, t) for place in places]
    figure = plotly_figure(
        [
            dot_trace(
                [each.value for each in ratios],
                names,
                [line_colour(place.cell.line) for place in places],
                16,
                error_x=interval_error_bars(ratios, thickness=3, color=LINE),
            )
        ],
        height=116 + 36 * len(places),
        shapes=[vertical_line(1, GREY, 3, "dash")],
        annotations=[
            text_annotation(
                estimate_text(place.cell.last),
                float(np.log10(end)),
                label,
                xanchor="left",
                xshift=10,
                font={"size": 14},
            )
            for place, end, label in zip(places, ends, names, strict=True)
        ],
        margin={"t": 8, "b": 72},
        xaxis=plotly_axis(
            t("ratio_axis", best=names[-1]),
            **PLAIN_LOG,
            range=[-0.04 - 0.03 * span, 0.06 + 1.55 * span],
            showgrid=False,
        ),
        yaxis=plotly_axis(automargin=True),
    )
    return Drawing(
        "order",
        figure,
        best_at_length_sentence(results, trained_length, t),
        lambda: {
            **perplexity_table([place.cell for place in places]),
            "over_best": [each.value for each in ratios],
            "over_best_low": [each.low for each in ratios],
            "over_best_high": [each.high for each in ratios],
        },
        results_recipe(
            seen,
            f"for place in view.rank_cells(view.cells_at_length(view.read_cells(results), {length})):",
            "    print(place.cell.line, place.cell.last, place.behind, place.over_best, place.settled)",
        ),
        wide=True,
    )


def best_at_length_sentence(results: Sequence[SweepCell], trained_length: int, t: PageTexts) -> str:
    """Return who reads best at a length, who is level with it, and who is the first that can."""
    places = view.rank_cells(results)
    best = places[0]
    level = [place for place in places[1:] if not place.over_best.excludes(1.0)]
    behind = [place for place in places[1:] if place.over_best.excludes(1.0)]
    values = {
        "length": f"{best.cell.length:,}",
        "times": length_factor_text(best.cell.length, trained_length),
        "best": line_name(best.cell.line, t),
        "value": estimate_text(best.cell.last),
        "level": t("comma").join(line_name(place.cell.line, t) for place in level),
    }
    if not behind:
        return t("at_finding.level", **values)
    first, worst = behind[0], behind[-1]
    last = t("at_last", worst=line_name(worst.cell.line, t), worst_ratio=ratio_text(worst.over_best))
    more = {
        "next": line_name(first.cell.line, t),
        "ratio": ratio_text(first.over_best),
        "last": "" if worst is first else last,
    }
    return t("at_finding.tied" if level else "at_finding.alone", **values, **more)


def perplexity_by_seed_chart(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Drawing:
    """Draw the last quarter's perplexity of every line, one mark a trained model, at the longest length."""
    cells = view.read_cells(seen.results)
    length = max(view.cell_lengths(cells))
    results = view.cells_at_length(cells, length)
    across = list(reversed(view.results_over_seeds(results)))
    models = list(dict.fromkeys(each.weights for each in results))
    data = []
    for place, model in enumerate(models):
        own = [(each.line, each.by_weights[model]) for each in across if model in each.by_weights]
        x, y = [three.value for _, three in own], [line_name(line, t) for line, _ in own]
        look = {"symbol": place, "opacity": 0.9}
        data.append(dot_trace(x, y, (BLUE, ORANGE, GREEN, PURPLE)[place % 4], 15, model, marker=look))
    figure = plotly_figure(
        data,
        height=130 + 34 * len(across),
        xaxis=plotly_axis(t("last_axis"), **PLAIN_LOG),
        yaxis=plotly_axis(automargin=True),
    )
    orders = view.line_order_by_weights(results)
    common = max(set(orders.values()), key=list(orders.values()).count)
    best = across[-1]
    finding = t(
        "seeds_finding",
        models=len(models),
        same=sum(each == common for each in orders.values()),
        best=line_name(best.line, t),
        value=estimate_text(best.mean_and_range),
        order=seed_order_text(across[::-1], t),
        length=f"{length:,}",
        times=length_factor_text(length, trained_length),
    )
    recipe = results_recipe(
        seen,
        f"found = view.cells_at_length(view.read_cells(results), {length})",
        "for each in view.results_over_seeds(found): print(each.line, each.mean_and_range)",
        "print(view.line_order_by_weights(found))",
        f"print({length} / {trained_length}, 'times the trained length')",
    )
    return Drawing("seeds", figure, finding, lambda: perplexity_table(results), recipe)


def live_perplexity_chart(seen: ExperimentResults, trained_length: int, bands: str, t: PageTexts) -> Drawing:
    """Draw the same curves for what a visitor measured."""
    return replace(perplexity_chart(seen, trained_length, bands, t), id="live")
