"""Which published scheme a column is nearest to, where it differs from that, and the mistake that gives its numbers."""

from __future__ import annotations

import contextlib
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


def equal_schemes(given: ComparedColumn, lengths: Iterable[int]) -> list[PublishedScheme]:
    """Return the published schemes with the same frequencies at some lengths of its answers.

    What it answers below the trained length is a check of its own.

    >>> from rope_core.comparisons.compare import compare
    >>> (mine,) = compare(compare("yarn", factor=8)[0].inv_freq, factor=8)
    >>> [(each.name, each.switches) for each in equal_schemes(mine, [32768])]
    [('yarn', '')]
    """
    setting = given.setting
    rope, factor, stated = setting.rope, setting.factor, setting.stated
    tables = [(given.answers[n][0], published_schemes(rope, factor, n, stated)) for n in lengths]
    equal = [[np.allclose(f, each.inv_freq, rtol=SAME, atol=0.0) for each in schemes] for f, schemes in tables]
    return [each for each, *flags in zip(tables[0][1], *equal, strict=True) if all(flags)]


def nearest_scheme(given: ComparedColumn, other: ComparedColumn | None = None) -> NearestScheme:
    """Return the scheme that a column is held to, or else the one that most of its pairs and its factor are nearest to.

    A scheme with a known mistake whose frequencies are the column's at every pair is the nearest of all. ``other`` is
    the column at other arguments, where the mistake has to give them again.
    """
    setting, f, a = given.setting, given.inv_freq, given.attention_factor
    at = setting.published
    wanted = [each for each in published_schemes(*at) if setting.like in ("", each.name)]
    if setting.like:
        wanted = wanted[:1]
    differences = [_difference(f, each.inv_freq, a / each.attention_factor) for each in wanted]

    def distance(k: int) -> float:
        if differences[k].pair is None:
            return -1.0
        with np.errstate(all="ignore"):
            off = np.nan_to_num(np.abs(np.log2(f / wanted[k].inv_freq)), nan=1.0, posinf=1.0)
            factor = float(np.nan_to_num(np.abs(np.log2(differences[k].attention_ratio)), nan=1.0, posinf=1.0))
        factor = 0.0 if given.column.takes is None else factor
        return len(differences[k].other) / f.size + float(np.minimum(off, 1.0).mean()) + factor

    mistaken = [each for each in mistaken_schemes(*at) if setting.like in ("", each.name)]
    same = [each for each in mistaken if _has(given, each)]
    twice = [each for each in same if other is not None and _has_again(other, each)]
    if any(each.pair is None for each in differences) or not same:
        k = min(range(len(wanted)), key=distance)
        return NearestScheme(wanted[k], differences[k])
    shown = [*twice, *same][0]
    published = next(each for each in published_schemes(*at) if (each.name, each.params) == (shown.name, shown.params))
    return NearestScheme(
        published,
        _difference(f, published.inv_freq, a / published.attention_factor),
        shown.mistake,
        bool(twice),
    )


def with_fitted(given: ComparedColumn, nearest: NearestScheme) -> NearestScheme:
    """Return the nearest scheme, or that which a column is with another factor or ramp, where it is that at every pair.

    One that a column is held to stays, and has the other beside it. Of two that fit, the one is taken that fits at the
    column's other arguments as well.
    """
    if nearest.is_exact:
        return nearest
    own = given.setting
    fitted = [
        each for each in fitted_schemes(given.inv_freq, own.rope, own.factor, own.length) if own.like in ("", each.name)
    ]
    again = [each for each in fitted if given.other is not None and _fits(given.other, each)]
    if not fitted or own.like:
        return replace(nearest, fitted=next(iter([*again, *fitted]), None))
    best = [*again, *fitted][0]
    factors = given.attention_factor / best.attention_factor
    return NearestScheme(best, _difference(given.inv_freq, best.inv_freq, factors))


def _fits(other: ComparedColumn, scheme: PublishedScheme) -> bool:
    rope, factor, length, _ = other.setting.published
    with contextlib.suppress(ValueError):
        at = spectrum(Request(rope, scheme.name, {**scheme.params, "factor": factor}, length))
        return _has(other, replace(scheme, inv_freq=at.inv_freq))
    return False


def _has(given: ComparedColumn, scheme: PublishedScheme) -> bool:
    return has_frequencies(given.inv_freq, scheme, given.setting.rope, given.setting.factor)


def _has_again(other: ComparedColumn, shown: PublishedScheme) -> bool:
    there = mistaken_schemes(*other.setting.published)
    same = (each for each in there if (each.name, each.mistake) == (shown.name, shown.mistake))
    return any(each.switches == shown.switches and _has(other, each) for each in same)


def unlike_pair(given: ComparedColumn, name: str, mistake: str = "") -> int | None:
    """Return the pair at which a column is furthest from a scheme, however its switches are; None where it is that."""
    at = given.setting.published
    schemes = mistaken_schemes(*at) if mistake else published_schemes(*at)
    same = [each for each in schemes if (each.name, each.mistake) == (name, mistake)]
    if any(_has(given, each) for each in same):
        return None
    return next((_difference(given.inv_freq, each.inv_freq, 1.0).pair for each in same), None)


def like_row(given: ComparedColumn, nearest: NearestScheme) -> ColumnCheck:
    """Return the row that holds a column to a scheme; required where it is named, or where a mistake is shown twice."""
    f, scheme, allowed = given.inv_freq, nearest.scheme, given.setting.allowed["like"]
    by_pair = margins.like(f, scheme.inv_freq, allowed)
    pair, margin = int(by_pair.argmin()), float(by_pair.min())
    with np.errstate(all="ignore"):
        ratio = float(np.nan_to_num(f[pair] / scheme.inv_freq[pair], nan=0.0, posinf=0.0))
    measured = max(ratio, 1.0 / ratio) - 1.0 if ratio > 0 else math.inf
    required = bool(given.setting.like) or (nearest.mistake != "" and nearest.again)
    values = {"scheme": scheme.name, "mistake": nearest.mistake, "again": nearest.again}
    return ColumnCheck(
        "like", margin, margin >= 0, pair, required, False, values, tuple(by_pair.tolist()), measured, allowed
    )
