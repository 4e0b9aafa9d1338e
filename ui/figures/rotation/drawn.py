"""A place to draw the score of a query and a key while both move along the text."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import demo
from rope_core.theory.attention import score_curve
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import GREY
from ui.film.scene import WINDOW, Axis, Panel
from ui.text.words import PageTexts


@cached_figure
def shifted_score_sketch(rope: rc.Rope, m: int, n: int, t: PageTexts) -> Film:
    """Return a place to draw the score of a query at m and a key at n while both move along, and the true line.

    From the start one pair's share is seen as it would be, were the query alone to move.
    """
    q, k = demo.random_vectors(rope.dim)
    along = np.arange(WINDOW + 1)
    scores = demo.shifted_scores(q, k, m, n, along, rope.theta, "interleaved")
    alone = score_curve(rc.Spectrum.from_inv_freq(rope.theta), m - n + along, q, k)
    reach = 1.1 * float(np.abs(np.concatenate([scores, alone])).max())
    columns = np.arange(0, WINDOW + 1, WINDOW // 8)
    x = Axis(0.0, float(WINDOW), tuple((float(s), str(s)) for s in columns[::2].tolist()), t("shift_axis"))
    drawn = [
        marks.line(along, alone, GREY, 2),
        marks.text(float(WINDOW), -reach, t("query_alone"), GREY, anchor="end", dx=-4, dy=-16),
        marks.dot([0.0], [scores[0]], "ink", 7),
    ]
    panel = Panel(x, Axis(-reach, reach, ((0.0, "0"),), t("score_axis")), drawn, height=200)
    return sketch_film(
        "shifted",
        panel,
        (along, scores),
        {str(s): float(s) for s in columns.tolist()},
        t,
        lambda: {"shift": along, "both move": scores, "query alone moves": alone},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.random_vectors(rope.dim)
        print(demo.shifted_scores(q, k, {m}, {n}, range(0, 65, 8), rope.theta, "interleaved"))
        """,
    )
