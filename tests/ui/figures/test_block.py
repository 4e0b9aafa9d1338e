"""The block page's figures against torch's layers and autograd, numpy by hand and the catalogue."""

import math
from collections import Counter
from collections.abc import Callable
from inspect import unwrap
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.hf import catalogue
from rope_core.rotation import rotation_matrix
from rope_core.theory.block import demo
from rope_core.theory.block.choices import NORMS, PLACES, UNITS, BlockChoices, block_choices, commonest_block_and_counts
from rope_core.theory.encodings import compare
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, numbers, to_draw, unpacked
from ui.figures.block import diagram as figures
from ui.figures.block import drawn, value_sum, vectors, word_vectors
from ui.figures.block import rotary as block_rope
from ui.figures.drawing import Film
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film.scene import Panel
from ui.text.words import PageTexts

T = PageTexts("en", "block")


def lines_of(panel: Panel) -> list[str]:
    return [str(line.content) for line in panel.paragraphs]


def test_rows_are_read_with_their_corrections() -> None:
    built = {row.id: block_choices(row) for row in catalogue.architecture_rows()}
    assert built["gpt-2"] == BlockChoices("LayerNorm", "pre", False, "gelu", False)
    assert built["bloom"] == BlockChoices("LayerNorm", "pre", False, "gelu", False)
    assert built["mixtral"] == BlockChoices("RMSNorm", "pre", False, "swiglu", True)
    assert built["olmo-2"] == BlockChoices("RMSNorm", "inner", False, "swiglu", True)
    assert built["gemma-3"] == BlockChoices("RMSNorm", "double", False, "geglu", True)
    assert built["command-r-plus"] == BlockChoices("LayerNorm", "pre", True, "swiglu", True)
    assert built["transformer"] == BlockChoices("LayerNorm", "post", False, "relu", False)
    assert built["gpt-4"] is None
    counted = Counter(choice for choice in built.values() if choice)
    choices, rows, readable = commonest_block_and_counts()
    assert (counted[choices], sum(counted.values())) == (rows, readable) and rows == max(counted.values())


def test_the_row_follows_the_model_unless_another_is_wanted() -> None:
    for model in catalogue.released_models():
        row = figures.architecture_row_of_model(model.id, "model")
        assert (row.id if row else "") == model.architecture
    wanted = figures.architecture_row_of_model("llama-2-7b", "bloom")
    assert wanted is not None and wanted.id == "bloom"
    assert figures.architecture_row_of_model("custom", "model") is None
    cells = figures.architecture_row_table(wanted, T)
    assert cells["printed in 004"][3] == "Parallel" and cells["corrected"][3] == "≠ Serial"
    assert cells["corrected"][2] == "="
    text = figures.correction_sentences(wanted, T)
    assert len(text) == len(wanted.corrections) and "“Parallel”" in text[0] and "“Serial” ([source](https://" in text[0]
    assert all(not each.verified for each in catalogue.architecture_row("gopher").corrections)
    assert "not yet checked" in figures.correction_sentences(catalogue.architecture_row("gopher"), T)[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_row_is_worded_in_both_languages(lang: str) -> None:
    t = PageTexts(lang, "block")
    for row in catalogue.architecture_rows():
        columns = figures.architecture_row_table(row, t)
        printed, corrected = columns[t("col.printed")], columns[t("col.corrected")]
        assert len(printed) == len(corrected) == 8 and all(printed) and all(corrected)
        assert (
            sum(cell != "=" for cell in corrected) == len(row.corrections) == len(figures.correction_sentences(row, t))
        )


def title(film: Film) -> str:
    return str(unpacked(film.packed(T).data)[1]["panels"][0]["title"])


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
    built = BlockChoices("LayerNorm", place, False, "gelu", True)
    drawing = figures.transformer_layer_film("mine", built, built, T)
    parts = order(drawing)
    assert parts[0] == T("box.input") and parts[-len(feed) :] == feed
    assert (parts[1] == NORM) == (place in ("pre", "double"))
    rows = dict(
        zip(np.asarray(drawing.table()["part"]).tolist(), np.asarray(drawing.table()["row"]).tolist(), strict=True)
    )
    assert rows["q"] + 1 == rows["k"] + 1 == rows["RoPE"] < rows[T("box.cache")]
    assert parts.count("RoPE") == 2


def pointing(shape: dict[str, Any], held: bytes, index: dict[str, int]) -> np.ndarray:
    """Return where arrows point the clock's way from the top, as complex numbers of length 1."""
    return np.asarray(1j * np.exp(-1j * numbers(shape["angle"], held, index)))


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4), rc.Rope(24, 7.0)])
def test_a_word_s_query_and_key_are_turned_by_its_position_and_its_value_is_not(rope: rc.Rope) -> None:
    film = unwrap(word_vectors.word_vectors_film)(rope, T)
    _, head, held = unpacked(film.packed(T).data)
    pair = single_drawn_pair(rope)
    turn = [rc.rotation_matrix(at, rope.theta[[pair]], "half") @ [1, 0] for at in range(vectors.LAST + 1)]
    for panel in head["panels"][:2]:
        hands = {}
        for shape in panel["marks"]:
            for each in (shape, *shape.get("grab_marks", ())):
                if each["kind"] == "vector" and "symbol" in each:
                    hands[each["symbol"]] = each
        others = [each for each in panel["marks"] if each["kind"] == "vector" and "symbol" not in each]
        for at in range(vectors.LAST - vectors.FIRST + 1):
            position = vectors.FIRST + at
            for name, wanted in (("q", turn[position]), ("k", turn[position]), ("v", turn[0])):
                assert pointing(hands[name], held, {"token": at})[0] == pytest.approx(complex(*wanted), abs=1e-5)
            finding_text = film.scene.finding_at({"token": position, "later": 1, "moved": 0, "beat": 1})
            own, key = (degrees_text(each * rope.theta[pair]) for each in (position, vectors.CAT))
            assert (
                f"At position {position} " in finding_text
                and f"by {own}, " in finding_text
                and f"by {key};" in finding_text
            )
            # The other word's key is turned by its own position wherever this word is, two arrows stand at position 0,
            # and a value that were turned would go with query and key.
            still = [pointing(each, held, {"token": at})[0] for each in others]
            at_zero, own_key, if_turned = 1, complex(*turn[vectors.CAT]), complex(*turn[position])
            assert still == pytest.approx([at_zero, own_key, at_zero, if_turned], abs=1e-5)


