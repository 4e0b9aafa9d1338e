"""Figures of cached keys and written text against the results that they draw."""

import math

import pytest

from rope_core.languages import LANGUAGES
from tests.support import lab_results as made
from tests.support.figures import chart, ran
from ui.figures.extrapolation import handling as figures
from ui.text.words import PageTexts

T = PageTexts("en", "extrapolation")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("worse", "kind"), [(0.2, "worse"), (-0.2, "better"), (0.0, "same")])
def test_stale_keys_are_judged_by_their_interval(worse: float, kind: str, lang: str) -> None:
    t = PageTexts(lang, "extrapolation")
    drawing = figures.stale_keys_perplexity_chart(made.seen(made.stale(worse)), 64, t)
    beginning = t(f"stale_finding.{kind}").split("{")[2].split("}")[1]
    assert beginning in drawing.finding and f"×{math.exp(worse):.2f}" in drawing.finding
    drawn = [trace.name for trace in chart(drawing).data if not trace.fill]
    assert set(drawn) == {t(f"variant.{each}") for each in ("stale", "recomputed", "unscaled")}
    assert "recomputed" in ran(drawing)
    part = figures.stale_keys_perplexity_chart(made.seen(made.stale(worse)[:1]), 64, t)
    assert t("stale_finding.going").split("{")[0] in part.finding


def test_written_text_comes_line_by_line_and_unchanged() -> None:
    seen = made.seen(made.generated())
    assert figures.generated_text_lengths(seen) == made.LENGTHS[:2]
    rows = figures.generated_texts(seen, made.LENGTHS[1], T)
    assert [text for _, text in rows] == ["x):", *(f"<script>128</script>`{key}`" for key in made.KEYS[:2])]
    assert f"{math.exp(1.5):.2f}" in rows[2][0] and not any("<" in label for label, _ in rows)
    assert figures.prompt_end(seen, made.LENGTHS[0]) == "def f(" and figures.generated_texts(seen, 9, T) == []
