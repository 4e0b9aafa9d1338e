"""What several programs compute from one config, where they are known to differ: formulas, not their code.

Sources: transformers 5.23.0 and 4.57.6 modeling_rope_utils.py; the others stand in engine_formulas.py.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.checks.case import largest
from rope_core.checks.formulas import ENGINES, Answer, Refused, Task
from rope_core.errors import ConfigError
from rope_core.hf.families import DICT, Origin
from rope_core.hf.normal import resolve
from rope_core.hf.params import Parameters
from rope_core.hf.read import read_config
from rope_core.hf.ropes import HfRope, build, differing, pick
from rope_core.hf.types import DEFAULT, LONGROPE, PROPORTIONAL
from rope_core.hf.versions import read_by_4
from rope_core.rope import Array, Rope, frozen


@dataclass(frozen=True, eq=False)
class Engine:
    """What one program makes of a config.

    Attributes:
        name: program and version.
        inv_freq: float64 (pairs,), rad/token; None where the program refuses.
        attention_factor: multiplies cos and sin.
        logit_scale: multiplies the softmax scale besides.
        layout: how it pairs dimensions of the weights as released.
        difference: largest relative difference of inv_freq against transformers 5.23; inf where the widths differ,
            None where either refuses.
        attention_difference: the same for the attention factor.
        notes: keys of engines.toml; refused: one such key, or None.
        values: what the sentences name.
    """

    name: str
    inv_freq: Array | None
    attention_factor: float | None
    logit_scale: float | None
    layout: str
    difference: float | None = None
    attention_difference: float | None = None
    notes: tuple[str, ...] = ()
    refused: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)


@cache
def recorded() -> dict[str, Any]:
    """The whole of engines.toml."""
    return tomllib.loads(resources.files("rope_core.checks").joinpath("engines.toml").read_text(encoding="utf-8"))


def sentences(engine: Engine, lang: str = "en") -> list[str]:
    """What to say beside an engine's numbers, in "en" or "zh"; plain text."""
    values = {name: f"{v:g}" if isinstance(v, float) else str(v) for name, v in engine.values.items()}
    if engine.refused:
        return [recorded()["refusal"][engine.refused][lang].format_map(values)]
    return [recorded()["note"][key][lang].format_map(values) for key in engine.notes]


def engines(config: object, layer_type: str | None = None, seq_len: int | None = None) -> list[Engine]:
    """Return what six programs compute from the same config, transformers 5.23 first.

    Args:
        config: a dict, a path, or a transformers config object.
        layer_type: one of rope_core.layer_types(config), where they differ.
        seq_len: the length in use, tokens; servers that fix their length at start take it, else the maximum.

    Raises:
        ConfigError: on what no program could read: no config, or a geometry that does not exist.

    >>> scaling = {"rope_type": "linear", "factor": 4}
    >>> config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_scaling": scaling}
    >>> [engine.refused for engine in engines(config)][:3]
    [None, None, 'integer_factor']
    """
    data = read_config(config)
    model = resolve(data)
    found, differ = differing(model)
    one = pick(model, found, differ, layer_type)
    sentence, reference = "", None
    try:
        reference = build(model, one, found, seq_len)
    except ConfigError as error:
        sentence = str(error)
    rope = reference or build(model, as_default(one), [as_default(each) for each in found], seq_len)
    kind = str(one.values.get("rope_type", DEFAULT))
    context = seq_len or rope.max_len or rope.train_len
    task = Task(model, rope, kind, one.values, context, seq_len)
    made = [
        asked("transformers 5.23", task, lambda t: as_transformers(reference, sentence)),
        asked("transformers 4.57", task, lambda t: as_4(data, layer_type, seq_len, t)),
        *(asked(name, task, function) for name, function in ENGINES.items()),
    ]
    return [compared(engine, made[0]) for engine in made]


def as_default(one: Parameters) -> Parameters:
    """The same layer type with a plain rotation, for its widths."""
    if one.nope:
        return one
    origin = Origin(DICT, f"{one.path}.rope_type")
    values, origins = {**one.values, "rope_type": DEFAULT}, {**one.origins, "rope_type": origin}
    return replace(one, values=values, origins=origins)


def asked(name: str, task: Task, function: Callable[[Task], Answer]) -> Engine:
    """Run one program's formula."""
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inv_freq, attention, notes, values = function(task)
        if not np.all(np.isfinite(inv_freq)) or not math.isfinite(attention):
            raise Refused("not_built", sentence="its frequencies would not be finite")
    except Refused as refusal:
        return Engine(name, None, None, None, task.rope.layout, refused=refusal.key, values=refusal.values)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        said = f"KeyError: {error}" if isinstance(error, KeyError) else str(error)
        return Engine(name, None, None, None, task.rope.layout, refused="not_built", values={"sentence": said})
    if task.rope.nope:
        inv_freq, attention, notes = task.rope.inv_freq, 1.0, ("same",)
    scale = task.rope.logit_scale
    return Engine(name, frozen(inv_freq), attention, scale, task.rope.layout, notes=notes or ("same",), values=values)


def compared(engine: Engine, reference: Engine) -> Engine:
    """The engine with its differences against transformers 5.23."""
    if engine.inv_freq is None or reference.inv_freq is None or not reference.attention_factor:
        return engine
    attention = abs((engine.attention_factor or 0.0) / reference.attention_factor - 1.0)
    return replace(engine, difference=largest(engine.inv_freq, reference.inv_freq), attention_difference=attention)


def as_transformers(reference: HfRope | None, sentence: str) -> Answer:
    if reference is None:
        raise Refused("not_built", sentence=sentence)
    return reference.inv_freq, reference.attention_factor, (), {}


def as_4(data: Mapping[str, Any], layer_type: str | None, seq_len: int | None, task: Task) -> Answer:
    """transformers 4.57: rope_scaling and top-level fields only, and a partial width whatever the type."""
    model = resolve(read_by_4(data, resolve(data)))
    if task.kind == PROPORTIONAL and isinstance(data.get("rope_scaling"), dict):
        raise Refused("unknown_type", kind=task.kind)
    try:
        found, differ = differing(model)
        known = layer_type if layer_type in {one.layer_type for one in found} else None
        one = pick(model, found, differ, known)
        rope = build(model, one, found, seq_len)
    except ConfigError as error:
        raise Refused("not_built", sentence=str(error)) from None
    notes: tuple[str, ...] = ()
    values: dict[str, object] = {}
    inv_freq = rope.inv_freq
    if "default_ignores_partial" in rope.provenance["rotary_dim"].traps:
        share = one.values["partial_rotary_factor"]
        inv_freq = Rope(int(rope.head_dim * share), rope.base, rope.train_len).theta
        notes, values = ("partial_honoured",), {"pairs": inv_freq.size}
    if rope.base != task.rope.base:
        notes, values = (*notes, "base_from_top"), {**values, "base": rope.base}
    if rope.rope_type != task.kind:
        notes, values = (*notes, "other_type"), {**values, "kind": rope.rope_type}
    if rope.rope_type == LONGROPE and rope.attention_factor != task.rope.attention_factor:
        notes, values = (*notes, "ratio"), {**values, "ratio": (rope.max_len or 0) / rope.train_len}
    return inv_freq, rope.attention_factor, notes, values


__all__ = ["Engine", "engines", "sentences"]
