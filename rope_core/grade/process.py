"""A student's file in a child process, a function at a time, and what each stage gave."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import rope_core
from rope_core.checks.case import printable
from rope_core.errors import reject
from rope_core.grade.assignment import Assignment, read_text


@cache
def texts() -> dict[str, dict[str, dict[str, str]]]:
    """Return the sentences of stages, faults and mistakes in both languages."""
    return tomllib.loads(resources.files("rope_core.grade").joinpath("texts.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Result:
    """What a stage of a function gave.

    Attributes:
        points: what passing the stage counts.
        key: what is wrong, a key of texts.toml; "" where the stage passed.
        slots: the values in the sentence; ``slots["mistake"]`` names a known mistake.
    """

    function: str
    stage: str
    points: float
    key: str = ""
    slots: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the stage passed."""
        return not self.key

    def sentence(self, lang: str = "en") -> str:
        """Return what is wrong in "en" or "zh", "" where nothing is."""
        if self.passed:
            return ""
        slots = {name: printable(str(value)) for name, value in self.slots.items()}
        if self.key == "mistake":
            slots["why"] = texts()["mistake"][self.slots["mistake"]][lang]
        return texts()["fault"][self.key][lang].format_map(slots)


def grade(file: str | Path, assignment: Assignment, seed: int = 0) -> list[Result]:
    """Run a student's file on this machine and return a Result for each stage of the assignment.

    Each function has a child process of its own with the caller's rights (no sandbox), without input or output, ended
    after ``assignment.seconds``. The inputs are drawn from ``seed``.

    Raises ValueError on a file that cannot be read or is no Python; whatever the code does is a Result.
    """
    path = Path(file)
    source = read_text("file", path)
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, detail = getattr(error, "lineno", None) or 0, getattr(error, "msg", None) or str(error)
        raise reject("file", "python_file", str(path), line=line, detail=detail) from None
    results = []
    for name, points in assignment.points.items():
        results += _function(path.resolve(), name, points, assignment.seconds, seed)
    return results


def _function(path: Path, name: str, points: Mapping[str, float], seconds: float, seed: int) -> list[Result]:
    """Return the stages of a function: those that the child reported, and for the rest why it ended."""
    root = str(Path(rope_core.__file__).parent.parent)
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
    done = dict(_records(lines))
    return [Result(name, stage, worth, *done.get(stage, ended)) for stage, worth in points.items()]


def _records(lines: Iterable[str]) -> Iterable[tuple[str, tuple[str, dict[str, object]]]]:
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # the child was ended within its last line
            return
        yield record["stage"], (record["key"], record["slots"])
