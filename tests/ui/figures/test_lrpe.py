"""The LRPE page's figures against its formulas written out by hand, and the recipes that they offer."""

import math
import re
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.lrpe.demo import HEADS, TOKENS, Case
from rope_core.theory.demo import drawn_vectors
from tests.support.figures import ROPE, Row, chart, read
from tests.support.films import FilmRow, to_draw
from ui.figures.drawing import Drawing
from ui.figures.lrpe import drawn, order, turning
from ui.figures.lrpe import linear as lrpe_linear
from ui.figures.lrpe import op as figures
from ui.film.scene import NumberTrack
from ui.page.fields import left_alone
from ui.text.words import Words

T = Words("en", "lrpe")
CASES = (
    Case("relu", base=50.0, offset=16),
    Case("softmax", -1, "learned", 5e5, 24, 4096, 6, 10),
    Case("softmax", 1, "geometric", 1.0001, 8, 3, 2, 0),
    Case("gelu", None, "per head", 1e4, 4, 100_000),
)


def heatmaps(drawing: Drawing) -> list[np.ndarray]:
    return [np.asarray(trace.z, dtype=np.float64) for trace in chart(drawing).data if trace.type == "heatmap"]


def turned(a: float, b: float, angle: float) -> tuple[float, float]:
    return a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)


@pytest.mark.parametrize("start, token", [(0, 0), (9, 4), (64, 11)])
def test_the_framed_pair_is_activated_and_turned_by_its_own_angle(start: int, token: int) -> None:
    case, starts = Case("silu", base=77.0, width=12, front=2, behind=4), (0, 9, 64)
    scene = unwrap(turning.stages)(case, 1, 1, starts, T).scene
    at = {"offset": starts.index(start), "token": token}
    before, dial, after = scene.panels[-3:]
    numbers = drawn_vectors(12, TOKENS * HEADS, seed=0).reshape(TOKENS, HEADS, 12)[:, 1]
    silu = numbers / (1 + np.exp(-numbers))
    theta = 77.0 ** (-np.arange(3) / 3)
    outs = []
    for first in starts:
        z = (silu[:, 2:5] + 1j * silu[:, 5:8]) * np.exp(1j * np.outer(first + np.arange(TOKENS), theta))
        outs.append(np.hstack([silu[:, :2], z.real, z.imag, silu[:, 8:]]))
    # Tokens from the top; dimensions that do not turn are activated only.
    for panel, values, scale in ((before, numbers, numbers), (after, outs[starts.index(start)], np.array(outs))):
        top = np.abs(scale).max()
        shown = shown_at(panel.marks[0]["cells"], at)[TOKENS - 1 - token]
        np.testing.assert_allclose(shown * top / 127, values[token], atol=0.51 * top / 127)
    x, f = (complex(*part[token, [3, 6]]) for part in (numbers, silu))
    raw, bar = (shape for shape in dial.marks if shape["kind"] == "vector")
    blue = next(shape for shape in dial.marks if shape["kind"] == "drag_handle")
    for hand, exact in ((raw, x), (bar, f), (blue, f * np.exp(1j * (start + token) * theta[1]))):
        length, angle = (float(shown_at(hand[name], at)[0]) for name in ("length", "angle"))
        assert length * np.exp(1j * angle) == pytest.approx(exact / max(abs(x), abs(f)), rel=1e-9)
    # The arrow goes on from its unturned place, without a jump.
    assert shown_at(blue["angle"], at)[0] - shown_at(bar["angle"], at)[0] == pytest.approx((start + token) * theta[1])


def test_where_both_numbers_are_zero_the_finding_says_that_nothing_turns() -> None:
    scene = unwrap(turning.stages)(Case("relu", width=16), 0, 2, (0, 9), T).scene
    numbers = drawn_vectors(16, TOKENS * HEADS, seed=0).reshape(TOKENS, HEADS, 16)[:, 0, [2, 10]]
    empty = [bool(max(row) < 0) for row in numbers]
    assert any(empty) and not all(empty)
    for token in range(TOKENS):
        sentence = scene.finding_at({"length": 0, "offset": 1, "token": token, "cat": 1, "beat": 3})
        assert (T("turn_nothing") in sentence) == empty[token] == ("length stays" not in sentence)


@pytest.mark.parametrize("width", [8, 64])
def test_the_table_has_a_cell_for_every_pair_of_words_and_the_sum_one_for_every_number(width: int) -> None:
    scene = unwrap(turning.stages)(Case(width=width), 0, 1, (0, 9), T).scene
    table, total, _, _, grip, *_ = scene.panels[3].marks
    row = grip["grab_marks"][0]
    assert (total["x1"] - total["x0"]) * (total["y1"] - total["y0"]) == width**2
    for length in (1, 2, 31, 64):
        at = {"length": length - 1}
        x, y = (np.append(each, each[0]) for each in (shown_at(table[axis], at) for axis in "xy"))
        # The shoelace formula: cells of size 1.
        pairs = sum(1 for m in range(length) for n in range(m + 1))
        assert abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2 == pairs
        assert (shown_at(row["x0"], at) < shown_at(row["x1"], at)).sum() == length
        written_text = scene.finding_at({"length": length, "offset": 0, "token": 0, "cat": 1, "beat": 2})
        assert (
            f"{length} words needs {pairs:,} scores" in written_text
            and f"{width} × {width} = {width**2:,} numbers" in written_text
        )


