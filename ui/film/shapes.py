"""The shapes of a scene, as the player draws them. Numbers may be plain, arrays or tracks; units are the panel's.

Colours are CSS; "ink" is the page's letter colour and "paper" its background, on either theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ui.film.colours import INK, SIGNED, SIGNED_DARK, Scale
from ui.film.scene import Control, Shape, Text, Track
from ui.film.sketch import Sketch

Numbers = float | Sequence[float] | npt.NDArray[Any] | Track
FINE = 255


def named(symbol: str, shape: Shape) -> Shape:
    """Return a shape as the one that a symbol of the page's formulas names: pointing at either lights both."""
    return shape | {"symbol": symbol}


def since(beat: int, *shapes: Shape) -> list[Shape]:
    """Return shapes that are shown from a beat on, counted from 1."""
    return [shape | {"since": beat} for shape in shapes]


def until(beat: int, *shapes: Shape) -> list[Shape]:
    """Return shapes that are shown up to a beat."""
    return [shape | {"until": beat} for shape in shapes]


def letters(colour: str) -> str:
    """Return a series' colour as letters have it on either theme."""
    return f"light-dark({', '.join(INK[colour])})" if colour in INK else colour


def path(x: Numbers, y: Numbers, colour: str, width: float = 4, dash: str = "", fill: str = "none") -> Shape:
    """Return a line through points; it breaks where a coordinate is nan. ``dash``: px on and off, as in SVG."""
    return {"kind": "path", "x": x, "y": y, "stroke": colour, "width": width, "dash": dash, "fill": fill}


def dots(x: Numbers, y: Numbers, colour: str | Sequence[str], r: float = 7, paint: Numbers | None = None) -> Shape:
    """Return points of ``r`` px; ``paint`` holds each point's index among several colours."""
    return {"kind": "dots", "x": x, "y": y, "colour": colour, "r": r, "paint": paint}


def boxes(
    x0: Numbers,
    x1: Numbers,
    y0: Numbers,
    y1: Numbers,
    colour: str | Sequence[str],
    paint: Numbers | None = None,
    opacity: float = 1.0,
) -> Shape:
    """Return filled rectangles: bars, bands, cells; ``paint`` holds each one's index among several colours."""
    sides = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    return {"kind": "boxes", **sides, "colour": colour, "paint": paint, "opacity": opacity}


def hands(
    x: Numbers,
    y: Numbers,
    length: Numbers,
    angle: Numbers,
    colour: str | Sequence[str],
    width: float = 5,
    head: bool = False,
    paint: Numbers | None = None,
    **look: Any,
) -> Shape:
    """Return strokes from (x, y) at an unwrapped ``angle`` (rad, counter-clockwise from the right).

    The angle is interpolated, not the ends, so that a hand keeps its length between stops. ``head``: with arrowheads;
    ``paint`` holds each hand's index among several colours. Lengths are in units of x; with ``unit="y"`` (here,
    in arcs and in what turns) in those of the y axis, which are as long on a phone.
    """
    shape = {"kind": "hands", "x": x, "y": y, "length": length, "angle": angle}
    return shape | {"colour": colour, "width": width, "head": head, "paint": paint, **look}


def arc(
    x: Numbers, y: Numbers, r: Numbers, start: Numbers, end: Numbers, colour: str, width: float = 6, **look: Any
) -> Shape:
    """Return arcs about (x, y) from angle ``start`` to ``end`` (rad, unwrapped); a whole turn or more is a circle.

    ``sector`` fills the slice from the centre instead; ``opacity`` thins it; ``shorter`` goes the shorter way round.
    """
    ends = {"x": x, "y": y, "r": r, "start": start, "end": end}
    return {"kind": "arc", **ends, "colour": colour, "width": width, **look}


def circle(x: Numbers, y: Numbers, r: Numbers, colour: str, width: float = 2, **look: Any) -> Shape:
    """Return circles about (x, y)."""
    return arc(x, y, r, 0.0, 2 * np.pi, colour, width, **look)


def label(x: Numbers, y: Numbers, text: Text, colour: str = "ink", **look: Any) -> Shape:
    """Return a text at one point: ``size`` px, ``anchor`` start, middle or end, ``bold``, moved ``dx``, ``dy`` px.

    ``plain``: without the rim in the background's colour, on a coloured ground.
    """
    return {"kind": "label", "x": x, "y": y, "text": text, "colour": letters(colour), **look}


def image(cells: Track | npt.NDArray[np.int8], scale: Scale, x: tuple[float, float], y: tuple[float, float]) -> Shape:
    """Return coloured cells, int8 from -127 to 127 (rows from y's first value to its second, columns), over a range.

    Between stops the nearest stop's cells are shown. Where zero is the scale's middle it is the ground on either theme.
    """
    dark = {"dark": shades(SIGNED_DARK)} if scale is SIGNED else {}
    return {"kind": "image", "cells": cells, "colours": shades(scale), "x": x, "y": y} | dark


def shades(scale: Scale) -> npt.NDArray[np.uint8]:
    """Return red, green and blue of -127 to 127 on a colour scale, uint8 (255, 3)."""
    stops = [stop for stop, _ in scale]
    shares = np.linspace(0.0, 1.0, FINE)
    channels = [np.interp(shares, stops, [int(colour[k : k + 2], 16) for _, colour in scale]) for k in (1, 3, 5)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def handle(
    control: Control, x: Numbers, y: Numbers, colour: str, name: str = "", of: Sequence[Shape] = (), **look: Any
) -> Shape:
    """Return a grip on a control at a point that the control moves: by mouse, finger or keys.

    The player looks for the stop at which the point is nearest to the pointer; a press beside it takes the point there.
    ``of``: the shapes of the whole thing, which is grabbed wherever it is touched; ``r``: px of the dot that is drawn,
    0 for none.
    """
    whole = {"kind": "handle", "control": control.name, "x": x, "y": y, "colour": colour, "name": name}
    return whole | {"of": list(of), **look}


def turned(
    control: Control,
    x: Numbers,
    y: Numbers,
    length: Numbers,
    angle: Numbers,
    colour: str,
    name: str = "",
    of: Sequence[Shape] = (),
    **look: Any,
) -> Shape:
    """Return a grip on a control at the tip of a hand: it is turned about (x, y), by as many turns as the hand goes.

    ``of``: the shapes of the whole hand, which is grabbed wherever it is touched.
    """
    tip = {"x": x, "y": y, "length": length, "angle": angle}
    whole = {"kind": "handle", "control": control.name, **tip, "colour": colour, "name": name}
    return whole | {"of": list(of), **look}


def sketch(drawn: Sketch, x: Numbers, y: Numbers, colour: str) -> Shape:
    """Return a place to draw the curve that one expects; then the true curve through (x, y) and the gap are shown.

    By mouse or finger; by keys, left and right choose a column, up and down its height. A button shows the curve once
    every column has a height. The scene that has this shape names the same ``drawn`` as its sketch.
    """
    return {"kind": "sketch", "drawn": vars(drawn), "x": x, "y": y, "colour": colour}


def later(shape: Shape) -> Shape:
    """Return a shape that is hidden until the drawn curve is compared with the true one."""
    return shape | {"later": True}
