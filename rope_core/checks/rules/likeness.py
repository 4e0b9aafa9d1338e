"""Which released models a config resembles: type, widths, heads of keys, vocabulary; and where it turns otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rope_core.checks.case import LayerContext
from rope_core.hf.catalogue import released_models
from rope_core.hf.families import load_packaged_toml
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope

WIDTHS = ("hidden_size", "num_hidden_layers", "num_attention_heads")
HEADS, VOCABULARY, INNER = "num_key_value_heads", "vocab_size", "intermediate_size"
# RedPajama has Pythia's widths and vocabulary, and serial blocks; without the field GPT-NeoX's blocks are parallel.
PARALLEL = "use_parallel_residual"
# Tokens that fine-tunes add, and what rounds a vocabulary up.
ADDED = 128


@dataclass(frozen=True, eq=False)
class ReleasedFingerprint:
    """A released model: what tells it apart from others of its widths, what each layer type does, and its layers."""

    name: str
    fields: Mapping[str, Any]
    ropes: Mapping[str | None, HfRope]
    types: tuple[str, ...]

    def rope(self, layer_type: str | None) -> HfRope | None:
        """Return the layer type of that name, or the only one there is."""
        return self.ropes.get(layer_type) or self.ropes.get(None)


@cache
def released_by_model_shape() -> dict[tuple[object, ...], list[ReleasedFingerprint]]:
    """Return the catalogue and shapes.toml by model type and widths, whatever the lengths."""
    shapes, rows = load_packaged_toml("shapes.toml"), dict[tuple[object, ...], list[ReleasedFingerprint]]()
    configs = [
        (model.name, model.hf_config(), {VOCABULARY: shapes["vocabulary"].get(model.id)}) for model in released_models()
    ] + [(row["name"], row["config"], {}) for row in shapes["released"]]
    for name, config, more in configs:
        text = resolve(config).text
        kept = {field: text.fields.stated.get(field) for field in (*WIDTHS, HEADS, VOCABULARY, INNER, PARALLEL)} | more
        released = ReleasedFingerprint(name, kept, text.ropes(), tuple(text.fields.layer_types()))
        rows.setdefault(model_shape_key(text.fields.stated, text.fields.model_type), []).append(released)
    return rows


def model_shape_key(data: Mapping[str, Any], model_type: str | None) -> tuple[object, ...]:
    """Return what every config of one released model states."""
    return (model_type, *(data.get(name) for name in WIDTHS))


def can_be_same_model(data: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether a config of a released model's widths can be that model's: key heads and inner width as well.

    Beside them what ``can_be_same_family`` asks. A config without key heads has as many as heads of queries.
    """
    heads = [each.get(HEADS) or each.get(WIDTHS[2]) for each in (data, fields)]
    inner = [each.get(INNER) for each in (data, fields)]
    return heads[0] == heads[1] and (None in inner or inner[0] == inner[1]) and can_be_same_family(data, fields)


def can_be_same_family(data: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether a config of a released model's type can be of its family: vocabulary and blocks."""
    sizes = [each.get(VOCABULARY) for each in (data, fields)]
    near = not all(isinstance(size, int) for size in sizes) or abs(sizes[0] - sizes[1]) <= ADDED  # type: ignore[operator]
    serial = [each.get(PARALLEL) is False for each in (data, fields)]
    return near and serial[0] == serial[1]


def family_name(model_type: object) -> str:
    return str(model_type).replace("_moe", "")


def released_relatives(case: LayerContext) -> list[tuple[ReleasedFingerprint, HfRope]]:
    """Return the released models of a config's type and vocabulary, of any size, as this layer type runs in them.

    A family with experts is that without.
    """
    kind = family_name(case.fields.model_type)
    rows = [each for key, row in released_by_model_shape().items() if family_name(key[0]) == kind for each in row]
    known = [
        (each, each.rope(case.rope.layer_type)) for each in rows if can_be_same_family(case.fields.stated, each.fields)
    ]
    return [(each, rope) for each, rope in known if rope is not None and not rope.nope]


def released_of_same_shape(case: LayerContext) -> list[ReleasedFingerprint]:
    """Return the released models that a config's shape is that of, whatever their lengths."""
    key = model_shape_key(case.fields.stated, case.fields.model_type)
    if not all(isinstance(part, str if index == 0 else int) for index, part in enumerate(key)):
        return []
    return [
        each for each in released_by_model_shape().get(key, []) if can_be_same_model(case.fields.stated, each.fields)
    ]


def released_twins(case: LayerContext) -> list[tuple[str, HfRope]]:
    """Released models of the same shape and maximum length, as this layer type runs in them."""
    rows = [(each.name, each.rope(case.rope.layer_type)) for each in released_of_same_shape(case)]
    return [
        (name, rope)
        for name, rope in rows
        if rope is not None and rope.max_len == case.rope.max_len and rope.head_dim == case.rope.head_dim
    ]
