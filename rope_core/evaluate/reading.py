"""Losses of single tokens: whole windows, read in chunks with a cache, and a sliding window of the trained length."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_core.errors import checked_int
from rope_core.evaluate.modules import RotaryModules
from rope_core.evaluate.variants import RopeVariant, ropes_at_length
from rope_core.rope import Array
from rope_core.verification.observe import cache_argument_name

STRIDE = 4
"""The sliding window moves on by one part in so many of its length."""


class ModelLossReader(Protocol):
    """A program with a model in it, which reads tokens under one set of frequencies at a time.

    Attributes:
        class_name: of the model, as the report names it.
        dtype: of its weights, torch's name.
        device: where it runs.
        reloads: whether another set of frequencies is another load of the model.
    """

    class_name: str
    dtype: str
    device: str
    reloads: bool

    def write_variant(self, variant: RopeVariant) -> None:
        """Have the model turn by a variant. Raises ValueError where its layers cannot."""

    def verified_keys(self, variant: RopeVariant) -> tuple[str, ...]:
        """Return what is noted of the variant that was written. Raises ValueError where the model turns otherwise."""

    def token_losses(self, tokens: Array) -> Array:
        """Return the loss of every token but the first, given all before it: nats, float64 (n, length)."""

    def likeliest_token_mask(self, tokens: Array, last_count: int) -> Array:
        """Return which of the last tokens are the likeliest, given all before them: 1 or 0, (n, last_count)."""


class TransformersReader:
    """A causal model of transformers, whose rotary modules are written.

    Args:
        model: on its device.
        load: what it turns by as it was loaded.
        chunk: tokens that are read at once.

    Raises ValueError where the model's class keeps no frequencies that can be written.
    """

    reloads = False

    def __init__(self, model: Any, load: RopeVariant, chunk: int) -> None:
        self.model, self.load, self.chunk = model, load, chunk
        self.rotary = RotaryModules(model, load)
        self.write_variant, self.verified_keys = self.rotary.write_variant, self.rotary.verified_keys
        self.class_name, self.device = type(model).__name__, str(model.device)
        self.dtype = str(model.dtype).removeprefix("torch.")

    def token_losses(self, tokens: Array) -> Array:
        """Return the loss of every token but the first: nats, float64 (n, length)."""
        return token_losses(self.model, self._placed(tokens), self.chunk)

    def likeliest_token_mask(self, tokens: Array, last_count: int) -> Array:
        """Return which of the last tokens are the likeliest ones: 1 or 0, (n, last_count)."""
        return likeliest_token_mask(self.model, self._placed(tokens), self.chunk, last_count)

    def keeping_stale_keys(self, factor: float | None, trained: int) -> AbstractContextManager[None]:
        """Have each key stay as it was turned when it came, past the trained length in tokens."""
        return self.rotary.rotating_by_own_length(
            partial(ropes_at_length, self.load, factor=factor, trained=trained), trained
        )

    def _placed(self, tokens: Array) -> Tensor:
        return torch.from_numpy(tokens).to(self.model.device)


def logits_of(model: Any, ids: Tensor, chunk: int) -> Any:
    """Yield (first position, logits) of ids (n, length) chunk by chunk, keys and values kept in transformers' cache."""
    from transformers import DynamicCache

    cache, name = DynamicCache(config=model.config), cache_argument_name(model) or "past_key_values"
    with torch.inference_mode():
        for first in range(0, ids.shape[1], chunk):
            part = ids[:, first : first + chunk]
            where = torch.arange(first, first + part.shape[1], device=ids.device)[None].expand(len(part), -1)
            out = model(input_ids=part, position_ids=where, use_cache=True, **{name: cache})
            yield first, out.logits


def token_losses(model: Any, tokens: Tensor, chunk: int) -> Array:
    """Return the loss of every token but the first, given all before it: nats, float64 (n, length).

    Args:
        model: a causal model of transformers.
        tokens: int64 (n, length + 1), on the model's device.
        chunk: tokens that are read at once.
    """
    length = tokens.shape[1] - 1
    out = np.empty((len(tokens), length))
    for first, logits in logits_of(model, tokens[:, :-1], chunk):
        wide = logits if logits.dtype == torch.float64 else logits.float()
        true = tokens[:, first + 1 : first + 1 + wide.shape[1]].to(wide.device)
        nats = F.cross_entropy(wide.flatten(0, 1), true.flatten(), reduction="none")
        out[:, first : first + wide.shape[1]] = nats.view(len(tokens), -1).double().cpu().numpy()
    return out


def sliding_losses(losses: Callable[[Array], Array], tokens: Array, window: int, begin: int = 0) -> Array:
    """Return the loss of every token but the first from the last tokens of a window: nats, float64 (n, length).

    The window moves on by a quarter of its length, and only the tokens that are new in it count.

    Args:
        losses: of every token but the first, as ``ModelLossReader.token_losses``.
        tokens: int64 (n, length + 1).
        window: tokens in the window, at least 4.
        begin: tokens at the start of each document that begin every window, such as a begin-of-text token.
    """
    length = tokens.shape[1] - 1
    step = checked_int("window", window, 4, 2**31) // STRIDE
    head = tokens[:, :begin]
    out = losses(tokens[:, : window + 1])
    for stop in range(window + step, length + step, step):
        end = min(stop, length)
        new = losses(np.concatenate([head, tokens[:, end - window + begin : end + 1]], 1))
        out = np.concatenate([out, new[:, out.shape[1] - end :]], axis=1)
    return out


def likeliest_token_mask(model: Any, tokens: Tensor, chunk: int, last_count: int) -> Array:
    """Return which of the last tokens are the likeliest ones, given all the true ones before: 1 or 0, (n, last)."""
    hits = []
    for first, logits in logits_of(model, tokens[:, :-1], chunk):
        true = tokens[:, first + 1 : first + 1 + logits.shape[1]].to(logits.device)
        hits.append((logits.argmax(-1) == true)[:, max(0, tokens.shape[1] - 1 - last_count - first) :])
    right = torch.cat(hits, 1)[:, -last_count:]
    return right.double().cpu().numpy()
