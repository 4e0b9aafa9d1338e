"""What columns are compared at, a row for each check of a column, and the column with its rows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.columns import ComparisonColumn, FrequenciesAndFactor
from rope_core.comparisons.scheme_variants import NearestScheme, StatedScheme
from rope_core.languages import words
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import SCHEMES

# Checks that demand more of a model that is not trained on.
UNTRAINED = ("not_faster", "inside_arc", "resolution", "float32")
TRAINED_AWAY = (*UNTRAINED, "attention_factor")
OF_FREQUENCIES = (*UNTRAINED, "finite_positive", "monotone", "not_overslowed", "continuity", "like")
"""Checks that frequencies at one geometry decide alone."""


@cache
def checks() -> dict[str, dict[str, Any]]:
    """Return checks.toml: by key formula, threshold, relation, unit and source."""
    return tomllib.loads(resources.files("rope_core.comparisons").joinpath("checks.toml").read_text(encoding="utf-8"))


def check_text(key: str, name: str, lang: str = "en") -> str:
    """Return a text on a check; "" where there is none.

    ``name``: "title", "fault" (where it does not hold), "formula", "reason", "source", "counterexample", "measure".

    >>> check_text("monotone", "fault"), check_text("monotone", "relation")
    ('slow-down falls', '>=')
    """
    return str({**checks()[key], **words(lang, "comparison")["check"][key]}.get(name, ""))


def target_length(rope: Rope, factor: float, length: int | None = None) -> int:
    """Return the length that is aimed at, tokens: the one given, else factor times the trained one; at most MAX_LEN.

    >>> target_length(Rope(128, 10_000.0, 4096), 8.0)
    32768
    """
    return min(length or round(factor * rope.train_len), MAX_LEN)


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


@dataclass(frozen=True)
class ComparisonSetting:
    """What columns are compared at.

    Attributes:
        rope: geometry and trained length of the model.
        factor: what schemes are given.
        length: the target, tokens.
        trained_to: tokens that training covered, further training included.
        fine_tuned: whether the model is trained on with the scheme; None: as released ones are, and no other.
        thresholds: of each check, what it allows.
        like: the shipped scheme that functions and numbers are held to; "" for none.
        model: what the geometry is of, or "".
        stated: the scheme of the model's own config, and its parameters.
    """

    rope: Rope
    factor: float
    length: int
    trained_to: int | None = None
    fine_tuned: bool | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    like: str = ""
    model: str = ""
    stated: StatedScheme = ("", ())

    @property
    def geometry(self) -> tuple[int, float, int, float, int]:
        """Dimension, base, trained length, factor and target length: what a function is called with."""
        return self.rope.dim, float(self.rope.base), self.rope.train_len, float(self.factor), self.length

    @property
    def published(self) -> tuple[Rope, float, int, StatedScheme]:
        """Geometry, factor and target length: what published schemes are computed at, with the model's own."""
        return self.rope, self.factor, self.length, self.stated

    @property
    def trained(self) -> int:
        """Tokens that training covered: what was trained on with its scheme was trained at the target."""
        return self.trained_to or (max(self.length, self.rope.train_len) if self.fine_tuned else self.rope.train_len)

    @property
    def needed(self) -> float:
        """How many times slower a pair has to turn at most: the ratio of the lengths, or the factor."""
        return max(self.length / self.rope.train_len, self.factor)

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
        pair: the pair of the least margin; None for what is no pair's.
        excuse: why it need not hold, a key of the languages' [excuse]; "" where it has to.
        values: the numbers beside it.
        by_pair: the margin of each pair, () for what is no pair's.
        measured: what the limit bounds, at the pair of the least margin; None of what holds or does not.
        limit: the least or the greatest that is allowed, by the check's relation in checks.toml; None likewise.
    """

    key: str
    margin: float | None
    pair: int | None = None
    excuse: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    by_pair: tuple[float, ...] = ()
    measured: float | None = None
    limit: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the margin is at least 0; None where it cannot be tried."""
        return None if self.margin is None else self.margin >= 0

    @property
    def required(self) -> bool:
        """Whether the check is tried and has to hold."""
        return self.margin is not None and not self.excuse

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
        """Return a text on this check, as `check_text` does."""
        return check_text(self.key, name, lang)

    def excuse_text(self, lang: str = "en") -> str:
        """Return why the check need not hold; "" where it has to."""
        return str(words(lang, "comparison")["excuse"][self.excuse]) if self.excuse else ""


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column with its numbers and its rows, the least margin first among those required.

    inv_freq, theta and slowdown are float64 (pairs,); rad/token and dimensionless. answers: by length, inv_freq and
    attention factor there. other: the same at another geometry, where the check of arguments tried one. nearest: the
    published scheme that a function or numbers are held to, else that they are nearest to.
    """

    column: ComparisonColumn
    setting: ComparisonSetting
    answers: Mapping[int, FrequenciesAndFactor]
    rows: tuple[ColumnCheck, ...]
    other: ComparedColumn | None = None
    nearest: NearestScheme | None = None

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
        """The row with the least margin among those required; a difference from a scheme where no other is broken."""
        tried = [row for row in self.rows if row.required and row.margin is not None]
        others = [row for row in tried if row.key != "like"]
        rows = tried if any(row.broken for row in tried) and not any(row.broken for row in others) else others
        return min(rows, key=lambda row: row.margin or 0.0)

    @property
    def least_with_pair(self) -> ColumnCheck | None:
        """The row with the least margin among those that are required and are some pair's at this geometry."""
        if self.least.marked_pairs:
            return self.least
        tried = [row for row in self.rows if row.required and row.marked_pairs and row.key != "like"]
        return min(tried, key=lambda row: row.margin or 0.0, default=None)

    @property
    def broken(self) -> list[ColumnCheck]:
        """The rows that are required and do not hold."""
        return [row for row in self.rows if row.broken]

    @property
    def may_be_trained_on(self) -> bool:
        """Whether a config would be excused more, if its model was trained on with its scaling."""
        untrained = self.column.rope is not None and not self.setting.fine_tuned
        return untrained and any(row.holds is False for row in self.rows if row.key in UNTRAINED)

    @property
    def consequences(self) -> list[ColumnCheck]:
        """The rows that do not hold because of the known mistake that gives these frequencies; none without one.

        Frequencies are the mistake's at every pair, so what they break and the scheme as published holds is its doing.
        """
        if self.nearest is None or not self.nearest.mistake:
            return []
        holds = {*OF_FREQUENCIES} - SCHEMES[self.nearest.scheme.name].breaks
        return [row for row in self.rows if row.key in holds and row.holds is False]
