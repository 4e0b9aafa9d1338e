"""The LRPE page's figures against its formulas written out by hand, and the recipes that they offer."""

import math
import re
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.lrpe.demo import HEADS, TOKENS, LrpeExample
from rope_core.lrpe.linear import multiplication_counts
from rope_core.theory.demo import random_vectors
from tests.support.figures import ROPE, Row, chart, read
from tests.support.films import FilmRow, to_draw
from ui.figures.drawing import Drawing
from ui.figures.lrpe import activation_order, cost, drawn, order, running_sum, turning
from ui.figures.lrpe import linear as lrpe_linear
from ui.figures.lrpe import op as figures
from ui.film.scene import NumberTrack, text_at
from ui.page.fields import unrotated_dims_field
from ui.text.words import PageTexts

T = PageTexts("en", "lrpe")
CASES = (
    LrpeExample("relu", base=50.0, offset=16),
    LrpeExample("softmax", -1, "learned", 5e5, 24, 4096, 6, 10),
    LrpeExample("softmax", 1, "geometric", 1.0001, 8, 3, 2, 0),
    LrpeExample("gelu", None, "per head", 1e4, 4, 100_000),
)


def heatmaps(drawing: Drawing) -> list[np.ndarray]:
    return [np.asarray(trace.z, dtype=np.float64) for trace in chart(drawing).data if trace.type == "heatmap"]


def turned(a: float, b: float, angle: float) -> tuple[float, float]:
    return a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)


@pytest.mark.parametrize("start, token", [(0, 0), (9, 4), (64, 11)])
def test_the_framed_pair_is_activated_and_turned_by_its_own_angle(start: int, token: int) -> None:
    case, starts = LrpeExample("silu", base=77.0, width=12, front=2, behind=4), (0, 9, 64)
    scene = unwrap(turning.lrpe_stages_film)(case, 1, 1, starts, T).scene
    at = {"offset": starts.index(start), "token": token}
    before, dial, after = scene.panels[-3:]
    numbers = random_vectors(12, TOKENS * HEADS, seed=0).reshape(TOKENS, HEADS, 12)[:, 1]
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
    scene = unwrap(turning.lrpe_stages_film)(LrpeExample("relu", width=16), 0, 2, (0, 9), T).scene
    numbers = random_vectors(16, TOKENS * HEADS, seed=0).reshape(TOKENS, HEADS, 16)[:, 0, [2, 10]]
    empty = [bool(max(row) < 0) for row in numbers]
    assert any(empty) and not all(empty)
    for token in range(TOKENS):
        sentence = scene.finding_at({"offset": 1, "token": token})
        assert (T("turn_nothing") in sentence) == empty[token] == ("length stays" not in sentence)


def relu_and_turn(vector: tuple[float, float], place: int, *, activation_first: bool) -> complex:
    """Return a pair that is cut below 0 and turned by the ninth pair's angle of a head 128 wide, in either order."""
    a, b = (max(each, 0.0) for each in vector) if activation_first else vector
    a, b = turned(a, b, place * 1e4 ** (-1 / 8))
    return complex(a, b) if activation_first else complex(max(a, 0.0), max(b, 0.0))


def test_the_score_is_the_same_at_every_place_where_the_activation_comes_first() -> None:
    film = unwrap(running_sum.running_sum_film)(128, cost.length_stops(512), T)
    sides = [panel for panel in film.scene.panels if panel.first_beat == panel.last_beat == 2]
    seen: dict[bool, list[float]] = {True: [], False: []}
    for panel, first in zip(sides, (True, False), strict=True):
        hands = [mark for mark in panel.marks if mark["kind"] == "vector" and not mark.get("stroke_dash")]
        for place in range(16):
            pairs = [
                relu_and_turn(vector, place + step, activation_first=first)
                for vector, step in ((activation_order.KEY, 0), (activation_order.QUERY, 4))
            ]
            seen[first].append((pairs[0] * pairs[1].conjugate()).real)
            for hand, pair in zip(hands, pairs, strict=True):
                length, angle = (shown_at(hand[name], {"place": place})[0] for name in ("length", "angle"))
                if abs(pair) > activation_order.SMALL:
                    assert length * np.exp(1j * (np.pi / 2 - angle)) == pytest.approx(pair)
                else:
                    assert np.isnan(length)
            finding = film.scene.finding_at({"cat": 1, "place": place, "length": 512, "beat": 2})
            assert f"{'left score is' if first else 'right one'} {seen[first][-1]:.2f}" in finding
        np.testing.assert_allclose(activation_order.scores_by_key_place(activation_first=first), seen[first], atol=1e-9)
    assert np.ptp(seen[True]) < 1e-9 and min(seen[False]) < 1e-9 < 0.9 < max(seen[False])


