"""Text that the model writes, byte by byte with a cache, line by line: what a user sees when scaling is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_core.errors import argument_error, checked_int
from rope_core.lab import corpus, plan, weights
from rope_core.lab.lines import get_line
from rope_core.lab.model import KeyValueCache, LabModel
from rope_core.lab.positions import PositionEncoding, rotary_encoding_for
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request

PROMPT_END = 60


@dataclass(frozen=True)
class GeneratedText:
    """What came out of a prompt.

    Attributes:
        text: the bytes written.
        truth_loss: mean loss of the bytes that truly follow, each given the true ones before it, nats per byte;
            NaN where none were given.
    """

    text: bytes
    truth_loss: float


@dataclass(frozen=True)
class DecodingPositions:
    """The positions in force while a model reads on: where a scheme follows the length, others at each length."""

    model: LabModel
    request: Request | None

    @property
    def is_length_dependent(self) -> bool:
        """Whether they change with the length."""
        return self.request is not None and SCHEMES[self.request.scheme].follows_length

    @cached_property
    def fixed_encoding(self) -> PositionEncoding:
        """The one set of positions of a scheme that does not follow the length; None as a request: the trained ones."""
        return self.model.position if self.request is None else rotary_encoding_for(self.model.shape, self.request)

    def encoding_at(self, before: int, count: int) -> PositionEncoding:
        """Return the positions of ``count`` bytes after ``before`` others, at the length that is then reached."""
        if self.request is None or not self.is_length_dependent:
            return self.fixed_encoding.at(before, count)
        return rotary_encoding_for(self.model.shape, replace(self.request, seq_len=before + count)).at(before, count)


def next_byte_logits(tokens: Tensor, cache: KeyValueCache, positions: DecodingPositions) -> Tensor:
    """Read tokens (B, S) after what the cache holds, and return the logits (B, S, 256) of the byte after each.

    All keys, those read before too, are turned by the frequencies of the length then reached.
    """
    here = positions.encoding_at(cache.length, tokens.shape[1])
    logits: Tensor = positions.model(tokens, place=here, cache=cache)
    return logits


def truth_losses(
    logits: Tensor, cache: KeyValueCache, truth: bytes, places: DecodingPositions
) -> npt.NDArray[np.float64]:
    """Return the loss of each true byte given those before it, nats, float64 (bytes,).

    Args:
        logits: (1, 256), of the first one.
        cache: holds what was read before; left as it is.
    """
    own, ids = KeyValueCache(list(cache.layers)), torch.tensor([list(truth)])
    # One byte at a time where each length has its own frequencies, else all at once.
    step = 1 if places.is_length_dependent else len(truth)
    parts = [ids[:, first : min(first + step, len(truth) - 1)] for first in range(0, len(truth) - 1, step)]
    read = [logits[:, None], *(next_byte_logits(part, own, places) for part in parts)]
    nats = F.cross_entropy(torch.cat(read, 1)[0], ids[0], reduction="none")
    return nats.double().numpy()


def generate_greedily(
    model: LabModel, prompt: bytes, new: int, request: Request | None = None, *, truth: bytes = b""
) -> GeneratedText:
    """Write the ``new`` likeliest bytes after a prompt; beside it, read the truth under the very same positions.

    Args:
        request: frequencies of a rope model; None means the trained positions.
        truth: what truly follows, ``new`` bytes of it, or empty.

    Raises ValueError on an empty prompt, or a truth of another length.
    """
    if not prompt:
        raise argument_error("prompt", "some_bytes", prompt)
    checked_int("new", new, 1, plan.MAX_LENGTH)
    if truth and len(truth) != new:
        raise argument_error("truth", "bytes_exactly", len(truth), size=new)
    plan.check_lab_memory(model.shape, len(prompt) + new)
    places, cache, written = DecodingPositions(model, request), KeyValueCache([]), bytearray()
    with torch.inference_mode():
        logits = next_byte_logits(torch.tensor([list(prompt)]), cache, places)[:, -1]
        loss = float(truth_losses(logits, cache, truth, places).mean()) if truth else math.nan
        for _ in range(new):
            if written:
                logits = next_byte_logits(torch.tensor([[written[-1]]]), cache, places)[:, -1]
            written.append(int(np.argmax(logits[0].numpy())))
    return GeneratedText(bytes(written), loss)


@dataclass(frozen=True)
class GenerationSettings:
    """What is written, whole.

    Args:
        weights: names of shipped weights.
        lines: keys of the ladder's lines, all by default.
        lengths: bytes in all, prompt and ``new`` ones together. The same place in the document is written on from at
            every length: a longer prompt begins further ahead of it.
        new: bytes to write.
        document: which of the held-out documents, by number from 0.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    lines: tuple[str, ...] = ()
    lengths: tuple[int, ...] = (256, 2048)
    new: int = 100
    document: int = 0

    def __post_init__(self) -> None:
        plan.checked_weight_names(self.weights)
        lengths = plan.checked_lengths(self.lengths)
        checked_int("new", self.new, 1, 4096)
        if self.new >= lengths[0]:
            raise argument_error("lengths", "beyond_written", lengths[0], new=self.new)
        self.read_document()
        self.cells()

    def read_document(self) -> bytes:
        """Return the document up to where the longest length ends."""
        longest = max(self.lengths)
        kept = corpus.held_out_documents()
        text = kept[checked_int("document", self.document, 0, len(kept) - 1)].text
        if longest > len(text):
            raise argument_error("lengths", "held_out_most", longest, limit=len(text))
        return text[:longest]

    def cells(self) -> list[tuple[str, str, int]]:
        """Return (weights, line, length), short lengths first."""
        return plan.measurement_cells(self.weights, self.lines, self.lengths, None, include_sliding=False)


def generate_texts(settings: GenerationSettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Write cell by cell; yields the share of the work that is done, and the cell.

    A cell holds the last bytes of the prompt ("prompt_end"), what was written ("text"), what the document has there
    ("truth") and the truth's mean loss in nats per byte, or why positions are "undefined".
    """
    document = settings.read_document()
    cut = len(document) - settings.new
    for done, (name, key, length) in plan.with_progress(settings.cells(), lambda each: each[2]):
        model = weights.load_shipped_model(name)
        result: dict[str, Any] = {"weights": name, "line": key, "length": length}
        prompt, truth = document[len(document) - length : cut], document[cut:]
        reason = plan.undefined_reason(model.shape, length)
        if reason:
            result["undefined"] = reason
        else:
            rotary = model.shape.encoding == "rope"
            request = get_line(key).request(model.shape, length) if rotary else None
            written = generate_greedily(model, prompt, settings.new, request, truth=truth)
            result |= {
                "prompt_end": as_text(prompt[-PROMPT_END:]),
                "text": as_text(written.text),
                "truth": as_text(truth),
                "truth_loss": round(written.truth_loss, 6),
            }
        yield done, result


def as_text(data: bytes) -> str:
    """Return bytes as text; what is no UTF-8 shows as the replacement character."""
    return data.decode("utf-8", "replace")
