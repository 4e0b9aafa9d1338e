"""Columns side by side: a row of margins for each check, none of which is a verdict on the whole column."""

from __future__ import annotations

import contextlib
import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from rope_core.comparisons.source import literal_line, one_sided_line, takes_config
from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.hf.catalogue import released_model as catalogued
from rope_core.hf.catalogue import released_models
from rope_core.languages import LANGUAGES
from rope_core.programs.engines import engine_sentences
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import FACTOR, SCHEMES
from rope_core.spectrum import Request, spectrum

MODEL = "llama-2-7b"
# Checks that demand more of a model that is not trained on.
UNTRAINED = ("not_faster", "inside_arc", "resolution", "float32")
# Checks that a ramp without a lower or an upper bound breaks.
ONE_SIDED = ("finite_positive", "not_faster", "not_overslowed")
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
        fine_tuned: whether the model is trained on with the scheme; None: as released ones are, and no other.
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
        holds: whether the margin is at least 0; None likewise.
        pair: the pair of the least margin; None for what is no pair's.
        required: whether the setting asks for it, and the column is not known to break it by design.
        by_design: whether the published scheme does not hold it either.
        values: the numbers beside it.
        by_pair: the margin of each pair, () for what is no pair's.
        measured: what the limit bounds, at the pair of the least margin; None of what holds or does not.
        limit: the least or the greatest that is allowed, by the check's relation in checks.toml; None likewise.
    """

    key: str
    margin: float | None
    holds: bool | None
    pair: int | None
    required: bool
    by_design: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    by_pair: tuple[float, ...] = ()
    measured: float | None = None
    limit: float | None = None

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

    def details(self, lang: str = "en") -> list[str]:
        """Return a sentence for each finding on a config, by field, and for each program that reads it otherwise."""
        slots: list[dict[str, Any]] = [
            {"field": each.field, **{part: getattr(each, part)(lang) for part in ("title", "change")}}
            for each in self.values.get("findings") or ()
        ]
        slots += [each for each in self._programs(lang) if not each["own_formula"]]
        return [self.text("detail", lang).format_map(each) for each in slots]

    def notes(self, lang: str = "en") -> list[str]:
        """Return a sentence for each program that computes another formula whatever the config says."""
        return [self.text("note", lang).format_map(each) for each in self._programs(lang) if each["own_formula"]]

    def _programs(self, lang: str) -> list[dict[str, Any]]:
        return [{**each, "why": "; ".join(each[lang])} for each in self.values.get("programs") or ()]


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
        fine_tuned: whether it is trained on with the scheme, which asks less; by default released models are, and
            configs that turn as one does; others are not.
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
        return with_distinct_names(compare_column(stack.enter_context(column(each)), setting) for each in given)


def with_distinct_names(columns: Iterable[ComparedColumn]) -> list[ComparedColumn]:
    """Return columns of which no two have one name: a name that comes again has a number.

    >>> [each.column.name for each in compare("yarn", "yarn", "none")]
    ['yarn', 'yarn (2)', 'none']
    """
    distinct: list[ComparedColumn] = []
    for each in columns:
        name, known = each.column.name, {other.column.name for other in distinct}
        again = (f"{name} ({k})" for k in itertools.count(2))
        free = next(text for text in itertools.chain([name], again) if text not in known)
        distinct.append(replace(each, column=replace(each.column, name=free)))
    return distinct


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
        bool(column.released) if setting.fine_tuned is None else setting.fine_tuned,
        setting.thresholds,
    )
    with np.errstate(all="ignore"):
        here = _at(column, own)
        if column.takes is not None and not column.source:
            here = _at(column := _as_published(here), own)
        if column.takes is not None:
            row, other = _elsewhere(here)
            return replace(here, rows=(*map(_with_line(column), here.rows), row), other=other)
        with contextlib.suppress(ValueError):
            # What a config's scheme gives another model, for a function that is to be tested against it.
            return replace(here, other=_held_again(here, _other_setting(own))) if column.rope else here
    return here


def _as_published(here: ComparedColumn) -> ComparisonColumn:
    """Return a function's column, held to the attention factor of the shipped schemes whose frequencies it has.

    What has their factor too is excused what they are excused.
    """
    alike = list(_equal_schemes(here, here.answers))
    if not alike:
        return here.column

    def expected(rope: Rope, factor: float) -> dict[str, float]:
        requests = {
            name: Request(rope, name, params | ({"factor": factor} if "factor" in params else {}), rope.train_len + 1)
            for name, _, params in alike
        }
        return {SCHEMES[name].source: spectrum(each).attention_factor for name, each in requests.items()}

    given = expected(here.setting.rope, here.setting.factor)
    same = [name for name, *_ in alike if np.isclose(given[SCHEMES[name].source], here.attention_factor, rtol=1e-3)]
    breaks = frozenset().union(*(SCHEMES[name].breaks for name in same))
    return replace(here.column, expected=expected, breaks=breaks, alike=alike[0][0])


def _with_line(column: ComparisonColumn) -> Callable[[ColumnCheck], ColumnCheck]:
    """Return what gives a broken check of the slow-downs' bounds the line of code that bounds on one side only."""
    line = one_sided_line(column.code, column.function) if column.code else None

    def with_line(row: ColumnCheck) -> ColumnCheck:
        if line is None or not row.broken or row.key not in ONE_SIDED:
            return row
        return replace(row, values={**row.values, "line": asdict(line)})

    return with_line


