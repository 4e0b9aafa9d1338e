"""Perplexity of a model past its trained length, scheme by scheme, with intervals over documents."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from rope_core.errors import finite, reject, whole
from rope_core.lab.model import VOCABULARY, Model, Shape
from rope_core.lab.positions import Position, scaled
from rope_core.rope import Array, Rope
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request

LINES = Path(__file__).parent / "lines.toml"
MEMORY = 2 * 2**30
AT_ONCE = 8 * 2048
RESAMPLES = 4000


@dataclass(frozen=True)
class Line:
    """One line of the ladder.

    Attributes:
        key: its name in records, links and texts.
        scheme: a name in SCHEMES.
        times: its factor is the asked one times this.
        params: other parameters of the scheme.
    """

    key: str
    scheme: str
    times: float = 1.0
    params: Mapping[str, float] = field(default_factory=dict)

    def request(
        self,
        shape: Shape,
        length: int,
        factor: float | None = None,
        base: float | None = None,
        more: Mapping[str, float] | None = None,
    ) -> Request:
        """Return what this line asks for at a length.

        Args:
            shape: of the model.
            length: bytes in the window.
            factor: None means the length over the trained one, at least 1.
            base: another base than the trained one.
            more: parameters by name; those that the scheme does not know are left out.

        Raises ValueError on numbers out of the scheme's range.
        """
        asked = max(1.0, length / shape.context) if factor is None else finite("factor", factor)
        rope = Rope(shape.head_dim, shape.base if base is None else base, shape.context)
        takes = {param.name for param in SCHEMES[self.scheme].params}
        given = {**(more or {}), **self.params, "factor": asked * self.times}
        return Request(rope, self.scheme, {k: v for k, v in given.items() if k in takes}, seq_len=length)


@lru_cache(maxsize=1)
def lines() -> tuple[Line, ...]:
    """Return the ladder's lines, in the order in which they are told."""
    return tuple(Line(**each) for each in tomllib.loads(LINES.read_text("utf-8"))["lines"])


def line(key: str) -> Line:
    """Return a line by its key, or raise ValueError naming those there are."""
    for each in lines():
        if each.key == key:
            return each
    raise reject("line", f"one of {', '.join(each.key for each in lines())}", key)


def memory_needed(shape: Shape, length: int) -> int:
    """Return about how many bytes one document of that length takes while it is read.

    Logits and their logarithms, the widest layer's activations, and where scores carry a bias, a score per pair.
    """
    plain = length * 4 * (3 * VOCABULARY + 4 * shape.hidden + 8 * shape.width)
    biased = shape.encoding in ("alibi", "t5")
    return plain + (length * length * 4 * (2 * shape.heads + 2) if biased else 0)


