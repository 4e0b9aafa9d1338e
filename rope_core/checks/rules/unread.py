"""Values that the file states and this model does not read: one dict for several layer types, a base elsewhere."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rope_core.checks.case import Case, Finding, Phrase, finding, largest, real
from rope_core.checks.rules.layers import kind_of, named
from rope_core.checks.schemas import OLD, flat_dict
from rope_core.hf.completion import Parameters
from rope_core.hf.normal import Model
from rope_core.hf.ropes import HfRope, ropes_of
from rope_core.hf.versions import text_part

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


def bases(model: Model) -> dict[str, float]:
    """Return every place of the whole config that names a base, whoever reads it."""
    places = {path: real(value) for path, value in leaves(model.whole) if BASE.search(path.rpartition(".")[2])}
    return {path: value for path, value in places.items() if value is not None and value > 1.0}


def bases_unread(case: Case) -> dict[str, float]:
    """Return the places that name a base and that no layer reads, or not these layers under the name they would read.

    A field of another part of the model is among them.
    """
    mine = {origin.path for origin in case.rope.provenance.values()}
    read = {origin.path for rope in case.ropes for origin in rope.provenance.values()}
    own = case.rope.provenance["base"].path.rpartition(".")[2]
    return {
        path: value
        for path, value in bases(case.model).items()
        if path not in (mine if path.rpartition(".")[2] == own and "rope_parameters." not in path else read)
    }


def elsewhere(case: Case) -> Iterator[Finding]:
    """Report that a base is stated where nobody reads it, in a config whose base comes from its class or from nobody.

    A note where the place belongs to another part of the model, or where a rule on that field reports it besides.
    """
    running = {rope.base for rope in case.ropes}
    unread = {path: value for path, value in bases_unread(case).items() if value not in running}
    if unread:
        above = [path for path in unread if case.model.prefix.startswith(path.rpartition(".")[0])]
        path = next(iter(above or unread))
        loud = bool(above) and path.rpartition(".")[2] not in OLD
        places = [Phrase("value", {"name": place, "value": value}) for place, value in unread.items()]
        yield finding("base_not_read", path, "warning" if loud else "note", base=case.rope.base, places=places)


def fields(case: Case) -> Iterator[Finding]:
    """Report every other field of a rope-like name that no layer reads, with what runs instead."""
    model, rope = case.model, case.rope
    if rope is not case.ropes[0]:
        return
    read = {origin.path for each in case.ropes for origin in each.provenance.values()}
    read |= {model.path(name) for name in model.places} | {str(model.family.get("switch", {}).get("field"))}
    running = {each.base for each in case.ropes}
    for name, value in model.data.items():
        if not LIKE_ROPE.search(name) or name in REPORTED_ELSEWHERE or name in model.places or model.path(name) in read:
            continue
        if name in NOPE and (model.family.get("nope") == NOPE[0] or (isinstance(value, list) and all(value))):
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
        if (real(value) is not None and real(value) in same) or model.data.get(
            model.family.get("theta_field", "")
        ) == value:
            continue
        alpha = real(value) if name in ALPHAS else None
        raised = rope.base * alpha ** (rope.rotary_dim / max(rope.rotary_dim - 2, 1)) if alpha and alpha > 1 else 0.0
        advice = Phrase("raised_base", {"base": raised}) if raised else Phrase("state_or_remove")
        severity = "warning" if model.known and name not in SPARE else "note"
        runs = Phrase("runs_so", {"type": kind_of(rope), "base": rope.base, "layout": rope.layout})
        yield finding("field_not_read", model.path(name), severity, key=name, value=value, runs=runs, advice=advice)


def flat(model: Model, parts: list[Parameters], ropes: tuple[HfRope, ...]) -> Iterator[Finding]:
    """Report a dict, or a top-level base, for all layers of a family whose layer types have one dict each.

    ``parts`` and ``ropes`` are empty where transformers builds nothing.
    """
    outcome, own = model.family.get("flat_dict"), model.family.get("rope", {})
    if outcome is None:
        return
    text = text_part(model.whole, model.prefix)
    read = {origin.path for part in parts for origin in part.origins.values()}
    kinds = {*own, *model.layer_types()}
    where, unread = "", dict[str, Any]()
    for name in DICTS:
        given = text.get(name)
        loose = {key: value for key, value in given.items() if key not in kinds} if isinstance(given, Mapping) else {}
        if loose and not any(f"{model.prefix}{name}.{key}" in read for key in loose) and not where:
            where, unread = name, loose
    top, running = real(text.get("rope_theta")), {rope.base for rope in ropes}
    stated = all(part.origins["rope_theta"].source == "dict" for part in parts if not part.nope)
    lost_base = top is not None and f"{model.prefix}rope_theta" not in read and top not in running and not stated
    if lost_base and parts:
        where, unread = where or "rope_theta", {"rope_theta": text["rope_theta"]} | unread
    if where:
        stops = not ropes or (outcome == "refused" and where != "rope_theta")
        block = {"rope_parameters": nested(model, parts, unread)}
        yield finding(
            "flat_dict_not_read",
            model.prefix + where,
            None if stops or not repeats(model, block, ropes) else "note",
            names=[Phrase("value", {"name": key, "value": value}) for key, value in unread.items()],
            types=list(own),
            runs=Phrase("stops") if stops else Phrase("runs", {"types": [named(rope) for rope in ropes]}),
            block=block,
        )


def missing(model: Model, parts: list[Parameters], ropes: tuple[HfRope, ...]) -> Iterator[Finding]:
    """Report a nested dict without an entry for a layer type that the model's layers have and its class gives one."""
    given, kinds = model.data.get("rope_parameters"), model.family.get("rope", {})
    present = [kind for kind in dict.fromkeys(model.layer_types()) if kinds.get(kind)]
    if not isinstance(given, Mapping) or not any(isinstance(given.get(kind), Mapping) for kind in present):
        return
    for kind in (kind for kind in present if kind not in given):
        built = [rope for rope in ropes if rope.layer_type == kind]
        runs = Phrase("runs", {"types": [named(rope) for rope in built]}) if built else Phrase("stops")
        severity = "warning" if built else "error"
        where = f"{model.prefix}rope_parameters"
        yield finding("layer_dict_missing", where, severity, missing=kind, runs=runs)


