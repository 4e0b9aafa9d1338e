"""A look inside the lab's rotary models while they read: numpy alone, so that a page and a browser can run it.

One query's score of a key is a sum over pairs, and each pair's share is |q_i| |k_i| cos(phi_i + delta theta_i). What it
is at distance 0 is given by content alone; the rest is given by position.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.lab import cards
from rope_core.lab.lines import get_line
from rope_core.lab.shape import ModelShape
from rope_core.layout import HALF
from rope_core.rope import Array
from rope_core.rotation import rotate
from rope_core.schemes import UNSCALED
from rope_core.spectrum import cos_sin, spectrum

Float32 = npt.NDArray[np.float32]

MOST_BYTES = 40
FARTHEST = 2**20
EPSILON = 1e-6
KINDS = ("fast", "slow")


@dataclass(frozen=True)
class ModelWeights:
    """A model's shape and its tensors by name, float32."""

    shape: ModelShape
    tensors: Mapping[str, Float32]


@lru_cache(maxsize=4)
def load_numpy_weights(name: str) -> ModelWeights:
    """Return shipped weights of a rotary model; raise ValueError on another name, encoding or file than the index's."""
    card = cards.get_weights_card(name)
    if card.encoding != "rope":
        raise argument_error("weights", "one_of", name, names=rotary_model_names())
    return ModelWeights(card.recipe.shape, _tensors(cards.read_verified_file(cards.weights_path(name), card.sha256)))


def _tensors(data: bytes) -> dict[str, Float32]:
    """Return the bfloat16 tensors of a safetensors file whose hash is known, by name."""
    start = 8 + int.from_bytes(data[:8], "little")
    entries = {name: each for name, each in json.loads(data[8:start]).items() if name != "__metadata__"}

    def read(shape: list[int], low: int) -> Float32:
        # bfloat16 is the upper half of a float32.
        half = np.frombuffer(data, "<u2", math.prod(shape), start + low)
        return (half.astype("<u4") << 16).view("<f4").reshape(shape)

    return {name: read(each["shape"], each["data_offsets"][0]) for name, each in entries.items()}


def rotary_model_names() -> tuple[str, ...]:
    """Return the names of the shipped rotary models."""
    return tuple(name for name, card in cards.weights_cards().items() if card.encoding == "rope")


@dataclass(frozen=True)
class TracePositions:
    """Where the bytes are and how pairs turn.

    Attributes:
        line: of the ladder, by key: the scheme.
        factor: how many times the trained length the scheme is to reach.
        shift: added to all positions, tokens.
        gap: added to the positions from the byte ``split`` on, tokens.
        split: the first byte behind the gap.
        still: pairs that do not turn, by number.
    """

    line: str = UNSCALED
    factor: float = 1.0
    shift: int = 0
    gap: int = 0
    split: int = 0
    still: tuple[int, ...] = ()

    def byte_positions(self, length: int) -> npt.NDArray[np.int64]:
        """Return the positions of ``length`` bytes, int64 (length,)."""
        behind = np.arange(length) >= self.split
        return np.arange(length) + self.shift + self.gap * behind

    def cos_sin_tables(self, shape: ModelShape, length: int) -> tuple[Float32, Float32]:
        """Return cos and sin of the bytes' angles times the attention factor, float32 (length, pairs).

        Raises ValueError on numbers out of the scheme's range, and on pairs that there are not.
        """
        for name, value in (("shift", self.shift), ("gap", self.gap)):
            checked_int(name, value, 0, FARTHEST)
        reach = round(checked_finite("factor", self.factor) * shape.context)
        answer = spectrum(get_line(self.line).request(shape, reach))
        cos, sin = cos_sin(answer, self.byte_positions(length))
        for pair in self.still:
            checked_int("still", pair, 0, shape.rope.pairs - 1)
        cos[:, list(self.still)], sin[:, list(self.still)] = 1.0, 0.0
        return np.float32(answer.attention_factor) * cos, np.float32(answer.attention_factor) * sin


