"""A place to draw the score of neighbours where a cache drops words and the new word alone is renumbered."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.attention import score_curve
from rope_core.theory.position_demo import cached_key_distances_by_mode
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import RED
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

CACHED, REACH, EACH = 64, 40, 4


@cached_figure
def renumbered_key_score_sketch(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a place to draw the score of a new word with the word before it over the words that were dropped.

    Both have the same vector; positions stay, or the new word's alone goes back.
    """
    dropped = np.arange(REACH + 1)
    s = rc.spectrum(rc.Request(rope))
    reads = [cached_key_distances_by_mode(CACHED, k) for k in dropped.tolist()]
    right, wrong = (score_curve(s, [each[way][-1] for each in reads]) for way in ("moved", "renumbered"))
    columns = dropped[::EACH]
    x = Axis(0.0, float(REACH), tuple((float(k), str(k)) for k in columns[::5].tolist()), t("slipped_dropped"))
    drawn = [
        marks.line(dropped, right, RED, 4),
        marks.text(float(REACH), float(right[-1]), t("slipped_known"), RED, anchor="end", bold=True, dx=-4, dy=18),
    ]
    panel = Panel(x, Axis(-0.2, 1.1, ((0.0, "0"), (1.0, "1")), t("slipped_axis")), drawn, height=180)
    return sketch_film(
        "slipped",
        panel,
        (dropped, wrong),
        {str(k): float(k) for k in columns.tolist()},
        t,
        lambda: {"dropped": dropped, "kept": right, "renumbered_alone": wrong},
        f"""
        import rope_core as rc
        from rope_core.theory.attention import score_curve
        from rope_core.theory.position_demo import cached_key_distances_by_mode
        s = rc.spectrum(rc.Request(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})))
        reads = [cached_key_distances_by_mode({CACHED}, k) for k in range(0, {REACH + 1}, {EACH})]
        for way in ("moved", "renumbered"):
            print(way, score_curve(s, [each[way][-1] for each in reads]))
        """,
    )
