"""A report of `rope eval` that a visitor hands in, as results that the page's figures draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rope_core.evaluate.report import read_report, task_results

COMMAND = "rope eval ./my-model --text notes.txt --lengths 4096 16384"
MODEL_MOST = 60


@dataclass(frozen=True)
class ReportSummary:
    """A report.

    Attributes:
        name: of the model.
        unit: "token" or "byte".
        trained: length in that unit.
        perplexity, copies: results of the two tasks as the lab's views read them.
        done, cells: how many cells are there, and how many the whole run has.
    """

    name: str
    unit: str
    trained: int
    perplexity: tuple[Mapping[str, Any], ...]
    copies: tuple[Mapping[str, Any], ...]
    done: int
    cells: int


def read_report_summary(data: bytes) -> ReportSummary:
    """Return what a file holds; raises ValueError where it is no report."""
    record = read_report(data)
    return ReportSummary(
        str(record["model"]["name"])[-MODEL_MOST:],
        str(record["text"]["unit"]),
        int(record["trained"]),
        tuple(task_results(record, "perplexity")),
        tuple(task_results(record, "copy")),
        len(record["results"]),
        int(record.get("cells", len(record["results"]))),
    )
