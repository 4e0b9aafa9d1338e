"""The layouts figures: their traces against the permutation written out, their sentences and recipes."""

from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import layout_demo
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, to_draw
from ui.figures import catalogue as models
from ui.figures.drawing import Film
from ui.figures.layouts import drawn, seats, threads
from ui.figures.layouts import weights as layouts
from ui.film.scene import NumberTrack, Panel, text_at
from ui.text.words import LANGUAGES, Words

EN = Words("en", "layouts")


def panels(width: int, base: float, first: int) -> tuple[Panel, ...]:
    """Return the panels of the second beat."""
    film: Film = unwrap(seats.permutation)(rc.Rope(width, base), width, tuple(range(first, first + 9)), EN)
    return tuple(panel for panel in film.scene.panels if panel.first_beat == 2)


@pytest.mark.parametrize("dim, base", [(128, 1e4), (32, 700.0), (2, 3.0)])
def test_both_orders_have_the_same_arrows_and_the_wrong_code_those_of_matrices_in_its_order(
    dim: int, base: float
) -> None:
    """Each arrow against matrices on the written numbers' vector: in its order, and in the other's code."""
    drawn = threads.Drawn(rc.Rope(dim, base))
    film: Film = unwrap(seats.permutation)(rc.Rope(dim, base), 8, (0, 1), EN)
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
            tips = [m["length"].at(at)[0] * np.exp(1j * (np.pi / 2 - m["angle"].at(at)[0])) for m in arrows]
            np.testing.assert_allclose(np.divide(tips, 0.85 * threads.RADIUS), vectors[0::2] + 1j * vectors[1::2])
            score = f"{np.dot(*(right, wrong)[stop]):.2f}".replace("-", "−")
            finding_text = [text_at(m["content"], at) for m in panel.marks if m["kind"] == "text"]
            assert any(score in text for text in finding_text)
            assert f" {score}" in film.scene.finding_at({"given": stop, "position": 0, "beat": 1})


