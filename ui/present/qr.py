"""QR codes as SVG, black on white whatever the theme is."""

from __future__ import annotations

from base64 import b64encode
from html import escape

import qrcode
from qrcode.constants import ERROR_CORRECT_L, ERROR_CORRECT_M
from qrcode.exceptions import DataOverflowError

QUIET = 4
"""Light modules around the code, as the standard asks."""
SHORT = 300
"""Up to this many letters the code corrects 15 % of errors, past it 7 %, so that its modules stay large."""


def matrix(text: str) -> list[list[bool]] | None:
    """Return the modules of ``text``'s QR code with its quiet zone, True is dark; None where it is too long for one."""
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_M if len(text) <= SHORT else ERROR_CORRECT_L, border=QUIET)
    code.add_data(text)
    try:
        code.make(fit=True)
    except (DataOverflowError, ValueError):
        return None
    return [list(row) for row in code.get_matrix()]


def svg(text: str) -> str | None:
    """``text``'s QR code as an SVG file; None where ``text`` is too long for one."""
    rows = matrix(text)
    if rows is None:
        return None
    size = len(rows)
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges">'
        f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{path}" fill="#000"/></svg>'
    )


def image(text: str, alt: str) -> str | None:
    """``text``'s QR code as an HTML image; None where ``text`` is too long for one."""
    drawn = svg(text)
    if drawn is None:
        return None
    data = b64encode(drawn.encode()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
