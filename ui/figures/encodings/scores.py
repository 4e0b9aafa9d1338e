"""Each encoding's scores of one repeated word, and the sentences that are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights, relative_residual
from ui.figures.drawing import Drawing, cached_figure, heatmap_table
from ui.figures.plot import heatmap_trace, int8_colour_bar, line_trace, plotly_axis, plotly_figure, scaled_int8
from ui.film.colours import BLUE, DIVERGING_SCALE, LINE, ORANGE
from ui.text.words import PageTexts

# The width of the attention head that all comparisons share, and the positions that a score matrix shows.
WIDTH = 32
POSITIONS = 40
# A matrix that misses its nearest function of m - n by no more than this share is called relative.
RELATIVE = 1e-12
SentencePair = tuple[tuple[str, ...], tuple[str, ...]]


def split_tokens(text: str) -> tuple[str, ...]:
    """Return a sentence as tokens: words where it has spaces, characters where it has none.

    >>> split_tokens(" a  dog "), split_tokens("小明")
    (('a', 'dog'), ('小', '明'))
    """
    return tuple(text.split() if " " in text.strip() else text.strip())


def has_same_tokens(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both sentences have the same tokens, each as often, and at least one."""
    return bool(first) and sorted(first) == sorted(second)


@cached_figure
def score_map_chart(name: str, base: float, shift: int, t: PageTexts) -> Drawing:
    """Logits of one repeated word at positions from ``shift`` on, over (m, n)."""
    where = np.arange(shift, shift + POSITIONS)
    matrix = position_only_logits(name, where, random_encoding_weights(WIDTH, base))
    limit = float(np.abs(matrix).max()) or 1.0
    look = {"zmid": 0, "zmin": -127, "zmax": 127, "colorbar": int8_colour_bar(limit)}
    figure = plotly_figure(
        [heatmap_trace(scaled_int8(matrix, limit), DIVERGING_SCALE, x0=shift, y0=shift, **look)],
        height=380,
        xaxis=plotly_axis(t("key"), constrain="domain"),
        yaxis=plotly_axis(t("query"), autorange="reversed", scaleanchor="x", constrain="domain"),
    )
    finding = t(
        "map_finding", name=t(f"encoding.{name}"), low=f"{matrix.min():.3g}", high=f"{matrix.max():.3g}", first=shift
    )
    recipe = f"""
        import numpy as np
        from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights
        head = random_encoding_weights({WIDTH}, {base!r})
        scores = position_only_logits({name!r}, np.arange({shift}, {shift + POSITIONS}), head)
        print(scores, scores.min(), scores.max())
        """
    return Drawing(
        "score_map", figure, finding, lambda: heatmap_table(where, where, matrix, ("n", "m", "score")), recipe
    )


@cached_figure
def score_by_offset_chart(name: str, base: float, shift: int, t: PageTexts) -> Drawing:
    """Draw the same logits over m - n for three queries, and how far they are from a function of m - n."""
    where = np.arange(shift, shift + POSITIONS)
    matrix = position_only_logits(name, where, random_encoding_weights(WIDTH, base))
    residual = relative_residual(matrix, where)
    flat = float(np.ptp(matrix)) <= RELATIVE * float(np.abs(matrix).max())
    key = "scores_flat" if flat else "scores_relative" if residual <= RELATIVE else "scores_absolute"
    looks = ((6, BLUE, 9, "solid"), (20, ORANGE, 5, "solid"), (34, LINE, 2.5, "dot"))
    figure = plotly_figure(
        [
            line_trace(row - np.arange(POSITIONS), matrix[row], colour, width, f"m = {shift + row}", dash)
            for row, colour, width, dash in looks
        ],
        height=380,
        xaxis=plotly_axis(t("difference")),
        yaxis=plotly_axis(t("score"), **({"range": [matrix.min() - 1, matrix.max() + 1]} if flat else {})),
    )
    return Drawing(
        "score_lines",
        figure,
        t(key, name=t(f"encoding.{name}"), residual=f"{residual:.1e}", share=f"{100 * residual:.0f}"),
        lambda: {"n": where} | {f"m={shift + row}": matrix[row] for row in (6, 20, 34)},
        f"""
        import numpy as np
        from rope_core.theory.encodings.compare import relative_residual, position_only_logits, random_encoding_weights
        where = np.arange({shift}, {shift + POSITIONS})
        scores = position_only_logits({name!r}, where, random_encoding_weights({WIDTH}, {base!r}))
        print(relative_residual(scores, where))
        """,
    )
