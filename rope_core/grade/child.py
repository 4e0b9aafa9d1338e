"""The stages of one function of a student's file, judged one after another, a JSON line each."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rope_core.grade.assignment import TASKS
from rope_core.grade.faults import Fault, Student, raised


def lines(path: str, name: str, seed: int, stages: Iterable[str]) -> Iterator[str]:
    """Run the file ``path`` in this process, then yield the outcome of each stage of the function ``name`` as JSON."""
    broken, functions = None, {}
    try:
        functions = runpy.run_path(path, run_name="student")
    except BaseException as error:
        broken = raised(error, path)
    yield from judged(Student(path, functions), name, seed, stages, broken)


def judged(student: Student, name: str, seed: int, stages: Iterable[str], broken: Fault | None = None) -> Iterator[str]:
    """Yield the outcome of each stage as JSON; ``broken`` is what all of them fail by."""
    for stage in stages:
        fault = broken or _fault(student, name, stage, seed)
        record: dict[str, Any] = {"stage": stage, "key": "", "slots": {}}
        if fault:
            record |= {"key": fault.key, "slots": fault.slots}
        yield json.dumps(record)


def _fault(student: Student, name: str, stage: str, seed: int) -> Fault | None:
    try:
        TASKS[name][stage](student, np.random.default_rng([seed, len(stage)]))
    except Fault as fault:
        return fault
    return None
