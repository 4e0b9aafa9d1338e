"""Digits, extension and axes as drawn, against integer arithmetic and turns written out by hand."""

import math

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory.extension import Extension, extensions, reach
from tests.support.figures import chart
from ui.figures.encodings import digits as figures
from ui.text.words import LANGUAGES, Words

T = Words("en", "encodings")


def extended(rope: rc.Rope, factor: float) -> list[Extension]:
    params = {name: {"factor": factor} if rc.SCHEMES[name].params else {} for name in figures.by_factor()}
    return extensions(rope, params, reach(rope, factor))[0]


@pytest.mark.parametrize("lang", list(LANGUAGES))
@pytest.mark.parametrize("rope, factor", [(rc.Rope(128, 10_000.0, 4096), 4.0), (rc.Rope(16, 5e5, 512), 7.5)])
def test_linear_compresses_and_ntk_changes_the_base(rope: rc.Rope, factor: float, lang: str) -> None:
    t = Words(lang, "encodings")
    drawing = figures.stretched(rope, factor, extended(rope, factor), t)
    table = {key: np.asarray(column, dtype=float) for key, column in drawing.table().items()}
    np.testing.assert_allclose(table["none"], factor)
    np.testing.assert_allclose(table["linear"], 1.0)
    i = np.arange(rope.pairs)
    np.testing.assert_allclose(table["ntk"], factor * factor ** (-2 * i / (rope.dim - 2)), rtol=1e-9)
    names = [trace.name for trace in chart(drawing).data]
    assert t("effect.compressed", scheme=t("scheme.linear")) in names
    assert t("effect.rebased", scheme=t("scheme.ntk")) in names
    new = (rope.base * factor ** (rope.dim / (rope.dim - 2))) ** (2 / rope.dim)
    assert f"{new:.3g}" in drawing.finding and f"{rope.base ** (2 / rope.dim):.3g}" in drawing.finding


def test_one_pair_has_no_base_to_change() -> None:
    drawing = figures.stretched(rc.Rope(2), 4.0, extended(rc.Rope(2), 4.0), T)
    assert T("no_base") in drawing.finding and "ntk" not in drawing.table()


def test_effects() -> None:
    assert figures.effect(np.array([1.0, 1.5, 4.0])) == "mixed"
    assert figures.effect(np.array([3.0])) == "compressed"


@pytest.mark.parametrize("counts", [(5, 4, 3), (2, 1, 1), (24, 20, 20)])
def test_sections_colour_every_pair_once_in_each_row(counts: tuple[int, int, int]) -> None:
    drawing = figures.sections(counts, T)
    rows: dict[float, dict[int, str]] = {}
    for trace in chart(drawing).data:
        for pair in trace.x:
            rows.setdefault(trace.base, {})[int(pair)] = trace.marker.color
    order = dict(zip(figures.AXIS_COLOURS, range(3), strict=True))
    blocks = [order[rows[0.6][pair]] for pair in range(sum(counts))]
    turns = [order[rows[-0.4][pair]] for pair in range(sum(counts))]
    assert blocks == [0] * counts[0] + [1] * counts[1] + [2] * counts[2]
    assert [turns.count(axis) for axis in range(3)] == list(counts)
    assert all(axis in (0, pair % 3) for pair, axis in enumerate(turns))


def test_sections_that_cannot_take_turns_are_drawn_in_blocks_only() -> None:
    drawing = figures.sections((16, 24, 24), T)
    assert {trace.base for trace in chart(drawing).data} == {0.6}
    assert "cannot be interleaved" in drawing.finding and "interleaved" not in drawing.table()


def test_text_after_a_video_goes_on_past_its_largest_number() -> None:
    drawing = figures.video(2, 3, 5, T)
    w = np.asarray(chart(drawing).data[2].y)
    assert w[:4].tolist() == [0, 1, 2, 3]
    assert w[4:9].tolist() == [4, 5, 6, 7, 8]
    assert w[4 + 30 :].tolist() == [9, 10, 11, 12]
    assert "goes on at 9 instead of 34" in drawing.finding and "43" not in drawing.finding


@pytest.mark.parametrize("row, column", [(0, 14), (7, 7)])
def test_image_scores_are_cosines_of_row_and_column_differences(row: int, column: int) -> None:
    drawing = figures.image(row, column, 60.0, T)
    picture = np.asarray(chart(drawing).data[0].z)
    theta = [60.0 ** (-4 * i / 32) for i in range(8)]
    for r, c in ((row, column), (3, 11), (14, 0)):
        exact = sum(2 * math.cos((row - r) * f) + 2 * math.cos((column - c) * f) for f in theta) / math.sqrt(32)
        assert picture[r, c] == pytest.approx(exact, abs=1e-12)
    assert picture.max() == picture[row, column]
