"""Where the base came from, and what a released model of the same shape has that this config lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from rope_core.checks.case import Case, Finding, finding, largest, real
from rope_core.errors import ConfigError
from rope_core.hf.catalogue import models
from rope_core.hf.families import CLASS, DICT, FALLBACK
from rope_core.hf.normal import resolve
from rope_core.hf.ropes import HfRope, from_hf, layer_types
from rope_core.hf.types import DEFAULT

SHAPE = ("hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim", "max_position_embeddings")
# What two configs of the same model share as well, where both state it.
ALSO = ("num_key_value_heads", "vocab_size", "intermediate_size")
LONG = 16_384
Released = tuple[str, dict[str, Any], dict[str | None, HfRope]]


def shape(data: Any, model_type: str | None) -> tuple[object, ...]:
    """Return what two configs of the same released model share."""
    return (model_type, *(data.get(name) for name in SHAPE))


@cache
def released() -> dict[tuple[object, ...], list[Released]]:
    """Return the catalogue by shape: names and what each layer type turns by."""
    by_shape: dict[tuple[object, ...], list[Released]] = {}
    for model in models():
        config = model.hf_config()
        text = resolve(config)
        kinds: list[str | None] = [*layer_types(config)] or [None]
        ropes = {kind: from_hf(config, kind) for kind in kinds}
        kept = {name: text.data[name] for name in ALSO if name in text.data}
        by_shape.setdefault(shape(text.data, text.model_type), []).append((model.name, kept, ropes))
    return by_shape


def twins(case: Case) -> list[tuple[str, HfRope]]:
    """Released models of the same type, shape and maximum length, as this layer type runs in them."""
    data = case.model.data
    key = shape(data, case.model.model_type)
    if any(value is None for value in (key[0], key[1], key[2], key[-1])):
        return []
    try:
        same = released().get(key, [])
    except (ConfigError, TypeError):
        return []
    alike = []
    for name, kept, ropes in same:
        if any(data.get(other, value) != value for other, value in kept.items()):
            continue
        rope = ropes.get(case.rope.layer_type) or ropes.get(None)
        if rope is not None:
            alike.append((name, rope))
    return alike


def base(case: Case) -> Iterator[Finding]:
    """Report a base that nobody stated, in a config that needed one."""
    rope = case.rope
    origin = rope.provenance["base"]
    if rope.nope or origin.source == DICT:
        return
    if origin.source not in (CLASS, FALLBACK) or case.model.family.get("fixed"):
        return
    same = twins(case)
    same = [(name, other) for name, other in same if other.rope_type == rope.rope_type]
    others = [(name, other.base) for name, other in same if other.base != rope.base]
    v5 = bool(case.model.data.get("rope_parameters")) and case.parameters.layer_type is None
    if same and len(others) == len(same):
        name, wanted = others[0]
        yield finding("base_lost", origin.path, base=rope.base, model=name, wanted=wanted, origin=origin.source)
    elif v5:
        yield finding("base_missing_in_rope_parameters", case.at("rope_theta"), base=rope.base, origin=origin.source)
    elif origin.source == FALLBACK:
        # A model that transformers does not know may state its base in code of its own.
        yield finding("base_from_nowhere", origin.path, "warning" if case.model.known else "note", base=rope.base)
    elif plain(case):
        waves = float(rope.request.rope.wavelength[-1])
        yield finding("base_small_for_length", origin.path, base=rope.base, max=rope.max_len, longest=waves)
    elif "max_position_embeddings" in case.model.data:
        yield finding("base_is_class_default", origin.path, base=rope.base)


def plain(case: Case) -> bool:
    """Whether layers that look at everything run base 10,000 unscaled over a long context."""
    rope = case.rope
    everything = case.parameters.layer_type in (None, "full_attention")
    return everything and rope.rope_type == DEFAULT and (rope.max_len or 0) >= LONG and rope.base == 10_000.0


def overridden(case: Case) -> Iterator[Finding]:
    """Report a top-level base that the rope dict overrules."""
    origin = case.rope.provenance["base"]
    if "top_level_base_ignored" not in origin.traps:
        return
    unread = origin.values.get("top_level")
    if any(rope.base == unread for rope in case.ropes if not rope.nope):
        return
    yield finding("top_level_base_ignored", case.top("rope_theta"), base=case.rope.base, top_level=unread)


def scaling_lost(case: Case) -> Iterator[Finding]:
    """Report a config that does not scale its positions where the released model of its shape and base does."""
    rope = case.rope
    if rope.nope or rope.rope_type != DEFAULT:
        return
    same = [(name, other) for name, other in twins(case) if other.base == rope.base]
    scaled = [(name, other) for name, other in same if other.rope_type != DEFAULT]
    if not scaled or len(scaled) < len(same) or scaled[0][1].inv_freq.size != rope.inv_freq.size:
        return
    name, other = scaled[0]
    worst = 100.0 * largest(rope.inv_freq, other.inv_freq)
    where = case.model.prefix + ("rope_parameters" if case.model.data.get("rope_parameters") else "rope_scaling")
    yield finding(
        "scaling_lost", where, model=name, type=other.rope_type, factor=other.params.get("factor") or "-", worst=worst
    )


WIDTHS = ("hidden_size", "num_hidden_layers", "num_attention_heads")


@cache
def by_widths() -> dict[tuple[object, ...], list[tuple[str, dict[str, Any], dict[str | None, HfRope]]]]:
    """Return the catalogue by model type and widths, whatever the lengths."""
    by_widths: dict[tuple[object, ...], list[Released]] = {}
    for (model_type, *shaped), rows in released().items():
        for row in rows:
            heads = next(iter(row[2].values())).head_dim
            by_widths.setdefault((model_type, *shaped[: len(WIDTHS)], heads), []).append(row)
    return by_widths


def released_differs(case: Case) -> Iterator[Finding]:
    """Report a config that turns like no released model of its widths."""
    rope, data = case.rope, case.model.data
    widths = tuple(data.get(name) for name in WIDTHS)
    if rope.nope or None in widths or not all(isinstance(width, int) for width in widths):
        return
    same = [
        (name, ropes[case.rope.layer_type] if case.rope.layer_type in ropes else ropes.get(None))
        for name, kept, ropes in by_widths().get((case.model.model_type, *widths, rope.head_dim), [])
        if all(data.get(other, value) == value for other, value in kept.items())
    ]
    others = [(name, other) for name, other in same if other is not None]
    # A model of the same length is the one meant, where there is one: other lengths are other trainings.
    others = [row for row in others if row[1].max_len == rope.max_len] or others
    if not others or any(alike(rope, other) for _, other in others):
        return
    if any(True for _ in base(case)) or any(True for _ in scaling_lost(case)):
        return
    name, other = min(others, key=lambda row: largest(rope.inv_freq, row[1].inv_freq))
    worst = largest(rope.inv_freq, other.inv_freq)
    yield finding(
        "released_differs",
        rope.provenance["scheme"].path,
        model=name,
        released=described(other),
        own=described(rope),
        worst=100.0 * worst if math.isfinite(worst) else "-",
        attention=rope.attention_factor,
        other=other.attention_factor,
    )


def alike(rope: HfRope, other: HfRope) -> bool:
    """Whether two layer types turn alike, to what a released file's rounding leaves."""
    factors = math.isclose(rope.attention_factor, other.attention_factor, rel_tol=1e-6)
    return largest(rope.inv_freq, other.inv_freq) < 1e-6 and factors


def described(rope: HfRope) -> str:
    """Return a rotation in one phrase: its type, its factor, its base."""
    factor = real(rope.params.get("factor"))
    scale = f" {factor:g}" if factor is not None else ""
    return f"{rope.rope_type}{scale}, base {rope.base:g}"


RULES = (base, overridden, scaling_lost, released_differs)
