"""Figures as plain dicts, with the names of plotly.graph_objects that the figure functions use.

Plotly's own objects check every property each time it is set, which cost two thirds of a slider move. These take
properties as they are; ``figure.data`` and ``figure.layout`` are Plotly's objects, made and checked when they are
asked for, so that a test which looks at a figure finds a property that Plotly does not know.
"""

from __future__ import annotations

import copy
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import orjson
import plotly.graph_objects as go
import plotly.io as pio
from _plotly_utils.utils import to_typed_array_spec
from plotly.colors import get_colorscale
from plotly.subplots import make_subplots as plotly_subplots

# Names that hold an underscore of their own; in all others it stands between a property and one inside it.
WHOLE = {"error_x", "error_y", "paper_bgcolor", "plot_bgcolor"}
# Plotly sends the arrays of these as numbers in words.
SPELLED_OUT = {"geojson", "layer", "layers", "range"}
# numpy's types, as bytes in the order of every browser's machine, and plotly.js' names for them.
TYPED = {"<f8": "f8", "<f4": "f4", "|i1": "i1", "|u1": "u1", "<i2": "i2", "<u2": "u2", "<i4": "i4", "<u4": "u4"}
Grid = tuple[tuple[tuple[str, str], ...], ...]


class Trace(dict[str, Any]):
    """One trace: its type and its properties."""

    kind = "scatter"

    def __init__(self, **properties: Any) -> None:
        super().__init__(type=self.kind)
        merge(self, properties)


class Scatter(Trace):
    """Points and lines."""


class Bar(Trace):
    """Bars."""

    kind = "bar"


class Heatmap(Trace):
    """A coloured grid."""

    kind = "heatmap"


class Frame(dict[str, Any]):
    """One frame of an animation."""