@pytest.mark.parametrize("length, dim", [(1, 3), (7, 2), (12, 5)])
def test_multiplications_are_those_of_written_loops(length: int, dim: int) -> None:
    table = running = 0
    for m in range(length):
        for n in range(m + 1):
            table += len([(m, n) for _ in range(dim)]) + len([(m, n) for _ in range(dim)])
        running += sum(1 for _ in range(dim) for _ in range(dim)) + sum(1 for _ in range(dim) for _ in range(dim))
    assert multiplication_counts(length, dim) == (table, running)


@pytest.mark.parametrize("dim, length", [(16, 1024), (128, 64), (128, 4096)])
def test_areas_are_in_the_ratio_of_the_multiplications(dim: int, length: int) -> None:
    film = unwrap(running_sum.running_sum_film)(dim, cost.length_stops(length), T)
    table, running = (panel for panel in film.scene.panels if panel.first_beat == 3)
    at = {"length": film.scene.controls[2].nearest_stop_index(length)}
    triangle = next(mark for mark in table.marks if mark["kind"] == "line" and mark["fill"] != "none")
    strip = next(mark for mark in running.marks if mark["kind"] == "rect")
    x, y = (shown_at(triangle[axis], at) for axis in "xy")
    area = abs((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])) / 2
    other = shown_at(strip["x1"], at)[0] * -shown_at(strip["y0"], at)[0]
    scores, sums = multiplication_counts(length, dim)
    # Half a square leaves out half the diagonal.
    assert area / other == pytest.approx((scores - length * dim) / sums)
    finding = film.scene.finding_at({"cat": 1, "place": 2, "length": length, "beat": 3})
    more = "the triangle costs" if scores > sums else "the sum costs"
    assert f"{more} {max(scores, sums) / min(scores, sums):.3g} times" in finding and f"at {2 * dim - 1:,}." in finding


def test_turned_keys_have_another_sum_in_another_order_and_unturned_ones_the_same() -> None:
    scene = unwrap(running_sum.running_sum_film)(128, cost.length_stops(512), T).scene
    theta, k = 1e4 ** (-1 / 8), order.word_keys() @ [1, 1j]
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
    for panel, ends, turn in zip(scene.panels[1:3], wanted, (0, 6 * theta), strict=True):
        # A query is a turn of the pair too: the real part of its conjugate product is the score.
        asks = [mark for mark in panel.marks if mark["kind"] == "vector"][-3]
        assert asks["length"] * np.exp(1j * (np.pi / 2 - asks["angle"])) == pytest.approx(k[1] * np.exp(1j * turn))
        read = [f"{(end * np.conj(k[1] * np.exp(1j * turn))).real:.2f}" for end in ends]
        for at, (now, other) in enumerate((read, read[::-1])):
            assert text_at(panel.paragraphs[-1].content, {"cat": at}) == T("query_reads", now=now, other=other)


def shown_at(track: NumberTrack | np.ndarray, at: dict[str, int]) -> np.ndarray:
    return np.asarray(track.numbers_at(at) if isinstance(track, NumberTrack) else track, dtype=float)


