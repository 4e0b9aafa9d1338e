"""A right solution of every task, in numpy alone; the tests plant mistakes in its text."""

import math
from typing import Any

import numpy as np


def spectrum(dim: int, base: float) -> Any:
    i = np.arange(dim // 2)
    return base ** (-2.0 * i / dim)


def rotate(x: Any, positions: Any, inv_freq: Any, layout: str) -> Any:
    kind = np.float64 if x.dtype == np.float64 else np.float32
    angle = np.outer(positions, inv_freq)
    cos, sin = np.cos(angle).astype(kind), np.sin(angle).astype(kind)
    out = np.empty(x.shape, kind)
    n = x.shape[-1] // 2
    if layout == "half":
        first, second = slice(0, n), slice(n, 2 * n)
    else:
        first, second = slice(0, 2 * n, 2), slice(1, 2 * n, 2)
    a, b = x[:, first].astype(kind), x[:, second].astype(kind)
    out[:, first], out[:, second] = a * cos - b * sin, a * sin + b * cos
    return out.astype(x.dtype)


def rotate_backward(grad: Any, positions: Any, inv_freq: Any, layout: str) -> Any:
    return rotate(grad, -positions, inv_freq, layout)


def convert(x: Any, source: str, target: str) -> Any:
    if source == target:
        return x
    if target == "half":
        return np.concatenate([x[:, 0::2], x[:, 1::2]], axis=-1)
    n = x.shape[-1] // 2
    return np.stack([x[:, :n], x[:, n:]], axis=-1).reshape(x.shape)


def yarn(dim: int, base: float, train_len: int, factor: float) -> Any:
    theta = spectrum(dim, base)
    low, high = (dim * math.log(train_len / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (32, 1))
    low, high = max(math.floor(low), 0), min(math.ceil(high), dim - 1)
    divided = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    scale = 0.1 * math.log(factor) + 1
    return theta / factor * divided + theta * (1 - divided), scale
