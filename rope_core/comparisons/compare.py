"""Columns side by side: a row of margins for each check, none of which is a verdict on the whole column."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.columns import (
    ARGUMENTS,
    ComparisonColumn,
    FrequenciesAndFactor,
    column,
    nearest_names,
    of_config,
)
from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.hf.catalogue import released_model as catalogued
from rope_core.hf.catalogue import released_models
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import FACTOR

MODEL = "llama-2-7b"
# Checks that demand more of a model that is not trained on.
UNTRAINED = ("not_faster", "inside_arc", "resolution", "float32")
DISTANCES = (1, 10, 100, 1000)
SAME = 1e-6
"""The relative difference up to which two frequencies are one, as float32 may round them."""


@dataclass(frozen=True)
class ComparisonSetting:
    """What columns are compared at.

    Attributes:
        rope: geometry and trained length of the model.
        factor: what schemes are given.
        length: the target, tokens.
        trained_to: tokens that training covered, further training included.
        fine_tuned: whether the model is trained on with the scheme; None where each column says so itself.
        thresholds: of each check, what it allows.
    """

    rope: Rope
    factor: float
    length: int
    trained_to: int | None = None
    fine_tuned: bool | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @property
    def geometry(self) -> tuple[int, float, int, float, int]:
        """Dimension, base, trained length, factor and target length: what a function is called with."""
        return self.rope.dim, float(self.rope.base), self.rope.train_len, float(self.factor), self.length

    @property
    def trained(self) -> int:
        """Tokens that training covered."""
        return self.trained_to or self.rope.train_len

    @property
    def allowed(self) -> dict[str, float]:
        """What each check with a threshold allows: the one given, else that of checks.toml."""
        known = {key: row["threshold"] for key, row in checks().items() if "threshold" in row}
        return {**known, **self.thresholds}


@dataclass(frozen=True)
class ColumnCheck:
    """One check of one column.

    Attributes:
        key: of checks.toml.
        margin: bits, log2 of a ratio; below 0 where the check does not hold. None where it cannot be tried.
        holds: whether the margin is at least 0; None likewise.
        pair: the pair of the least margin; None for what is no pair's.
        required: whether the setting asks for it, and the column is not known to break it by design.
        by_design: whether the published scheme does not hold it either.
        values: the numbers beside it.
        by_pair: the margin of each pair, () for what is no pair's.
    """

    key: str
    margin: float | None
    holds: bool | None
    pair: int | None
    required: bool
    by_design: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    by_pair: tuple[float, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the check is required and does not hold."""
        return self.required and self.holds is False

    @property
    def marked_pairs(self) -> tuple[int, ...]:
        """The pairs where it does not hold, else that of the least margin; () for what is no pair's here."""
        if self.pair is None or not self.by_pair:
            return ()
        below = tuple(pair for pair, margin in enumerate(self.by_pair) if margin < 0) if len(self.by_pair) > 1 else ()
        return below or (self.pair,)

    def text(self, name: str, lang: str = "en") -> str:
        """Return a text of checks.toml on this check.

        ``name``: "title", "fault" (where it does not hold), "formula", "reason", "source", "counterexample".
        """
        row = checks()[self.key]
        text = row.get(name, row.get(lang, {}).get(name, ""))
        return str(text)


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column with its numbers and its rows, the least margin first among those required.

    inv_freq, theta and slowdown are float64 (pairs,); rad/token and dimensionless. answers: by length, inv_freq and
    attention factor there. other: the same at another geometry, where the check of arguments tried one.
    """

    column: ComparisonColumn
    setting: ComparisonSetting
    answers: Mapping[int, FrequenciesAndFactor]
    rows: tuple[ColumnCheck, ...]
    other: ComparedColumn | None = None

    @property
    def inv_freq(self) -> Array:
        """At the target length."""
        return self.answers[self.setting.length][0]

    @property
    def attention_factor(self) -> float:
        """At the target length: what cos and sin are multiplied by."""
        return self.answers[self.setting.length][1]

    @property
    def slowdown(self) -> Array:
        """theta / inv_freq; infinite for a pair of 0, negative for one that turns back."""
        with np.errstate(all="ignore"):
            return np.asarray(margins.slowdown(self.inv_freq, self.setting.rope.theta))

    @property
    def least(self) -> ColumnCheck:
        """The row with the least margin among those that are required."""
        tried = [(row.margin, row) for row in self.rows if row.required and row.margin is not None]
        return min(tried, key=itemgetter(0))[1]

    @property
    def least_with_pair(self) -> ColumnCheck | None:
        """The row with the least margin among those that are required and are some pair's at this geometry."""
        tried = [row for row in self.rows if row.required and row.marked_pairs]
        return min(tried, key=lambda row: row.margin or 0.0, default=None)

    @property
    def broken(self) -> list[ColumnCheck]:
        """The rows that are required and do not hold."""
        return [row for row in self.rows if row.broken]


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


