"""Which dimensions turn, in which pairs, and by which axis."""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import LayerContext
from rope_core.findings import Finding, FindingPhrase, finite_float_or_none, make_finding
from rope_core.hf.types import YARN
from rope_core.programs.engines import EngineResult, engines


def find_layout_faults(case: LayerContext) -> Iterator[Finding]:
    """Adjacent pairs, weights that are reordered while they run, a flag that is off, a family nobody knows."""
    origin, rope = case.rope.provenance["layout"], case.rope
    if rope.nope:
        return
    width, head = rope.rotary_dim, rope.head_dim
    if "unknown_family" in origin.traps:
        yield make_finding("unknown_family", origin.path, model_type=case.fields.model_type or "-", layout=rope.layout)
    elif "rope_interleave_off" in origin.traps:
        yield make_finding("rope_interleave_off", origin.path, rotary=width)
    elif "deinterleaved_then_half" in origin.traps:
        yield make_finding("deinterleaved_then_half", origin.path, rotary=width)
    elif rope.layout == "interleaved":
        yield make_finding("adjacent_pairs", origin.path, rotary=width, head=head)
    unread = case.fields.stated.get("rope_interleave")
    if isinstance(unread, bool) and case.fields.is_known_type and not case.fields.family.get("deinterleaved"):
        yield make_finding(
            "interleave_flag_not_read", case.top_level_path("rope_interleave"), given=unread, layout=rope.layout
        )


def find_width_faults(case: LayerContext) -> Iterator[Finding]:
    """Report a rotary width that the config asks for and does not get, or a head that is not hidden/heads wide."""
    rope, head = case.rope, case.rope.provenance["head_dim"]
    origin = rope.provenance["rotary_dim"]
    if "default_ignores_partial" in origin.traps:
        share = finite_float_or_none(case.entry.value("partial_rotary_factor"))
        meant = int(rope.head_dim * (share or 0.0))
        yield make_finding(
            "default_ignores_partial",
            origin.path,
            share=share,
            head=rope.head_dim,
            rotary=rope.rotary_dim,
            pairs=rope.inv_freq.size,
            meant=meant // 2,
        )
    if "head_dim_null_fails" in head.traps:
        yield make_finding("head_dim_null_fails", head.path, head=rope.head_dim, type=rope.rope_type)
    if "head_dim_not_read" in head.traps:
        yield make_finding(
            "head_dim_not_read",
            case.top_level_path("head_dim"),
            given=case.fields.stated["head_dim"],
            head=rope.head_dim,
        )
    elif "qk_rope_head_dim" not in case.fields.stated:
        yield from find_head_dim_unlike_quotient(case)


def find_head_dim_unlike_quotient(case: LayerContext) -> Iterator[Finding]:
    """head_dim is not hidden_size / num_attention_heads; whoever divides gets another spectrum."""
    hidden, heads = case.fields.get("hidden_size").value, case.fields.get("num_attention_heads").value
    if case.rope.provenance["head_dim"].source != "top level":
        return
    if isinstance(hidden, int) and isinstance(heads, int) and heads > 0 and hidden // heads != case.rope.head_dim:
        path = case.rope.provenance["head_dim"].path
        yield make_finding("head_dim_stands_alone", path, head=case.rope.head_dim, divided=hidden // heads)


def find_axis_section_faults(case: LayerContext) -> Iterator[Finding]:
    """Axes of multimodal positions: their pairs add up, and YaRN beside them."""
    rope = case.rope
    given = rope.mrope_section
    if given is None:
        return
    if not case.entry.value("mrope_section"):
        yield make_finding("sections_missing", case.rope_key_path("mrope_section"), sections=given)
    elif case.fields.family.get("mrope_interleaved") and "mrope_interleaved" not in case.entry.rope:
        yield make_finding("interleaving_missing", case.rope_key_path("mrope_interleaved"), sections=given)
    pairs = rope.rotary_dim // 2
    if sum(given) != pairs:
        yield make_finding(
            "mrope_sections_sum", case.rope_key_path("mrope_section"), sections=given, sum=sum(given), pairs=pairs
        )
    if rope.rope_type == YARN and (others := differing_program_phrases(case)):
        yield make_finding("mrope_with_yarn", case.rope_key_path("rope_type"), sections=given, others=others)
    traps = rope.provenance["scheme"].traps
    if "mrope_read_as_default" in traps:
        yield make_finding("mrope_read_as_default", case.rope_key_path("rope_type"), sections=given)


def differing_program_phrases(case: LayerContext) -> list[FindingPhrase]:
    """Return the programs that turn this layer type otherwise than transformers, by how much, as the engine table."""
    answers = case_engines(case)
    return [
        FindingPhrase(
            "engine_differs", {"engine": each.name, "worst": 100.0 * max(by, each.attention_difference or 0.0)}
        )
        for each in answers
        if (by := each.difference) is not None and max(by, each.attention_difference or 0.0) > 1e-6
    ]


def case_engines(case: LayerContext) -> list[EngineResult]:
    """Return what the engine table has for this layer type; [] for a part beside the language model."""
    if case.part.name:
        return []
    return engines(case.config, case.rope.layer_type if len(case.ropes) > 1 else None, case.seq_len)


def find_indexer_layout_faults(case: LayerContext) -> Iterator[Finding]:
    """Report the layout of a sparse attention's indexer, and a flag for it that transformers does not read."""
    own, main = case.fields.family.get("indexer"), case.rope.layout
    if own is None or own == "none" or not case.is_first:
        return
    if own != main:
        yield make_finding("indexer_layout_differs", case.top_level_path("model_type"), main=main, own=own)
    flag = case.fields.stated.get("indexer_rope_interleave")
    given = "interleaved" if flag else "half"
    if isinstance(flag, bool) and given != own:
        yield make_finding(
            "indexer_flag_not_read", case.top_level_path("indexer_rope_interleave"), given=given, used=own
        )


RULES = (find_layout_faults, find_width_faults, find_axis_section_faults, find_indexer_layout_faults)
