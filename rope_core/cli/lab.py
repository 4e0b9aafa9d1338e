"""``rope lab``: train, fine-tune, evaluate and export the lab's model, record what the page shows."""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rope_core.cli.source import set_torch_threads
from rope_core.cli.terminal import print_json, print_lines
from rope_core.errors import argument_error
from rope_core.hf.read import open_regular
from rope_core.lab import cards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--threads", type=int, help="threads of torch; all cores by default")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser(
        "train", parents=[common], help="train a model; the same command again goes on where it was killed"
    )
    train.add_argument("--out", type=Path, required=True, help="folder of this run")
    train.add_argument("--encoding", help="rope, sinusoidal, learned, alibi, t5 or nope; that of --start, or rope")
    train.add_argument(
        "--task",
        default="text",
        help="text; passkey: a number to retrieve; copy: text that repeats",
    )
    train.add_argument("--start", default="", help="shipped weights to go on from")
    train.add_argument("--line", default="", help="a line of the ladder to fine-tune under, on --window bytes")
    train.add_argument("--window", type=int, help="bytes per window; the trained length by default")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--steps", type=int, default=1500)
    train.add_argument("--stop", type=int, help="end at this step; the learning rate stays that of all --steps")
    train.add_argument("--rate", type=float, help="highest learning rate")
    train.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    score = commands.add_parser("eval", parents=[common], help="perplexity of weights, every line at every length")
    score.add_argument("weights", nargs="*", help="names of shipped weights, or folders of runs; rope-0 by default")
    score.add_argument("--file", type=Path, help="a text to read; the held-out documents by default")
    score.add_argument("--lengths", type=int, nargs="+", default=[256, 512, 1024, 2048])
    score.add_argument("--lines", nargs="*", default=[])
    score.add_argument("--factor", type=float, help="of every line; by default the length over the trained one")
    score.add_argument("--documents", type=int, default=16)
    score.add_argument("--out", type=Path, help="folder that keeps each cell; what is there is not measured again")
    score.add_argument("--shard", help="i/n, i from 0: this worker's part of what n workers on one --out measure")
    score.add_argument("--json", action="store_true", help="one JSON line per cell")
    export = commands.add_parser("export", help="write rotary weights as a Hugging Face checkpoint, a Llama of bytes")
    export.add_argument("weights", help="a name of shipped weights, or the folder of a run")
    export.add_argument("folder", type=Path, help="new or empty")
    export.add_argument("--line", help="of the ladder, to be read under; what the weights were trained by, otherwise")
    export.add_argument("--length", type=int, default=2048, help="bytes that --line has to reach")
    export.add_argument("--factor", type=float, help="of --line; by default the length over the trained one")
    commands.add_parser("corpus", help="the file list: what differs on this machine from the shipped one")
    ship = commands.add_parser("ship", help="turn a finished run into shipped weights with a card")
    ship.add_argument("name")
    ship.add_argument("folder", type=Path)
    ship.add_argument("--stopped", action="store_true", help="a run that was stopped before its end will do")
    record = commands.add_parser("record", parents=[common], help="measure one kind of work and ship its record")
    record.add_argument("name")
    record.add_argument("kind")
    record.add_argument("arguments", help="arguments as JSON")
    commands.add_parser("cards", help="what weights are shipped")


def run(options: argparse.Namespace) -> int:
    """Train and evaluate a small language model past its trained length."""
    set_torch_threads(getattr(options, "threads", None))
    try:
        return _COMMANDS[options.command](options)
    except (FloatingPointError, OSError) as error:
        raise ValueError(str(error)) from error


def _train(options: argparse.Namespace) -> int:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from rope_core.lab import weights
    from rope_core.lab.train import TrainingProgress, train_model

    recipe = _recipe(options)
    start = weights.load_shipped_model(recipe.start) if recipe.start else None
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"), TimeRemainingColumn())
    with Bar(*columns) as bar:
        shown = bar.add_task("train", total=options.stop or recipe.steps, loss="")

        def step_done(p: TrainingProgress) -> None:
            bar.update(shown, completed=p.step, loss=f"{p.loss:.4f} nats/byte")

        run = train_model(
            recipe,
            options.out,
            start=start,
            precision=options.precision,
            on_progress=step_done,
            stop_at_step=options.stop,
        )
    rows = [f"{step},{loss:.6f}" for step, loss in enumerate(run.losses, 1)]
    (options.out / "loss.csv").write_text("step,nats_per_byte\n" + "\n".join(rows) + "\n", "utf-8")
    print_lines(
        f"{run.step} steps in {run.seconds:.0f} s, last loss {run.losses[-1]:.4f} nats per byte; {options.out}/loss.csv"
    )
    return 0


