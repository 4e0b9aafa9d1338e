"""The configs on which engines are run: each layer type of the catalogue, and what no released model has."""

from typing import Any

import rope_core as rc

PLAIN: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
YARN: dict[str, Any] = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}
LISTS = {"short_factor": [1.0 + 0.02 * i for i in range(64)], "long_factor": [1.1 + 0.5 * i for i in range(64)]}
MADE: dict[str, dict[str, Any]] = {
    "yarn_not_rounded": {"rope_scaling": {**YARN, "factor": 32.0, "truncate": False}},
    "yarn_attention_factor": {"rope_scaling": {**YARN, "attention_factor": 1.0}},
    "yarn_mscale": {"rope_scaling": {**YARN, "mscale": 0.8, "mscale_all_dim": 0.5}},
    "yarn_betas": {"rope_scaling": {**YARN, "beta_fast": 16.0, "beta_slow": 2.0}},
    "telechat_yarn": {"rope_scaling": {**YARN, "rope_type": "telechat3-yarn"}},
    "two_types": {"rope_scaling": {**YARN, "type": "linear"}},
    "linear": {"rope_scaling": {"type": "linear", "factor": 4.0}},
    "linear_whole_factor": {"rope_scaling": {"type": "linear", "factor": 4}},
    "dynamic": {"max_position_embeddings": 2048, "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}},
    "ntk": {"rope_scaling": {"type": "ntk", "factor": 4.0}},
    "alpha": {"rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}},
    "llama3_factors": {
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 16.0,
            "low_freq_factor": 2.0,
            "high_freq_factor": 8.0,
            "original_max_position_embeddings": 4096,
        }
    },
    "partial_default": {"partial_rotary_factor": 0.5},
    "proportional": {
        "rope_parameters": {
            "rope_type": "proportional",
            "rope_theta": 1e6,
            "partial_rotary_factor": 0.25,
            "factor": 2.0,
        }
    },
    "longrope": {
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 4096, **LISTS},
    },
    "mrope_yarn": {
        "model_type": "qwen2_vl_text",
        "rope_scaling": {**YARN, "type": "yarn", "mrope_section": [16, 24, 24]},
    },
}
LENGTH = 2048


def measurement_tasks() -> list[dict[str, Any]]:
    """Return the tasks: id, config, layer type or None, width of a rotated vector, layout, length in use, tokens."""
    configs = {model.id: model.hf_config() for model in rc.models()}
    configs |= {f"made:{name}": {**PLAIN, **fields} for name, fields in MADE.items()}
    rows = []
    for name, config in configs.items():
        for layer in rc.layer_types(config) or [None]:  # type: ignore[list-item]
            rows += rope_tasks(name, config, layer)
    return rows


def rope_tasks(name: str, config: dict[str, Any], layer: str | None) -> list[dict[str, Any]]:
    """Return a config's task at a short length, and one beyond the trained length where that changes something."""
    try:
        rope = rc.from_hf(config, layer)
    except ValueError:
        rope = rc.from_hf(PLAIN)
    if rope.nope:
        return []
    lengths = [LENGTH]
    if rope.rope_type in ("dynamic", "longrope"):
        lengths.append(2 * rope.train_len)
    row = {"config": config, "layer": layer, "dim": rope.head_dim, "layout": rope.layout}
    title = name if layer is None else f"{name}:{layer}"
    return [{"id": title if n == LENGTH else f"{title}@{n}", "length": n, **row} for n in lengths]