@cache
def checks() -> dict[str, dict[str, Any]]:
    """Return checks.toml: by key formula, threshold, source and, by language, title, reason and counter-example."""
    return tomllib.loads(resources.files("rope_core.comparisons").joinpath("checks.toml").read_text(encoding="utf-8"))


def compare(
    *given: object,
    model: object = None,
    factor: float | None = None,
    length: int | None = None,
    trained_to: int | None = None,
    fine_tuned: bool | None = None,
    thresholds: Mapping[str, float] | None = None,
) -> list[ComparedColumn]:
    """Return the margins of each check for schemes, configs, frequencies and functions, side by side.

    Args:
        given: a scheme's name; a model of the catalogue; a config (dict, path); frequencies (pairs,), rad/token; the
            path of a file .npy, .csv, .safetensors or FILE.py[:FUNCTION], whose code runs in a process of its own; or a
            function of this process. A function takes (dim, base, train_len, factor), seq_len besides where it follows
            the length, or is one as in transformers' modeling_rope_utils; it returns inv_freq or (inv_freq,
            attention_factor).
        model: a model of the catalogue, or a config, whose geometry counts; Llama 2 7B where nothing is given.
        factor: what schemes are given; the ratio of the lengths, or 4, as on the page.
        length: the target, tokens; factor times the trained length.
        trained_to: tokens that training covered, where the model was trained on at a longer length.
        fine_tuned: whether it is trained on with the scheme, which asks less; by default configs are, others are not.
        thresholds: other values than those of checks.toml, by key.

    Raises:
        ValueError: on what is no column, code that raises, or a geometry that does not fit.

    >>> linear, ntk = compare("linear", "ntk", factor=8)
    >>> [(row.key, row.pair) for row in linear.rows if row.holds is False]
    [('resolution', 0)]
    >>> [row.key for row in ntk.rows if row.by_design]
    ['inside_arc']
    """
    if not given:
        raise argument_error("given", "at least one column", given)
    setting = _setting(model, factor, length, trained_to, fine_tuned, thresholds or {})
    with contextlib.ExitStack() as stack:
        return [compare_column(stack.enter_context(column(each)), setting) for each in given]


def _setting(
    model: object,
    factor: float | None,
    length: int | None,
    trained_to: int | None,
    fine_tuned: bool | None,
    thresholds: Mapping[str, float],
) -> ComparisonSetting:
    known = [key for key, row in checks().items() if "threshold" in row]
    for key in thresholds:
        if key not in known:
            raise argument_error("thresholds", "one_of", key, names=known)
    values = {key: checked_finite(f"thresholds.{key}", value) for key, value in thresholds.items()}
    ids = [each.id for each in released_models()]
    by_id = model is None or (isinstance(model, str) and model in ids)
    if isinstance(model, str) and not by_id and not Path(model).exists():
        raise argument_error("model", "model_near", model, names=nearest_names(model, ids))
    config = catalogued(str(model or MODEL)).hf_config() if by_id else model
    rope = of_config("model", config).rope
    assert rope is not None
    if factor is not None:
        factor = checked_finite("factor", factor)
        if not 1.0 <= factor <= 4096.0:
            raise argument_error("factor", "a number in [1, 4096]", factor)
    if length is not None:
        length = checked_int("length", length, 1, MAX_LEN)
    if trained_to is not None:
        trained_to = checked_int("trained_to", trained_to, 1, MAX_LEN)
    ratio = factor or (max(1.0, length / rope.train_len) if length else checked_finite("factor", FACTOR.default))
    return ComparisonSetting(rope, ratio, target_length(rope, ratio, length), trained_to, fine_tuned, values)


