"""Somebody's function at all geometries that a comparison needs, called in one go by a process or a browser apart.

`calls_of` says which calls these are, by a comparison of nothing; `run` or a browser's frame (`lines`) makes them;
`of_answers` is the column that answers from what came back.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.comparisons import margins
from rope_core.comparisons.arguments import (
    arguments_row,
    by_trained_length,
    literal_settings,
    run_elsewhere,
    tried_lengths,
)
from rope_core.comparisons.columns import (
    ARGUMENTS,
    ComparisonColumn,
    FrequenciesAndFactor,
    as_answer,
    of_function,
    program,
)
from rope_core.comparisons.evaluate import evaluate_column
from rope_core.comparisons.rows import ComparisonSetting
from rope_core.comparisons.source import takes_config
from rope_core.grade import remote
from rope_core.grade.faults import GradingStageError, reply_value
from rope_core.grade.result import StageResult, check_python_syntax
from rope_core.rope import Rope

SchemeCall = tuple[int, float, int, float, int, int]
"""dim, base, trained length, factor, length, max_position_embeddings or 0: what a function is called with."""
SECONDS = 5.0
FUNCTION, TOGETHER = "frequencies", "all_frequencies"


@dataclass(frozen=True)
class FunctionAnswers:
    """What a function of somebody's answered.

    Attributes:
        code: its text.
        takes: which of ARGUMENTS it reads.
        by_call: frequencies and attention factor of each call, or the error of what went wrong.
        error: why there is no answer at all; "" where there is one.
    """

    code: str
    takes: tuple[str, ...] = ()
    by_call: Mapping[SchemeCall, FrequenciesAndFactor | ValueError] | None = None
    error: str = ""


def calls_of(
    setting: ComparisonSetting, factors: Sequence[float], lengths: Sequence[int], code: str = ""
) -> list[SchemeCall]:
    """Return the calls of a comparison of a function and its sweep over factors and lengths; ``code``: its text."""
    calls: dict[SchemeCall, None] = {}

    def at(rope: Rope, factor: float, length: int, max_len: int = 0) -> FrequenciesAndFactor:
        calls[rope.dim, float(rope.base), rope.train_len, float(factor), int(length), max_len] = None
        return rope.theta, 1.0

    column = ComparisonColumn("", lambda rope, factor, length: at(rope, factor, length), takes=ARGUMENTS)
    by_config = takes_config(code)
    for each in [column, by_trained_length(replace(column, at_max=at))] if by_config else [column]:
        # What its frequencies are nearest to asks for no call, and costs more than all of these.
        with np.errstate(all="ignore"):
            here = evaluate_column(each, setting)
            arguments_row(here, run_elsewhere(here))
        swept = [(setting.rope, factor, length) for length in lengths for factor in factors]
        swept += [(other.rope, other.factor, other.length) for _, _, other in literal_settings(code, setting)]
        for rope, factor, target in swept:
            for n in margins.lengths(rope.train_len, target):
                each.at(rope, factor, n)
    for rope, length, max_len in tried_lengths(setting.rope) if by_config else ():
        at(rope, setting.factor, length, max_len)
    return list(calls)


def of_answers(name: str, answers: FunctionAnswers) -> ComparisonColumn:
    """Return the column of a function that was called; ValueError where there is no answer."""
    by_call = answers.by_call
    if by_call is None:
        raise ValueError(answers.error)

    def at(rope: Rope, factor: float, length: int, max_len: int = 0) -> FrequenciesAndFactor:
        answer = by_call[rope.dim, float(rope.base), rope.train_len, float(factor), int(length), max_len]
        if isinstance(answer, ValueError):
            raise answer
        return as_answer(answer, rope)

    return of_function(name, at, answers.takes, answers.code)


def run(code: str, calls: Sequence[SchemeCall], lang: str = "en") -> FunctionAnswers:
    """Return a function's answers from a process of its own, as homework runs; whatever goes wrong is a sentence."""
    from rope_core.grade.process import isolated_functions
    from rope_core.grade.spare import spare_process

    try:
        check_python_syntax(code, "mine.py")
        with isolated_functions(program(code), SECONDS, lang, spare_process) as call:
            return _answered(code, calls, lambda name, *given: call(name, *given))
    except ValueError as error:
        return FunctionAnswers(code, error=str(error))


