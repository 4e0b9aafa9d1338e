"""One document read byte by byte: the loss of each byte under several lines, and the text itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rope_core.errors import checked_int
from rope_core.lab import cards, corpus, plan, weights
from rope_core.lab.evaluate import byte_losses, sliding_losses
from rope_core.lab.lines import get_line


@dataclass(frozen=True)
class BytewiseSettings:
    """What is read, whole.

    Args:
        weights: name of shipped weights.
        lines: keys of the ladder's lines, all by default.
        length: bytes that are judged; each but the first of the document, given all before it.
        document: place among the held-out documents, from 0.

    Raises ValueError on values that make no such work.
    """

    weights: str = "rope-0"
    lines: tuple[str, ...] = ()
    length: int = 2048
    document: int = 0

    def __post_init__(self) -> None:
        plan.checked_weight_names((self.weights,))
        plan.checked_lengths((self.length,))
        checked_int("document", self.document, 0, len(corpus.held_out_documents()) - 1)
        plan.evaluation_documents(self.length, self.document + 1)
        object.__setattr__(
            self, "lines", plan.readable_lines(cards.get_weights_card(self.weights).recipe.shape, self.lines)
        )


def measure_byte_losses(settings: BytewiseSettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Read line by line; yields the share of the work that is done, and the line's result.

    "nats" holds the loss of bytes 1 to ``length``; "text" is the document from byte 0 on, so one letter longer.
    """
    model = weights.load_shipped_model(settings.weights)
    read = plan.evaluation_documents(settings.length, settings.document + 1)[settings.document :]
    text = read[0].tobytes().decode("ascii")
    for done, key in plan.with_progress(settings.lines):
        sliding = get_line(key).sliding
        nats = (
            sliding_losses(model, read)
            if sliding
            else byte_losses(model, read, plan.line_encoding(model, key, settings.length))
        )
        yield (
            done,
            {
                "weights": settings.weights,
                "line": key,
                "length": settings.length,
                "document": settings.document,
                "path": corpus.held_out_documents()[settings.document].path,
                "text": text,
                "nats": nats[0].round(4).tolist(),
            },
        )
