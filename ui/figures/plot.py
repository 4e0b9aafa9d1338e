"""Plotly's JSON as plain dicts: the pure functions that every figure is built with.

A figure is {"data": [traces], "layout": {...}}. Names and values are those of
https://plotly.com/javascript/reference/; numbers may be numpy arrays until
`figure_as_json_values` writes them for the browser.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

PlotlyProps = dict[str, Any]
Figure = dict[str, Any]
Domain = list[float]

HOUSE: PlotlyProps = {
    "margin": {"l": 64, "r": 16, "t": 34, "b": 52},
    "font": {"size": 15},
    "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    "hoverlabel": {"font": {"size": 15}},
}
"""Margins and type sizes of every figure; the legend is above the data."""
LOG: PlotlyProps = {"type": "log"}
POWERS: PlotlyProps = {"type": "log", "exponentformat": "power", "dtick": 1}
WHOLE: list[Domain] = [[0.0, 1.0]]
BREAK, LONGEST_PX = re.compile("(?<=[,，]) ?| (?=[(])|(?=（)|  "), 150
"""Where a curve's name may break, and how long it is when it does."""
AS_IS = frozenset({bool, int, str, type(None)})
# plotly.js' names of numpy's types, whose bytes are in the order of every browser's machine.
TYPED = {"<f8": "f8", "<f4": "f4", "|i1": "i1", "|u1": "u1", "<i2": "i2", "<u2": "u2", "<i4": "i4", "<u4": "u4"}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> PlotlyProps:
    """Return ``base`` with ``over`` set on top, mapping by mapping.

    >>> merged({"font": {"size": 3, "color": "red"}}, {"font": {"size": 4}})
    {'font': {'size': 4, 'color': 'red'}}
    """
    result = dict(base)
    for name, value in over.items():
        old = result.get(name)
        result[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def plotly_figure(data: Iterable[PlotlyProps], *, height: int = 400, **layout: Any) -> Figure:
    """Return a figure in the house style; ``layout`` is Plotly's, set over it."""
    return {"data": list(data), "layout": merged(HOUSE, {"height": height, **layout})}


def plotly_axis(title: str = "", **look: Any) -> PlotlyProps:
    """Return an axis with its title."""
    return {"title": {"text": title}, **look} if title else look


def scatter_trace(x: Any, y: Any, mode: str, name: str = "", **look: Any) -> PlotlyProps:
    """Return points, lines or both; a trace without a name has no entry in the legend."""
    named = {"name": name} if name else {"showlegend": False}
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **named, **look}


def line_trace(
    x: Any, y: Any, colour: str, width: float = 4, name: str = "", dash: str = "solid", mode: str = "lines", **look: Any
) -> PlotlyProps:
    """Return a line; ``mode`` "lines+markers" shows its points as well."""
    stroke = {"color": colour, "width": width} | ({} if dash == "solid" else {"dash": dash})
    return merged(scatter_trace(x, y, mode, name, line=stroke), look)


def dot_trace(x: Any, y: Any, colour: Any, size: Any, name: str = "", **look: Any) -> PlotlyProps:
    """Return points of one colour and size, or of one each; ``look`` may set more of the marker."""
    return merged(scatter_trace(x, y, "markers", name, marker={"color": colour, "size": size}), look)


def bar_trace(x: Any, y: Any, colour: Any, name: str = "", **look: Any) -> PlotlyProps:
    """Return bars; they lie where ``orientation`` is "h"."""
    named = {"name": name} if name else {"showlegend": False}
    return merged({"type": "bar", "x": x, "y": y, "marker": {"color": colour}, **named}, look)


def heatmap_trace(z: Any, scale: Sequence[Any] = (), **look: Any) -> PlotlyProps:
    """Return a coloured grid of z (rows, columns), with a colour scale of its own where one is given."""
    return {"type": "heatmap", "z": z, **({"colorscale": scale} if scale else {}), **look}


def scaled_int8(z: npt.NDArray[Any], limit: float) -> npt.NDArray[np.int8]:
    """Scale [-limit, limit] to -127..127: one byte for each cell, exact enough for colour."""
    return np.rint(np.clip(np.asarray(z) / limit, -1, 1) * 127).astype(np.int8)