def _at(column: ComparisonColumn, own: ComparisonSetting) -> ComparedColumn:
    """Return a column at one setting. Raises ValueError on a function that raises or answers something else there."""
    rope = own.rope
    answers = {n: column.at(rope, own.factor, n) for n in {own.length, rope.train_len, rope.train_len + 1}}
    f, a = answers[own.length]
    expected = column.expected(rope, own.factor) if column.expected else {}
    margin_of = margins.every(answers.__getitem__, own.geometry, own.trained, [*expected.values()], own.allowed)
    read = _programs(column)
    if read is not None:
        apart = max((each["difference"] for each in read if not each["own_formula"]), default=0.0)
        margin_of["programs"] = np.asarray([np.log2((1 + own.allowed["programs"]) / (1 + min(apart, 1e18)))])
    if column.findings is not None:
        margin_of["config"] = np.asarray([-margins.MOST if column.findings else 1.0])
    nearest = min(expected, key=lambda source: abs(expected[source] - a), default=None)
    matches = "attention_factor" in margin_of and margin_of["attention_factor"][0] >= 0
    distances = {str(n): [margins.agreement(f, n), margins.agreement(rope.theta, n)] for n in DISTANCES}
    values: dict[str, dict[str, Any]] = {
        "inside_arc": {"trained": own.trained, "length": own.length},
        "not_overslowed": {"needed": own.needed},
        "resolution": {"agreement": distances},
        "attention_factor": {
            "factor": a,
            "nearest": nearest,
            "source": nearest if matches else None,
            "twice": next(
                (name.partition(",")[0] for name, once in expected.items() if once != 1 and np.isclose(a, once * once)),
                None,
            ),
            "published": nearest.partition(",")[0] if nearest and column.alike and not matches else None,
            "expected": expected[nearest] if nearest else None,
        },
        "float32": {
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
            return ColumnCheck(key, None, None, None, False, values=values.get(key, {}))
        pair = int(np.argmin(by_pair)) if by_pair.size == rope.pairs > 1 else worst if key == "resolution" else None
        margin = float(by_pair.min())
        design = margin < 0 and (
            key in column.breaks
            or (key == "config" and meant_by_release)
            or (key == "programs" and column.released != "")
        )
        meant = not (own.fine_tuned and key in UNTRAINED)
        more = values.get(key, {})
        seen, limit = _measured(key, margin, own) if key != "attention_factor" else (a, own.allowed[key])
        by = tuple(by_pair.tolist())
        return ColumnCheck(key, margin, margin >= 0, pair, meant and not design, design, more, by, seen, limit)

    return ComparedColumn(column, own, answers, tuple(row(key) for key in checks() if key != "arguments"))


def _measured(key: str, margin: float, own: ComparisonSetting) -> tuple[float | None, float | None]:
    """Return what a margin in bits was measured from, and its limit."""
    relation, allowed = checks()[key].get("relation"), own.allowed.get(key, 0.0)
    if relation is None:
        return None, None
    if relation == ">=":
        return 2.0**margin / allowed, 1.0 / allowed
    if relation == "within":
        return (1.0 + allowed) * 2.0**-margin - 1.0, allowed
    limit = allowed * (own.needed if key == "not_overslowed" else 1.0)
    return limit * 2.0**-margin, limit


def _programs(column: ComparisonColumn) -> list[dict[str, Any]] | None:
    """Return the programs that compute other numbers from a config than transformers 5.23, and what each takes.

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
                **{lang: engine_sentences(each, lang) for lang in LANGUAGES},
            }
        )
    return apart


def _elsewhere(here: ComparedColumn) -> tuple[ColumnCheck, ComparedColumn | None]:
    """Return the row of the same function at another geometry, where a literal in an argument's place shows, and that.

    Half the dimension where it answers that, the base 50 times as large, the trained length 4 times, the factor 2
    times: each check that holds here has to hold there. A function that does not take base and trained length is for
    one model, and nothing is required of it.
    """
    column, own = here.column, here.setting
    there = _other_setting(own)
    other = there.rope
    unread = [name for name in ARGUMENTS[:4] if name not in (column.takes or ())]
    values: dict[str, Any] = {
        "unread": unread,
        "base": other.base,
        "train_len": other.train_len,
        "factor": there.factor,
    }
    meant = not {"base", "train_len"} & {*unread}
    try:
        again = _held_again(here, there)
        with contextlib.suppress(Exception):
            # A table of one width raises whatever it does at another, and is not accused of that.
            narrow = _held_again(here, _other_setting(own, max(2, own.rope.dim // 4 * 2)))
            if _least_margin(again) >= 0 or _least_margin(narrow) < 0:
                again = narrow
        values["dim"] = again.setting.rope.dim
        unused = values["without_effect"] = [*_without_effect(column, own)]
    except ValueError as error:
        return ColumnCheck("arguments", -margins.MOST, False, None, meant, values={**values, "error": str(error)}), None
    worst = min(again.rows, key=lambda row: row.margin or 0.0, default=None)
    if worst is None or worst.margin is None:
        return ColumnCheck("arguments", None, None, None, False, values=values), again
    margin = worst.margin
    if margin < 0:
        values["check"] = worst.key
    if "factor" in unused and column.code and not takes_config(column.code, column.function):
        # Twice the factor asks for slow-downs that are up to a bit larger, and changes nothing at all.
        a, b = (column.at(own.rope, each, own.length)[1] for each in (own.factor, there.factor))
        margin = min(margin, -1.0) if a == b else margin
        meant = meant or a == b
    if margin < 0:
        here_values = dict(zip(ARGUMENTS, own.geometry, strict=True))
        line = literal_line(column.code, [here_values[name] for name in unused or ("dim",)], column.function)
        values["line"] = asdict(line) if line and (unused or str(own.rope.dim) in line.words.split(", ")) else None
    return ColumnCheck("arguments", margin, margin >= 0, worst.pair, meant, values=values), again


def _least_margin(compared: ComparedColumn) -> float:
    return min((row.margin or 0.0 for row in compared.rows), default=0.0)


def _other_setting(own: ComparisonSetting, dim: int | None = None) -> ComparisonSetting:
    """Return another model's setting: 50 times the base, 4 times the trained length, 2 times the factor."""
    other = Rope(dim or own.rope.dim, 50.0 * own.rope.base, 4 * own.rope.train_len)
    return replace(own, rope=other, factor=2 * own.factor, length=min(8 * own.length, MAX_LEN), trained_to=None)


def _held_again(here: ComparedColumn, there: ComparisonSetting) -> ComparedColumn:
    """Return a column at another setting, with the required checks that hold here and have to hold there."""
    again, held = _at(here.column, there), {row.key for row in here.rows if row.holds}
    kept = (row for row in again.rows if row.key in held and row.required)
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


def equal_scheme(given: ComparedColumn) -> tuple[str, str] | None:
    """Return a shipped scheme with the same frequencies, and the switch that is turned for it, "" for none.

    >>> equal_scheme(compare(compare("yarn", factor=8)[0].inv_freq, factor=8)[0])
    ('yarn', '')
    """
    alike = next(_equal_schemes(given, [given.setting.length]), None)
    return None if alike is None else alike[:2]


def _equal_schemes(given: ComparedColumn, lengths: Iterable[int]) -> Iterator[tuple[str, str, dict[str, float | bool]]]:
    """Yield the shipped schemes with the same frequencies at some lengths, the switch turned, and the parameters."""
    rope, factor = given.setting.rope, given.setting.factor
    for scheme in SCHEMES.values():
        names = {param.name for param in scheme.params}
        for switch in (None, *(param for param in scheme.params if param.kind == "bool")):
            params: dict[str, float | bool] = {"factor": factor} if "factor" in names else {}
            if switch is not None:
                params[switch.name] = not switch.default
            with contextlib.suppress(ValueError):
                at = {n: spectrum(Request(rope, scheme.name, params, n)).inv_freq for n in lengths}
                if all(np.allclose(given.answers[n][0], f, rtol=SAME, atol=0.0) for n, f in at.items()):
                    yield (
                        scheme.name,
                        "" if switch is None else f"{switch.name} = {str(not switch.default).lower()}",
                        params,
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
