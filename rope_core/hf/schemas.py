"""A config in the other schema, and two configs side by side."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rope_core.errors import ConfigError
from rope_core.findings import max_relative_difference
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.parameters import BOTH_SCALED, LEGACY_SPLIT, NEOX, RopeEntry
from rope_core.hf.resolve import ResolvedConfig, ResolvedPart, resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT, LENGTH, LONGROPE

# Top-level fields that one rope_parameters dict takes the place of.
OLD = (
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "partial_rotary_factor",
    "rope_local_base_freq",
    "global_rope_theta",
    "local_rope_theta",
    "rotary_emb_base",
    "rotary_pct",
    "compress_rope_theta",
)


def to_v5(config: object) -> dict[str, Any]:
    """Return the config with rope_parameters as transformers 5 writes it, computing the same.

    Raises:
        ConfigError: on a config that cannot be read, or whose model has no rope fields.

    >>> to_v5({"model_type": "llama", "head_dim": 64, "rope_theta": 5e5})["rope_parameters"]
    {'rope_type': 'default', 'rope_theta': 500000.0}
    """
    resolved = resolve(config)
    fields = resolved.text.fields
    if fields.family.get("fixed"):
        raise ConfigError.from_key("rope_fields", model_type=fields.model_type)
    ropes, entries = resolved.text.ropes(), resolved.text.entries
    nested = len(entries) > 1 or entries[0].layer_type is not None
    wanted: Any = (
        {each.layer_type: layer_rope_dict(each) for each in entries} if nested else layer_rope_dict(entries[0])
    )
    new = copy.deepcopy(resolved.raw)
    text = dict_at(new, fields.prefix)
    if "rotary_dim" in text and fields.family.get("convert") == "minimax_m2":
        text.pop("rotary_dim")
    for name in OLD:
        text.pop(name, None)
    text["rope_parameters"] = wanted
    return require_same_rotation(fields, ropes, new)


def layer_rope_dict(entry: RopeEntry) -> dict[str, Any] | None:
    """Return one layer type's dict with the config's values, type first, base second; None where nothing turns."""
    if entry.nope:
        return None
    values = {key: value for key, value in entry.values().items() if key != "type" and value is not None}
    first: dict[str, Any] = {key: values.pop(key) for key in ("rope_type", "rope_theta") if key in values}
    if values.get("partial_rotary_factor") == 1.0:
        values.pop("partial_rotary_factor")
    return {**first, **copy.deepcopy(values)}


def to_v4(config: object) -> dict[str, Any]:
    """Return the config with rope_theta and rope_scaling as transformers 4 reads it, computing the same.

    Raises:
        ConfigError: where version 4 has no way to say it: most dicts per layer type.

    >>> to_v4({"model_type": "llama", "head_dim": 64, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}})
    {'model_type': 'llama', 'head_dim': 64, 'rope_theta': 500000.0}
    """
    resolved = resolve(config)
    fields, ropes, entries = resolved.text.fields, resolved.text.ropes(), resolved.text.entries
    new = copy.deepcopy(resolved.raw)
    text = dict_at(new, fields.prefix)
    for name in OLD:
        text.pop(name, None)
    if fields.family.get("convert") in LEGACY_SPLIT:
        split_to_v4(fields, entries, text)
    elif len(entries) == 1 and not entries[0].nope and not fields.family.get("fixed"):
        one_to_v4(fields, entries[0], text)
    else:
        raise ConfigError.from_key("version_4_type", model_type=fields.model_type)
    written = ResolvedConfig(new)
    require_same_rotation(fields, ropes, written.as_read_by_4)
    return require_same_rotation(fields, ropes, written)


def one_to_v4(fields: ModelFields, entry: RopeEntry, text: dict[str, Any]) -> None:
    """Spread one dict over the top level and rope_scaling."""
    neox = fields.family.get("convert") in NEOX
    values = layer_rope_dict(entry) or {}
    base, share = values.pop("rope_theta", None), values.pop("partial_rotary_factor", None)
    if base is not None:
        text["rotary_emb_base" if neox else "rope_theta"] = base
    unheard = (
        values.get("rope_type") == DEFAULT and fields.is_known_type and not fields.family.get("default_honours_partial")
    )
    if share is not None and not unheard:
        text["rotary_pct" if neox else "partial_rotary_factor"] = share
    if values.get("rope_type") == LONGROPE:
        for_longrope(values, text)
    if values != {"rope_type": DEFAULT}:
        text["rope_scaling"] = values


def for_longrope(values: dict[str, Any], text: dict[str, Any]) -> None:
    """Version 4 takes LongRoPE's trained length from the top level, and its factor from the two lengths."""
    text[LENGTH] = values[LENGTH]
    factor, train = values.get("factor"), values[LENGTH]
    if factor is not None and values.get("attention_factor") is None:
        values["attention_factor"] = 1.0 if factor <= 1 else math.sqrt(1.0 + math.log(factor) / math.log(train))


