"""The memory that an evaluation asks for, against what transformers really keeps."""

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from rope_core.evaluate.cost import ModelSize, model_size

SMALL = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 32, "vocab_size": 90}
LATENT = {"kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 20, "qk_rope_head_dim": 8, "v_head_dim": 12}
MODELS: dict[str, dict[str, Any]] = {
    "llama": {"num_key_value_heads": 2, "head_dim": 20},
    "deepseek_v2": {"num_key_value_heads": 4, "first_k_dense_replace": 3, **LATENT},
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_token_keeps_as_many_numbers_as_transformers_caches(kind: str) -> None:
    config = AutoConfig.for_model(kind, **SMALL, **MODELS[kind])
    with torch.random.fork_rng():
        model = AutoModelForCausalLM.from_config(config)
    cache = model(torch.ones(1, 5, dtype=torch.long), use_cache=True).past_key_values
    kept = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    size = model_size(config.to_dict(), 1000)
    assert size.kept * 5 == kept
    # Weights, cache, logits in float32 beside their float64 copy, mask and activations: one more token costs its share.
    assert size.reading_bytes(4, 11, 2, 3) - size.reading_bytes(4, 10, 2, 3) == 2 * size.kept * 4 + 2 * 3 * 4


def test_what_a_config_does_not_say_counts_as_in_llama() -> None:
    assert model_size({"head_dim": None, "num_key_value_heads": 0}, 7) == ModelSize(
        7, 32, 4096, 32_000, 32 * 2 * 32 * 128
    )
