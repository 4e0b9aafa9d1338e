"""A config that findings and engines are asked about, what is changed in it, and the keys of what is found."""

from typing import Any

import rope_core as rc

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
YARN: dict[str, Any] = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}


def of(**fields: Any) -> dict[str, Any]:
    return {**LLAMA, **fields}


def keys(found: list[rc.Finding]) -> list[str]:
    return [one.key for one in found]
