"""Foreign text made harmless for the places that would read markup in it: Markdown and spreadsheets."""

from __future__ import annotations

import re

MARKS = frozenset("\\`*_{}[]()#+-.!$|~:<>&")
# Streamlit turns bare addresses into links, and :names: and lone arrows into pictures, after the backslashes are gone.
# A word joiner, which takes no room, stands where one of these would be recognised.
JOINER = "\N{WORD JOINER}"
ACTIVE = re.compile(r":(?=\S)|@(?=\S)|(?<![^\W_])www(?=\.)|[-<>~](?=[-<>=~])", re.IGNORECASE)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def escaped_markdown(value: object, limit: int = 60) -> str:
    """Text of a foreign value with nothing left that Markdown, LaTeX or HTML could act on."""
    text = "".join(letter for letter in str(value)[:limit] if letter.isprintable() and letter != JOINER)
    text = ACTIVE.sub(lambda match: match[0] + JOINER, text)
    return "".join(f"\\{letter}" if letter in MARKS else letter for letter in text)


def escaped_csv_cell(value: object) -> object:
    """Return a value for a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> escaped_csv_cell("=1+1"), escaped_csv_cell("-"), escaped_csv_cell("-2"), escaped_csv_cell(-2.0)
    ("'=1+1", "'-", '-2', -2.0)
    """
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
