"""QR codes as SVG, black on white whatever the theme is."""

from __future__ import annotations

from html import escape

import qrcode
from qrcode.constants import ERROR_CORRECT_L, ERROR_CORRECT_M
from qrcode.exceptions import DataOverflowError

QUIET = 4
"""Light modules around the code, as the standard asks."""
SHORT = 300
"""Up to this many letters the code corrects 15 % of errors, past it 7 %, so that its modules stay large."""


def matrix(text: str) -> list[list[bool]] | None:
    """The modules of ``text``'s QR code with its quiet zone, True is dark; None where it is too long for one."""
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_M if len(text) <= SHORT else ERROR_CORRECT_L, border=QUIET)
    code.add_data(text)
    try:
        code.make(fit=True)
    except (DataOverflowError, ValueError):
        return None
    return [list(row) for row in code.get_matrix()]


def svg(text: str, alt: str) -> str | None:
    """``text``'s QR code as an SVG element that fills its width; None where ``text`` is too long for one."""
    rows = matrix(text)
    if rows is None:
        return None
    size = len(rows)
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="100%" role="img" '
        f'aria-label="{escape(alt)}" shape-rendering="crispEdges">'
        f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{path}" fill="#000"/></svg>'
    )
