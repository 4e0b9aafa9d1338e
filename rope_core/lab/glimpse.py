"""What a head attends to: maps and entropy before and after a line stretches the positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rope_core.errors import whole
from rope_core.lab import plan, weights
from rope_core.lab.estimates import mean_interval
from rope_core.lab.model import Glimpse, Model
from rope_core.lab.positions import Position
from rope_core.rope import Array

BINS = 64


@dataclass(frozen=True)
class View:
    """What was seen, over documents.

    Attributes:
        map: float64 (bins, bins), how much of its attention a bin of queries gives to a bin of keys, mean over
            queries and documents; rows sum to 1.
        entropy: float64 (documents, length), nats, of the chosen head.
        heads: float64 (layers, heads), mean entropy over the last quarter of the queries, nats.
    """

    map: Array
    entropy: Array
    heads: Array


def attention(q: Tensor, k: Tensor, bias: Tensor | None) -> Tensor:
    """Return softmax(q k^T / sqrt(D) + bias), causal where no bias says otherwise: (S, T) of q (S, D) and k (T, D).

    Args:
        bias: (S, T) or None.
    """
    scores = q @ k.transpose(0, 1) * q.shape[-1] ** -0.5
    if bias is None:
        bias = torch.full(scores.shape, -torch.inf).triu(1 + k.shape[0] - q.shape[0])
    return torch.softmax(scores + bias, -1)


def entropies(weights: Tensor) -> Array:
    """Return -sum p ln p over the last axis, nats, float64; 0 ln 0 is 0."""
    entropy: Array = torch.special.entr(weights).sum(-1).double().numpy()
    return entropy


def edges(length: int, bins: int) -> npt.NDArray[np.int64]:
    """Return where equal bins begin and end, int64 (bins + 1,).

    >>> edges(5, 2).tolist()
    [0, 2, 5]
    """
    return np.linspace(0, length, bins + 1).round().astype(np.int64)


def binned(weights: Tensor, bins: int) -> Array:
    """Return a map (S, S) as mass per bin of keys, mean over each bin of queries: float64 (bins, bins)."""
    cut = edges(weights.shape[0], bins)
    per_key = np.add.reduceat(weights.double().numpy(), cut[:-1], axis=1)
    mass: Array = np.add.reduceat(per_key, cut[:-1], axis=0) / np.diff(cut)[:, None]
    return mass


def look(
    model: Model,
    documents: npt.NDArray[np.uint8],
    layer: int,
    head: int,
    place: Position | None = None,
    bins: int = BINS,
) -> View:
    """Read documents, uint8 (n, length), and return what their attention was.

    Raises ValueError on a layer or head that the model has not, or lengths past the lab's memory.
    """
    layer = whole("layer", layer, 0, model.shape.layers - 1)
    head = whole("head", head, 0, model.shape.heads - 1)
    count, length = documents.shape
    bins = min(whole("bins", bins, 1, BINS), length)
    plan.refuse_large(model.shape, length, 4 * length * length * 4)
    mass = np.zeros((bins, bins))
    own = np.empty((count, length))
    heads = np.zeros((model.shape.layers, model.shape.heads))
    late = length - max(1, length // 4)
    for number, document in enumerate(documents):
        seen = Glimpse([])
        with torch.inference_mode():
            here = None if place is None else place.at(0, length)
            model(torch.from_numpy(document[None].astype(np.int64)), place=here, seen=seen)
            for i, (q, k, bias) in enumerate(seen.layers):
                for j in range(model.shape.heads):
                    chosen = (i, j) == (layer, head)
                    first = 0 if chosen else late
                    add = _bias(bias, j, first, length)
                    shares = attention(q[0, first:, j], k[0, :, j], add)
                    entropy = entropies(shares)
                    heads[i, j] += entropy[late - first :].mean() / count
                    if chosen:
                        own[number] = entropy
                        mass += binned(shares, bins) / count
    return View(mass, own, heads)


def _bias(bias: Tensor | None, head: int, first: int, length: int) -> Tensor | None:
    """Return the rows of one head's bias from the first query on, (S, T)."""
    if bias is None:
        return None
    return bias.expand(-1, bias.shape[1], length, length)[0, head if bias.shape[1] > 1 else 0, first:]


