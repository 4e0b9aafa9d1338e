"""A student's file in a child process, a function at a time, and what each stage gave."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rope_core.grade.assignment import Assignment, read_text
from rope_core.grade.result import Result, check_source, results


def grade(file: str | Path, assignment: Assignment, seed: int = 0) -> list[Result]:
    """Run a student's file on this machine and return a Result for each stage of the assignment.

    Each function has a child process of its own with the caller's rights (no sandbox), without input or output, ended
    after ``assignment.seconds``. The inputs are drawn from ``seed``.

    Raises ValueError on a file that cannot be read or is no Python; whatever the code does is a Result.
    """
    path = Path(file)
    source = read_text("file", path)
    check_source(source, str(path))
    graded = []
    for name, points in assignment.points.items():
        graded += _function(path.resolve(), name, points, assignment.seconds, seed)
    return graded


def _function(path: Path, name: str, points: Mapping[str, float], seconds: float, seed: int) -> list[Result]:
    """Return the stages of a function: those that the child reported, and for the rest why it ended."""
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "stages.jsonl"
        # -P: a student's random.py in this folder is not Python's.
        command = [sys.executable, "-P", "-m", "rope_core.grade.child", str(path), name, str(seed), str(log), *points]
        try:
            child = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": paths},
                timeout=seconds,
                check=False,
            )
            ended: tuple[str, dict[str, object]] = ("ended", {"code": child.returncode})
        except subprocess.TimeoutExpired:
            ended = ("endless", {"seconds": f"{seconds:g}"})
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return results(name, points, lines, ended)