@dataclass(frozen=True)
class ForwardTrace:
    """What a model did while it read n bytes.

    Attributes:
        q, k: queries and keys before they turn, float32 (layers, n, heads, head_dim).
        attention: float32 (layers, heads, n queries, n keys); rows sum to 1.
        logits: of the byte after each, float32 (n, 256).
        cos, sin: float32 (n, pairs), times the attention factor.
    """

    q: Float32
    k: Float32
    attention: Float32
    logits: Float32
    cos: Float32
    sin: Float32

    def pair_score_shares(self, layer: int, head: int, query: int) -> tuple[Array, Array]:
        """Return each pair's share of a query's scores of the keys up to it: as content alone gives it, and in all.

        Float64 (query + 1, pairs) each; a row's sum over pairs is the score before softmax, logit scale included.
        """
        q, k = self.q[layer, query : query + 1, None, head], self.k[layer, : query + 1, None, head]
        turned_q = rotate(q, self.cos[query : query + 1], self.sin[query : query + 1], HALF)
        turned_k = rotate(k, self.cos[: query + 1], self.sin[: query + 1], HALF)
        scale = q.shape[-1] ** -0.5

        def by_pair(a: Float32, b: Float32) -> Array:
            product = a[:, 0].astype(np.float64) * b[:, 0].astype(np.float64) * scale
            first, second = HALF.split_pairs(product)
            return np.asarray(first + second, dtype=np.float64)

        return by_pair(q, k), by_pair(turned_q, turned_k)

    def relative_pair_sizes(self) -> Array:
        """Return how large each pair is in q and in k beside the head's mean, float64 (2, layers, heads, pairs).

        A dimension's value is its root of squares summed over the bytes, a pair's that of its larger dimension; from 5
        times the head's mean on it is called massive.

        Source: "Massive Values in Self-Attention Modules", arXiv:2502.01563, section 2.
        """
        sizes = np.sqrt(np.square(np.stack([self.q, self.k]).astype(np.float64)).sum(axis=2))
        relative = sizes / sizes.mean(axis=-1, keepdims=True)
        first, second = np.split(relative, 2, axis=-1)
        return np.asarray(np.maximum(first, second))

    def next_byte_probabilities(self) -> Array:
        """Return the probability of each byte to come next, float64 (256,)."""
        return _softmax(self.logits[-1].astype(np.float64))


def trace_forward(weights: ModelWeights, text: bytes, positions: TracePositions | None = None) -> ForwardTrace:
    """Read 1 to 40 bytes with every layer's queries, keys and attention kept.

    Raises ValueError on a longer or empty text.
    """
    length = checked_int("text", len(text), 1, MOST_BYTES)
    shape, tensors = weights.shape, weights.tensors
    cos, sin = (positions or TracePositions()).cos_sin_tables(shape, length)
    hidden = np.triu(np.full((length, length), -np.inf, np.float32), 1)
    x = tensors["embedding.weight"][np.frombuffer(text, np.uint8)]
    queries, keys, seen = [], [], []
    for layer in range(shape.layers):
        part = {name: tensors[f"blocks.{layer}.{name}.weight"] for name in PARTS}
        qkv = (_norm(x, part["attention_norm"]) @ part["attention.qkv"].T).reshape(length, 3, shape.heads, -1)
        q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
        turned_q, turned_k = (rotate(each, cos, sin, HALF).transpose(1, 0, 2) for each in (q, k))
        mixed = _softmax(turned_q @ turned_k.transpose(0, 2, 1) * np.float32(shape.head_dim**-0.5) + hidden)
        x = x + (mixed @ v.transpose(1, 0, 2)).transpose(1, 0, 2).reshape(length, -1) @ part["attention.out"].T
        gate, up = np.split(_norm(x, part["feed_norm"]) @ part["feed.gate_up"].T, 2, axis=-1)
        x = x + (gate / (1 + np.exp(-gate)) * up) @ part["feed.down"].T
        queries.append(q)
        keys.append(k)
        seen.append(mixed)
    logits = _norm(x, tensors["norm.weight"]) @ tensors["embedding.weight"].T
    return ForwardTrace(np.stack(queries), np.stack(keys), np.stack(seen), logits, cos, sin)


