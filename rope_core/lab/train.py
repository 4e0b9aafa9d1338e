"""Training and fine-tuning: every step is a function of the recipe and its number, so a killed run goes on exactly."""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from rope_core.bench.environment import processor_name
from rope_core.errors import argument_error, checked_int
from rope_core.lab import copying, corpus, passkey
from rope_core.lab.model import LabModel
from rope_core.lab.positions import PositionEncoding, rotary_encoding_for
from rope_core.lab.recipe import TrainingRecipe
from rope_core.schemes import UNSCALED

CHECKPOINT = "checkpoint.safetensors"
EVERY = 50


@dataclass(frozen=True)
class TrainingProgress:
    """A run after ``step`` steps: the last loss, nats per byte."""

    step: int
    loss: float


@dataclass
class TrainingRun:
    """A model in training: weights, optimiser, and the loss of every step so far."""

    recipe: TrainingRecipe
    model: LabModel
    optimiser: torch.optim.AdamW
    losses: list[float]
    seconds: float = 0.0

    @property
    def step(self) -> int:
        """Steps done."""
        return len(self.losses)


def start_run(recipe: TrainingRecipe, start: LabModel | None = None) -> TrainingRun:
    """Return a run of no steps yet: fresh weights of the recipe's seed, or a copy of ``start``'s.

    A start of another encoding will do where positions have no weights of their own: rotation can be dropped.

    Raises ValueError when the recipe starts from weights that were not given, or of another shape.
    """
    if bool(recipe.start) != (start is not None):
        raise argument_error("start", f"the model of {recipe.start!r}" if recipe.start else "left out", start)
    model = LabModel(recipe.shape, recipe.seed)
    if start is not None:
        if replace(start.shape, encoding=recipe.shape.encoding) != recipe.shape or _names(start) != _names(model):
            raise argument_error("start", f"a model of shape {recipe.shape}", start.shape)
        model.load_state_dict(start.state_dict())
    return TrainingRun(recipe, model, _optimiser(model, recipe), [])


def _names(model: LabModel) -> set[str]:
    return set(model.state_dict())


def _optimiser(model: LabModel, recipe: TrainingRecipe) -> torch.optim.AdamW:
    matrices = [w for w in model.parameters() if w.dim() == 2]
    rest = [w for w in model.parameters() if w.dim() != 2]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.95))


def training_batch(text: npt.NDArray[np.uint8], recipe: TrainingRecipe, step: int) -> Tensor:
    """Return the bytes of one step, int64 (batch, length + 1), drawn by the recipe's seed and the step alone."""
    rng = np.random.default_rng([recipe.seed, step])
    size = recipe.length + 1
    if len(text) < size:
        raise argument_error("text", f"at least {size} bytes for windows of {recipe.length}", len(text))
    if recipe.task == "passkey":
        return torch.from_numpy(passkey.passkey_examples(text, recipe.batch, size, rng).astype(np.int64))
    if recipe.task == "copy":
        return torch.from_numpy(copying.copy_training_windows(text, recipe.batch, size, rng).astype(np.int64))
    starts = rng.integers(0, len(text) - size + 1, recipe.batch)
    return torch.from_numpy(np.stack([text[s : s + size] for s in starts]).astype(np.int64))


def loss_of(run: TrainingRun, bytes_: Tensor, precision: str) -> Tensor:
    """Return the mean loss, nats per byte; of the passkey task also the answer's, added."""
    recipe, inputs, targets = run.recipe, bytes_[:, :-1], bytes_[:, 1:]
    place = None if recipe.scheme == UNSCALED else _placed(recipe, inputs.shape[1])
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
        logits = run.model(inputs, place=place)
    each = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    if recipe.task == "passkey":
        return each.mean() + each[:, -passkey.DIGITS :].mean()
    return each.mean()


def _placed(recipe: TrainingRecipe, length: int) -> PositionEncoding:
    return rotary_encoding_for(recipe.shape, recipe.request).at(0, length)


def one_step(run: TrainingRun, text: npt.NDArray[np.uint8], precision: str = "float32") -> float:
    """Do one optimiser step and return its loss.

    Raises FloatingPointError when the loss is not finite: the weights are then still those of the step before.
    """
    recipe = run.recipe
    for group in run.optimiser.param_groups:
        group["lr"] = recipe.learning_rate(run.step)
    loss = loss_of(run, training_batch(text, recipe, run.step), precision)
    value = float(loss.detach())
    if not math.isfinite(value):
        raise FloatingPointError(f"the loss became {value} at step {run.step + 1}; a lower rate may help")
    run.optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
    run.optimiser.step()
    run.losses.append(value)
    return value


