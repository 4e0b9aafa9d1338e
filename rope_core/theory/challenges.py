"""Checks of the pages' challenges: what a reader found, held against what the theory asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rope_core.rope import Array, Rope
from rope_core.spectrum import Request, Spectrum, spectrum
from rope_core.theory.attention import first_negative_score_distance, score_curve
from rope_core.theory.encodings.rotary import rotate_rows
from rope_core.theory.extension import reached_untrained_angle_mask
from rope_core.theory.layout_demo import HeadShapes, conversion_scores
from rope_core.theory.packing import cumulative_lengths, packed_positions
from rope_core.theory.precision import first_rounded_position, round_to_dtype
from rope_core.theory.softmax import softmax

PASSED = "passed"
NEAR = 0.01
"""The relative difference up to which an answer is taken for what a known mistake gives."""


@dataclass(frozen=True)
class ChallengeVerdict:
    """Whether a challenge is passed, and why.

    Attributes:
        reason: the word by which the page's sentence is known: PASSED, or the mistake that was made.
        given: the numbers in that sentence, by slot.
        beside: by slot, the number that one of them is held against: as it is written it must not reach that one.
    """

    reason: str
    given: Mapping[str, float] = field(default_factory=dict)
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the answer meets the task."""
        return self.reason == PASSED


def check_equal_angles(rope: Rope, pair: int, near: float, first: int, second: int) -> ChallengeVerdict:
    """Check two positions that a pair cannot tell apart: its angles differ by less than ``near`` rad, modulo a turn.

    >>> [check_equal_angles(Rope(128, 1e4, 4096), 0, 0.02, 10, other).reason for other in (54, 32, 35, 20)]
    ['passed', 'half', 'near', 'far']
    """
    if first == second:
        return ChallengeVerdict("same")
    turns = abs(second - first) / float(rope.wavelength[pair])
    gap = abs(turns - round(turns)) * 2 * np.pi
    given = {"gap": float(gap), "turns": turns, "apart": abs(second - first)}
    reason = PASSED if gap < near else "near" if gap < 10 * near else "half" if gap > np.pi - 10 * near else "far"
    return ChallengeVerdict(reason, given, {"gap": near, "turns": round(turns)})


def check_slowest_pair_base(dim: int, length: int, slack: float, base: float) -> ChallengeVerdict:
    """Check a base at which the slowest pair does not repeat within ``length`` tokens, and no larger than need be.

    It may be ``slack`` times the least such base.

    >>> [check_slowest_pair_base(128, 32_768, 1.1, base).reason for base in (6e3, 1e4, 32_768.0, 5215.0, 100.0)]
    ['passed', 'large', 'length', 'exponent', 'small']
    """
    rope, radian = Rope(dim, base, length), length / (2 * np.pi)
    given = {"base": base, "wavelength": float(rope.wavelength[-1]), "length": length}
    least = radian ** (dim / (dim - 2))
    if math.isclose(base, length, rel_tol=NEAR):
        reason = "length"
    elif base < least:
        reason = "exponent" if math.isclose(base, radian, rel_tol=NEAR) else "small"
    else:
        reason = "large" if base > slack * least else PASSED
    return ChallengeVerdict(reason, given, {"base": base, "wavelength": length})


def check_negative_score(rope: Rope, partner: int, position: int) -> ChallengeVerdict:
    """Check a position whose score with a token at ``partner`` is below 0 although both have the same vector.

    >>> [check_negative_score(Rope(128, 1e4, 4096), 1, position).reason for position in (1, 4, 1708, 1900)]
    ['same', 'early', 'passed', 'late']
    """
    distance = abs(position - partner)
    value = float(score_curve(spectrum(Request(rope)), [distance])[0])
    if value < 0:
        reason = PASSED
    elif not distance:
        reason = "same"
    else:
        reason = "early" if first_negative_score_distance(rope.dim, rope.base, distance) is None else "late"
    return ChallengeVerdict(reason, {"position": position, "value": value}, {"value": 0.0})


CHECKPOINTS = {"a": "query_only", "b": "both", "c": "none", "d": "query_heads"}
"""What was done to the weights of each checkpoint, of `rope_core.theory.layout_demo.CONVERSIONS`."""
SHAPES = HeadShapes(head_dim=64, kv_heads=2, group=4)


