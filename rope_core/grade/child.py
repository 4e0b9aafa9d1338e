"""The stages of one function of a student's file, judged one after another, a JSON line each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rope_core.grade.assignment import TASKS
from rope_core.grade.faults import StageFailure, StudentFunctions, raised
from rope_core.grade.remote import run


def lines(source: str, name: str, seed: int, stages: Iterable[str]) -> Iterator[str]:
    """Run a student's text in this process, then yield the outcome of each stage of the function ``name`` as JSON."""
    broken, functions = None, {}
    try:
        functions = run(source)
    except BaseException as error:
        broken = raised(error)
    yield from judged(StudentFunctions(functions), name, seed, stages, broken)


def judged(
    student: StudentFunctions, name: str, seed: int, stages: Iterable[str], broken: StageFailure | None = None
) -> Iterator[str]:
    """Yield the outcome of each stage as JSON; ``broken`` is what all of them fail by."""
    for stage in stages:
        fault = broken or _fault(student, name, stage, seed)
        record: dict[str, Any] = {"stage": stage, "key": "", "slots": {}}
        if fault:
            record |= {"key": fault.key, "slots": fault.slots}
        yield json.dumps(record)


def _fault(student: StudentFunctions, name: str, stage: str, seed: int) -> StageFailure | None:
    try:
        with np.errstate(all="ignore"):
            TASKS[name][stage](student, np.random.default_rng([seed, len(stage)]))
    except StageFailure as fault:
        return fault
    except Exception:  # an answer that no stage thought of
        return StageFailure("kind", name=name, got="?")
    return None
