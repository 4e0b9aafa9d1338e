"""Figures and tables of the config page: traces equal rope_core, sentences carry the numbers, recipes run."""

import math
from collections import Counter
from inspect import unwrap
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.extension.extend import extend
from rope_core.hf import anatomy
from rope_core.hf.schemas import compare_configs
from rope_core.programs.engines import engines
from tests.support.figures import Row, chart, ran
from tests.support.films import FilmRow
from ui.figures.config import compare as comparison
from ui.figures.config import parts as figures
from ui.figures.config import promise
from ui.figures.config.rotations import rotation_table
from ui.film.scene import text_at
from ui.page.configs import NamedConfig, factor_and_length_stops
from ui.text.words import PageTexts

EN, ZH = PageTexts("en", "config"), PageTexts("zh", "config")
MODELS = ["gpt-oss-20b", "deepseek-r1", "phi-4-mini", "llama-4-scout", "qwen3-vl-32b", "llama-2-7b", "hunyuan-dense"]


VIEWS = {name: NamedConfig("model", name, {}) for name in ("gpt-oss-20b", "llama-3.1-8b", "deepseek-r1")}


def config_of(model: str) -> dict[str, Any]:
    return rc.model(model).hf_config()


def where(model: str) -> str:
    return f"rc.model({model!r}).hf_config()"


def keys(config: dict[str, Any]) -> set[str]:
    return {finding.key for finding in rc.check(config) if finding.severity != "note"}


def with_scaling(config: dict[str, Any], **changed: object) -> dict[str, Any]:
    return config | {"rope_scaling": dict(config["rope_scaling"]) | changed}


@pytest.mark.parametrize("model", ["gpt-oss-20b", "llama-3.1-8b", "deepseek-r1"])
def test_another_factor_or_trained_length_is_the_config_read_with_it(model: str) -> None:
    config = config_of(model)
    rope = rc.from_hf(config)
    promised, request = promise.promised_length(rope, keys(config)), rope.request
    start, factors, lengths = factor_and_length_stops(VIEWS[model], request, 6.5, 5000, promised)
    assert 6.5 in factors and 5000 in lengths and request.rope.train_len in lengths
    scene = unwrap(promise.promised_length_film)(request, promised, model, start, factors, lengths, EN).scene
    dots = next(shape for shape in scene.panels[-1].marks if shape["kind"] == "dot")
    for factor, length in ((6.5, 5000), (factors[-1], lengths[0]), (2.0, lengths[-1])):
        changed = rc.from_hf(with_scaling(config, factor=factor, original_max_position_embeddings=length))
        index = {"times": factors.index(factor), "trained": lengths.index(length)}
        np.testing.assert_allclose(2 ** dots["y"].numbers_at(index), changed.unscaled / changed.inv_freq, rtol=1e-9)
        assert [promise.SHOWN[k] for k in dots["colour_index"].numbers_at(index)] == list(anatomy.pair_effects(changed))
    own = float(str(request.params["factor"]))
    first = own / 4 if model == "gpt-oss-20b" else own
    assert {each.name: each.start for each in scene.controls} == {"times": first, "trained": request.rope.train_len}


@pytest.mark.parametrize("model", ["gpt-oss-20b", "deepseek-r1"])
def test_the_picture_warns_where_the_check_does(model: str) -> None:
    config = config_of(model)
    rope = rc.from_hf(config)
    length = promise.promised_length(rope, keys(config))
    assert length is not None and length == rope.max_len
    start, factors, lengths = factor_and_length_stops(VIEWS[model], rope.request, None, None, length)
    scene = unwrap(promise.promised_length_film)(rope.request, length, model, start, factors, lengths, EN).scene
    at = lengths.index(rope.train_len)
    for panel in scene.panels[:2]:
        heads = [mark["content"] for mark in panel.marks if mark["kind"] == "text"]
        for k, factor in enumerate(factors):
            index = {"times": k, "trained": at}
            shown = {text_at(head, index) for head in heads}
            warned = keys(with_scaling(config, factor=factor))
            assert (EN("verdict_head.less") in shown) == ("factor_is_not_ratio" in warned and factor < length / 4096)
            assert (EN("verdict_head.kept") in shown) == (factor == length / 4096)
    # Between the factor and the ratio lie angles past the trained ones: counted from the frequencies themselves.
    hatched = next(mark for mark in scene.panels[-2].marks if mark.get("fill_pattern") == "hatch")
    for k, factor in enumerate(factors):
        changed = rc.from_hf(with_scaling(config, factor=factor))
        slow = np.array(anatomy.pair_effects(changed)) == "divided"
        beyond = changed.inv_freq[slow] * length > changed.unscaled[slow] * 4096 * (1 + 1e-9)
        assert np.isfinite(hatched["x0"].numbers_at({"times": k, "trained": at})).all() == bool(beyond.any())


