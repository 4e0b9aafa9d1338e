"""Values that the file states and this model does not read: one dict for several layer types, a base elsewhere."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rope_core.checks.case import LayerContext
from rope_core.checks.rules.keys import PARAMETERS
from rope_core.checks.rules.layers import layer_type_phrase, rope_type_text
from rope_core.errors import ConfigError
from rope_core.findings import (
    Finding,
    FindingPhrase,
    difference_phrase,
    finite_float_or_none,
    make_finding,
    max_relative_difference,
    value_text,
)
from rope_core.hf.families import DICT, composite_text_fields
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.forms import TEXT_FIELDS
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.resolve import ResolvedConfig, ropes_of
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import OLD, layer_rope_dict

BASE = re.compile(r"(?i)(rope|rotary).*(theta|base)|^theta$")
DICTS = ("rope_parameters", "rope_scaling")
LIKE_ROPE = re.compile(
    r"(?i)rope|rotary|yarn|(^|_)ntk|theta|compress_pos_emb|compression_ratio|max_trained_positions|^n_positions$|^alpha_value$"
)
# Keys of a scheme that stand in its dict only.
OF_DICTS = ("rope_type", *PARAMETERS)
# Fields of single families, read by their own class only; DBRX's file has its base inside attn_config.
OF_SINGLE_FAMILIES = (
    "rotary_pct", "rotary_emb_base", "rotary_emb_fraction", "rotary_dim", "rope_ratio", "rope_base",
    "rope_scaling_factor", "rotary_scaling_factor", "rope_local_base_freq", "global_rope_theta", "local_rope_theta",
    "partial_rotary_factor", "rope_theta", "attn_config.rope_theta",
)  # fmt: skip
SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_emb_fraction")
FACTORS = ("rope_ratio", "rope_scaling_factor", "rotary_scaling_factor")
# Fields that a rule of their own reports, or that only say that there is a rotation.
REPORTED_ELSEWHERE = {
    *DICTS, "compress_rope_theta", "rope_interleave", "indexer_rope_interleave", "compress_ratios", "yarn_only_types",
    "layer_rope_theta", "qk_rope_head_dim",
}  # fmt: skip
ON = re.compile(r"(?i)^(use_)?(rope|rotary)(_emb|_embeddings?)?$")
NOPE, HALVES = ("no_rope_layers", "no_rope_layer_interval"), "use_hf_rope"
# By which exllama raises the base; what released configs carry for other programs.
ALPHAS, SPARE = ("rope_alpha", "alpha_value"), ("max_trained_positions", "n_positions")


def config_leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted place and value of every field, those of inner objects included."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from config_leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def stated_bases_by_path(fields: ModelFields) -> dict[str, float]:
    """Return every place of the whole config that names a base, whoever reads it."""
    places = {
        path: finite_float_or_none(value)
        for path, value in config_leaves(fields.raw)
        if BASE.search(path.rpartition(".")[2])
    }
    return {path: value for path, value in places.items() if value is not None and value > 1.0}


def unread_bases(case: LayerContext) -> dict[str, float]:
    """Return the places that name a base and that no layer reads, or not these layers under the name they would read.

    A field of another part of the model is among them.
    """
    mine = {origin.path for origin in case.rope.provenance.values()}
    own = case.rope.provenance["base"].path.rpartition(".")[2]
    return {
        path: value
        for path, value in stated_bases_by_path(case.fields).items()
        if path not in (mine if path.rpartition(".")[2] == own and "rope_parameters." not in path else case.read_paths)
    }


def find_misplaced_base(case: LayerContext) -> Iterator[Finding]:
    """Report that a base is stated where nobody reads it, in a config whose base comes from its class or from nobody.

    A note where the place belongs to another part of the model, or where a rule on that field reports it besides.
    """
    running = {rope.base for rope in case.ropes}
    unread = {path: value for path, value in unread_bases(case).items() if value not in running}
    if unread:
        above = [path for path in unread if case.fields.prefix.startswith(path.rpartition(".")[0])]
        path = next(iter(above or unread))
        loud = bool(above) and path.rpartition(".")[2] not in OLD
        places = [FindingPhrase("value", {"name": place, "value": value}) for place, value in unread.items()]
        yield make_finding("base_not_read", path, "warning" if loud else "note", base=case.rope.base, places=places)


def find_unread_fields(case: LayerContext) -> Iterator[Finding]:
    """Report every stated field of a rotation that no layer reads, by what other classes read under its name."""
    fields, rope = case.fields, case.rope
    inner = fields.stated.get("attn_config")
    inner = {"attn_config.rope_theta": inner.get("rope_theta")} if isinstance(inner, Mapping) else {}
    for name, value in {**case.unread_fields, **inner}.items():
        where = fields.field_path(name)
        if name in OF_SINGLE_FAMILIES:
            if not is_explained_field(case, name, finite_float_or_none(value)):
                yield make_finding(
                    "top_level_key_not_read", where, key=name, value=finite_float_or_none(value), base=rope.base
                )
        elif not case.is_first:
            continue
        elif name in OF_DICTS:
            if value is not None and fields.is_known_type:
                yield make_finding("scaling_key_outside", where, key=name, value=value, place=case.entry.path)
        elif LIKE_ROPE.search(name) and name not in REPORTED_ELSEWHERE and not is_without_effect(case, name, value):
            alpha = finite_float_or_none(value) if name in ALPHAS else None
            power = rope.rotary_dim / max(rope.rotary_dim - 2, 1)
            raised = FindingPhrase("raised_base", {"base": rope.base * alpha**power}) if alpha and alpha > 1 else None
            severity = "warning" if fields.is_known_type and name not in SPARE else "note"
            runs = FindingPhrase("runs_so", {"type": rope_type_text(rope), "base": rope.base, "layout": rope.layout})
            advice = raised or FindingPhrase("state_or_remove")
            yield make_finding("field_not_read", where, severity, key=name, value=value, runs=runs, advice=advice)


def is_explained_field(case: LayerContext, name: str, value: float | None) -> bool:
    """Whether a single family's field is no number, says what holds, or is named by a trap or the layer types."""
    traps = {"top_level_base_ignored", "default_ignores_partial", "rope_fields_not_read"} & set(case.rope.traps)
    if value is None or (traps and name in ("rope_theta", "partial_rotary_factor")):
        return True
    if name in SHARES:
        return 0.0 < value <= 1.0 and int(case.rope.head_dim * value) == case.rope.rotary_dim
    if name == "rotary_dim":
        return value in {rope.rotary_dim for rope in case.ropes}
    if name in FACTORS:
        return value == 1
    return value in {rope.base for rope in case.ropes} or (name == "rope_theta" and len(case.ropes) > 1)


