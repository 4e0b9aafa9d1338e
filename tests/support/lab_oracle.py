"""The lab's model written again, in float64 numpy and loops, for the tests to hold it to."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def rms(x: Array, weight: Array) -> Array:
    """x over the root of its mean square, times the weight."""
    return np.asarray(x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight)


def turned(x: Array, angles: Array, scale: float) -> Array:
    """x (S, D) with pairs (i, i + D/2) turned as complex numbers by angles (S, D/2)."""
    half = x.shape[-1] // 2
    z = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * angles) * scale
    return np.concatenate([z.real, z.imag], -1)


def t5_bucket(distance: int) -> int:
    """T5's causal bucket, 32 of them, reach 128, one distance at a time."""
    if distance < 16:
        return max(distance, 0)
    return min(31, 16 + int(np.float32(math.log(distance / 16)) / np.float32(math.log(8)) * np.float32(16)))


def alibi_slope(head: int, heads: int) -> float:
    """ALiBi's slope of a head, 0-based, by the paper's rule for any number of heads."""
    lower = 2 ** math.floor(math.log2(heads))
    if head < lower:
        return float(2.0 ** (-8.0 * (head + 1) / lower))
    return float(2.0 ** (-4.0 * (2 * (head - lower) + 1) / lower))


def logits(
    state: dict[str, Any], shape: Any, text: list[int], inv_freq: Array | None = None, factor: float = 1.0
) -> Array:
    """Return logits (S, 256) of one text, float64.

    Args:
        state: the model's state dict.
        shape: its Shape.
        inv_freq: rope's frequencies; None means base ** (-2i/D).
        factor: multiplies cos and sin.
    """
    w = {name: np.asarray(value.double().numpy()) for name, value in state.items()}
    size, head = len(text), shape.width // shape.heads
    x = w["embedding.weight"][text]
    if shape.encoding == "learned":
        x = x + w["position.table"][:size]
    if shape.encoding == "sinusoidal":
        table = np.zeros((size, shape.width))
        for m in range(size):
            for j in range(shape.width // 2):
                angle = m / shape.base ** (2 * j / shape.width)
                table[m, 2 * j], table[m, 2 * j + 1] = math.sin(angle), math.cos(angle)
        x = x + w["position.scale"] * table
    if inv_freq is None:
        inv_freq = shape.base ** (-2.0 * np.arange(head // 2) / head)
    angles = np.arange(size)[:, None] * inv_freq
    for layer in range(shape.layers):
        name = f"blocks.{layer}."
        y = rms(x, w[name + "attention_norm.weight"]) @ w[name + "attention.qkv.weight"].T
        q, k, v = (y[:, i * shape.width : (i + 1) * shape.width].reshape(size, shape.heads, head) for i in range(3))
        mixed = np.zeros((size, shape.heads, head))
        for h in range(shape.heads):
            a, b = q[:, h], k[:, h]
            if shape.encoding == "rope" or (shape.encoding == "irope" and layer % 4 != 3):
                a, b = turned(a, angles, factor), turned(b, angles, factor)
            scores = a @ b.T / math.sqrt(head)
            for i in range(size):
                row = scores[i, : i + 1].copy()
                for j in range(i + 1):
                    if shape.encoding == "alibi":
                        row[j] -= alibi_slope(h, shape.heads) * (i - j)
                    if shape.encoding == "t5":
                        row[j] += 10.0 * w["position.buckets"][t5_bucket(i - j), h]
                row = np.exp(row - row.max())
                mixed[i, h] = (row / row.sum()) @ v[: i + 1, h]
        x = x + mixed.reshape(size, shape.width) @ w[name + "attention.out.weight"].T
        y = rms(x, w[name + "feed_norm.weight"]) @ w[name + "feed.gate_up.weight"].T
        gate, up = y[:, : shape.hidden], y[:, shape.hidden :]
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w[name + "feed.down.weight"].T
    return np.asarray(rms(x, w["norm.weight"]) @ w["embedding.weight"].T)


def nats(result: Array, text: list[int]) -> Array:
    """Return the loss of bytes 1, 2, ... of ``text`` under logits of bytes 0, 1, ..., float64 (S - 1,)."""
    out = []
    for i in range(len(text) - 1):
        row = result[i] - result[i].max()
        out.append(math.log(np.exp(row).sum()) - row[text[i + 1]])
    return np.array(out)