def lines(source: str, name: str, seed: int, stages: Iterable[str]) -> Iterator[str]:
    """Call a function in this process, a browser's frame without a page; yield each answer as JSON.

    ``stages``: the calls, their numbers with slashes between; ``name`` and ``seed`` are homework's.
    """
    functions: dict[str, Any] = {}
    broken: dict[str, Any] = {}
    try:
        functions = remote.run_source(program(source))
    except BaseException as error:
        broken = remote.exception_record(error)
    calls = [read_call(stage) for stage in stages]

    def answer(function: str, given: Iterable[Any]) -> dict[str, Any]:
        return broken or remote.call_record(
            functions, {"name": function, "arguments": [*map(remote.to_json_array, given)]}
        )

    yield json.dumps(answer("arguments", ()))
    together = answer(TOGETHER, _as_columns(calls))
    yield json.dumps(together)
    if "value" not in together:
        yield from (json.dumps(answer(FUNCTION, call)) for call in calls)


def write_call(call: SchemeCall) -> str:
    """Return a call as a word.

    >>> read_call(write_call((128, 10000.0, 4096, 8.0, 32768, 0)))
    (128, 10000.0, 4096, 8.0, 32768, 0)
    """
    return "/".join(map(repr, call))


def read_call(word: str) -> SchemeCall:
    """Return the call of a word."""
    dim, base, train_len, factor, length, max_len = word.split("/")
    return int(dim), float(base), int(train_len), float(factor), int(length), int(max_len)


def of_lines(code: str, calls: Sequence[SchemeCall], given: Sequence[str], lang: str = "en") -> FunctionAnswers:
    """Return the answers that a browser's frame gave, a line for each; the frame is the function's, and may say any."""
    rest = iter(given)

    def call(name: str, *_: Any) -> Any:
        try:
            return reply_value(name, json.loads(next(rest)))
        except GradingStageError as fault:
            raise ValueError(StageResult(name, "values", 0.0, fault.key, fault.slots).sentence(lang)) from None
        except StopIteration:
            ended = StageResult(name, "values", 0.0, "endless", {"seconds": f"{SECONDS:g}"})
            raise ValueError(ended.sentence(lang)) from None
        except Exception:  # whatever a line holds
            raise ValueError(
                StageResult(name, "values", 0.0, "kind", {"name": name, "got": "?"}).sentence(lang)
            ) from None

    try:
        check_python_syntax(code, "mine.py")
        return _answered(code, calls, call)
    except ValueError as error:
        return FunctionAnswers(code, error=str(error))


def _as_columns(calls: Sequence[SchemeCall]) -> list[npt.NDArray[Any]]:
    """Return an array for each argument of the calls."""
    return [np.asarray(column) for column in zip(*calls, strict=True)]


def _all_at_once(calls: Sequence[SchemeCall], call: Callable[..., Any]) -> dict[SchemeCall, FrequenciesAndFactor]:
    """Return the answers to all calls, made in one; raises ValueError where one of them has none."""
    f, a = call(TOGETHER, *_as_columns(calls))
    frequencies, factors = np.asarray(f), np.asarray(a)
    if frequencies.shape != (len(calls), max(each[0] for each in calls) // 2) or factors.shape != (len(calls),):
        raise ValueError
    answers = {each: (frequencies[k, : each[0] // 2], float(factors[k])) for k, each in enumerate(calls)}
    return {each: as_answer(answer, Rope(*each[:3])) for each, answer in answers.items()}


def _answered(code: str, calls: Sequence[SchemeCall], call: Callable[..., Any]) -> FunctionAnswers:
    flags = np.asarray(call("arguments")).reshape(-1)
    takes = tuple(each for each, is_taken in zip(ARGUMENTS, flags, strict=True) if is_taken)
    with contextlib.suppress(ValueError, TypeError):
        return FunctionAnswers(code, takes, _all_at_once(calls, call))
    # What went wrong at which call.
    by_call: dict[SchemeCall, FrequenciesAndFactor | ValueError] = {}
    for each in calls:
        try:
            by_call[each] = as_answer(call(FUNCTION, *each), Rope(*each[:3]))
        except ValueError as error:
            by_call[each] = error
    # A function that answers nothing is one fault, not as many as there are calls.
    if all(isinstance(answer, ValueError) for answer in by_call.values()):
        return FunctionAnswers(code, takes, error=str(next(iter(by_call.values()), "")))
    return FunctionAnswers(code, takes, by_call)
