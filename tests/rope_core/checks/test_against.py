"""Two configs that must agree, an engine's override, and the released shape: threads re-typed."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.__main__ import main
from rope_core.checks.against import apply_override, rotation_difference_findings
from rope_core.extension.extend import extend
from rope_core.findings import value_text
from rope_core.hf.resolve import ropes_of
from rope_core.hf.schemas import to_v5
from tests.support import hf_live

LLAMA31 = rc.model("llama-3.1-8b").hf_config()
LLAMA32 = rc.model("llama-3.2-1b").hf_config()
QWEN = rc.model("qwen2.5-7b").hf_config()


def of(config: dict[str, Any], key: str) -> list[rc.Finding]:
    return [each for each in rc.check(config) if each.key == key]


def test_a_draft_with_another_base_than_its_target() -> None:
    """NVIDIA/Model-Optimizer#2221: base 1e4 in the draft, 1e6 in the target."""
    target = rc.model("qwen3-8b").hf_config()
    (single,) = rotation_difference_findings({**target, "rope_theta": 10_000}, target)
    assert (single.key, single.severity) == ("configs_disagree", "error")
    # The slowest pair: 1e4 ** (-126 / 128) against 1e6 ** (-126 / 128).
    assert single.values["worst"] == pytest.approx(100 * (100.0 ** (126 / 128) - 1), rel=1e-9)
    assert "base 10000 / 1000000" in single.title() and "base 10000 / 1000000" in single.title("zh")
    assert rotation_difference_findings(target, target) == []


def test_a_checkpoint_before_and_after_a_conversion() -> None:
    """ggml-org/llama.cpp#26673: a conversion that loses the scaling; one that keeps it says nothing."""
    lost = {key: value for key, value in LLAMA31.items() if key != "rope_scaling"}
    (single,) = rotation_difference_findings(lost, LLAMA31)
    assert "rope_type default / llama3" in single.title() and single.values["worst"] == pytest.approx(700.0)
    assert rotation_difference_findings(extend(LLAMA31, 262_144)[0].config, LLAMA31)[0].key == "configs_disagree"
    (length,) = rotation_difference_findings({**QWEN, "max_position_embeddings": 4096}, QWEN)
    assert (length.key, length.severity) == ("lengths_disagree", "note")
    # A draft of vllm-project/vllm#48894: 2,048 rows beside a target that serves more; as far as they reach, a note.
    (rows,) = rotation_difference_findings(QWEN, {**QWEN, "max_position_embeddings": 2048}, 8192)
    assert (rows.key, rows.severity, rows.values) == ("rows_end_early", "error", {"rows": 2048, "served": 8192})
    assert (
        rotation_difference_findings(QWEN, {**QWEN, "max_position_embeddings": 2048}, 2048)[0].key == "lengths_disagree"
    )
    wide = {**LLAMA31, "head_dim": 64}
    assert "32 pairs rotate instead of 64" in rotation_difference_findings(wide, LLAMA31)[0].why()


def test_layer_types_are_compared_each_with_its_own() -> None:
    gemma = rc.model("gemma-3-4b").hf_config()
    text = {**gemma["text_config"], "rope_local_base_freq": 20_000} if "text_config" in gemma else None
    other = {**gemma, "text_config": text} if text else {**gemma, "rope_local_base_freq": 20_000}
    (first,) = rotation_difference_findings(other, gemma)
    assert first.layer_type == "sliding_attention"


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


@pytest.mark.parametrize("name", ["rope_scaling", "rope_parameters"])
def test_an_override_loses_the_base(name: str) -> None:
    """sgl-project/sglang#22739 and vllm-project/recipes#856: the dict is replaced whole, rope_theta goes."""
    after, (single,) = apply_override(QWEN, {name: YARN})
    assert (single.key, single.severity, single.values["lost"]) == ("override_loses", "error", ("rope_theta",))
    assert (single.values["base"], single.values["used"]) == (1e6, 1e4)
    assert rc.from_hf(after).base == 1e4 and rc.from_hf(after).rope_type == "yarn"
    whole, text = apply_override(QWEN, {name: {**YARN, "rope_theta": 1e6}})
    assert text == [] and rc.from_hf(whole).base == 1e6


