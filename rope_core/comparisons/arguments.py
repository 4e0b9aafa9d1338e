"""Whether a function follows its arguments: it is run at another model's geometry and compared with itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.columns import ARGUMENTS, ComparisonColumn, InvFreqShapeError
from rope_core.comparisons.evaluate import evaluate_column
from rope_core.comparisons.nearest import nearest_scheme, unlike_pair
from rope_core.comparisons.rows import UNTRAINED, ColumnCheck, ComparedColumn, ComparisonSetting, checks
from rope_core.comparisons.source import literal_line, takes_config
from rope_core.rope import MAX_LEN, Array, Rope

MOST_GROWTH = 1.1
"""By how much more than the factor itself a slow-down may grow with it."""


def arguments_row(here: ComparedColumn) -> tuple[ColumnCheck, ComparedColumn | None]:
    """Return the row of the same function at another geometry, where a literal in an argument's place shows, and that.

    Half the dimension where it answers that, the base 50 times as large, the trained length 4 times, the factor 2
    times: each check that holds here has to hold there, and a published scheme, or one with a known mistake, to be the
    same there. A function that does not take base and trained length is for one model, and nothing is required of it.
    """
    column, own = here.column, here.setting
    there = other_setting(own)
    values: dict[str, Any] = {"unread": [name for name in ARGUMENTS[:4] if name not in (column.takes or ())]}
    meant = not {"base", "train_len"} & {*values["unread"]}
    try:
        again = held_again(here, there)
        narrow, is_width_fixed = _held_at_half_width(here)
        if narrow is not None and (_least_margin(again) >= 0 or _least_margin(narrow) < 0):
            again = narrow
        other = again.setting.rope
        values |= {"dim": other.dim, "base": other.base, "train_len": other.train_len, "factor": again.setting.factor}
        unused = values["without_effect"] = [*(["dim"] if is_width_fixed else []), *_without_effect(column, own)]
    except ValueError as error:
        values |= {"error": str(error), "base": there.rope.base}
        return ColumnCheck("arguments", -margins.MOST, False, None, meant, values=values), None
    worst = min(again.rows, key=lambda row: row.margin or 0.0, default=None)
    if worst is None or worst.margin is None:
        return ColumnCheck("arguments", None, None, None, False, values=values), again
    margin, pair = worst.margin, worst.pair
    if is_width_fixed:
        margin = min(margin, -1.0)
    elif margin < 0:
        values["check"] = worst.key
    elif not column.source and (nearest := nearest_scheme(here)).is_exact:
        off = unlike_pair(again, nearest.scheme.name, nearest.mistake)
        if off is not None:
            margin, pair = -1.0, off
            values |= {"alike": nearest.scheme.name, "pair": off}
    f, a = column.at(own.rope, there.factor, own.length)
    if "factor" in unused and column.code and not takes_config(column.code, column.function):
        # Twice the factor asks for slow-downs that are up to a bit larger, and changes nothing at all.
        margin = min(margin, -1.0) if a == here.attention_factor else margin
        meant = meant or a == here.attention_factor
    grown = np.nan_to_num(here.inv_freq / f, nan=0.0, posinf=0.0)
    if margin >= 0 and grown.max() > 2.0 * MOST_GROWTH and not column.source and not here.broken:
        margin, pair = -1.0, int(grown.argmax())
        values |= {"grown": float(grown[pair]), "pair": pair}
    if margin < 0:
        here_values = dict(zip(ARGUMENTS, own.geometry, strict=True))
        line = literal_line(column.code, [here_values[name] for name in unused or ("dim",)], column.function)
        shown = line and (unused or str(own.rope.dim) in line.words.split(", "))
        values["line"] = asdict(line) if line and shown else None
    return ColumnCheck("arguments", margin, margin >= 0, pair, meant, values=values), again


def _held_at_half_width(here: ComparedColumn) -> tuple[ComparedColumn | None, bool]:
    """Return the column at half the dimension, None where it has no answer, and whether it then takes no notice of it.

    A table of one width raises whatever it does at another, and is not accused of that; a function that answers half
    the dimension with as many frequencies as the whole is.
    """
    own = here.setting
    there = other_setting(own, max(2, own.rope.dim // 4 * 2))
    try:
        return held_again(here, there), False
    except ValueError as error:
        return None, isinstance(error, InvFreqShapeError) and error.value == (own.rope.pairs,)


def _least_margin(compared: ComparedColumn) -> float:
    return min((row.margin or 0.0 for row in compared.rows), default=0.0)


def other_setting(own: ComparisonSetting, dim: int | None = None) -> ComparisonSetting:
    """Return another model's setting: 50 times the base, 4 times the trained length, 2 times the factor."""
    other = Rope(dim or own.rope.dim, 50.0 * own.rope.base, 4 * own.rope.train_len)
    return replace(own, rope=other, factor=2 * own.factor, length=min(8 * own.length, MAX_LEN), trained_to=None)


def held_again(here: ComparedColumn, there: ComparisonSetting) -> ComparedColumn:
    """Return a column at another setting, with the required checks that hold here and have to hold there."""
    again, held = evaluate_column(here.column, there), {row.key for row in here.rows if row.holds}
    meant = (row for row in again.rows if row.required or checks()[row.key].get("warns"))
    kept = (row for row in meant if row.key in held and not (there.fine_tuned and row.key in UNTRAINED))
    return replace(again, rows=tuple(row for row in kept if row.key not in ("float32", "programs", "config")))


def _without_effect(column: ComparisonColumn, own: ComparisonSetting) -> Iterable[str]:
    """Yield arguments that a function takes and that change nothing."""
    rope, factor = own.rope, own.factor
    here = column.at(rope, factor, own.length)[0]
    tries: dict[str, Callable[[], tuple[Array, float]]] = {
        "base": lambda: column.at(Rope(rope.dim, 50.0 * rope.base, rope.train_len), factor, own.length),
        "train_len": lambda: column.at(Rope(rope.dim, rope.base, 4 * rope.train_len), factor, own.length),
        "factor": lambda: column.at(rope, 2.0 * factor, own.length),
    }
    for name, again in tries.items():
        if name in (column.takes or ()) and np.array_equal(again()[0], here, equal_nan=True):
            yield name
