"""Checks of the pages' challenges: what a reader found, held against what the theory asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rope_core.rope import Array, Rope
from rope_core.spectrum import Request, spectrum
from rope_core.theory.attention import score_curve
from rope_core.theory.layout_demo import Shapes, layout_error


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