def test_transformers_loads_the_overridden_config_so() -> None:
    after, _ = apply_override(QWEN, {"rope_parameters": YARN})
    config = hf_live.config_of("qwen2", {key: value for key, value in after.items() if key != "model_type"})
    inv_freq, _ = hf_live.frequencies("qwen2", config, None, None)
    np.testing.assert_allclose(rc.from_hf(after).inv_freq, inv_freq, rtol=2e-5)
    # Written onto a loaded config object, the dict has no base at all.
    loaded = hf_live.config_of("qwen2", {key: value for key, value in QWEN.items() if key != "model_type"})
    loaded.rope_parameters = dict(YARN)
    assert loaded.rope_parameters.get("rope_theta") is None


def test_an_override_that_loses_less_is_a_warning() -> None:
    deepseek = rc.model("deepseek-v3").hf_config()
    params = {"rope_type": "yarn", "rope_theta": 10_000, "factor": 80.0, "original_max_position_embeddings": 4096}
    _, (single,) = apply_override(deepseek, {"rope_parameters": params})
    assert single.severity == "warning" and set(single.values["lost"]) >= {"mscale", "mscale_all_dim"}  # type: ignore[call-overload]
    assert apply_override(deepseek, {"max_position_embeddings": 4096})[1] == []
    with pytest.raises(rc.ConfigError, match="override must be"):
        apply_override(deepseek, [1])


def test_an_override_beside_the_text_part_changes_nothing() -> None:
    """A rope dict at the top of a composite config, below text_config of a flat one, or a base beside the dict."""
    composite = {"model_type": "qwen3_5", "text_config": rc.model("qwen3.5-27b").hf_config()}
    for config, override, place in (
        (composite, {"rope_parameters": {**YARN, "rope_theta": 1e7}}, "rope_parameters"),
        (QWEN, {"text_config": {"rope_scaling": YARN}}, "text_config.rope_scaling"),
        (QWEN, {"rope_theta": 5e6}, "rope_theta"),
    ):
        after, (single,) = apply_override(config, override)
        assert (single.key, single.field, single.severity) == ("override_changes_nothing", place, "error")
        assert rc.from_hf(after).base == rc.from_hf(config).base and rc.from_hf(after).rope_type == "default"
        prefix = "text_config." if config is composite else ""
        assert single.values["read"] == f"{prefix}rope_parameters"
    whole = {"rope_type": "default", "rope_theta": 1e6}
    for repeats in ({"rope_parameters": whole}, {"rope_theta": 1e6}, {"max_position_embeddings": 4096}):
        assert apply_override(QWEN, repeats)[1] == []


def set_in(config: dict[str, Any], *path: str, **values: Any) -> dict[str, Any]:
    """Return a config with other values in the dict at a path."""
    new = copy.deepcopy(config)
    inner = new
    for name in path:
        inner = inner[name]
    inner.update(values)
    return new


