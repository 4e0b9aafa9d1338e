"""A place to draw how far a layer's output moves with its text where v is rotated as well."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.block.demo import shifted_output_errors
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import PURPLE
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

REACH, EACH, TOP = 40, 4, 150.0


@cached_figure
def output_change_sketch(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a place to draw the change of the output over the common shift, v rotated, and the true curve.

    The change is the length of the difference to the unmoved output, as a percentage of that output's length.
    """
    shifts = np.arange(REACH + 1)
    plain, rotated = (100 * part for part in shifted_output_errors(rope, shifts))
    columns = shifts[::EACH]
    x = Axis(0.0, float(REACH), tuple((float(s), str(s)) for s in columns[::5].tolist()), t("drift_shift"))
    drawn = [
        marks.line(shifts, plain, PURPLE, 4),
        marks.text(float(REACH), 0.0, t("v_plain"), PURPLE, anchor="end", bold=True, dx=-4, dy=-8),
    ]
    panel = Panel(x, Axis(-6.0, TOP, ((0.0, "0 %"), (100.0, "100 %")), t("drift_axis")), drawn, height=180)
    return sketch_film(
        "drift",
        panel,
        (shifts, rotated),
        {str(s): float(s) for s in columns.tolist()},
        t,
        lambda: {"shift": shifts, "plain_percent": plain, "rotated_percent": rotated},
        f"""
        import rope_core as rc
        from rope_core.theory.block.demo import shifted_output_errors
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        plain, rotated = shifted_output_errors(rope, range(0, {REACH + 1}, {EACH}))
        print(100 * plain, 100 * rotated)
        """,
        digits=0,
    )
