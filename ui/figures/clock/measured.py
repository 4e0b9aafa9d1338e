"""A place to draw what NTK costs a small model past its trained length, without fine-tuning."""

from __future__ import annotations

import numpy as np

from rope_core.lab import view
from rope_core.lab.results import ExperimentResults
from rope_core.schemes import KINDS
from ui.figures.drawing import Film
from ui.figures.extrapolation import curves
from ui.figures.extrapolation.words import line_name
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import GREY
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

LINEAR, DRAWN, KNOWN = KINDS
"""Three of the dials' schemes: the worst, the one that is drawn, and the one that is seen from the start."""
EACH = 128


def measured_perplexity_sketch(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Film:
    """Return perplexity against position at the longest length: one scheme is seen, the next is drawn, then the last.

    Raises KeyError where the record lacks one of them.
    """
    lab = PageTexts(t.lang, "extrapolation")
    cells = view.read_cells(seen.results)
    length = max(view.cell_lengths(cells))
    last = {cell.line: cell for cell in view.cells_at_length(cells, length) if cell.weights == cells[0].weights}
    lines = {key: view.coarsen_curve(last[key].curve, curves.LEAST) for key in (LINEAR, DRAWN, KNOWN)}
    columns = np.arange(EACH, length, EACH)
    top = 1.1 * max(float(line.value.max()) for line in lines.values())
    ticks = tuple(
        (float(x), f"{x:,}") for x in (trained_length, *range(2 * trained_length, length + 1, 2 * trained_length))
    )
    colours = {key: curves.line_colour(key) for key in lines}
    end = float(length)

    def named(key: str, dy: int) -> dict[str, object]:
        at = float(np.interp(0.8 * end, lines[key].position, lines[key].value))
        return marks.text(0.8 * end, at, line_name(key, lab), colours[key], anchor="end", bold=True, dy=dy)

    up = Axis(0.0, top, tuple((float(y), str(y)) for y in range(0, int(top) + 1, 10)), lab("perplexity_axis"))
    drawn = [
        marks.rect(float(trained_length), end, 0.0, top, GREY, opacity=0.08),
        marks.text(
            float(trained_length),
            0.55 * top,
            t("past_trained", length=f"{trained_length:,}"),
            GREY,
            anchor="start",
            dx=6,
        ),
        marks.line(lines[KNOWN].position, lines[KNOWN].value, colours[KNOWN], 3),
        named(KNOWN, -8),
        marks.after_reveal(marks.line(lines[LINEAR].position, lines[LINEAR].value, colours[LINEAR], 3)),
        marks.after_reveal(named(LINEAR, -10)),
        marks.after_reveal(named(DRAWN, -8)),
    ]
    panel = Panel(Axis(0.0, end, ticks, lab("position_axis")), up, drawn, height=200)
    return sketch_film(
        "measured",
        panel,
        (lines[DRAWN].position, lines[DRAWN].value),
        {f"{at:,}": float(at) for at in columns.tolist()},
        t,
        lambda: curves.perplexity_table([last[key] for key in lines]),
        curves.results_recipe(
            seen,
            f"for cell in view.cells_at_length(view.read_cells(results), {length}):",
            f"    if cell.line in {tuple(lines)}: print(cell.weights, cell.line, cell.curve)",
        ),
        digits=1,
    )
