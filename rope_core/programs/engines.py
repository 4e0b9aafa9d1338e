"""What several programs compute from one config, where they are known to differ: formulas, not their code.

Sources: transformers 5.24.0 and 4.57.6 modeling_rope_utils.py; formulas.py names the others. engines.toml says which
columns were measured, and which model types a version knows.
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

from rope_core.errors import ArgumentError, ConfigError, checked_int, error_sentence
from rope_core.findings import max_relative_difference
from rope_core.hf.families import composite_text_fields
from rope_core.hf.families import recorded_class_defaults as wheel
from rope_core.hf.resolve import ResolvedConfig, resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT, DYNAMIC, LONGROPE, PROPORTIONAL, STATIC_NTK
from rope_core.languages import words
from rope_core.programs.formulas import ENGINES, EngineInput, EngineOutput, UnsupportedConfig
from rope_core.rope import MAX_LEN, Array, Rope, read_only_array
from rope_core.spectrum import Request, spectrum


@dataclass(frozen=True, eq=False)
class EngineResult:
    """What one program makes of a config.

    Attributes:
        name: program and version.
        inv_freq: float64 (pairs,), rad/token; None where the program refuses.
        attention_factor: multiplies cos and sin.
        logit_scale: multiplies the softmax scale besides.
        layout: how it pairs dimensions of the weights as released.
        difference: largest relative difference of inv_freq against transformers 5.24; inf where the widths differ,
            None where either refuses.
        attention_difference: the same for the attention factor.
        notes: keys of the languages' engines.toml; refused: one such key, or None.
        values: what the sentences name; an error stays one until a sentence is made.
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

    @property
    def status(self) -> str:
        """ "runs", "refuses", or "not_supported" where the program has no such model type or rotation."""
        if self.refused is None:
            return "runs"
        return "not_supported" if self.refused in ("no_family", "not_supported", "unknown_type") else "refuses"

    @property
    def own_formula(self) -> bool:
        """Whether it differs whatever this config says: an older release, or a program with a formula of its own."""
        return self.name.startswith("transformers") or not {*self.notes}.isdisjoint(engine_records()["own_formula"])


@cache
def engine_records() -> dict[str, Any]:
    """Return the whole of engines.toml."""
    return tomllib.loads(resources.files("rope_core.programs").joinpath("engines.toml").read_text(encoding="utf-8"))


def engine_sentences(engine: EngineResult, lang: str = "en") -> list[str]:
    """Return what to say beside an engine's numbers; plain text."""
    values = {name: _shown(value, lang) for name, value in engine.values.items()}
    if engine.refused:
        return [words(lang, "engines")["refusal"][engine.refused].format_map(values)]
    return [words(lang, "engines")["note"][key].format_map(values) for key in engine.notes]


def _shown(value: object, lang: str) -> str:
    if isinstance(value, Exception):
        return error_sentence(value, lang)
    return f"{value:g}" if isinstance(value, float) else str(value)


def engine_evidence_sentence(engine_name: str, lang: str = "en") -> str:
    """Return how the column of an engine came about: measured (day, configs, what) or read.

    >>> engine_evidence_sentence("transformers 4.57")
    'measured 2026-11-22 on 107 configs: its own modules (4.57.6)'
    """
    row, texts = engine_records()["engine"][engine_name], words(lang, "engines")
    frame: str = texts["basis"]["measured" if "measured" in row else "read"]
    return frame.format(date=row.get("measured"), configs=row.get("configs"), what=texts["engine"][engine_name])


def engines_left_out(lang: str = "en") -> list[tuple[str, str]]:
    """Return the programs that the table leaves out, each with the sentence that says why.

    >>> [name for name, _ in engines_left_out()]
    ['TensorRT-LLM 1.2.1', 'mlx-vlm']
    """
    return list(words(lang, "engines")["outside"].items())


@cache
def known_types(name: str) -> frozenset[str] | None:
    """Return the model types that the engine ``name`` has; None where its package lists none."""
    names = engine_records()["engine"][name].get("knows")
    return None if names is None else frozenset(names.split())


def engines(
    config: object, layer_type: str | None = None, seq_len: int | None = None, context: int | None = None
) -> list[EngineResult]:
    """Return what seven programs compute from the same config, transformers 5.24 first.

    Args:
        config: a dict, a path, or a transformers config object.
        layer_type: one of rope_core.layer_types(config), where they differ.
        seq_len: the length in use, tokens, for the programs that follow it.
        context: the context that llama.cpp and vLLM are started with, tokens, by which they choose LongRoPE's list;
            None for the model's maximum.

    Raises:
        ConfigError: on what no program could read: no config, or a geometry that does not exist.
        ValueError: on a seq_len or context that is no positive length.

    >>> scaling = {"rope_type": "linear", "factor": 4}
    >>> config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_scaling": scaling}
    >>> [engine.refused for engine in engines(config)][:3]
    [None, None, 'integer_factor']
    """
    if context is not None:
        context = checked_int("context", context, 1, MAX_LEN)
    resolved = resolve(config)
    layer, fields = resolved.text.layer(layer_type), resolved.text.fields
    try:
        rope = layer.at(seq_len)
    except ConfigError:
        rope = layer.unscaled().at(seq_len)
    kind = str(layer.entry.value("rope_type", DEFAULT))
    longest = rope.max_len or rope.train_len
    task = EngineInput(fields, rope, kind, layer.entry.values(), longest if context is None else context, seq_len)
    answers = [
        run_formula("transformers 5.24", task, lambda t: as_transformers(layer.at(seq_len))),
        run_formula("transformers 4.57", task, lambda t: as_4(resolved, layer_type, seq_len, t)),
        *(run_formula(name, task, function) for name, function in ENGINES.items()),
    ]
    kind = str(resolved.raw.get("model_type") or fields.model_type or "")
    return [unsupported(engine, kind) or with_differences(engine, answers[0]) for engine in answers]


