"""Whether a function follows its arguments: it is run at another model's geometry and compared with itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.columns import ARGUMENTS, ComparisonColumn, FrequenciesAndFactor, InvFreqShapeError
from rope_core.comparisons.evaluate import evaluate_column
from rope_core.comparisons.nearest import exact_schemes, unlike_pair
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn, ComparisonSetting, target_length
from rope_core.comparisons.scheme_variants import NearestScheme
from rope_core.comparisons.source import MAX_POSITION, line_of, literal_line, literal_values
from rope_core.rope import MAX_LEN, Array, Rope

LITERALS = 8
"""How many literals of a function are tried in the place of arguments."""
MOST_GROWTH = 1.1
"""By how much more than the factor itself a slow-down may grow with it."""


@dataclass(frozen=True)
class Rerun:
    """A column at another geometry: half the dimension where it answers that.

    Attributes:
        compared: the column there; None where it raises.
        is_width_fixed: whether it answers half the dimension with as many frequencies as the whole.
        error: what it raises there, or "".
    """

    compared: ComparedColumn | None
    is_width_fixed: bool = False
    error: str = ""


def run_elsewhere(here: ComparedColumn) -> Rerun:
    """Return a column at another geometry; a table of one width is not accused of raising at another."""
    own, is_width_fixed = here.setting, False
    try:
        whole = evaluate_column(here.column, other_setting(own))
    except ValueError as error:
        return Rerun(None, error=str(error))
    try:
        whole = evaluate_column(here.column, other_setting(own, max(2, own.rope.dim // 4 * 2)))
    except ValueError as error:
        is_width_fixed = isinstance(error, InvFreqShapeError) and error.value == (own.rope.pairs,)
    return Rerun(whole, is_width_fixed)


def arguments_row(
    here: ComparedColumn, there: Rerun, nearest: NearestScheme | None = None
) -> tuple[ColumnCheck, ComparedColumn | None]:
    """Return the row of the same function at another geometry, where a literal in an argument's place shows, and that.

    The base 50 times as large, the trained length 4 times, the factor 2 times. What is a published scheme here, or one
    with a known mistake, has to be the same there; of any other each required check that holds has to hold there.
    A function that does not take base and trained length is for one model, and is not held to another.
    """
    column, own = here.column, here.setting
    values: dict[str, Any] = {"unread": [name for name in ARGUMENTS[:4] if name not in (column.takes or ())]}
    meant = not {"base", "train_len"} & {*values["unread"]}
    other = other_setting(own)
    if there.compared is None:
        values |= {"error": there.error, "base": other.rope.base}
        return ColumnCheck("arguments", -margins.MOST if meant else None, values=values), None
    again = held_again(here, there.compared.setting)
    rope = again.setting.rope
    values |= {"dim": rope.dim, "base": rope.base, "train_len": rope.train_len, "factor": again.setting.factor}
    try:
        unused = values["without_effect"] = [*(["dim"] if there.is_width_fixed else []), *_without_effect(column, own)]
        f, a = column.at(own.rope, other.factor, own.length)
    except ValueError as error:
        values |= {"error": str(error), "base": own.rope.base}
        return ColumnCheck("arguments", -margins.MOST if meant else None, values=values), again
    worst = min(again.rows, key=lambda row: row.margin or 0.0, default=None)
    margin, pair = (0.0, None) if worst is None or worst.margin is None else (worst.margin, worst.pair)
    if nearest is not None and nearest.alike:
        off = unlike_pair(again, nearest, own.factor)
        margin, pair = (1.0, None) if off is None else (-1.0, off)
        values |= {} if off is None else {"alike": nearest.scheme.name, "pair": off}
        if off is None and (there_a := factor_that_changes(here, again, nearest)) is not None:
            margin, line = -1.0, literal_line(column.code, [here.attention_factor], column.function)
            values |= {"alike": nearest.scheme.name, "constant": here.attention_factor, "wanted": there_a}
            values["line"] = asdict(line) if line else None
    elif margin < 0 and worst is not None:
        values["check"] = worst.key
    if there.is_width_fixed:
        margin = min(margin, -1.0)
    if "factor" in unused and a == here.attention_factor and column.code and column.at_max is None:
        # Twice the factor asks for slow-downs that are up to a bit larger, and changes nothing at all.
        margin, meant = min(margin, -1.0), True
    grown = np.nan_to_num(here.inv_freq / f, nan=0.0, posinf=0.0)
    free = not column.source and not (nearest and nearest.alike) and not here.broken
    if free and margin >= 0 and grown.max() > 2.0 * MOST_GROWTH:
        margin, pair = -1.0, int(grown.argmax())
        values |= {"grown": float(grown[pair]), "pair": pair}
    if length_read(column, own) == "longest":
        margin, line = -1.0, line_of(column.code, MAX_POSITION, column.function)
        values["max_position"] = asdict(line) if line else {"number": 0, "text": ""}
    elif not column.source and not (nearest and nearest.alike) and (literal := literal_that_is_meant(here)):
        margin = -1.0
        values |= literal
    elif margin < 0 and "constant" not in values:
        here_values = dict(zip(ARGUMENTS, own.geometry, strict=True))
        wanted = [here_values[name] for name in unused or ARGUMENTS[:4]]
        line = literal_line(column.code, wanted, column.function)
        shown = line and (unused or {*line.values} & {*wanted})
        values["line"] = asdict(line) if line and shown else None
    return ColumnCheck("arguments", margin if meant else None, pair, values=values), again


def factor_that_changes(here: ComparedColumn, again: ComparedColumn, nearest: NearestScheme) -> float | None:
    """Return a published scheme's attention factor at other arguments where a column keeps that of these; None else."""
    a = here.attention_factor
    if nearest.mistake or "attention_factor" in here.column.config_fields or a != again.attention_factor:
        return None
    if not np.isclose(a, nearest.scheme.attention_factor, 1e-4, 0.0):
        return None
    there = [each for each in exact_schemes(again) if each.name == nearest.scheme.name and not each.mistake]
    if not there or any(np.isclose(a, each.attention_factor, 1e-4, 0.0) for each in there):
        return None
    return there[0].attention_factor