def by_row_vector(rope: rc.Rope, position: int) -> complex:
    """Return where the drawn pair points at a position, the clock's way from the top, from the matrix."""
    turn = rc.rotation_matrix(position, rope.theta[[single_drawn_pair(rope)]], "interleaved") @ [1, 0]
    return complex(*turn)


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(24, 7.0)])
def test_stored_keys_stay_and_a_later_query_meets_one_at_the_angle_of_their_distance(rope: rc.Rope) -> None:
    film = unwrap(word_vectors.word_vectors_film)(rope, T)
    _, head, held = unpacked(film.packed(T).data)
    wide, narrow, mats, newest = [panel for panel in head["panels"] if panel["first_beat"] == panel["last_beat"] == 2]
    for cache in (wide, narrow):
        keys = [each for each in cache["marks"] if each["kind"] == "vector"]
        assert len(keys) == 6 and all(isinstance(each["angle"], float) for each in keys), "no control moves a key"
        at = [pointing(each, held, {})[0] for each in keys]
        assert at == pytest.approx([by_row_vector(rope, k) for k in range(6)], abs=1e-5)
    for later in (1, 40, 100):
        for panel, position in ((mats, 5), (newest, 5 + later)):
            marks_of = [*panel["marks"], *(each for mark in panel["marks"] for each in mark.get("grab_marks", ()))]
            key, query = sorted(
                (each for each in marks_of if each["kind"] == "vector"), key=lambda each: "symbol" in each
            )
            index = {"later": later - 1}
            assert pointing(key, held, index)[0] == pytest.approx(by_row_vector(rope, 1), abs=1e-5)
            assert pointing(query, held, index)[0] == pytest.approx(by_row_vector(rope, position), abs=1e-4)
        apart = degrees_text((4 + later) * rope.theta[single_drawn_pair(rope)] % (2 * math.pi))
        finding = film.scene.finding_at({"token": 5, "later": later, "moved": 0, "beat": 2})
        assert f"{4 + later} words away: {apart} apart" in finding


def attention_output(rope: rc.Rope, start: int, rotate_v: bool) -> np.ndarray:
    """Return the last word's sum of values by a loop over the words of a drawn head with rotated q and k."""
    head, theta = compare.random_encoding_weights(16, rope.base, 0), [rope.base ** (-2 * i / 16) for i in range(8)]
    x, kinds = compare.token_vectors(value_sum.TOKENS, 16), list(dict.fromkeys(value_sum.TOKENS))
    values = np.random.default_rng(27).standard_normal((len(kinds), 2))

    def at(vector: np.ndarray, position: int) -> np.ndarray:
        return np.asarray(rc.rotation_matrix(position + start, theta, "interleaved") @ vector)

    query = at(head.q @ x[5], 5)
    weights = np.exp([query @ at(head.k @ x[n], n) / 4 for n in range(6)])
    total = np.zeros(2)
    for n, word in enumerate(value_sum.TOKENS):
        value, angle = values[kinds.index(word)], (n + start) * rope.theta[single_drawn_pair(rope)] * rotate_v
        turned = [
            math.cos(angle) * value[0] - math.sin(angle) * value[1],
            math.sin(angle) * value[0] + math.cos(angle) * value[1],
        ]
        total += weights[n] / weights.sum() * np.array(turned)
    return total


