"""Random checkpoints of five families in folders, as somebody else's program would save them, and a plain reader."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import transformers

from rope_core.lab.export import _json, byte_tokenizer
from tests.support import tiny_models

TRAINED = 32
MSCALE = 0.7
ROPE = {"rope_type": "default", "rope_theta": 700.0}
# Latent attention with YaRN of its own, whose mscale goes into the softmax scale.
DEEPSEEK = {
    "rope_type": "yarn",
    "rope_theta": 700.0,
    "factor": 2.0,
    "mscale": MSCALE,
    "mscale_all_dim": MSCALE,
    "original_max_position_embeddings": TRAINED,
}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {"rope_parameters": ROPE},
    "qwen3": {"rope_parameters": ROPE},
    "gemma3_text": {
        "rope_parameters": {"full_attention": ROPE, "sliding_attention": {**ROPE, "rope_theta": 90.0}},
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 12,
    },
    "phi3": {"rope_parameters": {**ROPE, "partial_rotary_factor": 0.5}, "original_max_position_embeddings": TRAINED},
    "deepseek_v3": {"rope_parameters": DEEPSEEK, "max_position_embeddings": 2 * TRAINED, "first_k_dense_replace": 2},
}


def checkpoint(family: str) -> Any:
    """Return a small random causal model in float64."""
    changes = {"max_position_embeddings": TRAINED, "vocab_size": 256, "num_hidden_layers": 2, "initializer_range": 0.12}
    config = tiny_models.config(family, **{**changes, "pad_token_id": 0, "bos_token_id": None, **FAMILIES[family]})
    torch.manual_seed(3)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float64).eval()


def saved(family: str, folder: Path) -> Path:
    """Save a checkpoint of a small random model with a tokenizer of bytes."""
    checkpoint(family).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes(_json(byte_tokenizer()))
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    (folder / "tokenizer_config.json").write_bytes(_json(tokenizer))
    return folder


def plain_losses(model: Any, tokens: np.ndarray) -> np.ndarray:
    """Losses (n, length) of whole windows in one forward pass without a cache, whatever the model turns by."""
    ids = torch.from_numpy(np.asarray(tokens, dtype=np.int64))
    with torch.no_grad():
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
    nats = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return nats.view(len(ids), -1).double().numpy()


def overwritten(model: Any, inv_freq: np.ndarray, attention: float, layer_type: str = "") -> None:
    """Overwrite what a model turns by: the buffer, the factor, and no rule that follows the length."""
    rotary = model.model.rotary_emb
    prefix = f"{layer_type}_" if layer_type else ""
    setattr(rotary, f"{prefix}inv_freq", torch.from_numpy(inv_freq).to(getattr(rotary, f"{prefix}inv_freq").dtype))
    setattr(rotary, f"{prefix}attention_scaling", attention)
    if not layer_type:
        rotary.rope_type = "default"
