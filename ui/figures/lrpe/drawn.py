"""A place to draw how many numbers are negative once activated features have been turned."""

from __future__ import annotations

import numpy as np

from rope_core.lrpe.demo import negative_output_share
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

DOUBLINGS, TOP = 10, 60.0


@cached_figure
def negative_share_sketch(width: int, base: float, t: PageTexts) -> Film:
    """Return a place to draw the share of negative numbers after ReLU and the turn, over the position."""
    positions = np.arange(2**DOUBLINGS)
    share = 100 * negative_output_share("relu", width, base, len(positions))
    x = np.log2(positions + 1)
    columns = {f"{2**k - 1:,}": float(k) for k in range(DOUBLINGS)}
    ticks = tuple((place, text) for text, place in columns.items() if place % 3 == 0)
    up = Axis(0.0, TOP, tuple((y, f"{y:.0f} %") for y in (0.0, 25.0, 50.0)), t("negative_axis"))
    panel = Panel(Axis(0.0, float(DOUBLINGS - 1), ticks, t("negative_position")), up, [], height=180)
    at = [2**k - 1 for k in range(DOUBLINGS)]
    return sketch_film(
        "negative",
        panel,
        (x[: at[-1] + 1], share[: at[-1] + 1]),
        columns,
        t,
        lambda: {"position": positions, "negative_percent": share},
        f"""
        from rope_core.lrpe.demo import negative_output_share
        print(100 * negative_output_share("relu", {width}, {base!r}, {at[-1] + 1})[{at}])
        """,
        digits=0,
    )
