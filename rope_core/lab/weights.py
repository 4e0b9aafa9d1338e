"""Trained weights: kept as safetensors in bfloat16, known by name and hash, each with its card."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from rope_core.errors import Rule, reject
from rope_core.lab.cards import INDEX as INDEX
from rope_core.lab.model import Model
from rope_core.lab.shape import Shape
from rope_core.lab.train import CHECKPOINT, Recipe, write_whole

FOLDER = INDEX.parent
MAX_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Card:
    """What is known of shipped weights.

    Attributes:
        name: of the weights.
        sha256, bytes: of the file.
        recipe: what it was trained by.
        loss: mean training loss of the last 100 steps, nats per byte.
        losses: mean training loss of every 25 steps.
        held_out: mean loss on the held-out documents at the trained length, nats per byte, and its 95 % interval.
        corpus: digest of the corpus.
        seconds, hardware, date: of the run.
        stopped: the step at which the run was stopped before its recipe's end; None at its end.
    """

    name: str
    sha256: str
    bytes: int
    recipe: Recipe
    loss: float
    losses: tuple[float, ...]
    held_out: tuple[float, float, float]
    corpus: str
    seconds: float
    hardware: dict[str, Any]
    date: str
    stopped: int | None = None


def as_bytes(model: Model, header: dict[str, str]) -> bytes:
    """Return a model as a safetensors file, bfloat16, with the shape and ``header`` in its header."""
    tensors = {name: value.detach().bfloat16().contiguous() for name, value in model.state_dict().items()}
    data: bytes = save(tensors, {"shape": json.dumps(model.shape.as_dict(), sort_keys=True), **header})
    return data


def write(model: Model, path: Path, **header: str) -> str:
    """Write a model's weights, whole or not at all, and return their SHA-256."""
    data = as_bytes(model, header)
    write_whole(path, data)
    return hashlib.sha256(data).hexdigest()


def read(path: Path, sha256: str = "") -> Model:
    """Read weights back as float32, ready for evaluation.

    Args:
        path: a file that ``write`` wrote.
        sha256: what the file must hash to; "" means anything.

    Raises ValueError when the file is missing, too large, damaged, not of the hash, or holds values that are not
    finite.
    """
    again = Rule("weights_again", {"folder": FOLDER.name})
    if not path.is_file():
        raise reject("weights", "weights_there", path.name, again=again)
    if path.stat().st_size > MAX_BYTES:
        raise reject("weights", "at_most_bytes", path.stat().st_size, limit=MAX_BYTES)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 and digest != sha256:
        raise reject("weights", "weights_hash", f"{path.name}: {digest[:12]}…", hash=f"{sha256[:12]}…", again=again)
    try:
        with safe_open(path, framework="pt") as file:
            shape = Shape(**json.loads((file.metadata() or {})["shape"]))
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        model = Model(shape)
        model.load_state_dict(tensors)
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise reject("weights", "weights_file", f"{path.name}: {error}", again=again) from error
    bad = [name for name, value in tensors.items() if not bool(torch.isfinite(value).all())]
    if bad:
        raise reject("weights", "weights_finite", path.name, tensor=bad[0], again=again)
    return model.requires_grad_(False).eval()


@lru_cache(maxsize=1)
def cards() -> dict[str, Card]:
    """Return the cards of the shipped weights by name."""
    if not INDEX.is_file():
        return {}
    stored = json.loads(INDEX.read_text("utf-8"))
    return {name: _card(name, card) for name, card in stored.items()}


def _card(name: str, card: dict[str, Any]) -> Card:
    recipe = Recipe.from_json(json.dumps(card["recipe"]))
    return Card(
        name,
        recipe=recipe,
        held_out=tuple(card["held_out"]),
        losses=tuple(card["losses"]),
        stopped=card.get("stopped"),
        **{k: card[k] for k in _PLAIN},
    )


_PLAIN = ("sha256", "bytes", "loss", "corpus", "seconds", "hardware", "date")


def card(name: str) -> Card:
    """Return the card of shipped weights, or raise ValueError naming those there are."""
    if name not in cards():
        raise reject("weights", "one_of" if cards() else "no_weights", name, names=cards())
    return cards()[name]


@lru_cache(maxsize=4)
def load(name: str) -> Model:
    """Return shipped weights as a model, their hash checked; kept for the next call, so do not change it.

    Raises ValueError on an unknown name, and as ``read`` does.
    """
    return read(FOLDER / f"{name}.safetensors", card(name).sha256)


def model_of(source: str) -> tuple[Model, Recipe]:
    """Return the model and recipe of shipped weights by name, or of a training run by its folder.

    Raises ValueError where there are no such weights, or no checkpoint that can be read.
    """
    if source in cards():
        return load(source), card(source).recipe
    path = Path(source) / CHECKPOINT
    if not path.parent.is_dir():
        raise reject("weights", "run_weights", source, names=cards())
    prefix = "model."
    try:
        with safe_open(path, framework="pt") as file:
            recipe = Recipe.from_json((file.metadata() or {})["recipe"])
            tensors = {name: file.get_tensor(name) for name in file.keys() if name.startswith(prefix)}  # noqa: SIM118
        model = Model(recipe.shape)
        model.load_state_dict({name.removeprefix(prefix): value for name, value in tensors.items()})
    except (SafetensorError, OSError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise reject("weights", "run_checkpoint", source) from error
    return model.requires_grad_(False).eval(), recipe


def names(encoding: str = "", task: str = "") -> list[str]:
    """Return the names of shipped weights, of one encoding and task where given."""
    return [
        name
        for name, each in cards().items()
        if encoding in ("", each.recipe.shape.encoding) and task in ("", each.recipe.task)
    ]
