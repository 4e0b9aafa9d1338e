"""The rotation page's figures."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rotation import rotate_by_elements
from rope_core.theory import demo
from tests.support.figures import ROPE, Row
from ui.figures import rotation
from ui.text.words import Words


def circle(t: Words) -> str:
    q, k = demo.drawn_vectors(16)
    shifted = [turned_pair(q, k, 9 + s, 5 + s) for s in range(20, 84)]
    exact = demo.score(q, k, 9, 5, ROPE.theta, "interleaved")
    shown = demo.scores_under_shift(q, k, 9, 5, np.arange(20, 84), ROPE.theta, "interleaved")
    assert np.abs(np.array(shifted) - exact).max() < 1e-12
    drift = np.abs(shown - exact).max()
    return t("circle_finding", m=29, n=25, score=f"{exact:.6f}", d=4, drift=f"{drift:.2g}")


def turned_pair(q: np.ndarray, k: np.ndarray, m: int, n: int) -> float:
    """q at m and k at n, each by its own matrix."""
    turns = [rc.rotation_matrix(at, ROPE.theta, "interleaved") for at in (m, n)]
    return float((turns[0] @ q) @ (turns[1] @ k))


def matrix(t: Words) -> str:
    values = rc.rotation_matrix(7, rc.Rope(10, 33.0).theta, "interleaved")
    return t("matrix_finding", m=7, blocks=5, off=f"{np.abs(values @ values.T - np.eye(10)).max():.2g}")


def three_forms(t: Words) -> str:
    x = demo.drawn_vectors(10, 1)[0]
    ways = demo.three_ways(x, 7, rc.Rope(10, 33.0).theta, "interleaved")
    length = abs(float(np.linalg.norm(ways.matrix) - np.linalg.norm(x)))
    return t("three_finding", residual=f"{ways.residual:.2g}", norm=f"{length:.2g}")


def backward(t: Words) -> str:
    theta, gradient = rc.Rope(10, 33.0).theta, demo.drawn_vectors(10, 1, seed=1)[0]
    exact = rc.rotation_matrix(7, theta, "interleaved").T @ gradient
    back = rotate_by_elements(gradient, -7, theta, "interleaved")
    return t("backward_finding", residual=f"{np.abs(exact - back).max():.2g}")


ROWS = [
    Row(
        "rotation",
        rotation.circle,
        (ROPE, 3, 9, 5, 20),
        {"x": ("first", {"i": 3}), "y": ("second", {"i": 3}), "x2": "shift_axis", "y2": "score_axis"},
        circle,
    ),
    Row("rotation", rotation.matrix, (10, 7, 33.0), {"x": "matrix_in", "y": "matrix_out"}, matrix),
    Row("rotation", rotation.three_forms, (10, 7, 33.0), {"x": "dimension", "y": "value"}, three_forms),
    Row("rotation", rotation.backward, (10, 7, 33.0), {"x": "dimension", "y": "value"}, backward),
]
