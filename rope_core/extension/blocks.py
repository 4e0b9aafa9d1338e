"""Write a longer reach into a config's rope dicts, layer type by layer type: what it has stays."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rope_core.errors import ConfigError
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT, DYNAMIC, LENGTH, LINEAR, LLAMA3, LONGROPE, PROPORTIONAL, STATIC_NTK, YARN


def reached_length(rope: HfRope) -> int:
    """Return the length in tokens that a layer type reaches as its config is: with YaRN the factor's, else the maximum.

    >>> import rope_core as rc
    >>> reached_length(rc.from_hf({"model_type": "llama", "head_dim": 64, "max_position_embeddings": 4096}))
    4096
    """
    if rope.rope_type == YARN and has_scaled_frequencies(rope):
        return math.floor(rope.train_len * scaling_factor(rope))
    return rope.max_len or rope.train_len


def has_scaled_frequencies(rope: HfRope) -> bool:
    """Return whether a layer type runs a scaling that moves its frequencies."""
    if rope.rope_type in (DYNAMIC, LONGROPE):
        return True
    return rope.rope_type != DEFAULT and scaling_factor(rope) > 1.0


def scaling_factor(rope: HfRope) -> float:
    """Return the factor of a layer type's scheme; 1.0 where it has none."""
    factor = rope.params.get("factor")
    return float(factor) if isinstance(factor, int | float) else 1.0


def has_length_dependent_base(rope: HfRope) -> bool:
    """Return whether a layer type raises its base with the length in use; Hunyuan's alpha does not."""
    return rope.rope_type == DYNAMIC and rope.scheme != STATIC_NTK


def extended_config(name: str, fields: ModelFields, before: Mapping[str | None, HfRope], length: int) -> dict[str, Any]:
    """Return the whole config with one way written into its layer types."""
    dicts = dict_at(fields.raw, fields.prefix)["rope_parameters"]
    entries = {
        kind: _entry(name, dicts if kind is None else dicts[kind], rope, length) for kind, rope in before.items()
    }
    return write_rope_dicts(
        fields, entries, length, all(map(has_length_dependent_base, before.values())) and name != STATIC_NTK
    )


def write_rope_dicts(
    fields: ModelFields, rope_dicts: Mapping[str | None, dict[str, Any]], length: int, keep_length: bool
) -> dict[str, Any]:
    """Return a config of the new schema with rope dicts by layer type, and the length, written into it."""
    new = copy.deepcopy(dict(fields.raw))
    text = dict_at(new, fields.prefix)
    for kind, entry in rope_dicts.items():
        if kind is None:
            text["rope_parameters"] = entry
        else:
            text["rope_parameters"][kind] = entry
    if any(entry.get(LENGTH, text.get(LENGTH)) != text.get(LENGTH) for entry in rope_dicts.values()):
        # A trained length at the top would overrule the dict's.
        text.pop(LENGTH, None)
    if not keep_length:
        text["max_position_embeddings"] = length
    text_model = resolve(new).text
    rope = text_model.rope(next(iter(rope_dicts)) if text_model.differing_layer_types else None)
    if "head_dim_null_fails" in rope.provenance["head_dim"].traps:
        # Classes whose head_dim defaults to null cannot build a scaling that multiplies it.
        text["head_dim"] = rope.head_dim
    return new


def _entry(name: str, old: Mapping[str, Any], rope: HfRope, length: int) -> dict[str, Any]:
    """One layer type's rope dict: what it has, with the way's own keys in place of the scheme's."""
    kept = copy.deepcopy(dict(old))
    # Mistral's rope dicts repeat the length, which nothing reads there and which would be the old one.
    kept.pop("max_position_embeddings", None)
    times = length / reached_length(rope)
    if name == STATIC_NTK:
        if rope.rope_type == LONGROPE and rope.params.get("attention_factor") is None:
            # It would follow the ratio of the two lengths.
            kept["attention_factor"] = rope.attention_factor
        return {**kept, "rope_theta": _grown_base(rope, times)}
    if rope.scheme == STATIC_NTK:
        return {**kept, "alpha": scaling_factor(rope) * times}
    if has_scaled_frequencies(rope):
        if has_length_dependent_base(rope):
            return kept
        factor = length / rope.train_len if rope.rope_type == YARN else scaling_factor(rope) * times
        return {**kept, "factor": float(factor)}
    if rope.rope_type == PROPORTIONAL:
        if name != LINEAR:
            raise ConfigError.from_key("with_ramp", rope_type=rope.rope_type)
        return {**kept, "factor": float(times)}
    block: dict[str, Any] = {**kept, "rope_type": name, "rope_theta": rope.base, "factor": float(times)}
    if name == LLAMA3:
        block |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if name != LINEAR:
        block[LENGTH] = reached_length(rope)
    return block


def _grown_base(rope: HfRope, factor: float) -> float:
    """Return the base that slows the last turning pair by the factor and leaves the first one alone."""
    turning = int(np.count_nonzero(rope.unscaled if rope.rope_type != PROPORTIONAL else rope.inv_freq))
    return float(rope.base * factor ** (rope.rotary_dim / (2 * max(turning - 1, 1))))


def flat_rope_dict(fields: ModelFields) -> dict[str, Any]:
    """Return the one rope dict of a config of the new schema, as a dict of its own."""
    return copy.deepcopy(dict(dict_at(fields.raw, fields.prefix)["rope_parameters"]))