def checkpoint_scores(distances: Sequence[int], base: float) -> tuple[Array, dict[str, Array]]:
    """Return one head's scores at ``distances`` of the original model, and of each checkpoint in half-split code."""
    theta = Rope(SHAPES.head_dim, base).theta
    runs = {name: conversion_scores(SHAPES, done, distances, theta) for name, done in CHECKPOINTS.items()}
    return runs["b"].right, {name: run.got for name, run in runs.items()}


def check_wrong_layout_choice(distances: Sequence[int], base: float, choice: str) -> ChallengeVerdict:
    """Check which checkpoint has its weights in the other layout: right at distance 0, wrong at the others.

    >>> check_wrong_layout_choice((0, 1, 8), 1e4, "b").reason, check_wrong_layout_choice((0, 1, 8), 1e4, "c").passed
    ('healthy', True)
    """
    right, scores = checkpoint_scores(distances, base)
    differs = np.abs(scores[choice] - right) > 1e-6
    if differs[0]:
        numbers = {"right": float(right[0]), "got": float(scores[choice][0])}
        return ChallengeVerdict("at_zero", numbers, {"right": numbers["got"], "got": numbers["right"]})
    return ChallengeVerdict(PASSED if differs.any() else "healthy")


def check_extension_choice(rope: Rope, times: int, slack: float, scheme: str, factor: float) -> ChallengeVerdict:
    """Check a scheme and factor that reach ``times`` the trained length with no angle new and neighbours as before.

    The factor may be ``slack`` times the least with which the scheme meets no new angle.

    >>> rope, tried = Rope(128, 1e4, 4096), (("ntk", 8.0), ("linear", 8.0), ("yarn", 8.0), ("yarn", 16.0))
    >>> [check_extension_choice(rope, 8, 1.1, *each).reason for each in tried]
    ['unseen', 'neighbours', 'passed', 'more']
    """
    s, unseen = _stretched(rope, times, scheme, factor)
    kept = float(s.inv_freq[0] / rope.theta[0])
    given = {"unseen": unseen, "pairs": rope.pairs, "slower": 1 / kept, "degrees": math.degrees(s.inv_freq[0])}
    if unseen:
        reason = "unseen"
    elif kept < 1 - 1e-9:
        reason = "neighbours"
    else:
        reason = "more" if not _stretched(rope, times, scheme, factor / slack)[1] else PASSED
    beside = {"slower": 1.0, "degrees": math.degrees(rope.theta[0]), "factor": factor}
    return ChallengeVerdict(reason, given | {"factor": factor}, beside)


def _stretched(rope: Rope, times: int, scheme: str, factor: float) -> tuple[Spectrum, int]:
    """Return a scheme's spectrum at a factor of 1 at least, and how many pairs are at new angles ``times`` as far."""
    s = spectrum(Request(rope, scheme, {"factor": max(factor, 1.0)}))
    return s, int(reached_untrained_angle_mask(rope, s, [times * rope.train_len]).sum())


def check_positive_base(dim: int, length: int, max_base: float, base: float) -> ChallengeVerdict:
    """Check a base of at most ``max_base`` under which a vector's score with itself stays positive up to a length.

    >>> check_positive_base(128, 4096, 1e5, 1e4).given["first"], check_positive_base(128, 4096, 1e5, 5e4).passed
    (1707, True)
    """
    first = first_negative_score_distance(dim, base, length)
    given = {"base": base, "length": length, "most": max_base, "first": length if first is None else first}
    return ChallengeVerdict(
        "large" if base > max_base else PASSED if first is None else "negative", given, {"base": base}
    )


def check_same_distance(query: int, key: int, other_query: int, other_key: int) -> ChallengeVerdict:
    """Check two other positions at which the same query and key score under RoPE as they do at the first two.

    >>> [check_same_distance(40, 33, *other).reason for other in ((7, 0), (40, 33), (33, 40), (50, 23), (1, 0))]
    ['passed', 'same', 'mirrored', 'sum', 'other']
    """
    wanted, distance = query - key, other_query - other_key
    if (query, key) == (other_query, other_key):
        reason = "same"
    elif distance == wanted:
        reason = PASSED
    elif distance == -wanted:
        reason = "mirrored"
    else:
        reason = "sum" if query + key == other_query + other_key else "other"
    return ChallengeVerdict(reason, {"wanted": wanted, "distance": distance})


STEPS = ("project", "turn_q", "turn_k", "turn_v", "cache", "attend")
"""The lines of an attention layer with one line too many, in their order."""


