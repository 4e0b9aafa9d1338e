"""Whether the pairs repeat: one alone, and all together."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import POWERS, line_trace, plotly_axis, plotly_figure
from ui.film.colours import BLUE, GREY
from ui.text.words import PageTexts, number_text

NEAR = 100


@cached_figure
def code_similarity_chart(rope: rc.Rope, t: PageTexts) -> Drawing:
    """How alike the codes of two positions are over their distance, beside one fast pair that does repeat."""
    span = min(rope.train_len, frequency_demo.similarity_curve_length(rope.dim))
    alike = frequency_demo.mean_cosine_by_distance(rope, span)
    closest = frequency_demo.highest_return_distance(alike)
    shown = np.unique(np.geomspace(1, span, 600).astype(int)) - 1
    near = shown[shown < NEAR]
    fast = np.cos(near * rope.theta[0])
    data = [
        line_trace(near + 1, fast.astype("f4"), GREY, 3, t("fast_pair")),
        line_trace(shown + 1, alike[shown].astype("f4"), BLUE, name=t("all_pairs")),
    ]
    figure = plotly_figure(
        data,
        height=360,
        xaxis=plotly_axis(t("distance_plus"), **POWERS),
        yaxis=plotly_axis(t("similarity"), range=[-1.05, 1.05]),
    )
    finding = t(
        "repeats_finding",
        first=number_text(rope.wavelength[0], 3),
        span=f"{span:,}",
        best=f"{alike[closest]:.3f}",
        at=closest,
    )
    recipe = f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        rope = rc.Rope({rope.dim}, {rope.base!r})
        alike = frequency_demo.mean_cosine_by_distance(rope, {span})
        at = frequency_demo.highest_return_distance(alike)
        print(rope.wavelength[0], at, alike[at])
        """
    return Drawing("repeats", figure, finding, lambda: {"distance": np.arange(span), "similarity": alike}, recipe)
