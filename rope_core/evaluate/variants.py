"""What each layer type of a model turns by under a line of the ladder, and the config that says the same."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_core.errors import ConfigError, argument_error
from rope_core.extension.extend import reached_length
from rope_core.hf.fields import dict_at
from rope_core.hf.resolve import ResolvedLayer, from_hf, resolve, ropes_of
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import to_v5
from rope_core.hf.types import LENGTH, LONGROPE, PROPORTIONAL, WINDOWED
from rope_core.lab.lines import get_line, lines_after_yarn, scheme_lines
from rope_core.rope import Rope
from rope_core.schemes import SCHEMES
from rope_core.spectrum import spectrum

OWN = "own"
STALE = "stale"
WINDOW = next(each.key for each in scheme_lines() if each.sliding)
FOLLOWING = next(each.key for each in scheme_lines() if SCHEMES[each.scheme].follows_length)
LADDER = (OWN, *(each.key for each in scheme_lines() if not each.sliding), STALE, WINDOW)
KEYS = (*LADDER, *(each.key for each in lines_after_yarn() if each.is_frequency_only))
# Fields of a rope dict that say which dimensions turn, and not how far.
_GEOMETRY = ("rope_theta", "partial_rotary_factor", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta")


@dataclass(frozen=True, eq=False)
class RopeVariant:
    """What a model turns by: each layer type's rope, and a config of the new schema under which it does so."""

    config: dict[str, Any]
    ropes: Mapping[str | None, HfRope]

    @property
    def first_full_context_rope(self) -> HfRope:
        """Return the first layer type that sees the whole context."""
        return self.ropes[scalable_layer_types(self.ropes)[0]]

    def cache_key_bytes(self) -> bytes:
        """Return what decides the numbers, for a key."""
        data = b""
        for kind, rope in self.ropes.items():
            data += f"{kind} {rope.attention_factor!r} {rope.logit_scale!r} ".encode() + rope.inv_freq.tobytes()
        return data


def scalable_layer_types(ropes: Mapping[str | None, HfRope]) -> list[str | None]:
    """Return the layer types that a scheme changes: those that turn and see the whole context."""
    turning = [kind for kind, rope in ropes.items() if not rope.nope]
    if not turning:
        raise ConfigError.from_key("no_layer_turns")
    return [kind for kind in turning if kind not in WINDOWED] or turning


def rope_variant_at_load(config: Mapping[str, Any]) -> RopeVariant:
    """Return what a model turns by as its config says, at load time."""
    plain = to_v5(config)
    return RopeVariant(plain, ropes_of(plain))


def config_trained_length(config: Mapping[str, Any], given: int | None = None) -> int:
    """Return the length in tokens that schemes start from: given, else the shortest of the config's."""
    ropes = rope_variant_at_load(config).ropes
    return given or min(ropes[kind].train_len for kind in scalable_layer_types(ropes))


def config_reached_length(config: Mapping[str, Any], given: int | None = None) -> int:
    """Return the length in tokens that the model reaches as its config is: the sliding window's."""
    ropes = rope_variant_at_load(config).ropes
    return given or min(reached_length(ropes[kind]) for kind in scalable_layer_types(ropes))


def rope_variant(
    config: Mapping[str, Any], line: str, length: int, factor: float | None = None, trained: int | None = None
) -> RopeVariant:
    """Return what a model turns by under a line at a length.

    "own" is what the config says. Every other line starts from the frequencies without scaling and from the trained
    length, whatever scaling the config has; the model's own scheme keeps the other numbers that its config gives it.
    Layers behind a sliding window stay as they are.

    Every scheme is a slow-down for each pair and a factor, and the type LongRoPE holds exactly these: so the config is
    written, and a class that knows no other type takes every scheme.

    Args:
        config: of the model, a dict.
        key: in KEYS.
        length: tokens in use.
        factor: of the line; None means what the line takes at the length.
        trained: the length that the line starts from; None means the config's.

    Raises ValueError on an unknown line, ConfigError where the model's class cannot take it.
    """
    if line not in KEYS:
        raise argument_error("schemes", "one_of", line, names=KEYS)
    load = rope_variant_at_load(config)
    own = resolve(load.config).text
    new = copy.deepcopy(load.config)
    text = dict_at(new, own.fields.prefix)
    dicts = text["rope_parameters"]
    for kind in scalable_layer_types(load.ropes):
        at = kind if own.differing_layer_types else None
        old = load.ropes[kind]
        entry = _own(own.layer(at), length) if line in (OWN, WINDOW) else _entry(old, line, length, factor, trained)
        if entry is None:
            continue
        kept = dicts if at is None else dicts[at]
        parameters = {name: kept[name] for name in _GEOMETRY if name in kept} | entry
        if at is None:
            text["rope_parameters"] = parameters
        else:
            dicts[at] = parameters
        text["max_position_embeddings"] = max(length, parameters[LENGTH] + 1)
        if LENGTH in text:
            # The top level's trained length would overrule the dict's.
            text[LENGTH] = parameters[LENGTH]
    return RopeVariant(new, {kind: from_hf(new, kind) for kind in load.ropes})


def ropes_at_length(load: RopeVariant, length: int, factor: float | None, trained: int) -> dict[str | None, HfRope]:
    """Return the ropes that a scheme which follows the length has at a length in use: those of a plain cache."""
    ropes = dict(load.ropes)
    for kind in scalable_layer_types(load.ropes):
        old = load.ropes[kind]
        request = get_line(FOLLOWING).request_for_rope(
            Rope(old.rotary_dim, old.request.rope.base, trained), length, factor
        )
        answer = spectrum(request)
        ropes[kind] = replace(old, inv_freq=answer.inv_freq, attention_factor=answer.attention_factor)
    return ropes


def _own(layer: ResolvedLayer, length: int) -> dict[str, Any] | None:
    """Return the config's own scheme at a length; None where the length changes nothing."""
    rope = layer.at(length)
    if np.array_equal(rope.inv_freq, layer.at().inv_freq):
        return None
    return _searched(rope.unscaled / rope.inv_freq, rope.attention_factor, rope.train_len)


def _entry(rope: HfRope, key: str, length: int, factor: float | None, trained: int | None) -> dict[str, Any]:
    """Return one layer type's rope dict under a line of the ladder."""
    if rope.rope_type == PROPORTIONAL:
        raise ConfigError.from_key("with_ramp", rope_type=rope.rope_type)
    train_len = trained or rope.train_len
    # Keys that stay as they were cached begin as they are up to the trained length.
    chosen = get_line(FOLLOWING if key == STALE else key)
    at = min(length, train_len) if key == STALE else length
    own = dict(rope.params) if chosen.scheme == rope.scheme else {}
    request = chosen.request_for_rope(Rope(rope.rotary_dim, rope.request.rope.base, train_len), at, factor, own)
    answer = spectrum(request)
    if not np.all(np.isfinite(answer.slowdown)):
        # No type that every class knows can hold a pair still.
        raise argument_error("--schemes", "eval_still", key)
    entry = _searched(answer.slowdown, answer.attention_factor, train_len)
    if own.get("mscale_all_dim") and rope.logit_scale != 1.0:
        entry |= {"factor": request.params["factor"], "mscale_all_dim": own["mscale_all_dim"]}
    return entry


def _searched(slowdown: Any, attention_factor: float, train_len: int) -> dict[str, Any]:
    vector = np.asarray(slowdown, dtype=np.float64).tolist()
    return {
        "rope_type": LONGROPE,
        "short_factor": vector,
        "long_factor": list(vector),
        "attention_factor": attention_factor,
        LENGTH: train_len,
    }
