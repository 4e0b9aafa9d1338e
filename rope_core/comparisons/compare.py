"""Columns side by side: a row of margins for each check, none of which is a verdict on the whole column."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from rope_core.comparisons.arguments import arguments_row, held_again, other_setting
from rope_core.comparisons.columns import ComparisonColumn, UnreadableColumn, column_openings, nearest_names, of_config
from rope_core.comparisons.evaluate import evaluate_column
from rope_core.comparisons.nearest import equal_schemes, like_row, nearest_scheme, with_fitted
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn, ComparisonSetting, checks, target_length
from rope_core.comparisons.scheme_variants import likeable_schemes, published_schemes
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
    unreadable: list[UnreadableColumn] | None = None,
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
        unreadable: takes what is no column or raises, and the others are compared; without it the first raises.

    Raises:
        ValueError: on a bad setting and, without ``unreadable``, what is no column, raises, or does not fit a geometry.

    >>> linear, ntk = compare("linear", "ntk", factor=8)
    >>> [(row.key, row.pair) for row in linear.rows if row.holds is False]
    [('resolution', 0)]
    >>> [row.key for row in ntk.rows if row.by_design]
    ['inside_arc']
    """
    if not given:
        raise argument_error("given", "at least one column", given)
    setting = _setting(model, factor, length, trained_to, fine_tuned, thresholds or {})
    if like not in ("", *likeable_schemes()):
        raise argument_error("like", "one_of", like, names=likeable_schemes())
    setting = replace(setting, like=like)
    compared: list[ComparedColumn] = []
    for item in given:
        for name, open_column in column_openings(item, setting.config_fields):
            try:
                with open_column() as column:
                    compared.append(compare_column(column, setting))
            except ValueError as error:
                if unreadable is None:
                    # One of several functions of a file is named.
                    raise (ValueError(f"{name}: {error}") if ".py:" in name else error) from None
                unreadable.append(UnreadableColumn(name, error))
    return with_distinct_names(compared)


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
    context = 1.0 if model is None or column.length is None else column.length / rope.train_len
    return ComparisonSetting(
        rope, ratio, target, trained_to, fine_tuned, values, model=name, stated=stated, context_factor=context
    )


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
        here = evaluate_column(column, own)
        if column.rope is not None:
            with contextlib.suppress(ValueError):
                # What a config's scheme gives another model, for a function that is to be tested against it.
                return replace(here, other=held_again(here, other_setting(own)))
            return here
        if column.takes is None:
            return here if column.source else _with_nearest(here)
        if not column.source:
            here = evaluate_column(column := _as_published(here), own)
        row, other = arguments_row(here)
        here = replace(here, rows=(*map(_with_line(column), here.rows), row), other=other)
        return here if column.source else _with_nearest(here)


def _with_nearest(here: ComparedColumn) -> ComparedColumn:
    nearest = with_fitted(here, nearest_scheme(here, here.other))
    return replace(here, nearest=nearest, rows=(*here.rows, like_row(here, nearest)))


def _as_published(here: ComparedColumn) -> ComparisonColumn:
    """Return a function's column, held to the attention factor of the scheme named, or of those that it equals.

    What has their factor too is excused what they are excused.
    """
    like, setting = here.setting.like, here.setting
    alike = equal_schemes(here, [n for n in here.answers if n >= setting.rope.train_len])
    if like:
        alike = [each for each in published_schemes(*setting.published) if each.name == like][:1]
    if not alike:
        return here.column

    def expected(rope: Rope, factor: float) -> dict[str, float]:
        # The first of a name counts: as the model's own config states it.
        given = {
            each.name: {**each.params, **({"factor": factor} if "factor" in each.params else {})}
            for each in alike[::-1]
        }
        length = target_length(rope, factor)
        return {
            SCHEMES[name].source: spectrum(Request(rope, name, params, length)).attention_factor
            for name, params in given.items()
        }

    given = expected(setting.rope, setting.factor)
    schemes = [SCHEMES[each.name] for each in alike]
    same = [each.breaks for each in schemes if np.isclose(given[each.source], here.attention_factor, rtol=1e-3)]
    breaks = frozenset().union(*same)
    return replace(here.column, expected=expected, breaks=breaks, alike=alike[0].name)


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
