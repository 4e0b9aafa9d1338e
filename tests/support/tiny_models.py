"""Small random models of transformers, built from its own config classes with every size turned down."""

import importlib
import inspect
import logging
import warnings
from typing import Any

import torch
import transformers

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore", module="transformers")

WIDTH = ("hidden_size", "d_model", "n_embd", "n_embed", "embed_dim", "dim", "intermediate_size", "ffn_dim", "n_inner")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
SMALL: dict[str, Any] = {
    **dict.fromkeys((*WIDTH, "vocab_size", "out_hidden_size", "embedding_size", "vocab_size_per_layer_input"), 64),
    **dict.fromkeys((*LAYERS, *HEADS, "n_routed_experts", "num_local_experts", "num_experts"), 4),
    **dict.fromkeys(("intermediate_size_mlp", "lru_width", "attention_window_size", "word_embed_proj_dim"), 64),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "q_lora_rank", "kv_lora_rank"), 32),
    **dict.fromkeys(("head_dim", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "global_head_dim"), 16),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim", "mamba_d_state", "index_head_dim"), 16),
    **dict.fromkeys(("num_key_value_heads", "num_global_key_value_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("linear_num_key_heads", "num_experts_per_tok", "depth", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace", "bos_token_id"), 1),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 8192),
    "qk_head_dim": 32,
    "hidden_size_per_layer_input": 16,
    "query_pre_attn_scalar": 16,
    "rotary_dim": 8,
    "mamba_n_heads": 4,
    "mamba_d_head": 32,
    "mamba_expand": 2,
    "image_size": 28,
    "patch_size": 14,
    "index_n_heads": 2,
    "index_topk": 8,
    "num_kv_shared_layers": 0,
    "pad_token_id": 0,
    "eos_token_id": 2,
}
# What single types want besides, or otherwise.
OWN: dict[str, dict[str, Any]] = {
    "bailing_hybrid": {"layer_types": ["linear_attention", "full_attention"] * 2},
    "bamba": {"attn_layer_indices": [1, 3]},
    "chameleon": {"vocabulary_map": {"<image>": 3}},
    "dots1": {"n_shared_experts": 1},
    "emu3": {"vocabulary_map": {"<image>": 3, "<|extra_200|>": 4}},
    "esm": {"position_embedding_type": "rotary"},
    "esmc": {"num_key_value_heads": 4},
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_d_head": 16},
    "granitemoehybrid": {"layer_types": ["linear_attention", "attention"] * 2, "position_embedding_type": "rope"},
    "kyutai_speech_to_text": {"audio_pad_token_id": 5, "codebook_vocab_size": 16},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "mistral4": {"head_dim": 32},
    "zaya": {"num_experts_per_tok": 1},
}


def fields(kind: Any, **changes: Any) -> dict[str, Any]:
    """Return what to hand to a config class for a small model, its sub-configs included."""
    own = kind()
    known = {*inspect.signature(kind.__init__).parameters, *vars(own), *kind.attribute_map}
    names = kind.attribute_map
    built = {key: value for key, value in SMALL.items() if key in known and names.get(key) not in SMALL}
    if "qk_rope_head_dim" in built and "num_key_value_heads" in built:
        built["num_key_value_heads"] = built["num_attention_heads"]
    for name in getattr(kind, "sub_configs", {}):
        inner = getattr(own, name, None)
        if inner is not None:
            built[name] = {**fields(type(inner)), "model_type": type(inner).model_type}
    rope = getattr(own, "rope_parameters", None)
    if isinstance(rope, dict) and "Text" in kind.__name__ and axes(kind):
        head = built.get("head_dim") or built["hidden_size"] // built["num_attention_heads"]
        third = int(head * rope.get("partial_rotary_factor", 1.0)) // 6
        rest = int(head * rope.get("partial_rotary_factor", 1.0)) // 2 - 2 * third
        built["rope_parameters"] = {**rope, "mrope_section": [rest, third, third]}
    return {**built, **OWN.get(kind.model_type, {}), **changes}


def axes(kind: Any) -> bool:
    """Whether a model's code splits its pairs into axes."""
    code = importlib.import_module(kind.__module__.replace("configuration_", "modeling_"))
    return "mrope_section" in inspect.getsource(code)


def config(model_type: str, **changes: Any) -> Any:
    """Return a small config of one of transformers' types; ``changes`` are fields of its own."""
    kind = transformers.CONFIG_MAPPING[model_type]
    return kind(**fields(kind, **changes))


def model(model_type: str, dtype: torch.dtype | None = None, **changes: Any) -> tuple[Any, Any]:
    """Return a small random model of one of transformers' types in evaluation mode, and its config."""
    built = config(model_type, **changes)
    torch.manual_seed(0)
    options = {} if dtype is None else {"dtype": dtype}
    mapped = type(built) in transformers.AutoModel._model_mapping
    auto = transformers.AutoModel if mapped else transformers.AutoModelForCausalLM
    return auto.from_config(built, **options).eval(), built
