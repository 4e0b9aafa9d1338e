"""The LRPE page's figures against its formulas written out by hand, and the recipes that they offer."""

import math
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.lrpe import errata
from rope_core.lrpe.demo import HEADS, TOKENS, Case
from rope_core.theory.demo import drawn_vectors
from tests.support.figures import chart, ran
from ui.figures.drawing import Drawing
from ui.figures.lrpe import linear as lrpe_linear
from ui.figures.lrpe import op as figures
from ui.figures.lrpe import turning
from ui.film.scene import Track
from ui.text.words import Words

T = Words("en", "lrpe")
CASES = (
    Case("relu", base=50.0, offset=16),
    Case("softmax", -1, "learned", 5e5, 24, 4096, 6, 10),
    Case("softmax", 1, "geometric", 1.0001, 8, 3, 2, 0),
    Case("gelu", None, "per head", 1e4, 4, 100_000),
)


def written(number: float) -> str:
    return f"{number:.3f}"


def heatmaps(drawing: Drawing) -> list[np.ndarray]:
    return [np.asarray(trace.z, dtype=np.float64) for trace in chart(drawing).data if trace.type == "heatmap"]


def turned(a: float, b: float, angle: float) -> tuple[float, float]:
    return a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)


@pytest.mark.parametrize("start, token", [(0, 0), (9, 4), (64, 11)])
def test_the_framed_pair_is_activated_and_turned_by_its_own_angle(start: int, token: int) -> None:
    case, starts = Case("silu", base=77.0, width=12, front=2, behind=4), (0, 9, 64)
    scene = unwrap(turning.stages)(case, 1, 1, starts, T).scene
    at = {"offset": starts.index(start), "token": token}
    x, bar, turn, out = (shown_at(panel.shapes[0]["cells"], at) for panel in scene.panels[:4])
    tops = [float(panel.title.split("±")[1]) for panel in scene.panels[:4]]
    first, second = 2 + 1, 2 + 3 + 1
    numbers = drawn_vectors(12, TOKENS * HEADS, seed=0).reshape(TOKENS, HEADS, 12)[:, 1]
    row = TOKENS - 1 - token
    np.testing.assert_allclose(x[row] * tops[0] / 127, numbers[token], atol=0.6 * tops[0] / 127)
    a, b = (numbers[token, d] / (1 + math.exp(-numbers[token, d])) for d in (first, second))
    np.testing.assert_allclose(bar[row, [first, second]] * tops[1] / 127, [a, b], atol=0.01 * tops[1])
    angle = (start + token) * 77.0 ** (-1 / 3)
    np.testing.assert_allclose(turn[row, [first, second]] / 127, [math.cos(angle), math.sin(angle)], atol=0.01)
    o = turned(a, b, angle)
    np.testing.assert_allclose(out[row, [first, second]] * tops[3] / 127, o, atol=0.01 * tops[3])
    np.testing.assert_array_equal(out[:, [0, 1, 8, 9, 10, 11]], bar[:, [0, 1, 8, 9, 10, 11]])
    before, after = (shape for shape in scene.panels[4].shapes if shape["kind"] == "hands")
    length, (from_, to) = shown_at(before["length"], at)[0], [shown_at(s["angle"], at)[0] for s in (before, after)]
    reach = max(math.hypot(*(v / (1 + math.exp(-v)) for v in pair)) for pair in numbers[:, [first, second]])
    assert math.isclose(length, math.hypot(a, b) / reach, rel_tol=1e-9)
    assert math.isclose(to - from_, angle, rel_tol=1e-9, abs_tol=1e-12)
    assert math.isclose(math.tan(from_), b / a, rel_tol=1e-9)
    text_there = scene.written({"offset": start, "token": token})
    assert f"position {start + token}: SiLU gives ({written(a)}, {written(b)})" in text_there
    assert text_there.endswith(f" rad ({written(o[0])}, {written(o[1])}).")


def shown_at(track: Track | np.ndarray, at: dict[str, int]) -> np.ndarray:
    return np.asarray(track.at(at) if isinstance(track, Track) else track, dtype=float)


def test_the_quarter_without_a_sign_is_shaded_where_the_activation_has_none() -> None:
    for act, shaded in (("relu", True), ("sigmoid", True), ("gelu", False), ("none", False)):
        panel = unwrap(turning.stages)(Case(act, width=8), 0, 1, (0, 5), T).scene.panels[4]
        assert any(shape.get("sector") for shape in panel.shapes) == shaded


@pytest.mark.parametrize("kind, lines", [("geometric", 1), ("learned", 4), ("per head", 4)])
def test_theta_in_its_three_shapes(kind: str, lines: int) -> None:
    case = Case(kind=kind, base=300.0, width=8)
    drawing = figures.thetas(case, 2, T)
    assert len(chart(drawing).data) == lines
    shown = np.asarray(chart(drawing).data[-1].y)
    if kind == "geometric":
        np.testing.assert_allclose(shown, 300.0 ** (-np.arange(4) / 4))
    if kind == "per head":
        np.testing.assert_allclose(shown, np.full(4, 300.0 ** (-2 / 4)))
    assert {"geometric": "(4,)", "learned": "(4, 4)", "per head": "(4, 1)"}[kind] in drawing.finding


