"""verify: each planted fault of a rotation is found in each family, under its own name."""

import copy
from typing import Any

import pytest
import torch

import rope_core as rc
from tests.support import tiny_models
from tests.support.rotary_faults import COS_FOR_SIN, FAULTS, PARTIAL, Plant, Target, positions

LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.5, 2.0, 3.0], "long_factor": [1.5, 4.0, 9.0, 20.0]}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096, "rope_theta": 150000.0}
APPLY = "apply_rotary_pos_emb"
# model_type, changes of its config, the function that turns, width, head width, pairs.
FAMILIES: dict[str, tuple[dict[str, Any], str, int, int, str]] = {
    "llama": ({"rope_theta": 500000.0}, APPLY, 16, 16, "half"),
    "qwen3": ({"rope_theta": 1e6}, APPLY, 16, 16, "half"),
    "gemma3_text": ({"layer_types": ["sliding_attention", "full_attention"]}, APPLY, 16, 16, "half"),
    "phi3": (
        {"partial_rotary_factor": 0.5, "rope_scaling": LONG, "original_max_position_embeddings": 2048},
        APPLY,
        8,
        16,
        "half",
    ),
    "glm4": ({}, APPLY, 8, 16, "interleaved"),
    "deepseek_v3": ({"rope_theta": 20000.0}, f"{APPLY}_interleave", 16, 16, "interleaved"),
    "gpt_oss": ({"rope_scaling": YARN}, APPLY, 16, 16, "half"),
    "falcon": ({"alibi": False}, APPLY, 16, 16, "half"),
    "nanochat": ({}, APPLY, 16, 16, "half"),
    "stablelm": ({"partial_rotary_factor": 0.5}, APPLY, 8, 16, "half"),
}
QUARTER = {"deepseek_v3": "rotation_differs", "gpt_oss": "rotation_differs"}
# Lanes that should stay move with the others where the function sees whole heads; doubled positions pass the length at
# which LongRoPE switches; DeepSeek's function reorders what it turns once more.
OTHERWISE = {(name, "temperature_of_positions"): "rotation_other_lanes" for name in ("phi3", "glm4")}
OTHERWISE |= dict.fromkeys((("phi3", "positions_doubled"), ("deepseek_v3", "twice")), "rotation_differs")
# What has no meaning there: DeepSeek's v shares a projection with k's other half, falcon and phi3 have one projection
# for q, k and v; gpt-oss computes no v_proj; the norm that nanochat has after its rotation takes a scale away.
NOT_THERE = {
    "deepseek_v3": ("v_turns", "table_order"),
    "falcon": ("v_turns",),
    "phi3": ("v_turns",),
    "nanochat": ("q_scaled", "k_scaled"),
    # Tables by layer type, or with a column a pair.
    "gemma3_text": ("angles_in_bf16",),
    "gpt_oss": ("angles_in_bf16", "table_order"),
    "glm4": ("table_order",),
}


def pairs() -> list[Any]:
    """Every fault in every family that has a place for it; every third pair is in the short run."""
    built = []
    for i, name in enumerate(FAMILIES):
        for j, fault in enumerate(FAULTS):
            if fault not in NOT_THERE.get(name, ()):
                built.append(pytest.param(name, fault, marks=[pytest.mark.long] if (i + j) % 3 else []))
    return built


@pytest.fixture(scope="module")
def models() -> dict[str, tuple[Any, Any]]:
    return {name: tiny_models.model(name, num_hidden_layers=2, **row[0]) for name, row in FAMILIES.items()}


def planted(name: str, plant: Plant, models: dict[str, tuple[Any, Any]], patch: pytest.MonkeyPatch) -> list[rc.Finding]:
    """Return what verify finds in a copy of a family's model with one fault."""
    model, config = models[name]
    target = Target(copy.deepcopy(model), *FAMILIES[name][1:], patch)
    with torch.no_grad():
        plant(target)
    return rc.verify(target.model, config)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_healthy_model_is_clean(name: str, models: dict[str, tuple[Any, Any]]) -> None:
    assert rc.verify(*models[name]) == []


@pytest.mark.parametrize(("name", "fault"), pairs())
def test_every_fault_is_found(
    name: str, fault: str, models: dict[str, tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, key = FAULTS[fault]
    result = planted(name, plant, models, monkeypatch)
    expected = OTHERWISE.get((name, fault), key)
    assert {each.key for each in result} == {expected}, [(each.key, dict(each.values)) for each in result]


@pytest.mark.parametrize("name", FAMILIES)
def test_cos_in_the_place_of_sin_is_found(
    name: str, models: dict[str, tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = planted(name, COS_FOR_SIN, models, monkeypatch)
    assert {each.key for each in result} == {QUARTER.get(name, "rotation_backwards")}


@pytest.mark.parametrize("fault", PARTIAL)
@pytest.mark.parametrize("name", ["phi3", "glm4"])
def test_wrong_lanes_of_a_partial_rotation_are_found(
    name: str, fault: str, models: dict[str, tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, key = PARTIAL[fault]
    result = planted(name, plant, models, monkeypatch)
    assert [each.key for each in result] == [key]
    assert result[0].values["part"] == "q, k"


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 16_384, "rope_theta": 500_000.0}
# Family, trained length, scaling.
LONG_ONES: list[tuple[str, int, dict[str, Any] | None]] = [
    ("llama", 131_072, None),
    ("qwen3", 40_960, None),
    ("llama", 131_072, LLAMA3),
    ("llama", 131_072, {"rope_type": "linear", "factor": 1.5, "rope_theta": 10_000.0}),
]
FAR: dict[str, Any] = {
    "one_at_65535": lambda where: where - (where == 65_535).long(),
    "one_at_65536": lambda where: where + (where == 65_536).long(),
    "one_at_65537": lambda where: where - (where == 65_537).long(),
    "the_last": lambda where: where - (where == 131_071).long() - (where == 40_959).long(),
    "from_4097_on": lambda where: where - (where > 4096).long(),
    "from_30000_on": lambda where: where - (where >= 30_000).long(),
    "in_single_precision_of_thousands": lambda where: ((where / 1000).half() * 1000).round().long(),
}


@pytest.mark.parametrize("fault", FAR)
@pytest.mark.parametrize("row", range(len(LONG_ONES)))
def test_an_angle_wrong_by_one_position_is_found_at_any_distance(
    row: int, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, length, scaling = LONG_ONES[row]
    fields: dict[str, Any] = {"max_position_embeddings": length, **({"rope_scaling": scaling} if scaling else {})}
    model, config = tiny_models.model(name, num_hidden_layers=2, **fields)
    assert rc.verify(model, config) == []
    if "6553" in fault and length < 65_536:
        return
    positions(FAR[fault])(Target(model, APPLY, 16, 16, "half", monkeypatch))
    assert {each.key for each in rc.verify(model, config)} == {"rotation_differs"}
