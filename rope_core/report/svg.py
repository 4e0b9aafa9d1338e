"""SVG as text, without a library: an element, and curves for reports, each named at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 400, 64, 230, 14, 44
# Okabe and Ito's colours, then dashed once more, so that eleven lines stay apart.
COLOURS = ("#666666", "#D55E00", "#E69F00", "#56B4E9", "#CC79A7", "#009E73", "#0072B2", "#a40000", "#111111")
LABEL = 15.0


def svg_number(value: float) -> str:
    """Return a number of pixels with two decimals at most.

    >>> svg_number(3.0), svg_number(2.126)
    ('3', '2.13')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def svg_element(name: str, inside: str = "", **attributes: Any) -> str:
    """Return an element; an attribute is written with - for _, escaped, and left out where it is empty.

    >>> svg_element("line", x1=0.5, stroke_width=2, class_="", title="a<b")
    '<line x1="0.5" stroke-width="2" title="a&lt;b"/>'
    """
    named = {key.strip("_").replace("_", "-"): value for key, value in attributes.items() if value not in ("", None)}
    texts = {key: svg_number(value) if isinstance(value, float) else escape(str(value)) for key, value in named.items()}
    written = "".join(f' {key}="{text}"' for key, text in texts.items())
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


@dataclass(frozen=True)
class ChartCurve:
    """One curve: its name, its colour's number, its points, and the ends of their intervals (NaN for none)."""

    name: str
    colour: int
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def svg_line_chart(
    curves: Sequence[ChartCurve], x_name: str, y_name: str, marked_x: float | None = None, log_x: bool = False
) -> str:
    """Return curves on a logarithmic axis as SVG text.

    Args:
        series: the curves; values that are not positive or not finite are left out.
        x_name: of the horizontal axis.
        label: of the whole, for those who hear it.
        mark: where a dashed line is drawn.
        log_x: whether the horizontal axis is logarithmic too.
    """
    drawn = [
        (each, [(x, y) for x, y in zip(each.x, each.y, strict=True) if math.isfinite(y) and y > 0]) for each in curves
    ]
    drawn = [(each, points) for each, points in drawn if points]
    if not drawn:
        return ""
    xs, ys = zip(*(point for _, points in drawn for point in points), strict=True)
    low, high = math.log10(min(ys)), math.log10(max(ys))
    low, high = low - 0.03 * max(high - low, 0.05), high + 0.03 * max(high - low, 0.05)
    left, right = (min(xs), max(xs)) if not log_x else (math.log10(min(xs)), math.log10(max(xs)))

    def at_x(value: float) -> float:
        place = math.log10(value) if log_x else value
        return LEFT + (WIDTH - LEFT - RIGHT) * (place - left) / max(right - left, 1e-12)

    def at_y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - low) / (high - low)

    def upright(x: float, y1: float, y2: float, **look: Any) -> str:
        return svg_element("line", x1=at_x(x), x2=at_x(x), y1=y1, y2=y2, **look)

    end: dict[str, Any] = {"text_anchor": "end", "dominant_baseline": "middle"}
    parts = [
        svg_element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at_y(tick), y2=at_y(tick), stroke="#ddd")
        + svg_element("text", f"{tick:g}", x=LEFT - 6, y=at_y(tick), **end)
        for tick in log_axis_ticks(10**low, 10**high)
    ]
    step = 2.0 ** math.floor(math.log2(max(right, 4.0) / 3))
    places = sorted(set(xs)) if log_x else [step * part for part in range(1, 7) if step * part <= right * 1.03]
    parts += [
        svg_element("text", f"{round(place):,}", x=at_x(place), y=HEIGHT - BOTTOM + 18, text_anchor="middle")
        for place in places
    ]
    if marked_x is not None and left < marked_x < right:
        parts.append(upright(marked_x, TOP, HEIGHT - BOTTOM, stroke="#888", stroke_dasharray="5 5"))
    heights = separated_heights([at_y(points[-1][1]) for _, points in drawn], LABEL)
    for (each, points), height in zip(drawn, heights, strict=True):
        shade = COLOURS[each.colour % len(COLOURS)]
        dash = "7 3" if each.colour >= len(COLOURS) else ""
        path = " ".join(f"{svg_number(at_x(x))},{svg_number(at_y(y))}" for x, y in points)
        parts.append(
            svg_element("polyline", points=path, fill="none", stroke=shade, stroke_width=2, stroke_dasharray=dash)
        )
        for x, least, most in zip(each.x, each.low, each.high, strict=False):
            if math.isfinite(least) and math.isfinite(most) and least > 0:
                # An interval may be as wide as all numbers: it ends at the frame.
                low_y, high_y = min(at_y(least), HEIGHT - BOTTOM), max(at_y(most), TOP)
                parts.append(upright(x, low_y, high_y, stroke=shade, stroke_width=1.5))
        last_x, last_y = points[-1]
        ends = {"x1": at_x(last_x), "y1": at_y(last_y), "x2": WIDTH - RIGHT + 8, "y2": height}
        parts.append(svg_element("line", "", stroke=shade, stroke_width=1, **ends))
        name = escape(each.name)
        parts.append(svg_element("text", name, x=WIDTH - RIGHT + 11, y=height, dominant_baseline="middle", fill=shade))
    below = (LEFT + WIDTH - RIGHT) // 2
    parts.append(svg_element("text", escape(x_name), x=below, y=HEIGHT - 8, text_anchor="middle"))
    whole: dict[str, Any] = {"role": "img", "aria_label": y_name, "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    whole |= {"xmlns": "http://www.w3.org/2000/svg", "font_family": "system-ui,sans-serif", "font_size": 13}
    return svg_element("svg", "".join(parts), **whole)


def log_axis_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two bounds of a logarithmic axis, about five.

    >>> log_axis_ticks(1.5, 40)
    [2, 5, 10, 20]
    >>> log_axis_ticks(2.61, 2.9)
    [2.7, 2.8, 2.9]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        rounded = [step * 10**k for k in decades for step in steps if low <= step * 10**k <= high]
        if len(rounded) >= 3:
            return rounded
    unit: float = 10.0 ** math.floor(math.log10((high - low) / 2))
    unit *= 1.0 if (high - low) / unit < 6 else 2.0
    marks = range(math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9) + 1)
    return [round(unit * k, 10) for k in marks]


def separated_heights(heights: Sequence[float], least: float) -> list[float]:
    """Return heights moved down or up until neighbours are ``least`` apart, in their order and within the picture."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    moved = list(heights)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + least)
    lowest: float = HEIGHT - BOTTOM
    for index in reversed(order):
        moved[index] = min(moved[index], lowest)
        lowest = moved[index] - least
    return moved