@pytest.mark.parametrize("rope", [rc.Rope(32, 500.0, 64), rc.Rope(128, 1e4)])
def test_the_sum_of_values_stays_and_turns_with_the_text_where_values_do(rope: rc.Rope) -> None:
    film = unwrap(word_vectors.word_vectors_film)(rope, T)
    still, also = (value_sum.partial_value_sums(rope, rotate_v=each)[:, -1] for each in (False, True))
    for start in range(value_sum.FRONT + 1):
        for ends, rotate_v in ((still, False), (also, True)):
            np.testing.assert_allclose(ends[start, ::-1], attention_output(rope, start, rotate_v), atol=1e-12)
    assert np.ptp(still, axis=0).max() < 1e-12
    finding = film.scene.finding_at({"token": 5, "later": 1, "moved": 3, "beat": 3})
    assert f"the right one is turned by {degrees_text(3 * rope.theta[single_drawn_pair(rope)])}." in finding
    outputs = [panel for panel in film.scene.panels if panel.first_beat == 3][1:]
    for panel, ends in zip(outputs, (still, also), strict=True):
        (output,) = (mark for mark in panel.marks if mark.get("symbol") == "o")
        for start in (0, 5):
            at = output["length"] * np.exp(1j * output["angle"].numbers_at({"moved": start})[0])
            assert at == pytest.approx(complex(*ends[start]), abs=1e-9)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("unit", UNITS[:2])
def test_every_part_of_the_block_is_reached_by_an_arrow(place: str, parallel: bool, unit: str) -> None:
    built = BlockChoices("RMSNorm", place, parallel, unit, True)
    film = figures.transformer_layer_film("X", None, built, T)
    shapes = unpacked(film.packed(T).data)[1]["panels"][0]["marks"]
    arrows = [shape for shape in shapes if shape["kind"] == "line" and shape["fill"] != "none"]
    parts = len(np.asarray(film.table()["part"]))
    assert len(arrows) >= parts - 1, "all but the input"


@pytest.mark.parametrize("norm, unit", [(NORMS[k % 2], unit) for k, unit in enumerate(UNITS)])
@pytest.mark.parametrize("place, parallel", [(place, parallel) for place in PLACES for parallel in (False, True)])
def test_the_formulas_are_those_of_the_layer(norm: str, place: str, parallel: bool, unit: str) -> None:
    """Run each written formula as Python on numbers, beside the same layer by hand."""
    built = BlockChoices(norm, place, parallel, unit, True)
    _, formulas = unwrap(figures.transformer_layer_film)("X", None, built, T).scene.panels
    update, _, _, normed, _, fed, *_ = lines_of(formulas)
    rng = np.random.default_rng(4)
    start, g, b = rng.standard_normal((3, 6))
    w = {name: rng.standard_normal((6, 6)) for name in "₁₂₃"}
    functions: dict[str, Callable[[Any], Any]] = {
        "ReLU": torch.relu,
        "GELU": torch.nn.functional.gelu,
        "SiLU": torch.nn.functional.silu,
    }
    functions |= {"ReLU²": lambda z: torch.relu(z) ** 2, "sigmoid": torch.sigmoid}

    def n(x: np.ndarray) -> np.ndarray:
        mean = x.mean() if "mean(x))" in normed else 0.0
        return np.asarray(g * (x - mean) / np.sqrt(((x - mean) ** 2).mean()) + b * ("+ b" in normed))

    def f(x: np.ndarray) -> np.ndarray:
        name = fed.split("W₂ ")[1].lstrip("(").split("(")[0]
        inner = functions[name](torch.from_numpy(w["₁"] @ x)).numpy()
        return np.asarray(w["₂"] @ (inner * (w["₃"] @ x) if "⊙ W₃" in fed else inner))

    x, names = start, {"N": n, "A": np.sin, "F": f}
    for step in update.split(",  "):
        x = eval(step.removeprefix("x ← "), names | {"x": x})
    inside = n if place in ("pre", "double") else lambda z: z
    outside = n if place in ("double", "inner") else lambda z: z
    after = n if place == "post" else lambda z: z
    mid = after(start + outside(np.sin(inside(start))))
    true = after(mid + outside(f(inside(mid))))
    if parallel:
        true = after(start + outside(np.sin(inside(start))) + outside(f(inside(start))))
    np.testing.assert_allclose(x, true)
    theirs = torch.nn.functional.layer_norm(torch.from_numpy(start), (6,)).numpy() * g + b
    rms = torch.nn.functional.rms_norm(torch.from_numpy(start), (6,)).numpy() * g
    np.testing.assert_allclose(n(start), theirs if norm == "LayerNorm" else rms, atol=1e-4)


