"""Shipped measurements: the work, its results, and the weights, text and versions that they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rope_core.errors import argument_error

FOLDER = Path(__file__).parent / "records"


@dataclass(frozen=True)
class MeasurementRecord:
    """One measurement, whole.

    Attributes:
        kind: of work, a name in rope_core.lab.job.KINDS.
        arguments: its own, by name.
        results: what it yielded, in order.
        weights: SHA-256 of each weights file that took part, by name.
        text: SHA-256 of what was read, or "" where nothing was.
        hardware: processor, threads, versions.
        date: of the run.
    """

    kind: str
    arguments: Mapping[str, Any]
    results: tuple[dict[str, Any], ...]
    weights: Mapping[str, str]
    text: str
    hardware: Mapping[str, Any]
    date: str


def measure_record(kind: str, arguments: Mapping[str, Any], text: str, date: str) -> MeasurementRecord:
    """Run a kind of work and return its record; the weights are those that its results name."""
    # Reading records must not cost a reader the import of torch.
    from rope_core.lab import cards
    from rope_core.lab.job import run_measurement
    from rope_core.lab.train import hardware_record

    results = tuple(result for _, result in run_measurement(kind, arguments))
    names = sorted({each["weights"] for each in results if "weights" in each})
    return MeasurementRecord(
        kind,
        dict(arguments),
        results,
        {n: cards.get_weights_card(n).sha256 for n in names},
        text,
        hardware_record(),
        date,
    )


def write_record(record: MeasurementRecord, path: Path) -> None:
    """Write a record as JSON, one result a line."""
    from rope_core.lab.train import write_atomically

    head = {"asked" if k == "arguments" else k: v for k, v in vars(record).items() if k != "results"}
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in record.results)
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "results": [\n' + lines + "\n]}\n"
    write_atomically(path, text.encode())


@lru_cache(maxsize=32)
def shipped_record(name: str) -> MeasurementRecord:
    """Return a shipped record by name, or raise ValueError naming those there are."""
    if name not in shipped_record_names():
        raise argument_error("record", "one_of", name, names=shipped_record_names())
    stored = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return MeasurementRecord(arguments=stored.pop("asked"), results=tuple(stored.pop("results")), **stored)


def shipped_record_names() -> list[str]:
    """Return the names of the shipped records."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))
