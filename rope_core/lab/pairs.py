"""The shipped weights as the pairs of a model: where they are, and the config that says how they turn."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from rope_core.errors import argument_error
from rope_core.lab import cards
from rope_core.verification.pairs import PairSummary, layer_pair_norms, pair_summaries


def shipped_weights_and_config(name: str) -> tuple[Path, dict[str, Any]]:
    """Return the file of shipped weights and the config of a Llama that turns as they do.

    Raises ValueError on unknown weights, or weights without rotary positions.
    """
    shape = cards.get_weights_card(name).recipe.shape
    if shape.encoding != "rope":
        raise argument_error("weights", "rotary_weights", name)
    config = {
        "model_type": "llama",
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "hidden_size": shape.width,
        "rope_theta": shape.base,
        "max_position_embeddings": shape.context,
    }
    return cards.weights_path(name), config


@lru_cache(maxsize=16)
def shipped_pair_summary(name: str) -> PairSummary:
    """Return the pairs of shipped weights, all layers and heads together."""
    return next(iter(pair_summaries(layer_pair_norms(*shipped_weights_and_config(name))).values()))


def rotary_weight_names() -> tuple[str, ...]:
    """Return the names of weights with rotary positions that are here."""
    rotary = (name for name, each in cards.weights_cards().items() if each.encoding == "rope")
    return tuple(name for name in rotary if cards.weights_path(name).is_file())
