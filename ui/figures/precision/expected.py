"""Draw the error you expect of a frequency in a wider format, beside that in the format in force."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory import precision
from ui.figures.drawing import Film, cached_figure
from ui.figures.precision.formats import spectrum_recipe
from ui.figures.precision.phase import position_stops
from ui.figures.precision.steps import power_of_ten_text
from ui.figures.predicted import sketch_feedback
from ui.film import marks
from ui.film.colours import GREY, PURPLE
from ui.film.scene import Axis, Panel, Scene
from ui.film.sketch import sketch_between
from ui.text.words import PageTexts

DOUBLINGS = 20
LOW, HIGH = -9.0, 4.0
OTHER = {"bfloat16": "float32", "float16": "float32", "float32": "bfloat16"}
"""The format that is asked for, by the one that is shown."""


@cached_figure
def rounding_error_sketch(request: rc.Request, dtype: str, t: PageTexts) -> Film:
    """Return the error of a rounded frequency over the position, and a place to draw that of ``OTHER``'s format.

    The reader's curve has a height, a power of ten in rad, at every doubling of the position.
    """
    s, other = rc.spectrum(request), OTHER[dtype]
    positions = np.array(position_stops(1))
    at = 2 ** np.arange(DOUBLINGS + 1)
    known, wanted = (_logarithm(s, positions, each) for each in (dtype, other))
    true = wanted[np.searchsorted(positions, at)]
    x = np.log10(positions)
    drawn = sketch_between(
        "expected",
        t("expected_label", asked=other),
        np.log10(at).tolist(),
        [f"{m:,}" for m in at.tolist()],
        LOW,
        HIGH,
        1,
    )
    ticks = tuple((float(k), f"{10**k:,}") for k in range(0, 7, 2))
    y = Axis(LOW, HIGH, tuple((float(k), f"10{power_of_ten_text(k)}") for k in (-8, -4, 0, 4)), t("phase_axis"))
    shown = [
        marks.line(x, known, GREY, 3),
        marks.text(float(x[-1]), LOW, t("expected_known", dtype=dtype), GREY, anchor="end", bold=True, dx=-6, dy=-42),
        marks.sketch_input(drawn, x, wanted, PURPLE),
        marks.after_reveal(
            marks.text(
                float(x[-1]), LOW, t("expected_known", dtype=other), PURPLE, anchor="end", bold=True, dx=-6, dy=-20
            )
        ),
    ]
    panel = Panel(Axis(-0.05, float(x[-1]) + 0.05, ticks, t("position_log")), y, shown, height=220)

    return Film(
        "expected",
        Scene((panel,), (), t("expected_ask", dtype=dtype, asked=other), drawn),
        lambda: {"position": positions, f"{dtype}_log10_rad": known, f"{other}_log10_rad": wanted},
        f"""
        import rope_core as rc
        from rope_core.theory import precision
        s = {spectrum_recipe(request)}
        for dtype in {(dtype, other)}:
            print(dtype, abs(precision.phase_error(s, [1, 1024, 1048576], "inv_freq", dtype)).max(axis=1))
        """,
        gap=lambda heights: sketch_feedback(
            drawn, heights, true, lambda power: t("expected_height", power=f"{power:.1f}"), t
        ),
    )


def _logarithm(s: rc.Spectrum, positions: npt.NDArray[np.int64], dtype: str) -> npt.NDArray[np.float64]:
    """Return the error at each position as a power of ten, within the panel."""
    error = precision.phase_error_curve(s, positions, "inv_freq", dtype)
    return np.asarray(np.clip(np.log10(np.maximum(error, 10.0**LOW)), LOW, HIGH))