def split_to_v4(fields: ModelFields, entries: Sequence[RopeEntry], text: dict[str, Any]) -> None:
    """Two bases and one scaling, for families that had them before version 5."""
    dicts = {each.layer_type: layer_rope_dict(each) or {} for each in entries}
    both = fields.family["convert"] in BOTH_SCALED
    wide = dicts.get("full_attention", {})
    near = dicts.get("sliding_attention", {})
    if "rope_theta" in wide:
        text["global_rope_theta" if both else "rope_theta"] = wide.pop("rope_theta")
    if "rope_theta" in near:
        text["local_rope_theta" if both else "rope_local_base_freq"] = near.pop("rope_theta")
    if fields.family["convert"] == "olmo3":
        text.pop("rope_local_base_freq", None)
    if wide and wide != {"rope_type": DEFAULT}:
        text["rope_scaling"] = wide


def require_same_rotation(fields: ModelFields, before: Mapping[str | None, HfRope], new: object) -> dict[str, Any]:
    """Return the config ``new``, once each layer type does what it did ``before``; ConfigError otherwise."""
    written = resolve(new)
    try:
        after = written.text.ropes()
        same = list(before) == list(after) and all(
            max_relative_difference(after[kind].inv_freq, rope.inv_freq) < 1e-12
            and math.isclose(after[kind].attention_factor, rope.attention_factor)
            for kind, rope in before.items()
        )
    except ConfigError:
        same = False
    if not same:
        raise ConfigError.from_key("other_schema", model_type=fields.raw.get("model_type"))
    return written.raw


@dataclass(frozen=True)
class FieldComparison:
    """One line of a comparison: a field of a layer type, both values, and whether they are the same."""

    layer_type: str | None
    field: str
    left: object
    right: object
    same: bool


FIELDS = (
    "model_type",
    "layout",
    "head_dim",
    "rotary_dim",
    "base",
    "rope_type",
    "train_len",
    "max_len",
    "attention_factor",
    "logit_scale",
    "nope",
    "nope_layers",
    "mrope_section",
)


def compare_configs(left: object, right: object, seq_len: int | None = None) -> list[FieldComparison]:
    """Return what two configs' rotary embeddings have in common and what not, differences first.

    The row "inv_freq" holds the largest relative difference of the frequencies, inf where the widths differ.
    Raises ConfigError when either cannot be read.

    >>> a = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4}
    >>> [row.field for row in compare_configs(a, {**a, "rope_theta": 5e5}) if not row.same]
    ['base', 'inv_freq']
    """
    here, there = resolve(left), resolve(right)
    kinds: list[str | None] = [
        *dict.fromkeys([*here.text.differing_layer_types, *there.text.differing_layer_types])
    ] or [None]
    sides = [
        (rope_of_layer_type(here.text, kind, seq_len), rope_of_layer_type(there.text, kind, seq_len), kind)
        for kind in kinds
    ]
    rows = [row for each in sides for row in compare_layer_type(*each)]
    return sorted(rows, key=lambda row: row.same)


def rope_of_layer_type(part: ResolvedPart, layer_type: str | None, seq_len: int | None = None) -> HfRope | None:
    """Return the layer type, or the only one there is, or None where this model has other types."""
    if part.differing_layer_types and layer_type not in part.differing_layer_types:
        return None
    return part.rope(layer_type if part.differing_layer_types else None, seq_len)


def compare_layer_type(left: HfRope | None, right: HfRope | None, kind: str | None) -> list[FieldComparison]:
    """Return the rows of one layer type."""
    if left is None or right is None:
        return [FieldComparison(kind, "layer_type", kind if left else None, kind if right else None, False)]
    names = [name for name in dict.fromkeys([*left.params, *right.params]) if name not in FIELDS]
    pairs = [(name, getattr(left, name), getattr(right, name)) for name in FIELDS]
    pairs += [(name, left.params.get(name), right.params.get(name)) for name in names]
    rows = [FieldComparison(kind, name, a, b, a == b) for name, a, b in pairs]
    apart = max_relative_difference(left.inv_freq, right.inv_freq)
    return [*rows, FieldComparison(kind, "inv_freq", 0.0, apart, apart == 0.0)]
