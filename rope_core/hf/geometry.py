"""A layer type's widths, layout, base and rope_type, and the layers that do not rotate, by its class's own rules.

Source: https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/models
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.families import CLASS, DICT, FALLBACK, TOP, ValueOrigin
from rope_core.hf.fields import ModelFields, SourcedValue
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.read import config_dict, config_float, config_int
from rope_core.hf.types import REQUIRED, TYPES
from rope_core.rope import MAX_DIM


@dataclass(frozen=True, eq=False)
class LayerGeometry:
    """What a layer type has whatever its scheme, each value with its origin; widths in dimensions, lengths in tokens.

    ``rotary_dim`` may be odd: see ``even_rotary_dim``.
    """

    head_dim: SourcedValue[int]
    max_len: SourcedValue[int | None]
    nope_layers: SourcedValue[tuple[int, ...]]
    layout: SourcedValue[str]
    scheme: SourcedValue[str]
    base: SourcedValue[float]
    rotary_dim: SourcedValue[int]

    def provenance(self) -> dict[str, ValueOrigin]:
        """Return the origin of each value, by name."""
        return {each.name: getattr(self, each.name).origin for each in dataclass_fields(self)}


def layer_geometry(fields: ModelFields, entry: RopeEntry, entries: Sequence[RopeEntry]) -> LayerGeometry:
    """Return the widths, lengths, layout, rope_type and base of one layer type; ``entries`` are all of its model.

    Raises ConfigError on the first value that transformers refuses.
    """
    head = _head_dim(fields, entry)
    longest, resting, layout = fields.get_int("max_position_embeddings"), _nope_layers(fields, entries), _layout(fields)
    kind, base = _rope_type(entry), _base(entry)
    return LayerGeometry(head, longest, resting, layout, kind, base, _rotary_dim(fields, entry, kind.value, head))


def layer_head_width(fields: ModelFields, layer_type: str | None) -> int:
    """Return the width of a head of a layer type, as a plain rotation has it."""
    return _head_dim(fields, RopeEntry("", layer_type)).value


def _head_dim(fields: ModelFields, entry: RopeEntry) -> SourcedValue[int]:
    """Width of a head by the class's own rule."""
    by_type, exceptions = fields.family.get("head_dims"), "per_layer_config" in fields.stated
    if exceptions and (listed := _listed_width(fields, entry.layer_type or "")):
        width = listed
    elif by_type and entry.layer_type == "full_attention" and not exceptions:
        given = fields.stated.get("global_head_dim")
        origin = ValueOrigin(CLASS if given is None else TOP, fields.prefix + "global_head_dim")
        width = SourcedValue(by_type["full_attention"] if given is None else given, origin)
    else:
        stated = fields.get("head_dim")
        unread = stated.origin.source == TOP and fields.family.get("head_dim_given") == "ignored"
        width = stated
        if stated.origin.source != TOP or stated.value is None or unread:
            width = _derived_head(fields, fields.family.get("head_dim", "divide"))
        traps = ("head_dim_not_read",) if unread and stated.value not in (None, width.value) else ()
        reads_null = entry.value("rope_type") in ("dynamic", "yarn", "longrope")
        if fields.family.get("head_dim_null") and width.origin.source == "derived" and reads_null:
            traps = (*traps, "head_dim_null_fails")
        width = SourcedValue(width.value, replace(width.origin, traps=traps))
    return SourcedValue(config_int(width.origin.path, width.value, 1, MAX_DIM), width.origin)


def _listed_width(fields: ModelFields, kind: str) -> SourcedValue[Any] | None:
    """head_dim of a layer type in a saved config object, which lists exceptions by layer; None where it lists none."""
    path = fields.prefix + "per_layer_config"
    listed = config_dict(path, fields.stated.get("per_layer_config")) or {}
    layers = {index for index, layer in enumerate(fields.layer_types()) if layer == kind}
    for key, inner in listed.items():
        if key.isdecimal() and len(key) < 6 and int(key) in layers:
            width = (config_dict(f"{path}.{key}", inner) or {}).get("head_dim")
            return None if width is None else SourcedValue(width, ValueOrigin(TOP, f"{path}.{key}.head_dim"))
    return None