def int8_colour_bar(limit: float, title: str = "", parts: int = 4) -> PlotlyProps:
    """Return a colour bar whose ticks read in the quantity's own unit for a heatmap of `scaled_int8`."""
    ticks = np.linspace(-127, 127, parts + 1)
    labels = [f"{tick / 127 * limit:.3g}" for tick in ticks]
    return {"tickvals": ticks.tolist(), "ticktext": labels, "title": {"text": title}, "thickness": 14}


def error_bars(values: Sequence[float], low: Sequence[float], high: Sequence[float], **look: Any) -> PlotlyProps:
    """Return error bars around ``values`` from ``low`` to ``high``, which are on the data's own scale."""
    up = [above - value for value, above in zip(values, high, strict=True)]
    down = [value - below for value, below in zip(values, low, strict=True)]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, **look}


def horizontal_line(
    y: float, colour: str, width: float = 3, dash: str = "solid", panel: int = 1, **look: Any
) -> PlotlyProps:
    """Return a level line across a panel."""
    stroke = {"color": colour, "width": width, "dash": dash}
    return {"type": "line", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": stroke} | _across("x", panel) | look


def vertical_line(
    x: float, colour: str, width: float = 3, dash: str = "solid", panel: int = 1, **look: Any
) -> PlotlyProps:
    """Return an upright line across a panel."""
    stroke = {"color": colour, "width": width, "dash": dash}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": stroke} | _across("y", panel) | look


def horizontal_band(y0: float, y1: float, colour: str, opacity: float, **look: Any) -> PlotlyProps:
    """Return a level band across the first panel."""
    return {"type": "rect", "x0": 0, "x1": 1, "y0": y0, "y1": y1} | _fill(colour, opacity) | _across("x", 1) | look


def vertical_band(x0: float, x1: float, colour: str, opacity: float, **look: Any) -> PlotlyProps:
    """Return an upright band across the first panel."""
    return {"type": "rect", "x0": x0, "x1": x1, "y0": 0, "y1": 1} | _fill(colour, opacity) | _across("y", 1) | look


def _fill(colour: str, opacity: float) -> PlotlyProps:
    return {"fillcolor": colour, "opacity": opacity, "line": {"width": 0}}


def _across(whole: str, panel: int) -> PlotlyProps:
    """Return references to a panel's axes, the one that is crossed from end to end counted in shares of the panel."""
    number = "" if panel == 1 else str(panel)
    return {f"{each}ref": f"{each}{number}" + (" domain" if each == whole else "") for each in "xy"}


def text_annotation(text: str, x: Any, y: Any, **look: Any) -> PlotlyProps:
    """Return words on the figure; ``xref`` and ``yref`` "paper" place them in shares of the plot."""
    return {"text": text, "x": x, "y": y, "showarrow": False, **look}


def spread_heights(heights: Sequence[float], min_distance: float) -> list[float]:
    """Heights moved as little as keeps them in order and ``min_distance`` apart.

    >>> spread_heights([0.0, 0.0, 5.0], 1.0)
    [-0.5, 0.5, 5.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    # Neighbours that would touch stand as one block around their mean.
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while (
            len(blocks) > 1
            and _top(blocks[-2], heights, min_distance) > _bottom(blocks[-1], heights, min_distance) - min_distance
        ):
            last = blocks.pop()
            blocks[-1] += last
    moved = [0.0] * len(heights)
    for block in blocks:
        low = _bottom(block, heights, min_distance)
        for step, index in enumerate(block):
            moved[index] = low + step * min_distance
    return moved


def _bottom(block: Sequence[int], heights: Sequence[float], least: float) -> float:
    return sum(heights[i] for i in block) / len(block) - (len(block) - 1) * least / 2


def _top(block: Sequence[int], heights: Sequence[float], least: float) -> float:
    return _bottom(block, heights, least) + (len(block) - 1) * least


def label_width_px(label: str) -> float:
    """About how many pixels the longest line of a label of the size in use takes, in bold.

    >>> label_width_px("NTK") < label_width_px("不缩放") < label_width_px("dynamic NTK")
    True
    """
    return max(sum(8.2 if letter < "⺀" else 15.5 for letter in line) for line in label.split("<br>"))


def line_end_labels(
    labels: Sequence[str], ends: Sequence[float], shades: Sequence[str], min_distance: float, strong: Sequence[int] = ()
) -> tuple[list[PlotlyProps], list[float], float]:
    """Return curves' names right of the plot near their ends, their heights, and the margin that they need, px.

    ``min_distance``: between names of one line; a long one breaks at its comma or bracket, and all are farther
    apart. ``strong``: which are bold.
    """
    wrapped = [BREAK.sub("<br>", label, count=1) if label_width_px(label) > LONGEST_PX else label for label in labels]
    heights = spread_heights(ends, min_distance * (1.4 if any("<br>" in label for label in wrapped) else 1))
    beside = {"xref": "paper", "xanchor": "left", "xshift": 6, "align": "left"}
    texts = [f"<b>{label}</b>" if k in strong else label for k, label in enumerate(wrapped)]
    looks = zip(texts, heights, shades, strict=True)
    names = [text_annotation(text, 1, y, font={"color": shade, "size": 15}, **beside) for text, y, shade in looks]
    return names, heights, 16 + max(map(label_width_px, wrapped))


def panel_domains(sizes: Sequence[float], gap: float) -> list[Domain]:
    """Share 0 to 1 among panels of these relative sizes with a gap between neighbours.

    >>> panel_domains([1, 3], 0.2)
    [[0.0, 0.2], [0.4, 1.0]]
    """
    room = (1 - gap * (len(sizes) - 1)) / sum(sizes)
    starts = [room * sum(sizes[:k]) + gap * k for k in range(len(sizes))]
    return [[round(start, 12), round(start + room * size, 12)] for start, size in zip(starts, sizes, strict=True)]


def panel_axes(
    axes: Sequence[tuple[PlotlyProps, PlotlyProps]], columns: list[Domain], rows: list[Domain] = WHOLE
) -> PlotlyProps:
    """Return the axes of panels, (x, y) each, left to right and then down; ``rows`` from the bottom up."""
    layout: PlotlyProps = {}
    for k, (x, y) in enumerate(axes):
        row, column = divmod(k, len(columns))
        number = str(k + 1) if k else ""
        layout[f"xaxis{number}"] = {"domain": columns[column], "anchor": f"y{number}", **x}
        layout[f"yaxis{number}"] = {"domain": rows[-1 - row], "anchor": f"x{number}", **y}
    return layout


def panel_titles(texts: Sequence[str], columns: list[Domain], rows: list[Domain] = WHOLE) -> list[PlotlyProps]:
    """Return the titles of panels, each above the middle of its own."""
    place = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "font": {"size": 16}}
    middles = [(columns[k % len(columns)], rows[-1 - k // len(columns)][1]) for k in range(len(texts))]
    return [
        text_annotation(text, (low + high) / 2, top, **place)
        for text, ((low, high), top) in zip(texts, middles, strict=True)
    ]


def trace_in_panel(panel: int, trace: PlotlyProps) -> PlotlyProps:
    """Return the trace on a panel, counted from 1."""
    return trace if panel == 1 else {**trace, "xaxis": f"x{panel}", "yaxis": f"y{panel}"}


def figure_as_json_values(value: Any) -> Any:
    """Return a figure as JSON's own types: arrays as their bytes, what is no number as null.

    Arrays in a list become lists: plotly.js decodes the bytes of a whole value, not those of its rows.

    >>> row = np.array([1, 2], dtype=np.int8)
    >>> figure_as_json_values({"x": row, "y": [1.0, np.nan], "z": [row, row]})
    {'x': {'dtype': 'i1', 'bdata': 'AQI='}, 'y': [1.0, None], 'z': [[1, 2], [1, 2]]}
    """
    if isinstance(value, Mapping):
        return {name: figure_as_json_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        # Lists hold thousands of numbers: those that need nothing cost no call.
        return [
            item
            if type(item) in AS_IS or (type(item) is float and math.isfinite(item))
            else figure_as_json_values(item.tolist() if isinstance(item, np.ndarray) else item)
            for item in value
        ]
    if isinstance(value, np.ndarray):
        return _bytes(value)
    if isinstance(value, np.generic):
        return figure_as_json_values(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _bytes(array: npt.NDArray[Any]) -> Any:
    """Write an array as plotly.js reads typed arrays; as lists where it has no such type."""
    if array.dtype in (np.int64, np.uint64) and array.size and array.min() >= -(2**31) and array.max() < 2**31:
        array = array.astype(np.int32)
    kind = TYPED.get(array.dtype.str)
    if kind is None or not array.size or not array.ndim:
        return figure_as_json_values(array.tolist())
    text = {"dtype": kind, "bdata": b64encode(array.tobytes()).decode("ascii")}
    return text if array.ndim == 1 else text | {"shape": ", ".join(map(str, array.shape))}
