"""What a table says of a check: what was measured beside its limit, for a terminal, a page or a film."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rope_core.comparisons.rows import ColumnCheck

SIGNS = {">=": "≥", "<=": "≤", "within": "≤"}


def number_text(value: float, unit: str = "", digits: int = 3) -> str:
    """Return a number with three digits and its unit.

    >>> number_text(0.59812), number_text(0.01, "%"), number_text(57.14), number_text(1e-20), number_text(64000.0)
    ('0.598', '1 %', '57.1', '0', '64,000')
    """
    if unit == "%":
        return f"{number_text(100 * value, digits=digits) if value > 1e-6 else '0'} %"
    if value < 1e-15:
        return "0"
    if value > 1e15:
        return "∞"
    short = float(f"{value:.{digits}g}")
    return (f"{short:,.0f}" if short >= 1000 else f"{short:g}") + (f" {unit}" if unit else "")


def limit_number(row: ColumnCheck) -> str:
    """Return the limit of what is measured with its unit; "" where there is none."""
    return "" if row.limit is None else number_text(row.limit, row.text("unit"))


def limit_text(row: ColumnCheck | None) -> str:
    """Return the limit of what is measured, with its sign; "" where there is none."""
    return (
        ""
        if row is None or row.limit is None
        else f"{SIGNS[row.text('relation')]} {number_text(row.limit, row.text('unit'), 4)}"
    )


def common_limit(rows: Sequence[ColumnCheck | None]) -> str:
    """Return the limit that all columns have of a check; "" where they differ: `cell` then has each one's."""
    limits = {limit_text(row) for row in rows} - {""}
    return limits.pop() if len(limits) == 1 else ""


def measured_text(row: ColumnCheck) -> str:
    """Return what was measured; "" of a check that holds or does not."""
    if row.measured is None:
        return ""
    if row.key == "attention_factor":
        return f"{row.measured:.4g}"
    # Beside a limit that it passes by little, a number has room for what passes it.
    close = row.limit is not None and not row.holds and abs(row.measured - row.limit) < 0.01 * abs(row.limit)
    return number_text(row.measured, row.text("unit"), 5 if close else 3)


def check_sign(row: ColumnCheck) -> str:
    """Return the sign of whether a check holds: "!" where it does not, and need not."""
    return "−" if row.holds is None else "✓" if row.holds else "✗" if row.broken else "!"


def cell(row: ColumnCheck | None, limit: str | None = None) -> str:
    """Return whether a check holds, what was measured, and its pair where it does not hold; "−" where it is untried.

    ``limit``: that of the whole row; another one of this column's is added.
    """
    if row is None or row.holds is None:
        return "−"
    sign = check_sign(row)
    pair = f"@{row.pair}" if len(row.by_pair) > 1 and not row.holds else ""
    text = measured_text(row)
    if row.measured is not None and row.text("unit") != "%" and row.measured < 0.1:
        # The unit is the limit's, and a column has room for two digits behind zeros.
        text = number_text(row.measured, digits=2)
    own = limit_text(row) if limit is not None else ""
    return " ".join(filter(None, (sign, text, pair, f"({own})" if own and own != limit else "")))


def padded(text: str, width: int) -> str:
    """Return a text with spaces up to a width in a terminal, where Chinese characters take two columns.

    >>> padded("对", 4) + "|"
    '对  |'
    """
    taken = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return text + " " * max(0, width - taken)
