"""What a run of the lab is trained by, read without the library that trains it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.lab.shape import ModelShape
from rope_core.schemes import UNSCALED
from rope_core.spectrum import Request

TASKS = ("text", "passkey", "copy")


@dataclass(frozen=True)
class TrainingRecipe:
    """Everything that a run's result depends on beside the corpus.

    Args:
        shape: of the model.
        seed: of the weights and of the order of the text.
        steps, batch: optimiser steps, and windows per step.
        window: bytes per window; None means the trained length.
        rate: AdamW's highest learning rate; it rises over ``warmup`` steps and falls in a straight line to a twentieth.
        decay: weight decay of the matrices.
        task: "text"; "passkey" for text with a hidden number, whose answer counts as much as the rest; "copy" for text
            in every second window and a stretch of it again and again in the others.
        start: name of the weights to start from; "" means fresh ones.
        scheme, params: how a fine-tune stretches the positions of a rope model.

    Raises ValueError on numbers out of range.
    """

    shape: ModelShape = field(default_factory=ModelShape)
    seed: int = 0
    steps: int = 1500
    batch: int = 16
    window: int | None = None
    rate: float = 3e-3
    warmup: int = 100
    decay: float = 0.1
    task: str = "text"
    start: str = ""
    scheme: str = UNSCALED
    params: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_int("seed", self.seed, 0, 2**31 - 1)
        checked_int("steps", self.steps, 1, 10_000_000)
        checked_int("batch", self.batch, 1, 4096)
        checked_int("warmup", self.warmup, 0, self.steps)
        if self.window is not None:
            checked_int("window", self.window, 2, 2**17)
        for name in ("rate", "decay"):
            if not 0 <= checked_finite(name, getattr(self, name)) <= 10:
                raise argument_error(name, "a number in [0, 10]", getattr(self, name))
        if self.task not in TASKS:
            raise argument_error("task", f"one of {', '.join(TASKS)}", self.task)
        if self.scheme != UNSCALED and self.shape.encoding != "rope":
            raise argument_error("scheme", f"{UNSCALED} for a model without rotary positions", self.scheme)
        self.request  # noqa: B018  parameters that do not fit the scheme are refused here

    @property
    def length(self) -> int:
        """Bytes per window."""
        return self.shape.context if self.window is None else self.window

    @property
    def request(self) -> Request:
        """The positions' frequencies, where the model is a rope one."""
        return Request(self.shape.rope, self.scheme, self.params, seq_len=self.length)

    def learning_rate(self, step: int) -> float:
        """Return the rate of step 0, 1, ...: up in a straight line, then down in one."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        left = (self.steps - step) / max(1, self.steps - self.warmup)
        return self.rate * max(0.05, left)

    def as_json(self) -> str:
        """Return the recipe as one line of JSON, keys in order: equal recipes give equal lines."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> TrainingRecipe:
        """Read what ``as_json`` wrote."""
        return cls.from_values(json.loads(text))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TrainingRecipe:
        """Return a recipe from its JSON values."""
        return cls(**{**values, "shape": ModelShape(**values["shape"])})
