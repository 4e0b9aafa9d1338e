"""What linear attention does with the op."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.lrpe import linear
from ui.figures.drawing import Drawing, cached_figure, heatmap_table
from ui.figures.lrpe.op import LAYOUT, largest_magnitude_or_one, panel_title, residual_text, signed_heatmap
from ui.figures.plot import panel_axes, panel_domains, plotly_axis, plotly_figure, trace_in_panel
from ui.text.words import PageTexts

TOKENS = 32


@cached_figure
def linear_attention_chart(rope: rc.Rope, phi: str, t: PageTexts) -> Drawing:
    """Scores of drawn non-negative features, plain and turned, on one scale."""
    results = linear.random_linear_attention(rope.theta, phi, TOKENS)
    plain, scores = np.tril(results.plain), np.tril(results.scores)
    hidden = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), 1)
    top, tokens = largest_magnitude_or_one(plain, scores), np.arange(TOKENS)
    columns, axes, data = panel_domains([1, 1], 0.08), [], []
    for side, values in enumerate((plain, scores)):
        bar = {"thickness": 14} if side else None
        data.append(
            trace_in_panel(side + 1, signed_heatmap(np.where(hidden, np.nan, values), tokens, tokens, top, bar))
        )
        down = plotly_axis(autorange="reversed", nticks=6, showgrid=False, showticklabels=not side)
        axes.append((plotly_axis(t("key_n"), showgrid=False), down if side else plotly_axis(t("query_m")) | down))
    heads = [
        panel_title(f"<b>{t(name)}</b>", columns[k][0], 1.0) for k, name in enumerate(("plain_scores", "turned_scores"))
    ]
    figure = plotly_figure(data, height=420, **LAYOUT, annotations=heads, **panel_axes(axes, columns))
    sentence = t(
        "attention_finding",
        phi=t(f"act.{phi}"),
        least=f"{plain[~hidden].min():.3g}",
        negative=results.negative_score_count,
        count=int((~hidden).sum()),
        residual=residual_text(results.residual),
    )
    if results.undefined_token_count:
        sentence += t("attention_undefined", count=results.undefined_token_count)
    return Drawing(
        "attention",
        figure,
        sentence,
        lambda: {
            **heatmap_table(tokens, tokens, results.plain, ("key", "query", "plain")),
            "turned": results.scores.ravel(),
        },
        f"""
        import rope_core as rc
        from rope_core.lrpe import linear
        found = linear.random_linear_attention(rc.Rope({rope.dim}, {rope.base!r}).theta, {phi!r}, {TOKENS})
        least = min(found.plain[m, n] for m in range({TOKENS}) for n in range(m + 1))
        print(least, found.negative_score_count, {TOKENS} * ({TOKENS} + 1) // 2, found.residual)
        """,
    )