def test_turned_keys_have_another_sum_in_another_order_and_unturned_ones_the_same() -> None:
    scene = unwrap(turning.stages)(Case(width=8), 0, 1, (0, 9), T).scene
    theta, k = 1e4 ** (-1 / 8), order.keys() @ [1, 1j]
    orders = np.array([[0, 1, 2, 3, 4, 5], [0, 5, 2, 3, 4, 1]])
    wanted = [k[row].sum() for row in orders], [(k[row] * np.exp(1j * theta * np.arange(6))).sum() for row in orders]
    assert wanted[0][0] == pytest.approx(wanted[0][1]) and abs(wanted[1][0] - wanted[1][1]) > 0.5
    for panel, ends in zip(scene.panels[1:3], wanted, strict=True):
        chain, total = [mark for mark in panel.marks if mark["kind"] == "vector"][-2:]
        for at, end in enumerate(ends):
            length, angle = (shown_at(total[name], {"cat": at})[0] for name in ("length", "angle"))
            # Numbers go up and to the right: the clock's way from the top.
            assert length * np.exp(1j * (np.pi / 2 - angle)) == pytest.approx(end)
            steps = shown_at(chain["length"], {"cat": at}) * np.exp(
                1j * (np.pi / 2 - shown_at(chain["angle"], {"cat": at}))
            )
            starts = shown_at(chain["y"], {"cat": at}) + 1j * shown_at(chain["x"], {"cat": at})
            last = orders[at][-1]
            assert steps.sum() == pytest.approx(end) and starts[last] + steps[last] == pytest.approx(end)


def shown_at(track: NumberTrack | np.ndarray, at: dict[str, int]) -> np.ndarray:
    return np.asarray(track.at(at) if isinstance(track, NumberTrack) else track, dtype=float)


@pytest.mark.parametrize("kind, shape", [("geometric", "(4,)"), ("learned", "(4, 4)"), ("per head", "(4, 1)")])
def test_theta_in_its_three_shapes(kind: str, shape: str) -> None:
    drawing = figures.thetas(Case(kind=kind, base=300.0, width=8), 2, T)
    assert len(chart(drawing).data) == (1 if kind == "geometric" else 4) and shape in drawing.finding


def test_decoding_gives_the_same_numbers_token_by_token() -> None:
    drawing = figures.decode(Case("softmax", -1, "learned", width=8, offset=30), 1, T)
    whole, steps = heatmaps(drawing)
    np.testing.assert_array_equal(whole, steps)
    assert "at offsets 30 to 41, give the same numbers bit for bit" in drawing.finding


def test_decoding_with_a_softmax_along_the_sequence_differs() -> None:
    drawing = figures.decode(Case("softmax", 1, width=8, offset=30), 0, T)
    whole, steps = heatmaps(drawing)
    assert np.abs(whole - steps).max() > 0.1
    assert f"off by up to {np.abs(whole - steps).max():.3g}." in drawing.finding


def test_the_backward_is_the_slope_times_the_gradient_turned_back() -> None:
    case = Case("relu2", base=60.0, width=8, offset=11)
    grad, back, slope, dx = heatmaps(figures.backward(case, 3, 5, 2, T))
    x = case.x[0, :, 3]
    angle = (11 + 5) * 60.0 ** (-2 / 4)
    np.testing.assert_allclose([back[5, 2], back[5, 6]], turned(grad[5, 2], grad[5, 6], -angle), atol=1e-5)
    np.testing.assert_allclose(slope, 2 * np.maximum(x, 0), atol=1e-6)
    np.testing.assert_allclose(dx, slope * back, atol=1e-5)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.act + c.kind)
def test_every_residual_that_the_backward_names_is_of_rounding_size(case: Case, lang: str) -> None:
    finding = figures.backward(case, 0, 0, 0, Words(lang, "lrpe")).finding
    named = [read(word) for word in re.findall(r"[\d.]+·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+", finding)]
    assert named and all(value < 1e-14 for value in named)


def test_scores_of_linear_attention_are_drawn_for_the_past_only() -> None:
    drawing = lrpe_linear.attention(rc.Rope(16, 30.0), "relu", T)
    plain, scores = heatmaps(drawing)
    past = np.tril(np.ones_like(plain, dtype=bool))
    assert np.isnan(plain[~past]).all() and (plain[past] >= 0).all()
    np.testing.assert_allclose(np.diagonal(plain), np.diagonal(scores), atol=1e-5)
    assert f"{int((scores[past] < 0).sum())} of 528 turned ones are negative" in drawing.finding


def test_the_field_of_the_slice_leaves_a_pair() -> None:
    assert left_alone("front", 16).high == 14
    assert figures.slice_words(CASES[1], T) == "24 dimensions, 6–13 turn"


CASE = Case("silu", base=77.0, width=12, offset=9, front=2, behind=4)
ROWS = [
    Row("lrpe", figures.thetas, (CASE, 1)),
    Row("lrpe", figures.decode, (CASE, 1)),
    Row("lrpe", figures.backward, (CASE, 1, 4, 1)),
    Row("lrpe", lrpe_linear.attention, (ROPE, "relu")),
]
FILMS = [
    FilmRow(
        "lrpe", turning.stages, (CASE, 1, 1, (0, 9, 40)), {"length": 9, "offset": 9, "token": 4, "cat": 1, "beat": 3}
    ),
    FilmRow("lrpe", drawn.negative, (8, 77.0), {}, to_draw),
]
