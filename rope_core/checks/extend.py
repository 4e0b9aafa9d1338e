"""The config blocks that extend a model's context, and what each costs, measured on its own spectrum."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.checks.schemas import OLD, to_v4, to_v5
from rope_core.errors import ConfigError, reject, whole
from rope_core.hf.normal import Model, resolve
from rope_core.hf.read import read_config
from rope_core.hf.ropes import LENGTH, HfRope, from_hf, layer_types
from rope_core.hf.types import DEFAULT, LINEAR, LLAMA3, PROPORTIONAL, STATIC_NTK, YARN
from rope_core.hf.versions import text_part
from rope_core.rope import MAX_LEN

WAYS = (LINEAR, STATIC_NTK, YARN, LLAMA3)


@dataclass(frozen=True, eq=False)
class Fix:
    """A way to reach a length: the config block in both schemas, what it computes, and what it costs.

    Attributes:
        name: one of WAYS, a key of fixes.toml.
        config: the whole config, new schema.
        block: the fields to write, new schema; old_block: the same for version 4, None where it cannot say it.
        ropes: what each extended layer type computes, by layer type.
        kept: pairs whose frequency stays; fastest: slow-down of the fastest pair.
        unseen: pairs that reach angles which training never showed, at the wanted length.
    """

    name: str
    config: dict[str, Any]
    block: dict[str, Any]
    old_block: dict[str, Any] | None
    ropes: Mapping[str | None, HfRope]
    factor: float
    kept: int
    pairs: int
    fastest: float
    unseen: int
    attention_factor: float

    def cost(self, lang: str = "en") -> str:
        """What this way costs, one or two sentences in "en" or "zh"."""
        values = {name: getattr(self, name) for name in ("factor", "kept", "pairs", "fastest", "unseen")}
        shown = {name: f"{value:.4g}" for name, value in values.items()}
        texts = fixes()
        row: dict[str, str] = texts[self.name]
        return row[lang].format_map(shown | {"attention": f"{self.attention_factor:.4g}"})


@cache
def fixes() -> dict[str, Any]:
    """The whole of fixes.toml; "searched" says why LongRoPE is not among the ways."""
    return tomllib.loads(resources.files("rope_core.checks").joinpath("fixes.toml").read_text(encoding="utf-8"))


def fix_for(config: object, length: int) -> list[Fix]:
    """Return the ways to make a model reach ``length`` tokens without searched factors.

    Layers behind a sliding window and layers that do not turn stay as they are; a way that the model's class refuses,
    or that would change its rotary width, is left out. LongRoPE needs factors that were
    searched per model, so it is not offered; fixes()["searched"] says so in both languages.

    Raises:
        ConfigError: on a config that cannot be read.
        ValueError: unless length lies past the trained length, at most 1024 times.

    >>> config = {"model_type": "llama", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> [(fix.name, fix.kept) for fix in fix_for(config, 16384)]
    [('linear', 0), ('ntk', 1), ('yarn', 21), ('llama3', 36)]
    """
    data = read_config(config)
    whole("length", length, 1, MAX_LEN)
    plain = to_v5(data)
    model = resolve(plain)
    kinds: list[str | None] = [*layer_types(plain)] or [None]
    chosen = [kind for kind in kinds if kind != "sliding_attention" and not from_hf(plain, kind).nope]
    chosen = chosen or [kind for kind in kinds if not from_hf(plain, kind).nope]
    before = {kind: from_hf(plain, kind) for kind in chosen}
    first = next(iter(before.values()))
    factor = length / first.train_len
    if not 1.0 < factor <= 1024.0:
        raise reject("length", f"between {first.train_len + 1} and {1024 * first.train_len}", length)
    made = []
    for name in WAYS:
        try:
            new = extended(name, plain, model, before, factor, length)
            made.append(costed(name, new, model, before, factor, length))
        except ConfigError:
            continue
    return made


def extended(
    name: str, plain: dict[str, Any], model: Model, before: Mapping[str | None, HfRope], factor: float, length: int
) -> dict[str, Any]:
    """The whole config with one way written into its chosen layer types."""
    new = copy.deepcopy(plain)
    text = text_part(new, model.prefix)
    text.pop(LENGTH, None)
    for kind, rope in before.items():
        dicts = text["rope_parameters"]
        entry = {**kept_keys(dicts if kind is None else dicts[kind]), **scaled_dict(name, rope, factor)}
        if kind is None:
            text["rope_parameters"] = entry
        else:
            dicts[kind] = entry
    text["max_position_embeddings"] = length
    rope = from_hf(new, next(iter(before)) if layer_types(new) else None)
    if "head_dim_null_fails" in rope.provenance["head_dim"].traps:
        # Classes whose head_dim defaults to null cannot build a scaling that multiplies it.
        text["head_dim"] = rope.head_dim
    return new


def kept_keys(old: Mapping[str, Any]) -> dict[str, Any]:
    """What a new scaling leaves of a rope dict: the partial width and the axes."""
    return {key: old[key] for key in ("partial_rotary_factor", "mrope_section", "mrope_interleaved") if key in old}


def scaled_dict(name: str, rope: HfRope, factor: float) -> dict[str, Any]:
    """The rope dict of one way."""
    if rope.rope_type == PROPORTIONAL and name not in (LINEAR, STATIC_NTK):
        raise ConfigError(f"rope_type must be one that has a ramp, got {rope.rope_type!r}")
    kind = PROPORTIONAL if rope.rope_type == PROPORTIONAL else DEFAULT
    if name == STATIC_NTK:
        return {"rope_type": kind, "rope_theta": grown_base(rope, factor)}
    made: dict[str, Any] = {"rope_type": name, "rope_theta": rope.base, "factor": float(factor)}
    if name == LINEAR and kind == PROPORTIONAL:
        made["rope_type"] = kind
    if name == LLAMA3:
        made |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if name != LINEAR:
        made[LENGTH] = rope.train_len
    return made


def grown_base(rope: HfRope, factor: float) -> float:
    """The base that slows the last turning pair by the factor and leaves the first one alone."""
    turning = int(np.count_nonzero(rope.unscaled if rope.rope_type != PROPORTIONAL else rope.inv_freq))
    return float(rope.base * factor ** (rope.rotary_dim / (2 * max(turning - 1, 1))))


def costed(
    name: str, config: dict[str, Any], model: Model, before: Mapping[str | None, HfRope], factor: float, length: int
) -> Fix:
    """Measure one way on its own spectrum."""
    ropes = {kind: from_hf(config, kind if layer_types(config) else None) for kind in before}
    if any(ropes[kind].inv_freq.size != old.inv_freq.size for kind, old in before.items()):
        raise ConfigError(f"rotary_dim must be the same before and after, got another for {name}")
    kind, rope = next(iter(ropes.items()))
    trained = before[kind].unscaled * (rope.inv_freq > 0)
    slowdown = np.divide(trained, rope.inv_freq, out=np.full(trained.size, np.inf), where=rope.inv_freq > 0)
    seen = np.minimum(trained * before[kind].train_len, 2.0 * np.pi)
    reached = np.minimum(rope.inv_freq * length, 2.0 * np.pi)
    text = text_part(config, model.prefix)
    names = ("rope_parameters", "max_position_embeddings", *(("head_dim",) if "head_dim" not in model.data else ()))
    block = {key: text[key] for key in names if key in text}
    try:
        v4 = text_part(to_v4(config), model.prefix)
        old_block = {key: v4[key] for key in (*OLD, *names[1:]) if key in v4}
    except ConfigError:
        old_block = None
    return Fix(
        name=name,
        config=config,
        block=block,
        old_block=old_block,
        ropes=ropes,
        factor=factor,
        kept=int(np.sum(np.isclose(slowdown, 1.0, rtol=1e-12))),
        pairs=int(slowdown.size),
        fastest=float(slowdown[0]),
        unseen=int(np.sum(reached > seen * (1.0 + 1e-9))),
        attention_factor=rope.attention_factor,
    )
