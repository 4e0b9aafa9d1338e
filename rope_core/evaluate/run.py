"""An evaluation, whole: its cells in order, and results that outlive a kill."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rope_core.errors import argument_error, error_sentence
from rope_core.evaluate import tasks
from rope_core.evaluate.cost import ModelSize, model_size
from rope_core.evaluate.harness import config_of_variant
from rope_core.evaluate.loading import LoadedModel
from rope_core.evaluate.reading import ModelLossReader, TransformersReader, sliding_losses
from rope_core.evaluate.report import KIND, SCHEMA, report_page
from rope_core.evaluate.settings import TASKS, EvaluationSettings, rope_variants
from rope_core.evaluate.texts import TokenizedTexts
from rope_core.evaluate.variants import (
    STALE,
    WINDOW,
    RopeVariant,
    config_reached_length,
    config_trained_length,
    rope_variant_at_load,
)
from rope_core.evaluate.vllm import VllmReader
from rope_core.lab import plan
from rope_core.lab.copying import SPAN
from rope_core.lab.shards import WorkShard
from rope_core.lab.train import write_atomically
from rope_core.languages import LANGUAGES
from rope_core.rope import Array
from rope_core.version import __version__


@dataclass(frozen=True)
class EvaluationCell:
    """One line at one length in one task; depth of the number, distance of the copy."""

    task: str
    line: str
    length: int
    depth: float | None = None
    distance: int | None = None


@dataclass(frozen=True, eq=False)
class CellInputs:
    """What a cell reads: tokens (n, length + 1), "losses" or "likeliest", how many last tokens, lengths of answers."""

    tokens: Any
    what: str
    last: int = 0
    answers: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CellBatch:
    """One batch of a cell: the file that keeps it, and what measures it."""

    path: Path
    measure: Callable[[], Array]


@dataclass(eq=False)
class Evaluation:
    """A model that is loaded, its text, and the ask.

    Args:
        loaded: the model and its tokenizer.
        texts: what is read.
        ask: whole, as ``EvaluationSettings.of`` made it.
        folder: where results are kept.

    Raises ValueError where no length holds a task, OSError where the folder cannot be written.
    """

    loaded: LoadedModel
    texts: TokenizedTexts
    ask: EvaluationSettings
    folder: Path
    reader: ModelLossReader = field(init=False)
    turnings: dict[tuple[str, int], RopeVariant] = field(init=False, default_factory=dict)
    refused: dict[str, dict[str, str]] = field(init=False, default_factory=dict)
    notes: tuple[str, ...] = field(init=False, default=())
    size: ModelSize = field(init=False)

    def __post_init__(self) -> None:
        source = self.loaded.source
        self.trained = config_trained_length(source.config, self.ask.trained)
        self.window = config_reached_length(source.config, self.ask.trained)
        self.size = model_size(source.config, source.numbers)
        self.turnings, self.refused = rope_variants(source, self.ask)
        if isinstance(self.loaded.model, VllmReader):
            self._prepare_vllm(self.loaded.model)
        else:
            load = rope_variant_at_load(source.config)
            self.reader = TransformersReader(self.loaded.model, load, self.ask.chunk)
        if not self.cells() and self.refused.keys() < set(self.ask.schemes):
            low = tasks.min_passkey_length(self.loaded.coder) if "passkey" in self.ask.tasks else 2 * SPAN + 2
            raise argument_error("--lengths", "at_least", max(self.ask.lengths), low=low)
        (self.folder / "parts").mkdir(parents=True, exist_ok=True)
        self._verified: set[bytes] = set()

    def _prepare_vllm(self, reader: VllmReader) -> None:
        """Have each variant's config be one that vLLM reads, and refuse lines that no config holds."""
        self.reader = reader
        if STALE in self.ask.schemes:
            self.refused[STALE] = {
                lang: error_sentence(argument_error("--schemes", "eval_engine_line", STALE), lang) for lang in LANGUAGES
            }
        for (key, length), each in self.turnings.items():
            if key not in self.refused:
                config = config_of_variant(self.loaded.source, self.ask, key, length, each)
                self.turnings[key, length] = replace(each, config=config)

    def verify(self) -> None:
        """Write every line into the model and hold what runs to it; a line that does not is refused, one by one.

        Raises ValueError where no line is left.
        """
        for (key, _), each in self.turnings.items():
            if key in self.refused or each.cache_key_bytes() in self._verified:
                continue
            try:
                if not self.reader.reloads:
                    self.reader.write_variant(each)
                self.notes = self.reader.verified_keys(each)
                self._verified.add(each.cache_key_bytes())
            except ValueError as error:
                self.refused[key] = {lang: error_sentence(error, lang) for lang in LANGUAGES}
        if all(key in self.refused for key in self.ask.schemes):
            raise argument_error(
                "--schemes", "eval_some", ", ".join(self.ask.schemes), why=next(iter(self.refused.values()))["en"]
            )

    def cells(self) -> list[EvaluationCell]:
        """Return the cells in the order in which they are done: task by task, short lengths first.

        Where another set of frequencies is another load of the model, variant by variant.
        """
        keys = [key for key in self.ask.schemes if key not in self.refused]
        planned = []
        for task in (name for name in TASKS if name in self.ask.tasks):
            for length in self.ask.lengths:
                for place in self._places(task, length):
                    planned += [EvaluationCell(task, key, length, **place) for key in keys]
        if self.reader.reloads:
            planned.sort(key=lambda cell: (keys.index(cell.line), cell.length))
        return planned

    def _places(self, task: str, length: int) -> list[dict[str, Any]]:
        if task == "passkey":
            holds = length >= tasks.min_passkey_length(self.loaded.coder)
            return [{"depth": depth} for depth in tasks.DEPTHS if holds]
        if task == "copy":
            # The longest window alone: the distance is what counts.
            longest = length == max(self.ask.lengths)
            return [{"distance": each} for each in tasks.copy_distances(length, self.trained)] if longest else []
        return [{}]

    def work(self, cell: EvaluationCell) -> float:
        """Return about how much work a cell takes."""
        count = len(self.texts.documents) if cell.task == "perplexity" else self.ask.trials
        if cell.line != WINDOW or cell.length <= self.window:
            return count * self.size.window_work(cell.length)
        windows = 1 if cell.task != "perplexity" else 1 + -(-4 * (cell.length - self.window) // self.window)
        return count * windows * self.size.window_work(self.window)

    def run_cells(self) -> Generator[tuple[float, dict[str, Any]], None, None]:
        """Measure cell by cell; yields the share of the work that is done, and the cell as JSON values."""
        for done, cell in plan.with_progress(self.cells(), self.work):
            yield done, self._result(cell)

    def run_shard(self, shard: WorkShard) -> Iterator[tuple[float, EvaluationCell]]:
        """Measure one worker's part of all batches; yields the share of the work looked at, and the cell.

        A batch that several cells share is measured once, by one worker.
        """
        seen: dict[Path, int] = {}
        for done, cell in plan.with_progress(self.cells(), self.work):
            for part in self._parts(cell, self._reading(cell)):
                if shard.has_item(seen.setdefault(part.path, len(seen))):
                    cached_array(part.path, part.measure)
            yield done, cell

    def results(self) -> list[dict[str, Any]]:
        """Return the cells whose batches are all kept, as JSON values: what any worker can report."""
        return [
            self._result(cell)
            for cell in self.cells()
            if all(part.path.is_file() for part in self._parts(cell, self._reading(cell)))
        ]

    def _result(self, cell: EvaluationCell) -> dict[str, Any]:
        """Return a cell as JSON values, as the lab's sweep, retrieval and recall say it."""
        reading = self._reading(cell)
        read = np.concatenate([cached_array(part.path, part.measure) for part in self._parts(cell, reading)])
        head = {"weights": self.loaded.source.name}
        head |= {name: value for name, value in asdict(cell).items() if value is not None}
        if cell.task == "passkey":
            return head | plan.accuracy_record([row[-n:] for row, n in zip(read, reading.answers, strict=True)])
        if cell.task == "copy":
            return head | plan.copy_record(read[:, -SPAN:])
        return head | {"documents": len(read), **plan.perplexity_record(read)}

    def _reading(self, cell: EvaluationCell) -> CellInputs:
        """Return what a cell reads; of a task in a sliding window the last tokens alone, where the question is."""
        coder, filler, ask = self.loaded.coder, self.texts.filler, self.ask
        if cell.depth is not None:
            examples = tasks.passkey_examples(coder, filler, cell.length, cell.depth, ask.trials, ask.seed)
            answers = tuple(answer for _, answer in examples)
            reading = CellInputs(np.stack([ids for ids, _ in examples]), "likeliest", max(answers), answers)
        elif cell.distance is not None:
            reading = CellInputs(
                tasks.copy_examples(coder, filler, cell.length, cell.distance, ask.trials, ask.seed), "losses"
            )
        else:
            return CellInputs(self.texts.documents[:, : cell.length + 1], "losses")
        if not self._slides(cell):
            return reading
        begin, size = self.texts.begin, reading.tokens.shape[1]
        last = reading.tokens[:, size - self.window - 1 + begin :]
        return replace(reading, tokens=np.concatenate([reading.tokens[:, :begin], last], 1))

    def _slides(self, cell: EvaluationCell) -> bool:
        return cell.line == WINDOW and cell.length > self.window

    def _parts(self, cell: EvaluationCell, reading: CellInputs) -> Iterator[CellBatch]:
        """Yield the batches of a cell, each with the file that its content names."""
        how, what, last = self.turnings[cell.line, cell.length], reading.what, reading.last
        sliding = self._slides(cell) and cell.task == "perplexity"
        stale = cell.line == STALE and cell.length > self.trained
        state = {
            "model": self.loaded.source.fingerprint,
            "dtype": f"torch.{self.reader.dtype}",
            "device": self.reader.device.partition(":")[0],
            "chunk": self.ask.chunk,
            "what": what,
            "last": last,
            "window": self.window if sliding else None,
            "stale": [self.trained, self.ask.factor] if stale else None,
        }
        head = json.dumps(state, sort_keys=True).encode() + how.cache_key_bytes()
        for first in range(0, len(reading.tokens), self.ask.batch):
            tokens = np.ascontiguousarray(reading.tokens[first : first + self.ask.batch])
            key = hashlib.sha256(head + tokens.tobytes()).hexdigest()
            yield CellBatch(
                self.folder / "parts" / f"{key}.npy", partial(self._measure, how, tokens, what, last, sliding, stale)
            )

    def _measure(self, how: RopeVariant, tokens: Any, what: str, last: int, sliding: bool, stale: bool) -> Array:
        """Read one batch."""
        reader = self.reader
        reader.write_variant(how)
        try:
            if what == "likeliest":
                read = partial(reader.likeliest_token_mask, tokens, last)
            elif sliding:
                read = partial(sliding_losses, reader.token_losses, tokens, self.window, self.texts.begin)
            else:
                read = partial(reader.token_losses, tokens)
            if not stale:
                return read()
            assert isinstance(reader, TransformersReader), "other programs are given no such line"
            with reader.keeping_stale_keys(self.ask.factor, self.trained):
                return read()
        except torch.OutOfMemoryError as error:
            raise argument_error(
                "--lengths", "eval_out", tokens.shape[1] - 1, detail=str(error).splitlines()[0]
            ) from error
        except RuntimeError as error:
            raise argument_error("model", "eval_reads", f"{reader.class_name}: {str(error).splitlines()[0]}") from error


def save_results(evaluation: Evaluation, results: list[dict[str, Any]], lang: str) -> None:
    """Write eval.json and eval.html of the cells so far, each whole or not at all."""
    report = report_of(evaluation, results)
    write_atomically(
        evaluation.folder / "eval.json",
        (json.dumps(report, ensure_ascii=False, indent=1) + "\n").encode(),
        synced=False,
    )
    write_atomically(
        evaluation.folder / "eval.html", report_page(report, lang).encode("utf-8", "replace"), synced=False
    )


def save_kept_results(evaluation: Evaluation, lang: str) -> list[dict[str, Any]]:
    """Write the report of all that any worker has kept, and return its results.

    A worker that ends while this one writes is seen by the next look: the last report written is the fullest.
    """
    written = -1
    while written < len(results := evaluation.results()):
        save_results(evaluation, results, lang)
        written = len(results)
    return results


def report_of(evaluation: Evaluation, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return everything about an evaluation as JSON values; what each line turned by at the longest length too."""
    import transformers

    source, texts, ask = evaluation.loaded.source, evaluation.texts, evaluation.ask
    reader, longest, cells = evaluation.reader, max(ask.lengths), len(evaluation.cells())
    return {
        "kind": KIND,
        "schema": SCHEMA,
        "software": {"rope": __version__, "transformers": transformers.__version__, "torch": torch.__version__},
        "model": {
            "name": source.name,
            "model_type": source.config.get("model_type"),
            "class": reader.class_name,
            "numbers": source.numbers,
            "dtype": reader.dtype,
            "device": reader.device,
            "fingerprint": source.fingerprint,
        },
        "ask": asdict(ask),
        "text": {
            "files": texts.files,
            "sha256": texts.sha256,
            "unit": evaluation.loaded.coder.unit,
            "documents": len(texts.documents),
            "begin": texts.begin,
        },
        "trained": evaluation.trained,
        "window": evaluation.window,
        "left_out": evaluation.refused,
        "notes": evaluation.notes,
        "turned_by": {
            key: {
                str(kind or "all"): {
                    "inv_freq": rope.inv_freq.tolist(),
                    "attention_factor": rope.attention_factor,
                    "logit_scale": rope.logit_scale,
                }
                for kind, rope in each.ropes.items()
            }
            for (key, length), each in evaluation.turnings.items()
            if length == longest
        },
        "results": results,
        "cells": cells,
        "complete": len(results) == cells,
    }


def cached_array(path: Path, measure: Callable[[], Array]) -> Array:
    """Return an array that is kept at a path, measured and written whole where it is not."""
    try:
        return np.asarray(np.load(path), dtype=np.float64)
    except (OSError, ValueError, EOFError):
        values = measure()
        buffer = io.BytesIO()
        np.save(buffer, values)
        write_atomically(path, buffer.getvalue(), synced=False)
        return values


__all__ = [
    "TASKS",
    "Evaluation",
    "EvaluationCell",
    "EvaluationSettings",
    "cached_array",
    "report_of",
    "rope_variants",
    "save_kept_results",
    "save_results",
]
