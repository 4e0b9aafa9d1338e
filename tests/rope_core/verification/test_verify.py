"""verify: real transformers modules, good and broken, stored weights, conversions, caches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

import rope_core as rc
from rope_core.verification.cache import check_cache
from rope_core.verification.verify import check_conversion, verify
from tests.support.configs import keys

transformers.logging.set_verbosity_error()

SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 32,
    "max_position_embeddings": 8192,
    "rope_theta": 50000.0,
}
LLAMA = {"model_type": "llama", **SMALL}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}


def model(config: dict[str, Any]) -> Any:
    """Return transformers' own model of a small config, on the CPU."""
    fields = {key: value for key, value in config.items() if key != "model_type"}
    built = transformers.CONFIG_MAPPING[config["model_type"]](**fields)
    return transformers.AutoModel.from_config(built)


def test_deepseek_reorders_on_the_way() -> None:
    config = {
        "model_type": "deepseek_v3",
        "qk_rope_head_dim": 16,
        "max_position_embeddings": 163840,
        "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1.0}
        | {"mscale_all_dim": 1.0},
    }
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3RotaryEmbedding

    fields = {key: value for key, value in config.items() if key != "model_type"}
    rotary = DeepseekV3RotaryEmbedding(transformers.CONFIG_MAPPING["deepseek_v3"](**fields))
    assert keys(verify(rotary, config)) == []
    assert keys(verify(rotary, {**config, "rope_interleave": False})) == []
    # The same module under a family that pairs halves: the function beside it still reorders nothing.
    assert keys(verify(rotary, {**config, "model_type": "llama", "head_dim": 16, "rope_theta": 1e4})) == []


