"""From a config's rope fields, old or new, to the rope dict of each layer type, as transformers 5.24 completes it.

Source: RotaryEmbeddingConfigMixin in
https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/modeling_rope_utils.py
and the overrides of convert_rope_params_to_dict in models/*/configuration_*.py.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.families import CLASS, DICT, FALLBACK, SPLIT, TOP, ValueOrigin
from rope_core.hf.fields import ModelFields, SourcedValue
from rope_core.hf.read import config_dict, config_float, config_int, is_truthy
from rope_core.hf.types import LENGTH, NEEDS_LENGTH

RopeDict = Mapping[str, SourcedValue[Any]]
NEOX = ("gpt_neox", "gpt_neox_japanese")
LEGACY_SPLIT = ("gemma3", "gemma3n", "t5gemma2", "modernbert", "modernbert_decoder", "olmo3")
BOTH_SCALED = ("modernbert", "modernbert_decoder")
# Where a family of LEGACY_SPLIT has the base of each layer type; the last row serves all others.
SPLIT_BASES = {
    "modernbert": {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"},
    "olmo3": {"full_attention": "rope_theta"},
    "": {"full_attention": "rope_theta", "sliding_attention": "rope_local_base_freq"},
}
AS_IT_STANDS = (
    "beam",
    "diffusion_gemma",
    "embedding_gemma2",
    "gemma4",
    "gemma4_unified",
    "laguna",
    "mellum",
    "mimo_v2_flash",
)
# Types that a family's own validation or rotary module admits.
ONLY = {
    "phi3": ("default", "longrope"),
    "phi4_multimodal": ("default", "longrope"),
    "phimoe": ("default", "longrope"),
    "recurrent_gemma": ("default",),
}
# What single families read another type as, with the trap that says so.
READ_AS = {
    "qwen2_vl": {"mrope": ("default", "mrope_read_as_default")},
    "qwen2_5_vl": {"mrope": ("default", "mrope_read_as_default")},
    "hunyuan_vl": {"xdrope": ("dynamic", "xdrope_read_as_dynamic")},
}
for _name in ("phi3", "phi4_multimodal"):
    READ_AS[_name] = {kind: ("longrope", f"{kind}_read_as_longrope") for kind in ("su", "yarn")}
FALLBACK_THETA = 10_000.0


@dataclass(frozen=True, eq=False)
class RopeEntry:
    """The completed rope dict of one layer type, each value with its origin.

    Attributes:
        path: dotted place of the dict in the config; of the field that says so where ``switched_off``.
        layer_type: None where one dict serves all layers.
        rope: the dict, keys that nothing reads included.
        nope: whether these layers do not rotate.
        switched_off: whether a field of the config turns the rotation of the whole model off.
    """

    path: str
    layer_type: str | None = None
    rope: RopeDict = field(default_factory=dict)
    nope: bool = False
    switched_off: bool = False

    def value(self, name: str, default: Any = None) -> Any:
        """Return the value of a key; ``default`` where the dict lacks it."""
        return self.rope[name].value if name in self.rope else default

    def origin(self, name: str) -> ValueOrigin:
        """Return where the value of a key came from, or that nobody states it."""
        return self.rope[name].origin if name in self.rope else ValueOrigin(FALLBACK, f"{self.path}.{name}")

    def values(self) -> dict[str, Any]:
        """Return the plain dict."""
        return {name: each.value for name, each in self.rope.items()}

    def noting(self, name: str, *traps: str, **values: object) -> RopeEntry:
        """Return the same dict with traps added to the origin of one value."""
        return replace(self, rope={**self.rope, name: self.rope[name].with_traps(*traps, **values)})


def rope_entries(fields: ModelFields) -> list[RopeEntry]:
    """Return each layer type's rope dict in the config's order; one without a type where the dict is flat.

    Raises ConfigError on what transformers does not load.
    """
    if (switch := _switched_off(fields)) is not None:
        return [RopeEntry(switch, nope=True, switched_off=True)]
    if fields.family.get("fixed"):
        return [_code_fixed(fields)]
    raw, path, source, traps = _chosen_dict(fields)
    convert = fields.family.get("convert")
    if source == DICT and raw and fields.family.get("flat_dict") == "refused" and not _nested_keys(fields, raw):
        raise ConfigError(path, "dict_per_type", sorted(raw), model_type=fields.model_type)
    if convert == "neomme":
        raw, source = {**{kind: {} for kind in fields.layer_types()}, **raw}, DICT
    if convert in LEGACY_SPLIT:
        entries = _split(fields, raw, path, source)
    elif fields.family.get("labels") == ["main", "compress"]:
        entries = _compressed(fields, raw, path, source)
    elif kinds := _nested_keys(fields, raw):
        if fields.family.get("per_type") is False:
            raise ConfigError(path, "flat_dict", sorted(raw), model_type=fields.model_type)
        entries = [_wrap(raw[kind], f"{path}.{kind}", source, kind) for kind in kinds]
        if convert == "neomme":
            entries = [_with_neomme_defaults(fields, each) for each in entries]
    else:
        if fields.family.get("per_type"):
            raise ConfigError(path, "dict_per_type", sorted(raw), model_type=fields.model_type)
        entries = [_wrap(raw, path, source)]
    completed = [_complete(fields, each) for each in entries]
    if completed and completed[0].layer_type is None:
        unread = tuple(key for key, value in raw.items() if isinstance(value, dict))
        completed = [completed[0].noting("rope_type", "nested_dict_not_read", names=unread)] if unread else completed
    return [each if each.nope or not traps else each.noting("rope_theta", *traps) for each in completed]


def _switched_off(fields: ModelFields) -> str | None:
    """Return the place of the field that turns the rotation of this model off, or None where it is on."""
    rule = fields.family.get("switch")
    if rule is None:
        return None
    given = fields.stated.get(rule["field"], rule.get("default"))
    rotates = given == rule["on"] if isinstance(rule["on"], str) else is_truthy(given) is rule["on"]
    return None if rotates else fields.field_path(rule["field"])


def _chosen_dict(fields: ModelFields) -> tuple[dict[str, Any], str, str, tuple[str, ...]]:
    """Return the rope dict that counts, its path, its source, and what is surprising about the choice."""
    path = fields.prefix + "rope_parameters"
    scaling = _rope_scaling(fields)
    params = config_dict(path, fields.stated.get("rope_parameters"))
    if scaling and fields.family.get("convert") not in LEGACY_SPLIT:
        traps = ("rope_scaling_replaces_rope_parameters",) if params and params != scaling else ()
        return scaling, fields.prefix + "rope_scaling", DICT, traps
    return (_class_dict(fields), path, CLASS, ()) if params is None else (params, path, DICT, ())


def _rope_scaling(fields: ModelFields) -> dict[str, Any] | None:
    return config_dict(fields.prefix + "rope_scaling", fields.stated.get("rope_scaling"))


def _class_dict(fields: ModelFields) -> dict[str, Any]:
    """Return the dict that the class sets up for a config without one, less what a top-level field may fill in."""
    if not fields.family.get("own_dict"):
        return {}
    own: dict[str, Any] = copy.deepcopy(dict(fields.family["rope"]))
    if "rope_type" in own or "type" in own:
        if fields.family.get("own_theta") != "fixed":
            own.pop("rope_theta", None)
        if fields.family.get("own_partial") != "fixed":
            own.pop("partial_rotary_factor", None)
    return own


def _nested_keys(fields: ModelFields, raw: Mapping[str, Any]) -> list[str]:
    """Names under which ``raw`` is nested: only those that the config's layers declare count."""
    labels = fields.family.get("labels") or fields.layer_types()
    if not fields.is_known_type and not labels:
        labels = [
            key
            for key, value in raw.items()
            if key.endswith("_attention") and (value is None or isinstance(value, dict))
        ]
    return [key for key in raw if key in labels]


