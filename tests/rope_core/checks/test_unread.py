"""Values that a file states and its family does not read, for every family of transformers with layer types."""

import copy
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.checks.check import check
from rope_core.checks.rules.keys import PARAMETERS
from rope_core.checks.rules.unread import OF_SINGLE_FAMILIES, SHARES
from rope_core.hf.families import class_defaults_by_family
from rope_core.hf.resolve import ropes_of

FAMILIES = sorted(class_defaults_by_family())
FLAT = sorted(name for name, row in class_defaults_by_family().items() if "flat_dict" in row)
BASES = st.integers(20_001, 9_000_000).map(float)


def flat(factor: float, base: float, kind: str) -> dict[str, Any]:
    lengths = {"original_max_position_embeddings": 4096} if kind == "yarn" else {}
    return {"rope_type": kind, "factor": factor, "rope_theta": base, **lengths}


def flat_findings(config: dict[str, Any]) -> list[rc.Finding]:
    return [each for each in check(config) if each.key == "flat_dict_not_read"]


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(FLAT), st.integers(2, 40), BASES, st.sampled_from(["linear", "yarn"]), st.booleans())
def test_one_dict_for_all_layer_types_is_an_error_whose_block_is_read(
    name: str, factor: int, base: float, kind: str, inside: bool
) -> None:
    """Paste what the finding prints: the error goes, and the factor and the base that were stated run."""
    stated = flat(float(factor), base, kind)
    config = {"model_type": name, "rope_parameters": stated}
    whole = {"model_type": "nobody", "text_config": config} if inside else config
    (each,) = flat_findings(whole)
    assert each.severity == "error" and each.field.endswith("rope_parameters")
    for key, value in stated.items():
        assert f"{key} {value:.0f}" in each.title() if isinstance(value, float) else f"{key} {value}" in each.title()
    assert not any(other.key.startswith("base_") for other in check(whole))
    pasted = {**config, **copy.deepcopy(dict(each.values["block"]))}  # type: ignore[call-overload]
    assert flat_findings(pasted) == []
    ropes = [rope for rope in ropes_of(pasted).values() if rope.params.get("factor") == factor]
    assert ropes and {rope.base for rope in ropes} == {base} and {rope.rope_type for rope in ropes} == {kind}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FLAT), BASES)
def test_a_top_level_base_that_no_layer_type_reads(name: str, base: float) -> None:
    """The classes themselves say whether it is read; where it is not, the error's block states it."""
    config = {"model_type": name, "rope_theta": base}
    try:
        running = {rope.base for rope in ropes_of(config).values()}
    except rc.ConfigError:
        return
    assert [each.severity for each in flat_findings(config)] == ([] if base in running else ["error"])
    for each in flat_findings(config):
        assert base in {rope.base for rope in ropes_of({"model_type": name, **each.values["block"]}).values()}  # type: ignore[dict-item]


def test_the_check_of_a_flat_override_names_the_dict() -> None:
    from rope_core.checks.against import apply_override

    config = {"model_type": "gemma3", "text_config": rc.model("gemma-3-4b").hf_config()}
    after, _ = apply_override(config, {"text_config": {"rope_parameters": flat(16.0, 1e6, "linear")}})
    (each,) = flat_findings(after)
    assert each.field == "text_config.rope_parameters" and "factor 16" in each.title("zh")


@pytest.mark.parametrize("name", FLAT)
def test_the_family_s_own_dict_and_a_repeated_value_are_no_error(name: str) -> None:
    own = {kind: values or None for kind, values in class_defaults_by_family()[name]["rope"].items()}
    assert flat_findings({"model_type": name, "rope_parameters": own}) == []
    for base in {rope.base for rope in ropes_of({"model_type": name}).values()}:
        assert flat_findings({"model_type": name, "rope_theta": base}) == []


@pytest.mark.parametrize(
    "name", ["rope_theta", "rotary_base", "rope_freq_base", "swa_rope_theta", "rotary_emb_base", "global_rope_theta"]
)
def test_a_config_that_states_a_base_is_not_called_silent(name: str) -> None:
    """At the top, in another part or in a dict that nothing reads."""
    llama = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 8192}
    read = name == "rope_theta"
    for config in ({**llama, name: 77_777.0}, {**llama, "other_config": {name: 77_777.0}}):
        silent = [each for each in check(config) if each.key.startswith("base_") and each.key != "base_not_read"]
        assert silent == []
        named = [each for each in check(config) if each.key == "base_not_read"]
        assert bool(named) != (read and name in config)
        assert all("77777" in each.title() for each in named)
    assert [each.key for each in check(llama) if each.key.startswith("base_")] == ["base_is_class_default"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FAMILIES), st.sampled_from([*OF_SINGLE_FAMILIES[:-1], *PARAMETERS]))
