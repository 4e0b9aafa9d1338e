"""Passkey retrieval: how often a line finds a number hidden at a depth of a text of a length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.lab import cards, corpus, passkey, plan, weights
from rope_core.lab.evaluate import AT_ONCE
from rope_core.lab.lines import get_line
from rope_core.lab.model import LabModel
from rope_core.lab.positions import PositionEncoding


def digits_right(
    model: LabModel, examples: npt.NDArray[np.uint8], place: PositionEncoding | None = None
) -> npt.NDArray[np.bool_]:
    """Return which of the answer's digits are the likeliest byte, bool (examples, digits), of uint8 (examples, length).

    The true digits are fed, whatever was likeliest. All are right exactly when greedy decoding gives the whole answer:
    up to its first mistake greedy decoding has fed itself the true digits, so both read the same bytes.
    """
    count, length = examples.shape
    plan.check_lab_memory(model.shape, length)
    together = max(1, AT_ONCE // length)
    right = np.empty((count, passkey.DIGITS), dtype=np.bool_)
    with torch.inference_mode():
        for first in range(0, count, together):
            part = torch.from_numpy(examples[first : first + together].astype(np.int64))
            here = None if place is None else place.at(0, length - 1)
            likeliest = model(part[:, :-1], place=here)[:, -passkey.DIGITS :].argmax(-1)
            right[first : first + together] = (likeliest == part[:, -passkey.DIGITS :]).numpy()
    return right


@dataclass(frozen=True)
class RetrievalSettings:
    """A retrieval, whole: which models answer, by which lines, where the number is.

    Args:
        weights: names of shipped weights; none means all that were trained on the task.
        lines: keys of the ladder's lines, all by default.
        lengths: bytes in all, the answer included.
        depths: where the number is, 0 at the start and 1 just before the question.
        trials: examples per cell; the same ones for every line.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    lengths: tuple[int, ...] = (256, 512, 1024, 2048)
    depths: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    trials: int = 8

    def __post_init__(self) -> None:
        trained = tuple(name for name, each in cards.weights_cards().items() if each.task == "passkey")
        object.__setattr__(self, "weights", tuple(self.weights) or trained)
        if not self.weights:
            raise argument_error("weights", "passkey_weights", self.weights)
        self.cells()
        checked_int("trials", self.trials, 1, 10_000)
        if not self.depths:
            raise argument_error("depths", "some_values", self.depths)
        for depth in self.depths:
            if not 0.0 <= checked_finite("depths", depth) <= 1.0:
                raise argument_error("depths", "number_range", depth, low=0, high=1)
        for length in self.lengths:
            self.examples(length, self.depths[0], 1)

    def examples(self, length: int, depth: float, count: int) -> npt.NDArray[np.uint8]:
        """Return examples of one length and depth, uint8 (count, length), the same for every line and model."""
        filler = b"".join(each.text for each in corpus.held_out_documents())
        rng = np.random.default_rng((0, length, round(depth * 1e6)))
        return passkey.passkey_examples(np.frombuffer(filler, dtype=np.uint8), count, length, rng, depth)

    def cells(self) -> list[tuple[str, str, int, float]]:
        """Return (weights, line, length, depth), short lengths first."""
        planned = plan.measurement_cells(self.weights, self.lines, self.lengths, None)
        return [(*each, depth) for each in planned for depth in self.depths]


def measure_retrieval(settings: RetrievalSettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Ask cell by cell; yields the share of the work that is done, and the cell.

    The cell is that of ``plan.accuracy_record``; of digits one in ten is right by luck. "undefined" says why none.
    """
    for done, (name, key, length, depth) in plan.with_progress(settings.cells(), lambda each: each[2]):
        model = weights.load_shipped_model(name)
        result: dict[str, Any] = {"weights": name, "line": key, "length": length, "depth": depth}
        examples = settings.examples(length, depth, settings.trials)
        if get_line(key).sliding:
            examples = examples[:, -model.shape.context :]
        reason = plan.undefined_reason(model.shape, examples.shape[1] - 1)
        if reason:
            result["undefined"] = reason
        else:
            place = plan.line_encoding(model, key, examples.shape[1])
            result |= plan.accuracy_record([*digits_right(model, examples, place)])
        yield done, result