def _recipe(options: argparse.Namespace) -> Any:
    from rope_core.lab.lines import get_trainable_line
    from rope_core.lab.recipe import TrainingRecipe
    from rope_core.lab.shape import ModelShape

    shape = cards.get_weights_card(options.start).recipe.shape if options.start else ModelShape()
    if options.encoding:
        shape = replace(shape, encoding=options.encoding)
    given: dict[str, Any] = {"window": options.window, "task": options.task, "start": options.start}
    if options.rate is not None:
        given["rate"] = options.rate
    if options.window is not None:
        given["batch"] = max(1, 16 * shape.context // options.window)
    if options.line:
        scheme_request = get_trainable_line(options.line).request(shape, options.window or shape.context)
        params = {name: value for name, value in scheme_request.params.items() if value is not None}
        given |= {"scheme": scheme_request.scheme, "params": params}
    warmup = min(100, options.steps) if not options.start else min(20, options.steps)
    return TrainingRecipe(shape, seed=options.seed, steps=options.steps, warmup=warmup, **given)


def _eval(options: argparse.Namespace) -> int:
    from rope_core.lab import sweep, weights
    from rope_core.lab.plan import MAX_TEXT
    from rope_core.lab.shards import WorkShard

    shard = WorkShard.parse(options.shard) if options.shard is not None else WorkShard()
    if options.shard is not None and not options.out:
        raise argument_error("--shard", "shard_folder", options.shard)
    text = b""
    if options.file:
        with open_regular(options.file, "--file") as file:
            text = file.read(MAX_TEXT + 1)
    if options.file and not text:
        raise argument_error("--file", "a file that is not empty", options.file.name)
    sources = options.weights or ["rope-0"]
    shipped = tuple(source for source in sources if source in cards.weights_cards())
    runs = {source: weights.load_model_and_recipe(source)[0] for source in sources if source not in shipped}
    request = sweep.SweepSettings(
        shipped or tuple(cards.weights_cards())[:1],
        tuple(options.lines),
        tuple(options.lengths),
        options.factor,
        documents=options.documents,
        text=text,
    )
    pieces = sweep.unmeasured_cells(request, bool(shipped), runs)
    cells = (
        sweep.measure_sweep_shard([*pieces], options.out, shard)
        if options.out
        else (measure() for _, measure in pieces)
    )
    if not options.json:
        print_lines(
            f"perplexity per byte [95 %], text {sweep.documents_hash(request.read_documents())[:12]}, "
            f"{options.documents} documents"
        )
        print_lines(f"{'weights':<16} {'line':<11} {'length':>6}  {'window':>22}  {'last quarter':>22}")
    for cell in cells:
        if options.json:
            print_json(cell, indent=None)
            continue
        head = f"{cell['weights']:<16} {cell['line']:<11} {cell['length']:>6}  "
        two = [_cell(cell[name]) for name in ("whole", "last")] if "whole" in cell else [cell["undefined"], ""]
        print_lines(head + "  ".join(f"{each:>22}" for each in two), flush=True)
    return 0


def _export(options: argparse.Namespace) -> int:
    from rope_core.lab import weights
    from rope_core.lab.export import export_as_llama
    from rope_core.lab.lines import get_line, scheme_lines

    model, recipe = weights.load_model_and_recipe(options.weights)
    if model.shape.encoding != "rope":
        raise argument_error("weights", "rotary_weights", options.weights)
    request = recipe.request
    if options.line is not None:
        written = [each.key for each in scheme_lines() if not each.sliding]
        if options.line not in written:
            raise argument_error("line", "one_of", options.line, names=written)
        request = get_line(options.line).request(model.shape, options.length, options.factor)
    export_as_llama(model, request, options.folder)
    print_lines(options.folder)
    return 0


def _cell(three: Sequence[float | None]) -> str:
    value, low, high = three
    return f"{value:.3f}" + ("" if low is None else f" [{low:.2f}, {high:.2f}]")


def _corpus(_: argparse.Namespace) -> int:
    from rope_core.lab import corpus

    changed, manifest = corpus.manifest_differences(), corpus.shipped_corpus_manifest()
    print_lines(f"{len(manifest['files'])} files of Python {manifest['python']}, {corpus.LICENCE}")
    print_lines("the same here" if not changed else f"{len(changed)} differ here: " + ", ".join(changed[:20]))
    return 0


def _ship(options: argparse.Namespace) -> int:
    from rope_core.lab import ship

    card = ship.release_weights(options.name, options.folder, _today(), options.stopped)
    ship.write_cards()
    print_lines(f"{card.name}: {card.bytes:,} bytes, held-out loss {card.held_out[0]:.4f} nats per byte")
    return 0


def _record(options: argparse.Namespace) -> int:
    from rope_core.lab import ship

    path = ship.measure_and_ship_record(options.name, options.kind, json.loads(options.arguments), _today())
    print_lines(f"{path.name}: {path.stat().st_size:,} bytes")
    return 0


def _cards(_: argparse.Namespace) -> int:
    for name, card in cards.weights_cards().items():
        value, low, high = card.held_out
        print_lines(
            f"{name:<16} {card.bytes:>9,} B  held out {value:.4f} [{low:.4f}, {high:.4f}] nats/byte, {card.date}"
        )
    return 0


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


_COMMANDS = {
    "train": _train,
    "eval": _eval,
    "export": _export,
    "corpus": _corpus,
    "ship": _ship,
    "record": _record,
    "cards": _cards,
}