def target_length(rope: Rope, factor: float, length: int | None = None) -> int:
    """Return the length that is aimed at, tokens: the one given, else factor times the trained one; at most MAX_LEN.

    >>> target_length(Rope(128, 10_000.0, 4096), 8.0)
    32768
    """
    return min(length or round(factor * rope.train_len), MAX_LEN)


def compare_column(column: ComparisonColumn, setting: ComparisonSetting) -> ComparedColumn:
    """Return a column's rows; one with a geometry of its own is judged at that."""
    own = ComparisonSetting(
        column.rope or setting.rope,
        column.factor or setting.factor,
        column.length or setting.length,
        setting.trained_to,
        column.rope is not None if setting.fine_tuned is None else setting.fine_tuned,
        setting.thresholds,
    )
    with np.errstate(all="ignore"):
        here = _at(column, own)
        if column.takes is None:
            return here
        row, other = _elsewhere(here)
    return replace(here, rows=(*here.rows, row), other=other)


def _at(column: ComparisonColumn, own: ComparisonSetting) -> ComparedColumn:
    """Return a column at one setting. Raises ValueError on a function that raises or answers something else there."""
    rope = own.rope
    answers = {n: column.at(rope, own.factor, n) for n in {own.length, rope.train_len, rope.train_len + 1}}
    f, a = answers[own.length]
    expected = column.expected(rope, own.factor) if column.expected else {}
    margin_of = margins.every(answers.__getitem__, own.geometry, own.trained, [*expected.values()], own.allowed)
    apart = column.programs
    if apart is not None:
        margin_of["programs"] = np.asarray([np.log2((1 + own.allowed["programs"]) / (1 + min(apart, 1e18)))])
    nearest = min(expected, key=lambda source: abs(expected[source] - a), default=None)
    matches = "attention_factor" in margin_of and margin_of["attention_factor"][0] >= 0
    distances = {str(n): [margins.agreement(f, n), margins.agreement(rope.theta, n)] for n in DISTANCES}
    values: dict[str, dict[str, Any]] = {
        "inside_arc": {"trained": own.trained, "length": own.length},
        "not_overslowed": {"needed": max(own.length / rope.train_len, own.factor)},
        "resolution": {"agreement": distances},
        "attention_factor": {"factor": a, "nearest": nearest, "source": nearest if matches else None},
        "float32": {
            "float32_error": float(margins.angle_error(f, own.length).max()),
            "bfloat16_error": float(own.length * np.abs(f).max() * 2.0**-8),
        },
        "programs": {"difference": apart},
    }
    worst = int(np.nanargmax(np.cos(f) - np.cos(rope.theta))) if np.all(np.isfinite(f)) else 0

    def row(key: str) -> ColumnCheck:
        by_pair = margin_of.get(key)
        if by_pair is None:
            return ColumnCheck(key, None, None, None, False, values=values[key])
        pair = int(np.argmin(by_pair)) if by_pair.size == rope.pairs > 1 else worst if key == "resolution" else None
        margin = float(by_pair.min())
        design = key in column.breaks and margin < 0
        meant = not (own.fine_tuned and key in UNTRAINED) and key != "programs"
        more = values.get(key, {})
        return ColumnCheck(key, margin, margin >= 0, pair, meant and not design, design, more, tuple(by_pair.tolist()))

    return ComparedColumn(column, own, answers, tuple(row(key) for key in checks() if key != "arguments"))


