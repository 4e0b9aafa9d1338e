"""What every rule reads, one layer type of a config, and what it yields: findings with their sentences."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.errors import LANGUAGES, Rule, reject, show
from rope_core.hf.completion import Parameters
from rope_core.hf.normal import Model
from rope_core.hf.ropes import HfRope
from rope_core.rope import Array

VERSIONS = ("4.57", "5.23")
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a config, a model or its positions make worth knowing.

    Attributes:
        key: stable name; rope_core/checks/findings.toml holds its sentences.
        severity: "error" (will not build, or computes what the config does not mean), "warning" or "note".
        field: the config field to change, dotted.
        values: the numbers that the sentences name.
        source: the thread, paper or code that it is known from.
        layer_type: which layers; None where it concerns all.
        versions: the transformers versions it concerns.
    """

    key: str
    severity: str
    field: str
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)
    source: str = ""
    layer_type: str | None = None
    versions: tuple[str, ...] = VERSIONS

    def title(self, lang: str = "en") -> str:
        """Return what it is, in "en" or "zh": plain text, nothing escaped. Raises ValueError on another language."""
        return self._text("title", lang)

    def why(self, lang: str = "en") -> str:
        """Return why it matters, with its numbers: one sentence."""
        return self._text("why", lang)

    def change(self, lang: str = "en") -> str:
        """Return what to change in the config, the model or the call."""
        return self._text("change", lang)

    def _text(self, part: str, lang: str) -> str:
        if lang not in LANGUAGES:
            raise reject("lang", "one_of", lang, names=LANGUAGES)
        values = {name: shown(value, lang) for name, value in self.values.items()}
        template: str = recorded()["finding"][self.key][lang][part]
        return template.format_map(values | {"field": printable(self.field)})


@cache
def recorded() -> dict[str, Any]:
    """Return the whole of findings.toml."""
    return tomllib.loads(resources.files("rope_core.checks").joinpath("findings.toml").read_text(encoding="utf-8"))


def finding(
    key: str, where: str, severity: str | None = None, layer: str | None = None, /, **values: object
) -> Finding:
    """Build a Finding: severity, source and versions come from findings.toml unless a rule knows better."""
    row = recorded()["finding"][key]
    versions = tuple(row.get("versions", VERSIONS))
    return Finding(key, severity or row["severity"], where, values, row["source"], layer, versions)


@dataclass(frozen=True)
class Case:
    """One layer type: the config's text part, its effective rope dict, what it computes, and the other layer types."""

    model: Model
    parameters: Parameters
    rope: HfRope
    ropes: tuple[HfRope, ...]
    version: str
    seq_len: int | None

    def at(self, name: str) -> str:
        """Return the dotted path of a key of the rope dict."""
        origin = self.parameters.origins.get(name)
        return origin.path if origin else f"{self.parameters.path}.{name}"

    def top(self, name: str) -> str:
        """Return the dotted path of a top-level field."""
        return self.model.prefix + name

    def given(self, name: str) -> bool:
        """Whether the config itself, not its class, put ``name`` into the rope dict."""
        origin = self.parameters.origins.get(name)
        return origin is not None and origin.source == "dict"

    def number(self, name: str) -> float:
        """Return a parameter of the scheme as it takes effect."""
        value = self.rope.params[name]
        if not isinstance(value, int | float):
            raise TypeError(name)
        return float(value)


def shown(value: object, lang: str = "en") -> str:
    """Return a value for a sentence: six digits, lists joined and cut, a rule in its language.

    >>> shown(0.1234567), shown(131072), shown((1, 2.5)), shown(None)
    ('0.123457', '131072', '1, 2.5', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, Rule):
        return printable(value.text(lang), 400)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value[:24]) + (", …" if len(value) > 24 else "")
    return show(value)


def printable(text: str, limit: int = 200) -> str:
    """``text`` without control characters, cut to ``limit``: what a config holds must not steer a terminal."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[: limit + 1])
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def real(value: object) -> float | None:
    """Return a finite number as float; None for all else, truth values and integers past float's range included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def largest(values: Array, wanted: Array) -> float:
    """Largest relative difference of two vectors of frequencies, as a fraction of ``wanted``; equal zeros differ by 0.

    >>> largest(np.array([1.0, 0.5, 0.0]), np.array([1.0, 1.0, 0.0]))
    0.5
    """
    if values.shape != wanted.shape:
        return float("inf")
    scale = np.where(wanted == 0, 1.0, np.abs(wanted))
    return float(np.max(np.abs(values - wanted) / scale, initial=0.0))
