"""Values that a file states and its family does not read, for every family of transformers with layer types."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.checks.findings import check
from rope_core.hf.families import families
from rope_core.hf.ropes import ropes_of

FLAT = sorted(name for name, row in families().items() if "flat_dict" in row)
BASES = st.integers(20_001, 9_000_000).map(float)


def flat(factor: float, base: float, kind: str) -> dict[str, Any]:
    lengths = {"original_max_position_embeddings": 4096} if kind == "yarn" else {}
    return {"rope_type": kind, "factor": factor, "rope_theta": base, **lengths}


def found(config: dict[str, Any]) -> list[rc.Finding]:
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
    (each,) = found(whole)
    assert each.severity == "error" and each.field.endswith("rope_parameters")
    for key, value in stated.items():
        assert f"{key} {value:.0f}" in each.title() if isinstance(value, float) else f"{key} {value}" in each.title()
    assert not any(other.key.startswith("base_") for other in check(whole))
    pasted = {**config, **copy.deepcopy(dict(each.values["block"]))}  # type: ignore[call-overload]
    assert found(pasted) == []
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
    assert [each.severity for each in found(config)] == ([] if base in running else ["error"])
    for each in found(config):
        assert base in {rope.base for rope in ropes_of({"model_type": name, **each.values["block"]}).values()}  # type: ignore[dict-item]


def test_an_override_that_is_flat_is_told_by_the_check_of_its_result() -> None:
    from rope_core.checks.against import overridden

    config = {"model_type": "gemma3", "text_config": rc.model("gemma-3-4b").hf_config()}
    after, _ = overridden(config, {"text_config": {"rope_parameters": flat(16.0, 1e6, "linear")}})
    (each,) = found(after)
    assert each.field == "text_config.rope_parameters" and "factor 16" in each.title("zh")


@pytest.mark.parametrize("name", FLAT)
def test_the_family_s_own_dict_and_a_repeated_value_are_no_error(name: str) -> None:
    own = {kind: values or None for kind, values in families()[name]["rope"].items()}
    assert found({"model_type": name, "rope_parameters": own}) == []
    for base in {rope.base for rope in ropes_of({"model_type": name}).values()}:
        assert found({"model_type": name, "rope_theta": base}) == []


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
        told = [each for each in check(config) if each.key == "base_not_read"]
        assert bool(told) != (read and name in config)
        assert all("77777" in each.title() for each in told)
    assert [each.key for each in check(llama) if each.key.startswith("base_")] == ["base_is_class_default"]
