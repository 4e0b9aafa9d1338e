"""The frequency figures: traces against formulas written out, their sentences and recipes."""

import math
from inspect import unwrap

import numpy as np
import pytest

from rope_core import Rope
from rope_core.theory import frequency_demo
from tests.support.figures import ROPE, Row, run
from tests.support.films import FilmRow, marks_of, to_draw
from ui.figures.drawing import Film
from ui.figures.frequencies import digits as frequencies
from ui.figures.frequencies import drawn, heat, spans
from ui.text.words import PageTexts

EN = PageTexts("en", "frequencies")
BASES = (1000.0, 10_000.0, 54_321.0, 1e7)
LENGTHS = (2048, 4096, 32_768)


def film(dim: int, base: float = 10_000.0, train_len: int = 4096, bases: tuple[float, ...] = BASES) -> Film:
    rope = Rope(dim, base, train_len)
    built: Film = unwrap(heat.frequency_film)(rope, heat.pair_stops(dim, 3), bases, LENGTHS, EN)
    return built


@pytest.mark.parametrize(
    ("dim", "base", "train_len"), [(128, 1e4, 4096), (64, 30.0, 500), (1024, 1e6, 8192), (2, 5.0, 16)]
)
def test_the_marked_row_is_its_pair_at_every_stop(dim: int, base: float, train_len: int) -> None:
    """Arrow and sentence of each pair by angles written out, the line of one turn, and what is hatched."""
    pairs, built = heat.pair_stops(dim, 3), film(dim, base, train_len)
    dial, _, map_panel, _ = built.scene.panels[:4]
    waves = 2 * math.pi * base ** (2 * np.arange(dim // 2) / dim)
    end = np.log10(16 * train_len)
    line = next(mark for mark in marks_of(map_panel, "line") if np.size(mark["x"]) == dim // 2)
    np.testing.assert_allclose(line["x"], np.log10(waves).clip(0, end), atol=1e-6)
    (hatched,) = (mark for mark in marks_of(map_panel, "rect") if mark.get("fill_pattern") == "hatch")
    np.testing.assert_allclose(10 ** hatched["x1"], waves.clip(train_len, 16 * train_len), rtol=1e-5)
    for stop, pair in enumerate(min(each, dim // 2 - 1) for each in pairs):
        turned = base ** (-2 * pair / dim) * train_len
        tip = marks_of(dial, "vector")[0]["angle"].numbers_at({"pair": stop})[0]
        assert (np.sin(tip), np.cos(tip)) == pytest.approx((math.cos(turned), math.sin(turned)), abs=1e-6)
        finding_text = built.scene.finding_at({"pair": pairs[stop], "compared": base, "context": 4096, "beat": 1})
        assert ("new to the model" in finding_text) == (turned < 2 * math.pi)
        assert turned >= 2 * math.pi or f"{math.degrees(turned):.3g}°" in finding_text
        assert turned >= 2 * math.pi or f"one of {(waves > train_len).sum()} without" in finding_text


def test_a_row_of_the_map_is_the_mean_around_its_columns() -> None:
    """The Gaussian mean by a sum over many places, for pairs from one shade to full contrast."""
    rope, end, columns = Rope(16, 300.0, 200), 250.0, 40
    cells = frequency_demo.cosine_stripes_and_contrast(rope, end, columns)
    at = np.linspace(-6.0, 6.0, 4001)
    weights = np.exp(-(at**2) / 2) / np.exp(-(at**2) / 2).sum()
    for k in (0, 7, 39):
        places = end ** ((k + 0.5) / columns) * (1 + frequency_demo.BLUR * at)
        want = np.cos(rope.theta[:, None] * places) @ weights
        np.testing.assert_allclose(cells[:, k], want, atol=1e-6)
    assert abs(cells[0, -1]) < 0.1 < 0.9 < cells[-1, 0]


@pytest.mark.parametrize(("dim", "base", "train_len"), [(12, 50.0, 16), (128, 1e4, 4096), (1022, 1e5, 131_072)])
def test_a_larger_base_beside_the_model_s_own(dim: int, base: float, train_len: int) -> None:
    """Rows, the line below those that finish a turn, and the sentence, by wavelengths written out."""
    built = film(dim, base, train_len)
    _, other = (panel for panel in built.scene.panels if panel.first_beat == 2)
    (picture,), pairs = marks_of(other, "heatmap"), dim // 2
    (hatched,) = (mark for mark in marks_of(other, "rect") if mark.get("fill_pattern") == "hatch")
    grip = next(mark for mark in other.marks if mark["kind"] == "drag_handle")
    before = sum(2 * math.pi * base ** (2 * i / dim) > train_len for i in range(pairs))
    for k, each in enumerate(BASES):
        waves = np.array([2 * math.pi * each ** (2 * i / dim) for i in range(pairs)])
        count = int((waves > train_len).sum())
        assert grip["y"].numbers_at({"compared": k})[0] == pytest.approx((count - pairs) / pairs)
        wide = 10 ** hatched["x1"].numbers_at({"compared": k})
        np.testing.assert_allclose(wide, waves.clip(train_len, 16 * train_len), rtol=1e-5)
        text = built.scene.finding_at({"pair": 0, "compared": each, "context": 4096, "beat": 2})
        assert f", {count} of {pairs} pairs never" in text and f" {before}. " in text
        cells = picture["cells"].numbers_at({"compared": k})
        x = (16 * train_len) ** ((np.arange(cells.shape[1]) + 0.5) / cells.shape[1])
        angle = 2 * math.pi * x / waves[:: -(-pairs // 64)][-1]
        assert np.abs(cells[-1] / 127 - np.cos(angle))[angle < 0.5].max(initial=0.0) < 0.01


def test_turns_by_pair_and_base_with_models_at_their_places() -> None:
    built = film(128)
    mapped, _ = (panel for panel in built.scene.panels if panel.first_beat == 3)
    grip = next(mark for mark in mapped.marks if mark["kind"] == "drag_handle")
    green = grip["grab_marks"][-1]
    for k, length in enumerate(LENGTHS):
        x = green["x"].numbers_at({"context": k})
        inside = (x > -0.5) & (x < 63.4)
        waves = 2 * math.pi * 10.0 ** (green["y"] * x / 64)
        np.testing.assert_allclose(waves[inside], length, rtol=1e-5)
        counts = [sum(2 * math.pi * base ** (i / 64) > length for i in range(64)) for base in (1e4, 1e6)]
        text = built.scene.finding_at({"pair": 0, "compared": 1e4, "context": length, "beat": 3})
        assert f"{counts[0]} of 64" in text and f"and {counts[1]} with" in text
    dots = [(mark["x"][0], mark["y"][0]) for mark in marks_of(mapped, "dot") if mark["colour"] == "ink"]
    configs = ((1e8, 32_768), (1e7, 262_144), (1e6, 32_768), (5e5, 8192), (1e4, 4096))
    for (x, y), (base, length) in zip(dots, configs, strict=True):
        assert y == pytest.approx(math.log10(base)) and 2 * math.pi * base ** (x / 64) == pytest.approx(length)
    cells = marks_of(mapped, "heatmap")[0]["cells"]
    by_hand = np.floor(np.log10(2 * np.pi) + np.linspace(8.5, 3.5, 81)[:, None] * np.arange(64) / 64)
    assert np.unique(cells[by_hand == 4]).size == 1 and np.unique(cells).size == np.unique(by_hand).size


@pytest.mark.parametrize("position", [0, 2718, 1_000_000])
def test_base_ten_digits_are_the_written_ones(position: int) -> None:
    at = frequencies.position_stops(position)
    built: Film = unwrap(frequencies.position_digits_film)(8, 10_000.0, at, EN)
    assert {position, 0, 1_000_000} < set(at)
    digits, cos, sin = (shape["y"].keyframes for panel in built.scene.panels for shape in marks_of(panel, "dot"))
    for k, where in enumerate(at):
        assert digits[k].astype(int).tolist() == [int(digit) for digit in f"{where % 10_000:04d}"[::-1]]
        quotients = [where / 10**i for i in range(4)]
        np.testing.assert_allclose(cos[k], np.cos(quotients), atol=1e-9)
        np.testing.assert_allclose(sin[k], np.sin(quotients), atol=1e-9)
    assert "beta 10" in run(built.recipe_at({"position": 7})).replace("9.99", "10")


def own_digits(t: PageTexts) -> str:
    beta = 300.0 ** (2 / 8)
    own = [math.floor(77 / beta**m) % beta for m in range(4)]
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    return t("digits_finding", position="77", beta=f"{beta:.3g}", digits=shown, d=8)


ROWS = [Row("frequencies", spans.code_similarity_chart, (ROPE,))]
AT = {"compared": 700, "pair": 3, "context": 4096, "beat": 2}


def compared(t: PageTexts) -> str:
    return t("base_finding", base="700", count=3, pairs=8, own="50", before=0, times="3.74")


FILMS = [
    FilmRow(
        "frequencies", heat.frequency_film, (Rope(16, 50.0, 300), (0, 3, 7), (100.0, 700.0, 5e4), LENGTHS), AT, compared
    ),
    FilmRow(
        "frequencies",
        frequencies.position_digits_film,
        (8, 300.0, frequencies.position_stops(77)),
        {"position": 77},
        own_digits,
    ),
    FilmRow("frequencies", drawn.unfinished_pairs_sketch, (16, 500), {}, to_draw),
]