def _wrap(values: object, path: str, source: str, layer_type: str | None = None) -> RopeEntry:
    """Give each value of one dict of a config its origin; an empty dict of a class default counts as null."""
    inner = config_dict(path, values)
    if inner is None or (not inner and source == CLASS and layer_type is not None):
        return RopeEntry(path, layer_type, nope=True)
    rope = {name: SourcedValue(value, ValueOrigin(source, f"{path}.{name}")) for name, value in inner.items()}
    return RopeEntry(path, layer_type, rope)


def _with_neomme_defaults(fields: ModelFields, entry: RopeEntry) -> RopeEntry:
    """NeoMME's defaults of base and partial factor, which differ between its layer types."""
    own = {"rope_type": "default", **fields.family["rope"].get(entry.layer_type, {})}
    names = ["rope_type", "partial_rotary_factor"] + ["rope_theta"] * (fields.stated.get("rope_theta") is None)
    given = {name: SourcedValue(own[name], ValueOrigin(CLASS, f"{entry.path}.{name}")) for name in names if name in own}
    return replace(entry, rope={**entry.rope, **{name: given[name] for name in given if name not in entry.rope}})


def _split(fields: ModelFields, raw: Mapping[str, Any], path: str, source: str) -> list[RopeEntry]:
    """Families with a local and a global base, whose older configs hold one rope_scaling and two bases."""
    convert, scaling = fields.family["convert"], _rope_scaling(fields) or {}
    scaled_kinds = SPLIT if convert in BOTH_SCALED else ("full_attention",)
    lacking = [kind for kind in scaled_kinds if scaling and source == DICT and raw.get(kind) is None]
    if lacking:
        raise ConfigError(path, "keys_beside_scaling", sorted(raw), names=lacking)
    order = [kind for kind in raw if kind in SPLIT] if source == DICT else []
    present, entries = fields.layer_types(), dict[str, RopeEntry]()
    for kind in SPLIT:
        given = raw.get(kind) if source == DICT else None
        entry = _wrap({} if given is None else given, f"{path}.{kind}", DICT, kind)
        rope = dict(entry.rope)
        if kind in scaled_kinds:
            rope |= _wrap(scaling, fields.prefix + "rope_scaling", DICT).rope
        if given is None:
            rope.setdefault("rope_type", SourcedValue("default", ValueOrigin(CLASS, f"{path}.{kind}.rope_type")))
        rope.setdefault("rope_theta", _split_base(fields, kind))
        entries[kind] = replace(entry, rope=rope)
    return [entries[kind] for kind in dict.fromkeys([*order, *SPLIT]) if kind in present]


