"""What bases span and pairs measure: traces against formulas written out, their sentences and recipes."""

import numpy as np
import plotly.graph_objects as go
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from rope_core.theory.attention import first_negative_score_distance
from tests.support.figures import chart
from ui.figures.frequencies import spans
from ui.text.words import PageTexts, page_sections

EN = PageTexts("en", "frequencies")


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def test_repeats_names_the_closest_return() -> None:
    rope = rc.Rope(8, 50.0, 400)
    drawing = spans.code_similarity_chart(rope, EN)
    at = np.arange(7, 400)
    alike = np.cos(at[:, None] * rope.theta).mean(axis=1)
    assert f"{alike.max():.3f} at most (at distance {at[alike.argmax()]})" in drawing.finding
    curve = named(chart(drawing), EN("all_pairs"))
    where = np.asarray(curve.x) - 1
    np.testing.assert_allclose(curve.y, np.cos(where[:, None] * rope.theta).mean(axis=1), atol=1e-4)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_bases_in_the_text_are_what_the_bound_gives(lang: str) -> None:
    text = page_sections(lang, "frequencies")["base"][1]
    for context, least in ((1024, 4294), (4096, 26_953), (8192, 83_764)):
        assert f"{least:,}" in text and first_negative_score_distance(128, least, context) is None
        assert None not in [
            first_negative_score_distance(128, base, context) for base in (*np.geomspace(2, least - 1, 200),)
        ]
    for model, base in (("llama-3-8b", 500_000), ("qwen2.5-7b", 1_000_000)):
        assert f"{base:,}" in text
        assert rc.model(model).rope().base == base
