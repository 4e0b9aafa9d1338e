"""A short fine-tune from shipped weights, step by step; killed at any moment, it goes on from its last checkpoint."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rope_core.errors import reject, whole
from rope_core.jobs.private import kept
from rope_core.lab import cards, corpus, plan, weights
from rope_core.lab.estimates import perplexity
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.lines import Line, line, lines
from rope_core.lab.positions import scaled
from rope_core.lab.recipe import Recipe
from rope_core.lab.train import CHECKPOINT, Progress, Run, begin, going_on, resume

RATE = 5e-4
EVERY = 10
MOST_STEPS = 2000
LONGEST = 8192
# A checkpoint takes 22 MB.
MOST_RUNS = 32


def recipe(name: str, key: str, window: int, steps: int, seed: int = 0) -> Recipe:
    """Return the fine-tune of shipped rope weights on longer windows under a line of the ladder.

    Args:
        name: of the weights.
        key: the line's.
        window: bytes per window; the factor is the window over the trained length.
        steps: of 4,096 bytes each, or one window where that is longer.
        seed: of the order of the text.

    Raises ValueError on weights without rotary positions, and on numbers out of range.
    """
    shape = cards.named(name).recipe.shape
    if shape.encoding != "rope":
        raise reject("weights", "rotary_weights", name)
    whole("window", window, shape.context, LONGEST)
    whole("steps", steps, 1, MOST_STEPS)
    request = trainable(key).request(shape, window)
    return Recipe(
        shape,
        seed=seed,
        steps=steps,
        batch=max(1, 16 * shape.context // window),
        window=window,
        rate=RATE,
        warmup=min(20, steps),
        start=name,
        scheme=request.scheme,
        params=plain(request.params),
    )


def trainable(key: str) -> Line:
    """Return a line that training can follow; raises ValueError on a window or a rule of position."""
    chosen = line(key)
    if not chosen.scales:
        raise reject("line", "scaling_line", key, names=[each.key for each in lines() if each.scales])
    return chosen


def plain(params: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters that are set, as a dict."""
    return {name: value for name, value in params.items() if value is not None}


def default_folder() -> Path:
    """Where runs are kept: ROPE_LAB_RUNS, else the user's data folder."""
    return kept("ROPE_LAB_RUNS", "runs")


def run_name(recipe: Recipe, *more: str) -> str:
    """Return a folder's name for a recipe: equal recipes share it, so an interrupted run is found again.

    Args:
        more: hashes of what the recipe only names: the weights that it starts from, the text.
    """
    digest = hashlib.sha256("\n".join([recipe.as_json(), *more]).encode()).hexdigest()
    return f"{recipe.start}-{recipe.scheme}-{digest[:10]}"


@dataclass(frozen=True)
class Ask:
    """What is fine-tuned, by the arguments of ``recipe``."""

    weights: str
    line: str
    window: int = 2048
    steps: int = 150
    seed: int = 0


def run(ask: Ask) -> Iterator[tuple[float, dict[str, Any]]]:
    """Fine-tune and report each step's loss; at the end the held-out perplexity over the window and its last quarter.

    Where the same run was cut short before, whoever began it, its steps so far come first, in one result per ten
    steps: a run is a function of its recipe, so there is nothing of a visitor's in it.
    """
    tuned = recipe(ask.weights, ask.line, ask.window, ask.steps, ask.seed)
    text, digest = corpus.training_bytes()
    name = run_name(tuned, cards.named(ask.weights).sha256, digest)
    folder = default_folder() / "finetune" / name
    make_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tuning = begin(tuned, weights.load(ask.weights))
    resume(tuning, folder / CHECKPOINT)
    for done in range(EVERY, tuning.step + 1, EVERY):
        yield done / tuned.steps, _progress(name, Progress(done, tuned.steps, tuning.losses[done - 1], 0.0))
    for each in going_on(tuning, text, folder / CHECKPOINT, digest, every=EVERY):
        yield each.step / each.steps, _progress(name, each)
    yield 1.0, {"run": name, **held_out(tuning)}


def make_room(folder: Path) -> None:
    """Remove the runs beside ``folder`` that were left alone for longest, so that with it there are ``MOST_RUNS``."""
    others = [path for path in folder.parent.glob(f"*/{CHECKPOINT}") if path.parent != folder]
    others.sort(key=lambda path: path.stat().st_mtime)
    for path in others[: max(0, len(others) - MOST_RUNS + 1)]:
        shutil.rmtree(path.parent, ignore_errors=True)


def _progress(name: str, each: Progress) -> dict[str, Any]:
    told = {"loss": round(each.loss, 5), "left": round(each.left, 1)}
    return {"run": name, "step": each.step, "steps": each.steps, **told}


def held_out(run: Run) -> dict[str, Any]:
    """Return the perplexity on 16 held-out documents over the run's window and its last quarter, with intervals."""
    length = min(run.recipe.length, len(corpus.held_out()[0].text) - 1)
    read = plan.documents(length, 16)
    nats = byte_losses(run.model, read, scaled(run.recipe.shape, run.recipe.request))
    return {"held_out": plan.three(perplexity(nats)), "last": plan.three(perplexity(nats, 0.75))}
