"""Keys of a rope dict that its type does not read, that contradict each other, or that lack their type."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from rope_core.checks.case import LayerContext
from rope_core.findings import Finding, FindingPhrase, finite_float_or_none, make_finding
from rope_core.hf.families import FALLBACK
from rope_core.hf.types import COMMON, DEFAULT, LENGTH, LONGROPE, READ_ELSEWHERE, STATIC_NTK, YARN
from rope_core.schemes import SCHEMES, yarn_attention_factor

# Remarks that training scripts left behind, and layouts that released multimodal configs state for other programs.
REMARKS = ("finetuned", "interleaved", "xdrope_section", "rope_section")
# No format of configs names the newer schemes yet, and other programs' keys have some of their parameters' names.
PARAMETERS = sorted({param.name for scheme in SCHEMES.values() if not scheme.newer for param in scheme.params})
KNOWN = (*PARAMETERS, *COMMON, *READ_ELSEWHERE, LENGTH)
# Unread keys that are listed one by one.
MOST = 20
ATTENTION_TYPO = "attn_factor"
LIKELY = {
    ATTENTION_TYPO: "attention_factor",
    "mscale_factor": "mscale",
    "scaling_factor": "factor",
    "original_max_seq_len": LENGTH,
}


def find_ignored_keys(case: LayerContext) -> Iterator[Finding]:
    """Keys of the rope dict that this scheme does not read."""
    # Hunyuan's released configs carry YaRN's keys beside alpha.
    spare = ("beta_fast", "beta_slow", "mscale", "mscale_all_dim") if case.rope.scheme == STATIC_NTK else ()
    apart_from = {*untyped_scaling_keys(case), *spare}
    unread = [key for key in case.rope.ignored if key not in apart_from and not isinstance(case.entry.value(key), dict)]
    # Likely misspellings first: they are listed whatever else there is.
    unread.sort(key=lambda key: key not in LIKELY)
    for key in (*unread[:MOST], *(each for each in keys_of_other_models(case) if each not in spare)):
        if key == ATTENTION_TYPO and case.rope.rope_type == YARN:
            yield from find_attention_factor_typo(case)
        else:
            # A remark or a default of the class's own.
            severity = "note" if key in REMARKS or not case.is_stated(key) else "warning"
            yield make_finding(
                "key_not_read",
                case.rope_key_path(key),
                severity,
                key=key,
                type=case.rope.rope_type,
                **suggested_replacement(key),
            )
    if len(unread) > MOST:
        counts: dict[str, object] = {"count": len(unread) - MOST, "total": len(unread), "shown": MOST}
        yield make_finding("more_keys_not_read", case.entry.path, **counts, type=case.rope.rope_type)


def suggested_replacement(key: str) -> dict[str, object]:
    """Return what to do about an unread key: write the one that was meant, or another type for one that is known."""
    near = LIKELY.get(key) or next(iter(get_close_matches(key, KNOWN, 1, 0.8)), "")
    meant = bool(near) and near != key
    advice = (
        FindingPhrase("write_instead", {"near": near}) if meant else FindingPhrase("other_type" if near else "nothing")
    )
    return {"near": near if meant else None, "advice": advice}


def keys_of_other_models(case: LayerContext) -> list[str]:
    """Keys that another model's code reads and this one's does not."""
    kind, family = case.fields.model_type or "", case.fields.family
    unread = []
    if case.is_stated("alpha") and not kind.startswith("hunyuan") and case.entry.value("alpha"):
        unread.append("alpha")
    if case.rope.rope_type != YARN and not family.get("logit_scale"):
        unread += [key for key in ("mscale", "mscale_all_dim") if case.is_stated(key) and case.fields.is_known_type]
    return unread


def find_attention_factor_typo(case: LayerContext) -> Iterator[Finding]:
    """attn_factor: ignored here, a replacement under its right name, a multiplier in the YaRN repository."""
    value = finite_float_or_none(case.entry.value(ATTENTION_TYPO))
    own = yarn_attention_factor(case.scheme_parameter("factor"))
    if value is not None:
        yield make_finding(
            "attn_factor_not_read",
            case.rope_key_path(ATTENTION_TYPO),
            given=value,
            effective=case.rope.attention_factor,
            replaced=value,
            multiplied=value * own,
            logits=case.rope.attention_factor**2,
        )


def untyped_scaling_keys(case: LayerContext) -> list[str]:
    """Keys of a scaling that has no type to say which; [] where a type is given."""
    if case.rope.nope or case.entry.origin("rope_type").source != FALLBACK:
        return []
    return [key for key in (*case.rope.ignored, LENGTH) if key in case.entry.rope and key in (*PARAMETERS, LENGTH)]


def find_missing_type(case: LayerContext) -> Iterator[Finding]:
    """Report a rope dict with a scheme's keys and no type: the scheme is not applied."""
    if keys := untyped_scaling_keys(case):
        yield make_finding("type_missing", case.rope_key_path("rope_type"), keys=tuple(keys), base=case.rope.base)


def find_conflicting_types(case: LayerContext) -> Iterator[Finding]:
    """type and rope_type contradict each other."""
    origin = case.rope.provenance["scheme"]
    if "type_and_rope_type_differ" not in origin.traps:
        return
    old, kind = str(origin.values.get("type")), str(case.entry.value("rope_type"))
    same = {old, kind} in ({"su", LONGROPE}, {"mrope", DEFAULT})
    yield make_finding(
        "type_and_rope_type_differ", case.rope_key_path("type"), "note" if same else "warning", type=old, rope_type=kind
    )


def find_unread_types(case: LayerContext) -> Iterator[Finding]:
    """Report a list of the layer types to scale, as Step-3.5's file has it, where transformers scales others.

    Source: models/step3p5/configuration_step3p5.py of transformers 5.24, which scales full attention whatever it says.
    """
    listed, kind = case.fields.stated.get("yarn_only_types"), case.rope.layer_type
    if not listed or not isinstance(listed, list | tuple) or kind is None:
        return
    if all(rope.rope_type == DEFAULT for rope in case.ropes):
        return
    if (kind in listed) != (case.rope.rope_type != DEFAULT):
        names, type_ = tuple(map(str, listed)), case.rope.rope_type
        yield make_finding(
            "yarn_only_types_not_read", case.top_level_path("yarn_only_types"), names=names, layers=kind, type=type_
        )


RULES = (find_missing_type, find_ignored_keys, find_conflicting_types, find_unread_types)