# The last readings, the oldest first: none on a server, which keeps no visitor's text; the book, in the reader's own
# browser, keeps as many as it sets.
READINGS = int(os.environ.get("ROPE_LAB_READINGS", "0"))
_kept: dict[tuple[str, bytes, TracePositions], ForwardTrace] = {}


def cached_trace(name: str, text: bytes, positions: TracePositions) -> ForwardTrace:
    """Return what shipped weights do with a text; ValueError as ``load_numpy_weights`` and ``trace_forward``."""
    if not READINGS:
        return trace_forward(load_numpy_weights(name), text, positions)
    key = name, text, positions
    answer = _kept.pop(key, None) or trace_forward(load_numpy_weights(name), text, positions)
    _kept[key] = answer
    if len(_kept) > READINGS:
        del _kept[next(iter(_kept))]
    return answer


PARTS = ("attention_norm", "attention.qkv", "attention.out", "feed_norm", "feed.gate_up", "feed.down")


def _norm(x: Float32, weight: Float32) -> Float32:
    return np.asarray(x / np.sqrt(np.square(x).mean(-1, keepdims=True) + np.float32(EPSILON)) * weight)


def _softmax(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def previous_byte_attention(trace: ForwardTrace) -> Array:
    """Return how much of its attention each head gives to the byte just before, float64 (layers, heads), 0 to 1.

    The mean over the queries that have one before them; 0 for a text of one byte.
    """
    before = np.diagonal(trace.attention.astype(np.float64), offset=-1, axis1=-2, axis2=-1)
    return np.asarray(before.mean(-1) if before.shape[-1] else before.sum(-1))


def attention_change(before: ForwardTrace, after: ForwardTrace) -> Array:
    """Return how much of its attention each head gives to other keys than before, float64 (layers, heads), 0 to 1.

    Half the sum of absolute differences of a query's weights (total variation), mean over the queries.
    """
    apart = np.abs(before.attention.astype(np.float64) - after.attention.astype(np.float64)).sum(-1) / 2
    return np.asarray(apart.mean(-1))


def likeliest_bytes(chances: Iterable[Array], count: int) -> list[int]:
    """Return the bytes that are the likeliest under any of several distributions (256,), the likeliest first."""
    most = np.max(np.stack(list(chances)), axis=0)
    return [int(byte) for byte in np.argsort(-most, kind="stable")[:count]]


def fastest_or_slowest_pairs(kind: str, count: int, pairs: int) -> tuple[int, ...]:
    """Return the ``count`` fastest ("fast") or slowest ("slow") of ``pairs`` pairs.

    Raises ValueError on another kind, or more pairs than there are.

    >>> fastest_or_slowest_pairs("fast", 2, 16), fastest_or_slowest_pairs("slow", 2, 16)
    ((0, 1), (14, 15))
    """
    count = checked_int("count", count, 0, pairs)
    if kind not in KINDS:
        raise argument_error("kind", "one_of", kind, names=KINDS)
    return tuple(range(count)) if kind == KINDS[0] else tuple(range(pairs - count, pairs))


def utf8_prefix(text: str) -> bytes:
    """Return the first 40 bytes of a text, none of them half a letter; a space for an empty one.

    >>> utf8_prefix("naïve" * 9)[-3:], utf8_prefix("")
    (b'a\xc3\xaf', b' ')
    """
    return text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore").encode() or b" "


def second_half_start(text: bytes) -> int:
    """Return the first byte of a text's second half."""
    return (len(text) + 1) // 2
