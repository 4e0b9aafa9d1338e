"""The words of an evaluation, from eval.toml."""

from __future__ import annotations

from rope_core.languages import words


def report_text(key: str, lang: str, /, **slots: object) -> str:
    """Return a text with its slots filled.

    >>> report_text("seconds", "en", n=12.3)
    '12 s'
    """
    text: str = words(lang, "eval")[key]
    return text.format_map(slots)


def line_name(key: str, lang: str) -> str:
    """Return a line's name for readers."""
    return str(words(lang, "eval")["lines"].get(key, key))


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
