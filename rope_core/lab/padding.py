"""Padding and position ids, right and wrong: what each does to a model's logits and perplexity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_core.errors import reject, whole
from rope_core.lab import plan, weights
from rope_core.lab.estimates import perplexity
from rope_core.lab.model import Model
from rope_core.lab.positions import Alibi, Learned, Position, Rotary, Sinusoidal, T5Bias, tables
from rope_core.layout import HALF
from rope_core.rope import Array
from rope_core.rotation import rotate
from rope_core.theory.encodings.additive import sinusoidal

SHIFT = 1000
PERIOD = 64
# A byte that Python sources do not hold: as foreign to the model as a pad token.
PAD = 0


@dataclass(frozen=True)
class Case:
    """One way to feed a text.

    Attributes:
        padded: whether pad bytes come before the text.
        masked: whether the text is kept from looking at them.
        ids: position ids of all bytes, int64 (n,), from the number of pad bytes and that of all bytes.
    """

    padded: bool
    masked: bool
    ids: str


CASES = {
    "clean": Case(False, False, "counted"),
    "padded_masked": Case(True, True, "counted"),
    "padded_masked_ids": Case(True, True, "from_text"),
    "padded_unmasked": Case(True, False, "counted"),
    "shifted": Case(False, False, "shifted"),
    "restarted": Case(False, False, "restarted"),
    "doubled": Case(False, False, "doubled"),
    "constant": Case(False, False, "constant"),
}


def position_ids(kind: str, pad: int, count: int) -> npt.NDArray[np.int64]:
    """Return position ids of ``count`` bytes, the first ``pad`` of them padding, int64 (count,).

    "counted" 0, 1, 2, ...; "from_text" 0 at the first byte of the text, and 0 on the padding before; "shifted" all
    1000 further on; "restarted" at 0 every 64 bytes; "doubled" 0, 2, 4, ...; "constant" 0 everywhere.

    >>> position_ids("from_text", 2, 5).tolist()
    [0, 0, 0, 1, 2]
    """
    counted = np.arange(count, dtype=np.int64)
    return {
        "counted": counted,
        "from_text": np.maximum(counted - pad, 0),
        "shifted": counted + SHIFT,
        "restarted": counted % PERIOD,
        "doubled": 2 * counted,
        "constant": 0 * counted,
    }[kind]


class ById(Position):
    """A trained model's positions at any position ids, with the first bytes hidden from those after them.

    Args:
        trained: the model's own positions.
        ids: of all bytes, one after another.
        hidden: how many bytes at the start the others may not look at.
    """

    def __init__(self, trained: Position, ids: Sequence[int] | npt.NDArray[np.int64], hidden: int = 0) -> None:
        super().__init__()
        self.trained, self.ids, self.hidden = trained, torch.as_tensor(np.asarray(ids, dtype=np.int64)), hidden

    def embed(self, x: Tensor) -> Tensor:
        own = self.trained
        if isinstance(own, Sinusoidal):
            return x + own.scale * torch.from_numpy(sinusoidal(self.ids.numpy(), own.width, own.base)).float()
        if isinstance(own, Learned):
            if int(self.ids.max()) >= len(own.table):
                raise reject("ids", "below_table", int(self.ids.max()), limit=len(own.table))
            return x + own.table[self.ids]
        return x

    def of(self, layer: int) -> Position:
        own = self.trained.of(layer)
        return self if own is self.trained else ById(own, self.ids.numpy(), self.hidden)

    def turn(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if not isinstance(self.trained, Rotary):
            return q, k
        cos, sin = tables(self.trained.answer, self.ids.tolist())
        return rotate(q, cos, sin, HALF), rotate(k, cos, sin, HALF)

    def bias(self, queries: int, keys: int) -> Tensor:
        order = torch.arange(keys)
        behind = order[:, None] < order[None, :]
        # A pad byte may look at pad bytes, or its softmax would have nothing to sum over.
        behind |= (order[None, :] < self.hidden) & (order[:, None] >= self.hidden)
        mask = torch.zeros(keys, keys).masked_fill_(behind, -math.inf)
        if isinstance(self.trained, Alibi | T5Bias):
            return (self.trained.relative(self.ids[:, None] - self.ids[None, :]) + mask)[None]
        return mask[None, None]


def read_as(model: Model, documents: npt.NDArray[np.uint8], case: Case, pad: int) -> Tensor:
    """Return the logits of the text's bytes, float32 (documents, n, 256), of uint8 (documents, n) fed as a case says.

    Raises ValueError on ids past a learned table.
    """
    front = pad if case.padded else 0
    fed = np.pad(documents.astype(np.int64), ((0, 0), (front, 0)), constant_values=PAD)
    ids = position_ids(case.ids, front, fed.shape[1])
    place = ById(model.position, ids, front if case.masked else 0)
    with torch.inference_mode():
        return torch.cat([model(torch.from_numpy(row[None]), place=place)[:, front:] for row in fed])


def undefined(model: Model, case: Case, pad: int, length: int) -> str:
    """Return why a model has no positions for a case, or ""."""
    front = pad if case.padded else 0
    return plan.undefined(model.shape, int(position_ids(case.ids, front, front + length).max()) + 1)


@dataclass(frozen=True)
class Ask:
    """What is fed, whole.

    Args:
        weights: names of shipped weights.
        cases: names in CASES.
        length: bytes of text; with the padding at most the trained length shows padding alone.
        pad: bytes of padding in front.
        documents: how many to read at most.
        text: what to read; empty means the held-out documents.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    cases: tuple[str, ...] = tuple(CASES)
    length: int = 192
    pad: int = 64
    documents: int = 8
    text: bytes = b""

    def __post_init__(self) -> None:
        plan.named(self.weights)
        if not self.cases or not set(self.cases) <= set(CASES):
            raise reject("cases", "some_of", self.cases, names=CASES)
        whole("pad", self.pad, 1, 2**16)
        self.read()
        # All logits of two readings are held at once, and one score per pair and head.
        both = self.length + self.pad
        for name in self.weights:
            shape = weights.card(name).recipe.shape
            held = 2 * self.documents * both * 1024 + both * both * 8 * (shape.heads + 2)
            plan.refuse_large(shape, both, held)

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the documents, uint8 (n, length + 1)."""
        return plan.documents(self.length, self.documents, self.text)


def run(ask: Ask) -> Iterator[tuple[float, dict[str, Any]]]:
    """Read case by case; yields the share of the work that is done, and the result.

    "gap" is the largest difference of a logit to the clean reading's; or "undefined" says why there is none.
    """
    documents = ask.read()
    whole_work, done = len(ask.weights) * len(ask.cases), 0
    for name in ask.weights:
        model = weights.load(name)
        clean = None
        for key in ask.cases:
            case = CASES[key]
            result: dict[str, Any] = {"weights": name, "case": key, "length": ask.length}
            result["pad"] = ask.pad if case.padded else 0
            reason = undefined(model, case, ask.pad, ask.length)
            if reason or undefined(model, CASES["clean"], 0, ask.length):
                result["undefined"] = reason or undefined(model, CASES["clean"], 0, ask.length)
            else:
                if clean is None:
                    clean = read_as(model, documents[:, :-1], CASES["clean"], 0)
                result |= compare(read_as(model, documents[:, :-1], case, ask.pad), clean, documents)
            done += 1
            yield done / whole_work, result


def compare(logits: Tensor, clean: Tensor, documents: npt.NDArray[np.uint8]) -> dict[str, Any]:
    """Return the perplexities of a reading, and how it differs from the clean one, as JSON values."""
    nats = _nats(logits, documents)
    return {
        "documents": len(documents),
        "whole": plan.three(perplexity(nats)),
        "last": plan.three(perplexity(nats, 0.75)),
        "gap": float((logits - clean).abs().max()),
    }


def _nats(logits: Tensor, documents: npt.NDArray[np.uint8]) -> Array:
    true = torch.from_numpy(documents[:, 1:].astype(np.int64))
    return F.cross_entropy(logits.flatten(0, 1), true.flatten(), reduction="none").view(true.shape).double().numpy()
