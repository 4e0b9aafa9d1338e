"""Write the lab's rotary weights as a Hugging Face checkpoint: a Llama of the same numbers, and bytes as its tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from rope_core.errors import argument_error
from rope_core.hf.write import llama_fields
from rope_core.lab.model import VOCABULARY, LabModel
from rope_core.lab.shape import ModelShape
from rope_core.lab.train import write_atomically
from rope_core.spectrum import Request

# Letters with a shape of their own in Latin-1, which stand for their own byte in byte-level BPE; the others take
# the code points from 256 on. Source: github.com/openai/gpt-2, src/encoder.py, bytes_to_unicode.
_VISIBLE = (*range(33, 127), *range(161, 173), *range(174, 256))


def export_as_llama(model: LabModel, request: Request, folder: Path) -> None:
    """Write config.json, model.safetensors, tokenizer.json and tokenizer_config.json into a new or empty folder.

    transformers' LlamaForCausalLM computes what the lab's model computes: RMSNorm, a gated layer, tied embeddings,
    pairs (i, i + D/2). It does so in float32, its angles included. config.json comes last, so that a folder which has
    it is whole.

    Args:
        model: with rotary positions.
        request: what its positions are turned by.
        folder: of the checkpoint.

    Raises ValueError on a model without rotary positions, a scheme that a Llama config does not hold, and a folder
    that has files or cannot be written.
    """
    if model.shape.encoding != "rope":
        raise argument_error("weights", "rotary_weights", model.shape.encoding)
    files = {
        "model.safetensors": save(llama_tensors(model), {"format": "pt"}),
        "tokenizer.json": _json(byte_tokenizer()),
        "tokenizer_config.json": _json(
            {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
        ),
        "config.json": _json(llama_config(model.shape, request)),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise argument_error("folder", "export_folder", str(folder))
        for name, data in files.items():
            write_atomically(folder / name, data)
    except OSError as error:
        raise argument_error("folder", "export_folder", f"{folder}: {error.strerror}") from error


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def llama_tensors(model: LabModel) -> dict[str, Tensor]:
    """Return the model's weights, float32, under the names of LlamaForCausalLM; the tied head is left out."""
    state = {name: value.detach().float() for name, value in model.state_dict().items()}
    tensors = {"model.embed_tokens.weight": state["embedding.weight"], "model.norm.weight": state["norm.weight"]}
    for layer in range(model.shape.layers):
        ours, theirs = f"blocks.{layer}", f"model.layers.{layer}"
        queries, keys, values = state[f"{ours}.attention.qkv.weight"].chunk(3)
        gate, up = state[f"{ours}.feed.gate_up.weight"].chunk(2)
        tensors |= {
            f"{theirs}.input_layernorm.weight": state[f"{ours}.attention_norm.weight"],
            f"{theirs}.self_attn.q_proj.weight": queries,
            f"{theirs}.self_attn.k_proj.weight": keys,
            f"{theirs}.self_attn.v_proj.weight": values,
            f"{theirs}.self_attn.o_proj.weight": state[f"{ours}.attention.out.weight"],
            f"{theirs}.post_attention_layernorm.weight": state[f"{ours}.feed_norm.weight"],
            f"{theirs}.mlp.gate_proj.weight": gate,
            f"{theirs}.mlp.up_proj.weight": up,
            f"{theirs}.mlp.down_proj.weight": state[f"{ours}.feed.down.weight"],
        }
    return {name: value.contiguous() for name, value in tensors.items()}


def llama_config(shape: ModelShape, request: Request) -> dict[str, Any]:
    """Return config.json of a rotary model under a request; no byte begins, ends or pads a text."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCABULARY,
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": None,
        "torch_dtype": "float32",
        **llama_fields(request),
    }


def byte_tokenizer() -> dict[str, Any]:
    """Return tokenizer.json of 256 tokens: the ids of a text are the bytes of its UTF-8.

    Every text comes back from its ids; ids that are no UTF-8 become U+FFFD, as in ``bytes.decode(errors="replace")``.
    Bytes that are no UTF-8 reach the model as ids: a tokenizer takes texts only.
    """
    hidden = [byte for byte in range(VOCABULARY) if byte not in _VISIBLE]
    letters = {byte: chr(byte) for byte in _VISIBLE} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {letters[byte]: byte for byte in range(VOCABULARY)},
            "merges": [],
        },
    }
