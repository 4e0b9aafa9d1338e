"""The layouts figures: their traces against the permutation written out, their sentences and recipes."""

from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import layout_demo
from tests.support.figures import chart, ran
from ui.figures import catalogue as models
from ui.figures.drawing import Film
from ui.figures.layouts import seats
from ui.figures.layouts import weights as layouts
from ui.film.scene import Panel, Shape, Track
from ui.text.words import LANGUAGES, Words

EN = Words("en", "layouts")


STEPS = seats.STEPS


def by_kind(width: int, base: float, first: int) -> tuple[Panel, dict[str, list[Shape]]]:
    film: Film = unwrap(seats.permutation)(width, base, tuple(range(first, first + 9)), EN)
    (panel,) = film.scene.panels
    kinds = {shape["kind"] for shape in panel.shapes}
    return panel, {kind: [shape for shape in panel.shapes if shape["kind"] == kind] for kind in kinds}


@pytest.mark.parametrize("width", [4, 8, 12])
def test_every_dimension_goes_from_its_number_to_its_seat(width: int) -> None:
    half = width // 2
    _, shapes = by_kind(width, 1e4, 3)
    upper, lower = shapes["dots"]
    goal = [dim // 2 + (dim % 2) * half for dim in range(width)]
    rest, gone = ({"order": step, "position": 0} for step in (0, STEPS))
    for row in (upper, lower):
        assert row["x"].at(rest).tolist() == list(range(width))
        # Partners have one colour, which no other pair has.
        assert [row["colour"].index(colour) for colour in row["colour"]] == [dim // 2 * 2 for dim in range(width)]
    assert upper["x"].at(gone).tolist() == list(range(width))
    np.testing.assert_allclose(lower["x"].at(gone), goal)
    for step in range(STEPS):
        before, after = (lower["x"].frames[k] for k in (step, step + 1))
        way = np.array(goal) - np.arange(width)
        np.testing.assert_allclose((after - before)[way == 0], 0, atol=1e-12)
        assert ((after - before)[way != 0] * way[way != 0] > 0).all()
    lines_of = [shape["x"] for shape in shapes["path"] if shape["dash"]]
    arcs = [s["x"] for s in shapes["path"] if isinstance(s["x"], Track) and s["x"].frames.shape[1] == 17][half:]
    assert len(lines_of) == len(arcs) == half
    for step in range(STEPS + 1):
        at = lower["x"].frames[step]
        np.testing.assert_allclose([arc.frames[step][[0, -1]] for arc in arcs], at.reshape(-1, 2))
        lines = np.concatenate([line.frames[step] for line in lines_of]).reshape(-1, 3)
        np.testing.assert_allclose(lines[:, :2], np.stack([np.arange(width), at], axis=1))
        numbers = [float(label["x"].frames[step][0]) for label in shapes["label"] if label["text"] in NUMBERS]
        np.testing.assert_allclose(numbers, [*range(width), *at])
        assert shapes["handle"][0]["x"].frames[step] == at[1]
    assert [label["text"] for label in shapes["label"] if label["text"] in NUMBERS] == [*map(str, range(width))] * 2


NUMBERS = tuple(map(str, range(12)))


@pytest.mark.parametrize(("width", "base", "first"), [(4, 100.0, 0), (8, 10_000.0, 1), (12, 1.5, 4000)])
def test_bars_are_the_rotated_vector_in_both_rows(width: int, base: float, first: int) -> None:
    """Each pair turned by hand as a complex number, from its values at position 0."""
    _, start = by_kind(width, base, 0)
    _, shapes = by_kind(width, base, first)
    for row in (2, 5):
        y0 = start["boxes"][row]["y0"]
        bars = start["boxes"][row]["y1"].frames[0] - y0
        pairs = bars[0::2] + 1j * bars[1::2]
        np.testing.assert_allclose(np.abs(pairs), 1.0)
        for k in range(9):
            turned = pairs * np.exp(1j * (first + k) * np.array([base ** (-2 * i / width) for i in range(width // 2)]))
            by_hand = np.stack([turned.real, turned.imag], axis=1).ravel()
            np.testing.assert_allclose(shapes["boxes"][row]["y1"].frames[k] - y0, by_hand, atol=1e-9)


def test_the_finding_says_the_seat_and_the_difference() -> None:
    film = unwrap(seats.permutation)(10, 500.0, tuple(range(70, 80)), EN)
    sentence = film.scene.written({"order": 20, "position": 77})
    assert "Position 77" in sentence and "5 pairs" in sentence and "seat 5" in sentence and "difference 0;" in sentence
    assert "0.0" in ran(film).splitlines()[-1]


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
    assert ran(drawing)


@pytest.mark.parametrize("group", [1, 2, 4])
def test_errors_draw_every_conversion_and_say_the_numbers(group: int) -> None:
    rope = rc.Rope(32, 5000.0)
    drawing = layouts.errors(rope, 2, group, EN)
    shapes = layout_demo.Shapes(32, 2, group)
    at = np.arange(layouts.DISTANCES)
    result = {name: layout_demo.layout_error(shapes, name, at, rope.theta) for name in layout_demo.CONVERSIONS}
    lines = {trace.name: trace for trace in chart(drawing).data}
    for name, error in result.items():
        np.testing.assert_allclose(lines[EN(name)].y, 100 * error.relative, atol=0.01)
    single = layouts.one_head(rope, 2, group, EN)
    original, both, none = (np.asarray(trace.y) for trace in chart(single).data)
    np.testing.assert_allclose(original, result["none"].right, atol=1e-4)
    np.testing.assert_allclose(both, original, atol=1e-4)
    np.testing.assert_allclose(none, result["none"].got, atol=1e-4)
    assert f"up to {result['none'].largest:.3g}" in single.finding
    assert ran(single).startswith("both")
    assert f"{100 * result['none'].relative[1]:.0f} % at distance 1" in drawing.finding
    assert "0.0 % wrong at distance 0" in drawing.finding
    if group == 1:
        assert "cannot be confused" in drawing.finding
    else:
        assert f"{100 * result['query_heads'].relative[0]:.0f} % wrong already at distance 0" in drawing.finding
    assert ran(drawing).count("\n") >= 4


def test_a_count_that_cannot_divide_is_named_and_not_drawn() -> None:
    rope = rc.Rope(2)
    drawing = layouts.errors(rope, 2, 4, EN)
    assert "impossible" in drawing.finding
    assert EN("query_heads") not in {trace.name for trace in chart(drawing).data}
    rows = layouts.key_rows(2, 2, 4, EN)
    assert len(chart(rows).data) == 1
    assert "stops with an error" in rows.finding


def test_key_rows_count_the_misplaced() -> None:
    drawing = layouts.key_rows(16, 2, 4, EN)
    right, wrong = (np.asarray(trace.y) for trace in chart(drawing).data)
    assert right[:16].tolist() == [*range(0, 16, 2), *range(1, 16, 2)]
    assert wrong[:8].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert f"{np.count_nonzero(right != wrong)} of 32" in drawing.finding
    assert ran(drawing)


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
