"""Checks of the pages' challenges: what a reader found, held against what the theory asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rope_core.rope import Rope


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