def train_model(
    recipe: TrainingRecipe,
    folder: Path,
    *,
    start: LabModel | None = None,
    text: npt.NDArray[np.uint8] | None = None,
    corpus_hash: str = "",
    precision: str = "float32",
    on_progress: Callable[[TrainingProgress], None] = lambda _: None,
    checkpoint_every: int = EVERY,
    stop_at_step: int | None = None,
) -> TrainingRun:
    """Train to the recipe's end, from the folder's checkpoint where it has one, and leave a checkpoint there.

    Args:
        recipe: what to train.
        folder: of this run alone; its checkpoint is replaced every ``checkpoint_every`` steps, whole or not at all.
        start: the model that the recipe starts from.
        text: uint8 (n,); None means this Python's standard library.
        corpus_hash: of ``text``, kept in the checkpoint.
        precision: "float32", or "bfloat16" for matrix products in it (three quarters of the time where the CPU has it).
        report: called after every step.
        stop: the step to end at before the recipe's end; the learning rate stays the recipe's.

    Raises ValueError when the folder's checkpoint is another recipe's or is damaged.
    """
    if precision not in ("float32", "bfloat16"):
        raise argument_error("precision", "float32 or bfloat16", precision)
    if text is None:
        text, corpus_hash = corpus.training_text_and_digest()
    folder.mkdir(parents=True, exist_ok=True)
    run = start_run(recipe, start)
    load_checkpoint_into(run, folder / CHECKPOINT)
    before, earlier = time.monotonic(), run.seconds
    end = recipe.steps if stop_at_step is None else checked_int("stop", stop_at_step, 1, recipe.steps)
    while run.step < end:
        loss = one_step(run, text, precision)
        passed = time.monotonic() - before
        run.seconds = earlier + passed
        on_progress(TrainingProgress(run.step, loss))
        if run.step % checkpoint_every == 0 or run.step == end:
            save_checkpoint(run, folder / CHECKPOINT, corpus_hash, precision)
    return run


def save_checkpoint(run: TrainingRun, path: Path, corpus_hash: str = "", precision: str = "float32") -> None:
    """Write a checkpoint, whole or not at all: beside the old one first, then in its place."""
    tensors = {f"model.{name}": value.detach() for name, value in run.model.state_dict().items()}
    for name, weight in run.model.named_parameters():
        for key, value in run.optimiser.state.get(weight, {}).items():
            tensors[f"optimiser.{key}.{name}"] = value
    tensors["losses"] = torch.tensor(run.losses, dtype=torch.float64)
    header = {"recipe": run.recipe.as_json(), "seconds": repr(run.seconds), "corpus": corpus_hash}
    header["hardware"] = json.dumps(hardware_record() | {"precision": precision})
    write_atomically(path, save({k: v.contiguous() for k, v in tensors.items()}, header))


def write_atomically(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Replace a file by ``data`` so that a reader, or a kill at any moment, finds the old or the new one.

    ``synced``: whether it outlives the machine's power too, which takes a wait for the disk.
    """
    # Workers in containers that share a folder can have one process id.
    new = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with new.open("wb") as file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


@dataclass(frozen=True)
class CheckpointHeader:
    """What a checkpoint says of its run, of its last steps where it went on on another machine."""

    recipe: TrainingRecipe
    seconds: float
    corpus: str
    hardware: dict[str, Any]


def checkpoint_header(path: Path) -> CheckpointHeader:
    """Read a checkpoint's header, or raise ValueError when there is none that can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            stored = file.metadata() or {}
        recipe, ran = TrainingRecipe.from_json(stored["recipe"]), json.loads(stored["hardware"])
        return CheckpointHeader(recipe, float(stored["seconds"]), stored["corpus"], ran)
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise argument_error("checkpoint", "a readable one", f"{path.name}: {error}") from error


def load_checkpoint_into(run: TrainingRun, path: Path) -> None:
    """Take up a checkpoint where there is one.

    Raises ValueError when it is of another recipe, or cannot be read.
    """
    if not path.exists():
        return
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise argument_error("folder", "one with a readable checkpoint, or none", f"{path.name}: {error}") from error
    if header.get("recipe") != run.recipe.as_json():
        raise argument_error(
            "folder", "empty or of the same recipe", f"a checkpoint with other {_other(header, run.recipe)}"
        )
    run.model.load_state_dict({k[len("model.") :]: v for k, v in tensors.items() if k.startswith("model.")})
    for name, weight in run.model.named_parameters():
        kept = {key: tensors[f"optimiser.{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
        run.optimiser.state[weight] = kept
    run.losses = tensors["losses"].tolist()
    run.seconds = float(header.get("seconds", "0"))


def _other(header: dict[str, str], recipe: TrainingRecipe) -> str:
    """Name the fields in which a checkpoint's recipe is another one."""
    there, here = json.loads(header.get("recipe", "{}")), json.loads(recipe.as_json())
    return ", ".join(sorted(name for name in here if there.get(name) != here[name]))


def hardware_record() -> dict[str, Any]:
    """Return what ran: processor, threads and versions, never a machine's name."""
    return {
        "processor": processor_name(),
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
