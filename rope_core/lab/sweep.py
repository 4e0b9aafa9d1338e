"""The ladder: every line at every length on the same documents, cell by cell."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.lab import plan, weights
from rope_core.lab.evaluate import byte_losses, scheme_byte_losses, sliding_losses
from rope_core.lab.lines import get_line
from rope_core.lab.model import LabModel
from rope_core.lab.shards import WorkShard
from rope_core.lab.train import write_atomically

LENGTHS = (256, 512, 1024, 2048)


@dataclass(frozen=True)
class SweepSettings:
    """One sweep, whole: what its cells are keyed by.

    Args:
        weights: names of shipped weights.
        lines: keys of the ladder's lines, all by default; ignored for weights without rotary positions.
        lengths: bytes per window.
        factor: of every line; None means each length over the trained one.
        base: another base than the trained one, or None.
        params: more parameters, by name; a line takes those that its scheme knows.
        documents: how many to read at most.
        text: what to read; empty means the held-out documents.
    """

    weights: tuple[str, ...] = ("rope-0",)
    lines: tuple[str, ...] = ()
    lengths: tuple[int, ...] = LENGTHS
    factor: float | None = None
    base: float | None = None
    params: Mapping[str, float] = field(default_factory=dict)
    documents: int = 8
    text: bytes = b""

    def __post_init__(self) -> None:
        plan.checked_weight_names(self.weights)
        plan.checked_lengths(self.lengths)
        checked_int("documents", self.documents, 1, 4096)
        plan.check_text_length(self.text)

    def read_documents(self) -> npt.NDArray[np.uint8]:
        """Return the documents, uint8 (n, longest + 1): each length reads the first bytes of the same ones."""
        return plan.evaluation_documents(max(self.lengths), self.documents, self.text, "lengths")

    def cells(self) -> list[tuple[str, str, int]]:
        """Return (weights, line, length) in the order in which they are done, short lengths first."""
        return plan.measurement_cells(self.weights, self.lines, self.lengths, self.factor)


def documents_hash(documents: npt.NDArray[np.uint8]) -> str:
    """Return the SHA-256 of the documents' bytes, one after another."""
    return hashlib.sha256(np.ascontiguousarray(documents).tobytes()).hexdigest()


def measure_sweep_cell(
    model: LabModel, documents: npt.NDArray[np.uint8], ask: SweepSettings, key: str, length: int
) -> dict[str, Any]:
    """Measure one cell.

    Returns JSON values: those of ``plan.read_off``; "params" and "base", what a rotary model was turned by; where the
    positions are undefined, "undefined" holds the reason.
    """
    begun = time.perf_counter()
    head: dict[str, Any] = {"line": key, "length": length, "documents": len(documents)}
    window = documents[:, : length + 1]
    if get_line(key).sliding:
        nats = sliding_losses(model, window)
    elif not get_line(key).is_frequency_only:
        nats = byte_losses(model, window, plan.line_encoding(model, key, length))
        head |= {"params": dict(get_line(key).params)}
    elif model.shape.encoding == "rope":
        request = get_line(key).request(model.shape, length, ask.factor, ask.base, ask.params)
        nats = scheme_byte_losses(model, window, request)
        head |= {"params": dict(request.params), "base": request.rope.base}
    else:
        if reason := plan.undefined_reason(model.shape, length):
            return head | {"undefined": reason}
        nats = byte_losses(model, window)
    return head | plan.perplexity_record(nats) | {"seconds": round(time.perf_counter() - begun, 3)}


def run_sweep(settings: SweepSettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Measure cell by cell; yields the share of the work that is done, and the cell.

    The work of a cell grows with its length, so the share does not count cells.
    """
    documents = settings.read_documents()
    for done, (name, key, length) in plan.with_progress(settings.cells(), lambda each: each[2]):
        yield (
            done,
            {"weights": name, **measure_sweep_cell(weights.load_shipped_model(name), documents, settings, key, length)},
        )


def unmeasured_cells(
    settings: SweepSettings, shipped: bool, runs: Mapping[str, LabModel]
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield every cell, unmeasured: the hash of all that decides its numbers, and what measures it.

    Args:
        ask: the sweep.
        shipped: whether the weights that ``settings`` names take part.
        runs: models that are not shipped, by name, after those.
    """
    documents = settings.read_documents()
    planned: list[tuple[str, LabModel | None, str, int]] = []
    if shipped:
        planned += [(name, None, key, length) for name, key, length in settings.cells()]
    for name, model in runs.items():
        for length in plan.checked_lengths(settings.lengths):
            planned += [(name, model, key, length) for key in plan.readable_lines(model.shape, settings.lines)]
    for name, given, key, length in planned:
        model = given or weights.load_shipped_model(name)
        content = [name, key, length, settings.factor, settings.base, sorted(settings.params.items()), str(model.shape)]
        digest = hashlib.sha256(json.dumps([*content, documents_hash(documents[:, : length + 1])]).encode())
        for value in model.state_dict().values():
            digest.update(value.numpy().tobytes())
        yield digest.hexdigest(), partial(_named, name, model, documents, settings, key, length)


def _named(name: str, *arguments: Any) -> dict[str, Any]:
    return {"weights": name, **measure_sweep_cell(*arguments)}


def measure_sweep_shard(
    cells: Sequence[tuple[str, Callable[[], dict[str, Any]]]], folder: Path, shard: WorkShard
) -> list[dict[str, Any]]:
    """Measure one worker's part of a sweep, write all that any worker has kept to sweep.json, and return it.

    A cell's time is not kept: the file is the same whoever measured what.
    """
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    paths = [folder / "parts" / f"{key}.json" for key, _ in cells]
    for number, (path, (_, measure)) in enumerate(zip(paths, cells, strict=True)):
        if shard.has_item(number) and not path.exists():
            measured = {name: value for name, value in measure().items() if name != "seconds"}
            write_atomically(path, json.dumps(measured).encode(), synced=False)
    written = -1
    while written < len(kept := [json.loads(path.read_bytes()) for path in paths if path.exists()]):
        report = {"cells": len(paths), "complete": len(kept) == len(paths), "results": kept}
        write_atomically(folder / "sweep.json", (json.dumps(report, indent=1) + "\n").encode(), synced=False)
        written = len(kept)
    return kept
