"""The layouts figures: their traces against the permutation written out, their sentences and recipes."""

from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from rope_core.theory import layout_demo
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, texts_at, to_draw
from ui.figures import catalogue as models
from ui.figures.drawing import Film
from ui.figures.layouts import drawn, mended, threads
from ui.figures.layouts import weights as layouts
from ui.film.scene import NumberTrack
from ui.text.words import PageTexts

EN = PageTexts("en", "layouts")


@pytest.mark.parametrize("dim, base", [(128, 1e4), (32, 700.0), (2, 3.0)])
def test_both_orders_have_the_same_arrows_and_the_wrong_code_those_of_matrices_in_its_order(
    dim: int, base: float
) -> None:
    """Each arrow against matrices on the written numbers' vector: in its order, and in the other's code."""
    drawn = threads.LayoutVectors(rc.Rope(dim, base))
    film: Film = unwrap(threads.layout_permutation_film)(rc.Rope(dim, base), EN)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    right, wrong = [], []
    for word, place in ((drawn.query, threads.QUERY_POSITION), (drawn.key, threads.KEY_POSITION)):
        paper, half = (rc.rotation_matrix(place, drawn.theta, layout) for layout in ("interleaved", "half"))
        x = word.interleaved[0]
        np.testing.assert_allclose((paper @ x)[order], half @ x[order], atol=1e-12)
        right.append(paper @ x)
        wrong.append(paper @ x[order])
    for panel in film.scene.panels[:2]:
        arrows = [m for m in panel.marks if m["kind"] == "vector" and isinstance(m["angle"], NumberTrack)]
        for stop, vectors in ((0, right[0]), (1, wrong[0])):
            at = {"given": stop}
            tips = [
                m["length"].numbers_at(at)[0] * np.exp(1j * (np.pi / 2 - m["angle"].numbers_at(at)[0])) for m in arrows
            ]
            np.testing.assert_allclose(np.divide(tips, 0.85 * threads.RADIUS), vectors[0::2] + 1j * vectors[1::2])
            score = f"{np.dot(*(right, wrong)[stop]):.2f}".replace("-", "−")
            finding_text = texts_at(panel.marks, at)
            assert any(score in text for text in finding_text)
            assert f" {score}" in film.scene.finding_at({"given": stop, "mended": 0, "beat": 1})
    thin = [m for m in film.scene.panels[0].marks if m["kind"] == "vector" and not isinstance(m["angle"], NumberTrack)]
    before = [m for m in thin if isinstance(m["x"], NumberTrack) and "stroke_dash" not in m and np.ndim(m["y"]) == 0]
    tips = [m["length"] * np.exp(1j * (np.pi / 2 - m["angle"])) for m in before]
    numbers = drawn.query.interleaved[0]
    np.testing.assert_allclose(np.divide(tips, 0.85 * threads.RADIUS), numbers[0::2] + 1j * numbers[1::2])
    assert all(np.isnan(m["x"].numbers_at({"given": 1})[0]) for m in before)


