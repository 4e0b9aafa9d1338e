"""The additive part's figures against vectors, maps and terms written out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rope_core.theory.encodings import weights, words
from tests.support.figures import chart, ran
from ui.figures.drawing import Drawing
from ui.figures.encodings import additive as figures
from ui.figures.encodings.scores import WIDTH, tokens
from ui.text.words import Words

T = Words("en", "encodings")
SENTENCE = tokens("the dog chased the cat")


def vector(i: float, dim: int, base: float) -> np.ndarray:
    angles = [i / base ** (2 * j / dim) for j in range(dim // 2)]
    return np.array([f(a) for a in angles for f in (math.sin, math.cos)])


@pytest.mark.parametrize("delta, base", [(0, 10_000.0), (5, 30.0), (64, 5e5)])
def test_red_hands_stand_where_the_later_vectors_are(delta: int, base: float) -> None:
    drawing = figures.rotation(delta, base, T)
    table = drawing.table()
    dim = 2 * figures.CIRCLES
    for i in (0, 7, 63):
        mapped = np.array([np.asarray(table[f"Mp[{k}]"])[i] for k in range(dim)])
        np.testing.assert_allclose(mapped, vector(i + delta, dim, base), atol=1e-12)
    frame = chart(drawing).to_dict()["frames"][7]
    for data, at in zip(frame["data"][:2], (7, 7 + delta), strict=True):
        x, y = (np.array([v for v in data[axis] if v is not None], dtype=float) for axis in "xy")
        tips = np.stack([x[1::2] - x[0::2], y[1::2] - y[0::2]], axis=1).ravel()
        np.testing.assert_allclose(tips, vector(at, dim, base), atol=2e-4)
    assert f"p_(i+{delta})" in drawing.finding


def test_hands_turn_clockwise() -> None:
    table = figures.rotation(1, 100.0, T).table()
    before = np.array([np.asarray(table["p[0]"])[3], np.asarray(table["p[1]"])[3]])
    after = np.array([np.asarray(table["Mp[0]"])[3], np.asarray(table["Mp[1]"])[3]])
    cross = before[0] * after[1] - before[1] * after[0]
    assert cross == pytest.approx(-math.sin(1.0))


def test_a_diagonal_h_is_exact_and_others_are_not() -> None:
    assert figures.hessian_residual(0.0, 0.0, 300.0) < 1e-14
    assert figures.hessian_residual(0.0, 0.6, 300.0) > 1e-3
    small, large = (figures.hessian_residual(noise, 0.0, 300.0) for noise in (0.05, 0.5))
    assert 1e-3 < small < large < 1
    drawing = figures.hessian_curve(0.5, 0.0, 300.0, T)
    assert chart(drawing).data[1].y[0] == pytest.approx(100 * large)
    assert f"{100 * large:.2g} % of the term" in drawing.finding


def test_hessian_map_of_a_diagonal_h_is_constant_along_diagonals() -> None:
    table = figures.hessian_map(0.0, 0.0, 300.0, T).table()
    term = np.asarray(table["term"]).reshape(figures.POSITIONS, -1)
    for offset in (0, 3, -9):
        assert np.ptp(np.diagonal(term, offset)) < 1e-12
    assert np.ptp(np.diagonal(np.asarray(figures.hessian_map(0.4, 0.0, 300.0, T).table()["term"]).reshape(32, -1))) > 1


@pytest.mark.parametrize("base", [40.0, 10_000.0])
def test_cross_terms_move_and_word_terms_stay(base: float) -> None:
    drawing = figures.crossing(SENTENCE, base, T)
    table = {key: np.asarray(column, dtype=float) for key, column in drawing.table().items()}
    assert table["word_word"].max() == 0.0
    assert table["unprojected"].max() < 1e-14
    assert table["position_position"].max() > 0.05
    head, x = weights(WIDTH, base), words(SENTENCE, WIDTH)

    def places(shift: int) -> np.ndarray:
        return np.stack([vector(i + shift, WIDTH, base) for i in range(len(SENTENCE))])

    score = (x + places(0)) @ head.q.T @ head.k @ (x + places(0)).T
    change = (x @ head.q.T) @ head.k @ (places(9) - places(0)).T
    exact = math.sqrt(float(np.mean(change**2)) / float(np.mean(score**2)))
    assert table["word_position"][8] == pytest.approx(exact, rel=1e-9)
    np.testing.assert_allclose(chart(drawing).data[1].y, 100 * table["word_position"])


def drawings() -> list[Drawing]:
    return [
        figures.rotation(5, 30.0, T),
        figures.hessian_map(0.2, 0.1, 30.0, T),
        figures.hessian_curve(0.2, 0.1, 30.0, T),
        figures.crossing(SENTENCE, 30.0, T),
    ]


@pytest.mark.parametrize("drawing", drawings(), ids=lambda d: d.id)
def test_recipes_run(drawing: Drawing) -> None:
    assert ran(drawing).strip()


@pytest.mark.parametrize("base", [1.0001, 1e12])
def test_the_ends_of_the_range_draw(base: float) -> None:
    parts = (
        figures.rotation(64, base, T),
        figures.hessian_map(1.0, 1.0, base, T),
        figures.hessian_curve(1.0, 1.0, base, T),
        figures.crossing(SENTENCE, base, T),
    )
    for drawing in parts:
        assert "nan" not in drawing.finding and "inf" not in drawing.finding
