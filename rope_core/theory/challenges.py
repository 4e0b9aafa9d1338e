"""Checks of the pages' challenges: what a reader found, held against what the theory asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rope_core.rope import Array, Rope
from rope_core.spectrum import Request, spectrum
from rope_core.theory.attention import first_negative, score_curve
from rope_core.theory.encodings import turn
from rope_core.theory.extension import past_training
from rope_core.theory.layout_demo import Shapes, layout_error
from rope_core.theory.precision import round_to
from rope_core.theory.softmax import softmax


@dataclass(frozen=True)
class Verdict:
    """Whether a challenge is passed, and why.

    Attributes:
        passed: whether the answer meets the task.
        score: how near it comes, 0 to 1; 1 where it is passed.
        reason: the word by which the page's sentence is known.
        given: the numbers in that sentence, by slot.
    """

    passed: bool
    score: float
    reason: str
    given: Mapping[str, float] = field(default_factory=dict)


def twins(rope: Rope, pair: int, near: float, first: int, second: int) -> Verdict:
    """Check two positions that a pair cannot tell apart: its angles differ by less than ``near`` rad, modulo a turn.

    The score falls in a straight line from 1 at no difference to 0 at half a turn.

    >>> twins(Rope(128, 1e4, 4096), 0, 0.01, 10, 720).passed, twins(Rope(128, 1e4, 4096), 0, 0.01, 10, 54).reason
    (True, 'near')
    """
    if first == second:
        return Verdict(False, 0.0, "same")
    turns = abs(second - first) / float(rope.wavelength[pair])
    gap = abs(turns - round(turns)) * 2 * np.pi
    given = {"gap": float(gap), "turns": turns, "apart": abs(second - first)}
    if gap < near:
        return Verdict(True, 1.0, "passed", given)
    return Verdict(False, float(1 - gap / np.pi), "near" if gap < 0.2 else "far", given)


def slowest_repeats(dim: int, length: int, slack: float, base: float) -> Verdict:
    """Check a base at which the slowest pair does not repeat within ``length`` tokens, and no larger than need be.

    It may be ``slack`` times the least such base. The score is the lesser of base and bound over the greater.

    >>> slowest_repeats(128, 32_768, 1.1, 10_000.0).reason, slowest_repeats(128, 32_768, 1.1, 6_000.0).passed
    ('large', True)
    """
    rope = Rope(dim, base, length)
    least = (length / (2 * np.pi)) ** (dim / (dim - 2))
    given = {"base": base, "wavelength": float(rope.wavelength[-1]), "length": length}
    if base < least:
        return Verdict(False, base / least, "small", given)
    if base > slack * least:
        return Verdict(False, slack * least / base, "large", given)
    return Verdict(True, 1.0, "passed", given)


def negative_score(rope: Rope, partner: int, position: int) -> Verdict:
    """Check a position whose score with a token at ``partner`` is below 0 although both have the same vector.

    The score of the check falls in a straight line from 1 at a score of 0 to 0 at the score of a token with itself.
    """
    value = float(score_curve(spectrum(Request(rope)), [position - partner])[0])
    given = {"position": position, "value": value}
    return Verdict(True, 1.0, "passed", given) if value < 0 else Verdict(False, 1.0 - value, "positive", given)


CHECKPOINTS = {"a": "query_only", "b": "both", "c": "none", "d": "query_heads"}
"""What was done to the weights of each checkpoint, of `rope_core.theory.layout_demo.CONVERSIONS`."""
SHAPES = Shapes(head_dim=64, kv_heads=2, group=4)


def checkpoint_scores(distances: Sequence[int], base: float) -> tuple[Array, dict[str, Array]]:
    """Return one head's scores at ``distances`` of the original model, and of each checkpoint in half-split code."""
    theta = Rope(SHAPES.head_dim, base).theta
    runs = {name: layout_error(SHAPES, done, distances, theta) for name, done in CHECKPOINTS.items()}
    return runs["b"].right, {name: run.got for name, run in runs.items()}


def wrong_layout(distances: Sequence[int], base: float, choice: str) -> Verdict:
    """Check which checkpoint has its weights in the other layout: right at distance 0, wrong at the others.

    >>> wrong_layout((0, 1, 8), 1e4, "b").reason, wrong_layout((0, 1, 8), 1e4, "c").passed
    ('healthy', True)
    """
    right, scores = checkpoint_scores(distances, base)
    differs = np.abs(scores[choice] - right) > 1e-6
    if differs[0]:
        return Verdict(False, 0.5, "at_zero", {"right": float(right[0]), "got": float(scores[choice][0])})
    if not differs.any():
        return Verdict(False, 0.0, "healthy")
    return Verdict(True, 1.0, "passed")


def extends(rope: Rope, times: int, scheme: str, factor: float) -> Verdict:
    """Check a scheme and factor that reach ``times`` the trained length with no angle new and neighbours as before.

    The score is the share of pairs at known angles, or, where all are, the share of its angle that the fastest keeps.

    >>> rope = Rope(128, 1e4, 4096)
    >>> [extends(rope, 8, *each).reason for each in (("ntk", 8.0), ("linear", 8.0), ("yarn", 8.0))]
    ['unseen', 'neighbours', 'passed']
    """
    s = spectrum(Request(rope, scheme, {"factor": factor}))
    unseen = int(past_training(rope, s, [times * rope.train_len]).sum())
    kept = float(s.inv_freq[0] / rope.theta[0])
    given = {"unseen": unseen, "pairs": rope.pairs, "slower": 1 / kept, "degrees": math.degrees(s.inv_freq[0])}
    if unseen:
        return Verdict(False, 1 - unseen / rope.pairs, "unseen", given)
    if kept < 1 - 1e-9:
        return Verdict(False, kept, "neighbours", given)
    return Verdict(True, 1.0, "passed", given)