def _elsewhere(here: ComparedColumn) -> tuple[ColumnCheck, ComparedColumn | None]:
    """Return the row of the same function at another geometry, where a literal in an argument's place shows, and that.

    The base 50 times as large, the trained length 4 times, the factor 2 times: each check that holds here has to hold
    there. A function that does not take base and trained length is for one model, and nothing is required of it.
    """
    column, own = here.column, here.setting
    other = Rope(own.rope.dim, 50.0 * own.rope.base, 4 * own.rope.train_len)
    there = replace(own, rope=other, factor=2 * own.factor, length=min(8 * own.length, MAX_LEN), trained_to=None)
    unread = [name for name in ARGUMENTS[:4] if name not in (column.takes or ())]
    values: dict[str, Any] = {
        "unread": unread,
        "base": other.base,
        "train_len": other.train_len,
        "factor": there.factor,
    }
    meant = not {"base", "train_len"} & {*unread}
    try:
        again = _at(column, there)
        values["without_effect"] = [*_without_effect(column, own)]
    except ValueError as error:
        return ColumnCheck("arguments", -margins.MOST, False, None, meant, values={**values, "error": str(error)}), None
    held = {row.key for row in here.rows if row.holds}
    kept = [row for row in again.rows if row.key in held and row.required and row.key != "float32"]
    again = replace(again, rows=tuple(kept))
    worst = min(kept, key=lambda row: row.margin or 0.0, default=None)
    if worst is None or worst.margin is None:
        return ColumnCheck("arguments", None, None, None, False, values=values), again
    values["check"] = worst.key
    return ColumnCheck("arguments", worst.margin, worst.margin >= 0, worst.pair, meant, values=values), again


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


def difference(a: ComparedColumn, b: ComparedColumn) -> Difference:
    """Return where the frequencies of two columns of one geometry differ.

    >>> yarn, parts = compare("yarn", "ntk_by_parts", factor=8)
    >>> difference(yarn, parts).pair, round(difference(yarn, parts).attention_ratio, 3)
    (36, 1.208)
    """
    with np.errstate(all="ignore"):
        ratio = a.inv_freq / b.inv_freq
        same = np.isclose(a.inv_freq, b.inv_freq, rtol=SAME, atol=0.0, equal_nan=True)
        apart = np.where(same, 0.0, np.nan_to_num(np.abs(np.log(np.abs(ratio))), nan=np.inf))
    pair = None if same.all() else int(apart.argmax())
    return Difference(
        tuple(np.flatnonzero(same).tolist()),
        tuple(np.flatnonzero(~same).tolist()),
        pair,
        1.0 if pair is None else float(ratio[pair]),
        a.attention_factor / b.attention_factor,
    )


def runs_of(pairs: Iterable[int]) -> str:
    """Return pairs as runs.

    >>> runs_of([0, 1, 2, 7])
    '0–2, 7'
    """
    runs: list[list[int]] = []
    for pair in pairs:
        if runs and pair == runs[-1][1] + 1:
            runs[-1][1] = pair
        else:
            runs.append([pair, pair])
    return ", ".join(f"{a}–{b}" if b > a else str(a) for a, b in runs)


def least_margins(
    column: ComparisonColumn, setting: ComparisonSetting, factors: Sequence[float], lengths: Sequence[int], key: str
) -> Array:
    """Return the margin of a check at each target length and factor, bits, (lengths, factors); nan where untried."""
    least = np.full((len(lengths), len(factors)), np.nan)
    for i, length in enumerate(lengths):
        for j, factor in enumerate(factors):
            own = replace(setting, factor=factor, length=length)
            try:
                with np.errstate(all="ignore"):
                    rows = _at(column, own).rows
            except ValueError:
                continue
            margin = next((row.margin for row in rows if row.key == key), None)
            least[i, j] = np.nan if margin is None else margin
    return least