def test_threads_join_what_the_code_turns() -> None:
    picture = unwrap(seats.permutation)(ROPE, 8, (0, 1), EN).scene.panels[0]
    curves = [mark for mark in picture.marks if mark["kind"] == "line" and len(mark["x"]) > 3]
    ends = {stop: set[tuple[int, int, str]]() for stop in (0, 1)}
    for stop, seen in ends.items():
        for curve in curves:
            y = curve["y"].at({"given": stop}) if isinstance(curve["y"], NumberTrack) else curve["y"]
            if np.isfinite(y).all():
                seen.add((int(curve["x"][0]), int(curve["x"][-1]) // 2, curve["colour"]))
    own = {(place, place // 2, threads.COLOURS[place // 2]) for place in range(8)}
    halves = {(place, place % 4, threads.COLOURS[place % 4]) for place in range(8)}
    strangers = {(place, place // 2, threads.COLOURS[place % 4]) for place in range(8)}
    assert ends == {0: own | halves, 1: own | strangers}


def test_wrong_partners_are_joined_as_half_split_code_pairs_them() -> None:
    shapes = panels(8, 1e4, 3)[0].marks
    ends = [(shape["x"][0], shape["x"][-1]) for shape in shapes if shape["kind"] == "line"]
    np.testing.assert_allclose(ends, [(0, 4), (1, 5), (2, 6), (3, 7)])


@pytest.mark.parametrize(("width", "base", "first"), [(4, 100.0, 0), (8, 10_000.0, 1), (12, 1.5, 4000)])
def test_arrows_are_the_pairs_turned_by_hand_rightly_and_in_the_wrong_order(
    width: int, base: float, first: int
) -> None:
    """Each pair turned as a complex number from position 0; wrongly: number i with number i + d/2."""
    start, dials = panels(width, base, 0)[1:], panels(width, base, first)[1:]
    tips = [dial.marks[-1] for dial in start]
    z = np.array([tip["length"].keyframes[0, 0] * np.exp(1j * tip["angle"].keyframes[0, 0]) for tip in tips])
    np.testing.assert_allclose(np.abs(z), 1.0)
    x = np.stack([z.real, z.imag], axis=1).ravel()
    halves = x[: width // 2] + 1j * x[width // 2 :]
    theta = np.array([base ** (-2 * i / width) for i in range(width // 2)])
    for k in range(9):
        right, wrong = (pairs * np.exp(1j * (first + k) * theta) for pairs in (z, halves))
        numbers = np.concatenate([wrong.real, wrong.imag])
        misread = numbers[0::2] + 1j * numbers[1::2]
        for pair, dial in enumerate(dials):
            for shape, by_hand in ((dial.marks[-1], right[pair]), (dial.marks[1], misread[pair])):
                drawn = shape["length"].keyframes[k, 0] * np.exp(1j * shape["angle"].keyframes[k, 0])
                assert drawn == pytest.approx(by_hand, abs=1e-9)


def test_entries_name_the_blocks_and_the_two_diagonals() -> None:
    owner, names = layouts.entries(4, "interleaved", 1)
    assert names == [["c₁", "−s₁", "", ""], ["s₁", "c₁", "", ""], ["", "", "c₂", "−s₂"], ["", "", "s₂", "c₂"]]
    assert np.nansum(owner) == 4
    _, half = layouts.entries(4, "half", 0)
    assert half == [["c₀", "", "−s₀", ""], ["", "c₁", "", "−s₁"], ["s₀", "", "c₀", ""], ["", "s₁", "", "c₁"]]


@pytest.mark.parametrize(("width", "position", "base"), [(4, 1, 100.0), (8, 3, 10_000.0), (12, 4095, 1.0001)])
def test_matrices_show_the_three_matrices(width: int, position: int, base: float) -> None:
    drawing = layouts.matrices(width, position, base, EN)
    theta = rc.Rope(width, base).theta
    for trace, layout in zip(chart(drawing).data, ("interleaved", "interleaved", "half"), strict=True):
        want = rc.rotation_matrix(position, theta, layout)
        np.testing.assert_allclose(np.asarray(trace.customdata), want, atol=1e-6)
        for row, names in enumerate(trace.text):
            for column, name in enumerate(names):
                assert bool(name) == (not np.isnan(trace.z[row][column]))
                if name:
                    pair = int(trace.z[row][column])
                    angle = position * theta[pair]
                    value = {"c": np.cos(angle), "s": np.sin(angle), "−": -np.sin(angle)}[name[0]]
                    assert want[row, column] == pytest.approx(value)
    assert chart(drawing).data[0].x[0] == 1
    assert chart(drawing).data[2].x[0] == 0
    assert f"position {position}" in drawing.finding


@pytest.mark.parametrize("group", [1, 2, 4])
def test_errors_draw_every_conversion_and_say_the_numbers(group: int) -> None:
    rope = rc.Rope(32, 5000.0)
    drawing = layouts.errors(rope, 2, group, EN)
    shapes = layout_demo.Shapes(32, 2, group)
    at = np.arange(layouts.DISTANCES)
    result = {name: layout_demo.layout_error(shapes, name, at, rope.theta) for name in layout_demo.CONVERSIONS}
    assert f"{100 * result['none'].relative[1]:.0f} % at distance 1" in drawing.finding
    assert "0.0 % wrong at distance 0" in drawing.finding
    if group == 1:
        assert "cannot be confused" in drawing.finding
    else:
        assert f"{100 * result['query_heads'].relative[0]:.0f} % wrong already at distance 0" in drawing.finding


def test_a_count_that_cannot_divide_is_named_and_not_drawn() -> None:
    rope = rc.Rope(2)
    drawing = layouts.errors(rope, 2, 4, EN)
    assert "impossible" in drawing.finding
    assert EN("query_heads") not in {trace.name for trace in chart(drawing).data}


@pytest.mark.parametrize(
    ("model", "layout"),
    [("llama-2-7b", "half"), ("gpt-j-6b", "interleaved"), ("gemma-3-4b", "half"), ("glm-4.5", "half")],
)
def test_the_model_menu_knows_the_layout(model: str, layout: str) -> None:
    assert models.layout(model) == layout
    for lang in LANGUAGES:
        assert Words(lang, "layouts")(f"of_model.{layout}", name="N").startswith("**N**")


def test_the_families_named_on_the_page_have_that_layout() -> None:
    def layout_of(model: str) -> str:
        return rc.from_hf({"model_type": model, "hidden_size": 4096, "num_attention_heads": 32}).layout

    for model in ("cohere", "glm", "glm4", "ernie4_5", "helium", "deepseek_v2", "deepseek_v3", "glm4_moe_lite"):
        assert layout_of(model) == "interleaved", model
    for model in ("llama", "mistral", "mixtral", "qwen2", "gemma", "phi", "falcon", "olmo", "stablelm", "glm4_moe"):
        assert layout_of(model) == "half", model


HEADS = (ROPE, 2, 2)
ROWS = [
    Row("layouts", layouts.matrices, (6, 5, 77.0)),
    Row("layouts", layouts.errors, HEADS),
]


def misread(t: Words) -> str:
    """Return the finding at position 9: how far numbers are off that turn with another partner, all angles by hand."""
    angles = 9 * 77.0 ** (-2 * np.arange(5) / 10)
    x = layout_demo.two_orders(rc.Rope(10, 77.0).theta, [0]).interleaved[0]
    right = (x[0::2] + 1j * x[1::2]) * np.exp(1j * angles)
    wrong = (x[:5] + 1j * x[5:]) * np.exp(1j * angles)
    got = np.concatenate([wrong.real, wrong.imag])
    off = np.linalg.norm(got - np.stack([right.real, right.imag], axis=1).ravel()) / np.linalg.norm(x)
    return t("misread_finding", m="9", off=f"{100 * off:.0f}")


FILMS = [
    FilmRow(
        "layouts",
        seats.permutation,
        (rc.Rope(10, 77.0), 10, tuple(range(65))),
        {"given": 1, "position": 9, "beat": 2},
        misread,
    ),
    FilmRow("layouts", drawn.wrong, (77.0,), {}, to_draw),
]