def test_a_cast_of_the_whole_module_is_seen() -> None:
    cast = verify(model(LLAMA).to(torch.bfloat16), LLAMA)
    assert keys(cast) == ["buffer_rounded"] and cast[0].values["dtype"] == "bfloat16"
    wanted = rc.from_hf(LLAMA).inv_freq
    rounded = torch.tensor(wanted, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    assert cast[0].values["error"] == pytest.approx(np.abs(rounded - wanted).max() * 8191, rel=1e-6)
    back = verify(model(LLAMA).to(torch.float16).float(), LLAMA)
    assert keys(back) == ["buffer_rounded"] and back[0].values["dtype"] == "float16"


def test_memory_that_nobody_wrote_is_seen() -> None:
    with torch.device("meta"):
        empty = model(LLAMA)
    assert keys(verify(empty, LLAMA)) == ["buffer_on_meta"]
    for junk in ([float("nan")] * 8, [0.0] * 8, [1e-30, 3e10, 0.0, 1.0, 2.0, 5.0, 1e20, 7.0], [-1.0] * 8):
        loaded = model(LLAMA)
        loaded.rotary_emb.inv_freq.copy_(torch.tensor(junk))
        assert keys(verify(loaded, LLAMA)) == ["buffer_uninitialised"], junk


def test_another_config_than_the_models_is_seen() -> None:
    plain = model(LLAMA)
    scaled = {**LLAMA, "rope_scaling": YARN}
    assert keys(verify(plain, scaled)) == ["buffer_unscaled", "attention_scaling_differs"]
    differs = verify(plain, {**LLAMA, "rope_theta": 1e6})
    assert keys(differs) == ["buffer_differs"] and differs[0].values["pair"] == 7
    width = verify(plain, {**LLAMA, "head_dim": 32})
    assert keys(width)[0] == "buffer_width" and width[0].values == {"found": 8, "wanted": 16}
    assert differs[0].field == "rotary_emb.inv_freq"


def test_the_other_layout_is_seen() -> None:
    cohere = {"model_type": "cohere", **SMALL}
    wrong = verify(model(LLAMA), cohere)
    assert keys(wrong) == ["layout_differs"]
    assert wrong[0].values == {"found": "half", "wanted": "interleaved", "partner": 8, "part": "q, k"}
    other = verify(model(cohere), LLAMA)
    assert keys(other) == ["layout_differs"] and other[0].values["partner"] == 1


class OwnRotary(nn.Module):
    """A rotation of adjacent pairs that is given vectors, as torchtune's."""

    def __init__(self, inv_freq: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angle = torch.arange(x.shape[1])[:, None] * self.get_buffer("inv_freq")
        cos, sin = angle.cos()[None, :, None], angle.sin()[None, :, None]
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack((first * cos - second * sin, first * sin + second * cos), -1).flatten(-2)


def test_a_module_that_rotates_by_itself_is_probed() -> None:
    inv_freq = torch.tensor(rc.from_hf(LLAMA).inv_freq, dtype=torch.float32)
    assert keys(verify(OwnRotary(inv_freq), LLAMA)) == ["layout_differs"]
    assert keys(verify(OwnRotary(inv_freq), {"model_type": "cohere", **SMALL})) == []


def test_a_module_without_rotation_says_so() -> None:
    assert keys(verify(nn.Linear(4, 4), LLAMA)) == ["no_buffers", "rotation_not_observed"]

    class Rotary(nn.Module):
        def forward(self, somewhere: object) -> None:
            raise KeyError("elsewhere")

    # What the module raised is said, not swallowed.
    finding = verify(Rotary(), LLAMA)[-1]
    assert finding.key == "rotation_not_observed" and "KeyError: 'elsewhere')" in finding.why()


def test_an_empty_answer_says_what_was_looked_at() -> None:
    whole, stored = verify(model(LLAMA), LLAMA), verify(model(LLAMA).state_dict(), LLAMA)
    assert whole == [] and (whole.products, whole.ways) == (2, ("decode", "pieces", "padding", "packed"))
    assert (
        "2 attention layers" in whole.coverage_sentence()
        and "token by token, in two pieces, padded, packed" in whole.coverage_sentence()
    )
    assert "nothing was run" in stored.coverage_sentence() and "分两段、带填充、拼接" in whole.coverage_sentence("zh")


def test_a_state_dict() -> None:
    assert keys(verify(model(LLAMA).state_dict(), LLAMA)) == ["weights_alone"]
    stored = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.tensor(rc.from_hf(LLAMA).inv_freq)}
    assert verify(stored, LLAMA) == []
    assert keys(verify({name: value / 2 for name, value in stored.items()}, LLAMA)) == ["buffer_differs"]
    with pytest.raises(ValueError, match="model_or_file must be a state dict"):
        verify({}, LLAMA)
    with pytest.raises(ValueError, match="model_or_file must be"):
        verify(3, LLAMA)


def test_a_safetensors_file(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    good = torch.tensor(rc.from_hf(LLAMA).inv_freq, dtype=torch.float32)
    path = tmp_path / "model.safetensors"
    for dtype, expected in (
        (torch.float32, []),
        (torch.bfloat16, ["buffer_rounded"]),
        (torch.float16, ["buffer_rounded"]),
    ):
        save_file({"w": torch.zeros(3), "layers.0.rotary_emb.inv_freq": good.to(dtype)}, path)
        assert keys(verify(path, LLAMA)) == expected
        assert keys(verify(tmp_path, LLAMA)) == expected
    save_file({"w": torch.zeros(3)}, path)
    assert keys(verify(str(path), LLAMA)) == ["weights_alone"]
    with pytest.raises(ValueError, match="must be a whole safetensors file"):
        verify(tmp_path / "absent", LLAMA)


def permuted(weight: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Meta's rows to halves, as the conversion script words it: (heads, dim/2, 2, in), middle axes swapped."""
    rows, width = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


def test_conversions_of_grouped_keys() -> None:
    weight = np.random.default_rng(3).normal(size=(2 * 16, 5))
    assert check_conversion(weight, permuted(weight, 2), 2) == []
    assert keys(check_conversion(weight, weight, 2)) == ["rows_not_reordered"]
    wrong = check_conversion(weight, permuted(weight, 8), 2, query_heads=8)
    assert keys(wrong) == ["rows_by_query_heads"] and wrong[0].values == {"heads": 2, "query_heads": 8}
    assert keys(check_conversion(weight, permuted(permuted(weight, 2), 2), 2)) == ["rows_reordered_otherwise"]
    half = weight.reshape(2, 16, 5).copy()
    for head in half:
        head[:8] = permuted(head[:8], 1)
    assert check_conversion(weight, half.reshape(32, 5), 2, rotary_dim=8) == []
    with pytest.raises(ValueError, match="converted must be of shape"):
        check_conversion(weight, weight[1:], 2)


def test_cached_keys_drift_where_the_frequencies_follow_the_length() -> None:
    config = {**LLAMA, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}
    drift = check_cache(config, 8192, 16384)[0].values["drift"]
    before, after = rc.from_hf(config, seq_len=8192).inv_freq, rc.from_hf(config, seq_len=16384).inv_freq
    assert drift == pytest.approx(np.abs(before - after).max() * 8191)
    assert check_cache(config, 4096, 8192) == [] and check_cache(LLAMA, 8192, 16384) == []
    phi = rc.model("phi-4-mini").hf_config()
    assert keys(check_cache(phi, 4096, 4097)) == ["cached_keys_drift"] and check_cache(phi, 4000, 4096) == []
    with pytest.raises(ValueError, match="length must be"):
        check_cache(config, 10, 5)
