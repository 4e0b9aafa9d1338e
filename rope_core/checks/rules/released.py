"""What a released model of the same shape has that this config lost or changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rope_core.checks.case import LayerContext
from rope_core.checks.rules.keys import untyped_scaling_keys
from rope_core.checks.rules.layers import rope_type_text
from rope_core.checks.rules.likeness import VOCABULARY, released_of_same_shape, released_relatives, released_twins
from rope_core.checks.rules.origin import find_unstated_base
from rope_core.extension.extend import model_card_recipes
from rope_core.findings import (
    Finding,
    FindingPhrase,
    difference_phrase,
    make_finding,
    max_relative_difference,
    sanitized_text,
)
from rope_core.hf.families import CLASS, FALLBACK
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT, LENGTH, WINDOWED, YARN
from rope_core.rope import Array
from rope_core.spectrum import spectrum

# Two rotations to what a released file's rounding leaves, relative.
SAME = 1e-6
# What no further training changes.
BUILT_IN = {"head_dim", "rotary_dim", "mrope_section"}
# Tokens from which a base says how far a model can tell positions apart.
LONG_CONTEXT = 65_536
# What another model of the same shape has otherwise.
OTHERS = {"rope_type", "rope_theta"}


def find_lost_scaling(case: LayerContext) -> Iterator[Finding]:
    """Report a config that does not scale its positions where the released model of its shape and base does."""
    rope = case.rope
    if rope.nope or rope.rope_type != DEFAULT:
        return
    same = [(name, other) for name, other in released_twins(case) if other.base == rope.base]
    scaled = [(name, other) for name, other in same if other.rope_type != DEFAULT]
    if not scaled or len(scaled) < len(same) or scaled[0][1].inv_freq.size != rope.inv_freq.size:
        return
    name, other = scaled[0]
    where = case.fields.prefix + ("rope_parameters" if case.fields.stated.get("rope_parameters") else "rope_scaling")
    yield make_finding(
        "scaling_lost",
        where,
        model=name,
        type=rope_type_text(other),
        apart=difference_phrase(rope.inv_freq, other.inv_freq),
    )


# The provenance's names of what a config calls otherwise.
PLACES = {"rope_type": "scheme", "rope_theta": "base", LENGTH: "train_len"}


def find_released_difference(case: LayerContext) -> Iterator[Finding]:
    """Report a config that turns like no released model of its widths, or claims more length than they do."""
    rope = case.rope
    if rope.nope:
        return
    same = [(each.name, each.rope(rope.layer_type)) for each in released_of_same_shape(case)]
    matches = [(name, other) for name, other in same if other is not None]
    # A model of the same length is the one meant, where there is one: other lengths are other trainings.
    meant = [row for row in matches if row[1].max_len == rope.max_len]
    others = meant or matches
    like = [row for row in others if is_same_rotation(rope, row[1])]
    if (
        not others
        or untyped_scaling_keys(case)
        or any(True for _ in find_unstated_base(case))
        or any(True for _ in find_lost_scaling(case))
    ):
        return
    if like:
        name, other = max(like, key=lambda row: row[1].max_len or 0)
        reached = max(
            [other.max_len or other.train_len, *(card["max"] for card in model_card_recipes(case.fields, rope.base))]
        )
        stated = other.max_len is not None and other.provenance["max_len"].source != CLASS
        unscaled = stated and not meant and rope.layer_type not in WINDOWED and rope.max_len is not None
        if unscaled and (rope.max_len or 0) > reached:
            where = case.top_level_path("max_position_embeddings")
            yield make_finding("released_shorter", where, model=name, max=rope.max_len, released=other.max_len)
        return
    name, other = min(others, key=lambda row: max_relative_difference(*differing_frequencies(rope, row[1])))
    rows = differing_rope_fields(rope, other)
    names = {row[0] for row in rows}
    stretched = names == {"rope_type"} and other.rope_type == DEFAULT
    recipes = (
        [card["block"] for card in model_card_recipes(case.fields, rope.base)]
        if stretched and rope.rope_type == YARN
        else []
    )
    # The dict itself may say that the weights were trained on with it.
    if any(block.items() <= case.entry.values().items() for block in [*recipes, {"finetuned": True}]):
        return
    if recipes and all(rope.train_len != block[LENGTH] for block in recipes):
        yield make_finding(
            "recipe_differs", case.rope_key_path(LENGTH), model=name, train=rope.train_len, card=recipes[0][LENGTH]
        )
        return
    # Scaled at its own base, or on by its own scaling: somebody's extension. Another base and type: another model.
    longer = (row[1] for row in matches if row[1].max_len != rope.max_len)
    extended = stretched or any({row[0] for row in differing_rope_fields(rope, each)} == {"factor"} for each in longer)
    origin = rope.provenance.get(PLACES.get(rows[0][0], rows[0][0].partition("[")[0])) if rows else None
    multiplied = rope.attention_factor, other.attention_factor
    place = origin.path if origin else case.rope_key_path(rows[0][0] if rows else "rope_type")
    yield make_finding(
        "released_differs",
        place,
        "warning" if names & BUILT_IN or (meant and not extended and not names >= OTHERS) else "note",
        model=name,
        released=[FindingPhrase("value", {"name": name, "value": theirs}) for name, _, theirs in rows],
        own=[FindingPhrase("value", {"name": name, "value": mine}) for name, mine, _ in rows],
        advice=FindingPhrase("keep_extension" if stretched else "copy_released", {"field": sanitized_text(place)}),
        apart=[
            FindingPhrase("sections")
            if have_differing_sections(rope, other)
            else difference_phrase(*differing_frequencies(rope, other)),
            *(
                [FindingPhrase("attention", {"own": multiplied[0], "wanted": multiplied[1]})]
                if is_different_number(*multiplied)
                else []
            ),
        ],
    )


def find_family_difference(case: LayerContext) -> Iterator[Finding]:
    """Report what every released model of the type and vocabulary has alike, whatever its size, and this has not.

    That is the share of a head that turns, the pairs of each axis, and, at a long context, the smallest base.
    """
    rope, data = case.rope, case.fields.stated
    if rope.nope or untyped_scaling_keys(case) or any(True for _ in find_released_difference(case)):
        return
    same = released_relatives(case)
    share, base = rope.rotary_dim / rope.head_dim, rope.provenance["base"]
    shares = {round(other.rotary_dim / other.head_dim, 2) for _, other in same}
    sections = {other.mrope_section for _, other in same}
    longest = rope.max_len or 0
    near = [
        (each, other)
        for each, other in same
        if other.rope_type == rope.rope_type and longest / 2 < (other.max_len or 0) < 2 * longest
    ]
    own = any(each.fields.get(VOCABULARY) in (None, data.get(VOCABULARY)) for each, _ in near)
    stated = base.source not in (CLASS, FALLBACK) and longest >= LONG_CONTEXT and own
    bases = {min(other.base for _, other in near)} if stated else set()
    rows: list[tuple[str, object, str, bool]] = [
        ("partial_rotary_factor", share, "rotary_dim", len(shares) == 1 and abs(share - min(shares)) > 0.02),
        ("mrope_section", rope.mrope_section, "mrope_section", len(sections) == 1 and {rope.mrope_section} != sections),
        ("rope_theta", rope.base, "base", bool(bases) and rope.base < min(bases)),
    ]
    values: dict[str, set[Any]] = dict(zip((row[0] for row in rows), (shares, sections, bases), strict=True))
    for name, mine, place, differs in rows:
        if differs:
            origin = rope.provenance.get(place)
            models = [each.name for each, _ in (near if name == "rope_theta" else same)]
            released = FindingPhrase("value", {"name": name, "value": next(iter(values[name]))})
            where = origin.path if origin else case.rope_key_path(name)
            phrases = {"own": FindingPhrase("value", {"name": name, "value": mine}), "released": released}
            yield make_finding("family_differs", where, **phrases, models=models[:4], type=case.fields.model_type)


def differing_frequencies(rope: HfRope, other: HfRope) -> tuple[Array, Array]:
    """Return the frequencies of two layer types where they differ: at load, else at the longest length."""
    own, theirs = rope.inv_freq, other.inv_freq
    for length in () if rope.nope or other.nope else (None, other.max_len):
        own, theirs = (spectrum(replace(each.request, seq_len=length)).inv_freq for each in (rope, other))
        if max_relative_difference(own, theirs) >= SAME:
            break
    return own, theirs


def have_differing_sections(rope: HfRope, other: HfRope) -> bool:
    """Whether two multimodal rotations of as many pairs share them out otherwise."""
    both = (rope.mrope_section, other.mrope_section)
    return rope.rotary_dim == other.rotary_dim and None not in both and both[0] != both[1]


def is_different_number(own: float, other: float) -> bool:
    return not math.isclose(own, other, rel_tol=SAME)


def is_same_rotation(rope: HfRope, other: HfRope) -> bool:
    """Whether two layer types turn alike, to what a released file's rounding leaves, at load and at full length."""
    same = max_relative_difference(*differing_frequencies(rope, other)) < SAME and not have_differing_sections(
        rope, other
    )
    return same and not is_different_number(rope.attention_factor, other.attention_factor)


