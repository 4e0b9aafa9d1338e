"""The ways in which a model reads a text: at once, in pieces, word by word with a cache, padded, and packed.

The same tokens must have the same keys, and lead to the same output, in each. What a rotation does at one position is
judged elsewhere (`rope_core.verification.turned`); here a position that starts anew with every step, a padding that is
counted, or a rotation that only some of the ways do shows as a difference between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rope_core.findings import Finding, make_finding
from rope_core.rope import Array
from rope_core.verification.observe import (
    cache_argument_name,
    forward_argument_names,
    ordinary_token_ids,
    preserved_module_state,
    text_model_candidates,
)
from rope_core.verification.products import to_float64_array

TOKENS, LEAST, PADDING = 12, 4, 3
SEED = 0
# What two ways may differ by, over the largest value: kernels add up in another order. In half precision besides, this
# many times what a change of the last digit of every projection does: it may choose another expert.
APART = {"torch.float32": 1e-3, "torch.float64": 1e-6}
COARSE, CHANGES, TIMES = 0.05, 4, 2.0
NEEDED = ("input_ids", "use_cache")


def decoding_path_findings(
    module: Any, model_type: str | None, raised: list[Exception], compared: list[str] | None = None
) -> list[Finding]:
    """Return where the ways of the text part of ``module`` part from a reading of all tokens at once.

    [] where they agree, and where no part of it takes token ids and a cache; what attempts raised, and the ways that
    were compared ("decode", "pieces", "padding", "packed"), are appended.
    """
    # transformers 5.24 computes a Mamba state's steps otherwise than a whole text: what differs is no rotation's.
    states = any(hasattr(part, "A_log") and hasattr(part, "D") for part in module.modules())
    for name, part in () if states else text_model_candidates(module, model_type):
        if not all(each in forward_argument_names(part) for each in NEEDED) or not cache_argument_name(part):
            continue
        try:
            with preserved_module_state(module):
                return [*_compared(part, name, [] if compared is None else compared)]
        except Exception as error:
            # Somebody's forward with a signature of its own: the next part, or no answer.
            raised.append(error)
    return []


def _compared(part: Any, name: str, compared: list[str]) -> Iterator[Finding]:
    """Compare each way with the whole text: the keys of each layer, then the output.

    Behind padding the first layer's keys alone: where tokens are compressed or kept as a state, the rest depends on it.
    """
    import torch

    # A sparse attention that picks among more tokens than it keeps decides ties anew in each way.
    count = max(LEAST, min(TOKENS, getattr(getattr(part, "config", None), "index_topk", None) or TOKENS))
    half = count // 2
    weight = next(part.parameters())
    words = torch.tensor(ordinary_token_ids(part))
    drawn = torch.randint(0, len(words), (1, count), generator=torch.Generator().manual_seed(SEED))
    ids = words[drawn].to(weight.device)
    room = APART.get(str(weight.dtype), COARSE)
    whole, begun = _read(part, ids, [count]), _read(part, ids[:, :half], [half])
    rooms, room_out = _rooms(part, ids, whole, room)
    if _first(whole[1][:half], begun[1], room_out)[0] is not None:
        return  # an encoder: later tokens change what is read of earlier ones
    readings = {"decode": _read(part, ids, [1] * count), "pieces": _read(part, ids, [half, count - half])}
    if "position_ids" in forward_argument_names(part) and "attention_mask" in forward_argument_names(part):
        readings["padding"] = _padded(part, ids)
    compared += readings
    if "padding" in readings:
        packed, alone = _packed(part, ids, half), _read(part, ids[:, half:], [count - half])[0]
        # A convolution or a state may bring the first text into the second: only keys that run on are a fault.
        if packed is not None and len(packed) == len(alone) == len(whole[0]):
            compared.append("packed")
            where, apart = _first(alone[0], packed[0][:, half:], rooms[0])
            if where is not None and _first(whole[0][0], packed[0], rooms[0])[0] is None:
                yield make_finding("ways_packed", name or "model", None, layer=0, token=half + where, apart=100 * apart)
    for way, (keys, output) in readings.items():
        for layer, (right, other) in enumerate(zip(whole[0], keys, strict=False)):
            where, apart = _first(right, other, rooms[layer])
            if where is not None:
                yield make_finding(f"ways_{way}", name or "model", None, layer=layer, token=where, apart=100 * apart)
                break
        else:
            where, apart = _first(whole[1], output, room_out)
            if where is not None:
                yield make_finding(f"ways_{way}_output", name or "model", None, token=where, apart=100 * apart)


def _rooms(part: Any, ids: Any, whole: tuple[list[Array], Array], room: float) -> tuple[list[float], float]:
    """Return what two ways may differ by in each layer's keys and in the output, over the largest value."""
    rooms, room_out = [room] * len(whole[0]), room
    for seed in range(CHANGES if room == COARSE else 0):
        with _last_digits(part, seed):
            keys, output = _read(part, ids, [ids.shape[1]])
        apart = [_first(right, other, room)[1] for right, other in zip(whole[0], keys, strict=True)]
        rooms = [max(old, TIMES * new) for old, new in zip(rooms, apart, strict=True)]
        room_out = max(room_out, TIMES * _first(whole[1], output, room)[1])
    return rooms, room_out