def test_each_stated_field_of_a_rotation_is_read_or_named(family: str, name: str) -> None:
    stated = {name: 0.375 if name in SHARES else 54_321.0}
    config = {"model_type": family, "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 4, **stated}
    try:
        ropes = ropes_of(config).values()
    except rc.ConfigError:
        return
    read = name in {origin.path for rope in ropes for origin in rope.provenance.values()}
    assert read or any(name in f"{each.field} {each.values}" for each in check(config, everything=True))


def alike(left: dict[str, Any], other: dict[str, Any]) -> bool:
    a, b = (rc.from_hf(each) for each in (left, other))
    return bool((a.inv_freq == b.inv_freq).all()) and (a.layout, a.nope_layers) == (b.layout, b.nope_layers)


@settings(max_examples=40, deadline=None)
@given(BASES, st.integers(2, 32), st.booleans(), st.sampled_from(["llama", "qwen2", "mixtral"]))
def test_tensorrt_llm_s_config_is_read(base: float, factor: int, scaled: bool, kind: str) -> None:
    """NVIDIA/TensorRT-LLM#1676: rotary_base and rotary_scaling; a lost scaling shows beside the checkpoint's config."""
    from rope_core.checks.against import rotation_difference_findings

    sizes = {"hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 8192}
    scaling = {"type": "linear", "factor": float(factor)}
    hf = {"model_type": kind, **sizes, "rope_theta": base, "rope_scaling": scaling}
    name = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "mixtral": "MixtralForCausalLM"}[kind]
    trt = {"architecture": name, **sizes, "position_embedding_type": "rope_gpt_neox", "rotary_base": base}
    trt |= {"rotary_scaling": scaling} if scaled else {}
    assert [each.key for each in rotation_difference_findings(trt, hf)] == ([] if scaled else ["configs_disagree"])
    assert not [each for each in check(trt) if each.key.startswith(("base_", "unknown"))]


@settings(max_examples=40, deadline=None)
@given(BASES, st.sampled_from([None, 8, 32]), st.sampled_from([0, 4]), st.booleans())
def test_meta_s_and_executorch_s_params_are_read(base: float, factor: int | None, every: int, halves: bool) -> None:
    sizes = {"dim": 2048, "n_heads": 32, "n_layers": 16, "multiple_of": 256, "max_seq_len": 131072}
    params = {**sizes, "rope_freq_base": base, "use_hf_rope": halves, "no_rope_layer_interval": every or None}
    params |= {"use_scaled_rope": True, "rope_scale_factor": factor} if factor else {}
    llama3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    smollm = {"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 32, "num_hidden_layers": 16}
    hf = {**smollm, "max_position_embeddings": 131072, "rope_theta": base, "no_rope_layer_interval": every or 999}
    hf |= {"rope_scaling": {"rope_type": "llama3", "factor": factor, **llama3}} if factor else {}
    assert rc.from_hf(params).layout == ("half" if halves else "interleaved")
    assert alike({**params, "use_hf_rope": True}, hf)
    assert not [each for each in check(params) if each.severity != "note"]


FOREIGN = ["rope_alpha", "alpha_value", "rope_condense_ratio", "rotary_scaling", "yarn_ext_factor", "compress_pos_emb"]


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(rc.models()), st.sampled_from(FOREIGN), st.integers(11, 97))
def test_a_rope_like_field_that_nobody_reads_is_named_with_what_runs(model: rc.Model, name: str, value: int) -> None:
    config = model.hf_config()
    assert "field_not_read" not in [each.key for each in check(config)]
    assume(
        name in FOREIGN[:2]
        or value != rc.from_hf(config, next(iter(rc.layer_types(config)), None)).params.get("factor")
    )
    given = {"type": "linear", "factor": value} if name == "rotary_scaling" else value
    (each,) = [each for each in check({**config, name: given}) if each.key == "field_not_read"]
    assert each.field == name and str(value) in each.title() and "base" in each.why()
    idle: Any
    for idle in (None, False, 0, 1.0, {}, ""):
        assert "field_not_read" not in [each.key for each in check({**config, name: idle})]


def test_single_fields_of_other_programs() -> None:
    """turboderp-org/exllamav2#704 and vllm-project/vllm#17785."""
    llama3 = rc.model("llama-3-8b").hf_config()
    (each,) = [each for each in check({**llama3, "rope_alpha": 2.65}) if each.key == "field_not_read"]
    assert each.values["advice"].values["base"] == pytest.approx(500_000 * 2.65 ** (128 / 126))  # type: ignore[attr-defined]
    nomic = {"model_type": "nomic_bert", "n_embd": 768, "n_head": 12, "n_layer": 12, "rotary_emb_base": 1000}
    for flag, expected in ((True, True), (False, False)):
        fields = [each for each in check({**nomic, "rotary_emb_interleaved": flag}) if each.key == "field_not_read"]
        assert [each.severity for each in fields] == (["warning"] if expected else [])
        assert all("pairs half" in each.why() for each in fields)
    assert "field_not_read" not in [each.key for each in check({**llama3, "use_rope": True, "rotary": True})]
    for field, value in (("use_hf_rope", False), ("no_rope_layer_interval", 4), ("no_rope_layers", [1, 1, 0])):
        (each,) = [each for each in check({**llama3, field: value}) if each.key == "field_not_read"]
        assert each.field == field and each.severity == "warning"
    idle = {"use_hf_rope": True, "no_rope_layers": [1] * 32, "no_rope_layer_interval": 0, "n_positions": 8192}
    assert "field_not_read" not in [each.key for each in check({**llama3, **idle})]
    (each,) = check({**nomic, "n_positions": 8192, "max_trained_positions": 2048})
    assert (each.key, each.field, each.severity) == ("field_not_read", "n_positions", "note")
    for widths, expected in (([16, 56, 48], True), ([16, 56, 56], False)):
        flux = {"_class_name": "FluxTransformer2DModel", "attention_head_dim": 128, "axes_dims_rope": widths}
        assert ("axes_do_not_fill" in [each.key for each in check(flux)]) == expected
