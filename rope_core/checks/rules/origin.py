"""Where the base came from, and what a released model of the same shape has that this config lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from rope_core.checks.case import Case, Finding, Phrase, apart, finding, largest
from rope_core.checks.extend import WINDOWED, cards
from rope_core.checks.rules.layers import kind_of
from rope_core.checks.rules.unread import elsewhere
from rope_core.errors import ConfigError
from rope_core.hf.catalogue import models
from rope_core.hf.families import CLASS, DICT, FALLBACK
from rope_core.hf.normal import resolve
from rope_core.hf.ropes import HfRope, ropes_of
from rope_core.hf.scheme import LENGTH
from rope_core.hf.types import DEFAULT, YARN
from rope_core.rope import Array
from rope_core.spectrum import spectrum

SHAPE = ("hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim", "max_position_embeddings")
# What two configs of the same model share as well, where both state it.
ALSO = ("num_key_value_heads", "vocab_size", "intermediate_size")
LONG = 16_384
# Two rotations to what a released file's rounding leaves, relative.
SAME = 1e-6
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
        ropes = ropes_of(config)
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
    source = Phrase(origin.source.replace(" ", "_"))
    same = [(name, other) for name, other in twins(case) if other.rope_type == rope.rope_type]
    others = [(name, other.base) for name, other in same if other.base != rope.base]
    if stated := list(elsewhere(case)):
        yield from stated
        return
    v5 = bool(case.model.data.get("rope_parameters")) and case.parameters.layer_type is None
    if same and len(others) == len(same):
        name, wanted = others[0]
        yield finding("base_lost", origin.path, base=rope.base, model=name, wanted=wanted, origin=source)
    elif v5:
        yield finding("base_missing_in_rope_parameters", case.at("rope_theta"), base=rope.base, origin=source)
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
    where = case.model.prefix + ("rope_parameters" if case.model.data.get("rope_parameters") else "rope_scaling")
    yield finding("scaling_lost", where, model=name, type=kind_of(other), apart=apart(rope.inv_freq, other.inv_freq))


# The provenance's names of what a config calls otherwise.
PLACES = {"rope_type": "scheme", "rope_theta": "base", LENGTH: "train_len"}
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
    """Report a config that turns like no released model of its widths, or claims more length than they do."""
    rope, data = case.rope, case.model.data
    widths = tuple(data.get(name) for name in WIDTHS)
    if rope.nope or None in widths or not all(isinstance(width, int) for width in widths):
        return
    same = [
        (name, ropes[case.rope.layer_type] if case.rope.layer_type in ropes else ropes.get(None))
        for name, kept, ropes in by_widths().get((case.model.model_type, *widths, rope.head_dim), [])
        if all(data.get(other, value) == value for other, value in kept.items())
    ]
    matches = [(name, other) for name, other in same if other is not None]
    # A model of the same length is the one meant, where there is one: other lengths are other trainings.
    meant = [row for row in matches if row[1].max_len == rope.max_len]
    others = meant or matches
    like = [row for row in others if alike(rope, row[1])]
    if not others or any(True for _ in base(case)) or any(True for _ in scaling_lost(case)):
        return
    if like:
        name, other = max(like, key=lambda row: row[1].max_len or 0)
        reached = max([other.max_len or other.train_len, *(card["max"] for card in cards(case.model, rope.base))])
        unscaled = not meant and rope.layer_type not in WINDOWED and rope.max_len is not None
        if unscaled and (rope.max_len or 0) > reached:
            where = case.top("max_position_embeddings")
            yield finding("released_shorter", where, model=name, max=rope.max_len, released=other.max_len)
        return
    name, other = min(others, key=lambda row: largest(*frequencies(rope, row[1])))
    rows = differing(rope, other)
    names = {row[0] for row in rows}
    stretched = names == {"rope_type"} and other.rope_type == DEFAULT
    if stretched and rope.rope_type == YARN:
        starts = {card["block"][LENGTH] for card in cards(case.model, rope.base)}
        if starts and rope.train_len not in starts:
            yield finding("recipe_differs", case.at(LENGTH), model=name, train=rope.train_len, card=max(starts))
        if starts or rope.train_len in (other.max_len, other.train_len):
            return
    # Scaled at its own base, or on by its own scaling: somebody's extension. Another base and type: another model.
    longer = (row[1] for row in matches if row[1].max_len != rope.max_len)
    extended = stretched or any({row[0] for row in differing(rope, each)} == {"factor"} for each in longer)
    origin = rope.provenance.get(PLACES.get(rows[0][0], rows[0][0].partition("[")[0])) if rows else None
    multiplied = rope.attention_factor, other.attention_factor
    yield finding(
        "released_differs",
        origin.path if origin else case.at(rows[0][0] if rows else "rope_type"),
        "warning" if meant and not extended and not names >= {"rope_type", "rope_theta"} else "note",
        model=name,
        released=[Phrase("value", {"name": name, "value": theirs}) for name, _, theirs in rows],
        own=[Phrase("value", {"name": name, "value": mine}) for name, mine, _ in rows],
        apart=[
            Phrase("sections") if sections_apart(rope, other) else apart(*frequencies(rope, other)),
            *([Phrase("attention", {"own": multiplied[0], "wanted": multiplied[1]})] if unlike(*multiplied) else []),
        ],
    )


def frequencies(rope: HfRope, other: HfRope) -> tuple[Array, Array]:
    """Return the frequencies of two layer types where they differ: at load, else at the longest length."""
    own, theirs = rope.inv_freq, other.inv_freq
    for length in () if rope.nope or other.nope else (None, other.max_len):
        own, theirs = (spectrum(replace(each.request, seq_len=length)).inv_freq for each in (rope, other))
        if largest(own, theirs) >= SAME:
            break
    return own, theirs


def sections_apart(rope: HfRope, other: HfRope) -> bool:
    """Whether two multimodal rotations of as many pairs share them out otherwise."""
    both = (rope.mrope_section, other.mrope_section)
    return rope.rotary_dim == other.rotary_dim and None not in both and both[0] != both[1]


def unlike(own: float, other: float) -> bool:
    return not math.isclose(own, other, rel_tol=SAME)


def alike(rope: HfRope, other: HfRope) -> bool:
    """Whether two layer types turn alike, to what a released file's rounding leaves, at load and at full length."""
    same = largest(*frequencies(rope, other)) < SAME and not sections_apart(rope, other)
    return same and not unlike(rope.attention_factor, other.attention_factor)


