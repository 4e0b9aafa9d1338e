"""The extrapolation page: other encodings, fine-tuned models, the hidden number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.lab import cards, experiments, view
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import get_line as line_of
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import ExperimentResults
from rope_core.lab.view import SweepCell
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import (
    TURNS,
    line_colour,
    perplexity_curves_table,
    perplexity_figure,
    perplexity_table,
    results_recipe,
)
from ui.figures.extrapolation.words import estimate_text, length_factor_text, line_name, ratio_text
from ui.figures.plot import (
    heatmap_trace,
    line_trace,
    panel_axes,
    panel_domains,
    panel_titles,
    plotly_axis,
    plotly_figure,
    scatter_trace,
    text_annotation,
    trace_in_panel,
)
from ui.film.colours import SEQUENTIAL_SCALE, text_colour_on_sequential
from ui.text.words import PageTexts


def model_encoding(weights: str) -> str:
    """Return a model's encoding, from the index; its name's first word where the index lacks it."""
    known = cards.weights_cards().get(weights)
    return known.encoding if known else weights.rsplit("-", 1)[0]


def encoding_name(weights: str, t: PageTexts) -> str:
    """Return a model's encoding for readers."""
    key = f"encoding.{model_encoding(weights)}"
    return t(key) if t.has_label(key) else model_encoding(weights)


def one_cell_per_model(results: Sequence[SweepCell]) -> list[SweepCell]:
    """One cell per model: where positions were stretched, the unscaled line."""
    plain = scheme_lines()[0].key
    return [each for each in results if each.line == plain]


