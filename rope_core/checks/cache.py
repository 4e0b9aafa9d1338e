"""Keys that a cache keeps after they were rotated: whether they may be moved, and whether they were moved rightly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rope_core.checks.case import Finding, finding
from rope_core.checks.positions import as_ids
from rope_core.checks.products import as_array
from rope_core.checks.turned import COARSE, SINGLE, in_lanes, sign, tolerance
from rope_core.errors import reject, whole
from rope_core.hf.ropes import HfRope, from_hf
from rope_core.layout import LAYOUTS
from rope_core.rope import MAX_LEN, Array
from rope_core.schemes import SCHEMES

FIELD = "past_key_values"


def check_cache(
    config: object,
    cached: int | None = None,
    length: int | None = None,
    layer_type: str | None = None,
    *,
    before: Any = None,
    after: Any = None,
    old: Any = None,
    new: Any = None,
) -> list[Finding]:
    """Return what is wrong with keys that are kept, moved or merged after they were rotated.

    With a config alone: whether one rotation by a difference of positions can move a cached key, and if not, why. With
    two lengths: how far keys cached at ``cached`` tokens are off once ``length`` tokens are in use. With keys
    ``before`` and ``after`` a move from the positions ``old`` to ``new``: whether they are what that move should have
    made of them. A key may be off by its own length times the tolerance of ``rc.verify`` for its dtype.

    Args:
        config: a dict, a path or a transformers config object.
        cached: tokens.
        length: tokens, at least ``cached``.
        layer_type: which layers; None where all are alike.
        before: keys of one layer as they were cached, (tokens, heads, head_dim), numpy or torch.
        after: the same keys, moved.
        old: (tokens,) positions at which they were rotated.
        new: (tokens,) positions to which they were moved.

    Raises ConfigError on a config that cannot be read, ValueError on numbers and shapes that do not fit.

    >>> scaling = {"rope_type": "dynamic", "factor": 4.0}
    >>> config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 2048, "rope_scaling": scaling}
    >>> [one.key for one in check_cache(config, 2048, 4096)], check_cache(config, 1024, 2048)
    (['cached_keys_drift'], [])
    >>> [one.key for one in check_cache(config)]
    ['cached_keys_by_length']
    """
    if before is None and after is None:
        if cached is None and length is None:
            return [*movable(from_hf(config, layer_type))]
        return drift(config, cached, length, layer_type)
    keys, moved = (_keys(name, value) for name, value in (("before", before), ("after", after)))
    if keys.shape != moved.shape:
        raise reject("after", f"of shape {keys.shape}", moved.shape)
    places = {name: as_ids(name, value)[0] for name, value in (("old", old), ("new", new))}
    for name, place in places.items():
        if len(place) != len(keys):
            raise reject(name, f"one position for each of {len(keys)} keys", place.shape)
    unit = max(COARSE.get(str(getattr(value, "dtype", "")).removeprefix("torch."), SINGLE) for value in (before, after))
    return [*displaced(from_hf(config, layer_type), keys, moved, places["old"], places["new"], unit)]


def movable(rope: HfRope) -> Iterator[Finding]:
    """Say whether one rotation by a difference moves a cached key."""
    path = rope.provenance["scheme"].path
    if rope.nope or not np.any(rope.inv_freq):
        yield finding("cached_keys_still", FIELD)
    elif rope.mrope_section:
        yield finding("cached_keys_by_axis", path, sections=list(rope.mrope_section))
    elif SCHEMES[rope.scheme].follows_length:
        yield finding("cached_keys_by_length", path, scheme=rope.scheme, length=rope.train_len)
    else:
        yield finding("cached_keys_move", path, scheme=rope.scheme, factor=rope.attention_factor)


def drift(config: object, cached: Any, length: Any, layer_type: str | None) -> list[Finding]:
    """Return how far keys that were cached at one length are off at another."""
    whole("cached", cached, 1, MAX_LEN)
    whole("length", length, cached, MAX_LEN)
    earlier, later = from_hf(config, layer_type, cached), from_hf(config, layer_type, length)
    apart = np.abs(earlier.inv_freq - later.inv_freq) * (cached - 1)
    if not np.any(apart):
        return []
    pair, path, worst = int(apart.argmax()), earlier.provenance["scheme"].path, float(apart.max())
    return [finding("cached_keys_drift", path, None, layer_type, cached=cached, length=length, drift=worst, pair=pair)]


def _keys(name: str, values: Any) -> Array:
    """Return keys as float64 (tokens, heads, head_dim)."""
    array = as_array(values) if hasattr(values, "detach") else np.asarray(values)
    if array.ndim != 3 or not array.size or array.dtype.kind not in "fiu" or not np.all(np.isfinite(array)):
        raise reject(name, "finite numbers of shape (tokens, heads, head_dim)", getattr(array, "shape", values))
    return array.astype(np.float64)


def displaced(rope: HfRope, keys: Array, moved: Array, old: Array, new: Array, unit: float) -> Iterator[Finding]:
    """Compare moved keys with the ones that the move should give, and name the usual mistakes."""
    by = (new - old).astype(np.float64)
    low, width = max(keys.shape[-1] - rope.head_dim, 0) + rope.start, rope.rotary_dim
    if low + width > keys.shape[-1]:
        raise reject("before", f"heads at least {low + width} wide", keys.shape[-1])

    def turned(by: Array, layout: str = rope.layout, factor: float = 1.0) -> Array:
        return in_lanes(keys, sign(rope) * np.outer(by, rope.inv_freq), layout, low, factor)

    lengths = np.linalg.norm(keys, axis=-1, keepdims=True)
    room = tolerance(np.abs(by), rope.inv_freq, unit).max(axis=1)[:, None, None] * (lengths + np.finfo(float).tiny)

    def near(wanted: Array) -> bool:
        return bool(np.all(np.abs(moved - wanted) <= room * max(1.0, rope.attention_factor)))

    right = turned(by)
    if near(right):
        return
    (other,) = LAYOUTS.keys() - {rope.layout}
    again = rope.attention_factor
    mistakes: tuple[tuple[str, Array, dict[str, Any]], ...] = (
        ("cached_keys_not_moved", keys, {}),
        ("cached_keys_moved_back", turned(-by), {}),
        ("cached_keys_turned_again", turned(new.astype(np.float64)), {}),
        ("cached_keys_turned_again", turned(new.astype(np.float64), factor=again), {}),
        ("cached_keys_factor_again", turned(by, factor=again), {"factor": again}),
        ("cached_keys_layout", turned(by, other), {"found": other, "wanted": rope.layout}),
    )
    off = np.abs(moved - right).max(axis=(1, 2)) / room[:, 0, 0]
    worst = int(off.argmax())
    count = int(np.sum(off > max(1.0, again)))
    named: dict[str, Any] = {"token": worst, "old": int(old[worst]), "new": int(new[worst]), "count": count}
    for key, wanted, values in mistakes:
        if near(wanted):
            yield finding(key, FIELD, **named, **values)
            return
    yield finding("cached_keys_elsewhere", FIELD, **named, total=len(keys))
