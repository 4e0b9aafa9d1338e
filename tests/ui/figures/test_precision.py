"""The precision page's figures against torch's own formats and mpmath."""

import math
from inspect import unwrap

import mpmath
import numpy as np
import pytest
import torch

import rope_core as rc
from pages.learn.precision import AT
from rope_core.theory import precision
from tests.support.figures import Row, chart
from tests.support.films import FilmRow
from ui.figures.drawing import Film
from ui.figures.precision import expected, phase, position
from ui.figures.precision import formats as figures
from ui.film.scene import text_at
from ui.text.words import Words, powers

T = Words("en", "precision")


def request(dim: int, base: float, train_len: int = 512) -> rc.Request:
    return rc.Request(rc.Rope(dim, base, train_len))


def cast(values: object, dtype: str) -> np.ndarray:
    return torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).double().numpy()


def filmed(wanted: rc.Request, dtype: str, at: int) -> Film:
    film: Film = unwrap(phase.drifting)(wanted, dtype, phase.stops(at), T)
    return film


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_every_dial_and_curve_is_torchs_rounding_of_the_pair_whose_frequency_is_held_worst(dtype: str) -> None:
    wanted, at = request(16, 900.0), 3000
    film = filmed(wanted, dtype, at)
    theta = np.array([900.0 ** (-2 * i / 16) for i in range(8)])
    single_one = theta[np.abs(cast(theta, dtype) - theta).argmax()]

    def errors(d: np.ndarray) -> dict[str, np.ndarray]:
        exact = d * single_one
        spelt = np.arctan2(cast(np.sin(exact), dtype), cast(np.cos(exact), dtype)) - exact
        with np.errstate(invalid="ignore"):
            return {
                "inv_freq": d * (cast(single_one, dtype) - single_one),
                "position": (cast(d, dtype) - d) * single_one,
                "angle": cast(exact, dtype) - exact,
                "table": np.remainder(spelt + math.pi, 2 * math.pi) - math.pi,
            }

    control = film.scene.controls[1]
    d, passed, k = np.array(control.stops), phase.looked_at(), control.nearest(at)
    table = {name: np.asarray(column, dtype=float) for name, column in film.table().items()}
    lines = [shape for shape in film.scene.panels[-1].marks if shape["kind"] == "line"][1:]
    stages = film.scene.finding_at({"near": 1001, "at": at, "beat": 2})
    dials = [panel for panel in film.scene.panels if panel.first_beat == 2]
    for panel, line, (stage, error) in zip(dials, lines, errors(d).items(), strict=False):
        whole = [part for shape in panel.marks for part in (shape, *shape.get("grab_marks", ()))]
        true, rounded = (shape["angle"] for shape in whole if shape["kind"] == "vector")
        seen = np.isfinite(error)
        assert true == math.pi / 2 and seen.any()
        np.testing.assert_allclose(true - rounded.keyframes[seen, 0], error[seen], atol=1e-9)
        np.testing.assert_allclose(table[f"{stage}_rad"][seen], np.abs(error[seen]), atol=1e-9)
        assert f" {phase.off(error[k], T)}" in stages
        # The largest up to a position, among those looked at. Torch rounds a near tie twice, by way of float32.
        far = np.nan_to_num(np.abs(errors(passed)[stage]), nan=np.inf, posinf=np.inf)
        largest = np.array([far[passed <= stop].max() for stop in d])
        np.testing.assert_allclose(table[f"{stage}_largest_rad"], largest, rtol=1e-3)
        drawn = np.isfinite(line["y"])
        np.testing.assert_allclose(10 ** line["y"][drawn], np.degrees(largest[drawn]), rtol=1e-3)
        assert drawn.sum() == (np.isfinite(largest) & (largest > 0)).sum()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_the_position_that_is_stored_is_torchs_and_the_arrow_is_where_it_points(dtype: str) -> None:
    wanted = request(32, 500.0)
    scene, theta = filmed(wanted, dtype, 3000).scene, 500.0 ** (-np.arange(16) / 16)
    exact, stored, digits, _ = (panel for panel in scene.panels if panel.last_beat == 1)
    for k, m in enumerate(scene.controls[0].stops):
        at, held = {"near": k, "at": 0}, float(cast(m, dtype))
        for panel, where in ((exact, [m]), (stored, [m, held])):
            hands = [mark["angle"] for mark in panel.marks if mark["kind"] == "vector"]
            assert [math.pi / 2 - hand.at(at)[0] for hand in hands] == pytest.approx(
                [each * theta[0] for each in where]
            )
            assert f"{where[-1]:,.0f}" in text_at(panel.title, at)
        shown_text = " ".join(text_at(mark["content"], at) for mark in digits.marks)
        assert f"off by {position.whole_degrees(abs(m - held) * theta[0])}" in shown_text
        assert f"{int(held):b}"[: {"bfloat16": 8, "float16": 11, "float32": 24}[dtype]] in shown_text
        sentence = scene.finding_at({"near": m, "at": 1, "beat": 1})
        assert (f"as {held:,.0f}:" in sentence) == (held != m)


