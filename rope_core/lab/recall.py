"""Recall: how well each line predicts a stretch of text that occurred before, against the distance between the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.lab import cards, copying, corpus, plan, weights
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.lines import get_line
from rope_core.schemes import UNSCALED


@dataclass(frozen=True)
class RecallSettings:
    """What is measured, whole.

    Args:
        weights: names of shipped weights.
        lines: keys of the ladder's lines, all by default.
        length: bytes in all; the second occurrence ends the window.
        distances: bytes from the first occurrence to the second.
        trials: examples per distance, the same for every line and model.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    lines: tuple[str, ...] = ()
    length: int = 2048
    distances: tuple[int, ...] = (96, 192, 384, 768, 1536)
    trials: int = 16

    def __post_init__(self) -> None:
        self.cells()
        checked_int("trials", self.trials, 1, 10_000)
        if not self.distances:
            raise argument_error("distances", "at least one", self.distances)
        for distance in self.distances:
            self.examples(distance, 1)

    def examples(self, distance: int, count: int) -> npt.NDArray[np.uint8]:
        """Return examples of one distance, uint8 (count, length + 1), the same for every line and model."""
        source = b"".join(each.text for each in corpus.held_out_documents())
        rng = np.random.default_rng((0, self.length, distance))
        return copying.copy_examples(np.frombuffer(source, dtype=np.uint8), count, self.length + 1, rng, distance)

    def cells(self) -> list[tuple[str, str, int]]:
        """Return (weights, line, distance); weights that were fine-tuned under a scheme are read under it alone."""
        planned = plan.measurement_cells(self.weights, self.lines, (self.length,), None)
        return [(name, key, distance) for name, key, _ in planned if _reads(name, key) for distance in self.distances]


def _reads(name: str, key: str) -> bool:
    recipe, chosen = cards.get_weights_card(name).recipe, get_line(key)
    own = (chosen.scheme, chosen.times, chosen.sliding) == (recipe.scheme, 1.0, False)
    return recipe.scheme == UNSCALED or own


def measure_recall(settings: RecallSettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Measure cell by cell; yields the share of the work that is done, and the cell.

    The cell is that of ``plan.copied``; or "undefined" says why there is none.
    """
    for done, (name, key, distance) in plan.with_progress(settings.cells()):
        model = weights.load_shipped_model(name)
        examples = settings.examples(distance, settings.trials)
        if get_line(key).sliding:
            # Each of the last bytes is read from as many bytes as the sliding window of the ladder gives at most.
            examples = examples[:, -model.shape.context - 1 :]
        length = examples.shape[1] - 1
        result: dict[str, Any] = {"weights": name, "line": key, "length": settings.length, "distance": distance}
        if reason := plan.undefined_reason(model.shape, length):
            result["undefined"] = reason
        else:
            nats = byte_losses(model, examples, plan.line_encoding(model, key, length))
            result |= plan.copy_record(nats[:, -copying.SPAN :])
        yield done, result