def stays_positive(dim: int, length: int, most: float, base: float) -> Verdict:
    """Check a base of at most ``most`` under which a vector's score with itself stays positive up to a length.

    The score is the share of the length that is reached before the first negative score.

    >>> stays_positive(128, 4096, 1e5, 1e4).given["first"], stays_positive(128, 4096, 1e5, 5e4).passed
    (1707, True)
    """
    first = first_negative(dim, base, length)
    given = {"base": base, "length": length, "most": most, "first": length if first is None else first}
    if base > most:
        return Verdict(False, most / base, "large", given)
    if first is not None:
        return Verdict(False, first / length, "negative", given)
    return Verdict(True, 1.0, "passed", given)


def same_score(query: int, key: int, other_query: int, other_key: int) -> Verdict:
    """Check two other positions at which the same query and key score under RoPE as they do at the first two.

    >>> same_score(40, 33, 7, 0).passed, same_score(40, 33, 33, 40).reason
    (True, 'mirrored')
    """
    wanted, distance = query - key, other_query - other_key
    given = {"wanted": wanted, "distance": distance}
    if (query, key) == (other_query, other_key):
        return Verdict(False, 0.0, "same", given)
    if distance == wanted:
        return Verdict(True, 1.0, "passed", given)
    return Verdict(False, 0.0, "mirrored" if distance == -wanted else "other", given)


STEPS = ("project", "turn_q", "turn_k", "turn_v", "cache", "attend")
"""The lines of an attention layer with one line too many, in their order."""


def extra_line(rope: Rope, line: int) -> Verdict:
    """Check which of STEPS, from 1, has to go so that the output no longer depends on the text's position.

    The layer is run without the line, on a text at position 0 and on the same text 7 positions further.

    >>> [extra_line(Rope(16, 100.0, 64), line).passed for line in range(1, 7)]
    [False, False, False, True, False, False]
    """
    left = [step for at, step in enumerate(STEPS, 1) if at != line]
    if not {"project", "cache", "attend"} <= set(left):
        return Verdict(False, 0.0, "needed", {"line": line})
    q, k, v = np.random.default_rng(0).standard_normal((3, 6, rope.dim))
    outputs = []
    for shift in (0, 7):
        angle = np.multiply.outer(np.arange(6) + shift, rope.theta)
        a, b, c = (turn(x, angle) if f"turn_{name}" in left else x for x, name in zip((q, k, v), "qkv", strict=True))
        outputs.append(softmax(a @ b.T / np.sqrt(rope.dim)) @ c)
    change = float(np.abs(outputs[1] - outputs[0]).max())
    passed = change < 1e-9
    return Verdict(passed, float(passed), "passed" if passed else "moves", {"line": line, "change": change})


def falls_on_another(dtype: str, position: int) -> Verdict:
    """Check a position that a number format rounds to another one; the score is 0 or 1.

    >>> falls_on_another("bfloat16", 256).reason, falls_on_another("bfloat16", 1001).given["held"]
    ('held', 1000.0)
    """
    held = float(round_to(position, dtype))
    passed = held != position
    given = {"position": position, "held": held}
    return Verdict(passed, float(passed), "passed" if passed else "held", given)


def reads_better(plain: Array, best: Array, after: int, byte: int) -> Verdict:
    """Check a byte past ``after`` to which one reading gives a greater chance than the other; byte 1 is the first.

    ``plain`` and ``best`` are the chances of bytes 1 to n, (n,) each.

    >>> chances = np.array([0.5, 0.2, 0.9]), np.array([0.9, 0.4, 0.3])
    >>> [reads_better(*chances, 1, byte).reason for byte in (1, 2, 3)]
    ['early', 'behind', 'passed']
    """
    if byte <= after:
        return Verdict(False, 0.0, "early", {"byte": byte, "after": after})
    here, there = float(plain[byte - 1]), float(best[byte - 1])
    won = int((plain[after:] > best[after:]).sum())
    given = {"byte": byte, "plain": 100 * here, "best": 100 * there, "won": won, "of": len(plain) - after}
    if here > there:
        return Verdict(True, 1.0, "passed", given)
    return Verdict(False, here / there if there else 0.0, "behind", given)


def decode_offset(start: int, prompt: int, step: int, offset: int) -> Verdict:
    """Check the offset of a decoding step, the first after the prompt being 1, where the prompt began at ``start``.

    >>> decode_offset(16, 12, 3, 30).passed, decode_offset(16, 12, 3, 31).reason
    (True, 'off_by_one')
    """
    right = start + prompt + step - 1
    given = {"offset": offset, "missed": abs(offset - right), "first": start + prompt}
    if offset == right:
        return Verdict(True, 1.0, "passed", given)
    near = abs(offset - right) == 1
    return Verdict(False, 1 / (1 + abs(offset - right)), "off_by_one" if near else "far", given)