def literal_that_is_meant(here: ComparedColumn) -> dict[str, Any]:
    """Return the literal of a function that makes it a published scheme where the argument has its value; {} for none.

    Under "literal" the argument, its value and the scheme, under "line" the line of code.
    """
    column = here.column
    for name, value, setting in literal_settings(column.code, here.setting, column.function):
        with contextlib.suppress(ValueError):
            exact = exact_schemes(evaluate_column(column, setting))
            line = literal_line(column.code, [value], column.function)
            if exact and not exact[0].mistake and line is not None:
                literal = {"argument": name, "value": f"{value:,g}", "alike": exact[0].name}
                return {"literal": literal, "line": asdict(line)}
    return {}


def literal_settings(
    code: str, own: ComparisonSetting, function: str = ""
) -> Iterator[tuple[str, float, ComparisonSetting]]:
    """Yield each literal that may be in the place of an argument: that argument, the literal, the setting there."""
    rope = own.rope
    for value in literal_values(code, function)[:LITERALS]:
        tries: dict[str, Callable[[float], Rope]] = {
            "base": lambda value: replace(rope, base=value),
            "train_len": lambda value: replace(rope, train_len=int(value)),
        }
        for name, rope_of in tries.items():
            if value >= 128 and value == int(value):
                with contextlib.suppress(ValueError):
                    other = rope_of(value)
                    yield name, value, replace(own, rope=other, length=target_length(other, own.factor))
        if 1.0 < value <= 128.0:
            yield "factor", value, replace(own, factor=value, length=target_length(rope, value))


def length_read(column: ComparisonColumn, own: ComparisonSetting) -> str:
    """Return which length a function takes from max_position_embeddings alone: "trained", "longest", or "" for neither.

    It takes no notice of the original length then. What changes with the length of the text past it means the trained
    one, as configs of dynamic schemes state it.
    """
    if (at := column.at_max) is None:
        return ""
    try:
        here, other, half, short = (at(rope, own.factor, n, max_len) for rope, n, max_len in tried_lengths(own.rope))
    except ValueError:
        return ""
    if not _same(here, other) or _same(here, half):
        return ""
    return "longest" if _same(here, short) else "trained"


def tried_lengths(rope: Rope) -> list[tuple[Rope, int, int]]:
    """Return what a function of a config is run at: geometry, length of the text, max_position_embeddings.

    A text past all lengths; another original length; half the longest; a text within all. The longest is above both
    original ones: a factor that is their ratio, at least 1, has to show.
    """
    n, longer = rope.train_len, replace(rope, train_len=2 * rope.train_len)
    return [(rope, 16 * n, 8 * n), (longer, 16 * n, 8 * n), (rope, 16 * n, 4 * n), (rope, n, 8 * n)]


def by_trained_length(column: ComparisonColumn) -> ComparisonColumn:
    """Return a function of a config with max_position_embeddings as the trained length, whatever the factor is."""
    at_max = column.at_max
    assert at_max is not None

    def at(rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
        return at_max(rope, factor, length, rope.train_len)

    return replace(column, at=at, at_max=None, config_fields={**column.config_fields, "reach": 0})


def _same(here: FrequenciesAndFactor, other: FrequenciesAndFactor) -> bool:
    return here[1] == other[1] and np.array_equal(here[0], other[0], equal_nan=True)


def other_setting(own: ComparisonSetting, dim: int | None = None) -> ComparisonSetting:
    """Return another model's setting: 50 times the base, 4 times the trained length, 2 times the factor."""
    other = Rope(dim or own.rope.dim, 50.0 * own.rope.base, 4 * own.rope.train_len)
    return replace(own, rope=other, factor=2 * own.factor, length=min(8 * own.length, MAX_LEN), trained_to=None)


def held_again(here: ComparedColumn, there: ComparisonSetting) -> ComparedColumn:
    """Return a column at another setting, with the checks that hold here and are required there."""
    again, held = evaluate_column(here.column, there), {row.key for row in here.rows if row.holds}
    kept = (row for row in again.rows if row.required and row.key in held)
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