def is_without_effect(case: LayerContext, name: str, value: Any) -> bool:
    """Whether an unread field of a rope-like name is off, a word, a flag for what holds, or a number that runs."""
    family, rope = case.fields.family, case.rope
    if ON.search(name):
        return True
    if name == HALVES:
        # Executorch's flag: halves where it is set, else neighbours, whatever the model type.
        return not isinstance(value, bool) or value is (rope.layout == "half")
    if name in NOPE and (family.get("nope") == NOPE[0] or (isinstance(value, list) and all(value))):
        return True
    if value is True:
        return "interleave" not in name or rope.layout == "interleaved"
    if value in (None, False, 0, 1) or value in ([], {}) or isinstance(value, str):
        return True
    factor = set() if name in ALPHAS else {finite_float_or_none(rope.params.get("factor"))}
    runs = {*(each.base for each in case.ropes), rope.max_len, *factor}
    same = finite_float_or_none(value) is not None and finite_float_or_none(value) in runs
    return same or case.fields.stated.get(family.get("theta_field", "")) == value


def find_discarded_rope_parameters(case: LayerContext) -> Iterator[Finding]:
    """rope_scaling beside rope_parameters: the latter is discarded whole."""
    if "rope_scaling_replaces_rope_parameters" not in case.rope.provenance["base"].traps:
        return
    lost = case.fields.stated.get("rope_parameters") or {}
    severity = "error" if finite_float_or_none(lost.get("rope_theta")) not in (None, case.rope.base) else "warning"
    texts_of = [f"{key} {value_text(value)}" for key, value in lost.items()]
    where = case.top_level_path("rope_parameters")
    yield make_finding("rope_scaling_replaces_rope_parameters", where, severity, base=case.rope.base, lost=texts_of)


