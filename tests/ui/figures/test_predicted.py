"""Curves that readers draw: the true one is the theory's, and the sentence tells the gap."""

import math
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from rope_core.theory import demo
from rope_core.theory.block.demo import shifted_outputs
from tests.support.films import FilmRow
from tests.ui.figures.test_every_figure import as_numbers, holds
from tests.ui.figures.test_every_film import FILMS
from ui.figures.block import drawn as block
from ui.figures.clock import measured as clock
from ui.figures.drawing import Film
from ui.figures.extrapolation import longer as extrapolation
from ui.figures.lrpe import drawn as lrpe
from ui.figures.rotation import drawn as rotation
from ui.text.words import PageTexts
from ui.work import extrapolated

# One is drawn by the means of bins and compared at single distances, the other's table has whole curves' ends.
DRAWN = [
    row
    for row in FILMS
    if not row.at
    and str(row)
    not in ("attention.score_at_larger_base_sketch", "clock.measured_perplexity_sketch", "block.transformer_layer_film")
]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("row", DRAWN, ids=str)
def test_the_true_curve_stands_in_the_table_and_the_gap_is_written(row: FilmRow, lang: str) -> None:
    t = PageTexts(lang, row.page)
    film = row.built(t)
    sketch = film.scene.sketch
    assert sketch is not None and film.gap is not None
    shape = next(shape for shape in film.scene.panels[0].marks if shape["kind"] == "sketch_input")
    columns = [each for each in map(as_numbers, film.table().values()) if each is not None]
    assert holds(columns, None, np.asarray(shape["y"])) and np.all(np.diff(shape["x"]) > 0)
    true = np.interp(sketch.columns, shape["x"], shape["y"])
    drawn, room = true.copy(), sketch.levels[-1] - sketch.levels[0]
    at = len(true) // 3
    drawn[at] += 2 * room
    written_gap = film.gap(drawn)
    digits = len(sketch.level_texts[0].partition(".")[2])
    assert (
        all(f"{each[at]:.{digits}f}" in written_gap for each in (true, drawn))
        and sketch.column_texts[at] in written_gap
    )


def curve(film: Film) -> np.ndarray:
    """Return the true height at each column."""
    sketch = film.scene.sketch
    assert sketch is not None
    shape = next(shape for shape in film.scene.panels[0].marks if shape["kind"] == "sketch_input")
    return np.interp(sketch.columns, shape["x"], shape["y"])


def test_a_turned_value_drifts_as_its_distance_from_the_unmoved_output() -> None:
    rope = rc.Rope(12, 90.0)
    moved = shifted_outputs(rope, range(0, 41, 4)).rotated
    true = [100 * math.dist(row, moved[0]) / math.hypot(*moved[0]) for row in moved]
    np.testing.assert_allclose(
        curve(unwrap(block.output_change_sketch)(rope, PageTexts("en", "block"))), true, atol=1e-9
    )


def test_the_turn_makes_as_many_numbers_negative_as_by_hand() -> None:
    """Turn vectors whose negative numbers are gone in halves."""
    pairs = np.maximum(demo.random_vectors(8, 64, seed=0), 0).reshape(64, 2, 4)
    true = []
    for k in range(10):
        angle = (2**k - 1) * 77.0 ** (-np.arange(4) / 4)
        a, b = pairs[:, 0], pairs[:, 1]
        turned = [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
        true.append(100 * float(np.mean(np.stack(turned) < 0)))
    np.testing.assert_allclose(
        curve(unwrap(lrpe.negative_share_sketch)(8, 77.0, PageTexts("en", "lrpe"))), true, atol=1e-9
    )


def test_a_score_stays_where_both_move() -> None:
    rope, (q, k) = rc.Rope(12, 90.0), demo.random_vectors(12)
    turns = [rc.rotation_matrix(at, rope.theta, "interleaved") for at in (30, 7)]
    score = float((turns[0] @ q) @ (turns[1] @ k))
    film = unwrap(rotation.shifted_score_sketch)(rope, 30, 7, PageTexts("en", "rotation"))
    np.testing.assert_allclose(curve(film), score, atol=1e-9)


@pytest.mark.parametrize("line, length, draw", [("ntk", 2048, "position"), ("yarn", 0, "length")])
def test_recorded_curves_are_the_records(line: str, length: int, draw: str) -> None:
    """NTK's perplexity over the position at 2,048 bytes; YaRN's on the last quarter over the length, 256 to 2,048."""
    seen = extrapolated.shipped_results("sweep")
    assert seen is not None
    cells = [each for each in seen.results if each["line"] == line]
    if draw == "position":
        film = unwrap(clock.measured_perplexity_sketch)(seen, 256, PageTexts("en", "clock"))
        own = next(each["curve"] for each in cells if each["length"] == length)
        true = np.interp(range(128, 2048, 128), own["position"], own["value"])
    else:
        film = unwrap(extrapolation.perplexity_by_length_sketch)(seen, line, PageTexts("en", "extrapolation"))
        assert (film.scene.panels[0].x.low, film.scene.panels[0].x.high) == (8.0, 11.0)
        last = {each["length"]: each["last"][0] for each in cells}
        window = {each["length"]: each["last"][0] for each in seen.results if each["line"] == "window"}
        for mark in film.scene.panels[0].marks[:2]:  # at rest: the window's, at log2 of the length
            np.testing.assert_allclose((mark["x"], mark["y"]), ([8, 9, 10, 11], [window[2**k] for k in (8, 9, 10, 11)]))
        true = np.array([last[length] for length in (256, 512, 1024, 2048)])
    np.testing.assert_allclose(curve(film), true, atol=1e-9)
