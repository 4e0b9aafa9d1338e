"""Keys that nothing reads, that contradict each other, or that lack their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from rope_core.checks.case import Case, Finding, Phrase, apart, finding, largest, real, shown
from rope_core.checks.schemas import OLD
from rope_core.errors import ConfigError
from rope_core.hf.families import FALLBACK, composites
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.forms import TEXT_FIELDS
from rope_core.hf.resolve import ResolvedConfig, ropes_of
from rope_core.hf.types import COMMON, DEFAULT, LENGTH, LONGROPE, READ_ELSEWHERE, STATIC_NTK, YARN
from rope_core.schemes import SCHEMES, yarn_attention_factor

# Remarks that training scripts left behind, and layouts that released multimodal configs state for other programs.
REMARKS = ("finetuned", "interleaved", "xdrope_section", "rope_section")
# No format of configs names the newer schemes yet, and other programs' keys have some of their parameters' names.
PARAMETERS = sorted({param.name for scheme in SCHEMES.values() if not scheme.newer for param in scheme.params})
KNOWN = (*PARAMETERS, *COMMON, *READ_ELSEWHERE, LENGTH)
# Top-level fields of single families: read by their own class only.
OF_SINGLE_FAMILIES = (
    "rotary_pct",
    "rotary_emb_base",
    "rotary_emb_fraction",
    "rotary_dim",
    "rope_ratio",
    "rope_base",
    "rope_scaling_factor",
    "rotary_scaling_factor",
    "rope_local_base_freq",
    "global_rope_theta",
    "local_rope_theta",
    "partial_rotary_factor",
    "rope_theta",
)
SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_emb_fraction")
FACTORS = ("rope_ratio", "rope_scaling_factor", "rotary_scaling_factor")
# Unread keys that are listed one by one.
MOST = 20
NAMED_BY_TRAPS = ("rope_theta", "partial_rotary_factor")
ATTENTION_TYPO = "attn_factor"
LIKELY = {
    ATTENTION_TYPO: "attention_factor",
    "mscale_factor": "mscale",
    "scaling_factor": "factor",
    "original_max_seq_len": LENGTH,
}


def ignored_keys(case: Case) -> Iterator[Finding]:
    """Keys of the rope dict that this scheme does not read."""
    # Hunyuan's released configs carry YaRN's keys beside alpha.
    spare = ("beta_fast", "beta_slow", "mscale", "mscale_all_dim") if case.rope.scheme == STATIC_NTK else ()
    without_type = {*scaling_keys(case), *spare}
    # Likely misspellings first: they are listed whatever else there is.
    unread = sorted((key for key in case.rope.ignored if key not in without_type), key=lambda key: key not in LIKELY)
    for key in unread[:MOST]:
        if key == ATTENTION_TYPO and case.rope.rope_type == YARN:
            yield from attention_typo(case)
            continue
        if isinstance(case.entry.value(key), dict):
            continue
        severity = "note" if harmless(case, key) else "warning"
        yield finding("key_not_read", case.at(key), severity, key=key, type=case.rope.rope_type, **nearest(key))
    if len(unread) > MOST:
        values: dict[str, object] = {
            "count": len(unread) - MOST,
            "total": len(unread),
            "shown": MOST,
            "type": case.rope.rope_type,
        }
        yield finding("more_keys_not_read", case.entry.path, **values)
    for key in (each for each in unread_elsewhere(case) if each not in spare):
        severity = "note" if harmless(case, key) else "warning"
        yield finding("key_not_read", case.at(key), severity, key=key, type=case.rope.rope_type, **nearest(key))


def nearest(key: str) -> dict[str, object]:
    """Return what to do about an unread key: write the one that was meant, or another type for one that is known."""
    near = LIKELY.get(key) or next(iter(get_close_matches(key, KNOWN, 1, 0.8)), "")
    meant = bool(near) and near != key
    advice = Phrase("write_instead", {"near": near}) if meant else Phrase("other_type" if near else "nothing")
    return {"near": near if meant else None, "advice": advice}


def harmless(case: Case, key: str) -> bool:
    """Whether an unread key is a remark or a default."""
    return key in REMARKS or not case.given(key)


def unread_elsewhere(case: Case) -> list[str]:
    """Keys that another model's code reads and this one's does not."""
    kind, family = case.fields.model_type or "", case.fields.family
    unread = []
    if case.given("alpha") and not kind.startswith("hunyuan") and case.entry.value("alpha"):
        unread.append("alpha")
    if case.rope.rope_type != YARN and not family.get("logit_scale"):
        unread += [key for key in ("mscale", "mscale_all_dim") if case.given(key) and case.fields.is_known_type]
    return unread


def attention_typo(case: Case) -> Iterator[Finding]:
    """attn_factor: ignored here, a replacement under its right name, a multiplier in the YaRN repository."""
    value = real(case.entry.value(ATTENTION_TYPO))
    own = yarn_attention_factor(case.number("factor"))
    if value is not None:
        yield finding(
            "attn_factor_not_read",
            case.at(ATTENTION_TYPO),
            given=value,
            effective=case.rope.attention_factor,
            replaced=value,
            multiplied=value * own,
            logits=case.rope.attention_factor**2,
        )


def scaling_keys(case: Case) -> list[str]:
    """Keys of a scaling that has no type to say which; [] where a type is given."""
    if case.rope.nope or case.entry.origin("rope_type").source != FALLBACK:
        return []
    return [key for key in (*case.rope.ignored, LENGTH) if key in case.entry.rope and key in (*PARAMETERS, LENGTH)]


def type_missing(case: Case) -> Iterator[Finding]:
    """Report a rope dict with a scheme's keys and no type: the scheme is not applied."""
    if keys := scaling_keys(case):
        yield finding("type_missing", case.at("rope_type"), keys=tuple(keys), base=case.rope.base)