@pytest.mark.parametrize("model", ["llama-3.1-8b", "phi-4-mini"])
def test_a_factor_that_is_no_ratio_makes_no_promise(model: str) -> None:
    config = config_of(model)
    assert promise.promised_length(rc.from_hf(config), keys(config)) is None


@pytest.mark.parametrize("model, there", [("gpt-oss-20b", True), ("phi-3.5-mini", False), ("mistral-7b-v0.3", False)])
def test_another_factor_is_offered_where_there_is_one(model: str, there: bool) -> None:
    assert promise.has_changeable_factor(rc.from_hf(config_of(model))) is there


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("quantity", figures.QUANTITIES)
def test_glance_draws_every_pair_once(model: str, quantity: str) -> None:
    rope = rc.from_hf(config_of(model))
    drawing = figures.pair_overview_chart(rope, quantity, where(model), EN)
    points: dict[int, float] = {}
    for trace in chart(drawing).data:
        if trace.mode == "markers":
            assert not points.keys() & set(trace.x)
            points |= dict(zip(trace.x, trace.y, strict=True))
    wanted = {
        "wavelength": 2 * np.pi / rope.inv_freq,
        "inv_freq": rope.inv_freq,
        "slowdown": rope.unscaled / rope.inv_freq,
    }[quantity]
    np.testing.assert_allclose([points[k] for k in range(wanted.size)], wanted, rtol=1e-12)
    assert f"{rope.inv_freq[1]:.9e}"[:6] in ran(drawing)


def test_glance_says_how_many_pairs_are_what() -> None:
    rope = rc.from_hf(config_of("gpt-oss-20b"))
    finding = figures.pair_overview_chart(rope, "wavelength", "", EN).finding
    assert "32 pairs: 9 unslowed, 9 partly slowed, 14 fully slowed (by 32);" in finding
    longest = 2 * math.pi * 150_000 ** (62 / 64) * 32
    assert f"{round(longest, -3):,.0f}"[:6] in finding
    gemma = rc.from_hf(config_of("gemma-4-31b"), "full_attention")
    assert "192 do not turn" in figures.pair_overview_chart(gemma, "slowdown", "", EN).finding
    phi = rc.from_hf(config_of("phi-4-mini"), None, 131_072)
    assert (
        "1 unslowed, 47 with a slow-down of their own" in figures.pair_overview_chart(phi, "inv_freq", "", EN).finding
    )


def test_ramp_shows_both_roundings_and_says_which_is_in_force() -> None:
    for model, key in (("gpt-oss-20b", "exact"), ("deepseek-r1", "rounded")):
        rope = rc.from_hf(config_of(model))
        drawing = figures.ramp_chart(rope, where(model), EN)
        assert drawing is not None
        low, high = anatomy.ramp_bounds(rope).exact if key == "exact" else anatomy.ramp_bounds(rope).rounded  # type: ignore[union-attr, misc]
        wanted = np.clip((np.arange(32) - low) / (high - low), 0, 1)
        inside = [trace for trace in chart(drawing).data if EN("in_force") in trace.name]
        assert [trace.name for trace in inside] == [EN(f"ramp_{key}") + EN("in_force")]
        np.testing.assert_allclose(inside[0].y, wanted, atol=1e-12)
        assert f"{high:.3g}" in drawing.finding or f"{high:g}" in drawing.finding
        assert "RampBounds(" in ran(drawing)
    assert figures.ramp_chart(rc.from_hf(config_of("llama-2-7b")), "", EN) is None


@pytest.mark.parametrize("length", [1, 2, 4096, 4097, 40_000])
def test_drift_is_zero_before_the_switch_and_not_after(length: int) -> None:
    rope = rc.from_hf(config_of("phi-4-mini"), None, length)
    drawing = figures.cached_key_drift_chart(rope, length, where("phi-4-mini"), EN)
    worst = np.asarray(chart(drawing).data[0].y)
    assert (worst.max() > 0) == (length > 4096)
    if length == 40_000:
        short, long = (rc.from_hf(config_of("phi-4-mini"), None, n).inv_freq for n in (4096, 40_000))
        wanted = (np.abs(short - long) * 4095).max()
        assert worst.max() == pytest.approx(wanted, rel=1e-12)
        assert "position 4,095" in drawing.finding and f"{wanted:.4g}" in drawing.finding


