"""Values that the file states and this model does not read: one dict for several layer types, a base elsewhere."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rope_core.checks.case import Case, Finding, Phrase, finding, largest, real
from rope_core.checks.rules.layers import layer_type_phrase, rope_type_text
from rope_core.checks.schemas import OLD, layer_rope_dict
from rope_core.hf.families import DICT
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.resolve import ropes_of
from rope_core.hf.ropes import HfRope

BASE = re.compile(r"(?i)(rope|rotary).*(theta|base)|^theta$")
DICTS = ("rope_parameters", "rope_scaling")
LIKE_ROPE = re.compile(
    r"(?i)rope|rotary|yarn|(^|_)ntk|theta|compress_pos_emb|compression_ratio|max_trained_positions|^n_positions$|^alpha_value$"
)
# Fields that a rule of their own reports, that some class reads, or that only say that there is a rotation.
REPORTED_ELSEWHERE = {
    *OLD, *DICTS, "rope_interleave", "indexer_rope_interleave", "compress_ratios", "yarn_only_types", "rope_type",
    "layer_rope_theta", "qk_rope_head_dim", "rotary_dim", "rope_ratio",
    "rope_base", "rope_scaling_factor", "rotary_scaling_factor", "rotary_emb_fraction",
}  # fmt: skip
ON = re.compile(r"(?i)^(use_)?(rope|rotary)(_emb|_embeddings?)?$")
NOPE, HALVES = ("no_rope_layers", "no_rope_layer_interval"), "use_hf_rope"
# By which exllama raises the base; what released configs carry for other programs.
ALPHAS, SPARE = ("rope_alpha", "alpha_value"), ("max_trained_positions", "n_positions")


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted place and value of every field, those of inner objects included."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def bases(fields: ModelFields) -> dict[str, float]:
    """Return every place of the whole config that names a base, whoever reads it."""
    places = {path: real(value) for path, value in leaves(fields.raw) if BASE.search(path.rpartition(".")[2])}
    return {path: value for path, value in places.items() if value is not None and value > 1.0}


def bases_unread(case: Case) -> dict[str, float]:
    """Return the places that name a base and that no layer reads, or not these layers under the name they would read.

    A field of another part of the model is among them.
    """
    mine = {origin.path for origin in case.rope.provenance.values()}
    own = case.rope.provenance["base"].path.rpartition(".")[2]
    return {
        path: value
        for path, value in bases(case.fields).items()
        if path not in (mine if path.rpartition(".")[2] == own and "rope_parameters." not in path else case.read)
    }


def elsewhere(case: Case) -> Iterator[Finding]:
    """Report that a base is stated where nobody reads it, in a config whose base comes from its class or from nobody.

    A note where the place belongs to another part of the model, or where a rule on that field reports it besides.
    """
    running = {rope.base for rope in case.ropes}
    unread = {path: value for path, value in bases_unread(case).items() if value not in running}
    if unread:
        above = [path for path in unread if case.fields.prefix.startswith(path.rpartition(".")[0])]
        path = next(iter(above or unread))
        loud = bool(above) and path.rpartition(".")[2] not in OLD
        places = [Phrase("value", {"name": place, "value": value}) for place, value in unread.items()]
        yield finding("base_not_read", path, "warning" if loud else "note", base=case.rope.base, places=places)


def rope_like_fields(case: Case) -> Iterator[Finding]:
    """Report every other field of a rope-like name that no layer reads, with what runs instead."""
    fields, rope = case.fields, case.rope
    if not case.is_first:
        return
    read = (
        case.read
        | {fields.field_path(name) for name in fields.places}
        | {str(fields.family.get("switch", {}).get("field"))}
    )
    running = {each.base for each in case.ropes}
    for name, value in fields.stated.items():
        if (
            not LIKE_ROPE.search(name)
            or name in REPORTED_ELSEWHERE
            or name in fields.places
            or fields.field_path(name) in read
        ):
            continue
        if name in NOPE and (fields.family.get("nope") == NOPE[0] or (isinstance(value, list) and all(value))):
            continue
        silent = value is not True and (value in (None, False, 0, 1) or value in ([], {}) or isinstance(value, str))
        if name == HALVES:
            # Executorch's flag: halves where it is set, else neighbours, whatever the model type.
            silent = not isinstance(value, bool) or value is (rope.layout == "half")
        if silent or ON.search(name):
            continue
        if value is True and name != HALVES and ("interleave" not in name or rope.layout == "interleaved"):
            continue
        same = {*running, rope.max_len} | (set() if name in ALPHAS else {real(rope.params.get("factor"))})
        if (real(value) is not None and real(value) in same) or fields.stated.get(
            fields.family.get("theta_field", "")
        ) == value:
            continue
        alpha = real(value) if name in ALPHAS else None
        raised = rope.base * alpha ** (rope.rotary_dim / max(rope.rotary_dim - 2, 1)) if alpha and alpha > 1 else 0.0
        advice = Phrase("raised_base", {"base": raised}) if raised else Phrase("state_or_remove")
        severity = "warning" if fields.is_known_type and name not in SPARE else "note"
        runs = Phrase("runs_so", {"type": rope_type_text(rope), "base": rope.base, "layout": rope.layout})
        yield finding(
            "field_not_read", fields.field_path(name), severity, key=name, value=value, runs=runs, advice=advice
        )


def flat(fields: ModelFields, entries: Sequence[RopeEntry], ropes: tuple[HfRope, ...]) -> Iterator[Finding]:
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
    top, running = real(text.get("rope_theta")), {rope.base for rope in ropes}
    stated = all(entry.origin("rope_theta").source == DICT for entry in entries if not entry.nope)
    lost_base = top is not None and f"{fields.prefix}rope_theta" not in read and top not in running and not stated
    if lost_base and entries:
        where, unread = where or "rope_theta", {"rope_theta": text["rope_theta"]} | unread
    if where:
        stops = not ropes or (outcome == "refused" and where != "rope_theta")
        block = {"rope_parameters": nested(fields, entries, unread)}
        yield finding(
            "flat_dict_not_read",
            fields.prefix + where,
            None if stops or not repeats(fields, block, ropes) else "note",
            names=[Phrase("value", {"name": key, "value": value}) for key, value in unread.items()],
            types=list(own),
            runs=Phrase("stops") if stops else Phrase("runs", {"types": [layer_type_phrase(rope) for rope in ropes]}),
            block=block,
        )


def missing(fields: ModelFields, ropes: tuple[HfRope, ...]) -> Iterator[Finding]:
    """Report a nested dict without an entry for a layer type that the model's layers have and its class gives one."""
    given, kinds = fields.stated.get("rope_parameters"), fields.family.get("rope", {})
    present = [kind for kind in dict.fromkeys(fields.layer_types()) if kinds.get(kind)]
    if not isinstance(given, Mapping) or not any(isinstance(given.get(kind), Mapping) for kind in present):
        return
    for kind in (kind for kind in present if kind not in given):
        built = [rope for rope in ropes if rope.layer_type == kind]
        runs = Phrase("runs", {"types": [layer_type_phrase(rope) for rope in built]}) if built else Phrase("stops")
        severity = "warning" if built else "error"
        where = f"{fields.prefix}rope_parameters"
        yield finding("layer_dict_missing", where, severity, missing=kind, runs=runs)


def repeats(fields: ModelFields, block: Mapping[str, Any], ropes: tuple[HfRope, ...]) -> bool:
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
    return all(largest(a.inv_freq, b.inv_freq) == 0.0 and a.attention_factor == b.attention_factor for a, b in pairs)


def nested(fields: ModelFields, entries: Sequence[RopeEntry], unread: Mapping[str, Any]) -> dict[str, Any]:
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


RULES = (rope_like_fields,)