def types_conflict(case: Case) -> Iterator[Finding]:
    """type and rope_type contradict each other."""
    origin = case.rope.provenance["scheme"]
    if "type_and_rope_type_differ" not in origin.traps:
        return
    old, kind = str(origin.values.get("type")), str(case.entry.value("rope_type"))
    same = {old, kind} in ({"su", LONGROPE}, {"mrope", DEFAULT})
    yield finding("type_and_rope_type_differ", case.at("type"), "note" if same else "warning", type=old, rope_type=kind)


def top_level_keys(case: Case) -> Iterator[Finding]:
    """Top-level rope fields that this class does not read."""
    for key in OF_SINGLE_FAMILIES:
        value = real(case.fields.stated.get(key))
        if value is None or case.top(key) in case.read:
            continue
        if not named_elsewhere(case, key) and not without_effect(case, key, value):
            yield finding("top_level_key_not_read", case.top(key), key=key, value=value, base=case.rope.base)


def scaling_outside(case: Case) -> Iterator[Finding]:
    """Report a scheme's own key beside the rope dict instead of in it."""
    for key in ("rope_type", *(key for key in PARAMETERS if key not in OF_SINGLE_FAMILIES)):
        value = case.fields.stated.get(key)
        if value is not None and case.top(key) not in case.read and case.is_first and case.fields.is_known_type:
            yield finding("scaling_key_outside", case.top(key), key=key, value=value, place=case.entry.path)


def nested_base(case: Case) -> Iterator[Finding]:
    """Report a base inside attn_config, as DBRX's file has it: transformers takes the one of its rope dict.

    Source: models/dbrx/modeling_dbrx.py of transformers 5.23, whose rotary embedding reads rope_parameters only.
    """
    inner = case.fields.stated.get("attn_config")
    value = real(inner.get("rope_theta")) if isinstance(inner, Mapping) else None
    if value is not None and case.is_first and value != case.rope.base and not case.rope.nope:
        key = "attn_config.rope_theta"
        yield finding("top_level_key_not_read", case.top(key), key=key, value=value, base=case.rope.base)


def types_not_read(case: Case) -> Iterator[Finding]:
    """Report a list of the layer types to scale, as Step-3.5's file has it, where transformers scales others.

    Source: models/step3p5/configuration_step3p5.py of transformers 5.23, which scales full attention whatever it says.
    """
    listed, kind = case.fields.stated.get("yarn_only_types"), case.rope.layer_type
    if not listed or not isinstance(listed, list | tuple) or kind is None:
        return
    if all(rope.rope_type == DEFAULT for rope in case.ropes):
        return
    if (kind in listed) != (case.rope.rope_type != DEFAULT):
        names, type_ = tuple(map(str, listed)), case.rope.rope_type
        yield finding("yarn_only_types_not_read", case.top("yarn_only_types"), names=names, layers=kind, type=type_)


def named_elsewhere(case: Case, key: str) -> bool:
    """Whether a trap names this field already, or layer types settle it."""
    traps = {"top_level_base_ignored", "default_ignores_partial", "rope_fields_not_read"} & set(case.rope.traps)
    return (bool(traps) and key in NAMED_BY_TRAPS) or (key == "rope_theta" and len(case.ropes) > 1)


def without_effect(case: Case, key: str, value: float) -> bool:
    """Whether the unread field says what holds anyway."""
    if key in SHARES:
        return 0.0 < value <= 1.0 and int(case.rope.head_dim * value) == case.rope.rotary_dim
    if key == "rotary_dim":
        return value in {rope.rotary_dim for rope in case.ropes}
    return value == 1 if key in FACTORS else value in {rope.base for rope in case.ropes}


def level(config: ResolvedConfig, fields: ModelFields) -> Iterator[Finding]:
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
            yield finding("level_not_read", place + named[0], names=named, read=fields.prefix + "rope_parameters")
    whole = composites().get(str(data.get("model_type")))
    if whole and not places and not whole.get("flat") and data.get(whole["text"]) is None:
        yield from flattened(config, whole["text"])


def flattened(config: ResolvedConfig, text: str) -> Iterator[Finding]:
    """Report a composite model's config whose text fields are at the top, where its class leaves them unread."""
    try:
        own, classes = config.text.ropes(), ropes_of({"model_type": config.raw["model_type"]})
    except ConfigError:
        return
    pairs = [(rope, classes[kind]) for kind, rope in own.items() if kind in classes]
    if list(own) != list(classes) or any(largest(rope.inv_freq, other.inv_freq) > 1e-6 for rope, other in pairs):
        worst = [apart(other.inv_freq, rope.inv_freq) for rope, other in pairs[:1]] or [Phrase("layers_apart")]
        yield finding("flattened", text, model_type=config.raw["model_type"], text=text, apart=worst)


def scaling_wins(case: Case) -> Iterator[Finding]:
    """rope_scaling beside rope_parameters: the latter is discarded whole."""
    if "rope_scaling_replaces_rope_parameters" not in case.rope.provenance["base"].traps:
        return
    lost = case.fields.stated.get("rope_parameters") or {}
    severity = "error" if real(lost.get("rope_theta")) not in (None, case.rope.base) else "warning"
    texts_of = [f"{key} {shown(value)}" for key, value in lost.items()]
    where = case.top("rope_parameters")
    yield finding("rope_scaling_replaces_rope_parameters", where, severity, base=case.rope.base, lost=texts_of)


RULES = (
    type_missing,
    ignored_keys,
    types_conflict,
    top_level_keys,
    scaling_outside,
    nested_base,
    types_not_read,
    scaling_wins,
)