def repeats(model: Model, block: Mapping[str, Any], ropes: tuple[HfRope, ...]) -> bool:
    """Whether a config with ``block`` turns as it does without: what is not read says what runs anyway."""
    new = copy.deepcopy(dict(model.whole))
    text = text_part(new, model.prefix)
    for name in OLD:
        text.pop(name, None)
    text |= block
    try:
        pairs = [*zip(ropes, ropes_of(new).values(), strict=True)]
    except ValueError:
        return False
    return all(largest(a.inv_freq, b.inv_freq) == 0.0 and a.attention_factor == b.attention_factor for a, b in pairs)


def nested(model: Model, parts: list[Parameters], unread: Mapping[str, Any]) -> dict[str, Any]:
    """Return one dict for each layer type: what was stated for the layers that see everything, the rest as it runs."""
    own = {kind: dict(values) or None for kind, values in model.family["rope"].items()}
    now: dict[str, Any] = {part.layer_type: flat_dict(part) for part in parts if part.layer_type} or own
    present = model.layer_types()
    now = {kind: copy.deepcopy(values) for kind, values in now.items() if not present or kind in present} or now
    whole = [kind for kind, values in now.items() if values is not None and "sliding" not in kind]
    for kind in whole or now:
        if now[kind] is not None:
            kept = {key: value for key, value in now[kind].items() if "rope_type" not in unread or key == "rope_theta"}
            named_type = {"rope_type": unread.get("rope_type", unread.get("type", kept.get("rope_type", "default")))}
            now[kind] = {**named_type, **kept, **{key: value for key, value in unread.items() if key != "type"}}
    return now


RULES = (fields,)
