"""`rope eval`: any causal model of transformers under every scheme, on any text."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rope_core.cli.source import set_threads
from rope_core.cli.terminal import show, show_json

if TYPE_CHECKING:
    from rope_core.evaluate.run import Evaluation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "model",
        help="folder of a transformers model (safetensors), org/name, weights of the lab, or a folder of its runs",
    )
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="files to read, UTF-8")
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
    parser.add_argument("--dtype", default="auto", help="auto (as stored), float32, bfloat16, float16, float64")
    parser.add_argument("--batch", type=int, default=1, help="windows read together")
    parser.add_argument("--chunk", type=int, default=1024, help="tokens read at once, after a cache of those before")
    parser.add_argument("--threads", type=int, help="threads of torch; all cores by default")
    parser.add_argument("--out", type=Path, help="folder of the results; the same command goes on there after a kill")
    parser.add_argument("--plan", action="store_true", help="say what it would take, and stop")
    parser.add_argument("--json", action="store_true", help="one JSON line per cell on standard output")


def run(options: argparse.Namespace) -> int:
    """Measure what every scheme does to a model: perplexity by position, passkey, copying; JSON and HTML results."""
    from rope_core.evaluate import words
    from rope_core.evaluate.run import save

    evaluation, needs = _prepared(options)
    show(needs, error=True, flush=True)
    if options.plan:
        return 0
    evaluation.verify()
    results: list[dict[str, Any]] = []
    try:
        with _progress(options.json) as step:
            for share, cell in evaluation.run():
                results.append(cell)
                save(evaluation, results, options.lang)
                step(share, cell)
    except KeyboardInterrupt:
        show(words.word("stopped", options.lang, folder=evaluation.folder), error=True)
        return 130
    for name in ("eval.json", "eval.html"):
        show(evaluation.folder / name, error=options.json)
    return 0


def _prepared(options: argparse.Namespace) -> tuple[Evaluation, str]:
    """Load everything once all that can be refused before is settled, and say what it takes."""
    import torch

    from rope_core.errors import reject
    from rope_core.evaluate import cost, loading, texts, words
    from rope_core.evaluate.ask import TASKS, Ask, turnings
    from rope_core.evaluate.run import Evaluation

    set_threads(options.threads)
    given: dict[str, Any] = {name: tuple(getattr(options, name)) for name in ("lengths", "schemes", "tasks")}
    plain = {
        name: getattr(options, name) for name in ("factor", "trained", "documents", "trials", "seed", "batch", "chunk")
    }
    ask = Ask(**given, **plain)
    if options.dtype not in loading.DTYPES:
        raise reject("--dtype", "one_of", options.dtype, names=loading.DTYPES)
    device = _device(options.device)
    source = loading.find(options.model)
    ask = ask.of(source)
    turnings(source, ask)
    kind = getattr(torch, source.stored if options.dtype == "auto" else options.dtype)
    size = cost.size_of(source.config, source.numbers)
    memory = size.memory(kind.itemsize, max(ask.lengths), ask.batch, min(ask.chunk, max(ask.lengths)))
    cost.refuse_large(memory, device)
    free = cost.available(device)
    loaded = loading.load(source, device, options.dtype)
    read = texts.read(options.text, loaded.coder, max(ask.lengths), ask.documents)
    folder = options.out or Path("rope-eval-" + re.sub(r"[^\w.-]+", "-", options.model).strip("-")[-60:])
    try:
        evaluation = Evaluation(loaded, read, ask, folder)
    except OSError as error:
        raise reject("--out", "eval_out_folder", f"{folder}: {error.strerror}") from error
    sample = read.documents[: ask.batch, : min(min(ask.lengths), 2 * ask.chunk, 512) + 1]
    rate = cost.seconds_per_work(loaded, size, sample, ask.chunk)
    cells = evaluation.cells()
    seconds = rate * sum(map(evaluation.work, cells)) / ask.batch
    shown = f"{free / cost.GIB:.1f}"
    time = words.duration(seconds, options.lang)
    assert set(ask.tasks) <= set(TASKS)
    return evaluation, words.word(
        "needs", options.lang, memory=memory / cost.GIB, free=shown, time=time, cells=len(cells)
    )


def _device(name: str) -> str:
    """Return torch's device; raises ValueError where it is not there."""
    import torch

    from rope_core.errors import reject

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return name
    count = torch.cuda.device_count() if kind == "cuda" else 0
    if not (number or "0").isdigit() or int(number or 0) >= count:
        raise reject("--device", "eval_device", name, count=count)
    return name


class _Step(Protocol):
    def __call__(self, share: float, cell: dict[str, Any]) -> None: ...


@contextmanager
def _progress(as_json: bool) -> Iterator[_Step]:
    """Show a bar on standard error, and cells as JSON lines on standard output with --json."""
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
            if as_json:
                show_json(cell, indent=None)
            bar.update(shown, completed=share, cell=f"{cell['task']} {cell['line']} {cell['length']:,}")

        yield step
