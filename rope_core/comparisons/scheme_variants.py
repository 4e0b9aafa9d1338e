"""Published schemes at one geometry, each as published and with each known mistake, and what a column is nearest to."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import FACTOR, SCHEMES, UNSCALED
from rope_core.spectrum import Request, spectrum

SAME = 1e-5
"""The relative difference up to which two frequencies are the same, as powers in float32 may round them.

Where a mistake is computed again, of unscaled frequencies over the factor besides, where pairs nearly stand.
"""


@dataclass(frozen=True)
class Difference:
    """Where the frequencies of two columns differ.

    Attributes:
        equal, other: the pairs at which they are the same to rounding in float32, and those at which they are not.
        pair: the one at which they differ most; None where none differs.
        ratio: the first column's frequency there over the second's.
        attention_ratio: the same of their attention factors.
    """

    equal: tuple[int, ...]
    other: tuple[int, ...]
    pair: int | None
    ratio: float
    attention_ratio: float


@dataclass(frozen=True, eq=False)
class PublishedScheme:
    """A shipped scheme at one geometry, as published or with a mistake.

    Attributes:
        name: of SCHEMES.
        params: what it is computed with: switches, numbers, and the lists of a model's own scheme.
        inv_freq: (pairs,), rad/token.
        attention_factor: of the scheme without a mistake.
        mistake: key of the languages' [mistake]; "" for none.
    """

    name: str
    params: Mapping[str, float | bool]
    inv_freq: Array
    attention_factor: float
    mistake: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same at another factor, length or model: name, mistake, and the other parameters as text."""
        return self.name, self.mistake, str({name: value for name, value in self.params.items() if name != "factor"})

    def at_factor(self, times: float) -> dict[str, Any]:
        """Return the parameters at so many times the factor; as they are where there is none."""
        factor = self.params.get("factor")
        return {**self.params, **({} if factor is None else {"factor": times * factor})}


