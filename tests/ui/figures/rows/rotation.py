"""The rotation page's figures."""

import numpy as np

import rope_core as rc
from rope_core.theory import demo
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.rotation import circle
from ui.figures.rotation import matrix as matrix_
from ui.film.scene import around
from ui.text.words import Words


def turning(t: Words) -> str:
    q, k = demo.drawn_vectors(16)
    shares = [turned_pair(q, k, 9, 5, slice(2 * i, 2 * i + 2)) for i in range(8)]
    exact = demo.score(q, k, 9, 5, ROPE.theta, "interleaved")
    assert abs(sum(shares) - exact) < 1e-12
    return t(
        "circle_finding", m=29, n=25, d=4, pairs=8, score=f"{exact:.3g}", share=f"{shares[3]:.3g}".replace("-", "−")
    )


def turned_pair(q: np.ndarray, k: np.ndarray, m: int, n: int, part: slice = slice(None)) -> float:
    """q at m and k at n, each by its own matrix; of their product the part of some dimensions."""
    turns = [rc.rotation_matrix(at, ROPE.theta, "interleaved") for at in (m, n)]
    return float((turns[0] @ q)[part] @ (turns[1] @ k)[part])


ROWS = [
    Row("rotation", matrix_.matrix, (10, 7, 33.0)),
    Row("rotation", matrix_.three_forms, (10, 7, 33.0)),
    Row("rotation", matrix_.backward, (10, 7, 33.0)),
]
WINDOW = around(0)
FILMS = [
    FilmRow(
        "rotation", circle.turning, (ROPE, 3, WINDOW, WINDOW, WINDOW), {"m": 9, "n": 5, "shift": 20, "beat": 3}, turning
    ),
    FilmRow("rotation", circle.shifted, (ROPE, 9, 5), {}, to_draw),
]
