"""The palette for figures, and what is legible on its colours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ui.film.colours import (
    AMOUNT,
    BLUE,
    COLOURS,
    DARK,
    FADED,
    GREEN,
    GREY,
    INK,
    LIGHT,
    LINE,
    ORANGE,
    PHASE,
    PURPLE,
    RED,
    SIGNED,
    SIGNED_DARK,
    SKY,
    YELLOW,
    Scale,
)

__all__ = [
    "AMOUNT",
    "BLUE",
    "COLOURS",
    "DARK",
    "FADED",
    "GREEN",
    "GREY",
    "INK",
    "LIGHT",
    "LINE",
    "ORANGE",
    "PHASE",
    "PURPLE",
    "RED",
    "REGION_COLOURS",
    "SIGNED",
    "SIGNED_DARK",
    "SKY",
    "YELLOW",
    "Scale",
    "channels",
    "contrast",
    "on",
    "on_amount",
    "wash",
]


# What becomes of a pair, by rope_core.hf.anatomy's words.
REGION_COLOURS = {"kept": GREY, "blended": SKY, "divided": PURPLE, "own": YELLOW, "still": GREY}


def channels(colour: str) -> npt.NDArray[np.float64]:
    """Red, green and blue of ``#RRGGBB`` as shares of light (linear sRGB), float64 (3,).

    >>> channels("#FF0000").tolist()
    [1.0, 0.0, 0.0]
    """
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(each: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21. Source: WCAG 2.2, relative luminance.

    >>> contrast("#000000", "#FFFFFF")
    21.0
    """
    dim, bright = sorted(float(channels(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (each, other))
    return (bright + 0.05) / (dim + 0.05)


def on(colour: str) -> str:
    """Black or white, whichever is easier to read on the colour.

    >>> on("#FFFF00"), on("#00008B")
    ('black', 'white')
    """
    return "black" if contrast(colour, "#000000") >= contrast(colour, "#FFFFFF") else "white"


def on_amount(share: float) -> str:
    """Black or white, whichever is easier to read on the scale of amounts, 0 to 1, at ``share``.

    >>> on_amount(0.0), on_amount(1.0)
    ('white', 'black')
    """
    at = min(max(share, 0.0), 1.0) if share == share else 0.0
    channel = [[int(colour[k : k + 2], 16) for _, colour in AMOUNT] for k in (1, 3, 5)]
    mixed = [round(float(np.interp(at, [stop for stop, _ in AMOUNT], values))) for values in channel]
    return on(f"#{bytes(mixed).hex()}")


def wash(colour: str, strength: float = 0.45) -> str:
    """Return the colour thinned with white, opaque: black letters are legible on it in both themes.

    >>> wash("#000000", 0.2)
    'rgb(204,204,204)'
    """
    mixed = (round(255 + (int(colour[at : at + 2], 16) - 255) * strength) for at in (1, 3, 5))
    return f"rgb({','.join(map(str, mixed))})"
