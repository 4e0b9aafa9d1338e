"""The precision page's figures against torch's own formats and mpmath."""

import math
from inspect import unwrap

import mpmath
import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.theory import precision
from tests.support.figures import Row, chart
from tests.support.films import FilmRow, texts_at
from ui.figures.drawing import Film
from ui.figures.precision import drift, expected, phase, position, steps
from ui.figures.precision import formats as figures
from ui.film.scene import NumberTrack, text_at
from ui.text.words import PageTexts, exponent_text

T = PageTexts("en", "precision")


def request(dim: int, base: float, train_len: int = 512) -> rc.Request:
    return rc.Request(rc.Rope(dim, base, train_len))


def cast(values: object, dtype: str) -> np.ndarray:
    return torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).double().numpy()


def filmed(wanted: rc.Request, dtype: str, at: int) -> Film:
    film: Film = unwrap(phase.phase_error_film)(wanted, dtype, phase.position_stops(at), T)
    return film


THETA = np.array([900.0 ** (-2 * i / 16) for i in range(8)])


def torch_errors(d: np.ndarray, frequency: float, dtype: str) -> dict[str, np.ndarray]:
    """Return each step's error (rad) at positions ``d`` with torch's rounding of that step alone."""
    exact = d * frequency
    spelt = np.arctan2(cast(np.sin(exact), dtype), cast(np.cos(exact), dtype)) - exact
    with np.errstate(invalid="ignore"):
        return {
            "inv_freq": d * (cast(frequency, dtype) - frequency),
            "position": (cast(d, dtype) - d) * frequency,
            "angle": cast(exact, dtype) - exact,
            "table": np.remainder(spelt + math.pi, 2 * math.pi) - math.pi,
        }


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_rounded_arrow_and_its_line_are_torchs_of_the_frequency_that_is_held_worst(dtype: str) -> None:
    film = filmed(request(16, 900.0), dtype, 3000)
    worst = int(np.abs(cast(THETA, dtype) - THETA).argmax())
    step = float(cast(THETA[worst], dtype)) - THETA[worst]
    control = film.scene.controls[1]
    *dials, line = (panel for panel in film.scene.panels if panel.first_beat == panel.last_beat == 2)
    for panel, word in zip(dials, (1, 100, 3000), strict=True):
        at = {"at": control.nearest_stop_index(word)}
        rounded, exact = (
            float(np.ravel(angle.numbers_at(at) if isinstance(angle, NumberTrack) else angle)[0])
            for angle in (mark["angle"] for mark in panel.marks if mark["kind"] == "vector")
        )
        assert math.pi / 2 - exact == pytest.approx(word * THETA[worst], abs=1e-9)
        assert exact - rounded == pytest.approx(word * step, abs=1e-9)
        off = drift.angle_error_text(word * step, T)
        assert any(off in text_at(mark["content"], at) for mark in panel.marks if mark["kind"] == "text")
    grown = next(mark for mark in line.marks if mark["kind"] == "line" and mark["colour"] == "ink")
    assert grown["y"][1] / grown["x"][1] == pytest.approx(abs(math.degrees(step)))
    assert 100 < grown["y"][1] <= 360 * (1 + 1e-9)
    finding = film.scene.finding_at({"near": 1001, "at": 3000, "beat": 2})
    assert f"off by {drift.angle_error_text(3000 * step, T)}: 30 times as far" in finding


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_every_curve_is_the_largest_of_torchs_errors_of_all_pairs_and_its_verdict_is_the_sentence_s(dtype: str) -> None:
    at = 3000
    film = filmed(request(16, 900.0), dtype, at)
    control, passed = film.scene.controls[1], phase.compared_positions()
    d, k = np.array(control.stops), control.nearest_stop_index(at)
    table = {name: np.asarray(column, dtype=float) for name, column in film.table().items()}
    chain, curves = (panel for panel in film.scene.panels if panel.first_beat == 3)
    lines = [mark for mark in curves.marks if mark["kind"] == "line"]
    finding = film.scene.finding_at({"near": 1001, "at": at, "beat": 3})
    verdicts = texts_at(chain.marks, {"at": k})
    by_pair = [torch_errors(passed.astype(float), float(frequency), dtype) for frequency in THETA]
    for line, stage in zip(lines, figures.SINGLE, strict=True):
        far = np.abs([errors[stage] for errors in by_pair])
        worst = np.where(np.isfinite(far), far, np.inf).max(axis=0)
        largest = np.array([worst[passed <= stop].max() for stop in d])
        # Torch rounds a near tie twice, by way of float32.
        np.testing.assert_allclose(table[f"{stage}_largest_rad"], largest, rtol=1e-3)
        drawn = np.isfinite(line["y"])
        np.testing.assert_allclose(10 ** line["y"][drawn], np.degrees(largest[drawn]), rtol=1e-3)
        assert drawn.sum() == (np.isfinite(largest) & (largest > 0)).sum()
        text = drift.angle_error_text(float(table[f"{stage}_largest_rad"][k]), T)
        assert f" {text}" in finding
        assert f"{'✓' if math.degrees(largest[k]) < 1 else '✗'} {text}" in verdicts


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_the_sentence_is_stored_as_torch_stores_it_and_its_arrows_are_where_they_then_point(dtype: str) -> None:
    wanted = request(32, 500.0)
    scene, words = filmed(wanted, dtype, 3000).scene, "the cat sat on the mat".split()  # noqa: SIM905
    exact, stored, digits, ruler, phone = (panel for panel in scene.panels if panel.last_beat == 1)
    for k, m in enumerate(scene.controls[0].stops):
        at, places = {"near": k, "at": 0}, m - 1 + np.arange(6)
        held = cast(places, dtype)
        for panel, sentence, cat in ((exact, places, [m]), (stored, held, [m, held[1]])):
            others, *hands = (
                np.pi / 2 - mark["angle"].numbers_at(at) for mark in panel.marks if mark["kind"] == "vector"
            )
            np.testing.assert_allclose(others, sentence, atol=1e-9)
            np.testing.assert_allclose(np.ravel(hands), cat, atol=1e-9)
            assert f"{cat[-1]:,.0f}" in text_at(panel.title, at)
        shown_text = " ".join(texts_at(digits.marks, at))
        assert f"off by {position.whole_degrees(abs(m - held[1]))}" in shown_text
        assert f"{int(held[1]):b}"[: {"bfloat16": 8, "float16": 11, "float32": 24}[dtype]] in shown_text
        groups = {each: " ".join(w for w, h in zip(words, held, strict=True) if h == each) for each in held}
        for panel, expected_groups in ((stored, groups.values()), (ruler, groups.values()), (phone, [groups[held[1]]])):
            assert set(expected_groups) <= set(texts_at(panel.marks, at))
        sentence_text = scene.finding_at({"near": m, "at": 1, "beat": 1})
        assert (f"as {held[1]:,.0f}:" in sentence_text) == (held[1] != m)
        assert (f"Now “{groups[held[1]]}” share one place" in sentence_text) == (groups[held[1]] != "cat")


