"""The extrapolation page: a visitor's own model as `rope eval` measured it, in the lab's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rope_core.evaluate.summary import ReportSummary
from rope_core.lab import view
from rope_core.lab.view import SweepCell
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import LEAST, line_colour, perplexity_curves_table, perplexity_figure
from ui.figures.extrapolation.words import estimate_text, length_factor_text, line_name, ranking_text
from ui.figures.plot import LOG, Figure, PlotlyProps, plotly_axis
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts

READ = "import json\n\nfrom rope_core.lab import view\n\nresults = json.load(open('eval.json'))['results']"


def report_perplexity_chart(report: ReportSummary, t: PageTexts) -> Drawing:
    """Perplexity against position at the report's longest length, all lines at once."""
    cells = view.read_cells(report.perplexity)
    length = max(view.cell_lengths(cells))
    places = view.rank_cells(view.cells_at_length(cells, length))
    drawn = [replace(each.cell, curve=view.coarsen_curve(each.cell.curve, LEAST)) for each in reversed(places)]
    best = places[0].cell
    finding = t(
        "report_finding",
        model=escaped_markdown(report.name),
        length=f"{length:,}",
        unit=t(f"report_unit.{report.unit}"),
        times=length_factor_text(length, report.trained),
        best=line_name(best.line, t),
        low=estimate_text(best.last),
        order=ranking_text(places, t),
        documents=best.documents,
    )
    across = plotly_axis(t("report_position_axis", unit=t(f"report_unit.{report.unit}")))
    code = (
        f"{READ}\nfound = [each for each in results if each['task'] == 'perplexity']\n"
        f"for cell in view.cells_at_length(view.read_cells(found), {length}):\n    print(cell.line, cell.curve.value)"
    )
    return Drawing(
        "reported", _plot(drawn, best, report, across, t), finding, lambda: perplexity_curves_table(cells), code
    )


def report_copy_distance_chart(report: ReportSummary, t: PageTexts) -> Drawing:
    """Perplexity of the second copy against its distance from the first, in the report."""
    places = view.rank_cells(view.copy_cells(report.copies))
    drawn, best = [place.cell for place in reversed(places)], places[0].cell
    distances = [int(each) for each in best.curve.position]
    unit = t(f"report_unit.{report.unit}")
    finding = t(
        "report_copy_finding",
        model=escaped_markdown(report.name),
        distance=f"{distances[-1]:,}",
        unit=unit,
        best=line_name(best.line, t),
        low=estimate_text(best.last),
        order=ranking_text(places, t),
    )
    ticks = {"tickvals": distances, "ticktext": [f"{each:,}" for each in distances]}
    across = plotly_axis(t("report_distance_axis", unit=unit), **LOG, **ticks)
    code = (
        f"{READ}\nfound = [each for each in results if each['task'] == 'copy']\n"
        "for cell in view.copy_cells(found):\n    print(cell.line, cell.curve.position, cell.curve.value)"
    )
    return Drawing(
        "reported_copies", _plot(drawn, best, report, across, t), finding, lambda: perplexity_curves_table(drawn), code
    )


def _plot(
    drawn: Sequence[SweepCell], best: SweepCell, report: ReportSummary, across: PlotlyProps, t: PageTexts
) -> Figure:
    """Return the lab's curves with the report's unit on both axes; the best line is thick and banded."""
    strong = [each.line == best.line for each in drawn]
    labels, shades = [line_name(each.line, t) for each in drawn], [line_colour(each.line) for each in drawn]
    figure = perplexity_figure(drawn, labels, shades, strong, strong, report.trained, t, xaxis=across)
    unit = t(f"report_one.{report.unit}")
    figure["layout"]["yaxis"]["title"] = {"text": t("report_perplexity_axis", one=unit)}
    return figure
