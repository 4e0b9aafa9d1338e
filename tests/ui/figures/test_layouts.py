"""The layouts figures: their traces against the permutation written out, their sentences and recipes."""

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import layout_demo
from tests.support.figures import chart, ran
from ui.figures import layouts
from ui.page import models
from ui.text.words import LANGUAGES, Words

EN = Words("en", "layouts")


@pytest.mark.parametrize("width", [4, 8, 12])
def test_permutation_joins_each_dimension_to_its_seat(width: int) -> None:
    drawing = layouts.permutation(width, EN)
    order = [*range(0, width, 2), *range(1, width, 2)]
    lower, upper = chart(drawing).data[-2:]
    assert [int(text) for text in lower.text] == order
    assert [int(text) for text in upper.text] == list(range(width))
    lines = [trace for trace in chart(drawing).data if trace.line.dash == "dot"]
    joined = {(x[a], x[a + 1]) for trace in lines for x in [trace.x] for a in (0, 3)}
    assert joined == {(dim, order.index(dim)) for dim in range(width)}
    frames = chart(drawing).frames
    down = frames[layouts.STEPS].data[0]
    assert [int(x) for x in down.x] == [order.index(dim) for dim in range(width)]
    assert set(down.y) == {0.0}
    assert list(frames[0].data[0].x) == list(frames[-1].data[0].x) == list(range(width))
    assert ", ".join(map(str, order)) in drawing.finding
    assert str(order[1]) in ran(drawing)


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
    found = {name: layout_demo.layout_error(shapes, name, at, rope.theta) for name in layout_demo.CONVERSIONS}
    lines = {trace.name: trace for trace in chart(drawing).data}
    for name, error in found.items():
        np.testing.assert_allclose(lines[EN(name)].y, 100 * error.relative, atol=0.01)
    one = layouts.one_head(rope, 2, group, EN)
    original, both, none = (np.asarray(trace.y) for trace in chart(one).data)
    np.testing.assert_allclose(original, found["none"].right, atol=1e-4)
    np.testing.assert_allclose(both, original, atol=1e-4)
    np.testing.assert_allclose(none, found["none"].got, atol=1e-4)
    assert f"up to {found['none'].largest:.3g}" in one.finding
    assert ran(one).startswith("both")
    assert f"{100 * found['none'].relative[1]:.0f} % at distance 1" in drawing.finding
    assert "0.0 % wrong at distance 0" in drawing.finding
    if group == 1:
        assert "cannot be confused" in drawing.finding
    else:
        assert f"{100 * found['query_heads'].relative[0]:.0f} % wrong already at distance 0" in drawing.finding
    assert ran(drawing).count("\n") >= 4


def test_a_count_that_cannot_divide_is_said_and_not_drawn() -> None:
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


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_figure_speaks_both_languages(lang: str) -> None:
    t = Words(lang, "layouts")
    rope = rc.Rope(8)
    for drawing in (
        layouts.permutation(8, t),
        layouts.matrices(8, 3, 1e4, t),
        layouts.one_head(rope, 1, 2, t),
        layouts.errors(rope, 1, 2, t),
        layouts.key_rows(8, 1, 2, t),
    ):
        assert "{" not in drawing.finding
        assert all(len(np.ravel(column)) for column in drawing.table().values())


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
