"""From finished runs to what is shipped: weights with their cards, records of measurements."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.lab import cards, corpus, records, weights
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.positions import rotary_encoding_for
from rope_core.lab.train import CHECKPOINT, checkpoint_header, load_checkpoint_into, start_run, write_atomically
from rope_core.schemes import UNSCALED


def release_weights(name: str, folder: Path, date: str, stopped: bool = False) -> cards.WeightsCard:
    """Turn a finished run's checkpoint into shipped weights with a card; returns the card.

    Args:
        name: of the weights.
        folder: of the run.
        date: when it ran, YYYY-MM-DD.
        stopped: whether a run that was stopped before its end will do.

    Raises ValueError when the run is not at its end and need be.
    """
    header = checkpoint_header(folder / CHECKPOINT)
    run = start_run(header.recipe, weights.load_shipped_model(header.recipe.start) if header.recipe.start else None)
    load_checkpoint_into(run, folder / CHECKPOINT)
    if run.step < header.recipe.steps and not stopped:
        raise argument_error("folder", "of a finished run", f"{run.step} of {header.recipe.steps} steps")
    path = cards.weights_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = weights.write_weights(run.model, path, recipe=header.recipe.as_json(), corpus=header.corpus)
    card: dict[str, Any] = {
        "sha256": digest,
        "bytes": path.stat().st_size,
        "recipe": asdict(header.recipe),
        "loss": round(float(np.mean(run.losses[-100:])), 6),
        "losses": [round(float(np.mean(run.losses[i : i + 25])), 4) for i in range(0, run.step, 25)],
        **({"stopped": run.step} if run.step < header.recipe.steps else {}),
        "held_out": _held_out(weights.read_weights(path), header.recipe),
        "corpus": header.corpus,
        "seconds": round(run.seconds, 1),
        "hardware": header.hardware,
        "date": date,
    }
    index = json.loads(cards.INDEX.read_text("utf-8")) if cards.INDEX.is_file() else {}
    index[name] = card
    write_atomically(cards.INDEX, (json.dumps(dict(sorted(index.items())), indent=1) + "\n").encode())
    weights.load_shipped_model.cache_clear()
    return cards.get_weights_card(name)


def _held_out(model: Any, recipe: Any) -> list[float]:
    """Mean loss over the held-out documents at the run's own window, with its interval, nats per byte."""
    documents = np.stack([np.frombuffer(each.text, dtype=np.uint8) for each in corpus.held_out_documents()])
    length = min(recipe.length, documents.shape[1] - 1)
    place = None if recipe.scheme == UNSCALED else rotary_encoding_for(model.shape, recipe.request)
    whole = window_perplexity(byte_losses(model, documents[:, : length + 1], place))
    return [round(float(np.log(v)), 6) for v in (whole.value, whole.low, whole.high)]


FIRST_WEIGHTS = "rope-0"
"""The weights whose command the cards show."""


def write_cards() -> None:
    """Write the model cards, one table for all shipped weights."""
    stored = cards.weights_cards()
    every = stored.values()
    rows = [_card_row(card) for card in every]
    ran = ", ".join(sorted({f"{c.hardware['processor']}, torch {c.hardware['torch']}" for c in every}))
    manifest = corpus.shipped_corpus_manifest()
    threads = " or ".join(map(str, sorted({each.hardware["threads"] for each in every})))
    more = {"rows": "\n".join(rows), "files": len(manifest["files"]), "ran": ran, "threads": threads}
    first = stored.get(FIRST_WEIGHTS, next(iter(every)))
    more["first_threads"] = first.hardware["threads"]
    text = Path(__file__).with_name("cards.md").read_text("utf-8").format(**(manifest | more))
    write_atomically(cards.INDEX.parent / "README.md", text.encode())


def _card_row(card: cards.WeightsCard) -> str:
    recipe, shape = card.recipe, card.recipe.shape
    how = recipe.task if not recipe.start else f"{recipe.task}, from {recipe.start}"
    if recipe.scheme != UNSCALED:
        how += f", {recipe.scheme} × {recipe.params['factor']:g}"
    value, low, high = card.held_out
    cells = (
        card.name,
        shape.encoding,
        how,
        f"{f'{card.stopped:,} of ' if card.stopped else ''}{recipe.steps:,} × {recipe.batch} × {recipe.length:,}",
        str(recipe.seed),
        f"{card.loss:.4f}",
        f"{value:.4f} [{low:.4f}, {high:.4f}]",
        f"{card.seconds / 60:.0f}",
        f"`{card.sha256[:12]}`",
    )
    return "| " + " | ".join(cells) + " |"


def measure_and_ship_record(name: str, kind: str, arguments: dict[str, Any], date: str) -> Path:
    """Measure one kind of work and ship its record; returns the file.

    The record's text is the hash of the held-out documents, which every kind reads unless it was given a text.
    """
    read = (
        base64.b64decode(arguments["text"])
        if "text" in arguments
        else b"".join(d.text for d in corpus.held_out_documents())
    )
    measured = records.measure_record(kind, arguments, hashlib.sha256(read).hexdigest(), date)
    path = records.FOLDER / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    records.write_record(measured, path)
    records.shipped_record.cache_clear()
    return path
