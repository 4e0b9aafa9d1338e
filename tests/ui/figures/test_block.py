"""The block page's figures against torch's layers and autograd, numpy by hand and the catalogue."""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from inspect import unwrap
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.hf import catalogue
from rope_core.rotation import rotation_matrix
from rope_core.theory import block
from rope_core.theory.block import demo
from rope_core.theory.block.choices import PLACES, UNITS, Choices, choices_of, usual
from tests.support.figures import ROPE, chart
from tests.support.films import numbers, unpacked
from ui.figures.block import diagram as figures
from ui.figures.block import norm as block_norm
from ui.figures.block import rotary as block_rope
from ui.figures.block import unit as block_unit
from ui.figures.block import way
from ui.figures.drawing import Drawing, Film
from ui.text.words import Words

T = Words("en", "block")


def test_rows_are_read_with_their_corrections() -> None:
    built = {row.id: choices_of(row) for row in catalogue.architectures()}
    assert built["gpt-2"] == Choices("LayerNorm", "pre", False, "gelu", False)
    assert built["bloom"] == Choices("LayerNorm", "pre", False, "gelu", False)
    assert built["mixtral"] == Choices("RMSNorm", "pre", False, "swiglu", True)
    assert built["olmo-2"] == Choices("RMSNorm", "inner", False, "swiglu", True)
    assert built["gemma-3"] == Choices("RMSNorm", "double", False, "geglu", True)
    assert built["command-r-plus"] == Choices("LayerNorm", "pre", True, "swiglu", True)
    assert built["transformer"] == Choices("LayerNorm", "post", False, "relu", False)
    assert built["gpt-4"] is None
    counted = Counter(choice for choice in built.values() if choice)
    choices, rows, readable = usual()
    assert (counted[choices], sum(counted.values())) == (rows, readable) and rows == max(counted.values())


