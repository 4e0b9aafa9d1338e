"""What linear attention does with the op."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.lrpe import linear
from ui.figures.drawing import Drawing, cached_figure, grid
from ui.figures.lrpe.op import LAYOUT, apart, limit, signed_map, title
from ui.figures.plot import axis, in_panel, panels, plot, split
from ui.text.words import PageTexts

TOKENS = 32


@cached_figure
def attention(rope: rc.Rope, phi: str, t: PageTexts) -> Drawing:
    """Scores of drawn non-negative features, plain and turned, on one scale."""
    results = linear.random_linear_attention(rope.theta, phi, TOKENS)
    plain, scores = np.tril(results.plain), np.tril(results.scores)
    hidden = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), 1)
    top, tokens = limit(plain, scores), np.arange(TOKENS)
    columns, axes, data = split([1, 1], 0.08), [], []
    for side, values in enumerate((plain, scores)):
        bar = {"thickness": 14} if side else None
        data.append(in_panel(side + 1, signed_map(np.where(hidden, np.nan, values), tokens, tokens, top, bar)))
        down = axis(autorange="reversed", nticks=6, showgrid=False, showticklabels=not side)
        axes.append((axis(t("key_n"), showgrid=False), down if side else axis(t("query_m")) | down))
    heads = [title(f"<b>{t(name)}</b>", columns[k][0], 1.0) for k, name in enumerate(("plain_scores", "turned_scores"))]
    figure = plot(data, height=420, **LAYOUT, annotations=heads, **panels(axes, columns))
    sentence = t(
        "attention_finding",
        phi=t(f"act.{phi}"),
        least=f"{plain[~hidden].min():.3g}",
        negative=results.negative_score_count,
        count=int((~hidden).sum()),
        residual=apart(results.residual),
    )
    if results.undefined_token_count:
        sentence += t("attention_undefined", count=results.undefined_token_count)
    return Drawing(
        "attention",
        figure,
        sentence,
        lambda: {**grid(tokens, tokens, results.plain, ("key", "query", "plain")), "turned": results.scores.ravel()},
        f"""
        import rope_core as rc
        from rope_core.lrpe import linear
        found = linear.random_linear_attention(rc.Rope({rope.dim}, {rope.base!r}).theta, {phi!r}, {TOKENS})
        least = min(found.plain[m, n] for m in range({TOKENS}) for n in range(m + 1))
        print(least, found.negative_score_count, {TOKENS} * ({TOKENS} + 1) // 2, found.residual)
        """,
    )
