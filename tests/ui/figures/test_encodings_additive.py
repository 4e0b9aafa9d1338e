"""The additive part's figures against vectors, maps and terms written out by hand."""

import math
from inspect import unwrap

import numpy as np
import pytest

from rope_core.theory.encodings import weights, words
from tests.support.figures import chart
from ui.figures.drawing import Film
from ui.figures.encodings import additive as figures
from ui.figures.encodings.scores import WIDTH, tokens
from ui.text.words import Words

T = Words("en", "encodings")
SENTENCE = tokens("the dog chased the cat")


def vector(i: float, dim: int, base: float) -> np.ndarray:
    angles = [i / base ** (2 * j / dim) for j in range(dim // 2)]
    return np.array([f(a) for a in angles for f in (math.sin, math.cos)])


@pytest.mark.parametrize("base", [30.0, 10_000.0, 5e5])
def test_red_hands_point_where_the_later_vectors_are(base: float) -> None:
    steps, at, dim = (0, 5, 64), (0, 7, 32), 2 * figures.CIRCLES
    film: Film = unwrap(figures.rotation)(steps, at, base, T)
    hands = [[s["angle"].frames for s in panel.shapes if s["kind"] == "hands"] for panel in film.scene.panels]
    blue, red = (np.concatenate(each, axis=-1) for each in zip(*hands, strict=True))
    for j, i in enumerate(at):
        np.testing.assert_allclose(tips(blue[j]), vector(i, dim, base), atol=1e-12)
        for k, delta in enumerate(steps):
            np.testing.assert_allclose(tips(red[k, j]), vector(i + delta, dim, base), atol=1e-12)
    grips = [shape["angle"].frames for shape in film.scene.panels[0].shapes if shape["kind"] == "handle"]
    np.testing.assert_array_equal(grips[0], blue[:, :1])
    np.testing.assert_array_equal(grips[1], red[..., :1])
    assert "p_(i+64)" in film.scene.written({"delta": 64, "i": 7})


def tips(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).ravel()


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
