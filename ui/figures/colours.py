"""The palette, told apart with every kind of colour vision and legible on both themes; tests measure it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from plotly.colors import sample_colorscale

# At least 8 apart (CIEDE2000) for normal, red-, green- and blue-blind eyes, and 3 to 1 against both backgrounds.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, GREY = (
    "#0068CF",
    "#D18200",
    "#0F7652",
    "#E02000",
    "#8F5A90",
    "#1DA0BD",
    "#637512",
    "#7F7F7F",
)
COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, YELLOW, GREY)
SIGNED = "RdBu"
AMOUNT = "Viridis"
# What the browser draws black on the light theme and white on the dark one; over a heatmap "black" stays black.
LINE = "#010101"
# Backgrounds of Streamlit's themes, and the grey of its axis titles and ticks.
LIGHT, DARK, FADED = "#FFFFFF", "#171614", "#808495"
# Letters in a series' colour, on the light theme and on the dark one: no one colour has 4.5 to 1 on both.
INK = {
    BLUE: ("#0060C0", "#5BA8F5"),
    ORANGE: ("#8A5600", "#E8A23A"),
    GREEN: ("#0D6B4A", "#3FB98D"),
    RED: ("#C01B00", "#FF7A62"),
    PURPLE: ("#83508A", "#C893C9"),
    SKY: ("#0B6C82", "#45BCD8"),
    YELLOW: ("#59690F", "#A5B84A"),
    GREY: ("#5E5E5E", "#A8A8A8"),
    FADED: ("#5C6072", "#A9ADBA"),
}


def channels(colour: str) -> npt.NDArray[np.float64]:
    """Red, green and blue of ``#RRGGBB`` as shares of light (linear sRGB), float64 (3,).

    >>> channels("#FF0000").tolist()
    [1.0, 0.0, 0.0]
    """
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21. Source: WCAG 2.2, relative luminance.

    >>> contrast("#000000", "#FFFFFF")
    21.0
    """
    dim, bright = sorted(float(channels(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (one, other))
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
    (found,) = sample_colorscale(AMOUNT, [min(max(share, 0.0), 1.0) if share == share else 0.0], colortype="tuple")
    return on("#" + "".join(f"{round(255 * part):02x}" for part in found))


def wash(colour: str, strength: float = 0.45) -> str:
    """The colour thinned with white, opaque: black letters are legible on it in both themes.

    >>> wash("#000000", 0.2)
    'rgb(204,204,204)'
    """
    mixed = (round(255 + (int(colour[at : at + 2], 16) - 255) * strength) for at in (1, 3, 5))
    return f"rgb({','.join(map(str, mixed))})"
