"""Figures of the clock page: hands against plain trigonometry, slow-downs against spectra, recipes that run."""

import math
from inspect import unwrap
from itertools import pairwise
from typing import cast

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import SCHEMES, Request, Rope, cos_sin, spectrum
from rope_core.lab.results import ExperimentResults
from rope_core.theory import extension
from rope_core.theory.clock import clock_readings
from rope_core.theory.extension import compared_schemes, first_pair_under_fifth_turn, scheme_spectra
from tests.support.figures import ROPE, Row, chart, extended
from tests.support.films import FilmRow, marks_of, to_draw
from ui.figures.clock import dials as film
from ui.figures.clock import measured as figure
from ui.figures.clock import reading as figures
from ui.figures.clock import schemes as comparison
from ui.figures.clock import ways
from ui.figures.home import degrees_text
from ui.film.colours import GREY, PURPLE, SKY
from ui.film.scene import NumberTrack, Panel, text_at
from ui.text.words import PageTexts
from ui.work import extrapolated

T = PageTexts("en", "clock")


def params(factor: float) -> dict[str, dict[str, object]]:
    return {name: {"factor": factor} if SCHEMES[name].params else {} for name in compared_schemes()}


GEOMETRIES = [Rope(128, 1e4, 4096), Rope(64, 5e5, 8192), Rope(2, 10.0, 16), Rope(8, 2.0, 4096)]


def points_at(angle: float, turned: mpmath.mpf) -> bool:
    """Say whether an angle of a film is a hand's that has turned clockwise from the top."""
    exact = [float(mpmath.sin(turned)), float(mpmath.cos(turned))]
    return np.allclose([np.cos(angle), np.sin(angle)], exact, atol=1e-7)


@settings(max_examples=8, deadline=None)
@given(rope=st.sampled_from(GEOMETRIES), factor=st.floats(1.0, 32.0), data=st.data())
def test_bars_and_verdicts_at_drawn_factors(rope: Rope, factor: float, data: st.DataObject) -> None:
    """Bars by the scheme's frequencies; who leaves the trained angles, in mpmath."""
    name = data.draw(
        st.sampled_from(sorted(set(compared_schemes()) - {"none"} - ({"ntk", "dynamic"} if rope.pairs == 1 else set())))
    )
    factors, hands = sorted({1.0, factor, 33.0}), (0, rope.pairs) if rope.pairs == 1 else (0, rope.pairs - 1)
    hand = data.draw(st.integers(0, rope.pairs - 1).filter(lambda each: each in hands))
    scene = unwrap(film.clock_hands_film)(rope, (Request(rope, name),), factors, (0.0, 4.0), hands, T).scene
    panel, length = scene.panels[-1], round(factor * rope.train_len)
    index = {"factor": factors.index(factor), "hand": hands.index(hand)}
    s = spectrum(Request(rope, name, {"factor": factor}, length if SCHEMES[name].follows_length else None))
    bars = next(mark for mark in marks_of(panel, "rect") if "colour_index" in mark and mark["colour_index"] is not None)
    np.testing.assert_allclose(bars["x1"].numbers_at(index), np.minimum(s.slowdown, 33.0), rtol=1e-6)
    trained = [mpmath.mpf(theta) * rope.train_len for theta in rope.theta]
    slow = [turned < 2 * mpmath.pi for turned in trained]
    near = 1 + mpmath.mpf("1e-9")
    past = [
        is_slow and mpmath.mpf(turn) * length > seen * near
        for is_slow, turn, seen in zip(slow, s.inv_freq, trained, strict=True)
    ]
    written = [text_at(paragraph.content, index) for paragraph in panel.paragraphs]
    label = "slow_leave" if sum(past) else "slow_stay"
    assert written[2] == T(label, count=sum(past), of=sum(slow))
    moved = abs(rope.theta[0] / s.inv_freq[0] - 1) > 1e-6
    assert written[1] == T("neighbours_closer" if moved else "neighbours_kept", apart=degrees_text(s.inv_freq[0]))
    chip = text_at(marks_of(panel, "text")[-1]["content"], index)
    assert chip == f"{s.slowdown[hand]:.3g}×"


