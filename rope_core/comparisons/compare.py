"""Columns side by side: a row of margins for each check, none of which is a verdict on the whole column."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.comparisons.arguments import (
    Rerun,
    arguments_row,
    by_trained_length,
    held_again,
    length_read,
    other_setting,
    run_elsewhere,
)
from rope_core.comparisons.columns import ComparisonColumn, UnreadableColumn, column_openings, nearest_names, of_config
from rope_core.comparisons.evaluate import evaluate_column
from rope_core.comparisons.nearest import like_row, nearest_scheme
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn, ComparisonSetting, checks, target_length
from rope_core.comparisons.scheme_variants import NearestScheme, likeable_schemes
from rope_core.comparisons.source import one_sided_line
from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.hf.catalogue import released_model as catalogued
from rope_core.hf.catalogue import released_models
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import FACTOR, SCHEMES
from rope_core.spectrum import Request, spectrum

MODEL = "llama-2-7b"
# Checks that a ramp without a lower or an upper bound breaks.
ONE_SIDED = ("finite_positive", "not_faster", "not_overslowed")


def compare(
    *given: object,
    model: object = None,
    factor: float | None = None,
    length: int | None = None,
    trained_to: int | None = None,
    fine_tuned: bool | None = None,
    thresholds: Mapping[str, float] | None = None,
    like: str = "",
) -> list[ComparedColumn]:
    """Return the margins of each check for schemes, configs, frequencies and functions, side by side.

    Args:
        given: a scheme's name; a model of the catalogue; a config (dict, path); frequencies (pairs,), rad/token; the
            path of a file .npy, .csv, .safetensors or FILE.py[:FUNCTION], whose code runs in a process of its own, each
            public function of a known signature where none is named; or a function of this process. A function takes
            (dim, base, train_len, factor), seq_len besides where it follows the length, or is one as in transformers'
            modeling_rope_utils, whose config has the parameters that the model's states; it returns inv_freq or
            (inv_freq, attention_factor).
        model: a model of the catalogue, or a config, whose geometry counts; Llama 2 7B where nothing is given.
        factor: what schemes are given; the ratio of the lengths, or the factor of the model's config, or 4.
        length: the target, tokens; factor times the trained length.
        trained_to: tokens that training covered, where the model was trained on at a longer length.
        fine_tuned: whether it is trained on with the scheme, which asks less; by default released models are, configs
            that turn as one does, and what ``trained_to`` says was trained at the target; others are not.
        thresholds: other values than those of checks.toml, by key.
        like: a shipped scheme that functions and numbers are held to, its frequencies and its attention factor.

    Raises:
        ValueError: on a bad setting.
        UnreadableColumnsError: on what is no column, raises, or does not fit a geometry; it holds the others, compared.

    >>> linear, ntk = compare("linear", "ntk", factor=8)
    >>> [(row.key, row.pair) for row in linear.rows if row.holds is False]
    [('resolution', 0)]
    >>> [row.key for row in ntk.rows if row.holds is False and row.excuse]
    ['inside_arc']
    """
    if not given:
        raise argument_error("given", "at least one column", given)
    setting, fields = _setting_and_fields(model, factor, length, trained_to, fine_tuned, thresholds or {})
    if like not in ("", *likeable_schemes()):
        raise argument_error("like", "one_of", like, names=likeable_schemes())
    setting = replace(setting, like=like)
    compared, unreadable = list[ComparedColumn](), list[UnreadableColumn]()
    for item in given:
        for name, open_column in column_openings(item, fields):
            try:
                with open_column() as column:
                    compared.append(compare_column(column, setting))
            except ValueError as error:
                unreadable.append(UnreadableColumn(name, error))
    columns = with_distinct_names(compared)
    if unreadable:
        raise UnreadableColumnsError(unreadable, columns)
    return columns


class UnreadableColumnsError(ValueError):
    """What is no column or raises, in ``unreadable``; the other columns are in ``compared``."""

    def __init__(self, unreadable: list[UnreadableColumn], compared: list[ComparedColumn]) -> None:
        super().__init__(f"{unreadable[0].name}: {unreadable[0].error}")
        self.unreadable, self.compared = unreadable, compared


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


def _setting_and_fields(
    model: object,
    factor: float | None,
    length: int | None,
    trained_to: int | None,
    fine_tuned: bool | None,
    thresholds: Mapping[str, float],
) -> tuple[ComparisonSetting, dict[str, Any]]:
    """Return what columns are compared at, and what a function's config is given of the model's."""
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
    column = of_config("model", config)
    rope, name = column.rope, str(model or MODEL) if by_id else ""
    scheme, parameters = column.stated if model is not None else ("", {})
    assert rope is not None
    if factor is not None:
        factor = checked_finite("factor", factor)
        if not 1.0 <= factor <= 4096.0:
            raise argument_error("factor", "a number in [1, 4096]", factor)
    if length is not None:
        length = checked_int("length", length, 1, MAX_LEN)
    if trained_to is not None:
        trained_to = checked_int("trained_to", trained_to, 1, MAX_LEN)
    number = parameters.get("factor")
    usual = number if isinstance(number, float) and number > 1.0 else checked_finite("factor", FACTOR.default)
    ratio = factor or (max(1.0, length / rope.train_len) if length else usual)
    target = target_length(rope, ratio, length)
    stated = scheme, tuple(parameters.items())
    fields = {key: value for key, value in parameters.items() if key != "factor"}
    if model is not None and column.length is not None:
        fields["reach"] = column.length / (rope.train_len * ratio)
    return ComparisonSetting(rope, ratio, target, trained_to, fine_tuned, values, model=name, stated=stated), fields


def compare_column(column: ComparisonColumn, setting: ComparisonSetting) -> ComparedColumn:
    """Return a column's rows; one with a geometry of its own is judged at that."""
    length, trained_to = column.length or setting.length, setting.trained_to or column.trained
    usual = bool(column.released) or (setting.trained_to or 0) >= length
    own = replace(
        setting,
        rope=column.rope or setting.rope,
        factor=column.factor or setting.factor,
        length=length,
        trained_to=trained_to,
        fine_tuned=usual if setting.fine_tuned is None else setting.fine_tuned,
        model="" if column.rope else setting.model,
    )
    with np.errstate(all="ignore"):
        # Each answer is asked for once: a function may run in a process apart.
        if length_read(column, own) == "trained":
            column = by_trained_length(column)
        column = replace(column, at=lru_cache(maxsize=None)(column.at))
        here = evaluate_column(column, own)
        if column.rope is not None:
            with contextlib.suppress(ValueError):
                # What a config's scheme gives another model, for a function that is to be tested against it.
                return replace(here, other=held_again(here, other_setting(own)))
            return here
        there = run_elsewhere(here) if column.takes else Rerun(None)
        if column.source:
            row, other = arguments_row(here, there)
            return replace(here, rows=(*here.rows, row), other=other)
        nearest = nearest_scheme(here, there.compared)
        here = replace(evaluate_column(_held_to(column, own, nearest), own), nearest=nearest)
        if column.takes:
            row, other = arguments_row(here, there, nearest)
            here = replace(here, rows=(*map(_with_line(column), here.rows), row), other=other)
        return replace(here, rows=(*here.rows, like_row(here, nearest)))


