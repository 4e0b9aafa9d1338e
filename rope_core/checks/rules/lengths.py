"""The trained length that a scaling starts from, and the length that it reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from rope_core.checks.case import LayerContext
from rope_core.extension.extend import model_card_recipes
from rope_core.findings import Finding, FindingPhrase, make_finding, max_relative_difference
from rope_core.hf.types import DEFAULT, DYNAMIC, LENGTH, LINEAR, LLAMA3, LONGROPE, NEEDS_LENGTH, RAMPED, YARN
from rope_core.rope import Rope
from rope_core.schemes import yarn_ramp_bounds
from rope_core.spectrum import Request, spectrum

# Fields of released configs that name the length after an extension.
SERVED = ("max_sequence_length", "model_max_length", "max_seq_len", "seq_length")


def with_train_len(case: LayerContext, train_len: int) -> Request:
    """Return the same request with another trained length."""
    old = case.rope.request
    return replace(old, rope=Rope(old.rope.dim, old.rope.base, train_len))


def yarn_ramp_pairs(request: Request) -> tuple[float, float]:
    """YaRN's pairs between which it blends."""
    params = request.params
    fast, slow = float(params["beta_fast"]), float(params["beta_slow"])  # type: ignore[arg-type]
    return yarn_ramp_bounds(request.rope, fast, slow, bool(params["truncate"]))


def find_missing_trained_length(case: LayerContext) -> Iterator[Finding]:
    """No trained length: transformers 5 takes the maximum in silence."""
    if "trained_length_is_max_length" not in case.rope.provenance["train_len"].traps:
        return
    factor = case.rope.params.get("factor")
    guess = case.rope.train_len / float(factor) if isinstance(factor, int | float) and factor >= 1 else 0
    values: dict[str, object] = {
        "used": case.rope.train_len,
        "guess": math.floor(guess),
        "meant_for": FindingPhrase("nothing"),
    }
    if 1 <= guess < case.rope.train_len and case.rope.rope_type in RAMPED:
        other = with_train_len(case, math.floor(guess))
        worst = 100.0 * max_relative_difference(case.rope.inv_freq, spectrum(other).inv_freq)
        meant = {"guess": math.floor(guess), "worst": worst}
        values |= {**meant, "meant_for": FindingPhrase("holds_the_factor", meant)}
        if case.rope.rope_type == YARN:
            values |= {"range": yarn_ramp_pairs(case.rope.request), "meant": yarn_ramp_pairs(other)}
    yield make_finding("trained_length_is_max_length", f"{case.entry.path}.{LENGTH}", **values)


def find_overridden_length(case: LayerContext) -> Iterator[Finding]:
    """Report a top-level trained length that wins over the dict's."""
    origin = case.rope.provenance["train_len"]
    if "trained_length_overridden" in origin.traps:
        inside = origin.values.get("dict")
        values: dict[str, object] = {"used": case.rope.train_len, "dict": inside, "worst": 0.0}
        if isinstance(inside, int) and not isinstance(inside, bool) and inside > 0:
            values["worst"] = 100.0 * max_relative_difference(
                case.rope.inv_freq, spectrum(with_train_len(case, min(inside, 2**31 - 1))).inv_freq
            )
        yield make_finding("trained_length_overridden", origin.path, **values)


def find_trained_length_past_maximum(case: LayerContext) -> Iterator[Finding]:
    """Report a trained length that equals (or exceeds) the maximum although a factor says that it was extended."""
    origin, longest = case.rope.provenance["train_len"], case.rope.max_len
    if case.rope.rope_type not in NEEDS_LENGTH or origin.traps or longest is None or case.rope.train_len < longest:
        return
    factor = case.rope.params.get("factor")
    if not isinstance(factor, int | float) or factor <= 1:
        return
    reach = math.floor(factor * case.rope.train_len)
    served = case.rope.train_len == longest and case.rope.rope_type != LLAMA3
    values: dict[str, object] = {"train": case.rope.train_len, "max": longest, "reach": reach}
    values["advice"] = FindingPhrase("raise_limit" if served else "below_maximum", dict(values))
    yield make_finding("train_len_not_below_max", origin.path, "note" if served else "warning", **values)


def served_length(case: LayerContext) -> int:
    """Return the longest length that a field beside max_position_embeddings names; 0 where none does."""
    values = [case.fields.stated.get(name) for name in SERVED]
    return max((value for value in values if isinstance(value, int) and not isinstance(value, bool)), default=0)


def is_model_card_scaling(case: LayerContext) -> bool:
    """Whether a model's own card writes this scaling: known here, or of the kind that cards write.

    Multimodal positions run slower than tokens, so Qwen3-VL's card takes a factor below the ratio of the lengths.
    """
    given, longest = case.entry.values(), case.rope.max_len or 0
    if case.rope.mrope_section is not None and case.scheme_parameter("factor") <= longest / case.rope.train_len:
        return True
    return any(
        card["block"].items() <= given.items() and longest in (card["released"], card["max"])
        for card in model_card_recipes(case.fields, case.rope.base)
    )


