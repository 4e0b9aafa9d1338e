"""Checks on what really runs: a loaded module's buffers and layout, stored weights, a weight conversion, a cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.checks.case import SEVERITIES, Finding, finding, largest
from rope_core.checks.stored import Buffer, in_file, in_mapping, in_module
from rope_core.errors import reject, whole
from rope_core.hf.read import read_config
from rope_core.hf.ropes import HfRope, from_hf, layer_types
from rope_core.layout import HALF, INTERLEAVED, convert_projection
from rope_core.rope import MAX_LEN, Array

# transformers computes frequencies in float32: agreement to 1e-5, and far less where they were rounded to half.
SAME, ROUNDED = 2e-5, 0.02


def verify(model_or_file: object, config: object) -> list[Finding]:
    """Return what is wrong with the rotary embedding that a model really has, or worth knowing, the gravest first.

    Args:
        model_or_file: a loaded torch module; a state dict; or the path of a safetensors file or a folder of them.
        config: the config that it should follow: a dict, a path, or a transformers config object.

    Raises:
        ConfigError: on a config that cannot be read.
        ValueError: on an object or a file that holds no tensors.
    """
    data = read_config(config)
    kinds: list[str | None] = [*layer_types(data)] or [None]
    ropes = {kind: from_hf(data, kind) for kind in kinds}
    if isinstance(model_or_file, str | Path):
        found = [*stored(in_file(Path(model_or_file)), ropes)]
    elif isinstance(model_or_file, Mapping):
        found = [*stored(in_mapping(model_or_file), ropes)]
    elif callable(getattr(model_or_file, "named_buffers", None)):
        buffers = in_module(model_or_file)
        found = [*compared(buffers, ropes)] if buffers else [finding("no_buffers", "inv_freq")]
        if not {one.key for one in found} & {"buffer_on_meta", "buffer_uninitialised"}:
            found += [*layout(model_or_file, next(iter(ropes.values())))]
    else:
        raise reject("model_or_file", "a torch module, a state dict or a safetensors path", model_or_file)
    return sorted(found, key=lambda one: SEVERITIES.index(one.severity))


def stored(buffers: list[Buffer], ropes: Mapping[str | None, HfRope]) -> Iterator[Finding]:
    """Buffers among stored tensors, else that weights alone carry no layout and no frequencies."""
    if not buffers:
        yield finding("weights_alone", "inv_freq", layout=next(iter(ropes.values())).layout)
    yield from compared(buffers, ropes)


def compared(buffers: list[Buffer], ropes: Mapping[str | None, HfRope]) -> Iterator[Finding]:
    """Each buffer against the layer type that it belongs to; the same finding in many layers is said once."""
    said: set[tuple[str, str | None]] = set()
    for buffer in buffers:
        kind, rope = belongs(buffer, ropes)
        for one in judged(buffer, kind, rope):
            if (one.key, one.layer_type) not in said:
                said.add((one.key, one.layer_type))
                yield one


def belongs(buffer: Buffer, ropes: Mapping[str | None, HfRope]) -> tuple[str | None, HfRope]:
    """The layer type that a buffer's name says, or the one that it is nearest to."""
    last = buffer.name.rpartition(".")[2]
    for kind, rope in ropes.items():
        if kind is not None and last.startswith(kind):
            return kind, rope
    values = buffer.values
    near = min(ropes, key=lambda kind: np.inf if values is None else apart(values, ropes[kind].inv_freq))
    return near, ropes[near]


def apart(values: Array, wanted: Array) -> float:
    """Largest relative difference; inf where it cannot be said."""
    return largest(values, wanted) if values.shape == wanted.shape and np.all(np.isfinite(values)) else float("inf")


def judged(buffer: Buffer, kind: str | None, rope: HfRope) -> Iterator[Finding]:
    """One buffer: present, initialised, as wide, as fine and as fast as the config says."""
    values, wanted = buffer.values, rope.inv_freq
    if values is None:
        yield finding("buffer_on_meta", buffer.name, None, kind)
        return
    if values.shape != wanted.shape:
        yield finding("buffer_width", buffer.name, None, kind, found=values.size, wanted=wanted.size)
        return
    difference = apart(values, wanted)
    coarse = half_precision(buffer)
    if difference > SAME and uninitialised(values):
        first = float(values.flat[0])
        yield finding("buffer_uninitialised", buffer.name, None, kind, first=first, wanted=float(wanted[0]))
    elif coarse and difference <= ROUNDED:
        length = rope.max_len or rope.train_len
        error = float(np.max(np.abs(values - wanted)) * (length - 1))
        worst = 100.0 * difference
        yield finding("buffer_rounded", buffer.name, None, kind, dtype=coarse, worst=worst, length=length, error=error)
    elif difference > SAME:
        pair = int(np.argmax(np.abs(values - wanted) / np.where(wanted == 0, 1.0, wanted)))
        plain = apart(values, rope.unscaled) <= SAME
        key = "buffer_unscaled" if plain else "buffer_differs"
        yield finding(
            key,
            buffer.name,
            None,
            kind,
            pair=pair,
            found=float(values[pair]),
            wanted=float(wanted[pair]),
            worst=100.0 * difference,
            type=rope.rope_type,
        )
    scaling = buffer.attention
    if scaling is not None and abs(scaling - rope.attention_factor) > SAME * max(rope.attention_factor, 1.0):
        yield finding("attention_scaling_differs", buffer.name, None, kind, found=scaling, wanted=rope.attention_factor)


