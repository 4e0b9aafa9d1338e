"""The palette, distinct to every kind of colour vision and legible on both themes, and what is legible on it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# At least 10 apart in CIELAB for normal, red-, green- and blue-blind eyes, and 3 to 1 against both backgrounds.
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
SERIES_COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, YELLOW, GREY)
# One meaning on every page: who asks, who is found, what is handed on, what lies between; what training showed.
VIOLET = "#5B4FC4"
QUERY_COLOUR, KEY_COLOUR, VALUE_COLOUR, DISTANCE_COLOUR = BLUE, RED, PURPLE, VIOLET
TRAINED_COLOUR, UNSEEN_COLOUR, MUTED_COLOUR = GREEN, ORANGE, GREY
ACTION_COLOUR = "light-dark(#0b5c9e, #6cb8f0)"
"""Of what is to be dragged, as the player's buttons have it."""
ColourScale = tuple[tuple[float, str], ...]


def colour_scale(colours: str) -> ColourScale:
    """Return a colour scale of these colours (hexadecimal, apart by spaces) at equal steps from 0 to 1.

    >>> colour_scale("000000 ffffff")
    ((0.0, '#000000'), (1.0, '#ffffff'))
    """
    each = colours.split()
    return tuple((k / (len(each) - 1), f"#{colour}") for k, colour in enumerate(each))


# ColorBrewer's RdBu and matplotlib's viridis, as Plotly's Python library has them.
DIVERGING_SCALE = colour_scale("67001f b2182b d6604d f4a582 fddbc7 f7f7f7 d1e5f0 92c5de 4393c3 2166ac 053061")
# The same signs on a dark ground: the middle is the ground, what is far from it is bright.
DIVERGING_SCALE_DARK = colour_scale("ffb3a1 f2806b d6604d a8362f 5e2226 171614 1d3148 2a5f95 4393c3 7ab5dc b7daf2")
SEQUENTIAL_SCALE = colour_scale("440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725")
# What the browser draws black on the light theme and white on the dark one; over a heatmap "black" stays black.
LINE = "#010101"
# Backgrounds of Streamlit's themes, and the grey of its axis titles and ticks.
LIGHT, DARK, FADED = "#FFFFFF", "#171614", "#808495"
# Letters in a series' colour, on the light theme and on the dark one: no one colour has 4.5 to 1 on both.
TEXT_COLOURS = {
    BLUE: ("#0060C0", "#5BA8F5"),
    ORANGE: ("#8A5600", "#E8A23A"),
    GREEN: ("#0D6B4A", "#3FB98D"),
    RED: ("#C01B00", "#FF7A62"),
    PURPLE: ("#83508A", "#C893C9"),
    SKY: ("#0B6C82", "#45BCD8"),
    YELLOW: ("#59690F", "#A5B84A"),
    VIOLET: ("#5347B8", "#A99FF2"),
    GREY: ("#5E5E5E", "#A8A8A8"),
    FADED: ("#5C6072", "#A9ADBA"),
}
# What becomes of a pair, by rope_core.hf.anatomy's words.
REGION_COLOURS = {"kept": GREY, "blended": SKY, "divided": PURPLE, "own": YELLOW, "still": GREY}


def series_text_colour(colour: str) -> str:
    """Return a series' colour as letters have it on either theme."""
    return f"light-dark({', '.join(TEXT_COLOURS[colour])})" if colour in TEXT_COLOURS else colour


def linear_rgb(colour: str) -> npt.NDArray[np.float64]:
    """Red, green and blue of ``#RRGGBB`` as shares of light (linear sRGB), float64 (3,).

    >>> linear_rgb("#FF0000").tolist()
    [1.0, 0.0, 0.0]
    """
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast_ratio(each: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21. Source: WCAG 2.2, relative luminance.

    >>> contrast_ratio("#000000", "#FFFFFF")
    21.0
    """
    dim, bright = sorted(float(linear_rgb(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (each, other))
    return (bright + 0.05) / (dim + 0.05)


def text_colour_on(colour: str) -> str:
    """Black or white, whichever is easier to read on the colour.

    >>> text_colour_on("#FFFF00"), text_colour_on("#00008B")
    ('black', 'white')
    """
    return "black" if contrast_ratio(colour, "#000000") >= contrast_ratio(colour, "#FFFFFF") else "white"


def text_colour_on_sequential(share: float) -> str:
    """Black or white, whichever is easier to read on the scale of amounts, 0 to 1, at ``share``.

    >>> text_colour_on_sequential(0.0), text_colour_on_sequential(1.0)
    ('white', 'black')
    """
    at = min(max(share, 0.0), 1.0) if share == share else 0.0
    channel = [[int(colour[k : k + 2], 16) for _, colour in SEQUENTIAL_SCALE] for k in (1, 3, 5)]
    mixed = [round(float(np.interp(at, [stop for stop, _ in SEQUENTIAL_SCALE], values))) for values in channel]
    return text_colour_on(f"#{bytes(mixed).hex()}")
