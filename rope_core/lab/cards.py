"""What is known of the shipped weights, read without the library that they run in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rope_core.errors import reject

INDEX = Path(__file__).parent / "weights" / "index.json"


@dataclass(frozen=True)
class Stored:
    """One entry of the index of weights.

    Attributes:
        name, sha256: of the file.
        recipe: what it was trained by, as JSON values.
        held_out: mean loss on the held-out documents, nats per byte, and its 95 % interval.
        date: of the run.
    """

    name: str
    sha256: str
    recipe: Mapping[str, Any]
    held_out: tuple[float, float, float]
    date: str

    @property
    def encoding(self) -> str:
        """How positions enter the model."""
        return str(self.recipe["shape"]["encoding"])

    @property
    def context(self) -> int:
        """Trained length, bytes."""
        return int(self.recipe["shape"]["context"])

    @property
    def task(self) -> str:
        """What it was trained to do."""
        return str(self.recipe["task"])

    @property
    def fresh(self) -> bool:
        """Whether it was trained from the start, on text: no fine-tune."""
        return not self.recipe["start"] and self.task == "text"


def stored() -> dict[str, Stored]:
    """Return the index's entries by name; {} where no weights are shipped."""
    if not INDEX.is_file():
        return {}
    return _stored(INDEX, INDEX.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _stored(path: Path, _: int) -> dict[str, Stored]:
    index = json.loads(path.read_text("utf-8"))
    return {
        name: Stored(name, each["sha256"], each["recipe"], tuple(each["held_out"]), each["date"])
        for name, each in index.items()
    }


def named(name: str) -> Stored:
    """Return one entry, or raise ValueError naming those there are."""
    shipped = stored()
    if name not in shipped:
        raise reject("weights", "one_of" if shipped else "no_weights", name, names=shipped)
    return shipped[name]
