"""The words of an evaluation, from words.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(resources.files("rope_core.evaluate").joinpath("words.toml").read_text(encoding="utf-8"))


def report_text(key: str, lang: str, /, **slots: object) -> str:
    """Return a text in "en" or "zh" with its slots filled.

    >>> report_text("seconds", "en", n=12.3)
    '12 s'
    """
    text: str = _texts()[key][lang]
    return text.format_map(slots)


def line_name(key: str, lang: str) -> str:
    """Return a line's name for readers."""
    row: dict[str, str] = _texts()["lines"].get(key, {})
    return row.get(lang, key)


def duration_text(seconds: float, lang: str) -> str:
    """Return a time for readers.

    >>> duration_text(59, "en"), duration_text(600, "en"), duration_text(9000, "en")
    ('59 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return report_text("seconds", lang, n=seconds)
    return (
        report_text("minutes", lang, n=seconds / 60) if seconds < 5400 else report_text("hours", lang, n=seconds / 3600)
    )