@pytest.mark.parametrize("kind, shape", [("geometric", "(4,)"), ("learned", "(4, 4)"), ("per head", "(4, 1)")])
def test_theta_in_its_three_shapes(kind: str, shape: str) -> None:
    drawing = figures.head_frequency_chart(LrpeExample(kind=kind, base=300.0, width=8), 2, T)
    assert len(chart(drawing).data) == (1 if kind == "geometric" else 4) and shape in drawing.finding


def test_decoding_gives_the_same_numbers_token_by_token() -> None:
    drawing = figures.decoding_chart(LrpeExample("softmax", -1, "learned", width=8, offset=30), 1, T)
    whole, steps = heatmaps(drawing)
    np.testing.assert_array_equal(whole, steps)
    assert "at offsets 30 to 41, give the same numbers bit for bit" in drawing.finding


def test_decoding_with_a_softmax_along_the_sequence_differs() -> None:
    drawing = figures.decoding_chart(LrpeExample("softmax", 1, width=8, offset=30), 0, T)
    whole, steps = heatmaps(drawing)
    assert np.abs(whole - steps).max() > 0.1
    assert f"off by up to {np.abs(whole - steps).max():.3g}." in drawing.finding


def test_the_backward_is_the_slope_times_the_gradient_turned_back() -> None:
    case = LrpeExample("relu2", base=60.0, width=8, offset=11)
    grad, back, slope, dx = heatmaps(figures.backward_pass_chart(case, 3, 5, 2, T))
    x = case.x[0, :, 3]
    angle = (11 + 5) * 60.0 ** (-2 / 4)
    np.testing.assert_allclose([back[5, 2], back[5, 6]], turned(grad[5, 2], grad[5, 6], -angle), atol=1e-5)
    np.testing.assert_allclose(slope, 2 * np.maximum(x, 0), atol=1e-6)
    np.testing.assert_allclose(dx, slope * back, atol=1e-5)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.act + c.kind)
def test_every_residual_that_the_backward_names_is_of_rounding_size(case: LrpeExample, lang: str) -> None:
    finding = figures.backward_pass_chart(case, 0, 0, 0, PageTexts(lang, "lrpe")).finding
    named = [read(word) for word in re.findall(r"[\d.]+·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+", finding)]
    assert named and all(value < 1e-14 for value in named)


def test_scores_of_linear_attention_are_drawn_for_the_past_only() -> None:
    drawing = lrpe_linear.linear_attention_chart(rc.Rope(16, 30.0), "relu", T)
    plain, scores = heatmaps(drawing)
    past = np.tril(np.ones_like(plain, dtype=bool))
    assert np.isnan(plain[~past]).all() and (plain[past] >= 0).all()
    np.testing.assert_allclose(np.diagonal(plain), np.diagonal(scores), atol=1e-5)
    assert f"{int((scores[past] < 0).sum())} of 528 turned ones are negative" in drawing.finding


def test_the_field_of_the_slice_leaves_a_pair() -> None:
    assert unrotated_dims_field("front", 16).high == 14
    assert figures.rotary_slice_text(CASES[1], T) == "24 dimensions, 6–13 turn"


CASE = LrpeExample("silu", base=77.0, width=12, offset=9, front=2, behind=4)
ROWS = [
    Row("lrpe", figures.head_frequency_chart, (CASE, 1)),
    Row("lrpe", figures.decoding_chart, (CASE, 1)),
    Row("lrpe", figures.backward_pass_chart, (CASE, 1, 4, 1)),
    Row("lrpe", lrpe_linear.linear_attention_chart, (ROPE, "relu")),
]
FILMS = [
    FilmRow("lrpe", turning.lrpe_stages_film, (CASE, 1, 1, (0, 9, 40)), {"offset": 9, "token": 4}),
    *(
        FilmRow(
            "lrpe",
            running_sum.running_sum_film,
            (16, cost.length_stops(300)),
            {"cat": 1, "place": 3, "length": 300, "beat": beat},
        )
        for beat in (1, 2, 3)
    ),
    FilmRow("lrpe", drawn.negative_share_sketch, (8, 77.0), {}, to_draw),
]