def test_every_position_is_compared_first_and_the_lines_names_do_not_overlap() -> None:
    passed = phase.compared_positions()
    np.testing.assert_array_equal(passed[:512], np.arange(1, 513))
    assert passed[-1] == figures.REACH and (np.diff(passed) > 0).all()
    panel = filmed(request(128, 10_000.0), "bfloat16", 3000).scene.panels[-1]
    half, *names = (shape for shape in panel.marks if shape["kind"] == "text")
    assert 10 ** half["y"] == pytest.approx(180)
    places = sorted(float(name["y"]) for name in names)
    assert len(names) == 4 and min(np.diff(places)) * steps.HIGH / (panel.y.high - panel.y.low) >= steps.LINE - 1e-6
    assert places[-1] <= panel.y.high


@pytest.mark.parametrize(
    "error, text",
    [
        (0.0, "0°"),
        (1e-5, "under 0.01°"),
        (-math.pi, "180°"),
        (7.0, "1.11 turns"),
        (1e5, "15,900 turns"),
        (math.inf, "overflow"),
    ],
)
def test_an_error_is_written_in_degrees_and_past_a_turn_in_turns(error: float, text: str) -> None:
    assert drift.angle_error_text(error, T) == text


def test_a_format_that_overflows_is_named_and_left_out() -> None:
    film = filmed(request(8, 50.0), "float16", 2**20)
    assert "overflow" in film.scene.finding_at({"near": 1001, "at": 2**20, "beat": 3})
    assert "overflow" in figures.score_drift_chart(request(8, 50.0), "all", 3, 2**17, T).finding


def test_positions_left_are_counted_by_torch() -> None:
    left = {dtype: len(set(cast(np.arange(3000.0), dtype).tolist())) for dtype in ("bfloat16", "float16")}
    finding = figures.distinct_positions_chart(3000, T).finding
    assert f"bfloat16 tells {left['bfloat16']:,} apart and float16 {left['float16']:,}" in finding


def test_ways_are_checked_against_mpmath() -> None:
    wanted, start = request(8, 5e5), 1_000_000
    s = rc.spectrum(wanted)
    drawing = figures.table_error_and_time_chart(wanted, start, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    errors = dict(zip(table["way"].tolist(), table["error"].tolist(), strict=True))
    at = np.arange(0, figures.ROWS, 97)
    with mpmath.workdps(40):
        truth = np.array([[float(mpmath.cos(int(m) * mpmath.mpf(f))) for f in s.inv_freq] for m in start + at])
    for name, way in precision.WAYS.items():
        off = np.abs(way(s, np.arange(start, start + figures.ROWS))[0][at] - truth).max()
        assert off <= errors[name] * 1.01 + 1e-9
    assert errors["float32"] > 1e-3 > 1e-6 > errors["split_table"] and (table["time_over_copy"] > 0).all()
    assert "err by " + exponent_text(f"{errors['float32']:.1e}") + " from float32 angles" in drawing.finding


def test_real_models_past_half_a_turn_are_counted() -> None:
    drawing = figures.model_phase_error_chart("inv_freq", T)
    over = sum(error > math.pi for error in np.asarray(drawing.table()["bfloat16_rad"], dtype=float))
    assert f"frequency, {over} of {len(chart(drawing).data[0].x)} models" in drawing.finding


REQUEST = rc.Request(rc.Rope(16, 900.0, 512))


ROWS = [
    Row("precision", figures.score_drift_chart, (REQUEST, "angle", 37, 5000)),
    Row("precision", figures.distinct_positions_chart, (3000,)),
    Row("precision", figures.table_error_and_time_chart, (REQUEST, 4096)),
    Row("precision", figures.model_phase_error_chart, ("angle",)),
]


def question(t: PageTexts) -> str:
    return t("expected_ask", dtype="float16", asked="float32")


FILMS = [
    *(
        FilmRow(
            "precision",
            phase.phase_error_film,
            (REQUEST, dtype, phase.position_stops(3000)),
            {"near": 1001, "at": 3000, "beat": beat},
        )
        for dtype, beat in (("bfloat16", 2), ("float32", 2), ("float16", 3))
    ),
    FilmRow("precision", expected.rounding_error_sketch, (REQUEST, "float16"), {}, question),
]
