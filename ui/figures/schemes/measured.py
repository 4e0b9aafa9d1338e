"""What the record of the small model says of the shipped schemes: perplexity past its trained length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rope_core.comparisons.measured import Contrast
from rope_core.comparisons.papers import paper_curves, printed_numbers
from rope_core.comparisons.rows import check_text
from rope_core.lab import view
from rope_core.lab.results import ExperimentResults
from rope_core.schemes import KINDS
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.words import line_name as line_name
from ui.figures.extrapolation.words import perplexity_by_length_table, ratio_text
from ui.figures.plot import LOG, line_trace, panel_axes, panel_domains, panel_titles, plotly_axis, plotly_figure
from ui.figures.schemes.pairs import percentage_text, three_digit_text
from ui.film.colours import BLUE, GREY, ORANGE, PURPLE, RED, SKY
from ui.text.words import PageTexts

FASTEST_TOO, RAISED = KINDS[:2]
"""The scheme that slows all pairs alike, and the one that raises the base."""
COLOURS = (BLUE, PURPLE, SKY, RED, GREY, ORANGE)
"""Of the schemes that papers draw, in the order in which they come."""


def perplexity_by_scheme_table(seen: ExperimentResults, t: PageTexts) -> dict[str, list[str]]:
    """Return perplexity over the last quarter, by scheme and length, with its interval."""
    return perplexity_by_length_table(view.read_cells(seen.results), "last", PageTexts(t.lang, "extrapolation"))


def raised_base_sentence(seen: ExperimentResults, trained_length: int, t: PageTexts) -> str:
    """Return how a raised base reads beside an even slow-down at each length past the trained one, documents paired."""
    cells = view.read_cells(seen.results)
    ratios = []
    for length in (each for each in view.cell_lengths(cells) if each > trained_length):
        at = {each.line: each for each in view.cells_at_length(cells, length)}
        ratio = view.last_quarter_ratio(at[FASTEST_TOO], at[RAISED])
        ratios.append(t("ratio_at", times=length // trained_length, ratio=ratio_text(ratio)))
    return t("ntk_sentence", ratios=t("comma").join(ratios))


def paper_curves_chart(t: PageTexts) -> Drawing:
    """Return what YaRN, LongRoPE2 and CoPE draw by pair, from their formulas at their settings."""
    curves = paper_curves()
    colour_of = dict(zip(dict.fromkeys(name for each in curves for name in each.by_scheme), COLOURS, strict=True))
    traces = []
    for k, curve in enumerate(curves):
        number_of = str(k + 1) if k else ""
        for name, values in curve.by_scheme.items():
            style = {"xaxis": f"x{number_of}", "yaxis": f"y{number_of}", "legendgroup": name}
            first = not any(name in each.by_scheme for each in curves[:k])
            traces.append(
                line_trace(
                    np.arange(values.size), values, colour_of[name], 3, t(f"scheme.{name}"), showlegend=first, **style
                )
            )
    columns = panel_domains([1, 1, 1], 0.09)
    sizes = [(curve.rope.pairs, f"{curve.factor:g}") for curve in curves]
    heads = [t(f"paper.{curve.key}", pairs=pairs, factor=f) for curve, (pairs, f) in zip(curves, sizes, strict=True)]
    across = plotly_axis(t("axis.pair"))
    up = [plotly_axis(t("axis.slowdown"), **LOG, **doubling_ticks(curve.factor)) for curve in curves[:2]] + [
        plotly_axis(t("paper.left"))
    ]
    figure = plotly_figure(
        traces,
        height=380,
        annotations=panel_titles(heads, columns),
        margin={"t": 96},
        legend={"y": 1.14},
        **panel_axes([(across, each) for each in up], columns),
    )
    ends = {f"{curve.key}_{name}": getattr(curve, name) for curve in curves for name in ("turning", "settled")}
    table = {
        f"{curve.key}: {name}": list(values)
        for curve in curves
        for name, values in {"pair": range(curve.rope.pairs), **curve.by_scheme}.items()
    }
    recipe = """
from rope_core.comparisons.papers import paper_curves
for curve in paper_curves():
    print(curve.key, curve.rope, curve.factor, curve.turning, curve.settled)
    for name, values in curve.by_scheme.items():
        print(name, values)
"""
    return Drawing("papers", figure, t("paper_finding", **ends), lambda: table, recipe, wide=True)


def doubling_ticks(most: float) -> dict[str, list[Any]]:
    """Return the ticks 1, 2, 4, ... of an axis, the greatest among them."""
    ticks = [2**k for k in range(int(np.log2(most)) + 1)]
    return {"tickvals": ticks, "ticktext": [f"{each:g}" for each in ticks]}


def contrast_table(contrasts: Mapping[str, Contrast], t: PageTexts) -> dict[str, list[str]]:
    """Return, for each check in which the record's schemes differ, how those read that hold it."""
    rows = list(contrasts.items())
    return {
        t("read.check"): [check_text(key, "title", t.lang) for key, _ in rows],
        t("read.better"): [t("read.of", count=each.better, of=each.of) for _, each in rows],
        t("read.worse"): [t("read.of", count=each.worse, of=each.of) for _, each in rows],
        t("read.against"): [contrast_example_sentence(each, t, "read.short") for _, each in rows],
    }


def contrast_example_sentence(contrast: Contrast, t: PageTexts, key: str = "read.example") -> str:
    """Return the couple of schemes with the most against a check; "" where there is none."""
    if not contrast.holder:
        return ""
    holder, breaker = (
        line_name(key, PageTexts(t.lang, "extrapolation")) for key in (contrast.holder, contrast.breaker)
    )
    return t(key, holder=holder, breaker=breaker, times=f"{contrast.times:g}", ratio=f"{contrast.ratio:.2f}")


def printed_numbers_table(t: PageTexts) -> dict[str, list[str]]:
    """Return numbers that papers print beside those that the formulas here give."""
    rows = printed_numbers()
    return {
        t("printed.source"): [each.source for each in rows],
        t("printed.what"): [t(f"printed.{each.key}") for each in rows],
        t("printed.printed"): [f"{each.printed:,g}" for each in rows],
        t("printed.here"): [f"{each.here:,.0f}" if each.here > 1000 else three_digit_text(each.here) for each in rows],
        t("printed.off"): [percentage_text(each.off) for each in rows],
    }
