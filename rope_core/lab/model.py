"""The lab's language model, whole: a byte-level decoder of 1.8 million parameters whose positions are swappable."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rope_core.lab.positions import POSITIONS, PositionEncoding
from rope_core.lab.shape import ModelShape

VOCABULARY = 256


@dataclass
class KeyValueCache:
    """Keys and values of the bytes that a model has read, one pair per layer, keys not turned yet: (B, T, H, D)."""

    layers: list[tuple[Tensor, Tensor]]

    @property
    def length(self) -> int:
        """Bytes read so far."""
        return self.layers[0][0].shape[1] if self.layers else 0


class CausalSelfAttention(nn.Module):
    """Causal self-attention; positions turn the queries and keys, or add to their scores, or neither."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.heads, self.head_dim = shape.heads, shape.head_dim
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x: Tensor, place: PositionEncoding, layer: int, cache: KeyValueCache | None) -> Tensor:
        """Mix x (B, S, width) over the bytes before, those of the cache included."""
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, self.head_dim).unbind(2)
        if cache is not None:
            if layer < len(cache.layers):
                k = torch.cat([cache.layers[layer][0], k], 1)
                v = torch.cat([cache.layers[layer][1], v], 1)
                cache.layers[layer] = (k, v)
            else:
                cache.layers.append((k, v))
        # The cache holds keys as they came from the projection, so that each step may turn them by frequencies of
        # its own: a dynamic scheme is then right at every length.
        mixed = place.attend(q, k, v)
        if mixed is None:
            q, k = place.turn(q, k)
            bias = place.bias(length, k.shape[1])
            mixed = _mix(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), bias).transpose(1, 2)
        return F.linear(mixed.reshape(batch, length, width), self.out.weight)


def _mix(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
    """Return softmax(q k^T / sqrt(D) + bias) v (B, H, S, D), causal where no bias says otherwise; k, v (B, H, T, D)."""
    single = q.shape[2] == 1
    if not torch.is_grad_enabled():
        mask = None if bias is None else bias.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=bias is None and not single)
    # Spelled out for training: the backward of torch's fused one takes 40 % of a step on a CPU at these sizes.
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if bias is None and not single:
        bias = torch.full(scores.shape[-2:], -math.inf, dtype=scores.dtype).triu(1)
    return torch.softmax(scores if bias is None else scores + bias, -1).to(v.dtype) @ v


class FeedForward(nn.Module):
    """The gated layer of LLaMA: down(silu(gate(x)) * up(x))."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.gate_up = nn.Linear(shape.width, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, S, width) to (B, S, width), byte by byte."""
        gate, up = self.gate_up(x).chunk(2, -1)
        return F.linear(F.silu(gate) * up, self.down.weight)


class TransformerBlock(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(shape.width, eps=1e-6)
        self.attention = CausalSelfAttention(shape)
        self.feed_norm = nn.RMSNorm(shape.width, eps=1e-6)
        self.feed = FeedForward(shape)

    def forward(self, x: Tensor, place: PositionEncoding, layer: int, cache: KeyValueCache | None) -> Tensor:
        """Map (B, S, width) to (B, S, width)."""
        x = x + self.attention(self.attention_norm(x), place, layer, cache)
        y: Tensor = x + self.feed(self.feed_norm(x))
        return y


class LabModel(nn.Module):
    """Bytes in, logits of the next byte out.

    >>> model = LabModel(ModelShape(layers=1, width=8, heads=2, hidden=8, context=16))
    >>> model(torch.zeros(1, 5, dtype=torch.long)).shape
    torch.Size([1, 5, 256])
    """

    def __init__(self, shape: ModelShape, seed: int = 0) -> None:
        super().__init__()
        self.shape = shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(VOCABULARY, shape.width)
            self.blocks = nn.ModuleList(TransformerBlock(shape) for _ in range(shape.layers))
            self.norm = nn.RMSNorm(shape.width, eps=1e-6)
            self.position: PositionEncoding = POSITIONS[shape.encoding](shape)
            self._start()

    def _start(self) -> None:
        """Start weights: normal(0, 0.02), the projections back into the residual stream smaller with depth."""
        shrink = (2 * self.shape.layers) ** -0.5
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                back = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 * (shrink if back else 1.0))

    def forward(
        self, tokens: Tensor, *, place: PositionEncoding | None = None, cache: KeyValueCache | None = None
    ) -> Tensor:
        """Return logits (B, S, 256) of the byte after each of ``tokens`` (B, S).

        Args:
            place: positions of these bytes, another model of positions than the trained one included; None means
                0, 1, 2, ... after what the cache holds, as trained.
            cache: what was read before; it grows by ``tokens``.
        """
        before = cache.length if cache is not None else 0
        here = self.position.at(before, tokens.shape[1]) if place is None else place
        x = here.embed(self.embedding(tokens))
        for layer, block in enumerate(self.blocks):
            x = block(x, here, layer, cache)
        return F.linear(self.norm(x), self.embedding.weight)