def find_values_fixed_in_code(case: LayerContext) -> Iterator[Finding]:
    """Report the rope fields of a model whose code states the base and reads none of them."""
    names = tuple(name for name in ("rope_scaling", "rope_parameters", "rope_theta") if case.unread_fields.get(name))
    if not case.fields.family.get("fixed") or case.rope.nope or not names:
        return
    harmless = names == ("rope_theta",) and case.fields.stated["rope_theta"] == case.rope.base
    severity, model_type = "note" if harmless else "warning", case.fields.model_type
    values: dict[str, object] = {"names": names, "base": case.rope.base, "model_type": model_type}
    yield make_finding("rope_fields_not_read", case.top_level_path(names[0]), severity, **values)


def find_flat_dict_for_layer_types(
    fields: ModelFields, entries: Sequence[RopeEntry], ropes: tuple[HfRope, ...]
) -> Iterator[Finding]:
    """Report a dict, or a top-level base, for all layers of a family whose layer types have one dict each.

    ``entries`` and ``ropes`` are empty where transformers builds nothing.
    """
    outcome, own = fields.family.get("flat_dict"), fields.family.get("rope", {})
    if outcome is None:
        return
    text = dict_at(fields.raw, fields.prefix)
    read = {each.origin.path for entry in entries for each in entry.rope.values()}
    kinds = {*own, *fields.layer_types()}
    where, unread = "", dict[str, Any]()
    for name in DICTS:
        given = text.get(name)
        loose = {key: value for key, value in given.items() if key not in kinds} if isinstance(given, Mapping) else {}
        if loose and not any(f"{fields.prefix}{name}.{key}" in read for key in loose) and not where:
            where, unread = name, loose
    top, running = finite_float_or_none(text.get("rope_theta")), {rope.base for rope in ropes}
    stated = all(entry.origin("rope_theta").source == DICT for entry in entries if not entry.nope)
    lost_base = top is not None and f"{fields.prefix}rope_theta" not in read and top not in running and not stated
    if lost_base and entries:
        where, unread = where or "rope_theta", {"rope_theta": text["rope_theta"]} | unread
    if where:
        stops = not ropes or (outcome == "refused" and where != "rope_theta")
        block = {"rope_parameters": rope_dict_per_layer_type(fields, entries, unread)}
        yield make_finding(
            "flat_dict_not_read",
            fields.prefix + where,
            None if stops or not is_block_without_effect(fields, block, ropes) else "note",
            names=[FindingPhrase("value", {"name": key, "value": value}) for key, value in unread.items()],
            types=list(own),
            runs=FindingPhrase("stops")
            if stops
            else FindingPhrase("runs", {"types": [layer_type_phrase(rope) for rope in ropes]}),
            block=block,
        )


def find_missing_layer_type(fields: ModelFields, ropes: tuple[HfRope, ...]) -> Iterator[Finding]:
    """Report a nested dict without an entry for a layer type that the model's layers have and its class gives one."""
    given, kinds = fields.stated.get("rope_parameters"), fields.family.get("rope", {})
    present = [kind for kind in dict.fromkeys(fields.layer_types()) if kinds.get(kind)]
    if not isinstance(given, Mapping) or not any(isinstance(given.get(kind), Mapping) for kind in present):
        return
    for kind in (kind for kind in present if kind not in given):
        built = [rope for rope in ropes if rope.layer_type == kind]
        runs = (
            FindingPhrase("runs", {"types": [layer_type_phrase(rope) for rope in built]})
            if built
            else FindingPhrase("stops")
        )
        severity = "warning" if built else "error"
        where = f"{fields.prefix}rope_parameters"
        yield make_finding("layer_dict_missing", where, severity, missing=kind, runs=runs)


