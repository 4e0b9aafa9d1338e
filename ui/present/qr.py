"""QR codes as SVG, black on white whatever the theme is."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import qrcode

QUIET = 4
"""Light modules around the code, as the standard asks."""
SHORT = 300
"""Up to this many letters the code corrects 15 % of errors, past it 7 %, so that its modules stay large."""


def qr_code(text: str) -> qrcode.QRCode[Any] | None:
    """Return ``text``'s QR code with its quiet zone; None where it is too long for one."""
    # Here, for a notebook draws pages without it.
    import qrcode
    from qrcode.constants import ERROR_CORRECT_L, ERROR_CORRECT_M
    from qrcode.exceptions import DataOverflowError
    from qrcode.image.svg import SvgPathFillImage

    level = ERROR_CORRECT_M if len(text) <= SHORT else ERROR_CORRECT_L
    drawn = qrcode.QRCode(error_correction=level, border=QUIET, image_factory=SvgPathFillImage)
    drawn.add_data(text)
    try:
        drawn.make(fit=True)
    except (DataOverflowError, ValueError):
        return None
    return drawn


def qr_code_html(text: str, alt: str) -> str | None:
    """``text``'s QR code as an HTML image; None where ``text`` is too long for one."""
    drawn = qr_code(text)
    if drawn is None:
        return None
    data = b64encode(drawn.make_image().to_string()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