GEMMA = to_v5(rc.model("gemma-3-27b").hf_config())
PHI, OSS, VL = (rc.model(name).hf_config() for name in ("phi-4-mini", "gpt-oss-20b", "qwen3-vl-32b"))
FULL, SLIDING = (("rope_parameters", f"{name}_attention") for name in ("full", "sliding"))
TRAINED = "original_max_position_embeddings"
LISTS = {"short_factor": PHI["rope_scaling"]["long_factor"], "long_factor": PHI["rope_scaling"]["short_factor"]}
# A released model with one value changed: its config, its name, what is said of the value, the field, how much moves.
OTHERWISE: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    "another type": (
        {**LLAMA31, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
        "Llama 3.1 8B", "rope_type linear factor 2", "rope_scaling.rope_type", "300 %",
    ),
    "a smaller factor": (
        set_in(LLAMA32, "rope_scaling", factor=8.0), "Llama 3.2 1B", "factor 8", "rope_scaling.factor", "300 %",
    ),
    "Qwen2.5's base": (
        {**QWEN, "rope_theta": 10_000.0}, "Qwen2.5 7B Instruct", "rope_theta 10000", "rope_theta", "9210 %",
    ),
    "Llama's base": ({**LLAMA31, "rope_theta": 1e6}, "Llama 3.1 8B", "rope_theta 1000000", "rope_theta", "64 %"),
    "two bases swapped": (
        set_in(set_in(GEMMA, *FULL, rope_theta=1e4), *SLIDING, rope_theta=1e6),
        "Gemma 3 27B", "rope_theta 1000000", "rope_parameters.sliding_attention.rope_theta", "98.9 %",
    ),
    "the maximum for the trained length": (
        set_in(OSS, "rope_scaling", **{TRAINED: 131_072}),
        "gpt-oss 20B", f"{TRAINED} 131072", f"rope_scaling.{TRAINED}", "2900 %",
    ),
    "LongRoPE from the maximum": (
        {**PHI, TRAINED: 131_072},
        "Phi-4 mini instruct", f"{TRAINED} 131072", TRAINED, "by 1 instead of 1.19",
    ),
    "lists swapped": (
        set_in(PHI, "rope_scaling", **LISTS),
        "Phi-4 mini instruct", "short_factor[47] 47.8", "rope_scaling.short_factor", "97.9 %",
    ),
    "sections of Qwen2.5-VL": (
        set_in(VL, "rope_scaling", mrope_section=[16, 24, 24]),
        "Qwen3-VL 32B Instruct", "mrope_section 16, 24, 24", "rope_scaling.mrope_section", "the axes take other pairs",
    ),
    "the whole head": (
        {**rc.model("pythia-6.9b").hf_config(), "rotary_pct": 1.0},
        "Pythia 6.9B", "rotary_dim 128", "rotary_pct", "64 pairs rotate instead of 16",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_released_shape_with_another_rotation_is_a_warning(name: str) -> None:
    """unslothai/unsloth#7028, meta-llama/llama-models#241: the shape of a released model, turned otherwise."""
    config, model, own, field, amount = OTHERWISE[name]
    single = of(config, "released_differs")[0]
    assert (single.severity, single.values["model"], single.field) == ("warning", model, field)
    assert amount in single.why()
    for lang in ("en", "zh"):
        assert model in single.title(lang) and own in single.title(lang)
        # What is released is another text than what is here.
        assert value_text(single.values["own"], lang) != value_text(single.values["released"], lang)


def test_pairs_that_stand_still_are_counted() -> None:
    gemma = to_v5(rc.model("gemma-4-31b").hf_config())
    gemma["rope_parameters"]["full_attention"] = {"rope_type": "default", "rope_theta": 1e6}
    (single,) = of(gemma, "scaling_lost")
    assert "192 pairs rotate that should stand still" in single.why() and "%" not in single.why()


def test_somebody_s_extension_is_noted_and_a_card_s_is_not() -> None:
    """A scaling at the released base, a longer maximum with the model's own scaling; Qwen's own recipes."""
    longer = extend(rc.model("kimi-k2").hf_config(), 262_144)[0].config
    # A length that is asked about does not count: LongRoPE's frequencies follow it.
    assert not [each for each in rc.check(PHI, seq_len=10**6) if each.key == "released_differs"]
    for config in ({**QWEN, "rope_scaling": {**YARN, "factor": 2.0}}, longer):
        assert [each.severity for each in of(config, "released_differs")] == ["note"]
    for name in ("qwen3-8b", "qwen2.5-7b"):
        card = {**rc.model(name).hf_config(), "rope_scaling": YARN}
        assert [each.severity for each in rc.check(card)] == ["note"] and not of(card, "released_differs")


@pytest.mark.parametrize(("name", "longest"), [("llama-3-8b", 8192), ("qwen3-8b", 40_960), ("mistral-7b-v0.3", 32_768)])
def test_a_longer_maximum_without_scaling(name: str, longest: int) -> None:
    config = {**rc.model(name).hf_config(), "max_position_embeddings": 4 * longest}
    (single,) = [each for each in rc.check(config) if each.severity != "note"]
    assert (single.key, single.field) == ("released_shorter", "max_position_embeddings")
    assert (single.values["max"], single.values["released"]) == (4 * longest, longest)


def test_what_4_57_makes_of_a_v5_config_has_a_cost() -> None:
    """MarinFold#184: rope_parameters alone, read by 4.57 as base 10,000 without scaling."""
    new = {**{k: v for k, v in LLAMA31.items() if k not in ("rope_theta", "rope_scaling")},
           "rope_parameters": {"rope_theta": 500_000.0, **LLAMA31["rope_scaling"]}}  # fmt: skip
    (each,) = [each for each in rc.check(new, "4.57") if each.key == "rope_parameters_not_read"]
    assert (each.values["base"], each.values["used"]) == (500_000.0, 10_000.0)
    # The slowest pair: 1e4 ** (-126 / 128) against 5e5 ** (-126 / 128) / 8.
    assert each.values["worst"] == pytest.approx(100 * (8 * 50.0 ** (126 / 128) - 1), rel=1e-9)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, draft = tmp_path / "target.json", tmp_path / "draft.json"
    target.write_text(json.dumps(QWEN))
    draft.write_text(json.dumps({**QWEN, "rope_theta": 1e4}))
    assert main(["check", str(target), "--with", str(target)]) == 0
    assert main(["check", str(draft), "--with", str(target), "--lang", "zh"]) == 1
    assert "两份配置的旋转不一致" in capsys.readouterr().out
    assert main(["check", str(target), "--override", json.dumps({"rope_scaling": YARN})]) == 1
    assert "rope_theta" in capsys.readouterr().out
    assert main(["check", str(target), "--override", json.dumps(extend(QWEN, 131_072)[0].block)]) == 0
    for wrong in (["--override", "{"], ["--override", "[1]"], ["--with", str(tmp_path / "absent.json")]):
        capsys.readouterr()
        assert main(["check", str(target), *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_keys_that_single_families_state_and_transformers_drops() -> None:
    """databricks/dbrx: the base lies in attn_config."""
    dbrx = {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768}
    findings = rc.check({**dbrx, "attn_config": {"rope_theta": 500_000, "kv_n_heads": 8}})
    (each,) = [each for each in findings if each.key == "top_level_key_not_read"]
    assert (each.field, each.values["value"], each.values["base"]) == ("attn_config.rope_theta", 500_000.0, 10_000.0)
    assert "top_level_key_not_read" not in [each.key for each in rc.check(dbrx)]


def test_a_list_of_types_to_scale_that_transformers_does_not_read() -> None:
    """Step-3.5: the class scales full attention whatever yarn_only_types says."""
    kinds = ["full_attention", "sliding_attention"] * 2
    scaling = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 8192}
    given = {"layer_types": kinds, "num_hidden_layers": 4, "head_dim": 64, "rope_scaling": scaling}
    given |= {"rope_theta": [5e6, 1e4] * 2, "max_position_embeddings": 16384}
    for listed, wrong in (
        (["full_attention"], []),
        (["sliding_attention"], kinds[:2]),
        (kinds[:2], ["sliding_attention"]),
        ([], []),
    ):
        config = {**given, "model_type": "step3p5", "yarn_only_types": listed}
        module = hf_live.rotary_class("step3p5")(hf_live.config_of("step3p5", {**given, "yarn_only_types": listed}))
        assert module.full_attention_attention_scaling > 1.0 == module.sliding_attention_attention_scaling
        findings = [each for each in rc.check(config) if each.key == "yarn_only_types_not_read"]
        assert sorted(str(each.values["layers"]) for each in findings) == sorted(wrong)
        assert all(each.field == "yarn_only_types" for each in findings)


@pytest.mark.parametrize("name", [model.id for model in rc.models() if len(rc.layer_types(model.hf_config())) > 1])
def test_one_rope_beside_several_layer_types_is_held_to_its_own_attention(name: str) -> None:
    """vllm-project/speculators#892: a draft without a window turns as the layers that see everything, or is wrong."""
    target = rc.model(name).hf_config()
    for kind, rope in ropes_of(target).items():
        if rope.nope or rope.rope_type not in ("default", "linear", "yarn") or rope.rotary_dim != rope.head_dim:
            continue
        params = {key: value for key, value in rope.params.items() if value is not None}
        lengths = {"original_max_position_embeddings": rope.train_len} if rope.rope_type == "yarn" else {}
        block = {"rope_type": rope.rope_type, "rope_theta": rope.base, **params, **lengths}
        draft = {"model_type": "llama", "head_dim": rope.head_dim, "max_position_embeddings": rope.max_len}
        draft |= {"rope_parameters": block}
        layout = rope.layout == "half"
        windowed = kind == "sliding_attention"
        for window in (None, 1024):
            keys = [each.key for each in rotation_difference_findings({**draft, "sliding_window": window}, target)]
            if layout and windowed == bool(window):
                assert keys == ["turns_as_one_type"], (kind, window)
        assert not layout or rotation_difference_findings(draft, target, layer_type=kind) == []
        wrong = {**draft, "rope_parameters": {**block, "rope_theta": 2 * rope.base}}
        assert [each.key for each in rotation_difference_findings(wrong, target, layer_type=kind)] == [
            "configs_disagree"
        ]
    with pytest.raises(ValueError, match="layer_type must be one of"):
        rotation_difference_findings(target, target, layer_type="nobody")


LINEAR4 = {"type": "linear", "factor": 4.0}


@pytest.mark.parametrize("name", ["rope_scaling", "rope_parameters"])
def test_an_override_of_null_says_what_it_drops_and_blames_no_base(name: str) -> None:
    """axolotl-ai-cloud/axolotl#383; transformers stops where the class itself does, on None."""
    config = {**rc.model("llama-2-7b").hf_config(), "rope_theta": 1e5, "rope_scaling": LINEAR4}
    after, (each,) = apply_override(config, {name: None})
    assert (each.key, each.severity) == ("override_null", "error")
    assert "factor 4" in each.title() and "rope_theta 100000" in each.title("zh")
    assert not [each for each in rc.check(after) if each.key.startswith("base_")]
    loaded = hf_live.config_of("llama", {"rope_theta": 1e5, "rope_scaling": LINEAR4})
    loaded.rope_parameters = None
    with pytest.raises(TypeError):
        hf_live.frequencies("llama", loaded, None, None)


def test_an_override_over_a_scaling_that_reaches_as_far() -> None:
    yarn = {"rope_type": "yarn", "rope_theta": 5e5, "factor": 4.0, "original_max_position_embeddings": 8192}
    _, (each,) = apply_override(LLAMA31, {"rope_scaling": yarn})
    # Keys of the old type are not asked for.
    assert (each.key, each.values["reach"]) == ("override_not_needed", 131072)
    assert [finding.key for finding in apply_override(LLAMA31, {"rope_scaling": {**yarn, "factor": 64.0}})[1]] == []
    short = {key: value for key, value in yarn.items() if key != "rope_theta"}
    assert apply_override(LLAMA31, {"rope_scaling": short})[1][0].values["lost"] == ("rope_theta",)


@pytest.mark.parametrize("kind", ["linear", "dynamic"])
@pytest.mark.parametrize("factor", [2.0, 4.0, 8.0])
def test_a_scaling_without_a_trained_length_has_two_readings(kind: str, factor: float) -> None:
    config = {**rc.model("llama-2-7b").hf_config(), "rope_scaling": {"type": kind, "factor": factor}}
    far = int(4096 * factor)
    for length, key in (
        (4096, None),
        (4097, "length_by_reading"),
        (far, "length_by_reading"),
        (far + 1, "length_beyond"),
    ):
        beyond_or_not = [each for each in rc.check(config, seq_len=length) if each.key.startswith("length_b")]
        assert [each.key for each in beyond_or_not] == ([key] if key else [])
        assert all("4096" in each.title() and str(far) in each.title() for each in beyond_or_not)
        assert all("rope extend prints how" in each.change() for each in beyond_or_not if key == "length_beyond")
    stated = {**config, "original_max_position_embeddings": 2048}
    (each,) = [each for each in rc.check(stated, seq_len=100_000) if each.key == "length_beyond"]
    assert each.values["reach"] == max(4096, int(2048 * factor)) and "if 4096" not in each.title()
