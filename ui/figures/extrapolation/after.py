"""The extrapolation page: what was published after YaRN, beside the sliding window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rope_core.lab import view
from rope_core.lab.beside import COUNTED, DROPPED, OLD, SCALED, WindowComparison, compare_with_window
from rope_core.lab.results import ExperimentResults
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import PLAIN_LOG, interval_error_bars, perplexity_table, results_recipe
from ui.figures.extrapolation.words import estimate_text, length_factor_text, line_name, ratio_text
from ui.figures.plot import dot_trace, plotly_axis, plotly_figure, text_annotation, vertical_line
from ui.film.colours import BLUE, GREEN, GREY, LINE, ORANGE
from ui.text.words import PageTexts

SHADES = {COUNTED: BLUE, SCALED: ORANGE, DROPPED: GREEN, OLD: GREY}


def newer_scheme_perplexity_ratio_chart(
    seen: ExperimentResults, length: int, trained_length: int, t: PageTexts
) -> Drawing:
    """Return how many times the window's perplexity each line has, documents paired; small: the other seeds."""
    window, newer = compare_with_window(view.read_cells(seen.results), length)
    rows = list(reversed(newer))
    labels = {each.key: line_name(each.key, t) for each in rows}
    data = []
    for kind, shade in SHADES.items():
        own = [each for each in rows if each.kind == kind]
        if not own:
            continue
        data.append(
            dot_trace(
                [each.over_window.value for each in own],
                [labels[each.key] for each in own],
                shade,
                15,
                t(f"after_kind.{kind}"),
                error_x=interval_error_bars([each.over_window for each in own], thickness=3, color=LINE),
            )
        )
    small = [(value, labels[each.key]) for each in rows for value in each.seeds]
    if small:
        data.append(
            dot_trace(
                [x for x, _ in small],
                [y for _, y in small],
                LINE,
                9,
                t("after_seeds"),
                marker={"symbol": "x-thin-open"},
            )
        )
    ends = {each.key: max(each.over_window.high, each.over_window.value, *each.seeds) for each in rows}
    low = min(each.over_window.low for each in rows)
    low, high = float(np.log10(min(low, 1.0))), float(np.log10(max(ends.values())))
    figure = plotly_figure(
        data,
        height=150 + 30 * len(rows),
        shapes=[vertical_line(1, GREY, 3, "dash")],
        annotations=[
            text_annotation(
                estimate_text(each.cell.last),
                float(np.log10(ends[each.key])),
                labels[each.key],
                xanchor="left",
                xshift=10,
                font={"size": 13},
            )
            for each in rows
        ],
        legend={"orientation": "h", "y": -0.16, "yanchor": "top"},
        margin={"t": 8, "b": 110},
        xaxis=plotly_axis(t("after_axis"), **PLAIN_LOG, range=[low - 0.05, high + 0.55 * (high - low)], showgrid=False),
        yaxis=plotly_axis(automargin=True, categoryorder="array", categoryarray=[labels[each.key] for each in rows]),
    )
    return Drawing(
        "after",
        figure,
        t(
            "after_finding",
            length=f"{length:,}",
            times=length_factor_text(length, trained_length),
            window=estimate_text(window.last),
            better=matching_lines_text(
                newer, t, lambda each: each.over_window.has_interval and each.over_window.high < 1
            ),
            level=matching_lines_text(newer, t, lambda each: not each.over_window.excludes(1.0)),
            worse=matching_lines_text(
                newer, t, lambda each: each.over_window.has_interval and each.over_window.low > 1
            ),
            documents=window.documents,
        ),
        lambda: {
            **perplexity_table([each.cell for each in newer]),
            "over_window": [each.over_window.value for each in newer],
            "over_window_low": [each.over_window.low for each in newer],
            "over_window_high": [each.over_window.high for each in newer],
            "other_seeds": [" ".join(f"{v:.4f}" for v in each.seeds) for each in newer],
        },
        results_recipe(
            seen,
            "from rope_core.lab.beside import compare_with_window",
            f"window, found = compare_with_window(view.read_cells(results), {length})",
            "for each in found: print(each.key, each.cell.last, each.over_window, each.seeds)",
            f"print(window.last, window.documents, {length} / {trained_length}, 'times the trained length')",
        ),
        wide=True,
    )


def matching_lines_text(
    newer: Sequence[WindowComparison], t: PageTexts, wanted: Callable[[WindowComparison], bool]
) -> str:
    """Return the lines of which something holds, each with its ratio; a word for none where there is none."""
    named = [f"{line_name(each.key, t)} {ratio_text(each.over_window)}" for each in newer if wanted(each)]
    return t("comma").join(named) or t("after_none")
