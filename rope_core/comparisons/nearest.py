"""Which published scheme a column is nearest to, where it differs from that, and the mistake that gives its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn
from rope_core.comparisons.scheme_variants import (
    SAME,
    Difference,
    NearestScheme,
    PublishedScheme,
    fitted_schemes,
    has_frequencies,
    mistaken_schemes,
    published_schemes,
)
from rope_core.rope import Array
from rope_core.spectrum import Request, spectrum


def difference(a: ComparedColumn, b: ComparedColumn) -> Difference:
    """Return where the frequencies of two columns of one geometry differ.

    >>> from rope_core.comparisons.compare import compare
    >>> yarn, parts = compare("yarn", "ntk_by_parts", factor=8)
    >>> difference(yarn, parts).pair, round(difference(yarn, parts).attention_ratio, 3)
    (36, 1.208)
    """
    return _difference(a.inv_freq, b.inv_freq, a.attention_factor / b.attention_factor)


def _difference(f: Array, other: Array, attention_ratio: float) -> Difference:
    with np.errstate(all="ignore"):
        ratio = f / other
        same = np.isclose(f, other, rtol=SAME, atol=0.0, equal_nan=True)
        apart = np.where(same, 0.0, np.nan_to_num(np.abs(np.log(np.abs(ratio))), nan=np.inf))
    # What turns back is further off than what turns at any speed.
    pair = None if same.all() else int(np.where((ratio < 0) & ~same, np.inf, apart).argmax())
    return Difference(
        tuple(np.flatnonzero(same).tolist()),
        tuple(np.flatnonzero(~same).tolist()),
        pair,
        1.0 if pair is None else float(ratio[pair]),
        attention_ratio,
    )


def exact_schemes(given: ComparedColumn) -> list[PublishedScheme]:
    """Return the schemes that have a column's frequencies: as published first, then with each known mistake.

    Those of a function at every length of its answers from the trained one on; what it answers below that is a check of
    its own.

    >>> from rope_core.comparisons.compare import compare
    >>> (mine,) = compare(compare("yarn", factor=8)[0].inv_freq, factor=8)
    >>> exact_schemes(mine)[0].name
    'yarn'
    """
    own = given.setting

    def equal(n: int) -> list[PublishedScheme]:
        at, f = (own.rope, own.factor, n, own.stated), given.answers[n][0]
        whole = [each for each in published_schemes(*at) if np.allclose(f, each.inv_freq, rtol=SAME, atol=0.0)]
        return whole + [each for each in mistaken_schemes(*at) if has_frequencies(f, each, own.rope, own.factor)]

    same = equal(own.length)
    for n in given.answers if given.column.takes and same else ():
        if n >= own.rope.train_len:
            keys = {each.key for each in equal(n)}
            same = [each for each in same if each.key in keys]
    return same


def nearest_scheme(given: ComparedColumn, other: ComparedColumn | None = None) -> NearestScheme | None:
    """Return the scheme that a column is held to, else the one that it is, else the one that most of its pairs have.

    It is a scheme as published, one with a known mistake that ``other`` arguments give again, with another factor or
    ramp, or with a mistake at these arguments alone. None where fewer than a quarter of its pairs have one's frequency.
    """
    own, f, a = given.setting, given.inv_freq, given.attention_factor
    published = published_schemes(*own.published)
    there = {each.key for each in exact_schemes(other)} if other is not None else set()

    def first(schemes: Iterable[PublishedScheme]) -> list[PublishedScheme]:
        """Return those of the scheme that is named, what other arguments give again first, then what has the factor."""
        meant = (each for each in schemes if own.like in ("", each.name))
        return sorted(meant, key=lambda each: (each.key not in there, not np.isclose(each.attention_factor, a, 1e-3)))

    def held(scheme: PublishedScheme, mistake: str = "", again: bool = False) -> NearestScheme:
        return NearestScheme(scheme, _difference(f, scheme.inv_freq, a / scheme.attention_factor), mistake, again)

    exact = exact_schemes(given)
    whole, slips = first(each for each in exact if not each.mistake), first(each for each in exact if each.mistake)
    if whole and not own.like:
        return replace(held(whole[0], again=whole[0].key in there), alike=tuple(whole))
    repeated = bool(slips) and slips[0].key in there
    fitted = [] if whole or repeated else _fitted(given, other)
    if slips and (own.like or repeated or not fitted):
        shown = slips[0]
        plain = (each for each in published if (each.name, each.params) == (shown.name, shown.params))
        alike = tuple(each for each in slips if each.mistake == shown.mistake)
        return replace(held(next(plain), shown.mistake, repeated), alike=alike)
    if own.like:
        named = held(next(each for each in published if each.name == own.like))
        return replace(
            named, fitted=fitted[0] if fitted and named.difference.pair is not None else None, alike=(*whole,)
        )
    if fitted:
        return replace(held(fitted[0]), alike=(fitted[0],))

    def distance(nearest: NearestScheme) -> float:
        with np.errstate(all="ignore"):
            off = np.nan_to_num(np.abs(np.log2(f / nearest.scheme.inv_freq)), nan=1.0, posinf=1.0)
            factor = float(np.nan_to_num(np.abs(np.log2(nearest.difference.attention_ratio)), nan=1.0, posinf=1.0))
        factor = 0.0 if given.column.takes is None else factor
        return len(nearest.difference.other) / f.size + float(np.minimum(off, 1.0).mean()) + factor

    nearest = min((held(each) for each in published), key=distance)
    return nearest if len(nearest.difference.equal) >= f.size / 4 else None


def _fitted(given: ComparedColumn, other: ComparedColumn | None) -> list[PublishedScheme]:
    """Return the schemes that a column is with another factor or ramp, those first that it is at other arguments."""
    own = given.setting
    each = fitted_schemes(given.inv_freq, own.rope, own.factor, own.length)
    fitted = [scheme for scheme in each if own.like in ("", scheme.name) and _has_parameters(given, scheme, own.factor)]
    again = [scheme for scheme in fitted if other is not None and _has_parameters(other, scheme, own.factor)]
    # A function that has another factor than it is given has it again, or it is by chance.
    chance = [] if given.column.takes is None else [each for each in fitted if each.params.get("factor") != own.factor]
    return again + [each for each in fitted if each not in again and each not in chance]


def _has_parameters(given: ComparedColumn, scheme: PublishedScheme, factor: float) -> bool:
    """Return whether a column is a scheme with these parameters at each length; ``factor`` is that of its setting."""
    own = given.setting
    params = scheme.at_factor(own.factor / factor)
    for n, (f, _) in given.answers.items() if given.column.takes else ():
        if n >= own.rope.train_len:
            try:
                at = spectrum(Request(own.rope, scheme.name, params, n))
            except ValueError:
                return False
            if not has_frequencies(f, replace(scheme, inv_freq=at.inv_freq), own.rope, own.factor):
                return False
    return True


def unlike_pair(given: ComparedColumn, nearest: NearestScheme, factor: float) -> int | None:
    """Return the pair at which a column is furthest from what it is at another ``factor``; None where it is that here.

    Which of the schemes that have its frequencies elsewhere it is here, and with which switches, is of no account.
    """
    names = {(each.name, each.mistake) for each in nearest.alike}
    if any((each.name, each.mistake) in names for each in exact_schemes(given)):
        return None
    if not nearest.mistake and _has_parameters(given, nearest.scheme, factor):
        return None
    at = given.setting.published
    schemes = [each for each in (*published_schemes(*at), *mistaken_schemes(*at)) if (each.name, each.mistake) in names]
    return next((_difference(given.inv_freq, each.inv_freq, 1.0).pair for each in schemes), None)


def like_row(given: ComparedColumn, nearest: NearestScheme | None) -> ColumnCheck:
    """Return the row that holds a column to the scheme named, or to the one that it is, a known mistake aside."""
    own = given.setting
    if nearest is None or not (own.like or nearest.is_exact):
        return ColumnCheck("like", None)
    scheme, allowed, by_length = nearest.scheme, own.allowed["like"], {}
    for n in [n for n in given.answers if n == own.length or (n >= own.rope.train_len and given.column.takes)]:
        wanted = spectrum(Request(own.rope, scheme.name, scheme.params, n)).inv_freq
        by_length[n] = margins.like(given.answers[n][0], wanted, allowed), given.answers[n][0] / wanted
    worst = min(by_length, key=lambda n: (by_length[n][0].min(), n != own.length))
    by_pair, ratios = by_length[worst]
    pair = int(by_pair.argmin())
    ratio = float(np.nan_to_num(ratios[pair], nan=0.0, posinf=0.0))
    measured = max(ratio, 1.0 / ratio) - 1.0 if ratio > 0 else math.inf
    values = {"scheme": scheme.name, "mistake": nearest.mistake, "again": nearest.again}
    values["at"] = 0 if worst == own.length else worst
    return ColumnCheck("like", float(by_pair.min()), pair, "", values, tuple(by_pair.tolist()), measured, allowed)