def _held_to(column: ComparisonColumn, own: ComparisonSetting, nearest: NearestScheme | None) -> ComparisonColumn:
    """Return a function, held to the attention factor of the scheme named, or of those whose frequencies it has.

    What is as published and has their factor too is excused what they are excused.
    """
    if column.takes is None or nearest is None or not (own.like or nearest.alike):
        return column
    # The first of a name counts: as the model's own config states it.
    alike = {each.name: each for each in ((nearest.scheme,) if own.like else nearest.alike)[::-1]}

    def expected(rope: Rope, factor: float) -> dict[str, float]:
        length, given = target_length(rope, factor), {}
        for name, each in alike.items():
            params = each.at_factor(factor / own.factor)
            # A list of another width has none.
            with contextlib.suppress(ValueError):
                given[SCHEMES[name].source] = spectrum(Request(rope, name, params, length)).attention_factor
        return given

    column = replace(column, expected=expected)
    if nearest.mistake and not own.like:
        return column
    factors, a = expected(own.rope, own.factor), column.at(own.rope, own.factor, own.length)[1]
    schemes = [SCHEMES[name] for name in alike]
    same = [each.breaks for each in schemes if np.isclose(factors.get(each.source, np.nan), a, rtol=1e-3)]
    return replace(column, breaks=frozenset().union(*same), alike=next(reversed(alike)))


def _with_line(column: ComparisonColumn) -> Callable[[ColumnCheck], ColumnCheck]:
    """Return what gives a broken check of the slow-downs' bounds the line of code that bounds on one side only."""
    line = one_sided_line(column.code, column.function) if column.code else None

    def with_line(row: ColumnCheck) -> ColumnCheck:
        if line is None or not row.broken or row.key not in ONE_SIDED:
            return row
        return replace(row, values={**row.values, "line": asdict(line)})

    return with_line


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
                    rows = evaluate_column(column, own).rows
            except ValueError:
                continue
            margin = next((row.margin for row in rows if row.key == key), None)
            least[i, j] = np.nan if margin is None else margin
    return least
