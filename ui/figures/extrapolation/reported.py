"""The extrapolation page: a visitor's own model as `rope eval` measured it, in the lab's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rope_core.evaluate.summary import ReportSummary
from rope_core.lab import view
from rope_core.lab.view import SweepCell
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import LEAST, colour, columns, curves_plot
from ui.figures.extrapolation.words import name, ranked, times, with_interval
from ui.figures.plot import LOG, Figure, PlotlyProps, axis
from ui.text.escape import plain
from ui.text.words import PageTexts

READ = "import json\n\nfrom rope_core.lab import view\n\nresults = json.load(open('eval.json'))['results']"


def curves(report: ReportSummary, t: PageTexts) -> Drawing:
    """Perplexity against position at the report's longest length, all lines at once."""
    cells = view.read_cells(report.perplexity)
    length = max(view.cell_lengths(cells))
    places = view.rank_cells(view.cells_at_length(cells, length))
    drawn = [replace(each.cell, curve=view.coarsen_curve(each.cell.curve, LEAST)) for each in reversed(places)]
    best = places[0].cell
    finding = t(
        "report_finding",
        model=plain(report.name),
        length=f"{length:,}",
        unit=t(f"report_unit.{report.unit}"),
        times=times(length, report.trained),
        best=name(best.line, t),
        low=with_interval(best.last),
        order=ranked(places, t),
        documents=best.documents,
    )
    across = axis(t("report_position_axis", unit=t(f"report_unit.{report.unit}")))
    code = (
        f"{READ}\nfound = [each for each in results if each['task'] == 'perplexity']\n"
        f"for cell in view.cells_at_length(view.read_cells(found), {length}):\n    print(cell.line, cell.curve.value)"
    )
    return Drawing("reported", _plot(drawn, best, report, across, t), finding, lambda: columns(cells), code)


def copies(report: ReportSummary, t: PageTexts) -> Drawing:
    """Perplexity of the second copy against its distance from the first, in the report."""
    places = view.rank_cells(view.copy_cells(report.copies))
    drawn, best = [place.cell for place in reversed(places)], places[0].cell
    distances = [int(each) for each in best.curve.position]
    unit = t(f"report_unit.{report.unit}")
    finding = t(
        "report_copy_finding",
        model=plain(report.name),
        distance=f"{distances[-1]:,}",
        unit=unit,
        best=name(best.line, t),
        low=with_interval(best.last),
        order=ranked(places, t),
    )
    ticks = {"tickvals": distances, "ticktext": [f"{each:,}" for each in distances]}
    across = axis(t("report_distance_axis", unit=unit), **LOG, **ticks)
    code = (
        f"{READ}\nfound = [each for each in results if each['task'] == 'copy']\n"
        "for cell in view.copy_cells(found):\n    print(cell.line, cell.curve.position, cell.curve.value)"
    )
    return Drawing("reported_copies", _plot(drawn, best, report, across, t), finding, lambda: columns(drawn), code)


def _plot(
    drawn: Sequence[SweepCell], best: SweepCell, report: ReportSummary, across: PlotlyProps, t: PageTexts
) -> Figure:
    """Return the lab's curves with the report's unit on both axes; the best line is thick and banded."""
    strong = [each.line == best.line for each in drawn]
    labels, shades = [name(each.line, t) for each in drawn], [colour(each.line) for each in drawn]
    figure = curves_plot(drawn, labels, shades, strong, strong, report.trained, t, xaxis=across)
    unit = t(f"report_one.{report.unit}")
    figure["layout"]["yaxis"]["title"] = {"text": t("report_perplexity_axis", one=unit)}
    return figure
