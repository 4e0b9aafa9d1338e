"""A place to draw how wrong the scores are where weights of one layout run in code of the other."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.challenges import SHAPES
from rope_core.theory.layout_demo import conversion_scores
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

FARTHEST = 127
MARKS = (0, 1, 3, 7, 15, 31, 63, 127)


@cached_figure
def layout_error_sketch(base: float, t: PageTexts) -> Film:
    """Return a place to draw the error of all scores over the distance, weights not reordered, and the true curve.

    The error is the root mean square of the difference, as a percentage of the right scores'.
    """
    distances = np.arange(FARTHEST + 1)
    error = 100 * conversion_scores(SHAPES, "none", distances, rc.Rope(SHAPES.head_dim, base).theta).relative
    x = np.log2(distances + 1)
    columns = {str(d): float(np.log2(d + 1)) for d in MARKS}
    ticks = tuple((place, text) for text, place in columns.items())
    y = Axis(0.0, 200.0, ((0.0, "0 %"), (100.0, "100 %"), (200.0, "200 %")), t("error_axis"))
    panel = Panel(Axis(0.0, float(x[-1]), ticks, t("distance")), y, [], height=190)
    return sketch_film(
        "wrong",
        panel,
        (x, error),
        columns,
        t,
        lambda: {"distance": distances, "error_percent": error},
        f"""
        import rope_core as rc
        from rope_core.theory.challenges import SHAPES
        from rope_core.theory.layout_demo import conversion_scores
        theta = rc.Rope(SHAPES.head_dim, {base!r}).theta
        print(100 * conversion_scores(SHAPES, "none", {MARKS!r}, theta).relative)
        """,
        digits=0,
    )
