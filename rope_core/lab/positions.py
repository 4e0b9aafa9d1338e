"""The ways in which position enters the lab's model, one class each, behind one interface of three places."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from rope_core.errors import argument_error
from rope_core.lab.shape import ENCODINGS, ModelShape
from rope_core.layout import HALF
from rope_core.rotation import rotate
from rope_core.spectrum import Request, Spectrum, cos_sin, spectrum
from rope_core.theory.encodings.additive import sinusoidal_vectors
from rope_core.theory.encodings.relative import alibi_slopes, t5_buckets


class PositionEncoding(nn.Module):
    """Where position enters: beside the embedding, into queries and keys, or onto their scores. This one: nowhere.

    ``at`` says of which bytes the three answers are; the attention is causal whatever the encoding.
    """

    def __init__(self, shape: ModelShape | None = None) -> None:
        super().__init__()
        self.before, self.length = 0, 0

    def at(self, before: int, length: int) -> PositionEncoding:
        """Take the bytes ``before`` to ``before + length - 1`` as the ones in hand; keys run from byte 0."""
        self.before, self.length = before, length
        return self

    def embed(self, x: Tensor) -> Tensor:
        """Add to the embeddings (B, S, width)."""
        return x

    def turn(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Turn q (B, S, H, D) of the bytes in hand and k (B, T, H, D) of all bytes so far."""
        return q, k

    def bias(self, queries: int, keys: int) -> Tensor | None:
        """Return what is added to scores (B or 1, H, S, T), -inf where a byte may not look; None is plainly causal."""
        if queries == 1 or queries == keys:
            return None
        return self.causal(queries, keys)[None, None]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor | None:
        """Return the mixture where scores are more than the product of turned vectors; None leaves it to the model."""
        return None

    def causal(self, queries: int, keys: int) -> Tensor:
        """Return (S, T) with 0 where a query may look and -inf where it may not."""
        behind = self.distance(queries, keys)
        return torch.zeros(behind.shape).masked_fill_(behind < 0, -math.inf)

    @staticmethod
    def distance(queries: int, keys: int) -> Tensor:
        """Return how far (S, T) each key lies behind each query, in bytes."""
        return torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)[None, :]


class RotaryEncoding(PositionEncoding):
    """Rotary position embedding, from rope_core's own tables and rotation.

    Args:
        shape: of the model; its geometry without scaling is the trained one.
        answer: other frequencies than the trained ones.
    """

    def __init__(self, shape: ModelShape, answer: Spectrum | None = None) -> None:
        super().__init__()
        self.answer = spectrum(Request(shape.rope)) if answer is None else answer
        self.tables: tuple[Tensor, Tensor] | None = None

    def at(self, before: int, length: int) -> RotaryEncoding:
        """Have tables for all bytes so far, queries' at their end."""
        self.before, self.length = before, length
        if self.tables is None or len(self.tables[0]) < before + length:
            self.tables = scaled_cos_sin(self.answer, range(before + length))
        return self

    def turn(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        assert self.tables is not None
        cos, sin = self.tables
        first, end = k.shape[1] - q.shape[1], k.shape[1]
        return rotate(q, cos[first:end], sin[first:end], HALF), rotate(k, cos[:end], sin[:end], HALF)


def scaled_cos_sin(s: Spectrum, positions: Any) -> tuple[Tensor, Tensor]:
    """Return float32 cos and sin (n, D/2) of integer positions, times the attention factor."""
    cos, sin = cos_sin(s, list(positions), dtype="float32")
    factor = s.attention_factor
    return torch.from_numpy(cos * factor).float(), torch.from_numpy(sin * factor).float()


class SinusoidalEncoding(PositionEncoding):
    """The fixed sines and cosines of Vaswani et al., added to the embedding; defined everywhere."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.width, self.base, self.context = shape.width, shape.base, shape.context
        # The table's entries are of size 0.7, the embedding's of 0.02: a learned scale lets them meet.
        self.scale = nn.Parameter(torch.full((1,), 0.02))

    def embed(self, x: Tensor) -> Tensor:
        table = sinusoidal_vectors(range(self.before, self.before + self.length), self.width, self.base)
        return x + self.scale * torch.from_numpy(table).float()


class LearnedEncoding(PositionEncoding):
    """A learned vector per position, added to the embedding; undefined past its table."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(shape.context, shape.width))

    def embed(self, x: Tensor) -> Tensor:
        end = self.before + self.length
        if end > len(self.table):
            raise argument_error("length", "table_positions", end, limit=len(self.table))
        return x + self.table[self.before : end]


class AlibiEncoding(PositionEncoding):
    """Press, Smith and Lewis: each head subtracts its slope times the distance from its scores."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.slopes = torch.tensor(alibi_slopes(shape.heads), dtype=torch.float32)

    def bias(self, queries: int, keys: int) -> Tensor:
        added = -self.slopes[:, None, None] * self.distance(queries, keys)
        return (added + self.causal(queries, keys))[None]


class T5BiasEncoding(PositionEncoding):
    """Raffel et al.: a learned number per head and bucket of distance; far distances share the last bucket."""

    # Adam moves every number by about the rate per step. Scores need biases of several units, embeddings hundredths:
    # at one rate for both, the biases would take most of a short training to arrive.
    SCALE = 10.0

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.reach = 128
        self.buckets = nn.Parameter(torch.empty(32, shape.heads))

    def bias(self, queries: int, keys: int) -> Tensor:
        # T5 counts the other way round: key minus query.
        away = -self.distance(queries, keys).numpy()
        bucket = torch.from_numpy(t5_buckets(away, bidirectional=False, buckets=32, reach=self.reach))
        added = self.SCALE * self.buckets[bucket].permute(2, 0, 1)
        return (added + self.causal(queries, keys))[None]


POSITIONS: dict[str, type[PositionEncoding]] = dict(
    zip(
        ENCODINGS,
        (RotaryEncoding, SinusoidalEncoding, LearnedEncoding, AlibiEncoding, T5BiasEncoding, PositionEncoding),
        strict=True,
    )
)


def rotary_encoding_for(shape: ModelShape, request: Request) -> RotaryEncoding:
    """Return rotary positions at a request's frequencies for a model of that shape.

    Raises ValueError when the request's geometry has another width than the model's heads.
    """
    if request.rope.dim != shape.head_dim:
        raise argument_error("request.rope.dim", "model_head_dim", request.rope.dim, dim=shape.head_dim)
    return RotaryEncoding(shape, spectrum(request))


__all__ = ["POSITIONS", "PositionEncoding", "RotaryEncoding", "rotary_encoding_for", "scaled_cos_sin"]
