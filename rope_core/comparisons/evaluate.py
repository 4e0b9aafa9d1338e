"""The rows of a column at one setting: what each check measures, its margin, and whether it is required."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.columns import ComparisonColumn, FrequenciesAndFactor
from rope_core.comparisons.rows import TRAINED_AWAY, ColumnCheck, ComparedColumn, ComparisonSetting, checks
from rope_core.comparisons.source import SOFTMAX, line_of

DISTANCES = (1, 10, 100, 1000)
SAME = 1e-6
"""The relative difference up to which two frequencies are the same, as float32 may round them."""
OWN_ROWS = ("arguments", "like")
"""Checks whose rows are made elsewhere: they need the column at other arguments."""


def evaluate_column(column: ComparisonColumn, own: ComparisonSetting) -> ComparedColumn:
    """Return a column at one setting. Raises ValueError on a function that raises or answers something else there."""
    rope, refused = own.rope, dict[int, ValueError]()
    answers: dict[int, FrequenciesAndFactor] = {}
    for n in margins.lengths(rope.train_len, own.length):
        try:
            answers[n] = column.at(rope, own.factor, n)
        except ValueError as error:
            # What a short text is answered with is a check of its own.
            if n >= rope.train_len:
                raise
            answers[n], refused[n] = (np.full(rope.pairs, np.nan), 1.0), error
    f, a = answers[own.length]
    expected = column.expected(rope, own.factor) if column.expected else {}
    steady = bool(column.source or column.alike)
    margin_of = margins.every(
        answers.__getitem__, own.geometry, own.trained, [*expected.values()], own.allowed, steady=steady
    )
    changes = margins.continuity(answers.__getitem__, rope.train_len, own.allowed["continuity"], steady)
    jump = min(changes, key=lambda n: changes[n].min())
    read = _programs(column)
    if read is not None:
        apart = max((each["difference"] for each in read if not each["own_formula"]), default=0.0)
        margin_of["programs"] = np.asarray([np.log2((1 + own.allowed["programs"]) / (1 + min(apart, 1e18)))])
    if column.findings is not None:
        margin_of["config"] = np.asarray([-margins.MOST if column.findings else 1.0])
    nearest = min(expected, key=lambda source: abs(expected[source] - a), default=None)
    matches = "attention_factor" in margin_of and margin_of["attention_factor"][0] >= 0
    # DeepSeek leaves cos and sin alone and multiplies the softmax scale: code with a factor of 1 that says so.
    softmax = line_of(column.code, SOFTMAX) if column.alike and a == 1.0 and not matches else None
    distances = {str(n): [margins.agreement(f, n), margins.agreement(rope.theta, n)] for n in DISTANCES}
    values: dict[str, dict[str, Any]] = {
        "inside_arc": {"trained": own.trained, "length": own.length},
        "not_overslowed": {"needed": own.needed},
        "resolution": {"agreement": distances},
        "attention_factor": {
            "factor": a,
            "nearest": nearest,
            "source": nearest if matches else None,
            "softmax": asdict(softmax) if softmax else None,
            "twice": next(
                (name.partition(",")[0] for name, once in expected.items() if once != 1 and np.isclose(a, once * once)),
                None,
            ),
            "published": nearest.partition(",")[0] if nearest and column.alike and not matches else None,
            "expected": expected[nearest] if nearest else None,
        },
        "continuity": {
            "at": jump,
            "below": jump < rope.train_len,
            "error": str(refused[jump]) if jump in refused else "",
        },
        "float32": {
            "type": {2.0**-11: "float16", 2.0**-8: "bfloat16"}.get(margins.unit(f), ""),
            "float32_error": float(margins.angle_error(f, own.length).max()),
            "bfloat16_error": float(own.length * np.abs(f).max() * 2.0**-8),
        },
        "programs": {"programs": read},
        "config": {"findings": column.findings},
    }
    meant_by_release = column.known.issuperset(each.key for each in column.findings or ())
    worst = int(np.nanargmax(np.cos(f) - np.cos(rope.theta))) if np.all(np.isfinite(f)) else 0

    def row(key: str) -> ColumnCheck:
        by_pair = margin_of.get(key)
        if by_pair is None:
            return ColumnCheck(key, None, values=values.get(key, {}))
        pair = int(np.argmin(by_pair)) if by_pair.size == rope.pairs > 1 else worst if key == "resolution" else None
        margin = float(by_pair.min())
        design = margin < 0 and (
            key in column.breaks
            or (key == "config" and meant_by_release)
            or (key == "programs" and column.released != "")
            or (key == "attention_factor" and (softmax is not None or column.released != ""))
        )
        excuse = "trained" if own.fine_tuned and key in TRAINED_AWAY else "warns" if checks()[key].get("warns") else ""
        excuse = "published" if design else excuse
        more = values.get(key, {})
        seen, limit = _measured(key, margin, own) if key != "attention_factor" else (a, None)
        by = tuple(by_pair.tolist())
        if key == "continuity" and not np.all(np.isfinite(answers[jump][0])):
            seen = None
        return ColumnCheck(key, margin, pair, excuse, more, by, seen, limit)

    return ComparedColumn(column, own, answers, tuple(row(key) for key in checks() if key not in OWN_ROWS))


def _measured(key: str, margin: float, own: ComparisonSetting) -> tuple[float | None, float | None]:
    """Return what a margin in bits was measured from, and its limit."""
    relation, allowed = checks()[key].get("relation"), own.allowed.get(key, 0.0)
    if relation is None:
        return None, None
    if relation == ">=":
        return 2.0**margin / allowed / (1.0 + margins.ROUNDING), 1.0 / allowed
    if relation == "within":
        return (1.0 + allowed) * 2.0**-margin - 1.0, allowed
    limit = allowed * (own.needed if key == "not_overslowed" else 1.0)
    return limit * 2.0**-margin * (1.0 + margins.ROUNDING), limit


def _programs(column: ComparisonColumn) -> list[dict[str, Any]] | None:
    """Return the programs that compute other numbers from a config than transformers 5.24, and what each takes.

    "own_formula" is true of one that does so whatever this config says: it has no such scaling, chooses LongRoPE's list
    by its context, or is an older release.
    """
    if column.programs is None:
        return None
    first, apart = column.programs[0], []
    for each in column.programs:
        difference = max(each.difference or 0.0, each.attention_difference or 0.0)
        if difference <= SAME or each.inv_freq is None or first.inv_freq is None:
            continue
        alike = each.inv_freq.size == first.inv_freq.size
        # The pair whose difference is the one measured, which is relative; a pair at rest has none.
        rest = np.where(first.inv_freq == 0, 1.0, np.abs(first.inv_freq))
        pair = int((np.abs(each.inv_freq - first.inv_freq) / rest).argmax()) if alike else 0
        apart.append(
            {
                "name": each.name,
                "difference": difference,
                "own_formula": each.own_formula,
                "pair": pair,
                "inv_freq": float(each.inv_freq[pair]),
                "inv_freq_transformers": float(first.inv_freq[pair]),
                "attention_factor": each.attention_factor,
                "result": each,
            }
        )
    return apart
