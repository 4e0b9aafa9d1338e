"""Single threads of 2026, each as the config or the code that it is about and the finding that it gets."""

import sys
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.extension.extend import extend
from tests.rope_core.checks.test_findings import keys as keys_of
from tests.support import tiny_models

MISTRAL = {"dim": 5120, "n_layers": 40, "n_heads": 40, "head_dim": 128, "rope_theta": 1e6, "max_seq_len": 262_144}
YARN = {"factor": 16, "original_max_position_embeddings": 16_384, "beta": 32, "alpha": 1}
NOMIC = {
    "model_type": "nomic_bert",
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 8192,
    "max_trained_positions": 2048,
    "rotary_emb_base": 1000,
    "rotary_emb_fraction": 1.0,
}


@pytest.mark.parametrize(("given", "factor"), [(True, 1.2772588722239782), (False, 1.0), (None, 1.2772588722239782)])
def test_a_scale_that_conversions_left_out(given: bool | None, factor: float) -> None:
    """ggml-org/llama.cpp#22612: Mistral's own params.json with apply_scale."""
    config = {**MISTRAL, "yarn": YARN if given is None else {**YARN, "apply_scale": given}}
    assert rc.from_hf(config).attention_factor == pytest.approx(factor)
    findings = [each for each in rc.check(config) if each.key == "conversion_drops_scale"]
    assert bool(findings) == bool(given)
    for each in findings:
        assert each.field == "yarn.apply_scale" and each.values["factor"] == pytest.approx(factor)
        assert each.values["logits"] == pytest.approx(factor**2) and "1.28" in each.title("zh")


@pytest.mark.parametrize(("given", "read"), [(2, False), (None, True), (1.0, True)])
def test_a_scaling_that_only_other_programs_read(given: object, read: bool) -> None:
    """vllm-project/vllm#41236: nomic's factor means dynamic NTK in vLLM, and nothing in transformers' own class."""
    findings = [
        each for each in rc.check({**NOMIC, "rotary_scaling_factor": given}) if each.key == "top_level_key_not_read"
    ]
    assert [each.field for each in findings] == ([] if read else ["rotary_scaling_factor"])
    assert all(each.severity == "warning" for each in findings)


def test_frequencies_are_right_and_pairs_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """apple/coreai-models#66: Gemma 4 spreads its turning pairs over the whole head, (i, i + 256) of 512.

    A program that packs them into the first 128 dimensions turns other lanes by the same frequencies.
    """
    config: dict[str, Any] = {"model_type": "gemma4_text"}
    (each,) = [each for each in rc.check(config) if each.key == "proportional_pairs"]
    rope = rc.from_hf(config, "full_attention")
    turning = int(np.count_nonzero(rope.inv_freq))
    assert (turning, rope.head_dim, rope.layout) == (64, 512, "half")
    assert each.severity == "note" and "64 of 256" in each.title()
    model, small = tiny_models.model("gemma4_text", num_hidden_layers=2, layer_types=sorted(rc.layer_types(config)))
    assert rc.verify(model, small) == []
    monkeypatch.setattr(sys.modules[type(model).__module__], "apply_rotary_pos_emb", packed)
    (each,) = rc.verify(model, small)
    assert (each.key, each.severity) == ("rotation_differs", "error")


def test_a_trained_length_in_the_rope_dict_does_not_stay_behind() -> None:
    """Ministral 3 repeats max_position_embeddings in its rope dict, where nothing reads it."""
    (way,) = extend({"model_type": "mistral4", "max_position_embeddings": 1_048_576}, 2_097_152)
    assert "max_position_embeddings" not in way.block["rope_parameters"]
    assert way.config["max_position_embeddings"] == 2_097_152
    assert [each.key for each in rc.check(way.config) if each.severity != "note"] == []


def test_layers_that_predict_ahead_and_vocoders_are_named() -> None:
    """vllm-project/vllm#58080: a draft built from the model's own layers loses the override."""
    deepseek = {**rc.model("deepseek-v3").hf_config(), "num_nextn_predict_layers": 1}
    nested = {"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text", "mtp_num_hidden_layers": 2}}
    for config, field, count in (
        (deepseek, "num_nextn_predict_layers", 1),
        (nested, "text_config.mtp_num_hidden_layers", 2),
    ):
        (each,) = [each for each in rc.check(config) if each.key == "mtp_layers"]
        assert (each.field, each.values["count"], each.severity) == (field, count, "note")
    for none in (0, None, True, -1, "2", [1]):
        assert "mtp_layers" not in keys_of({**deepseek, "num_nextn_predict_layers": none})
    for kind, name in (("qwen3_omni_moe", "code2wav_config"), ("qwen2_5_omni", "token2wav_config")):
        (each,) = [each for each in rc.check({"model_type": kind, name: {}}) if each.key == "vocoder_not_read"]
        assert (each.field, each.severity) == (name, "note")


def test_a_value_out_of_range_is_named_by_its_own_field() -> None:
    """Hunyuan's alpha is the factor of NTK."""
    scaling = {"type": "dynamic", "alpha": 1e6, "factor": 1.0}
    config = {"model_type": "hunyuan_v1_dense", "head_dim": 128, "rope_scaling": scaling}
    (each,) = [each for each in rc.check(config) if each.severity == "error"]
    assert each.field == "rope_scaling.alpha"


@pytest.mark.parametrize("layers", [2, 4])
def test_widths_that_a_config_lists_by_layer(layers: int) -> None:
    model, config = tiny_models.model("dots3_note_text", num_hidden_layers=layers)
    assert rc.verify(model, config) == []


@pytest.mark.parametrize("model_type", [pytest.param("blt", marks=pytest.mark.long), "clvp"])
def test_a_part_that_is_not_the_text_is_named_and_not_compared(model_type: str) -> None:
    model, config = tiny_models.model(model_type)
    assert [each.key for each in rc.verify(model, config)] == ["part_not_observed"]


def packed(x: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
    """Turn as a program does that packs the pairs that turn: (i, i + turning) in the place of (i, i + head_dim/2)."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    half = x.shape[-1] // 2
    turning = int(torch.count_nonzero(sin[..., :half].abs().amax(dim=tuple(range(sin.ndim - 1)))))
    turning = turning or half
    a, b, rest = x.split([turning, turning, 2 * (half - turning)], dim=-1)
    cos, sin = cos[..., :turning], sin[..., :turning]
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], dim=-1)