def test_threads_join_what_the_code_turns() -> None:
    picture = unwrap(threads.layout_permutation_film)(ROPE, EN).scene.panels[0]
    curves = [mark for mark in picture.marks if mark["kind"] == "line" and len(mark["x"]) > 3]
    ends = {stop: set[tuple[int, int, str]]() for stop in (0, 1)}
    for stop, seen in ends.items():
        for curve in curves:
            y = curve["y"].numbers_at({"given": stop}) if isinstance(curve["y"], NumberTrack) else curve["y"]
            if np.isfinite(y).all():
                seen.add((int(curve["x"][0]), int(curve["x"][-1]) // 2, curve["colour"]))
    own = {(place, place // 2, mended.COLOURS[place // 2]) for place in range(8)}
    halves = {(place, place % 4, mended.COLOURS[place % 4]) for place in range(8)}
    strangers = {(place, place // 2, mended.COLOURS[place % 4]) for place in range(8)}
    assert ends == {0: own | halves, 1: own | strangers}


@pytest.mark.parametrize("base", [77.0, 10_000.0])
def test_the_permutation_makes_one_matrix_the_other(base: float) -> None:
    """Against the two layouts written out pair by pair, and scores of drawn vectors for the error."""
    theta = threads.LayoutVectors(rc.Rope(128, base)).theta
    product, rng = mended.LayoutMatrices(theta), np.random.default_rng(7)
    neighbours, halves = (np.zeros((8, 8)) for _ in range(2))
    for i, angle in enumerate(4 * theta):
        c, s = np.cos(angle), np.sin(angle)
        neighbours[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
        halves[i, i], halves[i, i + 4], halves[i + 4, i], halves[i + 4, i + 4] = c, -s, s, c
    np.testing.assert_allclose(product.turn, neighbours)
    np.testing.assert_allclose(product.permutation @ neighbours @ product.permutation.T, halves, atol=1e-12)
    q, k = rng.standard_normal((2, 200_000, 8))
    wrong, right = (np.einsum("ni,ij,nj->n", k, matrix, q) for matrix in (neighbours - halves, halves))
    assert product.errors[4] == pytest.approx(np.sqrt((wrong**2).mean() / (right**2).mean()), rel=0.01)
    assert product.errors[0] == 0 and product.difference == 0
    film: Film = unwrap(threads.layout_permutation_film)(rc.Rope(128, base), EN)
    (picture,) = (panel for panel in film.scene.panels if panel.first_beat == 2 and panel.screen == "wide")
    letters = [mark["content"] for mark in picture.marks if mark.get("content") in ("c", "s", "−s")]
    assert (letters.count("c"), letters.count("s"), letters.count("−s")) == (16, 8, 8)
    (grip,) = (mark for mark in picture.marks if mark["kind"] == "drag_handle")
    ones = [mark for mark in grip["grab_marks"] if mark.get("content") == "1"]
    at = [(int(mark["x"].numbers_at({"mended": 1})[0]), int(-mark["y"])) for mark in ones]
    assert sorted(at) == sorted((int(j), int(i)) for i, j in np.argwhere(product.permutation))


@pytest.mark.parametrize("group", [1, 2, 4])
def test_errors_draw_every_conversion_and_say_the_numbers(group: int) -> None:
    rope = rc.Rope(32, 5000.0)
    drawing = layouts.conversion_error_chart(rope, 2, group, EN)
    shapes = layout_demo.HeadShapes(32, 2, group)
    at = np.arange(layouts.DISTANCES)
    result = {name: layout_demo.conversion_scores(shapes, name, at, rope.theta) for name in layout_demo.CONVERSIONS}
    assert f"{100 * result['none'].relative[1]:.0f} % at distance 1" in drawing.finding
    assert "0.0 % wrong at distance 0" in drawing.finding
    if group == 1:
        assert "cannot be confused" in drawing.finding
    else:
        assert f"{100 * result['query_heads'].relative[0]:.0f} % wrong already at distance 0" in drawing.finding


def test_a_count_that_cannot_divide_is_named_and_not_drawn() -> None:
    rope = rc.Rope(2)
    drawing = layouts.conversion_error_chart(rope, 2, 4, EN)
    assert "impossible" in drawing.finding
    assert EN("query_heads") not in {trace.name for trace in chart(drawing).data}


@pytest.mark.parametrize(
    ("model", "layout"),
    [("llama-2-7b", "half"), ("gpt-j-6b", "interleaved"), ("gemma-3-4b", "half"), ("glm-4.5", "half")],
)
def test_the_model_menu_knows_the_layout(model: str, layout: str) -> None:
    assert models.model_layout(model) == layout
    for lang in LANGUAGES:
        assert PageTexts(lang, "layouts")(f"of_model.{layout}", name="N").startswith("**N**")


def test_the_families_named_on_the_page_have_that_layout() -> None:
    def layout_of(model: str) -> str:
        return rc.from_hf({"model_type": model, "hidden_size": 4096, "num_attention_heads": 32}).layout

    for model in ("cohere", "glm", "glm4", "ernie4_5", "helium", "deepseek_v2", "deepseek_v3", "glm4_moe_lite"):
        assert layout_of(model) == "interleaved", model
    for model in ("llama", "mistral", "mixtral", "qwen2", "gemma", "phi", "falcon", "olmo", "stablelm", "glm4_moe"):
        assert layout_of(model) == "half", model


HEADS = (ROPE, 2, 2)
ROWS = [Row("layouts", layouts.conversion_error_chart, HEADS)]


def mixed(t: PageTexts) -> str:
    rope = rc.Rope(10, 77.0)
    error = mended.LayoutMatrices(threads.LayoutVectors(rope).theta).errors[4]
    return t("unmended_finding", error=f"{100 * error:.0f}", words=4)


FILMS = [
    FilmRow(
        "layouts", threads.layout_permutation_film, (rc.Rope(10, 77.0),), {"given": 1, "mended": 0, "beat": 2}, mixed
    ),
    FilmRow("layouts", drawn.layout_error_sketch, (77.0,), {}, to_draw),
]