def _split_base(fields: ModelFields, kind: str) -> SourcedValue[Any]:
    """Return the base of a layer type in a family with two: its own top-level field, then the class's value."""
    name = SPLIT_BASES.get(fields.family["convert"].removesuffix("_decoder"), SPLIT_BASES[""]).get(kind, "")
    if name and name in fields.stated:
        return SourcedValue(fields.stated[name], ValueOrigin(TOP, fields.prefix + name))
    own = fields.family["rope"][kind]["rope_theta"]
    return fields.from_class(name or f"rope_parameters.{kind}.rope_theta", own)


def _compressed(fields: ModelFields, raw: Mapping[str, Any], path: str, source: str) -> list[RopeEntry]:
    """DeepSeek-V4: plain rotation in "main" layers, the scaled one in "compress" layers."""
    entries = []
    if isinstance(raw.get("main"), dict) and isinstance(raw.get("compress"), dict):
        for kind in ("main", "compress"):
            entry = _wrap(raw[kind], f"{path}.{kind}", source, kind)
            if entry.value("rope_type", entry.value("type", "default")) != "default":
                entry = replace(entry, rope={"partial_rotary_factor": _v4_share(fields), **entry.rope})
            entries.append(entry)
        return entries
    share = _v4_share(fields)
    for kind, name in (("main", "rope_theta"), ("compress", "compress_rope_theta")):
        given = {} if kind == "main" else {k: v for k, v in raw.items() if k not in ("main", "compress")}
        entry = _wrap(given, path, source) if given else RopeEntry(f"{path}.{kind}")
        own = fields.stated.get(name)
        base = SourcedValue(own, ValueOrigin(TOP, fields.prefix + name))
        if own is None:
            base = fields.from_class(name, fields.family["rope"][kind]["rope_theta"])
        rope = _with_type(entry.path, {**entry.rope, "rope_theta": base, "partial_rotary_factor": share})
        if rope["rope_type"].value == "yarn":
            rope.setdefault("attention_factor", SourcedValue(1.0, ValueOrigin(CLASS, f"{path}.attention_factor")))
        entries.append(replace(entry, layer_type=kind, rope=rope))
    return entries