@pytest.mark.parametrize("rope", [Rope(128, 1e4, 4096), Rope(64, 5e5, 8192), Rope(32, 300.0, 512)])
def test_the_three_ways_turn_their_hands_as_rope_core_slows_them(rope: Rope) -> None:
    """Left alone, all slowed, the slow ones slowed: angles, marks and words at every length, in columns and rows."""
    spans, pair = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0), first_pair_under_fifth_turn(rope)
    scene = unwrap(film.clock_hands_film)(rope, (Request(rope, "yarn"),), (1.0, 2.0), spans, (0, 1), T).scene
    trained = min(rope.theta[pair] * rope.train_len, 2 * math.pi)
    titles = {"left_alone": "none", "all_slowed": "linear", "slow_slowed": "yarn"}
    drawn = [(panel, titles[key]) for panel in scene.panels[1:-1] for key in titles if _titled(panel, key)]
    assert [panel.screen for panel, _ in drawn] == ["wide"] * 3 + ["narrow"] * 3
    names = " ".join(str(mark["content"]) for mark in marks_of(scene.panels[0], "text"))
    assert f" {round(rope.train_len / (2 * math.pi)):,} turns" in names
    for panel, name in drawn:
        angles = [mark["angle"] for mark in marks_of(panel, "vector") if not isinstance(mark["angle"], float)]
        for k, span in enumerate(spans):
            at, given = {"distance": k, "factor": 0}, {} if name == "none" else {"factor": max(1.0, span)}
            s = spectrum(Request(rope, name, given))
            slow, step = s.inv_freq[pair] * round(span * rope.train_len), s.inv_freq[0]
            hands = [angle.numbers_at(at)[0] for angle in angles if isinstance(angle, NumberTrack)]
            assert any(points_at(hand, mpmath.mpf(slow)) for hand in hands)
            assert any(points_at(hand, mpmath.mpf(step) + mpmath.mpf(ways.GREYS_AT)) for hand in hands)
            shown_text = " ".join(text_at(mark["content"], at) for mark in marks_of(panel, "text"))
            unseen = trained < 2 * math.pi and math.fmod(slow, 2 * math.pi) > trained * (1 + 1e-9)
            assert (f"✗ {ways.degrees(slow)}" in shown_text) == unseen
            assert (f"✗ {ways.degrees(step)}" in shown_text) == (step < rope.theta[0] * (1 - 1e-6))


def _titled(panel: Panel, key: str) -> bool:
    return text_at(panel.title, {"distance": 4}).startswith(T(key, times="2")) if panel.title else False


def test_a_bar_has_the_colour_of_what_becomes_of_its_pair() -> None:
    rope = Rope(128, 1e4, 4096)
    scene = unwrap(film.clock_hands_film)(rope, (Request(rope, "yarn"),), (1.0, 4.0), (0.0, 4.0), (0, 1), T).scene
    bars = marks_of(scene.panels[-1], "rect")[0]
    for k, factor in enumerate((1.0, 4.0)):
        slow = spectrum(Request(rope, "yarn", {"factor": factor})).slowdown
        wanted = [GREY if s == 1.0 else PURPLE if s >= factor * (1 - 1e-9) else SKY for s in slow.tolist()]
        assert [bars["colour"][c] for c in bars["colour_index"].numbers_at({"factor": k})] == wanted


def test_slowdowns_print_the_attention_factor_and_its_square() -> None:
    rope = Rope(128, 1e4, 4096)
    result, _ = scheme_spectra(rope, params(4.0), 16_384)
    a = 0.1 * math.log(4.0) + 1.0
    finding = comparison.slowdown_chart(rope, result, T).finding
    assert f"YaRN {a:.3g} (a² = {a * a:.3g})" in finding
    assert "slowed by linear (PI) ×4;" in finding
    table = comparison.schemes_markdown_table(rope, result, 16_384, T)
    assert f"| YaRN | 1 | 4 | 21 | 0 | {a:.3g} | {a * a:.3g} |" in table
    assert "| unscaled | 1 | 1 | 64 | 18 | 1 | 1 |" in table


def test_pairs_that_stand_still_leave_a_gap() -> None:
    rope = Rope(16, 1e4, 4096)
    name = next(name for name in SCHEMES if "partial_rotary_factor" in SCHEMES[name].defaults())
    result, _ = scheme_spectra(rope, {name: {"partial_rotary_factor": 0.5, "factor": 2.0}}, 8192)
    (trace,) = chart(comparison.slowdown_chart(rope, result, T)).data
    assert np.isnan(np.asarray(trace.y)).tolist() == [False] * 4 + [True] * 4


@settings(max_examples=10, deadline=None)
@given(base=st.floats(10.0, 1e6), factor=st.floats(1.5, 8.0), logarithmic=st.booleans())
def test_heatmap_cells_are_mean_cosines(base: float, factor: float, logarithmic: bool) -> None:
    rope = Rope(16, base, 1000)
    length = round(factor * 1000)
    result, _ = scheme_spectra(rope, params(factor), length)
    drawing = comparison.scheme_cosine_heatmaps(rope, result, length, logarithmic, T)
    table = drawing.table()
    starts = np.unique(np.asarray(table["first_position"]))
    cuts = np.append(starts, length)
    for single, trace in zip(result, chart(drawing).data, strict=True):
        cos, _ = cos_sin(single.spectrum, np.arange(length), "float64")
        means = np.array([cos[a:b].mean(axis=0) for a, b in pairwise(cuts.tolist())]).T
        assert np.abs(np.asarray(table[single.scheme]).reshape(means.shape) - means).max() < 1e-9
        assert np.abs(np.asarray(trace.z) - 127 * means).max() <= 0.5 + 1e-6
        assert trace.coloraxis == "coloraxis"


