"""A random Transformer stack in numpy: the place of the norms, serial or parallel, and the gradient in each layer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Array
from rope_core.theory.block.norm import EPS, layer_norm
from rope_core.theory.softmax import softmax

ARRANGEMENTS = ("pre", "post", "double")


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of one block: attention w_q, w_k, w_v, w_o (dim, dim), ReLU feed-forward w_1 (dim, hidden), w_2 back."""

    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array
    w_1: Array
    w_2: Array


def random_blocks(layers: int, dim: int, hidden: int, seed: int) -> list[BlockWeights]:
    """Draw blocks with Xavier's normal initialisation, standard deviation sqrt(2 / (in + out))."""
    rng = np.random.default_rng(checked_int("seed", seed, 0, 2**31 - 1))
    shapes = [(dim, dim)] * 4 + [(dim, hidden), (hidden, dim)]
    scale = [math.sqrt(2.0 / sum(shape)) for shape in shapes]
    return [
        BlockWeights(*(s * rng.standard_normal(shape) for s, shape in zip(scale, shapes, strict=True)))
        for _ in range(layers)
    ]


def self_attention(u: npt.ArrayLike, layer: BlockWeights) -> Array:
    """Return softmax(u Wq (u Wk)^T / sqrt(dim)) u Wv Wo, float64 (n, dim), one head, no mask."""
    x = np.asarray(u, dtype=np.float64)
    a = softmax((x @ layer.w_q) @ (x @ layer.w_k).T / math.sqrt(x.shape[1]))
    return np.asarray(a @ (x @ layer.w_v) @ layer.w_o)


def relu_feed_forward(u: npt.ArrayLike, layer: BlockWeights) -> Array:
    """Return max(u W1, 0) W2, float64 (n, dim)."""
    return np.asarray(np.maximum(np.asarray(u, dtype=np.float64) @ layer.w_1, 0.0) @ layer.w_2)


def serial_block(x: npt.ArrayLike, layer: BlockWeights) -> Array:
    """Return the serial pre-norm block: h = x + Attention(Norm(x)), y = h + MLP(Norm(h)), float64 (n, dim)."""
    h = np.asarray(x, dtype=np.float64) + self_attention(layer_norm(x), layer)
    return np.asarray(h + relu_feed_forward(layer_norm(h), layer))


def parallel_block(x: npt.ArrayLike, layer: BlockWeights) -> Array:
    """Return the parallel block: y = x + MLP(Norm(x)) + Attention(Norm(x)), float64 (n, dim); GPT-J, PaLM."""
    u = layer_norm(x)
    return np.asarray(np.asarray(x, dtype=np.float64) + relu_feed_forward(u, layer) + self_attention(u, layer))


def _norm_back(x: Array, grad: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + EPS)
    y = centred / std
    return np.asarray((grad - grad.mean(-1, keepdims=True) - y * np.mean(grad * y, axis=-1, keepdims=True)) / std)


def _attend_back(u: Array, layer: BlockWeights, grad: Array) -> tuple[Array, float]:
    q, k, v = u @ layer.w_q, u @ layer.w_k, u @ layer.w_v
    root = math.sqrt(u.shape[1])
    a = softmax(q @ k.T / root)
    d_out = grad @ layer.w_o.T
    d_a = d_out @ v.T
    d_s = a * (d_a - np.sum(d_a * a, axis=-1, keepdims=True)) / root
    d_q, d_k, d_v = d_s @ k, d_s.T @ q, a.T @ d_out
    squares = [np.sum(g**2) for g in (u.T @ d_q, u.T @ d_k, u.T @ d_v, (a @ v).T @ grad)]
    return d_q @ layer.w_q.T + d_k @ layer.w_k.T + d_v @ layer.w_v.T, float(sum(squares))


def _feed_back(u: Array, layer: BlockWeights, grad: Array) -> tuple[Array, float]:
    hidden = u @ layer.w_1
    d_hidden = (grad @ layer.w_2.T) * (hidden > 0)
    squares = np.sum((u.T @ d_hidden) ** 2) + np.sum((np.maximum(hidden, 0.0).T @ grad) ** 2)
    return d_hidden @ layer.w_1.T, float(squares)


_PARTS = ((self_attention, _attend_back), (relu_feed_forward, _feed_back))


def forward(x: Array, layers: list[BlockWeights], arrangement: str) -> tuple[Array, list[Array]]:
    """Return (output, input of every sub-layer); pre and double end in one more norm, as models do."""
    inputs = []
    for layer in layers:
        for part, _ in _PARTS:
            inputs.append(x)
            if arrangement == "post":
                x = layer_norm(x + part(x, layer))
            else:
                change = part(layer_norm(x), layer)
                x = x + (layer_norm(change) if arrangement == "double" else change)
    return (x if arrangement == "post" else layer_norm(x)), [*inputs, x]


def backward(
    inputs: list[Array], layers: list[BlockWeights], arrangement: str, grad: Array
) -> tuple[Array, list[float]]:
    """Return (gradient at the input, norm of each layer's parameter gradient, bottom first)."""
    if arrangement != "post":
        grad = _norm_back(inputs[-1], grad)
    norms = []
    for index in range(len(layers) - 1, -1, -1):
        total = 0.0
        for step in (1, 0):
            part, back = _PARTS[step]
            x, layer = inputs[2 * index + step], layers[index]
            if arrangement == "post":
                grad = _norm_back(x + part(x, layer), grad)
                inner, squares = back(x, layer, grad)
                grad = grad + inner
            else:
                u = layer_norm(x)
                through = _norm_back(part(u, layer), grad) if arrangement == "double" else grad
                inner, squares = back(u, layer, through)
                grad = grad + _norm_back(x, inner)
            total += squares
        norms.append(math.sqrt(total))
    return grad, norms[::-1]


def gradient_norms(
    arrangement: str, layers: int = 24, dim: int = 32, tokens: int = 16, draws: int = 4, seed: int = 0
) -> Array:
    """Return the norm of each layer's parameter gradient in a random stack, bottom first, float64 (layers,).

    Args:
        arrangement: "pre" x + F(N(x)), "post" N(x + F(x)) or "double" x + N(F(N(x))).
        layers: blocks of attention and feed-forward (hidden 4 dim), LayerNorm without weights.
        dim, tokens: size of the input, N(0, 1).
        draws: stacks averaged over; the loss is the output's mean product with a N(0, 1) target.
        seed: of the draws.

    Raises:
        ValueError: on an unknown arrangement or sizes outside their ranges.
    """
    if arrangement not in ARRANGEMENTS:
        raise argument_error("arrangement", "one_of", arrangement, names=list(ARRANGEMENTS))
    depth, width = checked_int("layers", layers, 1, 96), checked_int("dim", dim, 2, 256)
    n, count = checked_int("tokens", tokens, 1, 256), checked_int("draws", draws, 1, 64)
    total = np.zeros(depth)
    for draw in range(count):
        stack = random_blocks(depth, width, 4 * width, seed + draw)
        rng = np.random.default_rng([seed + draw, 1])
        x, target = rng.standard_normal((2, n, width))
        _, inputs = forward(x, stack, arrangement)
        total += backward(inputs, stack, arrangement, target / target.size)[1]
    return np.asarray(total / count)
