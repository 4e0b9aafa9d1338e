"""The name of a room in which a class's answers are counted."""

from __future__ import annotations

import unicodedata

from rope_core.errors import argument_error

NAME_LIMIT = 40


def normalized_room_name(text: str) -> str:
    """Return a room's name in one spelling: full-width and capital letters are the same as plain and small ones.

    Raises ValueError unless it is 1 to 40 letters (of any language), digits or hyphens.

    >>> normalized_room_name("Physik-Ａ")
    'physik-a'
    """
    name = unicodedata.normalize("NFKC", text[: 4 * NAME_LIMIT]).casefold()
    kinds = [unicodedata.category(c) for c in name]
    plain = all(kind[0] == "L" or kind in ("Mn", "Mc", "Nd") or c == "-" for c, kind in zip(name, kinds, strict=True))
    if not plain or not 1 <= len(name) <= NAME_LIMIT or len(text) > 4 * NAME_LIMIT or kinds[0][0] == "M":
        raise argument_error("room", f"1 to {NAME_LIMIT} letters, digits or hyphens", text[:60])
    return name
