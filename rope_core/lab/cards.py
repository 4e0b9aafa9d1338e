"""What is known of the shipped weights, read without the library that they run in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rope_core.errors import RuleText, argument_error
from rope_core.lab.recipe import TrainingRecipe

INDEX = Path(__file__).parent / "weights" / "index.json"
MAX_BYTES = 64 * 2**20


@dataclass(frozen=True)
class WeightsCard:
    """What is known of shipped weights.

    Attributes:
        name, sha256, bytes: of the file.
        recipe: what it was trained by.
        held_out: mean loss on the held-out documents, nats per byte, and its 95 % interval.
        loss: mean training loss of the last 100 steps, nats per byte.
        losses: mean training loss of every 25 steps.
        corpus: digest of the corpus.
        seconds, hardware, date: of the run.
        stopped: the step at which the run was stopped before its recipe's end; None at its end.
    """

    name: str
    sha256: str
    recipe: TrainingRecipe
    held_out: tuple[float, float, float]
    date: str
    bytes: int = 0
    loss: float = 0.0
    losses: tuple[float, ...] = ()
    corpus: str = ""
    seconds: float = 0.0
    hardware: Mapping[str, Any] = field(default_factory=dict)
    stopped: int | None = None

    @property
    def encoding(self) -> str:
        """How positions enter the model."""
        return self.recipe.shape.encoding

    @property
    def context(self) -> int:
        """Trained length, bytes."""
        return self.recipe.shape.context

    @property
    def task(self) -> str:
        """What it was trained to do."""
        return self.recipe.task

    @property
    def is_trained_from_scratch(self) -> bool:
        """Whether it was trained from the start, on text: no fine-tune."""
        return not self.recipe.start and self.task == "text"


def weights_cards() -> dict[str, WeightsCard]:
    """Return the cards of the shipped weights by name; {} where none are shipped."""
    if not INDEX.is_file():
        return {}
    return _stored(INDEX, INDEX.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _stored(path: Path, _: int) -> dict[str, WeightsCard]:
    index = json.loads(path.read_text("utf-8"))
    lists = ("held_out", "losses")
    return {
        name: WeightsCard(
            name,
            **{**each, "recipe": TrainingRecipe.from_values(each["recipe"])} | {key: tuple(each[key]) for key in lists},
        )
        for name, each in index.items()
    }


def get_weights_card(name: str) -> WeightsCard:
    """Return the card of shipped weights, or raise ValueError naming those there are."""
    shipped = weights_cards()
    if name not in shipped:
        raise argument_error("weights", "one_of" if shipped else "no_weights", name, names=shipped)
    return shipped[name]


def weights_path(name: str) -> Path:
    """Return the file of weights by their name."""
    return INDEX.parent / f"{name}.safetensors"


def read_verified_file(path: Path, sha256: str = "") -> bytes:
    """Return a file of weights, which hashes to ``sha256``; "" means to anything.

    Raises ValueError when it is missing, larger than 64 MiB, or not of the hash.
    """
    again = RuleText("weights_again", {"folder": INDEX.parent.name})
    if not path.is_file():
        raise argument_error("weights", "weights_there", path.name, again=again)
    if path.stat().st_size > MAX_BYTES:
        raise argument_error("weights", "at_most_bytes", path.stat().st_size, limit=MAX_BYTES)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if sha256 and digest != sha256:
        raise argument_error(
            "weights", "weights_hash", f"{path.name}: {digest[:12]}…", hash=f"{sha256[:12]}…", again=again
        )
    return data
