"""`rope eval`: any causal model of transformers under every scheme, on any text."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rope_core.cli.source import set_torch_threads
from rope_core.cli.terminal import print_json, print_lines

if TYPE_CHECKING:
    from rope_core.evaluate.loading import LoadedModel, ModelSource
    from rope_core.evaluate.run import Evaluation
    from rope_core.evaluate.settings import EvaluationSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "model",
        help="folder of a transformers model (safetensors), org/name, weights of the lab, or a folder of its runs",
    )
    parser.add_argument("--text", type=Path, nargs="+", default=[], help="files to read, UTF-8")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[], help="tokens; 1, 2 and 4 trained lengths by default"
    )
    parser.add_argument(
        "--schemes", nargs="+", default=[], help="lines of the ladder, own, stale, window; all by default"
    )
    parser.add_argument("--factor", type=float, help="of every scheme; by default the length over the trained one")
    parser.add_argument("--trained", type=int, help="tokens that schemes start from; the config's by default")
    parser.add_argument("--tasks", nargs="+", default=["perplexity", "passkey", "copy"])
    parser.add_argument("--documents", type=int, default=8, help="windows of text to read at most")
    parser.add_argument("--trials", type=int, default=8, help="examples of passkey and copy in each cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1; a GPU where there is one by default")
    parser.add_argument(
        "--device-map",
        choices=("auto",),
        help="spread a model larger than one card over all of them and the memory; takes the package accelerate",
    )
    parser.add_argument(
        "--engine",
        choices=("transformers", "vllm"),
        default="transformers",
        help="what reads the tokens; vllm, where it is installed, is loaded again for each scheme and length",
    )
    parser.add_argument("--dtype", default="auto", help="auto (as stored), float32, bfloat16, float16, float64")
    parser.add_argument("--batch", type=int, default=1, help="windows read together")
    parser.add_argument("--chunk", type=int, default=1024, help="tokens read at once, after a cache of those before")
    parser.add_argument("--threads", type=int, help="threads of torch; all cores by default")
    parser.add_argument("--out", type=Path, help="folder of the results; the same command goes on there after a kill")
    parser.add_argument("--shard", help="i/n, i from 0: this worker's part of what n workers on one --out measure")
    parser.add_argument(
        "--lm-eval",
        type=Path,
        metavar="FOLDER",
        help="measure nothing: write there what EleutherAI's harness and RULER read, a folder for each scheme",
    )
    parser.add_argument("--plan", action="store_true", help="say what it would take, and stop")
    parser.add_argument("--json", action="store_true", help="one JSON line per cell on standard output")


def run(options: argparse.Namespace) -> int:
    """Measure what every scheme does to a model: perplexity by position, passkey, copying; JSON and HTML results."""
    from rope_core.errors import argument_error
    from rope_core.evaluate import words
    from rope_core.evaluate.run import save_kept_results, save_results
    from rope_core.lab.shards import WorkShard

    if options.lm_eval:
        return _export(options)
    if not options.text:
        raise argument_error("--text", "some_values", [])
    shard = WorkShard.parse(options.shard) if options.shard is not None else None
    if shard and not options.out:
        raise argument_error("--shard", "shard_folder", options.shard)
    evaluation, needs = _prepared(options)
    print_lines(needs, error=True, flush=True)
    if options.plan:
        return 0
    evaluation.verify()
    results: list[dict[str, Any]] = []
    try:
        with _progress() as step:
            if shard:
                for share, cell in evaluation.run_shard(shard):
                    step(share, asdict(cell))
                results = save_kept_results(evaluation, options.lang)
            else:
                for share, result in evaluation.run_cells():
                    results.append(result)
                    if options.json:
                        print_json(result, indent=None)
                    save_results(evaluation, results, options.lang)
                    step(share, result)
    except KeyboardInterrupt:
        print_lines(words.report_text("stopped", options.lang, folder=evaluation.folder), error=True)
        return 130
    for result in results if options.json and shard else ():
        print_json(result, indent=None)
    if shard:
        done = {"shard": options.shard, "done": len(results), "cells": len(evaluation.cells())}
        print_lines(words.report_text("shard", options.lang, **done), error=True)
    for name in ("eval.json", "eval.html"):
        print_lines(evaluation.folder / name, error=options.json)
    return 0


def _export(options: argparse.Namespace) -> int:
    """Write what other benchmarks read."""
    from rope_core.errors import argument_error
    from rope_core.evaluate import harness, loading

    source = loading.resolve_model_source(options.model)
    ask = _ask(options).with_model_defaults(source)
    try:
        paths = harness.export_scheme_folders(source, ask, options.lm_eval, options.dtype, options.lang)
    except OSError as error:
        raise argument_error("--lm-eval", "export_folder", f"{options.lm_eval}: {error.strerror}") from error
    for path in paths:
        print_lines(path)
    return 0


def _ask(options: argparse.Namespace) -> EvaluationSettings:
    """Return what is measured, checked; raises ValueError."""
    from rope_core.errors import argument_error
    from rope_core.evaluate.loading import DTYPES
    from rope_core.evaluate.settings import EvaluationSettings

    given: dict[str, Any] = {name: tuple(getattr(options, name)) for name in ("lengths", "schemes", "tasks")}
    plain = {
        name: getattr(options, name) for name in ("factor", "trained", "documents", "trials", "seed", "batch", "chunk")
    }
    if options.dtype not in DTYPES:
        raise argument_error("--dtype", "one_of", options.dtype, names=DTYPES)
    return EvaluationSettings(**given, **plain)


def _prepared(options: argparse.Namespace) -> tuple[Evaluation, str]:
    """Load everything once all that can be refused before is settled, and say what it takes."""
    import torch

    from rope_core.errors import argument_error
    from rope_core.evaluate import cost, loading, vllm, words
    from rope_core.evaluate.settings import rope_variants

    set_torch_threads(options.threads)
    ask = _ask(options)
    if options.device_map and options.device != "auto":
        raise argument_error("--device-map", "eval_device_map", options.device_map)
    device = loading.SPREAD if options.device_map else _device(options.device)
    source = loading.resolve_model_source(options.model)
    ask = ask.with_model_defaults(source)
    rope_variants(source, ask)
    kind = getattr(torch, source.stored if options.dtype == "auto" else options.dtype)
    if options.engine == vllm.ENGINE:
        return _prepared_vllm(options, source, ask)
    size = cost.model_size(source.config, source.numbers)
    memory = size.reading_bytes(kind.itemsize, max(ask.lengths), ask.batch, min(ask.chunk, max(ask.lengths)))
    cost.check_free_memory(memory, device)
    free = cost.free_memory(device)
    loaded = loading.load_model(source, device, options.dtype)
    evaluation = _evaluation(options, loaded, ask)
    sample = evaluation.texts.documents[: ask.batch, : min(min(ask.lengths), 2 * ask.chunk, 512) + 1]
    rate = cost.measure_seconds_per_work(loaded, size, sample, ask.chunk)
    cells = evaluation.cells()
    seconds = rate * sum(map(evaluation.work, cells)) / ask.batch
    shown = f"{free / cost.GIB:.1f}"
    time = words.duration_text(seconds, options.lang)
    return evaluation, words.report_text(
        "needs", options.lang, memory=memory / cost.GIB, free=shown, time=time, cells=len(cells)
    )


def _evaluation(options: argparse.Namespace, loaded: LoadedModel, ask: EvaluationSettings) -> Evaluation:
    """Return an evaluation with its text and its folder."""
    from rope_core.errors import argument_error
    from rope_core.evaluate import texts
    from rope_core.evaluate.run import Evaluation

    read = texts.tokenize_files(options.text, loaded.coder, max(ask.lengths), ask.documents)
    folder = options.out or Path("rope-eval-" + re.sub(r"[^\w.-]+", "-", options.model).strip("-")[-60:])
    try:
        return Evaluation(loaded, read, ask, folder)
    except OSError as error:
        raise argument_error("--out", "eval_out_folder", f"{folder}: {error.strerror}") from error


def _prepared_vllm(options: argparse.Namespace, source: ModelSource, ask: EvaluationSettings) -> tuple[Evaluation, str]:
    """Return an evaluation that vLLM reads, and how often it loads the model; vLLM looks after memory itself."""
    import torch

    from rope_core.errors import argument_error
    from rope_core.evaluate import vllm, words

    if options.device != "auto":
        raise argument_error("--device", "eval_engine_device", options.device)
    cards = max(1, torch.cuda.device_count()) if options.device_map else 1
    evaluation = _evaluation(options, vllm.load_vllm(source, options.dtype, max(ask.lengths), cards), ask)
    cells = evaluation.cells()
    loads = len({(cell.line, cell.length) for cell in cells})
    return evaluation, words.report_text("needs_vllm", options.lang, loads=loads, cells=len(cells))


def _device(name: str) -> str:
    """Return torch's device; raises ValueError where it is not there."""
    import torch

    from rope_core.errors import argument_error

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return name
    count = torch.cuda.device_count() if kind == "cuda" else 0
    if not (number or "0").isdigit() or int(number or 0) >= count:
        raise argument_error("--device", "eval_device", name, count=count)
    return name


class _Step(Protocol):
    def __call__(self, share: float, cell: dict[str, Any]) -> None: ...


@contextmanager
def _progress() -> Iterator[_Step]:
    """Show a bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[cell]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        shown = bar.add_task("eval", total=1.0, cell="")

        def step(share: float, cell: dict[str, Any]) -> None:
            bar.update(shown, completed=share, cell=f"{cell['task']} {cell['line']} {cell['length']:,}")

        yield step
