"""Findings: what a check, a verification or an extension reports, each with its numbers and sentences."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.errors import RuleText, shortened_repr
from rope_core.languages import words
from rope_core.rope import Array

VERSIONS = ("4.57", "5.24")
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a config, a model or its positions make worth knowing.

    Attributes:
        key: stable name; findings.toml of rope_core/text/<lang> holds its sentences.
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
        """Return what it is: plain text, nothing escaped. Raises ValueError on a language that is none."""
        return self._text("title", lang)

    def why(self, lang: str = "en") -> str:
        """Return why it matters, with its numbers: one sentence."""
        return self._text("why", lang)

    def change(self, lang: str = "en") -> str:
        """Return what to change in the config, the model or the call."""
        return self._text("change", lang)

    def _text(self, part: str, lang: str) -> str:
        template: str = words(lang, "findings")["finding"][self.key][part]
        values = dict(zip(self.values, distinct_value_texts(tuple(self.values.values()), lang), strict=True))
        return template.format_map(values | {"field": sanitized_text(self.field)})


@cache
def finding_texts() -> dict[str, Any]:
    """Return the whole of findings.toml: severity, source and versions of each finding."""
    return tomllib.loads(resources.files("rope_core").joinpath("findings.toml").read_text(encoding="utf-8"))


def make_finding(
    key: str, where: str, severity: str | None = None, layer: str | None = None, /, **values: object
) -> Finding:
    """Build a Finding: severity, source and versions come from findings.toml unless a rule knows better."""
    row = finding_texts()["finding"][key]
    versions = tuple(row.get("versions", VERSIONS))
    return Finding(key, severity or row["severity"], where, values, row["source"], layer, versions)


@dataclass(frozen=True)
class FindingPhrase:
    """A part of a sentence that depends on what was found: a key under [phrase] of findings.toml, and its values."""

    key: str
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def text(self, lang: str = "en") -> str:
        """Return it in a language."""
        template: str = words(lang, "findings")["phrase"][self.key]
        return template.format_map({name: value_text(value, lang) for name, value in self.values.items()})

    def __str__(self) -> str:
        return self.text()


def distinct_value_texts(values: tuple[object, ...], lang: str = "en") -> list[str]:
    """Return the values of one sentence as text: three digits, or as many as keep different numbers apart.

    >>> distinct_value_texts((1.20794, 1.2, 0.5))
    ['1.21', '1.2', '0.5']
    >>> distinct_value_texts((1.20794, 1.20811))
    ['1.2079', '1.2081']
    """
    numbers = {value for value in values if isinstance(value, float) and math.isfinite(value)}
    texts_of = (
        digits for digits in range(3, 16) if len({value_text(n, lang, digits) for n in numbers}) == len(numbers)
    )
    digits = next(texts_of, 17)
    return [value_text(value, lang, digits) for value in values]


def value_text(value: object, lang: str = "en", digits: int = 3) -> str:
    """Return a value for a sentence: whole numbers whole, others to ``digits``, lists joined and cut.

    >>> value_text(0.1234567), value_text(131072.0), value_text(58307.2), value_text((1, 2.5)), value_text(None)
    ('0.123', '131072', '58300', '1, 2.5', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, RuleText):
        return sanitized_text(value.text(lang), 400)
    if isinstance(value, FindingPhrase):
        return value.text(lang)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if abs(value) < 1e15 and value == int(value):
            return str(int(value))
        short = float(f"{value:.{digits}g}")
        return f"{short:.0f}" if 1e3 <= abs(short) < 1e15 else f"{short:.{digits}g}"
    if isinstance(value, str):
        return sanitized_text(value)
    if isinstance(value, Mapping):
        return sanitized_text(json.dumps(value, ensure_ascii=False, default=str), 2000)
    if isinstance(value, list | tuple):
        clauses = any(isinstance(item, FindingPhrase) for item in value)
        comma: str = words(lang, "language")["clauses"] if clauses else ", "
        return comma.join(value_text(item, lang, digits) for item in value[:24]) + (", …" if len(value) > 24 else "")
    return shortened_repr(value)


def sanitized_text(text: str, max_length: int = 200) -> str:
    """``text`` without control characters, cut to ``max_length``: what a config holds must not steer a terminal."""
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[: max_length + 1]
    )
    return clean if len(clean) <= max_length else clean[: max_length - 1] + "…"


def finite_float_or_none(value: object) -> float | None:
    """Return a finite number as float; None for all else, truth values and integers past float's range included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def max_relative_difference(values: Array, expected: Array) -> float:
    """Largest relative difference of two vectors of frequencies, as a fraction of ``expected``.

    Equal zeros differ by 0; inf where the widths differ or a pair turns that should rest.

    >>> max_relative_difference(np.array([1.0, 0.5]), np.ones(2)), max_relative_difference(np.ones(1), np.zeros(1))
    (0.5, inf)
    """
    if values.shape != expected.shape or np.any(values[expected == 0] != 0):
        return float("inf")
    return float(np.max(np.abs(values - expected) / np.where(expected == 0, 1.0, np.abs(expected)), initial=0.0))


def difference_phrase(values: Array, wanted: Array) -> FindingPhrase:
    """Return in words how far two vectors of frequencies are apart.

    >>> str(difference_phrase(np.array([1.0, 0.5]), np.array([1.0, 1.0])))
    'the frequencies differ by up to 50 %'
    """
    if values.shape != wanted.shape:
        return FindingPhrase("widths", {"pairs": values.size, "wanted": wanted.size})
    if turning := int(np.sum(values[wanted == 0] != 0)):
        return FindingPhrase("still_pairs_turn", {"count": turning})
    worst = max_relative_difference(values, wanted)
    return FindingPhrase("frequencies", {"worst": 100.0 * worst}) if worst > 1e-9 else FindingPhrase("same_frequencies")


def to_json_value(value: object) -> Any:
    """Return ``value`` as JSON can hold it: numbers that are not finite become their names.

    >>> to_json_value({"a": (1, float("inf"))})
    {'a': [1, 'inf']}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): to_json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(inner) for inner in value]
    return value if isinstance(value, str | int | float) or value is None else str(value)


def finding_record(finding: Finding, lang: str = "en") -> dict[str, Any]:
    """Return a finding with its sentences in a language."""
    return {
        "key": finding.key,
        "severity": finding.severity,
        "field": finding.field,
        "layer_type": finding.layer_type,
        "values": to_json_value(dict(finding.values)),
        "title": finding.title(lang),
        "why": finding.why(lang),
        "change": finding.change(lang),
        "source": finding.source,
        "versions": list(finding.versions),
    }