def _v4_share(fields: ModelFields) -> SourcedValue[Any]:
    if (share := fields.stated.get("partial_rotary_factor")) is not None:
        return SourcedValue(share, ValueOrigin(TOP, fields.prefix + "partial_rotary_factor"))
    if (given := fields.stated.get("qk_rope_head_dim")) is not None:
        width, head = config_int("qk_rope_head_dim", given), config_int("head_dim", fields.get("head_dim").value)
        return SourcedValue(width / head, ValueOrigin(TOP, fields.prefix + "qk_rope_head_dim"))
    return fields.from_class("partial_rotary_factor", fields.family["rope"]["main"]["partial_rotary_factor"])


def _code_fixed(fields: ModelFields) -> RopeEntry:
    """Models whose code states the base, or a field of its own for it, and reads no scaling."""
    unread: tuple[str, ...] = ("rope_scaling", "rope_parameters")
    name = fields.family.get("theta_field", "rope_theta")
    if name in fields.family:
        base = fields.get(name)
    else:
        ratio, name = fields.get("rope_ratio"), ""
        times = 1.0 if ratio.value is None else config_float(ratio.origin.path, ratio.value)
        base = SourcedValue(
            FALLBACK_THETA * times, ValueOrigin(CLASS if ratio.value is None else TOP, ratio.origin.path)
        )
    if name != "rope_theta":
        unread = (*unread, "rope_theta")
    kind = SourcedValue("default", ValueOrigin(CLASS, "rope_type"))
    if any(is_truthy(fields.stated.get(name)) for name in unread):
        kind = kind.with_traps("rope_fields_not_read")
    return RopeEntry(fields.prefix + "rope_parameters", rope={"rope_type": kind, "rope_theta": base})


def _complete(fields: ModelFields, entry: RopeEntry) -> RopeEntry:
    """Fill in type, base, partial factor and trained length of one layer type."""
    if entry.nope:
        return entry
    rope = _with_type(entry.path, {name: _at_its_place(fields, each) for name, each in entry.rope.items()})
    old, convert = entry.path.endswith("rope_scaling"), fields.family.get("convert")
    base, given = _default_base(fields, old), rope.get("rope_theta")
    if convert in AS_IT_STANDS:
        _insist(fields, entry.path, rope)
    if given is None:
        rope["rope_theta"] = base
    elif given.origin.source == DICT and base.origin.source == TOP and base.value != given.value:
        rope["rope_theta"] = given.with_traps("top_level_base_ignored", top_level=base.value)
    if (share := _default_share(fields, old, rope["rope_type"].value)) is not None:
        rope.setdefault("partial_rotary_factor", share)
    rope["rope_type"] = _family_type(fields, rope["rope_type"])
    if rope["rope_type"].value in NEEDS_LENGTH:
        if "su_read_as_longrope" in rope["rope_type"].origin.traps and LENGTH not in rope:
            rope["rope_type"] = rope["rope_type"].with_traps("su_without_length_fails")
        rope[LENGTH] = _trained_length(fields, rope.get(LENGTH), entry.layer_type)
    return replace(entry, rope=rope)


def _at_its_place(fields: ModelFields, given: SourcedValue[Any]) -> SourcedValue[Any]:
    """Return the value with the place that it has in a config of another schema."""
    place = fields.places.get(given.origin.path.removeprefix(fields.prefix))
    return SourcedValue(given.value, replace(given.origin, path=place)) if place else given


