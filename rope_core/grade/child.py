"""The stages of one function of a student's file, judged one after another, a JSON line each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rope_core.grade.assignment import TASKS
from rope_core.grade.faults import GradingStageError, StudentFunctions, failure_of_exception
from rope_core.grade.remote import run_source


def stage_outcome_lines(source: str, function_name: str, seed: int, stages: Iterable[str]) -> Iterator[str]:
    """Run a student's text in this process, then yield the outcome of each stage of a function as JSON."""
    broken, functions = None, {}
    try:
        functions = run_source(source)
    except BaseException as error:
        broken = failure_of_exception(error)
    yield from graded_stage_outcomes(StudentFunctions(functions), function_name, seed, stages, broken)


def graded_stage_outcomes(
    student: StudentFunctions,
    function_name: str,
    seed: int,
    stages: Iterable[str],
    load_failure: GradingStageError | None = None,
) -> Iterator[str]:
    """Yield the outcome of each stage as JSON; ``load_failure`` is what all of them fail by."""
    for stage in stages:
        fault = load_failure or _fault(student, function_name, stage, seed)
        record: dict[str, Any] = {"stage": stage, "key": "", "slots": {}}
        if fault:
            record |= {"key": fault.key, "slots": fault.slots}
        yield json.dumps(record)


def _fault(student: StudentFunctions, name: str, stage: str, seed: int) -> GradingStageError | None:
    try:
        with np.errstate(all="ignore"):
            TASKS[name][stage](student, np.random.default_rng([seed, len(stage)]))
    except GradingStageError as fault:
        return fault
    except Exception:  # an answer that no stage thought of
        return GradingStageError("kind", name=name, got="?")
    return None
