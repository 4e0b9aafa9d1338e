"""Trained weights: kept as safetensors in bfloat16, known by name and hash, each with its card."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from rope_core.errors import RuleText, argument_error
from rope_core.lab import cards
from rope_core.lab.model import LabModel
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.shape import ModelShape
from rope_core.lab.train import CHECKPOINT, write_atomically


def as_bytes(model: LabModel, header: dict[str, str]) -> bytes:
    """Return a model as a safetensors file, bfloat16, with the shape and ``header`` in its header."""
    tensors = {name: value.detach().bfloat16().contiguous() for name, value in model.state_dict().items()}
    data: bytes = save(tensors, {"shape": json.dumps(model.shape.as_dict(), sort_keys=True), **header})
    return data


def write_weights(model: LabModel, path: Path, **header: str) -> str:
    """Write a model's weights, whole or not at all, and return their SHA-256."""
    data = as_bytes(model, header)
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def read_weights(path: Path, sha256: str = "") -> LabModel:
    """Read weights back as float32, ready for evaluation.

    Args:
        path: a file that ``write_weights`` wrote.
        sha256: what the file must hash to; "" means anything.

    Raises ValueError when the file is missing, too large, damaged, not of the hash, or holds values that are not
    finite.
    """
    again = RuleText("weights_again", {"folder": cards.INDEX.parent.name})
    cards.read_verified_file(path, sha256)
    try:
        with safe_open(path, framework="pt") as file:
            shape = ModelShape(**json.loads((file.metadata() or {})["shape"]))
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        model = LabModel(shape)
        model.load_state_dict(tensors)
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise argument_error("weights", "weights_file", f"{path.name}: {error}", again=again) from error
    bad = [name for name, value in tensors.items() if not bool(torch.isfinite(value).all())]
    if bad:
        raise argument_error("weights", "weights_finite", path.name, tensor=bad[0], again=again)
    return model.requires_grad_(False).eval()


@lru_cache(maxsize=4)
def load_shipped_model(name: str) -> LabModel:
    """Return shipped weights as a model, their hash checked; kept for the next call, so do not change it.

    Raises ValueError on an unknown name, and as ``read_weights`` does.
    """
    return read_weights(cards.weights_path(name), cards.get_weights_card(name).sha256)


def load_model_and_recipe(source: str) -> tuple[LabModel, TrainingRecipe]:
    """Return the model and recipe of shipped weights by name, or of a training run by its folder.

    Raises ValueError where there are no such weights, or no checkpoint that can be read.
    """
    if source in cards.weights_cards():
        return load_shipped_model(source), cards.get_weights_card(source).recipe
    path = Path(source) / CHECKPOINT
    if not path.parent.is_dir():
        raise argument_error("weights", "run_weights", source, names=cards.weights_cards())
    prefix = "model."
    try:
        with safe_open(path, framework="pt") as file:
            recipe = TrainingRecipe.from_json((file.metadata() or {})["recipe"])
            tensors = {name: file.get_tensor(name) for name in file.keys() if name.startswith(prefix)}  # noqa: SIM118
        model = LabModel(recipe.shape)
        model.load_state_dict({name.removeprefix(prefix): value for name, value in tensors.items()})
    except (SafetensorError, OSError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise argument_error("weights", "run_checkpoint", source) from error
    return model.requires_grad_(False).eval(), recipe
