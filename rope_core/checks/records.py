"""Findings and values as JSON can hold them."""

from __future__ import annotations

import math
from typing import Any

from rope_core.checks.case import Finding


def as_json(value: object) -> Any:
    """Return ``value`` as JSON can hold it: numbers that are not finite become their names.

    >>> as_json({"a": (1, float("inf"))})
    {'a': [1, 'inf']}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value if isinstance(value, str | int | float) or value is None else str(value)


def as_record(finding: Finding, lang: str = "en") -> dict[str, Any]:
    """Return a finding with its sentences in "en" or "zh"."""
    return {
        "key": finding.key,
        "severity": finding.severity,
        "field": finding.field,
        "layer_type": finding.layer_type,
        "values": as_json(dict(finding.values)),
        "title": finding.title(lang),
        "why": finding.why(lang),
        "change": finding.change(lang),
        "source": finding.source,
        "versions": list(finding.versions),
    }