def is_block_without_effect(fields: ModelFields, block: Mapping[str, Any], ropes: tuple[HfRope, ...]) -> bool:
    """Whether a config with ``block`` turns as it does without: what is not read says what runs anyway."""
    new = copy.deepcopy(dict(fields.raw))
    text = dict_at(new, fields.prefix)
    for name in OLD:
        text.pop(name, None)
    text |= block
    try:
        pairs = [*zip(ropes, ropes_of(new).values(), strict=True)]
    except ValueError:
        return False
    return all(
        max_relative_difference(a.inv_freq, b.inv_freq) == 0.0 and a.attention_factor == b.attention_factor
        for a, b in pairs
    )


def rope_dict_per_layer_type(
    fields: ModelFields, entries: Sequence[RopeEntry], unread: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one dict for each layer type: what was stated for the layers that see everything, the rest as it runs."""
    own = {kind: dict(values) or None for kind, values in fields.family["rope"].items()}
    now: dict[str, Any] = {entry.layer_type: layer_rope_dict(entry) for entry in entries if entry.layer_type} or own
    present = fields.layer_types()
    now = {kind: copy.deepcopy(values) for kind, values in now.items() if not present or kind in present} or now
    whole = [kind for kind, values in now.items() if values is not None and "sliding" not in kind]
    for kind in whole or now:
        if now[kind] is not None:
            kept = {key: value for key, value in now[kind].items() if "rope_type" not in unread or key == "rope_theta"}
            named_type = {"rope_type": unread.get("rope_type", unread.get("type", kept.get("rope_type", "default")))}
            now[kind] = {**named_type, **kept, **{key: value for key, value in unread.items() if key != "type"}}
    return now


def find_wrong_level_fields(config: ResolvedConfig, fields: ModelFields) -> Iterator[Finding]:
    """Report rope fields at a level of a composite config, or of a flat one, that transformers never reads."""
    data = config.raw
    places = fields.prefix.split(".")[:-1]
    outer: list[tuple[str, Mapping[str, Any]]] = [("", data)]
    for depth, name in enumerate(places[:-1]):
        outer.append((".".join(places[: depth + 1]) + ".", dict_at(data, f"{outer[-1][0]}{name}.")))
    inner = [(f"{name}.", data[name]) for name in TEXT_FIELDS if not places and isinstance(data.get(name), Mapping)]
    for place, part in outer if places else inner:
        named = [name for name in (*OLD, "factor") if part.get(name) and part[name] != fields.stated.get(name)]
        if named:
            yield make_finding("level_not_read", place + named[0], names=named, read=fields.prefix + "rope_parameters")
    whole = composite_text_fields().get(str(data.get("model_type")))
    if whole and not places and not whole.get("flat") and data.get(whole["text"]) is None:
        yield from find_flattened_text_config(config, whole["text"])


def find_flattened_text_config(config: ResolvedConfig, text: str) -> Iterator[Finding]:
    """Report a composite model's config whose text fields are at the top, where its class leaves them unread."""
    try:
        own, classes = config.text.ropes(), ropes_of({"model_type": config.raw["model_type"]})
    except ConfigError:
        return
    pairs = [(rope, classes[kind]) for kind, rope in own.items() if kind in classes]
    if list(own) != list(classes) or any(
        max_relative_difference(rope.inv_freq, other.inv_freq) > 1e-6 for rope, other in pairs
    ):
        worst = [difference_phrase(other.inv_freq, rope.inv_freq) for rope, other in pairs[:1]] or [
            FindingPhrase("layers_apart")
        ]
        yield make_finding("flattened", text, model_type=config.raw["model_type"], text=text, apart=worst)


RULES = (find_unread_fields, find_values_fixed_in_code, find_discarded_rope_parameters)
