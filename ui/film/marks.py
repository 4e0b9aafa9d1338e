"""The marks of a scene, as the player draws them. Numbers may be plain, arrays or tracks; units are the panel's.

The words are those of Observable Plot and Vega-Lite. Colours are CSS; "ink" is the page's letter colour and "paper" its
background, on either theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ui.film.colours import DIVERGING_SCALE, DIVERGING_SCALE_DARK, ColourScale, series_text_colour
from ui.film.scene import Control, Mark, NumberTrack, TextOrTrack
from ui.film.sketch import Sketch

NumbersOrTrack = float | Sequence[float] | npt.NDArray[Any] | NumberTrack
SCALE_STEPS = 255


def link_symbol(symbol: str, mark: Mark) -> Mark:
    """Return a mark as the one that a symbol of the page's formulas names: pointing at either lights both."""
    return mark | {"symbol": symbol}


def shown_when_pointed_at(symbol: str, mark: Mark) -> Mark:
    """Return a mark that is seen only while what has its symbol is pointed at."""
    return link_symbol(symbol, mark) | {"when_lit": True}


def from_beat(beat: int, *marks: Mark) -> list[Mark]:
    """Return marks that are shown from a beat on, counted from 1."""
    return [mark | {"first_beat": beat} for mark in marks]


def up_to_beat(beat: int, *marks: Mark) -> list[Mark]:
    """Return marks that are shown up to a beat."""
    return [mark | {"last_beat": beat} for mark in marks]


def in_wide_panel(min_panel_px: int, *marks: Mark) -> list[Mark]:
    """Return marks that are left out where their panel is narrower than ``min_panel_px``, as on a phone."""
    return [mark | {"min_panel_px": min_panel_px} for mark in marks]


def in_narrow_panel(max_panel_px: int, *marks: Mark) -> list[Mark]:
    """Return marks that are drawn where their panel is narrower than ``max_panel_px`` only, as on a phone."""
    return [mark | {"max_panel_px": max_panel_px} for mark in marks]


def line(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    colour: str,
    stroke_width: float = 4,
    stroke_dash: str = "",
    fill: str = "none",
    **style: Any,
) -> Mark:
    """Return a line through points; it breaks where a coordinate is nan. ``stroke_dash``: px on and off, as in SVG.

    ``stepped=True``: between stops the nearest stop's line, where one between two of them would be none of its kind.
    """
    look = {"colour": colour, "stroke_width": stroke_width, "stroke_dash": stroke_dash, "fill": fill}
    return {"kind": "line", "x": x, "y": y, **look, **style}


def dot(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    colour: str | Sequence[str],
    radius_px: float = 7,
    colour_index: NumbersOrTrack | None = None,
) -> Mark:
    """Return filled points; ``colour_index`` holds each point's index among several colours."""
    return {"kind": "dot", "x": x, "y": y, "colour": colour, "radius_px": radius_px, "colour_index": colour_index}


def rect(
    x0: NumbersOrTrack,
    x1: NumbersOrTrack,
    y0: NumbersOrTrack,
    y1: NumbersOrTrack,
    colour: str | Sequence[str],
    colour_index: NumbersOrTrack | None = None,
    opacity: float = 1.0,
    **style: Any,
) -> Mark:
    """Return filled rectangles: bars, bands, cells; ``colour_index`` holds each one's index among several colours.

    ``fill_pattern="hatch"`` hatches instead of filling; ``outline`` is the colour of an edge ``stroke_width`` px wide,
    ``stroke_dash`` its dashes; ``corner_px`` rounds the corners.
    """
    sides = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    return {"kind": "rect", **sides, "colour": colour, "colour_index": colour_index, "opacity": opacity, **style}


def vector(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    length: NumbersOrTrack,
    angle: NumbersOrTrack,
    colour: str | Sequence[str],
    stroke_width: float = 5,
    has_head: bool = False,
    colour_index: NumbersOrTrack | None = None,
    **style: Any,
) -> Mark:
    """Return strokes from (x, y) at an unwrapped ``angle`` (rad, counter-clockwise from the right).

    The angle is interpolated, not the ends, so that a hand keeps its length between stops. ``has_head``: with
    arrowheads; ``colour_index`` holds each one's index among several colours; ``stroke_dash``: px on and off.
    Lengths are in units of x; with ``length_unit="y"`` (here, in arcs and in what turns) in those of the y axis, which
    are as long on a phone.
    """
    mark = {"kind": "vector", "x": x, "y": y, "length": length, "angle": angle, "colour": colour}
    return mark | {"stroke_width": stroke_width, "has_head": has_head, "colour_index": colour_index, **style}