def find_factor_length_mismatch(case: LayerContext) -> Iterator[Finding]:
    """Report a stated factor beside another ratio of the two lengths."""
    longest, train = case.rope.max_len, case.rope.train_len
    factor = case.rope.params.get("factor")
    if case.rope.rope_type not in (YARN, LONGROPE) or longest is None or not isinstance(factor, int | float):
        return
    if not case.is_stated("factor") or case.rope.provenance["train_len"].traps == ("trained_length_is_max_length",):
        return
    ratio = longest / train
    if ratio <= 1 or train < 2 or math.isclose(ratio, factor, rel_tol=1e-6):
        return
    reach = math.floor(factor * train)
    values: dict[str, object] = {"factor": factor, "ratio": ratio, "max": longest, "train": train, "reach": reach}
    other = replace(case.rope.request, params={**case.rope.request.params, "factor": min(ratio, 4096.0)})
    if (
        case.rope.rope_type == YARN
        and reach > longest
        and (
            # As the cards of Qwen3 and of the Yarn models write it: the maximum was left as it was, or rounded down.
            ratio * ratio < factor or served_length(case) == reach or math.ceil(ratio) == factor
        )
    ):
        yield make_finding("factor_reaches_further", case.top_level_path("max_position_embeddings"), **values)
    elif case.rope.rope_type == YARN and ratio <= 1024 and not is_model_card_scaling(case):
        values["worst"] = 100.0 * max_relative_difference(case.rope.inv_freq, spectrum(other).inv_freq)
        values |= {"attention": case.rope.attention_factor, "other_attention": spectrum(other).attention_factor}
        # A trained length is a whole number.
        whole = (longest / factor).is_integer()
        trained = FindingPhrase("or_trained", {"trained": longest / factor}) if whole else FindingPhrase("nothing")
        yield make_finding("factor_is_not_ratio", case.rope_key_path("factor"), **values, trained=trained)
    elif case.rope.rope_type == LONGROPE:
        values |= {"attention": case.rope.attention_factor, "other_attention": spectrum(other).attention_factor}
        if values["attention"] != values["other_attention"]:
            yield make_finding("longrope_factor_by_version", case.rope_key_path("factor"), **values)


def find_doubly_applied_factor(case: LayerContext) -> Iterator[Finding]:
    """Report a maximum that holds the factor already, in types where vLLM multiplies it in once more."""
    if case.rope.rope_type not in (LINEAR, DYNAMIC) or case.rope.max_len is None:
        return
    original = case.entry.value(LENGTH, case.fields.stated.get(LENGTH))
    factor = case.rope.params.get("factor")
    if not isinstance(original, int) or isinstance(original, bool) or not isinstance(factor, int | float):
        return
    longest = case.rope.max_len
    if factor > 1 and 1 <= original <= longest and math.isclose(longest, factor * original, rel_tol=0.01):
        yield make_finding(
            "length_scaled_twice",
            case.top_level_path("max_position_embeddings"),
            max=case.rope.max_len,
            factor=factor,
            original=original,
            engine=math.floor(case.rope.max_len * factor),
        )


def find_length_beyond_config(case: LayerContext) -> Iterator[Finding]:
    """Report a length in use past everything that the config was made for."""
    longest = case.rope.max_len
    if case.seq_len is None or longest is None or case.rope.nope:
        return
    factor, kind = case.rope.params.get("factor"), case.rope.rope_type
    reach = further = longest
    if isinstance(factor, int | float) and factor > 1:
        stated = case.entry.value(LENGTH, case.fields.stated.get(LENGTH))
        if kind in NEEDS_LENGTH:
            reach = further = max(longest, math.floor(factor * case.rope.train_len))
        elif kind in (LINEAR, DYNAMIC) and isinstance(stated, int) and not isinstance(stated, bool):
            reach = further = max(longest, math.floor(factor * stated))
        elif kind in (LINEAR, DYNAMIC):
            further = math.floor(factor * longest)
    values: dict[str, object] = {
        "asked": case.seq_len,
        "reach": reach,
        "max": longest,
        "type": kind,
        "further": further,
    }
    where = case.top_level_path("max_position_embeddings")
    if case.seq_len > further:
        advice = FindingPhrase("extend" if kind == DEFAULT else "extend_own", {"type": kind})
        both = FindingPhrase("either_reading", values) if further > reach else FindingPhrase("nothing")
        yield make_finding("length_beyond", where, **values, advice=advice, both=both)
    elif case.seq_len > reach:
        yield make_finding("length_by_reading", where, **values, factor=factor)


RULES = (
    find_missing_trained_length,
    find_overridden_length,
    find_trained_length_past_maximum,
    find_factor_length_mismatch,
    find_doubly_applied_factor,
    find_length_beyond_config,
)