@dataclass(frozen=True, eq=False)
class NearestScheme:
    """The published scheme that a column is nearest to, or is held to.

    Attributes:
        scheme: as published.
        difference: of the column from it.
        mistake: key of the languages' [mistake], of the mistake that gives the column's frequencies; "" for none.
        again: whether the scheme, or the mistake, gives them at other arguments too.
        fitted: the scheme that a column is held to with the factor and the ramp that give its frequencies, if any do.
        alike: every published scheme that has them, or that has them with a mistake; the one above is the first.
    """

    scheme: PublishedScheme
    difference: Difference
    mistake: str = ""
    again: bool = False
    fitted: PublishedScheme | None = None
    alike: tuple[PublishedScheme, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether the column has the scheme's frequencies at every pair, as published or with the mistake."""
        return self.mistake != "" or self.difference.pair is None


def likeable_schemes() -> list[str]:
    """Return the names of the schemes that a column can be held to: those without a table of their own.

    >>> "yarn" in likeable_schemes(), "longrope" in likeable_schemes()
    (True, False)
    """
    return [name for name, each in SCHEMES.items() if all(param.kind != "vector" for param in each.params)]


StatedScheme = tuple[str, tuple[tuple[str, Any], ...]]
"""A scheme of a model's config and its parameters; "" and () for none."""


@lru_cache(maxsize=256)
def published_schemes(
    rope: Rope, factor: float, length: int, stated: StatedScheme = ("", ())
) -> tuple[PublishedScheme, ...]:
    """Return the schemes at a geometry and target length, tokens, with each switch as it is by default and turned.

    The scheme that a model's config states comes first, with its own parameters but for the factor.
    """
    schemes = []
    if stated[0] not in ("", UNSCALED):
        params = dict(stated[1]) | ({"factor": factor} if "factor" in dict(stated[1]) else {})
        with contextlib.suppress(ValueError):
            at = spectrum(Request(rope, stated[0], params, length))
            schemes.append(PublishedScheme(stated[0], params, at.inv_freq, at.attention_factor))
    for name in likeable_schemes():
        scheme = SCHEMES[name]
        own = {key: value for key, value in scheme.defaults().items() if isinstance(value, int | float)}
        own |= {"factor": factor} if "factor" in own else {}
        switches = [key for key, value in own.items() if isinstance(value, bool)]
        for params in (own, *({**own, switch: not own[switch]} for switch in switches)):
            with contextlib.suppress(ValueError):
                at = spectrum(Request(rope, name, params, length))
                schemes.append(PublishedScheme(name, params, at.inv_freq, at.attention_factor))
    return tuple(schemes)


@lru_cache(maxsize=256)
def mistaken_schemes(
    rope: Rope, factor: float, length: int, stated: StatedScheme = ("", ())
) -> tuple[PublishedScheme, ...]:
    """Return the same schemes, each with every known mistake; none at a factor of 1."""
    if factor <= 1.0:
        return ()
    with np.errstate(all="ignore"):
        return tuple(
            replace(each, inv_freq=f, mistake=mistake)
            for each in published_schemes(rope, factor, length, stated)
            for mistake, f in _mistakes(each, rope, factor, length)
            if np.all(np.isfinite(f))
        )


def has_frequencies(f: Array, scheme: PublishedScheme, rope: Rope, factor: float) -> bool:
    """Return whether frequencies are a scheme's at every pair, as far as computing them again may round."""
    small = SAME * rope.theta / factor
    return bool(np.all(np.abs(f - scheme.inv_freq) <= SAME * np.abs(scheme.inv_freq) + small))


ENDS = (1, 2, 4, 8, 16, 32, 64, 0.5, 0.25, 10, 20, 5, 3, 6, 12, 24, 48, 40, 30, 15, 25, 50, 80, 96, 100, 128, 0.1, 1.5)
"""Turns at which a ramp may begin or end, as somebody would write them; the roundest first."""


def fitted_schemes(f: Array, rope: Rope, factor: float, length: int) -> Iterator[PublishedScheme]:
    """Yield the schemes that have frequencies at every pair, with another factor or other ends of their ramp."""
    with np.errstate(all="ignore"):
        s = rope.theta / f
    if not np.all((s > 0) & np.isfinite(s)):
        return
    # A factor that nobody would write down explains nothing.
    whole = float(f"{s[-1]:.3g}")
    factors = [each for each in dict.fromkeys((factor, whole)) if 1.0 < each <= FACTOR.high]
    for each in (each for given in factors for each in published_schemes(rope, given, length)):
        if has_frequencies(f, each, rope, factor):
            yield each
        yield from (other for other in _with_ends(each, s, rope, length) if has_frequencies(f, other, rope, factor))


def _with_ends(scheme: PublishedScheme, s: Array, rope: Rope, length: int) -> Iterator[PublishedScheme]:
    """Yield a scheme with each pair of ends that leaves as many pairs alone and slows as many wholly as ``s`` does."""
    whole = float(str(scheme.params.get("factor", 1.0)))
    for low, first, settled in _ends(scheme, rope, length):
        # A pair that is next to an end may be as good as at it.
        if abs(settled - np.isclose(s, whole, rtol=SAME).sum()) <= 1:
            for high, last, free in _ends(scheme, rope, length, at_high=True):
                if first < last and abs(free - np.isclose(s, 1.0, rtol=SAME).sum()) <= 1:
                    params = {**scheme.params, low: float(first), high: float(last)}
                    at = spectrum(Request(rope, scheme.name, params, length))
                    yield replace(scheme, params=params, inv_freq=at.inv_freq, attention_factor=at.attention_factor)


@lru_cache(maxsize=256)
def _ends(scheme: PublishedScheme, rope: Rope, length: int, at_high: bool = False) -> list[tuple[str, float, int]]:
    """Return the slow end of a scheme's ramp, or its fast one, at ENDS: its name, turns, and the pairs beyond it."""
    turns = {each.name: float(str(each.default)) for each in SCHEMES[scheme.name].params if each.unit == "turns"}
    if len(turns) != 2:
        return []
    low, high = sorted(turns, key=turns.__getitem__)
    name, other = (high, low) if at_high else (low, high)
    counts = []
    for n in ENDS:
        # The other end is off it, and of no account.
        params = {**scheme.params, name: float(n), other: n / 4.0 if at_high else n * 4.0}
        slowed = rope.theta / spectrum(Request(rope, scheme.name, params, length)).inv_freq
        beyond = 1.0 if at_high else float(str(scheme.params["factor"]))
        counts.append((name, float(n), int(np.isclose(slowed, beyond, rtol=SAME).sum())))
    return counts


def _mistakes(scheme: PublishedScheme, rope: Rope, factor: float, length: int) -> Iterator[tuple[str, Array]]:
    """Yield the frequencies that a scheme has with each mistake, by the mistake's key."""
    theta, index, chosen = rope.theta, np.arange(rope.pairs), SCHEMES[scheme.name]
    s = theta / scheme.inv_freq
    longer = replace(rope, train_len=round(2.0 * math.pi * rope.train_len))
    yield "no_two_pi", spectrum(Request(longer, scheme.name, scheme.params, length)).inv_freq
    target = replace(rope, train_len=min(round(factor * rope.train_len), MAX_LEN))
    yield "target_length", spectrum(Request(target, scheme.name, scheme.params, length)).inv_freq
    if chosen.follows_length:
        longest = min(round(factor * rope.train_len), MAX_LEN)
        yield "length_ignored", spectrum(Request(rope, scheme.name, scheme.params, max(length, longest))).inv_freq
    steps = np.diff(np.log(s))
    if steps.size and (steps[0] > SAME or s[0] == s[-1] == 1.0) and np.allclose(steps, steps[0], rtol=SAME):
        yield "no_exponent", theta / s ** ((rope.dim - 2.0) / rope.dim)
        if chosen.follows_length:
            yield "no_offset", theta / (s[-1] + factor - 1.0) ** (index / index[-1])
    yield "index_from_one", scheme.inv_freq * rope.base ** (-2.0 / rope.dim)
    yield "linear_besides", scheme.inv_freq / factor
    yield "reversed", scheme.inv_freq[::-1]
    yield "twice_index", theta / s[np.minimum(2 * index, index[-1])]
    yield "upside_down", theta * (1.0 + 1.0 / factor - 1.0 / s)
    yield from (("inverse_exponent", f) for f in (1.0 / (theta * s), s / theta))
    yield from (("half_exponent", f) for f in (np.sqrt(theta) / s, np.sqrt(theta / s)))
    yield from (("factor_twice", theta / s**2), ("factor_inverted", theta * s), ("fast_end", theta / s[::-1]))
    kept = 1.0 / s
    inside = np.flatnonzero((kept < 1.0 - SAME) & (kept > 1.0 / factor + SAME))
    swapped = kept.copy()
    swapped[inside] = 1.0 + 1.0 / factor - kept[inside]
    yield "blend_swapped", theta * swapped
    for x in (index, theta) if inside.size > 2 else ():
        # A ramp that is straight over the index, or over the turns, goes on past its ends.
        a, b = inside[[0, -1]]
        straight = kept[a] + (x - x[a]) * (kept[b] - kept[a]) / (x[b] - x[a])
        if np.allclose(straight[inside], kept[inside], rtol=SAME):
            yield "no_clamp", theta * straight
            yield "no_clamp_low", theta * np.maximum(straight, 1.0 / factor)
            yield "no_clamp_high", theta * np.minimum(straight, 1.0)