def check_superfluous_step(rope: Rope, line: int) -> ChallengeVerdict:
    """Check which of STEPS, from 1, has to go so that the output no longer depends on the text's position.

    The layer is run without the line, on a text at position 0 and on the same text 7 positions further.

    >>> [check_superfluous_step(Rope(16, 100.0, 64), line).passed for line in range(1, 7)]
    [False, False, False, True, False, False]
    """
    left = [step for at, step in enumerate(STEPS, 1) if at != line]
    if not {"project", "cache", "attend"} <= set(left):
        return ChallengeVerdict("needed", {"line": line})
    q, k, v = np.random.default_rng(0).standard_normal((3, 6, rope.dim))
    outputs = []
    for shift in (0, 7):
        angle = np.multiply.outer(np.arange(6) + shift, rope.theta)
        a, b, c = (
            rotate_rows(x, angle) if f"turn_{name}" in left else x for x, name in zip((q, k, v), "qkv", strict=True)
        )
        outputs.append(softmax(a @ b.T / np.sqrt(rope.dim)) @ c)
    change = float(np.abs(outputs[1] - outputs[0]).max())
    return ChallengeVerdict(PASSED if change < 1e-9 else "moves", {"line": line, "change": change})


def check_rounded_position(dtype: str, position: int) -> ChallengeVerdict:
    """Check a position that a number format rounds to another one.

    >>> [check_rounded_position("bfloat16", position).reason for position in (200, 1000, 1001)]
    ['small', 'step', 'passed']
    """
    held, whole = float(round_to_dtype(position, dtype)), first_rounded_position(dtype) - 1
    step = 2 ** (position.bit_length() - whole.bit_length() + 1)
    given = {"position": position, "held": held, "whole": whole, "step": step}
    return ChallengeVerdict(PASSED if held != position else "small" if position <= whole else "step", given)


def check_better_reading(plain: Array, best: Array, after: int, byte: int) -> ChallengeVerdict:
    """Check a byte past ``after`` to which one reading gives a greater chance than the other; byte 1 is the first.

    ``plain`` and ``best`` are the chances of bytes 1 to n, (n,) each.

    >>> chances = np.array([0.5, 0.2, 0.9]), np.array([0.9, 0.4, 0.3])
    >>> [check_better_reading(*chances, 1, byte).reason for byte in (1, 2, 3)]
    ['early', 'behind', 'passed']
    """
    if byte <= after:
        return ChallengeVerdict("early", {"byte": byte, "after": after})
    here, there = 100 * float(plain[byte - 1]), 100 * float(best[byte - 1])
    won = int((plain[after:] > best[after:]).sum())
    given = {"byte": byte, "plain": here, "best": there, "won": won, "of": len(plain) - after}
    return ChallengeVerdict(PASSED if here > there else "behind", given, {"plain": there, "best": here})


def check_decode_offset(start: int, prompt: int, step: int, offset: int) -> ChallengeVerdict:
    """Check the offset of a decoding step, the first after the prompt being 1, where the prompt began at ``start``.

    >>> [check_decode_offset(16, 12, 3, offset).reason for offset in (30, 31, 29, 14, 18, 5)]
    ['passed', 'one_more', 'one_less', 'from_zero', 'no_prompt', 'far']
    """
    right = start + prompt + step - 1
    mistakes = {right: PASSED, right + 1: "one_more", right - 1: "one_less"}
    for missed, reason in ((right - start, "from_zero"), (right - prompt, "no_prompt")):
        mistakes.setdefault(missed, reason)
    given = {"offset": offset, "start": start, "prompt": prompt, "first": start + prompt}
    return ChallengeVerdict(mistakes.get(offset, "far"), given)


ROW = ((4, 6, 1), (0, 1, 2, 3, 0, 1, 2, 2, 4, 5, 0))
"""Lengths of three texts that share a row, and the positions that its tokens were given; one is wrong."""
LAST_PLACE = len(ROW[1]) - 1


def check_wrong_position(token_index: int) -> ChallengeVerdict:
    """Check which token of ROW, by its place from 0, has a position that it should not have.

    >>> [check_wrong_position(place).reason for place in (7, 4, 6, 0)]
    ['passed', 'begins', 'right', 'begins']
    """
    lengths, given = ROW
    cuts = cumulative_lengths(lengths)
    wanted = packed_positions(cuts).tolist()
    numbers = {"place": token_index, "given": given[token_index], "wanted": wanted[token_index]}
    if given[token_index] != wanted[token_index]:
        return ChallengeVerdict(PASSED, numbers)
    return ChallengeVerdict("begins" if token_index in cuts else "right", numbers)