def test_heatmap_marks_the_trained_length_and_counts_unseen_pairs() -> None:
    rope = Rope(128, 1e4, 4096)
    result, _ = scheme_spectra(rope, params(4.0), 16_384)
    drawing = comparison.scheme_cosine_heatmaps(rope, result, 16_384, False, T)
    for trace, shape in zip(chart(drawing).data, chart(drawing).layout.shapes, strict=True):
        assert shape.x0 == shape.x1 == trace.x0 + comparison.CELLS / 4 - 0.5
        assert (shape.y0, shape.y1) == (trace.y0 - 0.5, trace.y0 + 63.5)
    assert "unscaled: 18, linear (PI): 0, NTK: 17, dynamic NTK: 0" in drawing.finding
    titles = [note.text for note in chart(drawing).layout.annotations]
    assert titles[0] == "<b>unscaled</b><br>18 unseen"


def test_a_wide_head_is_drawn_by_some_of_its_pairs() -> None:
    rope = Rope(1024, 1e4, 4096)
    result, _ = scheme_spectra(rope, {"none": {}}, 4096)
    drawing = comparison.scheme_cosine_heatmaps(rope, result, 4096, True, T)
    assert np.asarray(chart(drawing).data[0].z).shape[0] == comparison.ROWS
    assert np.unique(np.asarray(drawing.table()["pair"]))[[0, -1]].tolist() == [0, 511]


@settings(max_examples=20, deadline=None)
@given(error=st.floats(0.5, 10.0), slower=st.floats(1.0, 16.0))
def test_reading_is_six_degrees_a_second(error: float, slower: float) -> None:
    drawing = figures.clock_reading_chart(error, slower, T)
    as_built, _, slowed, point = chart(drawing).data
    assert np.allclose(np.asarray(as_built.y), 6.0 * np.asarray(as_built.x))
    assert np.allclose(np.asarray(slowed.y), 6.0 * np.asarray(slowed.x) / slower)
    assert point.x[0] == pytest.approx(error * slower / 6.0)
    assert ("no longer shows" in drawing.finding) == (6.0 / slower <= error)


def test_the_quoted_number_needs_compounding() -> None:
    drawing = figures.quoted_duration_chart(3.0, T)
    assert list(chart(drawing).data[0].x) == [86_400.0, 129_600.0, pytest.approx(129_600.0)]
    assert "as printed: −43,200 s, compounded: 0 s, NTK at 3: 0 s" in drawing.finding
    repeats = [row.repeats_after for row in clock_readings(0.5)]
    assert math.isinf(repeats[2])
    assert chart(figures.quoted_duration_chart(0.5, T)).layout.annotations[5].text == T("never")


LENGTH = 1024


SWEEP = cast(ExperimentResults, extrapolated.shipped_results("sweep"))
ROWS = [
    Row("clock", figures.clock_reading_chart, (3.0, 4.0)),
    Row("clock", figures.quoted_duration_chart, (3.0,)),
    Row("clock", comparison.scheme_cosine_heatmaps, (ROPE, extended(LENGTH), LENGTH, True)),
    Row("clock", comparison.slowdown_chart, (ROPE, extended(LENGTH))),
]
REQUESTS = tuple(Request(ROPE, name) for name in extension.length_independent_schemes())


def slowed(t: PageTexts) -> str:
    """Return the finding of hand 5 at factor 3, from each scheme's own frequencies."""
    rows = []
    for request in REQUESTS:
        inv_freq = spectrum(Request(ROPE, request.scheme, {"factor": 3.0})).inv_freq
        rows.append(f"{t(f'scheme.{request.scheme}')} {ROPE.theta[5] / inv_freq[5]:.3g}")
    return t("slowed_finding", factor="3", i=5, each=t("comma").join(rows))


FILMS = [
    FilmRow(
        "clock",
        film.clock_hands_film,
        (ROPE, REQUESTS, (1.0, 3.0, 4.0), (0.0, 1.0, 2.5), (0, 5, 7)),
        {"factor": 3.0, "distance": 2.5, "hand": 5, "beat": 2},
        slowed,
    ),
    FilmRow("clock", figure.measured_perplexity_sketch, (SWEEP, 256), {}, to_draw),
]
