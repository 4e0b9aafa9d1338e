"""Curves that readers draw: the true one is the theory's, and the sentence tells the gap."""

import json
import math
from collections.abc import Callable
from importlib import resources
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import challenges, demo, encodings, layout_demo
from rope_core.theory.block.demo import shifted_outputs
from ui.figures import home
from ui.figures.block import drawn as block
from ui.figures.clock import measured as clock
from ui.figures.drawing import Film
from ui.figures.encodings import drawn as encodings_drawn
from ui.figures.encodings.scores import WIDTH
from ui.figures.extrapolation import longer as extrapolation
from ui.figures.frequencies import drawn as base
from ui.figures.layouts import drawn as layouts
from ui.figures.lrpe import drawn as lrpe
from ui.figures.predicted import mistake
from ui.figures.rotation import circle
from ui.text.words import LANGUAGES, Words, labels
from ui.work import extrapolated

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


def finished(lang: str) -> Case:
    film = unwrap(home.finished)(rc.Rope(32, 700.0, 50), Words(lang, "home"))
    waves = [2 * math.pi * 700.0 ** (2 * i / 32) for i in range(16)]
    return film, [float(sum(wave <= 2**k for wave in waves)) for k in range(13)], "64", 0


def added(lang: str) -> Case:
    """Add sines and cosines in turn to the words by hand, then project."""
    tokens = ("a", "b", "a", "c")
    film = unwrap(encodings_drawn.added)(tokens, 30.0, Words(lang, "encodings"))
    x, head = encodings.words(tokens, WIDTH), encodings.weights(WIDTH, 30.0)
    true = []
    for k in range(0, 49, 6):
        rows = []
        for row, m in ((3, k + 3), (1, k + 1)):
            angle = [m / 30.0 ** (2 * j / WIDTH) for j in range(WIDTH // 2)]
            rows.append(x[row] + np.array([f(a) for a in angle for f in (math.sin, math.cos)]))
        true.append(float((rows[0] @ head.q.T) @ (rows[1] @ head.k.T)) / math.sqrt(WIDTH))
    return film, true, "12", 2


def measured(lang: str) -> Case:
    """Read the curve of NTK at 2,048 bytes from the record."""
    film = unwrap(clock.measured)(extrapolated.seen_shipped("sweep"), 256, Words(lang, "clock"))
    cells = json.loads((resources.files("rope_core.lab") / "records" / "sweep.json").read_text("utf-8"))["results"]
    curve = next(each["curve"] for each in cells if each["length"] == 2048 and each["line"] == "ntk")
    return film, np.interp(range(128, 2048, 128), curve["position"], curve["value"]).tolist(), "1,024", 1


def drift(lang: str) -> Case:
    rope = rc.Rope(12, 90.0)
    film = unwrap(block.drift)(rope, Words(lang, "block"))
    moved = shifted_outputs(rope, range(0, 41, 4)).rotated
    true = [100 * math.dist(row, moved[0]) / math.hypot(*moved[0]) for row in moved]
    return film, true, "8", 0


def negative(lang: str) -> Case:
    """Turn vectors whose negative numbers are gone in halves."""
    film = unwrap(lrpe.negative)(8, 77.0, Words(lang, "lrpe"))
    pairs = np.maximum(demo.drawn_vectors(8, 64, seed=0), 0).reshape(64, 2, 4)
    true = []
    for k in range(10):
        angle = (2**k - 1) * 77.0 ** (-np.arange(4) / 4)
        a, b = pairs[:, 0], pairs[:, 1]
        turned = [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
        true.append(100 * float(np.mean(np.stack(turned) < 0)))
    return film, true, "7", 0


def longer(lang: str) -> Case:
    film = unwrap(extrapolation.longer)(extrapolated.seen_shipped("sweep"), "yarn", Words(lang, "extrapolation"))
    assert (film.scene.panels[0].x.low, film.scene.panels[0].x.high) == (8.0, 11.0), "256 to 2,048"
    cells = json.loads((resources.files("rope_core.lab") / "records" / "sweep.json").read_text("utf-8"))["results"]
    last = {each["length"]: each["last"][0] for each in cells if each["line"] == "yarn"}
    return film, [last[length] for length in (256, 512, 1024, 2048)], "512", 1


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "case",
    [shifted, wrong, unfinished, finished, added, measured, drift, negative, longer],
    ids=lambda case: case.__name__,
)
def test_the_true_curve_is_the_theorys_and_the_gap_is_written(case: Callable[[str], Case], lang: str) -> None:
    film, true, place, digits = case(lang)
    sketch = film.scene.sketch
    assert sketch is not None and film.gap is not None and len(sketch.columns) == len(true)
    shape = next(shape for shape in film.scene.panels[0].shapes if shape["kind"] == "sketch")
    curve = np.interp(sketch.columns, shape["x"], shape["y"])
    np.testing.assert_allclose(curve, true, atol=1e-9)
    at = sketch.column_texts.index(place)
    drawn = curve.copy()
    drawn[at] += 30
    shown = {slot: f"{height[at]:.{digits}f}" for slot, height in (("drawn", drawn), ("true", curve))}
    assert film.gap(drawn).endswith(Words(lang, "labels")("film.gap", at=place, **shown))


@pytest.mark.parametrize(
    ("word", "curve"),
    [
        ("close", lambda x: x + 0.9),
        ("reversed", lambda x: 9 - x),
        ("twice", lambda x: 2 * x),
        ("half", lambda x: x / 2),
        ("high", lambda x: x + 3),
        ("low", lambda x: x - 3),
        ("moves", lambda x: 0 * x + 4),
        ("crossed", lambda x: 4 + 3 * (x - 4)),
    ],
)
def test_the_mistake_of_a_drawn_curve_is_named(word: str, curve: Callable[[np.ndarray], np.ndarray]) -> None:
    rising = np.linspace(1.0, 8.0, 15)
    assert mistake(curve(rising), rising, 10.0) == word
    assert mistake(rising, 0 * rising + 4, 10.0) == "level"
    assert all(f"film.drawn.{word}" in labels(lang, "labels") for lang in LANGUAGES)
