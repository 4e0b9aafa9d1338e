"""Where the base came from."""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import LayerContext
from rope_core.checks.rules.likeness import released_relatives, released_twins
from rope_core.checks.rules.unread import find_misplaced_base, unread_bases
from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.hf.families import CLASS, DICT, FALLBACK
from rope_core.hf.types import DEFAULT

LONG = 16_384


def find_unstated_base(case: LayerContext) -> Iterator[Finding]:
    """Report a base that nobody stated, in a config that needed one."""
    rope = case.rope
    origin = rope.provenance["base"]
    if rope.nope or origin.source == DICT:
        return
    if origin.source not in (CLASS, FALLBACK) or (
        case.fields.family.get("fixed") and not is_default_base_over_long_context(case)
    ):
        return
    source = FindingPhrase(origin.source.replace(" ", "_"))
    same = [(name, other) for name, other in released_twins(case) if other.rope_type == rope.rope_type]
    others = [(name, other.base) for name, other in same if other.base != rope.base]
    if unread_bases(case):
        yield from find_misplaced_base(case)
        return
    v5 = bool(case.fields.stated.get("rope_parameters")) and case.entry.layer_type is None
    if same and len(others) == len(same):
        name, wanted = others[0]
        yield make_finding("base_lost", origin.path, base=rope.base, model=name, wanted=wanted, origin=source)
    elif v5:
        yield make_finding(
            "base_missing_in_rope_parameters", case.rope_key_path("rope_theta"), base=rope.base, origin=source
        )
    elif origin.source == FALLBACK:
        # A model that transformers does not know may state its base in code of its own.
        yield make_finding(
            "base_from_nowhere", origin.path, "warning" if case.fields.is_known_type else "note", base=rope.base
        )
    elif is_default_base_over_long_context(case):
        waves = float(rope.request.rope.wavelength[-1])
        yield make_finding("base_small_for_length", origin.path, base=rope.base, max=rope.max_len, longest=waves)
    elif "max_position_embeddings" in case.fields.stated:
        released = {other.base for _, other in released_relatives(case)}
        lost = bool(released) and rope.base not in released
        known = FindingPhrase("released_bases", {"bases": sorted(released)}) if lost else FindingPhrase("nothing")
        severity = "warning" if lost else "note"
        yield make_finding("base_is_class_default", origin.path, severity, base=rope.base, known=known)


def is_default_base_over_long_context(case: LayerContext) -> bool:
    """Whether layers that look at everything run base 10,000 unscaled over a long context."""
    rope = case.rope
    everything = case.entry.layer_type in (None, "full_attention")
    return everything and rope.rope_type == DEFAULT and (rope.max_len or 0) >= LONG and rope.base == 10_000.0


def find_overridden_values(case: LayerContext) -> Iterator[Finding]:
    """Report a top-level base that the rope dict overrules."""
    origin = case.rope.provenance["base"]
    if "top_level_base_ignored" not in origin.traps:
        return
    unread = origin.values.get("top_level")
    if any(rope.base == unread for rope in case.ropes if not rope.nope):
        return
    yield make_finding(
        "top_level_base_ignored", case.top_level_path("rope_theta"), base=case.rope.base, top_level=unread
    )


RULES = (find_unstated_base, find_overridden_values)
