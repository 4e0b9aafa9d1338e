"""Foreign text made harmless for the places that would read markup in it: Markdown, figures, spreadsheets."""

from __future__ import annotations

import re

MARKS = frozenset("\\`*_{}[]()#+-.!$|~:<>&")
# Streamlit turns bare addresses into links, and :names: and lone arrows into pictures, after the backslashes are gone.
# A word joiner, which takes no room, stands where one of these would be recognised.
JOINER = "\N{WORD JOINER}"
ACTIVE = re.compile(r":(?=\S)|@(?=\S)|(?<![^\W_])www(?=\.)|[-<>~](?=[-<>=~])", re.IGNORECASE)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain(value: object, limit: int = 60) -> str:
    """Text of a foreign value with nothing left that Markdown, LaTeX or HTML could act on."""
    text = "".join(letter for letter in str(value)[:limit] if letter.isprintable() and letter != JOINER)
    text = ACTIVE.sub(lambda match: match[0] + JOINER, text)
    return "".join(f"\\{letter}" if letter in MARKS else letter for letter in text)


def drawn(text: str) -> str:
    """Foreign text for a figure, whose labels know some HTML.

    >>> drawn("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cell(value: object) -> object:
    """Return a value for a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> cell("=1+1"), cell("-"), cell("-2"), cell(-2.0)
    ("'=1+1", "'-", '-2', -2.0)
    """
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
