"""v4 to v5 and back against transformers itself, and comparisons."""

import copy
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.hf.resolve import resolve
from rope_core.hf.schemas import compare_configs, to_v4, to_v5

LLAMA: dict[str, Any] = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4, "rope_theta": 500000.0}
YARN = {"type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}
# Whose rotation stands in code, or whose layers version 4 could not tell apart.
NO_V5 = {"gpt-j-6b"}
NO_V4 = NO_V5 | {
    "deepseek-v4-flash", "deepseek-v4-pro", "gemma-4-26b-a4b", "gemma-4-31b", "lfm3-1.7b", "mimo-v2-flash",
    "step-3.5-flash",
}  # fmt: skip


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    kinds = rc.layer_types(left) or [None]  # type: ignore[list-item]
    return rc.layer_types(left) == rc.layer_types(right) and all(
        np.array_equal(rc.from_hf(left, kind).inv_freq, rc.from_hf(right, kind).inv_freq)
        and rc.from_hf(left, kind).attention_factor == pytest.approx(rc.from_hf(right, kind).attention_factor)
        and rc.from_hf(left, kind).logit_scale == rc.from_hf(right, kind).logit_scale
        for kind in kinds
    )


@pytest.mark.parametrize("model", rc.models(), ids=lambda model: model.id)
def test_the_catalogue_there_and_back(model: rc.Model) -> None:
    config = model.hf_config()
    kept = copy.deepcopy(config)
    if model.id in NO_V5:
        with pytest.raises(rc.ConfigError, match="model_type must be"):
            to_v5(config)
        return
    new = to_v5(config)
    assert same(config, new) and config == kept
    text = resolve(new).text.fields.stated
    assert "rope_parameters" in text and not {"rope_scaling", "rope_theta", "rotary_pct"} & set(text)
    if model.id in NO_V4:
        with pytest.raises(rc.ConfigError, match="model_type must be"):
            to_v4(new)
        return
    old = to_v4(new)
    assert same(config, old) and same(config, resolve(old).as_read_by_4.raw)
    assert "rope_parameters" not in resolve(old).text.fields.stated


def test_literal_blocks() -> None:
    new = to_v5({**LLAMA, "rope_scaling": YARN})
    assert new["rope_parameters"] == {
        "rope_type": "yarn",
        "rope_theta": 500000.0,
        "factor": 8.0,
        "original_max_position_embeddings": 16384,
    }
    gemma = to_v5(rc.model("gemma-3-4b").hf_config())["rope_parameters"]
    assert gemma["sliding_attention"] == {"rope_type": "default", "rope_theta": 10000.0}
    assert gemma["full_attention"] == {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}
    old = to_v4(to_v5(rc.model("gemma-3-4b").hf_config()))
    assert (old["rope_theta"], old["rope_local_base_freq"]) == (1e6, 10000.0)
    assert old["rope_scaling"] == {"rope_type": "linear", "factor": 8.0}


def test_longrope_moves_its_length_for_version_4() -> None:
    long = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0] * 64,
        "long_factor": [4.0] * 64,
        "factor": 8.0,
        "original_max_position_embeddings": 4096,
    }
    config = {**LLAMA, "max_position_embeddings": 131072, "rope_parameters": long}
    del config["rope_theta"]
    old = to_v4(config)
    assert old["original_max_position_embeddings"] == 4096
    assert old["rope_scaling"]["attention_factor"] == pytest.approx(rc.from_hf(config).attention_factor)


def test_a_partial_width_that_is_not_read_is_not_carried_to_version_4() -> None:
    assert "partial_rotary_factor" not in to_v4({**LLAMA, "partial_rotary_factor": 0.5})
    scaled = to_v4({**LLAMA, "partial_rotary_factor": 0.5, "rope_scaling": YARN, "max_position_embeddings": 131072})
    assert scaled["partial_rotary_factor"] == 0.5


def test_a_comparison_puts_differences_first() -> None:
    rows = compare_configs(rc.model("llama-3-8b").hf_config(), rc.model("llama-3.1-8b").hf_config())
    flags = [row.same for row in rows]
    assert flags == sorted(flags)
    differ = {row.field: (row.left, row.right) for row in rows if not row.same}
    assert differ["rope_type"] == ("default", "llama3") and differ["max_len"] == (8192, 131072)
    assert differ["inv_freq"] == (0.0, pytest.approx(7.0))
    assert all(row.same for row in compare_configs(LLAMA, to_v5(LLAMA)))
    assert next(
        row.right for row in compare_configs(LLAMA, {**LLAMA, "head_dim": 64}) if row.field == "inv_freq"
    ) == float("inf")


def test_a_comparison_of_other_layer_types() -> None:
    rows = compare_configs(LLAMA, {"model_type": "gemma3_text"})
    assert {row.layer_type for row in rows} == {"sliding_attention", "full_attention"}
    assert next(row for row in rows if row.layer_type == "full_attention" and row.field == "base").right == 1e6
    rows = compare_configs({"model_type": "deepseek_v4"}, {"model_type": "gemma3_text"})
    assert (None, "full_attention") in {(row.left, row.right) for row in rows}