def arc(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    radius: NumbersOrTrack,
    start_angle: NumbersOrTrack,
    end_angle: NumbersOrTrack,
    colour: str,
    stroke_width: float = 6,
    **style: Any,
) -> Mark:
    """Return arcs about (x, y) between two angles (rad, unwrapped); a whole turn or more is a circle.

    ``opacity`` thins it.
    """
    ends = {"x": x, "y": y, "radius": radius, "start_angle": start_angle, "end_angle": end_angle}
    return {"kind": "arc", **ends, "colour": colour, "stroke_width": stroke_width, **style}


def wedge(
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    radius: NumbersOrTrack,
    start_angle: NumbersOrTrack,
    end_angle: NumbersOrTrack,
    colour: str,
    **style: Any,
) -> Mark:
    """Return filled slices about (x, y) between two angles, as `arc` draws them.

    ``inner_radius`` leaves a ring's segment; ``fill_pattern="hatch"`` hatches instead of filling.
    """
    return arc(x, y, radius, start_angle, end_angle, colour, 0, **style) | {"kind": "wedge"}


def circle(
    x: NumbersOrTrack, y: NumbersOrTrack, radius: NumbersOrTrack, colour: str, stroke_width: float = 2, **style: Any
) -> Mark:
    """Return circles about (x, y)."""
    return arc(x, y, radius, 0.0, 2 * np.pi, colour, stroke_width, **style)


def text(x: NumbersOrTrack, y: NumbersOrTrack, content: TextOrTrack, colour: str = "ink", **style: Any) -> Mark:
    """Return a text at one point: ``font_size`` px, ``anchor`` start, middle or end, ``bold``, moved ``dx``, ``dy`` px.

    ``halo=False``: without the rim in the background's colour, on a coloured ground; ``is_code``: in letters of one
    width.
    """
    return {"kind": "text", "x": x, "y": y, "content": content, "colour": series_text_colour(colour), **style}


def heatmap(
    cells: NumberTrack | npt.NDArray[np.int8], scale: ColourScale, x: tuple[float, float], y: tuple[float, float]
) -> Mark:
    """Return coloured cells, int8 from -127 to 127 (rows from y's first value to its second, columns), over a range.

    Between stops the nearest stop's cells are shown. Where zero is the scale's middle it is the ground on either theme.
    """
    dark = {"dark": scale_colours(DIVERGING_SCALE_DARK)} if scale is DIVERGING_SCALE else {}
    return {"kind": "heatmap", "cells": cells, "colours": scale_colours(scale), "x": x, "y": y} | dark


def scale_colours(scale: ColourScale) -> npt.NDArray[np.uint8]:
    """Return red, green and blue of -127 to 127 on a colour scale, uint8 (255, 3)."""
    stops = [stop for stop, _ in scale]
    shares = np.linspace(0.0, 1.0, SCALE_STEPS)
    channels = [np.interp(shares, stops, [int(colour[k : k + 2], 16) for _, colour in scale]) for k in (1, 3, 5)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def drag_handle(
    control: Control,
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    colour: str,
    label: str = "",
    grab_marks: Sequence[Mark] = (),
    **style: Any,
) -> Mark:
    """Return a grip on a control at a point that the control moves: by mouse, finger or keys.

    The player looks for the stop at which the point is nearest to the pointer; a press beside it takes the point there.
    ``grab_marks``: the marks of the whole thing, which is grabbed wherever it is touched; ``radius_px``: of the dot,
    0 for none; ``press_px``: from how far a press beside it takes it, 40 where it is not given.
    """
    grip = {"kind": "drag_handle", "control": control.name, "x": x, "y": y, "colour": colour, "label": label}
    return grip | {"grab_marks": list(grab_marks), **style}


def turn_handle(
    control: Control,
    x: NumbersOrTrack,
    y: NumbersOrTrack,
    length: NumbersOrTrack,
    angle: NumbersOrTrack,
    colour: str,
    label: str = "",
    grab_marks: Sequence[Mark] = (),
    **style: Any,
) -> Mark:
    """Return a grip on a control at the tip of a hand: it is turned about (x, y), by as many turns as the hand goes.

    ``grab_marks``: the marks of the whole hand, which is grabbed wherever it is touched.
    """
    return drag_handle(control, x, y, colour, label, grab_marks, length=length, angle=angle, **style)


def sketch_input(sketch: Sketch, x: NumbersOrTrack, y: NumbersOrTrack, colour: str) -> Mark:
    """Return a place to draw the curve that one expects; then the true curve through (x, y) and the gap are shown.

    By mouse or finger; by keys, left and right choose a column, up and down its height. A button shows the curve once
    every column has a height. The scene that has this mark names the same ``sketch``.
    """
    return {"kind": "sketch_input", "sketch": vars(sketch), "x": x, "y": y, "colour": colour}


def after_reveal(mark: Mark) -> Mark:
    """Return a mark that is hidden until the drawn curve is compared with the true one."""
    return mark | {"after_reveal": True}
