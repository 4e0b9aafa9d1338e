"""The Transformer block around RoPE: norms, activations, arrangements, logits."""

from rope_core.theory.block.activation import (
    ACTIVATIONS,
    GATES,
    Activation,
    activate,
    feed_forward,
    gated,
    normal_cdf,
    sigmoid,
)
from rope_core.theory.block.cache import attention_output, decode_logits
from rope_core.theory.block.logit import (
    MlaHead,
    mla_cache,
    mla_rope_in_content,
    mla_scores,
)
from rope_core.theory.block.norm import NormCost, layer_norm, norm_cost, rms_norm, rotation_gap
from rope_core.theory.block.stack import (
    ARRANGEMENTS,
    Layer,
    attend,
    draw_layers,
    feed,
    gradient_norms,
    parallel_block,
    serial_block,
)

__all__ = [
    "ACTIVATIONS",
    "ARRANGEMENTS",
    "GATES",
    "Activation",
    "Layer",
    "MlaHead",
    "NormCost",
    "activate",
    "attend",
    "attention_output",
    "decode_logits",
    "draw_layers",
    "feed",
    "feed_forward",
    "gated",
    "gradient_norms",
    "layer_norm",
    "mla_cache",
    "mla_rope_in_content",
    "mla_scores",
    "norm_cost",
    "normal_cdf",
    "parallel_block",
    "rms_norm",
    "rotation_gap",
    "serial_block",
    "sigmoid",
]