def test_the_matrices_are_the_document_s_blocks() -> None:
    case = Case(base=90.0, width=8, offset=5, front=2)
    written, computed = heatmaps(figures.matrices(case, 0, 2, T))
    angle = (5 + 2) * 90.0 ** (-1 / 3)
    block = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    np.testing.assert_allclose(written[2:4, 2:4], block, atol=1e-6)
    assert np.count_nonzero(np.abs(written) > 1e-9) == 12
    first, second = [-0.5, 1.5, 1.5, -0.5, -0.5, None], [1.5, 3.5, 3.5, 1.5, 1.5, None]
    assert figures.outline(2, 2)[0] == first + second
    np.testing.assert_allclose(computed[np.ix_([1, 4], [1, 4])], block, atol=1e-6)


def test_decoding_gives_the_same_numbers_token_by_token() -> None:
    drawing = figures.decode(Case("softmax", -1, "learned", width=8, offset=30), 1, T)
    whole, steps = heatmaps(drawing)
    np.testing.assert_array_equal(whole, steps)
    assert "offset 30 to 41 give the whole sequence's O bit for bit" in drawing.finding


def test_decoding_with_a_softmax_along_the_sequence_differs() -> None:
    drawing = figures.decode(Case("softmax", 1, width=8, offset=30), 0, T)
    whole, steps = heatmaps(drawing)
    assert np.abs(whole - steps).max() > 0.1
    assert "differ from the whole sequence" in drawing.finding


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
    words = finding.replace("，", " ").replace(",", " ").replace(".\n", " ").replace("。", " ").split()
    named = [float(word.rstrip(".")) for word in words if "e-" in word]
    assert named and all(value < 1e-14 for value in named)


def test_the_slip_is_a_turn_the_other_way() -> None:
    drawing = lrpe_linear.slip(40.0, 2, T)
    table = {key: np.asarray(values) for key, values in drawing.table().items()}
    theta = 40.0 ** (-np.arange(4) / 4)
    z = table["x"][:4] + 1j * table["x"][4:]
    for key, sign in (("element_wise", 1), ("x_W_transposed", 1), ("x_W", -1)):
        exact = z * np.exp(sign * 2j * theta)
        np.testing.assert_allclose(table[key], np.concatenate([exact.real, exact.imag]), atol=1e-12)
    assert f"{np.abs(table['x_W'] - table['element_wise']).max():.3g} away" in drawing.finding


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_list_of_slips_has_five_that_are_off_and_corrected(lang: str) -> None:
    rows = lrpe_linear.errata_list(1e4, 1, Words(lang, "lrpe")).splitlines()
    assert len(rows) == 5
    for row, exact in zip(rows, errata.errata(1e4, 1), strict=True):
        assert f"**{exact.printed:.3g}**" in row and exact.printed > 0.1
        assert figures.apart(exact.corrected) in row.split("$")[-1] and exact.corrected < 1e-14


def test_scores_of_linear_attention_are_drawn_for_the_past_only() -> None:
    drawing = lrpe_linear.attention(rc.Rope(16, 30.0), "relu", T)
    plain, scores = heatmaps(drawing)
    past = np.tril(np.ones_like(plain, dtype=bool))
    assert np.isnan(plain[~past]).all() and (plain[past] >= 0).all()
    np.testing.assert_allclose(np.diagonal(plain), np.diagonal(scores), atol=1e-5)
    assert f"{int((scores[past] < 0).sum())} are negative" in drawing.finding


def test_the_decay_is_the_mean_cosine_and_drawn_features_follow() -> None:
    rope = rc.Rope(64, 1e4, 2048)
    drawing = lrpe_linear.decay(rope, "sigmoid", T)
    curve, dots = chart(drawing).data
    far = np.asarray(curve.x)
    assert far[0] == 1 and far[-1] == 2048
    np.testing.assert_allclose(curve.y, np.cos(np.outer(far, rope.theta)).mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(dots.y, np.cos(np.outer(np.arange(1, 65), rope.theta)).mean(axis=1), atol=0.02)


def drawings(t: Words) -> list[Drawing]:
    result = []
    for case in CASES:
        result += [figures.thetas(case, 3, t), figures.matrices(case, 3, 11, t)]
        result += [figures.decode(case, 2, t), figures.backward(case, 1, 11, 30, t)]
    for rope in (rc.Rope(2, 1.0001, 16), rc.Rope(1024, 1e12, 16_777_216)):
        result += [lrpe_linear.attention(rope, "relu", t), lrpe_linear.decay(rope, "softmax", t)]
        result.append(lrpe_linear.slip(rope.base, 64, t))
    return result


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_ends_of_the_ranges_draw_and_recipes_run(lang: str) -> None:
    for drawing in drawings(Words(lang, "lrpe")):
        assert chart(drawing).data and "nan" not in drawing.finding
        assert ran(drawing).strip(), drawing.id
        lengths = {len(np.asarray(column).ravel()) for column in drawing.table().values()}
        assert min(lengths) > 0


def test_the_field_of_the_slice_leaves_a_pair() -> None:
    assert figures.left_alone("front", 16).high == 14
    assert figures.slice_words(CASES[1], T) == "24 dimensions, 6–13 turn"
