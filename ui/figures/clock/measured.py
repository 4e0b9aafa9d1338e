"""What three schemes cost a small model past its trained length, without fine-tuning."""

from __future__ import annotations

from dataclasses import replace

from rope_core.lab import view
from rope_core.theory.extension import kinds
from ui.figures.drawing import Drawing
from ui.figures.extrapolation import curves
from ui.figures.extrapolation.words import name, number
from ui.text.words import Words
from ui.work.extrapolated import Seen

LINES = kinds()


def measured(seen: Seen, trained: int, t: Words) -> Drawing:
    """Return perplexity against position at the longest length for the schemes of the dials."""
    lab = Words(t.lang, "extrapolation")
    cells = view.cells(seen.results)
    last = {cell.line: cell for cell in view.at(cells, max(view.lengths(cells))) if cell.weights == cells[0].weights}
    drawn = [replace(last[key], curve=view.coarser(last[key].curve, curves.LEAST)) for key in LINES]
    shades = [curves.colour(key) for key in LINES]
    names = [name(key, lab) for key in LINES]
    off = [False] * len(LINES)
    figure = curves.curves_plot(drawn, names, shades, off, off, trained, lab)
    figure["layout"]["height"] = 300
    values = {key: number(last[key].last.value) for key in LINES}
    return Drawing(
        "measured",
        figure,
        t("measured_finding", length=f"{drawn[0].length:,}", **values),
        lambda: curves.numbers([last[key] for key in LINES]),
        curves.code(
            seen,
            f"for cell in view.at(view.cells(results), {drawn[0].length}):",
            f"    if cell.line in {LINES}: print(cell.weights, cell.line, cell.last)",
        ),
    )