def test_layers_and_sections_name_their_indices() -> None:
    scout, qwen = (rc.from_hf(config_of(model)) for model in ("llama-4-scout", "qwen3-vl-32b"))
    assert "12 of 48 layers do not turn: 3, 7, 11" in figures.unrotated_layers_text(scout, 48, EN)
    dealt = figures.axis_sections_text(qwen, EN)
    assert "time 24, height 20, width 20" in dealt and "64 of 64" in dealt
    assert figures.unrotated_layers_text(qwen, 64, EN) == figures.axis_sections_text(scout, EN) == ""


@pytest.mark.parametrize("t", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("model", MODELS)
def test_summary_and_provenance_hold_the_numbers(model: str, t: PageTexts) -> None:
    rope = rc.from_hf(config_of(model))
    line = figures.rotation_summary(rope, t)
    assert f"{rope.attention_factor:.6g}" in line and f"{rope.attention_factor**2:.6g}" in line
    assert (f"{rope.logit_scale:.6g}" in line) or rope.logit_scale == 1.0
    table = figures.provenance_table(rope, t)
    assert len({len(column) for column in table.values()}) == 1
    at = table[t("col.value_of")].index(t("value_of.base"))
    assert table[t("col.value")][at] == f"{rope.base:.10g}"
    assert table[t("col.field")][at] == rope.provenance["base"].path


def test_engines_draw_ratios_and_say_who_differs() -> None:
    config = config_of("gpt-oss-20b")
    result, rope = engines(config), rc.from_hf(config)
    drawing = comparison.engine_frequency_chart(result, rope, where("gpt-oss-20b"), EN)
    names = [name for trace in chart(drawing).data for name in trace.name.replace("<br>", " ").split(", ")]
    assert sorted(names) == sorted(each.name for each in result if each.inv_freq is not None)
    rounded = rc.spectrum(anatomy.with_ramp_rounding(rope.request, True)).inv_freq
    llama = next(trace for trace in chart(drawing).data if "llama.cpp" in trace.name)
    np.testing.assert_allclose(llama.y, rounded / rope.inv_freq, rtol=1e-9)
    apart = float(np.abs(rounded / rope.inv_freq - 1).max())
    assert f"({100 * apart:.3g} %)" in drawing.finding
    table = comparison.engine_table(result, EN)
    assert table[EN("col.difference")][0] == "0"
    assert table[EN("col.difference")][-1] == "not supported" and table[EN("col.layout")][-1] == "-"
    assert comparison.engine_table(result, ZH)[ZH("col.difference")][-1] == "不支持"
    assert [cell.split(" ")[0] for cell in table[EN("col.basis")]] == ["measured"] * 7
    notes = dict(comparison.engine_remarks(result, EN))
    assert "always rounds the ramp" in notes["llama.cpp 0c1e5709"] and "transformers 5.24" not in notes
    assert "transformers 5.24 0.0" in ran(drawing)


def test_gap_has_a_word_for_every_case() -> None:
    assert [comparison.relative_difference_text(value, EN) for value in (None, 0.0, math.inf, 0.5, 31.0)] == [
        "-",
        "0",
        EN("other_width"),
        "50 %",
        "3,100 %",
    ]


def test_two_configs_differences_first() -> None:
    left, right = config_of("llama-2-7b"), config_of("llama-3.1-8b")
    rows = compare_configs(left, right)
    table = comparison.config_difference_table(rows, ("a", "b"), EN)
    marks = table[EN("col.same")]
    assert marks == sorted(marks, key=lambda mark: mark == EN("same")) and EN("differs") in marks
    at = table[EN("col.field")].index(EN("value_of.base"))
    assert (table["a"][at], table["b"][at]) == ("10000", "500000")
    assert len(comparison.config_difference_table(rows, ("a", "a"), EN)) == 4
    drawing = comparison.wavelength_overlay_chart(rc.from_hf(left), rc.from_hf(right), ("a", "b"), rows, ("", ""), EN)
    np.testing.assert_allclose(chart(drawing).data[1].y, 2 * np.pi / rc.from_hf(right).inv_freq, rtol=1e-12)
    assert f"{sum(not row.same for row in rows)} of {len(rows)} fields differ" in drawing.finding


def test_ways_to_a_longer_context_are_drawn_with_their_costs() -> None:
    config, length = config_of("llama-2-7b"), 65_536
    rope, result = rc.from_hf(config), extend(config, length)
    drawing = comparison.extension_slowdown_chart(result, rope, length, where("llama-2-7b"), EN)
    by_name = {trace.name: np.asarray(trace.y) for trace in chart(drawing).data}
    titles = {way.name: way.title() for way in result}
    np.testing.assert_allclose(by_name[titles["linear"]], 16.0, rtol=1e-12)
    assert by_name[titles["ntk"]][[0, -1]] == pytest.approx([1.0, 16.0], rel=1e-9)
    np.testing.assert_allclose(by_name[EN("at_present")], rope.unscaled / rope.inv_freq, rtol=1e-12)
    # Counted by hand: a pair that did not turn once in training and goes further than it did then.
    ntk = next(way for way in result if way.name == "ntk")
    inv = next(iter(ntk.ropes.values())).inv_freq
    unseen = int(np.sum((rope.unscaled * 4096 < 2 * math.pi) & (inv * length > rope.unscaled * 4096 * (1 + 1e-9))))
    # And the pairs that saw all angles do not count.
    assert f"{titles['ntk']}: {unseen}" in drawing.finding and "65,536" in drawing.finding
    table = comparison.extension_cost_table(result, EN)
    assert table[EN("col.factor")][[way.name for way in result].index("linear")] == "16"
    assert table[EN("col.unseen")][[way.name for way in result].index("ntk")] == f"{unseen} / 64"
    assert "ntk 16.0" in ran(drawing)


def test_the_factor_of_a_way_is_the_one_in_its_block() -> None:
    config = config_of("deepseek-r1")
    result = extend(config, 327_680)
    shown = comparison.extension_cost_table(result, EN)[EN("col.factor")]
    yarn = next(k for k, way in enumerate(result) if way.name == "yarn")
    assert shown[yarn] == f"{result[yarn].block['rope_parameters']['factor']:g}" == "80"


def test_every_part_that_turns_is_a_row() -> None:
    config = {"model_type": "deepseek_v32"}
    table = rotation_table(config, rc.from_hf(config), EN)
    assert table[EN("col.part")] == ["attention", "indexer"]
    assert table[EN("col.layout")] == [EN("layout.interleaved"), EN("layout.half")]
    assert (
        rotation_table({"model_type": "llama", "head_dim": 64}, rc.from_hf({"model_type": "llama", "head_dim": 64}), EN)
        == {}
    )
    image = rotation_table({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56]}, None, EN)
    assert image[EN("col.width")] == ["time 16, height 56, width 56 / 128"]
    assert rotation_table({"model_type": "pixtral", "rope_theta": "x"}, None, EN) == {}


