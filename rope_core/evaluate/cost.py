"""What an evaluation takes before it starts: memory from the config, time from a short trial."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from rope_core.errors import argument_error
from rope_core.evaluate.loading import SPREAD, LoadedModel
from rope_core.evaluate.reading import token_losses
from rope_core.kernels.task import available_memory

GIB = 2**30


@dataclass(frozen=True)
class ModelSize:
    """What of a model's config decides memory and time.

    Attributes:
        numbers: of the weights; layers, hidden, vocabulary: as in the config.
        kept: numbers that the cache holds for each token, all layers together.
    """

    numbers: int
    layers: int
    hidden: int
    vocabulary: int
    kept: int

    def reading_bytes(self, unit: int, length: int, batch: int, chunk: int) -> int:
        """Return about how many bytes reading takes: weights, cache, logits, one layer's activations.

        Args:
            unit: bytes of a number.
            length: of the longest window, tokens.
            batch: windows that are read together.
            chunk: tokens that are read at once.
        """
        logits = batch * chunk * self.vocabulary * (unit + 8)
        # A mask of chunk times length, and the widest layer's activations several times.
        activations = batch * chunk * (40 * self.hidden * unit + length * 4)
        return self.numbers * unit + batch * length * self.kept * unit + logits + activations

    def window_work(self, length: int) -> float:
        """Return about how many multiplications and additions a window takes, in units that only compare."""
        return length * (2.0 * self.numbers + 2.0 * self.layers * self.hidden * length)


def model_size(config: Mapping[str, Any], parameter_count: int) -> ModelSize:
    """Return a model's size from its config; what a config does not say counts as in Llama."""
    text = config.get("text_config")
    text = text if isinstance(text, Mapping) else config

    def size(*names: str, default: int) -> int:
        sizes = (text.get(name) for name in names)
        return next((int(each) for each in sizes if isinstance(each, int) and each > 0), default)

    hidden = size("hidden_size", "n_embd", "d_model", default=4096)
    layers = size("num_hidden_layers", "n_layer", "num_layers", default=32)
    heads = size("num_attention_heads", "n_head", "num_heads", default=32)
    shared = size("num_key_value_heads", default=heads)
    width = size("head_dim", default=max(1, hidden // heads))
    per_layer = 2 * shared * width
    if isinstance(text.get("kv_lora_rank"), int):
        # Latent attention: transformers keeps the latent vector and the one key that turns.
        per_layer = size("kv_lora_rank", default=512) + size("qk_rope_head_dim", default=64)
    return ModelSize(parameter_count, layers, hidden, size("vocab_size", default=32_000), layers * per_layer)


def free_memory(device: str) -> int:
    """Return the bytes of memory that are free on a device, or on all of them together."""
    if device == SPREAD:
        cards = range(torch.cuda.device_count())
        return available_memory() + sum(int(torch.cuda.mem_get_info(card)[0]) for card in cards)
    return int(torch.cuda.mem_get_info(device)[0]) if device.startswith("cuda") else available_memory()


def check_free_memory(needed_bytes: int, device: str) -> None:
    """Raise ValueError where less memory is free on a device than an evaluation needs."""
    free = free_memory(device)
    if needed_bytes > free:
        raise argument_error(
            "--lengths", "eval_memory", max(1, round(needed_bytes / GIB, 2)), free=free / GIB, device=device
        )


def measure_seconds_per_work(loaded: LoadedModel, size: ModelSize, tokens: Any, chunk: int) -> float:
    """Return how long a unit of ``ModelSize.work`` takes, from one short read after another that warms up."""
    ids = torch.from_numpy(tokens).to(loaded.model.device)
    begun = 0.0
    for _ in range(2):
        begun = time.perf_counter()
        token_losses(loaded.model, ids, chunk)
    return (time.perf_counter() - begun) / size.window_work(ids.shape[1] - 1)
