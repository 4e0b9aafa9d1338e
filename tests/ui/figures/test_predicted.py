"""Curves that readers draw: the true one is the theory's, and the sentence tells the gap."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import challenges, demo, layout_demo
from ui.figures.drawing import Film
from ui.figures.frequencies import drawn as base
from ui.figures.layouts import drawn as layouts
from ui.figures.rotation import circle
from ui.text.words import LANGUAGES, Words

Case = tuple[Film, list[float], str, int]
"""A film, its true curve made again, and the column at which the reader errs, with the digits of a height."""


def shifted(lang: str) -> Case:
    rope = rc.Rope(12, 90.0)
    q, k = demo.drawn_vectors(12)
    turns = [rc.rotation_matrix(at, rope.theta, "interleaved") for at in (30, 7)]
    score = float((turns[0] @ q) @ (turns[1] @ k))
    return unwrap(circle.shifted)(rope, 30, 7, Words(lang, "rotation")), [score] * 9, "24", 2


def wrong(lang: str) -> Case:
    film = unwrap(layouts.wrong)(50.0, Words(lang, "layouts"))
    theta, weights = rc.Rope(64, 50.0).theta, layout_demo.drawn_projections(challenges.SHAPES)
    q = (weights.x_q @ weights.w_q.T).reshape(-1, 2, 4, 64)
    k = (weights.x_k @ weights.w_k.T).reshape(-1, 2, 1, 64)
    true = []
    for m in layouts.MARKS:
        scores = [((q @ rc.rotation_matrix(m, theta, layout).T) * k).sum(axis=-1) for layout in ("interleaved", "half")]
        true.append(100 * float(np.sqrt(((scores[1] - scores[0]) ** 2).mean() / (scores[0] ** 2).mean())))
    return film, true, "7", 0


def unfinished(lang: str) -> Case:
    film = unwrap(base.unfinished)(32, 700, Words(lang, "frequencies"))
    powers = np.arange(2, 8.1, 0.5)
    true = [float(sum(2 * math.pi * (10**p) ** (2 * i / 32) > 700 for i in range(16))) for p in powers]
    return film, true, "3,200", 0


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("case", [shifted, wrong, unfinished])
def test_the_true_curve_is_the_theorys_and_the_gap_is_told(case: Callable[[str], Case], lang: str) -> None:
    film, true, place, digits = case(lang)
    sketch = film.scene.sketch
    assert sketch is not None and film.gap is not None and len(sketch.columns) == len(true)
    shape = film.scene.panels[0].shapes[-1]
    curve = np.interp(sketch.columns, shape["x"], shape["y"])
    np.testing.assert_allclose(curve, true, atol=1e-9)
    at = sketch.column_texts.index(place)
    drawn = curve.copy()
    drawn[at] += 30
    numbers = {"mean": 30 / len(true), "drawn": drawn[at], "true": curve[at]}
    told = {slot: f"{value:.{digits}f}" for slot, value in numbers.items()}
    assert film.gap(drawn) == Words(lang, "labels")("film.gap", at=place, **told)