def test_a_comparison_names_each_field_once() -> None:
    scaled = {"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.2, "original_max_position_embeddings": 4096}
    config = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e6, "rope_parameters": scaled}
    rows = [
        row.field for row in compare_configs(config, {**config, "rope_parameters": {**scaled, "attention_factor": 1.0}})
    ]
    assert len(rows) == len(set(rows)) and "attention_factor" in rows


def test_ways_are_drawn_for_the_layer_type_that_they_extend() -> None:
    config = config_of("gemma-3-4b")
    sliding = rc.from_hf(config, "sliding_attention")
    result = extend(config, 262_144)
    drawing = comparison.extension_slowdown_chart(result, sliding, 262_144, "", EN)
    linear = next(trace for trace in chart(drawing).data if trace.name == result[0].title())
    assert len(linear.y) == 128 and np.isfinite(np.asarray(linear.y, dtype=float)).all()


CONFIG, SCOUT = (config_of(name) for name in ("gpt-oss-20b", "llama-4-scout"))
HERE, THERE = (where(name) for name in ("gpt-oss-20b", "llama-4-scout"))
SCALED = rc.from_hf(CONFIG)


def enough(t: PageTexts) -> str:
    """Return the sentence at factor 64, from the config read anew."""
    kinds = Counter(anatomy.pair_effects(rc.from_hf(with_scaling(CONFIG, factor=64.0))))
    return t("enough_finding", times="64", reach="262,144", promise="131,072", **kinds)


BOTH = (SCALED, rc.from_hf(SCOUT, rc.layer_types(SCOUT)[0] if rc.layer_types(SCOUT) else None), ("a", "b"))
ROWS = [
    Row("config", figures.pair_overview_chart, (SCALED, "wavelength", HERE)),
    Row("config", figures.ramp_chart, (SCALED, HERE)),
    Row("config", figures.cached_key_drift_chart, (SCALED, 9000, HERE)),
    Row("config", comparison.engine_frequency_chart, (engines(CONFIG), SCALED, HERE)),
    Row("config", comparison.wavelength_overlay_chart, (*BOTH, compare_configs(CONFIG, SCOUT), (HERE, THERE))),
    Row("config", comparison.extension_slowdown_chart, (extend(CONFIG, 500_000), SCALED, 500_000, HERE)),
]
START, *STOPS = factor_and_length_stops(VIEWS["gpt-oss-20b"], SCALED.request, None, None, 131_072)
FILMS = [
    FilmRow(
        "config",
        promise.promised_length_film,
        (SCALED.request, 131_072, "gpt-oss 20B", START, *STOPS),
        {"times": 64, "trained": 4096, "beat": 1},
        enough,
    )
]
