"""How the page writes a matrix and its entries."""

from __future__ import annotations

KEY_POSITION, QUERY_POSITION = 1, 5
"""Where the two words stand in the sentence."""
SUBSCRIPTS = str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋")


def matrix_entry_text(value: float) -> str:
    """Return a matrix entry to two places.

    >>> matrix_entry_text(0.309), matrix_entry_text(-0.004), matrix_entry_text(-0.9999)
    ('0.31', '0', '−1')
    """
    text = f"{abs(value):.2f}"
    short = {"1.00": "1", "0.00": "0"}.get(text, text)
    return f"−{short}" if value < 0 and short != "0" else short


def rotation_matrix_name(position: int) -> str:
    """Return the name of the rotation to a position.

    >>> rotation_matrix_name(11), rotation_matrix_name(-1)
    ('R₁₁', 'R₋₁')
    """
    return f"R{position}".translate(SUBSCRIPTS)
