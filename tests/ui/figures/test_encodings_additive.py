"""The additive part's figures against vectors, maps and terms written out by hand."""

import math
from inspect import unwrap

import numpy as np
import pytest

from ui.figures.drawing import Film
from ui.figures.encodings import additive as figures
from ui.figures.encodings.scores import split_tokens
from ui.text.words import PageTexts

T = PageTexts("en", "encodings")
SENTENCE = split_tokens("the dog chased the cat")


def vector(i: float, dim: int, base: float) -> np.ndarray:
    angles = [i / base ** (2 * j / dim) for j in range(dim // 2)]
    return np.array([f(a) for a in angles for f in (math.sin, math.cos)])


@pytest.mark.parametrize("base", [30.0, 10_000.0, 5e5])
def test_red_hands_point_where_the_later_vectors_are(base: float) -> None:
    steps, at, dim = (0, 5, 64), (0, 7, 32), 2 * figures.CIRCLES
    film: Film = unwrap(figures.sinusoidal_rotation_film)(steps, at, base, T)
    hands = [[s["angle"].keyframes for s in panel.marks if s["kind"] == "vector"] for panel in film.scene.panels]
    blue, red = (np.concatenate(each, axis=-1) for each in zip(*hands, strict=True))
    for j, i in enumerate(at):
        np.testing.assert_allclose(tips(blue[j]), vector(i, dim, base), atol=1e-12)
        for k, delta in enumerate(steps):
            np.testing.assert_allclose(tips(red[k, j]), vector(i + delta, dim, base), atol=1e-12)
    grips = [shape["angle"].keyframes for shape in film.scene.panels[0].marks if shape["kind"] == "drag_handle"]
    np.testing.assert_array_equal(grips[0], blue[:, :1])
    np.testing.assert_array_equal(grips[1], red[..., :1])
    assert "p_(i+64)" in film.scene.finding_at({"delta": 64, "i": 7})


def tips(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).ravel()
