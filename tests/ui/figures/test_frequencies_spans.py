"""What bases span and pairs measure: traces against formulas written out, their sentences and recipes."""

import numpy as np
import plotly.graph_objects as go
import pytest

import rope_core as rc
from rope_core.theory.attention import first_negative
from tests.support.figures import chart, ran
from ui.figures.frequencies import spans
from ui.text.words import LANGUAGES, Words, sections

EN = Words("en", "frequencies")
LLAMA2 = rc.Rope(128, 10_000.0, 4096)
EDGE = rc.Rope(2, 1.0001, 16)
LONG = rc.Rope(1024, 1e6, 131_072)


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def test_base_choice_marks_the_base_in_force() -> None:
    drawing = spans.base_choice(LLAMA2, EN)
    assert "positive up to distance 1,706, 42 % of the trained length" in drawing.finding
    marks = chart(drawing).data[2]
    np.testing.assert_allclose(marks.y, [2 * np.pi * 10_000 ** (126 / 128), 1707])
    longest = named(chart(drawing), EN("longest"))
    np.testing.assert_allclose(longest.y, 2 * np.pi * np.asarray(longest.x) ** (126 / 128))
    assert "1707" in ran(drawing)
    assert "at least up to distance 2,048" in spans.base_choice(LONG, EN).finding


@pytest.mark.parametrize("rope", [LLAMA2, EDGE])
def test_rulers_span_from_mark_to_wavelength(rope: rc.Rope) -> None:
    drawing = spans.rulers(rope, 0.2, EN)
    y = np.asarray(chart(drawing).data[0].y).reshape(-1, 3)
    np.testing.assert_allclose(y[:, 0], 0.2 / rope.theta)
    np.testing.assert_allclose(y[:, 1], 2 * np.pi / rope.theta)
    assert np.isnan(y[:, 2]).all()
    fine = sum(theta >= 0.2 for theta in rope.theta)
    assert f"{fine} of {rope.pairs} pairs tell neighbouring tokens apart" in drawing.finding
    slow = sum(2 * np.pi / theta > rope.train_len for theta in rope.theta)
    assert f"{slow} do not repeat within the trained length" in drawing.finding
    assert ran(drawing)


def test_repeats_names_the_closest_return() -> None:
    rope = rc.Rope(8, 50.0, 400)
    drawing = spans.repeats(rope, EN)
    at = np.arange(7, 400)
    alike = np.cos(at[:, None] * rope.theta).mean(axis=1)
    assert f"{alike.max():.3f} at most (at distance {at[alike.argmax()]})" in drawing.finding
    curve = named(chart(drawing), EN("all_pairs"))
    where = np.asarray(curve.x) - 1
    np.testing.assert_allclose(curve.y, np.cos(where[:, None] * rope.theta).mean(axis=1), atol=1e-4)
    assert ran(drawing)


@pytest.mark.parametrize(("pair", "window"), [(0, 16), (0, 1024), (3, 128), (7, 1024)])
def test_wave_draws_angle_cosine_and_sine(pair: int, window: int) -> None:
    rope = rc.Rope(16, 500.0)
    theta = 500.0 ** (-2 * pair / 16)
    drawing = spans.wave(rope, pair, window, EN)
    for name, function in ((EN("angle_of"), np.asarray), ("cos", np.cos), ("sin", np.sin)):
        trace = named(chart(drawing), name)
        at = np.asarray(trace.x, dtype=float)
        np.testing.assert_allclose(trace.y, function(theta * at), atol=2e-4, rtol=1e-6)
    assert len(at) > 8 * window * theta / (2 * np.pi), "too few points to show each turn"
    dots = [trace for trace in chart(drawing).data if trace.mode == "markers"]
    assert len(dots) == (3 if window <= spans.DOTS else 0)
    assert f"{theta:.3g} rad per token" in drawing.finding
    assert ran(drawing)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_bases_in_the_text_are_what_the_bound_gives(lang: str) -> None:
    text = sections(lang, "frequencies")["base"][1]
    for context, least in ((1024, 4294), (4096, 26_953), (8192, 83_764)):
        assert f"{least:,}" in text and first_negative(128, least, context) is None
        assert None not in [first_negative(128, base, context) for base in (*np.geomspace(2, least - 1, 200),)]
    for model, base in (("llama-3-8b", 500_000), ("qwen2.5-7b", 1_000_000)):
        assert f"{base:,}" in text
        assert rc.model(model).rope().base == base
