"""A place to draw what a scheme makes of a longer text, beside the window that reads its end alone."""

from __future__ import annotations

import numpy as np

from rope_core.lab import view
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import ExperimentResults
from ui.figures.drawing import Film
from ui.figures.extrapolation.curves import line_colour, perplexity_table, results_recipe
from ui.figures.extrapolation.words import line_name
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

TOP = 6.0


def perplexity_by_length_sketch(seen: ExperimentResults, line: str, t: PageTexts) -> Film:
    """Return a place to draw a line's perplexity on the last quarter, over the length, and the truth.

    The window's is seen from the start: it reads the same end without the longer text.
    """
    cells = view.read_cells(seen.results)
    lengths = view.cell_lengths(cells)
    window = next(each.key for each in scheme_lines() if each.sliding)
    shown = {key: [each for each in cells if each.line == key] for key in (window, line)}
    values = {key: np.array([each.last.value for each in rows]) for key, rows in shown.items()}
    x = np.log2(np.array(lengths, dtype=float))
    columns = {f"{length:,}": float(at) for length, at in zip(lengths, x, strict=True)}
    last = float(x[-1])
    across = Axis(float(x[0]), last, tuple((at, text) for text, at in columns.items()), t("longer_axis"))
    up = Axis(0.0, TOP, tuple((float(y), str(y)) for y in range(0, int(TOP) + 1, 2)), t("last_axis"))
    drawn = [
        marks.line(x, values[window], "ink", 3),
        marks.dot(x, values[window], "ink", 5),
        marks.text(last, float(values[window][-1]), line_name(window, t), "ink", anchor="end", bold=True, dx=-4, dy=22),
        marks.after_reveal(
            marks.text(
                last, float(values[line][-1]), line_name(line, t), line_colour(line), anchor="end", bold=True, dy=-10
            )
        ),
    ]
    panel = Panel(across, up, drawn, height=200)
    return sketch_film(
        "longer",
        panel,
        (x, values[line]),
        columns,
        t,
        lambda: perplexity_table([*shown[window], *shown[line]]),
        results_recipe(
            seen,
            "for cell in view.read_cells(results):",
            f"    if cell.line in {(window, line)}: print(cell.line, cell.length, cell.last)",
        ),
        digits=1,
        line=line_name(line, t),
    )
