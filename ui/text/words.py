"""Reads the texts: ``PageTexts(lang, page)`` answers labels and prose; formulas and counts are slots of both."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

TEXT = Path(__file__).parent
SLOT = re.compile(r"\{\{(f|formula):([a-z0-9_.-]+)\}\}")
COUNT = re.compile(r"\{\{n:([a-z0-9_]+)\}\}")
# A source line's end inside a Chinese sentence, which a browser would show as a gap.
HAN, STOP = "\u2014-\u2026\u3000-\u9fff\uff00-\uffef", "\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
SOFT_BREAK = re.compile(f"(?<=[{HAN}])\\n(?=[{HAN}])|(?<=\\S)\\n(?=[{STOP}])|(?<=[{STOP}])\\n(?=[A-Za-z])")
POWER = re.compile(r"([-−+]?\d(?:\.\d+)?)e([-+]\d+)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_LABELS = ("prose", "page_lesson")
"""What a page's file holds besides labels: its sections of Markdown, and its lesson."""


@lru_cache(maxsize=1)
def formulas() -> dict[str, str]:
    """Return every formula's LaTeX by id, from ui/text/formulas/*.toml; an id may be in one file only."""
    formulas: dict[str, str] = {}
    for path in sorted((TEXT / "formulas").glob("*.toml")):
        for key, latex in tomllib.loads(path.read_text("utf-8")).items():
            if key in formulas:
                raise ValueError(f"formula id must be unique, got {key} again in {path.name}")
            formulas[key] = latex.strip()
    return formulas


@lru_cache(maxsize=1)
def text_counts() -> dict[str, int]:
    """Return the counts of the ledger and the catalogue that texts state, by name: ui/text/counts.toml."""
    return tomllib.loads((TEXT / "counts.toml").read_text("utf-8"))


def fill_counts(text: str) -> str:
    """Put counts into their slots, {{n:name}}."""
    return COUNT.sub(lambda match: f"{text_counts()[match[1]]:,}", text)


def _flatten(table: dict[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = str(value)
    return flat


@cache
def read_page_file(lang: str, page: str) -> dict[str, Any]:
    """Return all that ui/text/<lang>/<page>.toml holds, counts filled in; {} when the file is absent."""
    path = TEXT / lang / f"{page}.toml"
    return tomllib.loads(fill_counts(path.read_text("utf-8"))) if path.exists() else {}


@cache
def page_labels(lang: str, page: str) -> dict[str, str]:
    """Return the short texts of a page's file, keys joined by dots; {} when the file is absent."""
    return _flatten({key: part for key, part in read_page_file(lang, page).items() if key not in NO_LABELS})


@cache
def page_sections(lang: str, page: str) -> dict[str, tuple[str, str]]:
    """Return the sections of a page's prose by id: (title, body with formula slots)."""
    prose = read_page_file(lang, page).get("prose", {})
    return {key: (part["title"], SOFT_BREAK.sub("", part["text"])) for key, part in prose.items()}


def fill_formulas(text: str) -> str:
    """Put formulas into their slots, {{formula:id}} on its own lines, {{f:id}} inline."""

    def latex(match: re.Match[str]) -> str:
        body = formulas()[match[2]]
        return f"\n$$\n{body}\n$$\n" if match[1] == "formula" else f"${body}$"

    return SLOT.sub(latex, text)


def markdown_table(columns: Mapping[str, Sequence[str]], *, numbers: bool = False) -> str:
    """Columns by title as a Markdown table; all but the first right-aligned where they are ``numbers``.

    >>> print(markdown_table({"model": ["a", "b"], "d": ["64", "128"]}, numbers=True))
    | model | d |
    | :-- | --: |
    | a | 64 |
    | b | 128 |
    """
    sides = [":--"] + ["--:" if numbers else ":--"] * (len(columns) - 1)
    rows = (list(columns), sides, *zip(*columns.values(), strict=True))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def number_text(value: float | int, digits: int = 6) -> str:
    """Write a number for a reader: to ``digits`` significant digits, but its whole part whole below 10⁹.

    >>> number_text(10_000), number_text(5.5), number_text(7e9), number_text(1e-6), number_text(math.inf)
    ('10,000', '5.5', '7·10⁹', '10⁻⁶', '∞')
    >>> number_text(54_410.2, 3), number_text(6.2832, 3)
    ('54,410', '6.28')
    """
    if not math.isfinite(value):
        return "∞"
    if abs(value) < 1e9 and (float(value).is_integer() or abs(value) >= 10 ** (digits - 1)):
        return f"{value:,.0f}"
    return exponent_text(f"{value:,.{digits}g}")


def exponent_text(text: str) -> str:
    """Write a number that Python gives with an e as people write it; other text as it is.

    >>> exponent_text("2.2e-16"), exponent_text("1e-10"), exponent_text("e5")
    ('2.2·10⁻¹⁶', '10⁻¹⁰', 'e5')
    """
    match = POWER.fullmatch(text)
    if not match:
        return text
    raised = f"10{str(int(match[2])).translate(RAISED)}"
    return raised if match[1] == "1" else f"{match[1]}·{raised}"


@dataclass(frozen=True)
class PageTexts:
    """The texts of one page in one language."""

    lang: str
    page: str

    def __call__(self, key: str, **values: object) -> str:
        """Return the label ``key`` of this page, or of all pages, with ``{name}`` slots filled, 1e-9 as a power."""
        own = page_labels(self.lang, self.page)
        text = own[key] if key in own else page_labels(self.lang, "labels")[key]
        return (
            text.format(**{k: exponent_text(v) if isinstance(v, str) else v for k, v in values.items()})
            if values
            else text
        )

    def page_name(self, page: str) -> str:
        """Return the name of any page, as the menu has it."""
        return page_labels(self.lang, page)["menu.name"]

    def has_label(self, key: str) -> bool:
        """Whether this page or all pages have the label ``key``."""
        return key in page_labels(self.lang, self.page) or key in page_labels(self.lang, "labels")

    def table(self, name: str) -> dict[str, str]:
        """Return a table of labels by their keys, in its order: this page's, else that of all pages."""
        for page in (self.page, "labels"):
            labels = page_labels(self.lang, page)
            if rows := {key[len(name) + 1 :]: text for key, text in labels.items() if key.startswith(f"{name}.")}:
                return rows
        return {}

    def section_title_and_text(self, section: str) -> tuple[str, str]:
        """Return title and Markdown of a section of this page, formulas filled in."""
        title, body = page_sections(self.lang, self.page)[section]
        return title, fill_formulas(body)