def encoding_perplexity_chart(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Drawing:
    """Perplexity against position for models that differ in how positions enter alone."""
    cells = view.read_cells(seen.results)
    length = max(view.cell_lengths(cells))
    there = {each.weights: each for each in one_cell_per_model(view.cells_at_length(cells, length))}
    # A table of learned positions ends: its curve is drawn as far as it goes.
    ended = {
        each.weights: max(
            (c for c in one_cell_per_model(cells) if c.weights == each.weights and not c.undefined), key=_length
        )
        for each in one_cell_per_model(cells)
        if each.length == length and each.undefined and _has_number(cells, each.weights)
    }
    drawn = sorted(there.values(), key=lambda each: -each.last.value)
    labels = [encoding_name(each.weights, t) for each in drawn]
    known = list(dict.fromkeys(each.weights for each in cells))
    shades = [TURNS[::-1][known.index(each.weights) % len(TURNS)] for each in drawn]
    strong = [model_encoding(each.weights) == "rope" for each in drawn]
    data, notes = [], []
    for weights, cell in ended.items():
        curve = view.coarsen_curve(cell.curve, length / 32)
        shade = TURNS[::-1][known.index(weights) % len(TURNS)]
        label = t("ends_here", name=encoding_name(weights, t), length=f"{cell.length:,}")
        cross = {"size": [0] * curve.position.size + [16], "symbol": "x", "opacity": 1}
        x, y = [*curve.position, cell.length], [*curve.value, curve.value[-1]]
        data.append(line_trace(x, y, shade, 5, label, mode="lines+markers", marker=cross, showlegend=False))
        # Between the curves that stay low and those that rise.
        arrow = {"showarrow": True, "ax": 90, "ay": -34, "arrowcolor": shade, "xanchor": "left"}
        notes.append(text_annotation(label, cell.length, math.log10(y[-1]), font={"color": shade, "size": 15}, **arrow))
    figure = perplexity_figure(drawn, labels, shades, strong, strong, trained_length, t, data=data, notes=notes)
    ranked = sorted(there.values(), key=lambda each: each.last.value)
    values = t("comma").join(f"{encoding_name(each.weights, t)} {estimate_text(each.last)}" for each in ranked)
    undefined = t("comma").join(encoding_name(weights, t) for weights in ended)
    text = t(
        "encodings_finding",
        length=f"{length:,}",
        times=length_factor_text(length, trained_length),
        values=values,
        undefined=t("encodings_undefined", names=undefined) if undefined else "",
    )
    recipe = results_recipe(
        seen,
        "for cell in view.read_cells(results):",
        "    print(cell.weights, cell.line, cell.length, cell.last, cell.undefined)",
    )
    return Drawing("encodings", figure, text, lambda: perplexity_curves_table([*drawn, *ended.values()]), recipe)


def _length(cell: SweepCell) -> int:
    return cell.length


def _has_number(cells: Sequence[SweepCell], weights: str) -> bool:
    return any(each.weights == weights and not each.undefined for each in cells)


def finetuned_line(weights: str) -> str | None:
    """Return the ladder's line under which weights were fine-tuned; None for weights that were not."""
    known = cards.weights_cards().get(weights)
    if known is None or not known.recipe.start:
        return None
    return next((each.key for each in scheme_lines() if each.scheme == known.recipe.scheme and each.times == 1.0), None)


def finetune_cell_pairs(results: Sequence[SweepCell]) -> list[tuple[SweepCell, SweepCell]]:
    """Cells before and after a fine-tune, both read under the line of the fine-tune."""
    tuned = []
    for after in results:
        key = finetuned_line(after.weights)
        if key is None or after.line != key:
            continue
        start = cards.get_weights_card(after.weights).recipe.start
        tuned += [(each, after) for each in results if each.weights == start and each.line == key]
    return tuned


def finetune_perplexity_chart(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Drawing | None:
    """Perplexity against position before a short fine-tune and after it; None where no pair was measured."""
    cells = view.read_cells(seen.results)
    length = max(view.cell_lengths(cells))
    results = finetune_cell_pairs(view.cells_at_length(cells, length))
    if not results:
        return None
    drawn = [each for pair in results for each in pair]
    labels = [t(when, line=line_name(each.line, t)) for pair in results for when, each in zip(WHEN, pair, strict=True)]
    shades = [line_colour(each.line) for each in drawn]
    after = [bool(place % 2) for place in range(len(drawn))]
    figure = perplexity_figure(drawn, labels, shades, after, after, trained_length, t, weak="dot")
    sentence = [
        t(
            "finetuned_one",
            line=line_name(before.line, t),
            before=estimate_text(before.last),
            after=estimate_text(later.last),
            ratio=ratio_text(view.last_quarter_ratio(later, before)),
            steps=cards.get_weights_card(later.weights).recipe.steps,
        )
        for before, later in results
    ]
    finding = t(
        "finetuned_finding",
        length=f"{length:,}",
        times=length_factor_text(length, trained_length),
        pairs=t("semicolon").join(sentence),
    )
    return Drawing(
        "finetuned",
        figure,
        finding,
        lambda: perplexity_table(drawn),
        results_recipe(
            seen,
            "from rope_core.lab import cards",
            f"cells = view.cells_at_length(view.read_cells(results), {length})",
            f"print({length} / {trained_length}, 'times the trained length')",
            "for cell in cells:",
            "    recipe = cards.get_weights_card(cell.weights).recipe",
            "    print(cell.weights, cell.line, cell.last)",
            "    for before in cells:",
            "        if (before.weights, before.line) == (recipe.start, cell.line):",
            "            print(recipe.steps, 'steps:', view.last_quarter_ratio(cell, before), 'of', before.last)",
        ),
    )


WHEN = ("before_tuning", "after_tuning")


def passkey_retrieval_chart(seen: ExperimentResults, counted_unit: str, t: PageTexts) -> Drawing:
    """Share of hidden numbers, or of their digits, that were found, depth by length, one map a line."""
    grids = experiments.retrieval_grids(seen.results, counted_unit)
    across = 4 if len(grids) > 3 else max(1, len(grids))
    down = math.ceil(len(grids) / across)
    columns, rows = panel_domains([1] * across, 0.03), panel_domains([1] * down, 0.28 / down)
    data, axes = [], []
    for place, grid in enumerate(grids.values()):
        across_names, depths = [f"{length:,}" for length in grid.lengths], [f"{depth:.0%}" for depth in grid.depths]
        bar = {"title": {"text": t(f"found_axis.{counted_unit}")}, "thickness": 14}
        z = np.rint(100 * grid.right.T)
        shades = heatmap_trace(
            z, SEQUENTIAL_SCALE, x=across_names, y=depths, zmin=0, zmax=100, showscale=place == 0, colorbar=bar
        )
        cells = [(i, j) for j in range(len(depths)) for i in range(len(across_names))]
        shares = [grid.right[cell] for cell in cells]
        words = scatter_trace(
            [across_names[i] for i, _ in cells],
            [depths[j] for _, j in cells],
            "text",
            text=["" if np.isnan(share) else f"{100 * share:.0f}" for share in shares],
            # Plotly's own choice of letters on a heatmap falls short of 4.5 to 1 in the middle of the scale.
            textfont={"size": 13, "color": [text_colour_on_sequential(share) for share in shares]},
            hoverinfo="skip",
        )
        data += [trace_in_panel(place + 1, shades), trace_in_panel(place + 1, words)]
        row, left = place // across, place % across == 0
        # The panel below has the same lengths, and on a phone they would be on its title.
        x = plotly_axis(t("length_axis") if row == down - 1 else "", showticklabels=place + across >= len(grids))
        y = plotly_axis(t("depth_axis") if left else "", autorange="reversed", showticklabels=left)
        category = {"type": "category", "tickfont": {"size": 12}}
        axes.append(
            (
                x | category | {"tickangle": -90},
                y | category | ({} if left else {"matches": f"y{row * across + 1 if row else ''}"}),
            )
        )
    figure = plotly_figure(
        data,
        height=138 + 220 * down,
        margin={"l": 74, "t": 40, "b": 84},
        annotations=panel_titles([line_name(key, t) for key in grids], columns, rows),
        **panel_axes(axes, columns, rows),
    )
    lengths = sorted({length for grid in grids.values() for length in grid.lengths})
    named = dict.fromkeys((lengths[min(1, len(lengths) - 1)], lengths[-1]))
    trials = experiments.key_retrieval_share(seen.results, next(iter(grids)), lengths[-1], counted_unit)[1]
    return Drawing(
        "passkey",
        figure,
        t(
            f"passkey_finding.{counted_unit}",
            said=t("semicolon").join(
                passkey_retrieval_sentence(seen, list(grids), length, counted_unit, t) for length in named
            ),
            trials=trials,
        ),
        lambda: passkey_retrieval_table(grids),
        results_recipe(
            seen,
            f"for line, grid in experiments.retrieval_grids(results, {counted_unit!r}).items():",
            "    print(line, grid.lengths, grid.depths, grid.right, grid.low, grid.high)",
            "    for length in grid.lengths:",
            f"        print(length, experiments.key_retrieval_share(results, line, length, {counted_unit!r}))",
        ),
        wide=len(grids) > 2,
    )


def passkey_retrieval_sentence(
    seen: ExperimentResults, keys: Sequence[str], length: int, counted_unit: str, t: PageTexts
) -> str:
    """Which line finds most of the hidden numbers at a length, which the fewest, and what the sliding window finds."""
    scores = {key: experiments.key_retrieval_share(seen.results, key, length, counted_unit)[0] for key in keys}
    best, worst = max(keys, key=lambda key: scores[key].value), min(keys, key=lambda key: scores[key].value)
    sentence = t(
        "passkey_one",
        length=f"{length:,}",
        best=line_name(best, t),
        high=percent_interval_text(scores[best]),
        worst=line_name(worst, t),
        low=percent_interval_text(scores[worst]),
    )
    return sentence + "".join(
        t("passkey_window", window=line_name(key, t), share=percent_interval_text(scores[key]))
        for key in keys
        if line_of(key).sliding and key not in (best, worst)
    )


def percent_interval_text(share: Estimate) -> str:
    """Return a share as per cent with its interval.

    >>> percent_interval_text(Estimate(0.5, 0.25, 0.75))
    '50 % [25, 75]'
    """
    return f"{100 * share.value:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def passkey_retrieval_table(grids: Mapping[str, experiments.RetrievalGrid]) -> dict[str, list[object]]:
    """Return retrieval as named columns."""
    rows = [
        (key, length, depth, grid.right[i, j], grid.low[i, j], grid.high[i, j])
        for key, grid in grids.items()
        for i, length in enumerate(grid.lengths)
        for j, depth in enumerate(grid.depths)
    ]
    return {head: [row[at] for row in rows] for at, head in enumerate(("line", "length", "depth", *PARTS))}


PARTS = ("right", "low", "high")
