"""Losses of single tokens, read in chunks with a cache: whole windows, and a sliding window of the trained length."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_core.errors import checked_int
from rope_core.rope import Array
from rope_core.verification.observe import cache_argument_name

STRIDE = 4
"""The sliding window moves on by one part in so many of its length."""


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


def sliding_losses(model: Any, tokens: Tensor, chunk: int, window: int, begin: int = 0) -> Array:
    """Return the loss of every token but the first from the last tokens of a window: nats, float64 (n, length).

    The window moves on by a quarter of its length, and only the tokens that are new in it count.

    Args:
        model, tokens, chunk: as for ``token_losses``.
        window: tokens in the window, at least 4.
        begin: tokens at the start of each document that begin every window, such as a begin-of-text token.
    """
    length = tokens.shape[1] - 1
    step = checked_int("window", window, 4, 2**31) // STRIDE
    head = tokens[:, :begin]
    out = token_losses(model, tokens[:, : window + 1], chunk)
    for stop in range(window + step, length + step, step):
        end = min(stop, length)
        part = torch.cat([head, tokens[:, end - window + begin : end + 1]], 1)
        new = token_losses(model, part, chunk)
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
