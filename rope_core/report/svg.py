"""Curves as SVG text for reports: no library, no script, every curve named at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 400, 64, 230, 14, 44
# Okabe and Ito's colours, then dashed once more, so that eleven lines stay apart.
COLOURS = ("#666666", "#D55E00", "#E69F00", "#56B4E9", "#CC79A7", "#009E73", "#0072B2", "#a40000", "#111111")
LABEL = 15.0


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

    parts = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at_y(tick):.1f}" y2="{at_y(tick):.1f}" stroke="#ddd"/>'
        f'<text x="{LEFT - 6}" y="{at_y(tick):.1f}" text-anchor="end" dominant-baseline="middle">{tick:g}</text>'
        for tick in ticks(10**low, 10**high)
    ]
    step = 2.0 ** math.floor(math.log2(max(right, 4.0) / 3))
    places = sorted(set(xs)) if log_x else [step * part for part in range(1, 7) if step * part <= right * 1.03]
    parts += [
        f'<text x="{at_x(place):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{round(place):,}</text>'
        for place in places
    ]
    if marked_x is not None and left < marked_x < right:
        parts.append(
            f'<line x1="{at_x(marked_x):.1f}" x2="{at_x(marked_x):.1f}" y1="{TOP}" '
            f'y2="{HEIGHT - BOTTOM}" stroke="#888" '
            f'stroke-dasharray="5 5"/>'
        )
    heights = apart([at_y(points[-1][1]) for _, points in drawn], LABEL)
    for (each, points), height in zip(drawn, heights, strict=True):
        shade = COLOURS[each.colour % len(COLOURS)]
        dash = ' stroke-dasharray="7 3"' if each.colour >= len(COLOURS) else ""
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in points)
        end = at_x(points[-1][0])
        parts.append(f'<polyline points="{path}" fill="none" stroke="{shade}" stroke-width="2"{dash}/>')
        parts += bars(each, at_x, at_y, shade)
        parts.append(
            f'<line x1="{end:.1f}" y1="{at_y(points[-1][1]):.1f}" x2="{WIDTH - RIGHT + 8}" y2="{height:.1f}" '
            f'stroke="{shade}" stroke-width="1"/>'
            f'<text x="{WIDTH - RIGHT + 11}" y="{height:.1f}" dominant-baseline="middle" fill="{shade}">'
            f"{escape(each.name)}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'<svg role="img" aria-label="{escape(y_name)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui,sans-serif" font-size="13">{"".join(parts)}'
        f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text></svg>'
    )


def bars(each: ChartCurve, at_x: object, at_y: object, shade: str) -> list[str]:
    """Return the intervals of a curve as upright lines, where it has any."""
    assert callable(at_x) and callable(at_y)
    drawn = []
    for x, low, high in zip(each.x, each.low, each.high, strict=False):
        if math.isfinite(low) and math.isfinite(high) and low > 0:
            # An interval may be as wide as all numbers: it ends at the frame.
            top, bottom = max(at_y(high), TOP), min(at_y(low), HEIGHT - BOTTOM)
            drawn.append(
                f'<line x1="{at_x(x):.1f}" x2="{at_x(x):.1f}" y1="{bottom:.1f}" y2="{top:.1f}" '
                f'stroke="{shade}" stroke-width="1.5"/>'
            )
    return drawn


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two bounds of a logarithmic axis, about five.

    >>> ticks(1.5, 40)
    [2, 5, 10, 20]
    >>> ticks(2.61, 2.9)
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


def apart(heights: Sequence[float], least: float) -> list[float]:
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