@dataclass(frozen=True)
class Ask:
    """What is looked at, whole.

    Args:
        weights: names of shipped weights.
        lines: keys of the ladder's lines, all by default.
        lengths: bytes read.
        layer, head: from 0.
        factor: of every line; None means each length over the trained one.
        documents: how many to read at most.
        text: what to read; empty means the held-out documents.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    lines: tuple[str, ...] = ()
    lengths: tuple[int, ...] = (2048,)
    layer: int = 0
    head: int = 0
    factor: float | None = None
    documents: int = 4
    text: bytes = b""

    def __post_init__(self) -> None:
        for name in plan.named(self.weights):
            shape = weights.card(name).recipe.shape
            whole("layer", self.layer, 0, shape.layers - 1)
            whole("head", self.head, 0, shape.heads - 1)
        self.read()
        self.cells()

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the documents, uint8 (n, longest + 1)."""
        return plan.documents(max(plan.lengths_of(self.lengths)), self.documents, self.text)

    def cells(self) -> list[tuple[str, str, int]]:
        """Return (weights, line, length), short lengths first."""
        return plan.cells(self.weights, self.lines, self.lengths, self.factor, sliding=False)


def run(ask: Ask) -> Iterator[tuple[float, dict[str, Any]]]:
    """Look cell by cell; yields the share of the work that is done, and the cell as ``cell`` returns it."""
    documents, cells = ask.read(), ask.cells()
    work, done = sum(length**2 for _, _, length in cells), 0
    for name, key, length in cells:
        result = cell(weights.load(name), documents, ask, key, length)
        done += length**2
        yield done / work, {"weights": name, **result}


def cell(model: Model, documents: npt.NDArray[np.uint8], ask: Ask, key: str, length: int) -> dict[str, Any]:
    """Return one cell as JSON values.

    "entropy" is the mean over documents in each bin of queries, nats, "entropy_low" and "entropy_high" its 95 %
    interval by resampling documents (None with one), "entropy_max" the same bins' mean ln of the keys in sight;
    "logit_scale" is what the line multiplies logits by beside the rotation.
    """
    head: dict[str, Any] = {"line": key, "length": length, "layer": ask.layer, "head": ask.head}
    reason = plan.undefined(model.shape, length)
    if reason:
        return head | {"undefined": reason}
    place = plan.place(model, key, length, ask.factor)
    view = look(model, documents[:, :length], ask.layer, ask.head, place)
    cut = edges(length, len(view.map))
    means, low, high = interval(np.add.reduceat(view.entropy, cut[:-1], axis=1) / np.diff(cut))
    visible = np.log(np.arange(1, length + 1))
    return head | {
        "documents": len(documents),
        "map": view.map.round(5).tolist(),
        "entropy": means.round(5).tolist(),
        "entropy_low": low,
        "entropy_high": high,
        "entropy_max": (np.add.reduceat(visible, cut[:-1]) / np.diff(cut)).round(5).tolist(),
        "heads": view.heads.round(5).tolist(),
        "logit_scale": logit_scale(place),
    }


def logit_scale(place: Position) -> float:
    """Return what positions multiply logits by beside turning them: the attention factor's square."""
    answer = getattr(place, "answer", None)
    return 1.0 if answer is None else round(float(answer.attention_factor) ** 2, 6)


def interval(values: Array) -> tuple[Array, list[float] | None, list[float] | None]:
    """Return the mean of values (documents, bins) over documents, and the ends of its 95 % interval, if it has one."""
    mean = values.mean(0)
    if len(values) < 2:
        return mean, None, None
    low, high = mean_interval(values)
    return mean, low.round(5).tolist(), high.round(5).tolist()