class Figure(go.Figure):  # type: ignore[misc]
    """Traces, a layout and frames."""

    def __init__(
        self,
        data: Mapping[str, Any] | Iterable[Mapping[str, Any]] = (),
        layout: Mapping[str, Any] | None = None,
        frames: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Take traces, or a whole figure as {"data", "layout", "frames"}."""
        if isinstance(data, Mapping) and "type" not in data:
            data, layout, frames = data.get("data", ()), data.get("layout", layout), data.get("frames", frames)
        self._traces = [merge({}, trace) for trace in ([data] if isinstance(data, Mapping) else data)]
        self._plain = merge({}, layout or {})
        self._frames = list(frames)
        self._grid: Grid = ()

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Figure({len(self._traces)} traces)"

    @property
    def traces(self) -> list[dict[str, Any]]:
        """The traces as they were given."""
        return self._traces

    @property
    def data(self) -> tuple[Any, ...]:
        """The traces as Plotly's objects, checked; raises ValueError for what Plotly does not know."""
        return tuple(self._checked().data)

    @property
    def layout(self) -> Any:
        """The layout as Plotly's object, checked; raises ValueError for what Plotly does not know."""
        return self._checked().layout

    @property
    def frames(self) -> tuple[Any, ...]:
        """The frames as Plotly's objects, checked."""
        return tuple(self._checked().frames)

    @frames.setter
    def frames(self, frames: Iterable[Frame]) -> None:
        self._frames = list(frames)

    def _checked(self) -> go.Figure:
        return go.Figure(data=copy.deepcopy(self._traces), layout=copy.deepcopy(self._plain), frames=self._frames)

    def to_dict(self) -> dict[str, Any]:
        """The figure as Streamlit serialises it, with the template in force."""
        found: dict[str, Any] = {"data": [sent(trace) for trace in self._traces]}
        found["layout"] = {"template": template(str(pio.templates.default)), **sent(self._plain)}
        if self._frames:
            found["frames"] = [sent(frame) for frame in self._frames]
        return found

    def ready(self) -> Ready:
        """The figure as the text that is sent, written once however often it is."""
        return Ready(pio.to_json(self, validate=False), self._plain.get("height"))

    def add_trace(self, trace: Mapping[str, Any], row: int | None = None, col: int | None = None) -> Figure:
        """Add a trace, to a panel where there are several."""
        if row is not None and col is not None:
            x, y = self._grid[row - 1][col - 1]
            trace = {**trace, "xaxis": x, "yaxis": y}
        self._traces.append(merge({}, trace))
        return self

    def update_layout(self, given: Mapping[str, Any] | None = None, **properties: Any) -> Figure:
        """Set the layout's properties; those inside others leave their neighbours as they are."""
        merge(self._plain, {**(given or {}), **properties})
        return self

    def update_xaxes(self, row: int | None = None, col: int | None = None, **properties: Any) -> Figure:
        """Set properties of all x axes, or of those of a row, a column or a panel."""
        return self._axes("x", row, col, properties)

    def update_yaxes(self, row: int | None = None, col: int | None = None, **properties: Any) -> Figure:
        """Set properties of all y axes, or of those of a row, a column or a panel."""
        return self._axes("y", row, col, properties)

    def _axes(self, which: str, row: int | None, col: int | None, properties: Mapping[str, Any]) -> Figure:
        names = {name for name in self._plain if re.fullmatch(f"{which}axis\\d*", name)} | {f"{which}axis"}
        if row is not None or col is not None:
            names = {
                f"{which}axis{panel['xy'.index(which)][1:]}"
                for at, line in enumerate(self._grid, 1)
                for across, panel in enumerate(line, 1)
                if row in (None, at) and col in (None, across)
            }
        for name in names:
            merge(self._plain.setdefault(name, {}), properties)
        return self

    def update_traces(self, **properties: Any) -> Figure:
        """Set properties of all traces."""
        for trace in self._traces:
            merge(trace, properties)
        return self

    def update_annotations(self, **properties: Any) -> Figure:
        """Set properties of all annotations."""
        for note in self._plain.get("annotations", ()):
            merge(note, properties)
        return self

    def add_annotation(self, row: int | None = None, col: int | None = None, **properties: Any) -> Figure:
        """Write on the figure, or on one of its panels."""
        return self._add("annotations", row, col, properties)

    def add_shape(self, row: int | None = None, col: int | None = None, **properties: Any) -> Figure:
        """Draw on the figure, or on one of its panels."""
        return self._add("shapes", row, col, properties)

    def _add(self, which: str, row: int | None, col: int | None, properties: Mapping[str, Any]) -> Figure:
        found = merge({}, properties)
        if row is not None and col is not None:
            x, y = self._grid[row - 1][col - 1]
            found = {"xref": x, "yref": y} | found
        self._plain.setdefault(which, []).append(found)
        return self

    def add_vline(self, x: float, **look: Any) -> Figure:
        """A line across every panel that holds a trace, upright."""
        return self._across("y", look, type="line", x0=x, x1=x, y0=0, y1=1)

    def add_hline(self, y: float, **look: Any) -> Figure:
        """A line across every panel that holds a trace, level."""
        return self._across("x", look, type="line", x0=0, x1=1, y0=y, y1=y)

    def add_vrect(self, x0: float, x1: float, **look: Any) -> Figure:
        """An upright band across every panel that holds a trace."""
        return self._across("y", look, type="rect", x0=x0, x1=x1, y0=0, y1=1)

    def add_hrect(self, y0: float, y1: float, **look: Any) -> Figure:
        """A level band across every panel that holds a trace."""
        return self._across("x", look, type="rect", x0=0, x1=1, y0=y0, y1=y1)

    def _across(self, whole: str, look: Mapping[str, Any], **shape: Any) -> Figure:
        panels = [panel for line in self._grid for panel in line] or [("x", "y")]
        filled = {(trace.get("xaxis", "x"), trace.get("yaxis", "y")) for trace in self._traces}
        for x, y in panels:
            if not self._grid or (x, y) in filled:
                refs = {"xref": f"{x} domain" if whole == "x" else x, "yref": f"{y} domain" if whole == "y" else y}
                self._add("shapes", None, None, {**shape, **refs, **look})
        return self


class Text(dict[str, Any]):
    """A figure's JSON already written; the mapping holds the height alone, which Streamlit asks for."""

    def __init__(self, text: str, height: float | None) -> None:
        super().__init__(layout={"height": height})
        self.text = text

    def to_plotly_json(self) -> orjson.Fragment:
        """The text, which Plotly's writer takes as it is."""
        return orjson.Fragment(self.text)


class Ready(Figure):
    """A figure that is only sent: one text in place of thousands of objects.

    Streamlit has all objects searched for garbage after every rerun, so that each one kept costs every visitor.
    """

    def __init__(self, text: str, height: float | None) -> None:
        super().__init__()
        self.text, self._sent = text, Text(text, height)

    @cached_property
    def mark(self) -> int:
        """A number that tells this figure from any that looks otherwise."""
        return hash(self.text)

    def to_dict(self) -> Text:
        """The figure as Streamlit serialises it."""
        return self._sent


def merge(into: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Set properties, a_b=1 as a={"b": 1}; None leaves a property out; a title may be its text alone.

    >>> merge({"font": {"size": 3}}, {"font_color": "red", "title": "t", "x": None})
    {'font': {'size': 3, 'color': 'red'}, 'title': {'text': 't'}}
    """
    for name, value in properties.items():
        first, _, inner = (name, "", "") if name in WHOLE else name.partition("_")
        if inner:
            value = {inner: value}
        elif first == "title" and isinstance(value, str):
            value = {"text": value}
        if isinstance(value, Mapping):
            old = into.get(first)
            into[first] = merge(old if isinstance(old, dict) else {}, value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            into[first] = items(into.get(first, []), value)
        elif value is None:
            into.pop(first, None)
        else:
            into[first] = value
    return into


def items(old: Sequence[dict[str, Any]], given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A list of records set over another, record by record."""
    longest = max(len(old), len(given))
    return [merge(old[at] if at < len(old) else {}, given[at] if at < len(given) else {}) for at in range(longest)]


def sent(value: Any, name: str = "") -> Any:
    """A property as plotly.js reads it: arrays of numbers as their bytes, a colour scale's name as its colours."""
    if isinstance(value, Mapping):
        return {key: each if key in SPELLED_OUT else sent(each, key) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return packed(value)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
        return [sent(each) for each in value]
    if name == "colorscale" and isinstance(value, str):
        return colours_of(value)
    return value


def packed(array: np.ndarray[Any, Any]) -> Any:
    """Numbers as plotly.js reads typed arrays; what it has no type for, as Plotly sends it."""
    kind = TYPED.get(array.dtype.str)
    if kind is None or not array.size or not array.ndim:
        return to_typed_array_spec(array)
    found = {"dtype": kind, "bdata": b64encode(np.ascontiguousarray(array)).decode("ascii")}
    return found if array.ndim == 1 else found | {"shape": str(array.shape)[1:-1]}


@lru_cache(maxsize=32)
def colours_of(scale: str) -> list[list[Any]]:
    """The colours of a named scale, whose names in plotly.js mean others, at equal steps from 0 to 1."""
    colours = [colour for _, colour in get_colorscale(scale)]
    return [[at / (len(colours) - 1), colour] for at, colour in enumerate(colours)]


@lru_cache(maxsize=4)
def template(name: str) -> dict[str, Any]:
    """A template of Plotly's registry; Streamlit registers its own as the default."""
    return dict(pio.templates[name].to_plotly_json())


def make_subplots(rows: int = 1, cols: int = 1, figure: Figure | None = None, **options: Any) -> Figure:
    """A figure of rows x cols panels, as plotly.subplots.make_subplots lays them out."""
    made = Figure() if figure is None else figure
    fixed = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    layout, made._grid = laid_out(rows, cols, **fixed)
    merge(made._plain, copy.deepcopy(layout))
    return made


@lru_cache(maxsize=128)
def laid_out(rows: int, cols: int, **options: Any) -> tuple[dict[str, Any], Grid]:
    """Plotly's layout of rows x cols panels, and the axes of each."""
    made = plotly_subplots(rows, cols, **options)
    refs = [[cell[0].trace_kwargs for cell in row] for row in made._grid_ref]
    layout = {name: value for name, value in made.layout.to_plotly_json().items() if name != "template"}
    return layout, tuple(tuple((ref["xaxis"], ref["yaxis"]) for ref in row) for row in refs)
