"""Draw the error you expect of a rounded table of cos and sin, beside that of a rounded frequency."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory import precision
from ui.figures.colours import GREY, ORANGE
from ui.figures.drawing import Film, kept
from ui.figures.precision.formats import asked
from ui.figures.precision.phase import stops
from ui.film.scene import Axis, Panel, Scene
from ui.film.shapes import label, later, path, sketch
from ui.film.sketch import over
from ui.text.words import Words

DOUBLINGS = 20
LOW, HIGH = -5.0, 4.0
KNOWN, WANTED = "inv_freq", "table"


@kept
def expected(request: rc.Request, dtype: str, t: Words) -> Film:
    """Return the largest error of the frequency up to a position, and a place to draw that of the table.

    The reader's curve has a height, a power of ten in rad, at every doubling of the position.
    """
    s = rc.spectrum(request)
    positions = np.array(stops(1))
    at = 2 ** np.arange(DOUBLINGS + 1)
    known, wanted = (_so_far(s, positions, stage, dtype) for stage in (KNOWN, WANTED))
    true = wanted[np.searchsorted(positions, at)]
    x = np.log10(positions)
    drawn = over("drawn", t("expected_label"), np.log10(at).tolist(), [f"{m:,}" for m in at.tolist()], LOW, HIGH, 1)
    ticks = tuple((float(k), f"{10**k:,}") for k in range(0, 7, 2))
    panel = Panel(
        Axis(-0.05, float(x[-1]) + 0.05, ticks, t("position_log")),
        Axis(LOW, HIGH, tuple((float(k), f"10^{k}") for k in (-4, -2, 0, 2, 4)), t("so_far")),
        [
            path(x, known, GREY, 3),
            label(0.0, HIGH, t("expected_known"), GREY, anchor="start", bold=True, dx=6, dy=20),
            sketch(drawn, x, wanted, ORANGE),
            later(label(0.0, HIGH, t("expected_true"), ORANGE, anchor="start", bold=True, dx=6, dy=42)),
        ],
        height=220,
    )

    def gap(heights: npt.NDArray[np.float64]) -> str:
        return t(
            "expected_gap",
            mean=f"{np.abs(heights - true).mean():.1f}",
            drawn=f"{heights[-1]:.1f}",
            true=f"{true[-1]:.1f}",
        )

    return Film(
        "expected",
        Scene((panel,), (), t("expected_ask", dtype=dtype), drawn),
        lambda: {"position": positions, "frequency_log10_rad": known, "table_log10_rad": wanted},
        f"""
        import rope_core as rc
        from rope_core.theory import precision
        s = {asked(request)}
        for stage in {(KNOWN, WANTED)}:
            print(stage, abs(precision.phase_error(s, [1, 1024, 1048576], stage, {dtype!r})).max(axis=1))
        """,
        gap=gap,
    )


def _so_far(s: rc.Spectrum, positions: npt.NDArray[np.int64], stage: str, dtype: str) -> npt.NDArray[np.float64]:
    """Return the largest error up to each position as a power of ten, within the panel."""
    error = np.abs(precision.phase_error(s, positions, stage, dtype)).max(axis=1)
    largest = np.maximum.accumulate(np.nan_to_num(error, nan=0.0, posinf=0.0))
    return np.asarray(np.clip(np.log10(np.maximum(largest, 10.0**LOW)), LOW, HIGH))