def test_switches_change_the_drawing_and_say_so() -> None:
    row = catalogue.architecture_row("bloom")
    shown = block_choices(row)
    assert figures.switched_block_choices(row, "row", "row", "row", "row") == shown
    built = figures.switched_block_choices(row, "RMSNorm", "post", "parallel", "relu2")
    assert built == BlockChoices("RMSNorm", "post", True, "relu2", False)
    drawing = figures.transformer_layer_film("BLOOM", shown, built, T)
    assert "with your changes" in title(drawing)
    assert order(drawing).count("+") == 1 and "RoPE" not in order(drawing)
    assert figures.switched_block_choices(None, "row", "row", "row", "row") == commonest_block_and_counts()[0]
    assert "leaves open" in title(figures.transformer_layer_film("X", None, commonest_block_and_counts()[0], T))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_only_rms_with_equal_weights_commutes_and_only_at_factor_one(layout: str) -> None:
    rope = rc.Rope(16, 300.0)
    first, other = demo.norm_rotation_errors(rope, 77, 1.0, layout), demo.norm_rotation_errors(rope, 77, 1.3, layout)
    assert max(first["rms"], first["rms_paired"]) < 1e-12 < 0.05 < min(first["rms_weight"], first["layer"])
    assert min(other.values()) > 0.05
    drawing = block_rope.norm_commutation_chart(rope, 77, 1.3, layout, T)
    assert list(chart(drawing).data[0].x) == list(other.values())
    assert f"It is {other['rms_weight']:.3g} with any weights" in drawing.finding
    x = np.random.default_rng(0).standard_normal((16, 16)) + 0.5
    # f N(x) against N(f x) = N(x): the rotation itself keeps each row's length.
    turned = np.stack([rotation_matrix(77 + t, rope.theta, layout) @ row for t, row in enumerate(x)])
    rms = turned / np.sqrt((turned**2).mean(1, keepdims=True))
    assert other["rms"] == pytest.approx(0.3 * np.abs(rms).max(), rel=1e-9)


def test_a_stale_cache_is_off_by_the_change_of_frequency() -> None:
    rope = rc.Rope(16, 100.0, 128)
    drawing = block_rope.stale_cache_logits_chart(rope, 3.0, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    assert rc.SCHEMES[demo.first_length_scheme_name()].follows_length
    q = np.random.default_rng(0).standard_normal((table["position"].size, 16))[-1]
    factor = rc.SCHEMES[demo.first_length_scheme_name()].params[0].default
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
    assert block_rope.has_two_pairs(rope) and not block_rope.has_two_pairs(rc.Rope(2, 100.0))


def test_mla_is_exact_with_the_split_only() -> None:
    drawing = block_rope.mla_error_and_cache_chart(96, 16, 40, T)
    errors = np.asarray(drawing.table()["error"])
    assert errors[0] < 1e-12 and errors[1] > 0.1
    assert list(chart(drawing).data[1].y) == [96 + 64, 2 * 16 * 128]
    assert f"{2 * 16 * 128 / 160:.1f} times fewer" in drawing.finding


MADE = BlockChoices("RMSNorm", "pre", True, "swiglu", True)


ROWS = [
    Row("block", block_rope.norm_commutation_chart, (ROPE, 9, 1.2, "half")),
    Row("block", block_rope.stale_cache_logits_chart, (ROPE, 2.5)),
    Row("block", block_rope.mla_error_and_cache_chart, (32, 8, 9)),
]
FILMS = [
    *(
        FilmRow("block", word_vectors.word_vectors_film, (ROPE,), {"token": 5, "later": 9, "moved": 4, "beat": beat})
        for beat in (1, 2, 3)
    ),
    FilmRow("block", figures.transformer_layer_film, ("X", None, MADE), {}),
    FilmRow("block", drawn.output_change_sketch, (ROPE,), {}, to_draw),
]