def test_the_row_follows_the_model_unless_another_is_wanted() -> None:
    for model in catalogue.models():
        row = figures.row_of(model.id, "model")
        assert (row.id if row else "") == model.architecture
    wanted = figures.row_of("llama-2-7b", "bloom")
    assert wanted is not None and wanted.id == "bloom"
    assert figures.row_of("custom", "model") is None
    cells = figures.cells(wanted, T)
    assert cells["printed in 004"][3] == "Parallel" and cells["corrected"][3] == "≠ Serial"
    assert cells["corrected"][2] == "="
    text = figures.corrections(wanted, T)
    assert len(text) == len(wanted.corrections) and "“Parallel”" in text[0] and "“Serial” ([source](https://" in text[0]
    assert all(not each.verified for each in catalogue.architecture("gopher").corrections)
    assert "not yet checked" in figures.corrections(catalogue.architecture("gopher"), T)[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_row_is_worded_in_both_languages(lang: str) -> None:
    t = Words(lang, "block")
    for row in catalogue.architectures():
        columns = figures.cells(row, t)
        printed, corrected = columns[t("col.printed")], columns[t("col.corrected")]
        assert len(printed) == len(corrected) == 8 and all(printed) and all(corrected)
        assert sum(cell != "=" for cell in corrected) == len(row.corrections) == len(figures.corrections(row, t))


def title(film: Film) -> str:
    return str(unpacked(film.packed(T).data)[1]["panels"][1]["title"])


def order(drawing: Film) -> list[str]:
    table = drawing.table()
    pairs = sorted(zip(np.asarray(table["row"]).tolist(), np.asarray(table["part"]).tolist(), strict=True))
    return [part for _, part in pairs]


NORM, FEED = "norm (LayerNorm)", "feed-forward (GELU)"


@pytest.mark.parametrize(
    ("place", "feed"),
    [
        ("pre", ["+", NORM, FEED, "+"]),
        ("post", ["+", NORM, FEED, "+", NORM]),
        ("double", [NORM, "+", NORM, FEED, NORM, "+"]),
        ("inner", [NORM, "+", FEED, NORM, "+"]),
    ],
)
def test_the_norms_stand_where_the_formula_says(place: str, feed: list[str]) -> None:
    built = Choices("LayerNorm", place, False, "gelu", True)
    drawing = figures.diagram("mine", built, built, ROPE, T)
    parts = order(drawing)
    assert parts[0] == T("box.input") and parts[-len(feed) :] == feed
    assert (parts[1] == NORM) == (place in ("pre", "double"))
    rows = dict(
        zip(np.asarray(drawing.table()["part"]).tolist(), np.asarray(drawing.table()["row"]).tolist(), strict=True)
    )
    assert rows["q"] + 1 == rows["k"] + 1 == rows["RoPE"] < rows[T("box.cache")]
    assert parts.count("RoPE") == 2


def pointing(shape: dict[str, Any], held: bytes, index: dict[str, int]) -> np.ndarray:
    """Return where arrows point, as complex numbers of length 1."""
    return np.asarray(np.exp(1j * numbers(shape["angle"], held, index)))


def test_a_word_turns_its_query_and_key_and_what_is_cached_stays() -> None:
    rope, built = rc.Rope(18, 50.0, 64), usual()[0]
    _, head, held = unpacked(figures.diagram("X", built, built, rope, T).packed(T).data)
    shapes = head["panels"][0]["shapes"]
    vectors = np.random.default_rng(0).standard_normal((3, way.TOKENS, 2))
    theta = [50.0 ** (-2 * 1 / 18)]

    def exact(name: str, token: int, position: int) -> complex:
        x = vectors["qkv".index(name), token]
        x = x if name == "v" else rc.rotation_matrix(position, theta, "interleaved") @ x
        return complex(*x) / abs(complex(*x))

    word, query = (shape["of"] for shape in shapes if shape["kind"] == "handle")
    for position in (0, 1, 17, way.LAST):
        for arrow in (part for part in word if part["kind"] == "hands"):
            at = pointing(arrow, held, {"token": position})[0]
            assert at == pytest.approx(exact(arrow["symbol"], way.WORD, position), abs=1e-5)
    for k in (0, 3, way.LATER - 1):
        at = pointing(query[-1], held, {"later": k})[0]
        assert at == pytest.approx(exact("q", 0, way.TOKENS + k), abs=1e-5)
    # The cache depends on no control: each key is turned by its own position, each value is as it was.
    cached = [shape for shape in shapes if shape["kind"] == "hands" and shape.get("since") == 2]
    assert [shape["symbol"] for shape in cached] == ["k", "v"]
    for shape in cached:
        assert shape["angle"]["by"] == []
        kept = [exact(shape["symbol"], token, token) for token in range(way.TOKENS)]
        np.testing.assert_allclose(pointing(shape, held, {}), kept, atol=1e-5)


def test_the_output_turns_with_the_text_where_v_does() -> None:
    rope = rc.Rope(32, 10_000.0, 64)
    theta = 10_000.0 ** (-2 * 2 / 32)
    film = figures.diagram("X", None, usual()[0], rope, T)
    still, goes = way.turns(rope)
    assert np.ptp(still) < 1e-9
    np.testing.assert_allclose(np.diff(goes), theta, atol=1e-9)
    written_text = film.scene.written({"token": 0, "later": 1, "moved": 12, "beat": 3})
    assert f"turned by 0°, with v turned too by {math.degrees(12 * theta):.0f}°" in written_text
    # Both arrows start at the top, and the picture turns as the sentence says.
    dial = unwrap(figures.diagram)("X", None, usual()[0], rope, T).scene.panels[2].shapes
    at = [shape["angle"].frames[12, 0] for shape in dial if "angle" in shape]
    assert np.subtract(at, np.pi / 2) == pytest.approx([0, 12 * theta], abs=1e-9)
    assert f"made {(way.TOKENS + 6) * theta / (2 * math.pi):.3g} turns" in film.scene.written(
        {"token": 0, "later": 7, "moved": 0, "beat": 2}
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("unit", UNITS[:2])
def test_every_part_of_the_block_is_reached_by_an_arrow(place: str, parallel: bool, unit: str) -> None:
    built = Choices("RMSNorm", place, parallel, unit, True)
    film = figures.diagram("X", None, built, ROPE, T)
    shapes = unpacked(film.packed(T).data)[1]["panels"][1]["shapes"]
    arrows = [shape for shape in shapes if shape["kind"] == "path" and shape["fill"] != "none"]
    parts = len(np.asarray(film.table()["part"]))
    assert len(arrows) >= parts - 1, "all but the input"


def test_switches_change_the_drawing_and_say_so() -> None:
    row = catalogue.architecture("bloom")
    shown = choices_of(row)
    assert figures.chosen(row, "row", "row", "row", "row") == shown
    built = figures.chosen(row, "RMSNorm", "post", "parallel", "relu2")
    assert built == Choices("RMSNorm", "post", True, "relu2", False)
    drawing = figures.diagram("BLOOM", shown, built, ROPE, T)
    assert "with your changes" in title(drawing)
    assert order(drawing).count("+") == 1 and "RoPE" not in order(drawing)
    assert figures.chosen(None, "row", "row", "row", "row") == usual()[0]
    assert "leaves open" in title(figures.diagram("X", None, usual()[0], ROPE, T))


@pytest.mark.parametrize("mean, size", [(2.0, 1.0), (-5.0, 0.25), (0.0, 4.0)])
def test_norms_are_torchs(mean: float, size: float) -> None:
    drawing = block_norm.norms(mean, size, T)
    x = torch.tensor(np.asarray(chart(drawing).data[0].y))
    for trace, theirs in (
        (1, torch.nn.functional.layer_norm(x, (12,), eps=1e-6)),
        (2, torch.nn.functional.rms_norm(x, (12,), eps=1e-6)),
    ):
        np.testing.assert_allclose(chart(drawing).data[trace].y, theirs.numpy(), atol=1e-12)
    assert f"mean {float(x.mean()):.3g}" in drawing.finding


def test_cost_counts_what_the_norms_do() -> None:
    apart, fused = block_norm.cost(False, T), block_norm.cost(True, T)
    assert list(chart(apart).data[0].x) == [3, 1, 2, 8, 2] and list(chart(apart).data[1].x) == [2, 1, 1, 4, 1]
    assert "4 times over memory, RMSNorm 3" in apart.finding and "2 times over memory and RMSNorm 2" in fused.finding


TorchFunction = Callable[[torch.Tensor], torch.Tensor]
TORCH: dict[str, TorchFunction] = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "relu2": lambda x: torch.relu(x) ** 2,
    "sigmoid": torch.sigmoid,
}


def test_stack_draws_the_mean_of_two_stacks_gradients() -> None:
    drawing = block_norm.stack("post", 4, 9, T)
    for trace, place in zip(chart(drawing).data, block.ARRANGEMENTS, strict=True):
        expected = np.mean([block.gradient_norms(place, 4, 32, 16, 1, seed) for seed in (9, 10)], axis=0)
        np.testing.assert_allclose(trace.y, expected, rtol=1e-8)
        assert f"{expected[0] / expected[-1]:.2f}" in drawing.finding
    assert chart(drawing).data[1].line.width > chart(drawing).data[0].line.width


def test_parallel_differs_to_first_order() -> None:
    drawing = block_norm.parallel(0.5, T)
    slope = float(drawing.finding.partition("power ")[2].split()[0])
    assert slope == pytest.approx(1, abs=0.01)
    layer = block.draw_layers(1, 32, 128, 0)[0]
    x = np.random.default_rng([0, 1]).standard_normal((16, 32))
    a = 0.5 * block.attend(block.layer_norm(x), layer)
    feeds = [0.5 * block.feed(block.layer_norm(u), layer) for u in (x, x + a)]
    expected = np.linalg.norm(feeds[0] - feeds[1]) / np.linalg.norm(a + feeds[1])
    assert chart(drawing).data[1].y[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", block_unit.CURVES)
def test_activations_are_torchs_with_their_derivatives(name: str) -> None:
    drawing = block_unit.activations(name, 1.35, T)
    z = torch.tensor(np.asarray(chart(drawing).data[0].x), requires_grad=True)
    of = TORCH[name]
    values = of(z)
    torch.autograd.backward(values.sum())
    assert z.grad is not None
    at = block_unit.CURVES.index(name)
    np.testing.assert_allclose(chart(drawing).data[2 * at].y, values.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(chart(drawing).data[2 * at + 1].y, z.grad.numpy(), atol=1e-12)
    assert f"lowest value drawn is {float(values.detach().min()):.3g}" in drawing.finding
    assert f"value {float(of(torch.tensor(1.35, dtype=torch.float64))):.3g}" in drawing.finding


def test_gates_let_through_what_torch_computes() -> None:
    drawing = block_unit.gates("geglu", -1.5, T)
    z = torch.tensor(np.asarray(chart(drawing).data[0].x))
    for trace, gate in zip(chart(drawing).data, ("sigmoid", "relu", "gelu", "silu"), strict=True):
        np.testing.assert_allclose(trace.y, (-1.5 * TORCH[gate](z)).numpy(), atol=1e-12)
    single = float(-1.5 * torch.nn.functional.gelu(torch.ones(1, dtype=torch.float64)))
    assert f"lets {single:.3g} of" in drawing.finding and "about 10,923" in drawing.finding


def test_z_loss_alone_sees_a_common_shift() -> None:
    drawing = block_unit.z_loss(20.0, 1e-3, T)
    logits = torch.tensor(np.random.default_rng(0).standard_normal(32)) + 20
    entropy = float(torch.nn.functional.cross_entropy(logits[None], torch.tensor([0])))
    extra = 1e-3 * float(torch.logsumexp(logits, 0)) ** 2
    assert chart(drawing).data[2].y[0] == pytest.approx(entropy + extra, rel=1e-12)
    assert f"at 20 is {extra:.3g}" in drawing.finding
    assert np.ptp(np.asarray(chart(drawing).data[0].y)) < 1e-12


def test_cap_and_its_gradient() -> None:
    drawing = block_unit.capped(30.0, -45.0, T)
    assert chart(drawing).data[-2].y[0] == pytest.approx(-30 * math.tanh(1.5))
    assert chart(drawing).data[-1].y[0] == pytest.approx(1 / math.cosh(1.5) ** 2)
    assert f"{-30 * math.tanh(1.5):.3g}" in drawing.finding


def test_qk_norm_bounds_what_grows_with_the_square() -> None:
    drawing = block_unit.qk_norm(48, 16.0, T)
    plain, normed, bound, here = (np.asarray(trace.y) for trace in chart(drawing).data)
    q, k = np.random.default_rng(0).standard_normal((2, 16, 48))
    turns = [rotation_matrix(m, rc.Rope(48).theta, "interleaved") for m in range(16)]
    scores = [abs((turns[m] @ q[m]) @ (turns[n] @ k[n])) / math.sqrt(48) for m in range(16) for n in range(16)]
    assert here[0] == pytest.approx(256 * max(scores))
    assert plain[-1] / plain[0] == pytest.approx(256.0**2)
    assert (normed <= bound).all() and bound[0] == pytest.approx(math.sqrt(48))
    cosines = [s / np.linalg.norm(q[i // 16]) / np.linalg.norm(k[i % 16]) for i, s in enumerate(scores)]
    assert here[1] == pytest.approx(48 * max(cosines), rel=1e-4)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_only_rms_with_equal_weights_commutes_and_only_at_factor_one(layout: str) -> None:
    rope = rc.Rope(16, 300.0)
    first, other = demo.commuting(rope, 77, 1.0, layout), demo.commuting(rope, 77, 1.3, layout)
    assert max(first["rms"], first["rms_paired"]) < 1e-12 < 0.05 < min(first["rms_weight"], first["layer"])
    assert min(other.values()) > 0.05
    drawing = block_rope.commute(rope, 77, 1.3, layout, T)
    assert list(chart(drawing).data[0].x) == list(other.values())
    assert f"It is {other['rms_weight']:.3g} with any weights" in drawing.finding
    x = np.random.default_rng(0).standard_normal((16, 16)) + 0.5
    # f N(x) against N(f x) = N(x): the rotation itself keeps each row's length.
    turned = np.stack([rotation_matrix(77 + t, rope.theta, layout) @ row for t, row in enumerate(x)])
    rms = turned / np.sqrt((turned**2).mean(1, keepdims=True))
    assert other["rms"] == pytest.approx(0.3 * np.abs(rms).max(), rel=1e-9)


def test_only_a_rotated_v_moves_with_the_text() -> None:
    rope = rc.Rope(12, 50.0)
    drawing = block_rope.values(rope, 2, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    assert np.ptp(table["plain_first"]) < 1e-12
    radius = np.hypot(table["rotated_first"], table["rotated_second"])
    np.testing.assert_allclose(radius, radius[0], atol=1e-12)
    speed = 50.0 ** (-4 / 12)
    angle = np.unwrap(np.arctan2(table["rotated_second"], table["rotated_first"]))
    np.testing.assert_allclose(np.diff(angle), speed, atol=1e-9)
    ends = [(trace.x[-1], trace.y[-1]) for trace in chart(drawing).data]
    last = [(table[f"{name}_first"][-1], table[f"{name}_second"][-1]) for name in ("plain", "rotated")]
    assert ends == [last[0]] * 2 + [last[1]] * 2
    far = max(np.abs(table[key] - table[key][0]).max() for key in ("rotated_first", "rotated_second"))
    assert f"with v turned by {far:.3g}" in drawing.finding


def test_a_stale_cache_is_off_by_the_change_of_frequency() -> None:
    rope = rc.Rope(16, 100.0, 128)
    drawing = block_rope.cache(rope, 3.0, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    assert rc.SCHEMES[demo.length_scheme()].follows_length
    q = np.random.default_rng(0).standard_normal((table["position"].size, 16))[-1]
    factor = rc.SCHEMES[demo.length_scheme()].params[0].default
    grown = 100.0 * (1 + float(str(factor)) * 2) ** (16 / 14)
    after = [grown ** (-2 * i / 16) for i in range(8)]
    last = rotation_matrix(383, after, "interleaved") @ q
    for at in (0, 5, 40):
        n = int(table["position"][at])
        for name, speeds in (("true", after), ("stale", rope.theta)):
            expected = rotation_matrix(n, speeds, "interleaved") @ q @ last / 4
            assert table[name][at] == pytest.approx(expected, abs=1e-9)
    worst = np.abs(table["stale"] - table["true"]).max()
    assert f"up to {worst:.3g}" in drawing.finding
    assert np.abs(np.subtract(*demo.stale_logits(rope, 1.0)[1:])).max() == 0
    with pytest.raises(ValueError, match=r"times must be at least 1, got 0\.5"):
        demo.stale_logits(rope, 0.5)
    assert block_rope.cacheable(rope) and not block_rope.cacheable(rc.Rope(2, 100.0))


def test_mla_is_exact_with_the_split_only() -> None:
    drawing = block_rope.latent(96, 16, 40, T)
    errors = np.asarray(drawing.table()["error"])
    assert errors[0] < 1e-12 and errors[1] > 0.1
    assert list(chart(drawing).data[1].y) == [96 + 64, 2 * 16 * 128]
    assert f"{2 * 16 * 128 / 160:.1f} times fewer" in drawing.finding


@cache
def drawings(lang: str, dim: int, base: float, train_len: int) -> tuple[Drawing, ...]:
    t, rope = Words(lang, "block"), rc.Rope(dim, base, train_len)
    return (
        block_norm.norms(5.0, 0.25, t),
        block_norm.cost(False, t),
        block_norm.cost(True, t),
        *(block_norm.stack(place, 2, 99, t) for place in block.ARRANGEMENTS),
        block_norm.parallel(10.0, t),
        *(block_unit.activations(name, -4.0, t) for name in block_unit.CURVES),
        *(block_unit.gates(name, 0.0, t) for name in block_unit.UNITS),
        block_unit.z_loss(-60.0, 0.0, t),
        block_unit.capped(10.0, 200.0, t),
        block_unit.qk_norm(dim, 64.0, t),
        block_rope.commute(rope, 100_000, 0.5, "half", t),
        block_rope.values(rope, 511, t),
        *([block_rope.cache(rope, 16.0, t)] if block_rope.cacheable(rope) else []),
        block_rope.latent(16, 1, 100_000, t),
    )
