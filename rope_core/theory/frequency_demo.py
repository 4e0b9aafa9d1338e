"""What the frequencies page shows: sampled tables, the pairs as rulers, and what a base can span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import finite, reject, whole
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.spectrum import Request, angles, spectrum
from rope_core.theory.attention import cosine_sums, first_negative

TABLES: dict[str, Callable[[Array], Array]] = {"angle": np.positive, "cos": np.cos, "sin": np.sin}
REACH = 131_072
WORK = 2**20


def sampled_positions(span: int, count: int) -> npt.NDArray[np.int64]:
    """Return at most ``count`` evenly spaced positions from 0 below ``span``, int64; every one where they fit.

    >>> sampled_positions(10, 4).tolist()
    [0, 3, 6, 9]
    """
    length = whole("span", span, 1, MAX_LEN)
    step = -(-length // whole("count", count, 1, MAX_LEN))
    return np.arange(0, length, step, dtype=np.int64)


def table(rope: Rope, kind: str, positions: npt.ArrayLike) -> Array:
    """Return position * theta_i wrapped to [-pi, pi), or its cos or sin, float64 (pairs, n): one row per pair.

    Raises ValueError on a kind that is not "angle", "cos" or "sin", or positions outside [0, 2**31).

    >>> table(Rope(4, 100.0), "cos", [0, 1]).round(3).tolist()
    [[1.0, 0.54], [1.0, 0.995]]
    """
    if kind not in TABLES:
        raise reject("kind", "one_of", kind, names=list(TABLES))
    return np.asarray(TABLES[kind](angles(spectrum(Request(rope)), positions)).T, dtype=np.float64)


def incomplete(rope: Rope) -> npt.NDArray[np.bool_]:
    """Return which pairs do not complete a single turn within the trained context, bool (pairs,).

    >>> int(incomplete(Rope(128, 10_000.0, 4096)).sum())  # Llama 2
    18
    """
    return np.asarray(rope.turns < 1.0)


@dataclass(frozen=True)
class Rulers:
    """Pairs as rulers: ``finest`` distance each resolves, ``longest`` before it repeats, float64 (pairs,)."""

    finest: Array
    longest: Array

    def useful(self, distance: float) -> npt.NDArray[np.bool_]:
        """Return which pairs resolve ``distance`` without having repeated before it, bool (pairs,)."""
        return np.asarray((self.finest <= distance) & (distance < self.longest))


def rulers(rope: Rope, error: float) -> Rulers:
    """Return each pair's finest mark, error / theta_i, and its length, 2 pi / theta_i, in tokens.

    Args:
        rope: the geometry.
        error: the smallest angle that a reader still tells apart, in (0, 2 pi), rad.

    >>> r = rulers(Rope(4, 100.0), 0.5)
    >>> r.finest.round(9).tolist(), r.longest.round(2).tolist()
    ([0.5, 5.0], [6.28, 62.83])
    """
    angle = finite("error", error, "open_turn")
    if not 0 < angle < 2 * np.pi:
        raise reject("error", "open_turn", error)
    return Rulers(angle / rope.theta, rope.wavelength)


def similarity(rope: Rope, count: int) -> Array:
    """Return the mean over pairs of cos(m theta_i) at the distances m = 0, 1, ..., count - 1, float64 (count,).

    1 for the same place, 0 for none in common.

    >>> similarity(Rope(2, 10.0), 3).round(9).tolist()
    [1.0, 0.540302306, -0.416146837]
    """
    return cosine_sums(rope.theta, 0, count) / rope.pairs


def reach(dim: int) -> int:
    """Return how far a base is searched for a negative sum of cosines: 2**20 cosines, at most 131,072 tokens."""
    return min(REACH, 2 * WORK // dim)


@dataclass(frozen=True)
class Spans:
    """What each ``base`` reaches: longest wavelength, first negative sum of cosines (nan: beyond reach), (n,)."""

    base: Array
    wavelength: Array
    positive: Array


def positive_until(dim: int, base: float) -> float:
    """Return the first distance at which sum_i cos(m theta_i) is negative, or nan when it is beyond ``reach(dim)``.

    Source: Base of RoPE Bounds Context Length, arXiv:2405.14591, theorem 1.

    >>> positive_until(128, 10_000.0)
    1707.0
    """
    distance = first_negative(dim, base, reach(dim))
    return float("nan") if distance is None else float(distance)


@lru_cache(maxsize=8)
def spans(dim: int, low: float = 1e2, high: float = 1e8, count: int = 25) -> Spans:
    """Return longest wavelength and positive span for ``count`` bases from ``low`` to ``high``, cached by arguments.

    >>> s = spans(4, 100.0, 10_000.0, 2)
    >>> s.wavelength.round(2).tolist()
    [62.83, 628.32]
    """
    bases = np.geomspace(low, high, count)
    longest = np.array([Rope(dim, base).wavelength[-1] for base in bases])
    return Spans(bases, longest, np.array([positive_until(dim, float(base)) for base in bases]))
