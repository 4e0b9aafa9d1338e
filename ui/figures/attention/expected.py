"""Draw the curve you expect: what a larger base makes of the score over the distance."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import attention
from ui.figures.attention.bins import distance_bins
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_feedback
from ui.film import marks
from ui.film.colours import GREY, PURPLE
from ui.film.scene import Axis, Panel, Scene
from ui.film.sketch import sketch_between
from ui.text.words import PageTexts, number_text

TIMES = 50
DOUBLINGS = 14
LOW, HIGH = -0.25, 1.05


@cached_figure
def score_at_larger_base_sketch(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a vector's score with itself at the base in force, and a place to draw it at ``TIMES`` that base.

    The reader's curve has a height at every doubling of the distance, 1 to 2^``DOUBLINGS`` tokens.
    """
    q = np.full(rope.dim, rope.dim**-0.5)
    larger = rope.base * TIMES
    known, wanted = (rc.Spectrum.from_inv_freq(rc.Rope(rope.dim, base).theta) for base in (rope.base, larger))
    at = 2 ** np.arange(DOUBLINGS + 1)
    d, middle, fold = distance_bins(int(at[-1]))
    x, reach = np.log10(middle), float(np.log10(at[-1]))
    before, after = (attention.score_curve(spectrum, d, q, q) for spectrum in (known, wanted))
    true = attention.score_curve(wanted, at, q, q)
    drawn = sketch_between(
        "expected", t("expected_label"), np.log10(at).tolist(), [f"{m:,}" for m in at.tolist()], LOW, HIGH
    )
    ticks = tuple((float(k), number_text(10**k)) for k in range(int(reach) + 1))
    across = Axis(-0.05, reach + 0.05, ticks, t("distance_log"))
    shown = [
        marks.line([0.0, reach], [0.0, 0.0], "ink", 1),
        marks.line(x, fold(before)[0], GREY, 3),
        marks.text(0.0, LOW, t("base", base=number_text(rope.base)), GREY, anchor="start", bold=True, dx=4, dy=-26),
        marks.sketch_input(drawn, x, fold(after)[0], PURPLE),
        marks.after_reveal(
            marks.text(0.0, LOW, t("base", base=number_text(larger)), PURPLE, anchor="start", bold=True, dx=4, dy=-6)
        ),
    ]
    panel = Panel(across, Axis(LOW, HIGH, ((0.0, "0"), (0.5, "0.5"), (1.0, "1")), t("score_axis")), shown, height=200)

    return Film(
        "expected",
        Scene((panel,), (), t("expected_ask", base=number_text(rope.base), asked=number_text(larger)), drawn),
        lambda: {"distance": d, f"score, base {rope.base:g}": before, f"score, base {larger:g}": after},
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import attention
        q = np.full({rope.dim}, {rope.dim}**-0.5)
        for base in ({rope.base!r}, {larger!r}):
            spectrum = rc.Spectrum.from_inv_freq(rc.Rope({rope.dim}, base).theta)
            print(base, attention.score_curve(spectrum, 2 ** np.arange({DOUBLINGS + 1}), q, q))
        """,
        gap=lambda heights: sketch_feedback(drawn, heights, true, "{:.2f}".format, t),
    )