def _derived_head(fields: ModelFields, rule: object) -> SourcedValue[Any]:
    """head_dim where the config gives none: a fixed number, the MLA part, or hidden_size / num_attention_heads."""
    if isinstance(rule, int):
        return fields.from_class("head_dim", rule)
    if rule == "qk_rope_head_dim" or (not fields.is_known_type and fields.stated.get("qk_rope_head_dim") is not None):
        return fields.get("qk_rope_head_dim")
    if rule == "mla_sum":
        parts = [fields.get(name) for name in ("qk_nope_head_dim", "qk_rope_head_dim")]
        return SourcedValue(sum(config_int(each.origin.path, each.value) for each in parts), parts[1].origin)
    hidden, heads = fields.get("hidden_size"), fields.get("num_attention_heads")
    if hidden.value is None or heads.value is None:
        lacking = hidden if hidden.value is None else heads
        raise ConfigError(lacking.origin.path, "given_without", None, other="head_dim")
    width = config_int(hidden.origin.path, hidden.value) // config_int(heads.origin.path, heads.value)
    return SourcedValue(width * int(fields.family.get("head_dim_times", 1)), ValueOrigin("derived", hidden.origin.path))


def _rotary_dim(fields: ModelFields, entry: RopeEntry, kind: str, head: SourcedValue[int]) -> SourcedValue[int]:
    """Rotating width: int(head_dim * partial factor), except where the default type of a class does not read it."""
    width = SourcedValue(head.value, ValueOrigin("derived", head.origin.path))
    if fields.family.get("fixed"):
        width = _fixed_width(fields, head.value)
    elif (given := entry.value("partial_rotary_factor")) is not None:
        origin = entry.origin("partial_rotary_factor")
        share = config_float(origin.path, given)
        if not 0.0 < share <= 1.0:
            raise ConfigError(origin.path, "share", share)
        ignored = kind == "default" and fields.is_known_type and not fields.family.get("default_honours_partial")
        width = SourcedValue(head.value if ignored or kind == "proportional" else int(head.value * share), origin)
        if ignored and share != 1.0:
            width = width.with_traps("default_ignores_partial")
    number, path = width.value, width.origin.path
    if number < 2 or (number % 2 and (number == head.value or kind in ("dynamic", "longrope", "proportional"))):
        raise ConfigError(path, "even_turning", f"{number} of {head.value}")
    return width.with_traps("odd_width") if number % 2 else width


def even_rotary_dim(rotary_dim: int, base: float) -> tuple[int, float]:
    """Return the even width that turns, and the base that gives it the exponents of an odd one.

    transformers takes ``arange(0, width, 2) / width``, which for an odd width has a pair more than fits: one dimension
    more turns, by base**(-2i/width).

    >>> even_rotary_dim(20, 100.0), even_rotary_dim(3, 1000.0)
    ((20, 100.0), (4, 10000.0))
    """
    if rotary_dim % 2 == 0:
        return rotary_dim, base
    return rotary_dim + 1, float(round(base ** ((rotary_dim + 1) / rotary_dim), 9))


