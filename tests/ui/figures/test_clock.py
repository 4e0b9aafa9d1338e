"""Figures of the clock page: hands against plain trigonometry, slow-downs against spectra, recipes that run."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import SCHEMES, Request, Rope, cos_sin, spectrum
from rope_core.theory.clock import WALL, claims
from rope_core.theory.extension import clocks, compared, extensions
from tests.support.figures import chart, ran
from ui.figures.clock import hands as figures
from ui.figures.clock import schemes as comparison
from ui.figures.drawing import Drawing, as_csv
from ui.text.words import Words

T = Words("en", "clock")
LANGUAGES = (T, Words("zh", "clock"))


def params(factor: float) -> dict[str, dict[str, object]]:
    return {name: {"factor": factor} if SCHEMES[name].params else {} for name in compared()}


def drawings(rope: Rope, factor: float, length: int, t: Words) -> list[Drawing]:
    slowed, _ = clocks(WALL, params(factor), length, rope.train_len)
    found, _ = extensions(rope, params(factor), length)
    return [
        figures.hands(slowed, factor, t),
        comparison.slowdowns(rope, found, t),
        comparison.heatmaps(rope, found, length, True, t),
        comparison.heatmaps(rope, found, length, False, t),
        figures.reading(3.0, 4.0, t),
        figures.quoted(3.0, t),
    ]


@pytest.mark.parametrize(
    "rope", [Rope(128, 1e4, 4096), Rope(2, 10.0, 16), Rope(6, 1.0001, 100), Rope(1024, 1e9, 65536)]
)
def test_every_figure_is_whole(rope: Rope) -> None:
    for t in LANGUAGES:
        for drawing in drawings(rope, 4.0, 4 * rope.train_len, t):
            assert "{" not in drawing.finding
            assert len(as_csv(drawing.table()).splitlines()) > 1
            chart(drawing).to_json()
            assert ran(drawing)


@settings(max_examples=20, deadline=None)
@given(factor=st.floats(1.0, 32.0))
def test_hands_point_where_time_says(factor: float) -> None:
    slowed, _ = clocks(WALL, params(factor), 4096, 4096)
    drawing = figures.hands(slowed, factor, T)
    times, frames = figures.moments(), chart(drawing).to_dict()["frames"]
    assert len(frames) == times.size
    for k in (1, 15, 20, len(frames) - 1):
        for hand in range(3):
            data = {axis: frames[k]["data"][2 - hand][axis][::-1] for axis in "xy"}
            for j, clock in enumerate(slowed.values()):
                centre = np.array([data["x"][3 * j], data["y"][3 * j]])
                tip = np.array([data["x"][3 * j + 1], data["y"][3 * j + 1]]) - centre
                turn = 2 * math.pi * times[k] / clock.periods[hand]
                # Clockwise from the top, lengths 0.92, 0.78 and 0.5 radii, two decimals.
                expected = (0.92, 0.78, 0.5)[hand] * np.array([math.sin(turn), math.cos(turn)])
                assert np.allclose(tip, expected, atol=0.011)
                assert data["x"][3 * j + 2] is None


def test_hands_finding_says_who_slows_the_second_hand() -> None:
    slowed, _ = clocks(WALL, params(4.0), 16_384, 4096)
    finding = figures.hands(slowed, 4.0, T).finding
    assert "by less under linear (PI) (1.5°)." in finding
    assert "unscaled: 12 h, linear (PI): 48 h, NTK: 48 h, dynamic NTK: 156 h" in finding
    far, _ = clocks(WALL, params(32.0), 32 * 4096, 4096)
    assert "linear (PI): 384 h, NTK: 384 h, dynamic NTK: 11,916 h" in figures.hands(far, 32.0, T).finding
    rest, _ = clocks(WALL, params(1.0), 4096, 4096)
    assert "by less under none of them." in figures.hands(rest, 1.0, T).finding


def test_elapsed_time_is_spoken() -> None:
    assert figures.spoken(10 * 3600 + 9 * 60 + 35) == "10:09:35"
    assert figures.spoken(2 * 86_400 + 61) == "2 × 24 h + 00:01:01"


@settings(max_examples=15, deadline=None)
@given(dim=st.sampled_from([4, 16, 128, 300]), base=st.floats(1.0001, 1e7), factor=st.floats(1.0, 40.0))
def test_slowdown_curves_are_the_spectra(dim: int, base: float, factor: float) -> None:
    rope = Rope(dim, base, 4096)
    found, _ = extensions(rope, params(factor), round(4096 * factor))
    drawing = comparison.slowdowns(rope, found, T)
    assert len(chart(drawing).layout.annotations) == len(found) == len(chart(drawing).data)
    for one, trace in zip(found, chart(drawing).data, strict=True):
        request = Request(rope, one.scheme, params(factor)[one.scheme], round(4096 * factor))
        assert np.array_equal(np.asarray(trace.y), spectrum(request).slowdown)


def test_slowdowns_print_the_attention_factor_and_its_square() -> None:
    rope = Rope(128, 1e4, 4096)
    found, _ = extensions(rope, params(4.0), 16_384)
    a = 0.1 * math.log(4.0) + 1.0
    finding = comparison.slowdowns(rope, found, T).finding
    assert f"YaRN {a:.6g} (a² = {a * a:.6g})" in finding
    assert "slowed by linear (PI) ×4;" in finding
    table = comparison.summary(rope, found, 16_384, T)
    assert f"| YaRN | 1 | 4 | 21 | 0 | {a:.6g} | {a * a:.6g} |" in table
    assert "| unscaled | 1 | 1 | 64 | 18 | 1 | 1 |" in table


def test_pairs_that_stand_still_leave_a_gap() -> None:
    rope = Rope(16, 1e4, 4096)
    name = next(name for name in SCHEMES if "partial_rotary_factor" in SCHEMES[name].defaults())
    found, _ = extensions(rope, {name: {"partial_rotary_factor": 0.5, "factor": 2.0}}, 8192)
    (trace,) = chart(comparison.slowdowns(rope, found, T)).data
    assert np.isnan(np.asarray(trace.y)).tolist() == [False] * 4 + [True] * 4


def test_names_do_not_cover_each_other() -> None:
    rope = Rope(128, 1e4, 4096)
    for factor in (1.0, 2.0, 4.0, 8.0, 32.0):
        found, _ = extensions(rope, params(factor), round(4096 * factor))
        logs = np.log10(np.stack([one.spectrum.slowdown for one in found]))
        height = 0.085 * max(float(np.ptp(logs)), 0.1)
        widths = [10.0] * len(logs)
        spots = sorted(comparison.label_spots(logs, widths, height))
        if factor > 1.0:
            assert all(abs(a[0] - b[0]) >= 10.0 or abs(a[1] - b[1]) >= height for a, b in pairwise(spots))


@settings(max_examples=10, deadline=None)
@given(base=st.floats(10.0, 1e6), factor=st.floats(1.5, 8.0), logarithmic=st.booleans())
def test_heatmap_cells_are_mean_cosines(base: float, factor: float, logarithmic: bool) -> None:
    rope = Rope(16, base, 1000)
    length = round(factor * 1000)
    found, _ = extensions(rope, params(factor), length)
    drawing = comparison.heatmaps(rope, found, length, logarithmic, T)
    table = drawing.table()
    starts = np.unique(np.asarray(table["first_position"]))
    cuts = np.append(starts, length)
    for one, trace in zip(found, chart(drawing).data, strict=True):
        cos, _ = cos_sin(one.spectrum, np.arange(length), "float64")
        means = np.array([cos[a:b].mean(axis=0) for a, b in pairwise(cuts.tolist())]).T
        assert np.abs(np.asarray(table[one.scheme]).reshape(means.shape) - means).max() < 1e-9
        assert np.abs(np.asarray(trace.z) - 127 * means).max() <= 0.5 + 1e-6
        assert trace.coloraxis == "coloraxis"


def test_heatmap_marks_the_trained_length_and_counts_unseen_pairs() -> None:
    rope = Rope(128, 1e4, 4096)
    found, _ = extensions(rope, params(4.0), 16_384)
    drawing = comparison.heatmaps(rope, found, 16_384, False, T)
    for trace, shape in zip(chart(drawing).data, chart(drawing).layout.shapes, strict=True):
        assert shape.x0 == shape.x1 == trace.x0 + comparison.CELLS / 4 - 0.5
        assert (shape.y0, shape.y1) == (trace.y0 - 0.5, trace.y0 + 63.5)
    assert "unscaled: 18, linear (PI): 0, NTK: 17, dynamic NTK: 0" in drawing.finding
    titles = [note.text for note in chart(drawing).layout.annotations]
    assert titles[0] == "<b>unscaled</b><br>18 unseen"


def test_a_wide_head_is_drawn_by_some_of_its_pairs() -> None:
    rope = Rope(1024, 1e4, 4096)
    found, _ = extensions(rope, {"none": {}}, 4096)
    drawing = comparison.heatmaps(rope, found, 4096, True, T)
    assert np.asarray(chart(drawing).data[0].z).shape[0] == comparison.ROWS
    assert np.unique(np.asarray(drawing.table()["pair"]))[[0, -1]].tolist() == [0, 511]


@settings(max_examples=20, deadline=None)
@given(error=st.floats(0.5, 10.0), slower=st.floats(1.0, 16.0))
def test_reading_is_six_degrees_a_second(error: float, slower: float) -> None:
    drawing = figures.reading(error, slower, T)
    as_built, _, slowed, point = chart(drawing).data
    assert np.allclose(np.asarray(as_built.y), 6.0 * np.asarray(as_built.x))
    assert np.allclose(np.asarray(slowed.y), 6.0 * np.asarray(slowed.x) / slower)
    assert point.x[0] == pytest.approx(error * slower / 6.0)
    assert ("no longer shows" in drawing.finding) == (6.0 / slower <= error)


def test_the_quoted_number_needs_compounding() -> None:
    drawing = figures.quoted(3.0, T)
    assert list(chart(drawing).data[0].x) == [86_400.0, 129_600.0, pytest.approx(129_600.0)]
    assert "as printed: −43,200 s, compounded: 0 s, NTK at 3: 0 s" in drawing.finding
    repeats = [row.repeats_after for row in claims(0.5)]
    assert math.isinf(repeats[2])
    assert chart(figures.quoted(0.5, T)).layout.annotations[5].text == T("never")