def test_every_position_is_looked_at_first_and_the_lines_names_stand_apart() -> None:
    passed = phase.looked_at()
    np.testing.assert_array_equal(passed[:4096], np.arange(1, 4097))
    assert passed[-1] == figures.REACH and (np.diff(passed) > 0).all()
    panel = filmed(request(128, 10_000.0), "bfloat16", 3000).scene.panels[-1]
    half, *names = (shape for shape in panel.marks if shape["kind"] == "text")
    assert 10 ** half["y"] == pytest.approx(180)
    places = sorted(float(name["y"]) for name in names)
    assert len(names) == 4 and min(np.diff(places)) * phase.HIGH / (panel.y.high - panel.y.low) >= phase.LINE - 1e-6
    assert places[-1] <= panel.y.high
    assert chart(figures.real("angle", T)).layout.shapes[0].y0 == math.pi


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
    assert phase.off(error, T) == text


def test_the_default_position_is_one_that_bfloat16_cannot_hold() -> None:
    assert cast(float(AT.default), "bfloat16") == AT.default - 1
    film = filmed(request(128, 10_000.0), "bfloat16", AT.default)
    held = float(cast(AT.default, "bfloat16")) - AT.default
    moved = math.degrees(held * rc.Rope(128, 10_000.0).theta[1])
    assert f"a rounded position by {moved:.3g}°".replace("-", "") in film.scene.finding_at(
        {"near": 1001, "at": AT.default, "beat": 2}
    )


def test_a_format_that_overflows_is_named_and_left_out() -> None:
    film = filmed(request(8, 50.0), "float16", 2**20)
    assert all("overflow" in film.scene.finding_at({"near": 1001, "at": 2**20, "beat": beat}) for beat in (2, 3))
    dials = [panel for panel in film.scene.panels if panel.first_beat == 2]
    rounded = dials[figures.SINGLE.index("position")]
    assert np.isnan(rounded.marks[3]["angle"].keyframes[-1])
    assert "overflow" in figures.drift(request(8, 50.0), "all", 3, 2**17, T).finding


def test_positions_left_are_counted_by_torch() -> None:
    left = {dtype: len(set(cast(np.arange(3000.0), dtype).tolist())) for dtype in ("bfloat16", "float16")}
    finding = figures.distinct(3000, T).finding
    assert f"bfloat16 tells {left['bfloat16']:,} apart and float16 {left['float16']:,}" in finding


def test_a_sentence_names_the_exact_score_and_each_way_its_error() -> None:
    drawing = figures.drift(request(8, 300.0), "angle", 37, 5000, T)
    assert f"exact score is {np.asarray(drawing.table()['float64'])[0]:.3g}" in drawing.finding


def test_ways_are_checked_against_mpmath() -> None:
    wanted, start = request(8, 5e5), 1_000_000
    s = rc.spectrum(wanted)
    drawing = figures.ways(wanted, start, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    errors = dict(zip(table["way"].tolist(), table["error"].tolist(), strict=True))
    at = np.arange(0, figures.ROWS, 97)
    with mpmath.workdps(40):
        truth = np.array([[float(mpmath.cos(int(m) * mpmath.mpf(f))) for f in s.inv_freq] for m in start + at])
    for name, way in precision.WAYS.items():
        off = np.abs(way(s, np.arange(start, start + figures.ROWS))[0][at] - truth).max()
        assert off <= errors[name] * 1.01 + 1e-9
    assert errors["float32"] > 1e-3 > 1e-6 > errors["split_table"] and (table["time_over_copy"] > 0).all()
    assert "err by " + powers(f"{errors['float32']:.1e}") + " from float32 angles" in drawing.finding


def test_real_models_past_half_a_turn_are_counted() -> None:
    drawing = figures.real("inv_freq", T)
    over = sum(error > math.pi for error in np.asarray(drawing.table()["bfloat16_rad"], dtype=float))
    assert f"frequency, {over} of {len(chart(drawing).data[0].x)} models" in drawing.finding


REQUEST = rc.Request(rc.Rope(16, 900.0, 512))


ROWS = [
    Row("precision", figures.drift, (REQUEST, "angle", 37, 5000)),
    Row("precision", figures.distinct, (3000,)),
    Row("precision", figures.ways, (REQUEST, 4096)),
    Row("precision", figures.real, ("angle",)),
]


def question(t: Words) -> str:
    return t("expected_ask", dtype="float16", asked="float32")


FILMS = [
    FilmRow(
        "precision", phase.drifting, (REQUEST, "bfloat16", phase.stops(3000)), {"near": 1001, "at": 3000, "beat": 2}
    ),
    FilmRow("precision", expected.expected, (REQUEST, "float16"), {}, question),
]