def _fixed_width(fields: ModelFields, head: int) -> SourcedValue[int]:
    """Rotating width of models whose code, not a rope dict, sets it."""
    if fields.family.get("half_of_head"):
        return fields.from_class("head_dim", head // 2)
    if fields.family.get("half_of_projection"):
        width, heads = fields.get("projection_dim"), fields.get("num_attention_heads")
        of_head = config_int(width.origin.path, width.value) // (2 * config_int(heads.origin.path, heads.value))
        return SourcedValue(max(of_head, 32), width.origin)
    width = fields.get_int("rotary_dim", 2, head)
    return SourcedValue(head if width.value is None else width.value, width.origin)


def _layout(fields: ModelFields) -> SourcedValue[str]:
    """How the weights pair dimensions, by model_type; half where transformers does not know the model."""
    family, path = fields.family, fields.prefix + "model_type"
    if not fields.is_known_type:
        return SourcedValue("half", ValueOrigin(FALLBACK, path, ("unknown_family",)))
    traps: tuple[str, ...] = ("turns_backwards",) if family.get("backwards") else ()
    if family.get("deinterleaved"):
        if family.get("interleave_flag") and not fields.stated.get("rope_interleave", True):
            return SourcedValue("half", ValueOrigin(TOP, fields.prefix + "rope_interleave", ("rope_interleave_off",)))
        traps = ("deinterleaved_then_half",)
    return SourcedValue(str(family["layout"]), ValueOrigin(CLASS, path, traps))


def _nope_layers(fields: ModelFields, entries: Sequence[RopeEntry]) -> SourcedValue[tuple[int, ...]]:
    """Return the indices of the layers that do not rotate."""
    rule, total = fields.family.get("nope"), fields.layer_count()
    if entries[0].switched_off:
        return SourcedValue(tuple(range(total)), ValueOrigin(TOP, entries[0].path))
    resting = {entry.layer_type for entry in entries if entry.nope}
    if resting:
        indices = tuple(i for i, kind in enumerate(fields.layer_types()) if kind in resting)
        return SourcedValue(indices, ValueOrigin(DICT, entries[0].path))
    if rule in _BY_LAYER and (listed := _BY_LAYER[rule](fields, total)) is not None:
        return listed
    windowed = rule == "full_attention_if_window" and fields.get("sliding_window").value is not None
    kinds = fields.layer_types() if rule == "full_attention" or windowed else []
    indices = tuple(i for i, kind in enumerate(kinds) if kind != "sliding_attention")
    return SourcedValue(indices, ValueOrigin(CLASS if rule else FALLBACK, fields.prefix + "layer_types"))


def _layer_list(path: str, given: Any, total: int) -> Sequence[Any]:
    """Return the first ``total`` entries of a list with one for each layer."""
    if not isinstance(given, list | tuple) or len(given) < total:
        raise ConfigError(path, "layer_entries", given, layers=total)
    return given[:total]


def _by_flags(fields: ModelFields, total: int) -> SourcedValue[tuple[int, ...]]:
    """Layers whose entry in no_rope_layers is 0: the flag says 1 where a layer does rotate."""
    path, given = fields.prefix + "no_rope_layers", fields.stated.get("no_rope_layers")
    if not given:
        every = fields.get_int("no_rope_layer_interval")
        source = TOP if every.origin.source == TOP else CLASS
        step = 4 if every.value is None else every.value
        return SourcedValue(
            tuple(i for i in range(total) if (i + 1) % step == 0), ValueOrigin(source, every.origin.path)
        )
    listed = _layer_list(path, given, total)
    flags = [config_int(f"{path}[{i}]", int(v) if isinstance(v, bool) else v, 0, 1) for i, v in enumerate(listed)]
    resting = tuple(i for i, flag in enumerate(flags) if not flag)
    return SourcedValue(resting, ValueOrigin(TOP, path, ("no_rope_flag_inverted",)))


def _by_bases(fields: ModelFields, total: int) -> SourcedValue[tuple[int, ...]] | None:
    """Layers whose own base is 0."""
    given, path = fields.stated.get("layer_rope_theta"), fields.prefix + "layer_rope_theta"
    if given is None:
        muse = (fields.model_type or "").startswith("muse")
        return fields.from_class("layer_types", tuple(i for i in range(total) if muse and (total - 1 - i) % 4 == 0))
    bases = [config_float(f"{path}[{i}]", value) for i, value in enumerate(_layer_list(path, given, total))]
    differ = ("layer_bases_differ",) if len({b for b in bases if b}) > 1 else ()
    return SourcedValue(tuple(i for i, base in enumerate(bases) if not base), ValueOrigin(TOP, path, differ))


def _by_attention(fields: ModelFields, total: int) -> SourcedValue[tuple[int, ...]] | None:
    """Layers of linear attention, which MiniMax's remote code leaves without rotation: 0 in attn_type_list."""
    path, given = fields.field_path("attn_type_list"), fields.stated.get("attn_type_list")
    if given is None:
        return None
    listed = _layer_list(path, given, total)
    return SourcedValue(tuple(i for i, kind in enumerate(listed) if not kind), ValueOrigin(TOP, path))


_BY_LAYER = {"no_rope_layers": _by_flags, "layer_rope_theta": _by_bases, "attn_type_list": _by_attention}


def _rope_type(entry: RopeEntry) -> SourcedValue[str]:
    """Return the rope_type, checked against the table of transformers 5.24."""
    if entry.nope:
        trap, source = ("switched_off", TOP) if entry.switched_off else ("nope_layer_type", DICT)
        return SourcedValue("default", ValueOrigin(source, entry.path, (trap,)))
    kind = entry.rope["rope_type"]
    if kind.value == "axial":
        raise ConfigError(kind.origin.path, "text_positions", kind.value)
    if kind.value not in TYPES:
        raise ConfigError(kind.origin.path, "rope_type", kind.value, names=list(TYPES))
    missing = [name for name in REQUIRED.get(kind.value, ()) if name not in entry.rope]
    if missing:
        raise ConfigError(entry.path, "keys_for_type", sorted(entry.rope), names=missing, type=kind.value)
    return kind


def _base(entry: RopeEntry) -> SourcedValue[float]:
    """Return the base, > 1; 10,000 serves a layer type that does not rotate."""
    origin = entry.origin("rope_theta")
    base = config_float(origin.path, entry.value("rope_theta", 10_000.0), "finite_above", low=1)
    if base <= 1.0:
        raise ConfigError(origin.path, "finite_above", base, low=1)
    return SourcedValue(base, origin)