def differing_rope_fields(rope: HfRope, other: HfRope) -> list[tuple[str, object, object]]:
    """Return what two rotations are set to otherwise: the field's name, the own value, the other one's."""
    kinds = [rope_type_text(each) for each in (rope, other)]
    types = [("rope_type", kinds[0], kinds[1])] if rope.rope_type != other.rope_type else []
    rows: list[tuple[str, object, object]] = [*types]
    rows += [("rope_theta", rope.base, other.base), ("head_dim", rope.head_dim, other.head_dim)]
    rows += [("rotary_dim", rope.rotary_dim, other.rotary_dim)] if rope.head_dim == other.head_dim else []
    if have_differing_sections(rope, other):
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


def find_differing_layers(case: LayerContext) -> Iterator[Finding]:
    """Report layer types in another order or number than in every released model of the shape."""
    own, same = tuple(case.fields.layer_types()), [each for each in released_of_same_shape(case) if each.types]
    if not case.is_first or not own or not same or any(each.types == own for each in same):
        return
    other = same[0]
    if len(own) == len(other.types):
        wrong = [index for index, pair in enumerate(zip(own, other.types, strict=True)) if pair[0] != pair[1]]
        values: dict[str, object] = {"count": len(wrong), "total": len(own), "first": wrong[0]}
        kinds = {"own": own[wrong[0]], "released": other.types[wrong[0]]}
        yield make_finding(
            "layer_types_differ", case.top_level_path("layer_types"), model=other.name, **values, **kinds
        )


RULES = (find_lost_scaling, find_released_difference, find_family_difference, find_differing_layers)
