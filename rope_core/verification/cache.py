"""Keys that a cache keeps after they were rotated: whether they may be moved, and whether they were moved rightly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.hf.resolve import from_hf, resolve
from rope_core.hf.ropes import HfRope
from rope_core.layout import LAYOUTS
from rope_core.rope import MAX_LEN, Array
from rope_core.schemes import SCHEMES
from rope_core.verification.positions import checked_position_ids
from rope_core.verification.products import to_float64_array
from rope_core.verification.turned import COARSE, SINGLE, rotate_lanes, rotation_sign, rotation_tolerance

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
        return cached_key_drift_findings(config, cached, length, layer_type)
    keys, moved = (_keys(name, value) for name, value in (("before", before), ("after", after)))
    if keys.shape != moved.shape:
        raise argument_error("after", f"of shape {keys.shape}", moved.shape)
    places = {name: checked_position_ids(name, value)[0] for name, value in (("old", old), ("new", new))}
    for name, place in places.items():
        if len(place) != len(keys):
            raise argument_error(name, f"one position for each of {len(keys)} keys", place.shape)
    unit = max(COARSE.get(str(getattr(value, "dtype", "")).removeprefix("torch."), SINGLE) for value in (before, after))
    text = resolve(config).text
    others = [text.rope(kind) for kind in text.differing_layer_types if kind != layer_type]
    turning = [each for each in others if not each.nope]
    return [*displaced(text.rope(layer_type), keys, moved, places["old"], places["new"], unit, turning)]


def movable(rope: HfRope) -> Iterator[Finding]:
    """Say whether one rotation by a difference moves a cached key."""
    path = rope.provenance["scheme"].path
    if rope.nope or not np.any(rope.inv_freq):
        yield make_finding("cached_keys_still", FIELD)
    elif rope.mrope_section:
        yield make_finding("cached_keys_by_axis", path, sections=list(rope.mrope_section))
    elif SCHEMES[rope.scheme].follows_length:
        yield make_finding("cached_keys_by_length", path, scheme=rope.scheme, length=rope.train_len)
    else:
        yield make_finding("cached_keys_move", path, scheme=rope.scheme, factor=rope.attention_factor)
    if rope.nope_layers and not rope.nope:
        yield make_finding("cached_keys_some_still", path, layers=rope.nope_layers)


def cached_key_drift_findings(config: object, cached: Any, length: Any, layer_type: str | None) -> list[Finding]:
    """Return how far keys that were cached at one length are off at another."""
    checked_int("cached", cached, 1, MAX_LEN)
    checked_int("length", length, cached, MAX_LEN)
    layer = resolve(config).text.layer(layer_type)
    earlier, later = layer.at(cached), layer.at(length)
    apart = np.abs(earlier.inv_freq - later.inv_freq) * (cached - 1)
    if not np.any(apart):
        return []
    pair, path, worst = int(apart.argmax()), earlier.provenance["scheme"].path, float(apart.max())
    return [
        make_finding("cached_keys_drift", path, None, layer_type, cached=cached, length=length, drift=worst, pair=pair)
    ]


def _keys(name: str, values: Any) -> Array:
    """Return keys as float64 (tokens, heads, head_dim)."""
    array = to_float64_array(values) if hasattr(values, "detach") else np.asarray(values)
    if array.ndim != 3 or not array.size or array.dtype.kind not in "fiu" or not np.all(np.isfinite(array)):
        raise argument_error(name, "finite numbers of shape (tokens, heads, head_dim)", getattr(array, "shape", values))
    return array.astype(np.float64)


def displaced(
    rope: HfRope, keys: Array, moved: Array, old: Array, new: Array, unit: float, others: Sequence[HfRope] = ()
) -> Iterator[Finding]:
    """Compare moved keys with the ones that the move should give, and name the usual mistakes, key by key."""
    by = (new - old).astype(np.float64)
    dim = keys.shape[-1]
    low, width = max(dim - rope.head_dim, 0) + rope.start, rope.rotary_dim
    if low + width > dim:
        raise argument_error("before", f"heads at least {low + width} wide", dim)

    def turned(by: Array, layout: str = rope.layout, factor: float = 1.0, theta: Array = rope.inv_freq) -> Array:
        start = low if 2 * len(theta) == width else 0
        return rotate_lanes(keys, rotation_sign(rope) * np.outer(by, theta), layout, start, factor)

    lengths = np.linalg.norm(keys, axis=-1, keepdims=True)
    room = rotation_tolerance(np.abs(by), rope.inv_freq, unit).max(axis=1)[:, None, None] * (
        lengths + np.finfo(float).tiny
    )
    room = room * max(1.0, rope.attention_factor)

    def near(wanted: Array) -> npt.NDArray[np.bool_]:
        return np.asarray(np.all(np.abs(moved - wanted) <= room, axis=(1, 2)))

    right = turned(by)
    wrong = ~near(right)
    if not np.any(wrong):
        return
    off = np.abs(moved - right).max(axis=(1, 2)) / room[:, 0, 0]
    worst, count = int(off.argmax()), int(np.sum(wrong))
    named: dict[str, Any] = {"token": worst, "old": int(old[worst]), "new": int(new[worst]), "count": count}
    for key, wanted, values in _mistakes(rope, keys, by, new.astype(np.float64), turned, others):
        if np.all(near(wanted)[wrong]):
            yield make_finding(key, FIELD, **named, **values)
            return
    yield make_finding("cached_keys_elsewhere", FIELD, **named, total=len(keys))


def _mistakes(
    rope: HfRope, keys: Array, by: Array, new: Array, turned: Callable[..., Array], others: Sequence[HfRope]
) -> Iterator[tuple[str, Array, dict[str, Any]]]:
    """Yield what the usual mistakes would give, with the finding that names each."""
    (other,) = LAYOUTS.keys() - {rope.layout}
    again = rope.attention_factor
    yield "cached_keys_not_moved", keys, {}
    yield "cached_keys_moved_back", turned(-by), {}
    yield "cached_keys_turned_again", turned(new), {}
    yield "cached_keys_turned_again", turned(new, factor=again), {}
    yield "cached_keys_factor_again", turned(by, factor=again), {"factor": again}
    yield "cached_keys_layout", turned(by, other), {"found": other, "wanted": rope.layout}
    dim = keys.shape[-1]
    whole_head = np.asarray(rope.base ** (-np.arange(0, dim, 2) / dim))
    frequencies = [] if np.any(rope.inv_freq == 0) else [("plain", rope.unscaled)]
    frequencies += [("whole_head", whole_head)]
    firsts = [np.where(np.arange(len(rope.inv_freq)) < n, rope.inv_freq, 0.0) for n in range(1, len(rope.inv_freq))]
    frequencies += [("first_pairs", each) for each in firsts]
    parts = [n for n in (dim // 4, dim // 2) if n > 0 and n % 2 == 0]
    frequencies += [("first_part", rope.base ** (-np.arange(0, n, 2) / n)) for n in parts]
    frequencies += [(f"layers {each.layer_type}", each.inv_freq) for each in others if 2 * len(each.inv_freq) <= dim]
    for what, theta in frequencies:
        kind, _, layer = what.partition(" ")
        for layout in (rope.layout, other):
            values = {"what": FindingPhrase(f"moved_by_{kind}", {"layer": layer})}
            yield "cached_keys_other_frequencies", turned(by, layout, theta=np.asarray(theta)), values
