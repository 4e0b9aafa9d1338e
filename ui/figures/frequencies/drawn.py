"""A place to draw how many pairs never finish a turn in training, over the base."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts, number_text

LOW, HIGH, EACH = 2, 8, 2
"""Powers of ten of the first base and the last, and how many columns there are to each."""


@cached_figure
def unfinished_pairs_sketch(dim: int, train_len: int, t: PageTexts) -> Film:
    """Return a place to draw the number of pairs that never finish a turn, over the base, and the true curve."""
    x = np.linspace(LOW, HIGH, 40 * (HIGH - LOW) + 1)
    counts = np.array([frequency_demo.incomplete_pair_mask(rc.Rope(dim, 10.0**power, train_len)).sum() for power in x])
    pairs = dim // 2
    step = 40 // EACH
    columns = {number_text(float(f"{10**power:.2g}")): float(power) for power in x[::step]}
    ticks = tuple((float(power), number_text(10.0**power)) for power in range(LOW, HIGH + 1))
    y = Axis(
        0.0, float(pairs), ((0.0, "0"), (pairs / 2, number_text(pairs / 2)), (float(pairs), str(pairs))), t("no_turn")
    )
    panel = Panel(Axis(float(LOW), float(HIGH), ticks, t("field.base")), y, [], height=190)
    return sketch_film(
        "unfinished",
        panel,
        (x, counts),
        columns,
        t,
        lambda: {"base": 10**x, "unfinished_pairs": counts},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        for base in (100.0, 10_000.0, 1_000_000.0):
            print(base, int(frequency_demo.incomplete_pair_mask(rc.Rope({dim}, base, {train_len})).sum()))
        """,
        digits=0,
    )
