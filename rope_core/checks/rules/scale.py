"""What multiplies cos, sin and the logits, how exactly, and which pairs never complete a turn."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rope_core.checks.case import LayerContext
from rope_core.findings import Finding, finite_float_or_none, make_finding
from rope_core.hf.forms import MISTRAL
from rope_core.hf.types import LONGROPE, YARN
from rope_core.schemes import yarn_attention_factor


def find_attention_factor_override(case: LayerContext) -> Iterator[Finding]:
    """Report an attention factor that replaces the formula's, or a weight that counts for nothing."""
    rope = case.rope
    if rope.rope_type not in (YARN, LONGROPE):
        return
    given = rope.params.get("attention_factor")
    factor = rope.params.get("factor")
    if rope.attention_factor == 0.0:
        yield make_finding("attention_factor_zero", rope.provenance["attention_factor"].path)
        return
    if rope.rope_type == YARN and isinstance(factor, int | float):
        own = yarn_attention_factor(float(factor))
        differs = given is not None and not math.isclose(rope.attention_factor, own, rel_tol=1e-4)
        if case.is_stated("attention_factor") and differs:
            yield make_finding(
                "attention_factor_replaces",
                case.rope_key_path("attention_factor"),
                given=rope.attention_factor,
                own=own,
                product=rope.attention_factor * own,
                logits=rope.attention_factor**2,
            )
        yield from find_lone_mscale(case, float(factor))
    if "mscale_by_length" in rope.provenance["attention_factor"].traps:
        yield make_finding(
            "mscale_by_length", rope.provenance["attention_factor"].path, effective=rope.attention_factor
        )


def find_scale_lost_in_conversion(case: LayerContext) -> Iterator[Finding]:
    """Report a scale of Mistral's own params.json that llama.cpp's converter left out."""
    yarn = case.fields.stated.get(YARN) if case.fields.model_type == MISTRAL else None
    factor = case.rope.attention_factor
    if isinstance(yarn, dict) and yarn.get("apply_scale") and factor != 1.0:
        yield make_finding(
            "conversion_drops_scale", case.top_level_path(f"{YARN}.apply_scale"), factor=factor, logits=factor**2
        )


def find_lone_mscale(case: LayerContext, factor: float) -> Iterator[Finding]:
    """mscale or mscale_all_dim without the other, where DeepSeek's formula would give another attention factor."""
    weights = {name: case.rope.params.get(name) for name in ("mscale", "mscale_all_dim")}
    if case.rope.params.get("attention_factor") is not None or sum(map(bool, weights.values())) != 1:
        return
    upper, lower = weights["mscale"], weights["mscale_all_dim"]
    mscale, mscale_all_dim = (1.0 if upper is None else float(upper)), float(lower or 0.0)  # type: ignore[arg-type]
    meant = yarn_attention_factor(factor, mscale) / yarn_attention_factor(factor, mscale_all_dim)
    if not math.isclose(meant, case.rope.attention_factor, rel_tol=1e-9):
        name = "mscale" if upper else "mscale_all_dim"
        yield make_finding(
            "mscale_alone", case.rope_key_path(name), key=name, effective=case.rope.attention_factor, meant=meant
        )


def find_second_mscale(case: LayerContext) -> Iterator[Finding]:
    """DeepSeek's second correction, and configs that ask for it where no code applies it."""
    rope = case.rope
    if rope.logit_scale != 1.0:
        yield make_finding(
            "logit_scale_apart",
            case.rope_key_path("mscale_all_dim"),
            scale=rope.logit_scale,
            m=math.sqrt(rope.logit_scale),
            attention=rope.attention_factor,
        )
    weight, factor = (
        finite_float_or_none(case.entry.value("mscale_all_dim")),
        finite_float_or_none(rope.params.get("factor")),
    )
    elsewhere = (
        case.fields.is_known_type and not case.fields.family.get("logit_scale") and case.is_stated("mscale_all_dim")
    )
    counts = elsewhere and rope.rope_type == YARN and bool(rope.params.get("mscale"))
    if counts and weight and factor is not None:
        scale = yarn_attention_factor(factor, weight) ** 2
        yield make_finding("logit_scale_not_applied", case.rope_key_path("mscale_all_dim"), scale=scale)


def find_half_precision_frequencies(case: LayerContext) -> Iterator[Finding]:
    """Weights in half precision: a cast of the whole module takes inv_freq along."""
    name = "dtype" if case.fields.stated.get("dtype") else "torch_dtype"
    kind = str(case.fields.stated.get(name)).removeprefix("torch.")
    if kind not in ("bfloat16", "float16") or not case.is_first or case.rope.nope:
        return
    # Here, because it brings attention and encodings along, which `import rope_core` does without.
    from rope_core.theory.precision import round_to_dtype

    length = case.seq_len or case.rope.max_len or case.rope.train_len
    error = np.abs(round_to_dtype(case.rope.inv_freq, kind) - case.rope.inv_freq) * (length - 1)
    yield make_finding("half_precision", case.top_level_path(name), dtype=kind, length=length, error=float(error.max()))


def find_incomplete_pairs(case: LayerContext) -> Iterator[Finding]:
    """Pairs that do not complete one turn within the trained length."""
    rope = case.rope
    if rope.nope:
        return
    slow = int(np.sum(rope.unscaled * rope.train_len < 2 * np.pi))
    if slow:
        yield make_finding(
            "pairs_below_one_turn",
            rope.provenance["base"].path,
            slow=slow,
            pairs=rope.unscaled.size,
            train=rope.train_len,
            longest=float(rope.request.rope.wavelength[-1]),
        )


RULES = (
    find_attention_factor_override,
    find_scale_lost_in_conversion,
    find_second_mscale,
    find_half_precision_frequencies,
    find_incomplete_pairs,
)