def differing(rope: HfRope, other: HfRope) -> list[tuple[str, object, object]]:
    """Return what two rotations are set to otherwise: the field's name, the own value, the other one's."""
    kinds = [kind_of(each) for each in (rope, other)]
    types = [("rope_type", kinds[0], kinds[1])] if rope.rope_type != other.rope_type else []
    rows: list[tuple[str, object, object]] = [*types]
    rows += [("rope_theta", rope.base, other.base), ("rotary_dim", rope.rotary_dim, other.rotary_dim)]
    if sections_apart(rope, other):
        rows.append(("mrope_section", rope.mrope_section, other.mrope_section))
    if not kinds[0] == kinds[1] == DEFAULT and rope.rope_type == other.rope_type:
        rows.append((LENGTH, rope.train_len, other.train_len))
        rows += [(name, rope.params.get(name), other.params.get(name)) for name in {**other.params, **rope.params}]
    texts_of = []
    for name, mine, theirs in rows:
        if isinstance(mine, tuple) and isinstance(theirs, tuple) and len(mine) == len(theirs) > 4 and mine != theirs:
            at = int(np.argmax(np.abs(np.subtract(mine, theirs))))
            name, mine, theirs = f"{name}[{at}]", mine[at], theirs[at]
        if mine != theirs:
            texts_of.append((name, mine, theirs))
    return texts_of


RULES = (base, overridden, scaling_lost, released_differs)
