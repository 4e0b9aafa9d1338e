"""Why the numbers' package refuses values that a visitor can set, in the page's language."""

from __future__ import annotations

import re

from ui.text.words import Words

# The packages' own sentences are English; each pattern's groups fill the slots of the label ``reason.<name>``.
PATTERNS = {
    "two_pairs": r"dim must be at least 4 for NTK.*, got (?P<dim>\d+)",
    "too_long": r"factor must be such that factor times (?P<trained>\d+) is in 1\.\.(?P<limit>\d+), got (?P<factor>.+)",
    "clock_length": r"seconds must be an integer in .*",
    "vector": r"(?P<name>short_factor|long_factor) must be one number or a list of dim/2 = (?P<pairs>\d+) numbers .*",
}


def reason(message: object, t: Words) -> str:
    """The sentence of a refusal in the language of ``t``; the package's own where nobody has written one.

    >>> reason("dim must be at least 4 for NTK, which needs more, got 2", Words("en", "clock"))
    'NTK needs at least two pairs, a fastest and a slowest; a width of 2 has one'
    """
    text = str(message)
    for name, pattern in PATTERNS.items():
        if match := re.fullmatch(pattern, text, re.DOTALL):
            return t(f"reason.{name}", **{slot: number(given) for slot, given in match.groupdict().items()})
    return text


def number(text: str) -> str:
    """A number as a reader likes it; other words unchanged.

    >>> number("16777216"), number("1024.0"), number("short_factor")
    ('16,777,216', '1,024', 'short_factor')
    """
    try:
        return f"{float(text):,.10g}"
    except ValueError:
        return text