def as_documents(text: bytes, length: int, most: int = 64) -> npt.NDArray[np.uint8]:
    """Cut text into documents of ``length + 1`` bytes, one after another, uint8 (n, length + 1), at most ``most``.

    Raises ValueError when it does not hold one.
    """
    size = whole("length", length, 2, 2**20) + 1
    if len(text) < size:
        raise reject("text", f"at least {size:,} bytes for a length of {length:,}", len(text))
    count = min(len(text) // size, whole("most", most, 1, 4096))
    return np.frombuffer(text, dtype=np.uint8, count=count * size).reshape(count, size)


def byte_losses(model: Model, documents: npt.NDArray[np.uint8], place: Position | None = None) -> Array:
    """Return the loss of every byte but the first, given all before it: nats, float64 (documents, length).

    Args:
        model: of any encoding.
        documents: uint8 (documents, length + 1).
        place: positions to read them with; None means as trained.

    Raises ValueError on an empty array, or a length past the memory limit of 2 GiB.
    """
    if documents.ndim != 2 or documents.shape[0] < 1 or documents.shape[1] < 2:
        raise reject("documents", "an array (documents >= 1, length + 1 >= 2)", documents.shape)
    count, length = documents.shape[0], documents.shape[1] - 1
    needed = memory_needed(model.shape, length)
    if needed > MEMORY:
        rule = f"short enough for {MEMORY / 2**30:g} GiB"
        raise reject("length", rule, f"{length:,} bytes, which take {needed / 2**30:.1f} GiB")
    together = max(1, AT_ONCE // length)
    out = np.empty((count, length))
    with torch.no_grad():
        for first in range(0, count, together):
            part = torch.from_numpy(documents[first : first + together].astype(np.int64))
            here = None if place is None else place.at(0, length)
            logits = model(part[:, :-1], place=here)
            nats = F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="none")
            out[first : first + together] = nats.view(-1, length).double().numpy()
    return out


def losses(model: Model, documents: npt.NDArray[np.uint8], request: Request) -> Array:
    """Return ``byte_losses`` of a rope model under a request."""
    return byte_losses(model, documents, scaled(model.shape, request))


@dataclass(frozen=True)
class Estimate:
    """A number measured over documents, with the 95 % interval that resampling the documents gives.

    With one document there is no interval: low and high are NaN.
    """

    value: float
    low: float
    high: float
    documents: int


def perplexity(nats: Array, first: float = 0.0, last: float = 1.0) -> Estimate:
    """Return the perplexity per byte over a share of the window.

    Args:
        nats: float64 (documents, length).
        first, last: the share of positions, as fractions of the length; 0.75 to 1 is the last quarter.

    >>> perplexity(np.full((2, 4), np.log(3.0))).value.__round__(12)
    3.0
    """
    return _estimate(share(nats, first, last).mean(1))


def ratio(a: Array, b: Array, first: float = 0.0, last: float = 1.0) -> Estimate:
    """Return how many times b's perplexity a's is, documents paired: below 1, a reads better.

    Raises ValueError when the two are not of the same documents' number.
    """
    if a.shape[0] != b.shape[0]:
        raise reject("a and b", "of the same documents", (a.shape, b.shape))
    return _estimate(share(a, first, last).mean(1) - share(b, first, last).mean(1))


def share(nats: Array, first: float, last: float) -> Array:
    """Return the columns of a share of the window, at least one."""
    if not 0.0 <= first < last <= 1.0:
        raise reject("first and last", "fractions with 0 <= first < last <= 1", (first, last))
    length = nats.shape[1]
    low = min(length - 1, round(first * length))
    return nats[:, low : max(low + 1, round(last * length))]


def _estimate(per_document: Array) -> Estimate:
    """Return exp of the mean, and of its 95 % interval by resampling documents."""
    count = per_document.size
    value = float(np.exp(per_document.mean()))
    if count < 2:
        return Estimate(value, float("nan"), float("nan"), count)
    draws = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
    means = per_document[draws].mean(1)
    low, high = (float(np.exp(v)) for v in np.quantile(means, (0.025, 0.975)))
    return Estimate(value, low, high, count)


def over_seeds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of one value per seed, and the lowest and highest: with three seeds an interval is its range."""
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        raise reject("values", "one per seed, at least one", list(values))
    return float(found.mean()), float(found.min()), float(found.max())


@dataclass(frozen=True)
class Curve:
    """Perplexity against position: bins of the window, each with its interval; arrays (bins,)."""

    position: Array
    value: Array
    low: Array
    high: Array


def curve(nats: Array, bins: int = 32) -> Curve:
    """Return perplexity per byte in equal bins of the window, each at its middle position.

    Raises ValueError when there are more bins than positions.
    """
    length = nats.shape[1]
    edges = np.linspace(0, length, whole("bins", bins, 1, length) + 1).round().astype(int)
    found = [_estimate(nats[:, a:b].mean(1)) for a, b in itertools.pairwise(edges)]
    return Curve(
        (edges[:-1] + edges[1:]) / 2.0,
        np.array([each.value for each in found]),
        np.array([each.low for each in found]),
        np.array([each.high for each in found]),
    )