@contextmanager
def _last_digits(part: Any, seed: int) -> Iterator[None]:
    """Change what each projection and embedding gives by at most its last digit."""
    import torch

    random = torch.Generator().manual_seed(seed)

    def change(module: Any, inputs: Any, output: Any) -> Any:
        drawn = torch.rand(output.shape, generator=random, dtype=torch.float32).to(output.device) * 2 - 1
        return (output.float() * (1 + torch.finfo(output.dtype).eps * drawn)).to(output.dtype)

    kinds = (torch.nn.Linear, torch.nn.Embedding)
    hooks = [each.register_forward_hook(change) for each in part.modules() if isinstance(each, kinds)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _read(part: Any, ids: Any, pieces: list[int]) -> tuple[list[Array], Array]:
    """Read tokens in pieces with a cache; return each layer's keys (heads, tokens, dim), the output (tokens, width)."""
    import torch

    past: Any = None
    outputs, start, held = [], 0, cache_argument_name(part)
    with torch.no_grad():
        for length in pieces:
            answer = part(input_ids=ids[:, start : start + length], use_cache=True, **{held: past})
            past, start = getattr(answer, held), start + length
            outputs.append(_output(answer))
    return _keys(past, start), np.concatenate(outputs, axis=1)[0]


def _padded(part: Any, ids: Any) -> tuple[list[Array], Array]:
    """Return the first layer's keys of tokens behind padding; positions count from the first real token."""
    import torch

    count = ids.shape[1]
    mask = torch.ones(2, count + PADDING, dtype=torch.long, device=ids.device)
    mask[0, :PADDING] = 0
    tokens = torch.ones_like(mask)
    tokens[0, PADDING:] = ids[0]
    tokens[1, :count] = ids[0]
    places = (mask.cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        answer = part(input_ids=tokens, attention_mask=mask, position_ids=places, use_cache=True)
    keys = _keys(getattr(answer, cache_argument_name(part)), count + PADDING)
    return [each[:, PADDING:] for each in keys[:1]], np.zeros((0, 0))


def _packed(part: Any, ids: Any, half: int) -> list[Array] | None:
    """Return the keys of two texts in one row, each with positions from 0; None where not all layers keep keys."""
    import torch

    count = ids.shape[1]
    places = torch.arange(count, device=ids.device)[None] - half * (torch.arange(count, device=ids.device) >= half)
    with torch.no_grad():
        past = getattr(part(input_ids=ids, position_ids=places, use_cache=True), cache_argument_name(part))
    keys = _keys(past, count)
    return keys if keys and len(keys) == len(past.layers) else None


def _output(answer: Any) -> Array:
    """Return a model's logits, else its last hidden states, (batch, tokens, width)."""
    logits = getattr(answer, "logits", None)
    return to_float64_array(answer.last_hidden_state if logits is None else logits)


def _keys(past: Any, count: int) -> list[Array]:
    """Return the cached keys of the first row, of each layer that holds all ``count`` tokens, (heads, tokens, dim)."""
    held = [getattr(layer, "keys", None) for layer in getattr(past, "layers", ())]
    whole = [to_float64_array(keys[0]) for keys in held if keys is not None and keys.ndim == 4]
    return [keys for keys in whole if keys.shape[1] == count]


def _first(right: Array, other: Array, room: float) -> tuple[int | None, float]:
    """Return the first token at which arrays (..., tokens, width) part, and their largest difference over the size."""
    if right.shape != other.shape:
        return None, 0.0
    size = float(np.abs(right).max()) or 1.0
    by_token = np.abs(right - other).max(axis=tuple(k for k in range(right.ndim) if k != right.ndim - 2)) / size
    wrong = np.flatnonzero(~(by_token <= room))
    return (int(wrong[0]) if wrong.size else None), float(np.nan_to_num(by_token, nan=1.0).max())
