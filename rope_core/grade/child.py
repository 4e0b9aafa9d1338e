"""The child process: run a student's file, then the stages of one of its functions, a JSON line each."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.grade.assignment import TASKS
from rope_core.grade.faults import Fault, Student, raised


def main(arguments: Sequence[str]) -> None:
    """Write the outcome of each stage of ``name`` to ``log`` as soon as it is known."""
    path, name, seed, log, *stages = arguments
    sys.path.append(str(Path(path).parent))
    with open(log, "w", encoding="utf-8", buffering=1) as out:
        for line in lines(path, name, int(seed), stages):
            out.write(line + "\n")


def lines(path: str, name: str, seed: int, stages: Iterable[str]) -> Iterator[str]:
    """Run the file ``path``, then yield the outcome of each stage of the function ``name`` as JSON."""
    broken, functions = None, {}
    try:
        # A student's file has any name and is no module; its `if __name__ == "__main__"` part does not run.
        functions = runpy.run_path(path, run_name="student")
    except BaseException as error:
        broken = raised(error, path)
    student = Student(path, functions)
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


if __name__ == "__main__":
    main(sys.argv[1:])
