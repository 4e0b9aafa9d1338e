"""The lab's model read byte by byte in float64 loops, each key turned as a test says, for tests of the lab's work."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from rope_core.lab import cards, weights
from rope_core.lab.corpus import shipped_corpus_manifest
from rope_core.lab.model import LabModel
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.shape import ModelShape
from rope_core.lab.train import hardware_record

Array = npt.NDArray[np.float64]
Frequencies = Callable[[int, int], Array]


def small(encoding: str = "rope", seed: int = 3, **more: Any) -> LabModel:
    """Return a model with weights large enough for positions to matter, ready for evaluation."""
    sizes = {
        "layers": 2,
        "width": 16,
        "heads": 2,
        "hidden": 12,
        "context": 12,
        "base": 300.0,
    } | more
    model = LabModel(ModelShape(encoding=encoding, **sizes), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * (0.4 if weight.dim() == 2 else 0.2))
            if "norm" in name:
                weight.add_(1.0)
    return model.requires_grad_(False).eval()


def bytes_drawn(size: int, seed: int = 0) -> bytes:
    """Printable bytes."""
    return bytes(np.random.default_rng(seed).integers(32, 127, size, dtype=np.uint8))


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


def read(
    model: LabModel,
    text: bytes,
    frequencies: Frequencies | None = None,
    *,
    query: Frequencies | None = None,
    factor: float = 1.0,
) -> Array:
    """Return logits (S, 256), float64: each byte in turn looks back at unturned keys, which are turned for it alone.

    Args:
        frequencies: rad/byte (D/2,) of key j when byte i looks; None means the trained ones.
        query: of the query of byte i, both arguments i; None means as its own key.
        factor: multiplies cos and sin.
    """
    shape = model.shape
    w = {name: np.asarray(value.double().numpy()) for name, value in model.state_dict().items()}
    size, head = len(text), shape.width // shape.heads
    trained = shape.base ** (-2.0 * np.arange(head // 2) / head)
    of_key = frequencies or (lambda i, j: trained)
    of_query = query or of_key
    cached: list[list[tuple[Array, Array]]] = [[] for _ in range(shape.layers)]
    out = np.zeros((size, 256))
    for i in range(size):
        x = w["embedding.weight"][text[i]]
        if shape.encoding == "learned":
            x = x + w["position.table"][i]
        if shape.encoding == "sinusoidal":
            angle = i / shape.base ** (np.arange(0, shape.width, 2) / shape.width)
            x = x + w["position.scale"] * np.stack([np.sin(angle), np.cos(angle)], -1).ravel()
        angles, away = np.stack([j * of_key(i, j) for j in range(i + 1)]), i - np.arange(i + 1)
        for layer in range(shape.layers):
            name = f"blocks.{layer}."
            y = rms(x, w[name + "attention_norm.weight"]) @ w[name + "attention.qkv.weight"].T
            q, k, v = y.reshape(3, shape.heads, head)
            cached[layer].append((k, v))
            mixed = np.zeros((shape.heads, head))
            for h in range(shape.heads):
                keys, mine = np.stack([k[h] for k, _ in cached[layer]]), q[h][None]
                if shape.encoding == "rope":
                    keys, mine = turned(keys, angles, factor), turned(mine, i * of_query(i, i)[None], factor)
                scores = keys @ mine[0] / math.sqrt(head)
                if shape.encoding == "alibi":
                    scores = scores - alibi_slope(h, shape.heads) * away
                if shape.encoding == "t5":
                    scores = scores + 10.0 * np.array([w["position.buckets"][t5_bucket(int(a)), h] for a in away])
                p = np.exp(scores - scores.max())
                mixed[h] = p / p.sum() @ np.stack([v[h] for _, v in cached[layer]])
            x = x + w[name + "attention.out.weight"] @ mixed.ravel()
            gate, up = np.split(w[name + "feed.gate_up.weight"] @ rms(x, w[name + "feed_norm.weight"]), 2)
            x = x + w[name + "feed.down.weight"] @ (gate / (1 + np.exp(-gate)) * up)
        out[i] = w["embedding.weight"] @ rms(x, w["norm.weight"])
    return out


def nats(result: Array, text: bytes) -> Array:
    """Return the loss of bytes 1, 2, ... of ``text`` under logits of bytes 0, 1, ..., float64 (S - 1,)."""
    out = []
    for i in range(len(text) - 1):
        row = result[i] - result[i].max()
        out.append(math.log(np.exp(row).sum()) - row[text[i + 1]])
    return np.array(out)


def stock(folder: Path, monkeypatch: pytest.MonkeyPatch, models: dict[str, LabModel], task: str = "text") -> None:
    """Put models in the place of the shipped weights, for one test; they are rounded to bfloat16 as those are."""
    index = {}
    for name, model in models.items():
        path = folder / f"{name}.safetensors"
        index[name] = {
            "sha256": weights.write_weights(model, path),
            "bytes": path.stat().st_size,
            "recipe": asdict(TrainingRecipe(model.shape, task=task)),
            "loss": 1.0,
            "losses": [2.0, 1.0],
            "held_out": [1.0, 0.9, 1.1],
            "corpus": shipped_corpus_manifest()["sha256"],
            "seconds": 1.0,
            "hardware": hardware_record(),
            "date": "2026-01-01",
        }
    (folder / "index.json").write_text(json.dumps(index))
    monkeypatch.setattr(cards, "INDEX", folder / "index.json")
    weights.load_shipped_model.cache_clear()
