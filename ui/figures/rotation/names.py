"""How the page writes a matrix and its entries."""

from __future__ import annotations

KEY_POSITION, QUERY_POSITION = 1, 5
"""Where the two words stand in the sentence."""
SUBSCRIPTS = str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋")


def entry(value: float) -> str:
    """Return a matrix entry to two places.

    >>> entry(0.309), entry(-0.004), entry(-0.9999)
    ('0.31', '0', '−1')
    """
    text = f"{abs(value):.2f}"
    short = {"1.00": "1", "0.00": "0"}.get(text, text)
    return f"−{short}" if value < 0 and short != "0" else short


def matrix_name(position: int) -> str:
    """Return the name of the rotation to a position.

    >>> matrix_name(11), matrix_name(-1)
    ('R₁₁', 'R₋₁')
    """
    return f"R{position}".translate(SUBSCRIPTS)