def lacks_model_type(engine_name: str, model_type: str) -> bool:
    """Whether the version of the engine ``engine_name`` has no such model type.

    The bare text part of a composite counts as known with any composite that holds it. A type that transformers 5.24
    lacks as well comes with code of its own, which 4.57 runs too.
    """
    known = known_types(engine_name)
    holders = {holder for holder, part in composite_text_fields().items() if part["text_type"] == model_type}
    if not model_type or known is None or known & {model_type, *holders}:
        return False
    return (
        not engine_name.startswith("transformers")
        or model_type in wheel()["family"].keys() | composite_text_fields().keys()
    )


def unsupported(engine: EngineResult, model_type: str) -> EngineResult | None:
    """Return the engine without numbers where its version lacks the config's model type; None where it has it."""
    if not lacks_model_type(engine.name, model_type):
        return None
    values = {"engine": engine.name, "model_type": model_type[:80]}
    return EngineResult(engine.name, None, None, None, engine.layout, refused="no_family", values=values)


def run_formula(name: str, task: EngineInput, function: Callable[[EngineInput], EngineOutput]) -> EngineResult:
    """Run one program's formula."""
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inv_freq, attention, notes, values = function(task)
        if not np.all(np.isfinite(inv_freq)) or not math.isfinite(attention):
            raise UnsupportedConfig("not_finite")
    except UnsupportedConfig as refusal:
        return EngineResult(name, None, None, None, task.rope.layout, refused=refusal.key, values=refusal.values)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        key, values = error_reason(error)
        return EngineResult(name, None, None, None, task.rope.layout, refused=key, values=values)
    if task.rope.nope:
        inv_freq, attention, notes = task.rope.inv_freq, 1.0, ("same",)
    scale = task.rope.logit_scale
    return EngineResult(
        name, read_only_array(inv_freq), attention, scale, task.rope.layout, notes=notes or ("same",), values=values
    )


def error_reason(error: Exception) -> tuple[str, dict[str, object]]:
    """Return the key of the sentence on an error in a formula, and what it names."""
    if isinstance(error, ArgumentError):
        return "not_built", {"sentence": error}
    if isinstance(error, KeyError):
        return "missing", {"name": error.args[0]}
    return "raises", {"kind": type(error).__name__}


def with_differences(engine: EngineResult, reference: EngineResult) -> EngineResult:
    """Return the engine with its differences against transformers 5.24."""
    if engine.inv_freq is None or reference.inv_freq is None or not reference.attention_factor:
        return engine
    attention = abs((engine.attention_factor or 0.0) / reference.attention_factor - 1.0)
    return replace(
        engine, difference=max_relative_difference(engine.inv_freq, reference.inv_freq), attention_difference=attention
    )


def as_transformers(rope: HfRope) -> EngineOutput:
    return rope.inv_freq, rope.attention_factor, (), {}


def as_4(resolved: ResolvedConfig, layer_type: str | None, seq_len: int | None, task: EngineInput) -> EngineOutput:
    """Compute as transformers 4.57: rope_scaling and top-level fields only, and a partial width whatever the type."""
    text = resolved.as_read_by_4.text
    if task.kind == PROPORTIONAL and isinstance(resolved.raw.get("rope_scaling"), dict):
        raise UnsupportedConfig("unknown_type", kind=task.kind)
    layer = text.layer(layer_type if layer_type in {each.entry.layer_type for each in text.layers} else None)
    rope = layer.at(seq_len)
    notes: tuple[str, ...] = ()
    values: dict[str, object] = {}
    inv_freq = rope.inv_freq
    if rope.scheme == STATIC_NTK and seq_len and seq_len > rope.train_len:
        # Its update past the trained length is the general one, which knows no alpha.
        factor = task.number("factor", 1.0)
        inv_freq = spectrum(Request(rope.request.rope, DYNAMIC, {"factor": factor}, seq_len)).inv_freq
        notes, values = ("alpha_dropped",), {"length": rope.train_len}
    if "default_ignores_partial" in rope.provenance["rotary_dim"].traps:
        share = layer.entry.value("partial_rotary_factor")
        inv_freq = Rope(int(rope.head_dim * share), rope.base, rope.train_len).theta
        notes, values = ("partial_honoured",), {"pairs": inv_freq.size}
    if rope.base != task.rope.base:
        notes, values = (*notes, "base_from_top"), {**values, "base": rope.base}
    if rope.rope_type != task.kind:
        notes, values = (*notes, "other_type"), {**values, "kind": rope.rope_type}
    if rope.rope_type == LONGROPE and rope.attention_factor != task.rope.attention_factor:
        notes, values = (*notes, "ratio"), {**values, "ratio": (rope.max_len or 0) / rope.train_len}
    return inv_freq, rope.attention_factor, notes, values


__all__ = ["EngineResult", "engine_evidence_sentence", "engine_sentences", "engines", "engines_left_out", "known_types"]