def uninitialised(values: Array) -> bool:
    """Whether memory that nobody wrote looks like this: not finite, negative, rising, or all zero."""
    if not np.all(np.isfinite(values)) or np.any(values < 0) or not np.any(values):
        return True
    return bool(np.any(np.diff(values) > 0))


def half_precision(buffer: Buffer) -> str:
    """The half-precision type that a buffer has, or whose values it holds after a cast up; "" for neither."""
    if buffer.dtype in ("bfloat16", "float16"):
        return buffer.dtype
    from rope_core.theory.precision import round_to

    values = buffer.values
    if values is None or values.size < 4 or not np.all(np.isfinite(values)):
        return ""
    for dtype in ("bfloat16", "float16"):
        kept = np.asarray(round_to(values, dtype)) == values
        if np.all(kept) and np.any(values[1:] > 0):
            return dtype
    return ""


def layout(module: Any, rope: HfRope) -> Iterator[Finding]:
    """Which dimension turns with dimension 0, by running the module's own rotation at a position past 0."""
    from rope_core.checks.probe import partner

    if rope.nope:
        return
    pair = partner(module, rope)
    if pair is None:
        yield finding("layout_not_probed", "model_type", layout=rope.layout)
        return
    found = {1: INTERLEAVED.name, rope.rotary_dim // 2: HALF.name}.get(pair, f"0 with {pair}")
    if rope.rotary_dim > 2 and found != rope.layout:
        yield finding("layout_differs", "model_type", found=found, wanted=rope.layout, partner=pair)


def check_conversion(
    source: Any, converted: Any, heads: int, rotary_dim: int | None = None, query_heads: int | None = None
) -> list[Finding]:
    """Return whether a projection was reordered from adjacent pairs to halves with the right number of heads.

    Args:
        source: (heads * head_dim, in) weight in the interleaved layout (Meta's); numpy or torch.
        converted: the same weight after the conversion to halves.
        heads: heads in this projection: KV heads for k.
        rotary_dim: rotary width where only a part of each head turns.
        query_heads: the query heads, to recognise a k that was reordered as if it were q.

    Raises:
        ValueError: when the shapes differ, or the rows do not divide into heads.
    """
    old, new = np.asarray(source, dtype=np.float64), np.asarray(converted, dtype=np.float64)
    if old.shape != new.shape:
        raise reject("converted", f"of shape {old.shape}", new.shape)
    if np.array_equal(convert_projection(old, heads, INTERLEAVED, HALF, rotary_dim), new):
        return []
    if np.array_equal(old, new):
        return [finding("rows_not_reordered", "k_proj", heads=heads)]
    if query_heads and old.shape[0] % (2 * query_heads) == 0:
        wrong = convert_projection(old, query_heads, INTERLEAVED, HALF, None)
        if np.array_equal(wrong, new):
            return [finding("rows_by_query_heads", "k_proj", heads=heads, query_heads=query_heads)]
    return [finding("rows_reordered_otherwise", "k_proj", heads=heads)]


def check_cache(config: object, cached: int, length: int, layer_type: str | None = None) -> list[Finding]:
    """Return how far keys that were cached at ``cached`` tokens are off once ``length`` tokens are in use.

    Raises ConfigError on a config that cannot be read, ValueError on lengths that are no positive numbers.

    >>> scaling = {"rope_type": "dynamic", "factor": 4.0}
    >>> config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 2048, "rope_scaling": scaling}
    >>> [one.key for one in check_cache(config, 2048, 4096)], check_cache(config, 1024, 2048)
    (['cached_keys_drift'], [])
    """
    whole("cached", cached, 1, MAX_LEN)
    whole("length", length, cached, MAX_LEN)
    before, after = from_hf(config, layer_type, cached), from_hf(config, layer_type, length)
    drift = np.abs(before.inv_freq - after.inv_freq) * (cached - 1)
    if not np.any(drift):
        return []
    pair = int(drift.argmax())
    path = before.provenance["scheme"].path
    worst = float(drift.max())
    return [finding("cached_keys_drift", path, None, layer_type, cached=cached, length=length, drift=worst, pair=pair)]