def _default_base(fields: ModelFields, old: bool) -> SourcedValue[Any]:
    """Return the base that a dict without one gets: top level, then class, then 10,000."""
    convert, stated = fields.family.get("convert"), fields.stated
    unknown = not fields.is_known_type and "rope_theta" not in stated and "rotary_emb_base" in stated
    own = "rotary_emb_base" if unknown or convert in NEOX else "rope_theta"
    reads = fields.family.get("top_theta") != "ignored" or convert in AS_IT_STANDS or own != "rope_theta"
    if reads and stated.get(own) is not None:
        return SourcedValue(stated[own], ValueOrigin(TOP, fields.prefix + own))
    scaled = fields.family.get("theta_of_scaling") if old else None
    if scaled is not None or "theta" in fields.family:
        return fields.from_class(own, scaled or fields.family["theta"])
    return SourcedValue(FALLBACK_THETA, ValueOrigin(FALLBACK, fields.prefix + own))


def _default_share(fields: ModelFields, old: bool, kind: str) -> SourcedValue[Any] | None:
    """Return the partial factor that a dict without one gets, or None."""
    convert, name = fields.family.get("convert"), "partial_rotary_factor"
    no_default = old and fields.family.get("partial_of_scaling") == "none"
    if convert in NEOX or (not fields.is_known_type and "rotary_pct" in fields.stated):
        if "rotary_pct" in fields.stated:
            return SourcedValue(fields.stated["rotary_pct"], ValueOrigin(TOP, fields.prefix + "rotary_pct"))
    # The scaling functions standardise the dict once more, when a top-level field has become an attribute.
    elif fields.stated.get(name) is not None and (
        no_default or (kind != "default" and convert is not None) or fields.family.get("top_partial") != "ignored"
    ):
        return fields.get(name)
    if "partial" in fields.family and not no_default:
        return fields.from_class(name, fields.family["partial"])
    return None


def _insist(fields: ModelFields, path: str, rope: RopeDict) -> None:
    """Refuse what newer families leave to the config: the base, and the trained length where a type needs one.

    A top-level base still reaches the types that standardise their dict once more.
    """
    kind, needs = rope["rope_type"].value, ["rope_theta"]
    if kind in ("linear", "dynamic", "yarn", "longrope") and fields.stated.get("rope_theta") is not None:
        needs = []
    if kind in NEEDS_LENGTH:
        needs.append(LENGTH)
    for name in needs:
        if name not in rope:
            raise ConfigError(f"{path}.{name}", "given_for_model", None, model_type=fields.model_type)


def _with_type(path: str, rope: dict[str, SourcedValue[Any]]) -> dict[str, SourcedValue[Any]]:
    """Settle rope_type: it wins over the older "type", which counts where it is missing."""
    old, kind = rope.get("type"), rope.get("rope_type")
    if kind is None:
        fallback = SourcedValue("default", ValueOrigin(FALLBACK, f"{path}.rope_type"))
        kind = fallback if old is None else SourcedValue(old.value, ValueOrigin(DICT, f"{path}.type"))
    elif old is not None and old.value is not None and old.value != kind.value:
        kind = kind.with_traps("type_and_rope_type_differ", type=old.value)
    if not isinstance(kind.value, str):
        raise ConfigError(kind.origin.path, "a_name", kind.value)
    return {**rope, "rope_type": kind}


def _family_type(fields: ModelFields, kind: SourcedValue[str]) -> SourcedValue[str]:
    """Read a type as single families do, and refuse one that a family does not admit."""
    convert = fields.family.get("convert")
    new, *traps = READ_AS.get(convert or "", {}).get(kind.value, (kind.value,))
    allowed = ONLY.get(convert or fields.model_type or "")
    if allowed and new not in allowed:
        raise ConfigError(kind.origin.path, "family_type", kind.value, names=allowed)
    return SourcedValue(new, kind.with_traps(*traps, type=kind.value).origin) if traps else kind


def _trained_length(fields: ModelFields, given: SourcedValue[Any] | None, layer_type: str | None) -> SourcedValue[Any]:
    """Return original_max_position_embeddings: a flat dict yields to the top level, a nested one does not."""
    top = fields.get(LENGTH)
    if layer_type is None and top.origin.source != FALLBACK:
        if given is None or given.value is None or given.value == top.value:
            return top
        return top.with_traps("trained_length_overridden", dict=given.value)
    return given or fields.get("max_position_embeddings").with_traps("trained_length_is_max_length")
