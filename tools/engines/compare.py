"""Holds rows that engines' own code gave to rope_core.programs.engines."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.hf.families import composite_text_fields, recorded_class_defaults
from rope_core.programs.engines import EngineResult, engines
from tools.engines.measure import POSITIONS, Vector, query_and_key
from tools.engines.tasks import measurement_tasks

# float32, and llama.cpp's frequencies by repeated products; angles of 2,000 rad in float32 add 1e-4 rad.
FREQUENCY, FACTOR, LOGIT = 1e-5, 1e-5, 2e-3


@cache
def by_id() -> dict[str, dict[str, Any]]:
    """Return the tasks by id."""
    return {task["id"]: task for task in measurement_tasks()}


@cache
def computed(task_id: str) -> dict[str, EngineResult]:
    """Return what the engine table says of a task."""
    task = by_id()[task_id]
    return {each.name: each for each in engines(task["config"], task["layer"], task["length"])}


def logits(inv_freq: Vector, factor: float, layout: str, dim: int) -> Vector:
    """Return the recorded logits as rope_core's own rotation gives them."""
    width, rows = 2 * inv_freq.size, []
    for m, n in POSITIONS:
        ends = []
        for x, position in zip(query_and_key(dim), (m, n), strict=True):
            cos, sin = factor * np.cos(position * inv_freq)[None], factor * np.sin(position * inv_freq)[None]
            turned = rc.rotate(x[None, None, :width], cos, sin, layout)[0, 0]
            ends.append(np.concatenate([turned, x[width:]]))
        rows.append(float(ends[0] @ ends[1]))
    return np.array(rows)


def outside(model_type: str) -> bool:
    """Whether a model type comes with code of its own, or is the bare text part of a composite."""
    text = {part["text_type"] for part in composite_text_fields().values()}
    return (model_type in text and model_type.endswith("_text")) or model_type not in recorded_class_defaults()[
        "family"
    ]


def row_verdict(name: str, task_id: str, row: dict[str, Any]) -> str:
    """Return "agrees", "not supported", "refuses", "not run", or how a row differs from the engine table's."""
    answer = computed(task_id)[name]
    if "not_run" in row:
        return "not run"
    if "not_supported" in row:
        remote = answer.refused is None and outside(by_id()[task_id]["config"]["model_type"])
        return "not supported" if answer.status == "not_supported" or remote else f"runs, {row['not_supported']}"
    if "refuses" in row:
        return "refuses" if answer.refused is not None else f"runs, but {row['refuses']}"
    if answer.inv_freq is None or answer.attention_factor is None:
        return f"{answer.refused}, but it runs"
    own, theirs = np.asarray(answer.inv_freq), np.asarray(row["inv_freq"])
    theirs = np.pad(theirs, (0, max(0, own.size - theirs.size)))  # lanes that never turn do not show
    if own.shape != theirs.shape:
        return f"{own.size} pairs, but {theirs.size}"
    gap = float(np.max(np.abs(theirs - own) / np.where(own > 0, own, 1.0)))
    if gap > FREQUENCY:
        return f"frequencies differ by {gap:.2g}"
    if abs(row["factor"] / answer.attention_factor - 1) > FACTOR:
        return f"attention factor {answer.attention_factor:.6g}, but {row['factor']}"
    dim = by_id()[task_id]["dim"]
    apart = float(np.max(np.abs(logits(own, answer.attention_factor, row["layout"], dim) - np.asarray(row["logits"]))))
    return "agrees" if apart < LOGIT else f"a logit differs by {apart:.2g}"


def verdict_counts_and_differences(name: str, rows: dict[str, dict[str, Any]]) -> tuple[Counter[str], dict[str, str]]:
    """Count an engine's verdicts, and list by id those that differ."""
    verdicts = {task_id: row_verdict(name, task_id, row) for task_id, row in rows.items()}
    usual = ("agrees", "not supported", "refuses", "not run")
    counts = Counter(each if each in usual else "differs" for each in verdicts.values())
    return counts, {task_id: each for task_id, each in verdicts.items() if each not in usual}
