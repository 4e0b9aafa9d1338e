"""The extrapolation page: how well the second copy of a stretch is read, against its distance from the first."""

from __future__ import annotations

from rope_core.lab import cards, view
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import get_line
from rope_core.lab.results import ExperimentResults
from rope_core.lab.view import SweepCell
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import line_colour, perplexity_curves_table, perplexity_figure, results_recipe
from ui.figures.extrapolation.words import estimate_text, length_factor_text, line_name, ranking_text
from ui.figures.plot import LOG, plotly_axis
from ui.text.words import PageTexts


def copy_perplexity_chart(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Drawing:
    """Perplexity of the second copy against its distance from the first."""

    def label(cell: SweepCell) -> str:
        kind = copy_training_label(cell.weights)
        return t(kind, line=line_name(cell.line, t)) if kind else line_name(cell.line, t)

    places = view.rank_cells(view.copy_cells(seen.results))
    drawn = [place.cell for place in reversed(places)]
    strong = [bool(copy_training_label(each.weights)) or get_line(each.line).sliding for each in drawn]
    distances = [int(each) for each in drawn[0].curve.position]
    ticks = distances[::2]
    figure = perplexity_figure(
        drawn,
        [label(each) for each in drawn],
        [line_colour(each.line) for each in drawn],
        strong,
        strong,
        trained_length,
        t,
        xaxis=plotly_axis(t("distance_axis"), **LOG, tickvals=ticks, ticktext=[f"{each:,}" for each in ticks]),
    )
    best = places[0].cell
    window = next(
        (each for each in drawn if get_line(each.line).sliding and not copy_training_label(each.weights)), None
    )
    finding = t(
        "recall_finding",
        distance=f"{distances[-1]:,}",
        times=length_factor_text(distances[-1], trained_length),
        best=label(best),
        low=estimate_text(best.last),
        order=ranking_text(places, t, label),
        trials=best.documents,
    ) + ("" if window is None else window_copy_perplexity_sentence(window, t))
    recipe = results_recipe(
        seen,
        "for cell in view.copy_cells(results):",
        "    print(cell.weights, cell.line, cell.documents, cell.curve)",
        "for place in view.rank_cells(view.copy_cells(results)):",
        "    print(place.cell.weights, place.cell.line, place.cell.last, place.behind, place.settled)",
        f"print({distances[-1]} / {trained_length}, 'times the trained length')",
    )
    return Drawing("recall", figure, finding, lambda: perplexity_curves_table(drawn), recipe)


def copy_training_label(weights: str) -> str:
    """Return the label of weights that went on from copying ones, or never learned to copy; "" for all others."""
    known = cards.weights_cards()
    if weights not in known or known[weights].task != "copy":
        return "text_only" if weights in known else ""
    return "after_tuning" if (first := known.get(known[weights].recipe.start)) and first.task == "copy" else ""


def window_copy_perplexity_sentence(window: SweepCell, t: PageTexts) -> str:
    """Return what the sliding window reads at the least distance and at the greatest."""
    curve = window.curve
    ends = [Estimate(*(float(part[at]) for part in (curve.value, curve.low, curve.high))) for at in (0, -1)]
    near_value, far_value = (estimate_text(each) for each in ends)
    near_distance, far_distance = (f"{int(curve.position[at]):,}" for at in (0, -1))
    return t("recall_window", near=near_value, near_distance=near_distance, far=far_value, far_distance=far_distance)
