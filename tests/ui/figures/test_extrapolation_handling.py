"""Figures of temperatures, cached keys, padding and written text against the results that they draw."""

import math

import numpy as np
import pytest

from tests.support import lab_results as made
from tests.support.figures import chart, ran
from ui.figures.extrapolation import handling as figures
from ui.text.words import LANGUAGES, Words

T = Words("en", "extrapolation")


def test_temperatures_are_drawn_as_paired_ratios_with_the_paper_s_value() -> None:
    drawing = figures.scales(made.seen(made.temperature()), T)
    curves = [trace for trace in chart(drawing).data if trace.name]
    for trace, best in zip(curves, (1.1, 1.2), strict=True):
        assert list(trace.x) == [1.0, 1.1, 1.2, 1.3]
        assert list(trace.y) == pytest.approx([math.exp((x - best) ** 2) for x in trace.x])
    marks = sorted(shape.x0 for shape in chart(drawing).layout.shapes)
    assert marks == pytest.approx([1 + 0.1 * math.log(2), 1 + 0.1 * math.log(8)])
    assert "lowest of those swept is 1.1" in drawing.finding and "is 1.2" in drawing.finding
    assert len(np.asarray(drawing.table()["last_value"])) == 8
    assert "8.0" in ran(drawing)


@pytest.mark.parametrize(
    ("slope", "kind"),
    [((0.07, 0.05, 0.09), "outside"), ((0.07, 0.05, 0.12), "not excluded"), ((None, None, None), "no slope")],
)
def test_the_refit_is_named_for_what_it_is(slope: tuple[float | None, ...], kind: str) -> None:
    drawing = figures.refit(made.seen(made.temperature(slope)), T)
    assert drawing is not None and kind in drawing.finding
    assert ("0.070 [0.050" in drawing.finding) == (slope[0] is not None)
    assert drawing.finding.endswith(f"At factor 8 the best is 1.20, where the paper has {1 + 0.1 * math.log(8):.2f}.")
    lines = [trace for trace in chart(drawing).data if trace.mode == "lines"]
    assert len(lines) == (2 if slope[0] is not None else 1)
    x, paper = np.asarray(lines[0].x), np.asarray(lines[0].y)
    assert paper == pytest.approx(1 + 0.1 * np.log(x))
    marks = chart(drawing).data[-1]
    assert list(marks.y) == [1.1, 1.2] and list(marks.error_y.array) == pytest.approx([0.05, 0.0])
    assert figures.refit(made.seen(made.temperature()[:-1]), T) is None


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("worse", "kind"), [(0.2, "worse"), (-0.2, "better"), (0.0, "same")])
def test_stale_keys_are_judged_by_their_interval(worse: float, kind: str, lang: str) -> None:
    t = Words(lang, "extrapolation")
    drawing = figures.stale(made.seen(made.stale(worse)), 64, t)
    beginning = t(f"stale_finding.{kind}").split("{")[2].split("}")[1]
    assert beginning in drawing.finding and f"×{math.exp(worse):.2f}" in drawing.finding
    drawn = [trace.name for trace in chart(drawing).data if not trace.fill]
    assert set(drawn) == {t(f"variant.{each}") for each in ("stale", "recomputed", "unscaled")}
    assert "recomputed" in ran(drawing)
    part = figures.stale(made.seen(made.stale(worse)[:1]), 64, t)
    assert t("stale_finding.going").split("{")[0] in part.finding


def test_padding_is_judged_by_its_logits() -> None:
    drawing = figures.padding(made.seen(made.padding()), T)
    points = chart(drawing).data[0]
    assert list(points.x) == [5.5, 3.1, 3.0] and points.y[0] == T("case.padded_unmasked")
    for part in (T("case.padded_masked"), "off by 2·10⁻⁵", T("case.padded_unmasked"), "off by 7.2", "64 bytes"):
        assert part in drawing.finding
    assert np.asarray(drawing.table()["gap"]).tolist() == [0.0, 2e-5, 7.25]
    assert figures.case_name("a case of tomorrow", T) == "a case of tomorrow"


def test_written_text_comes_line_by_line_and_unchanged() -> None:
    seen = made.seen(made.generated())
    assert figures.lengths_written(seen) == made.LENGTHS[:2]
    rows = figures.written(seen, made.LENGTHS[1], T)
    assert [text for _, text in rows] == ["x):", *(f"<script>128</script>`{key}`" for key in made.KEYS[:2])]
    assert f"{math.exp(1.5):.2f}" in rows[2][0] and not any("<" in label for label, _ in rows)
    assert figures.prompt(seen, made.LENGTHS[0]) == "def f(" and figures.written(seen, 9, T) == []
