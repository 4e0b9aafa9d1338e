"""The table of tasks and their stages, and a lecturer's assignment: a TOML file of points.

title = "Rotary position embedding, sheet 3"
seconds = 20

[rotate]
values = 1
positions = 2
"""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rope_core.errors import argument_error, checked_finite
from rope_core.grade import frequencies, rotations
from rope_core.grade.faults import StudentFunctions
from rope_core.hf.types import YARN

GradingStage = Callable[[StudentFunctions, np.random.Generator], None]

TASKS: dict[str, dict[str, GradingStage]] = {
    "rotate": {
        "properties": rotations.check_rotate_properties,
        "values": rotations.check_rotate_values,
        "positions": rotations.check_rotate_positions,
        "backward": rotations.check_rotate_backward,
        "dtype": rotations.check_rotate_dtype,
    },
    "spectrum": {
        "properties": frequencies.check_spectrum_properties,
        "values": frequencies.check_spectrum_values,
        "dtype": frequencies.check_spectrum_precision,
    },
    "convert": {
        "properties": rotations.check_convert_properties,
        "values": rotations.check_convert_values,
        "positions": rotations.check_convert_commutes,
        "dtype": rotations.check_convert_dtype,
    },
    YARN: {
        "properties": frequencies.check_yarn_properties,
        "values": frequencies.check_yarn_values,
        "dtype": frequencies.check_yarn_precision,
    },
}
SECONDS = 20.0
MAX_SECONDS = 600.0
MAX_BYTES = 2**20


@dataclass(frozen=True)
class Assignment:
    """What is graded: a title, the seconds that each function has, and points by function and stage."""

    title: str
    seconds: float
    points: Mapping[str, Mapping[str, float]]


def default_assignment() -> Assignment:
    """Return every stage of every function, a point each."""
    return Assignment("", SECONDS, {name: dict.fromkeys(stages, 1.0) for name, stages in TASKS.items()})


def read_small_text_file(argument: str, path: Path) -> str:
    """Return a regular file's text of at most 1 MiB, without a byte-order mark, or raise ValueError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise argument_error(argument, "regular_file", str(path))
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise argument_error(argument, "file_bytes", str(path), limit=MAX_BYTES)
        return text.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise argument_error(argument, "readable_file", str(path)) from None


def read_assignment(path: str | Path) -> Assignment:
    """Return a lecturer's assignment. Raises ValueError, naming the field, on a file that is none."""
    try:
        data = tomllib.loads(read_small_text_file("assignment", Path(path)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise argument_error("assignment", "toml_file", str(path), detail=str(error)) from None
    title, seconds = data.pop("title", ""), checked_finite("seconds", data.pop("seconds", SECONDS))
    if not isinstance(title, str):
        raise argument_error("title", "a_name", title)
    if not 0 < seconds <= MAX_SECONDS:
        raise argument_error("seconds", "number_range", seconds, low=0, high=MAX_SECONDS)
    if not data:
        raise argument_error("assignment", "some_names", str(path))
    return Assignment(title, seconds, {name: _points(name, table) for name, table in data.items()})


def _points(name: str, table: object) -> dict[str, float]:
    if name not in TASKS:
        raise argument_error("assignment", "one_of", name, names=["title", "seconds", *TASKS])
    if not isinstance(table, dict) or not table:
        raise argument_error(name, "stage_points", table, names=list(TASKS[name]))
    for stage, points in table.items():
        if stage not in TASKS[name]:
            raise argument_error(name, "one_of", stage, names=list(TASKS[name]))
        if checked_finite(f"{name}.{stage}", points) < 0:
            raise argument_error(f"{name}.{stage}", "finite_least", points, low=0)
    return {stage: float(points) for stage, points in table.items()}
