"""What a figure function returns, and the house style that all of them share."""

from __future__ import annotations

import csv
import functools
import io
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache, cached

from ui.figures import plain as go
from ui.figures.colours import AMOUNT as AMOUNT
from ui.figures.colours import BLUE as BLUE
from ui.figures.colours import COLOURS as COLOURS
from ui.figures.colours import GREEN as GREEN
from ui.figures.colours import GREY as GREY
from ui.figures.colours import LINE as LINE
from ui.figures.colours import ORANGE as ORANGE
from ui.figures.colours import PURPLE as PURPLE
from ui.figures.colours import RED as RED
from ui.figures.colours import SIGNED as SIGNED
from ui.figures.colours import SKY as SKY
from ui.figures.colours import YELLOW as YELLOW
from ui.figures.colours import on as on
from ui.figures.colours import wash as wash
from ui.text.escape import cell

Table = Mapping[str, npt.ArrayLike]


class Animated(go.Figure):
    """A figure whose frames are plain dicts.

    Plotly validates each frame like a figure of its own, which costs more than all the rest of an animation.
    """

    def animate(self, frames: Iterable[Mapping[str, object]]) -> Animated:
        """Take frames as {"name", "data", "traces", "layout"} mappings."""
        self._plain_frames = [dict(frame) for frame in frames]
        return self

    def to_dict(self) -> dict[str, Any]:
        """The figure with its frames, as Streamlit serialises it."""
        return {**super().to_dict(), "frames": getattr(self, "_plain_frames", [])}


@dataclass(frozen=True)
class Drawing:
    """A figure with what stands around it.

    ``finding``: the one sentence that the figure shows, in the page's language; also its alternative text.
    ``table``: builds the numbers as named columns, on demand; ``recipe``: Python lines that reproduce them;
    ``wide``: it needs more width than a phone has and is moved sideways there.
    """

    id: str
    figure: go.Figure
    finding: str
    table: Callable[[], Table]
    recipe: str
    wide: bool = False

    @cached_property
    def ready(self) -> go.Ready:
        """The figure in the form in which it is sent, made once however often it is sent."""
        return self.figure.ready()


class Shared(Drawing):
    """A drawing kept for all sessions: the text that is sent; its figure and numbers are made again when asked for."""

    def __init__(self, made: Drawing, again: Callable[[], Drawing]) -> None:
        for name in ("id", "finding", "recipe", "wide", "ready"):
            object.__setattr__(self, name, getattr(made, name))
        object.__setattr__(self, "table", lambda: again().table())
        object.__setattr__(self, "again", again)

    @property
    def figure(self) -> go.Figure:  # type: ignore[override]
        """The figure before it was written."""
        return self.again().figure  # type: ignore[attr-defined,no-any-return]


MOST_KEPT = 24_000_000
"""Characters of the texts that are kept."""
KEPT: LRUCache[tuple[Any, ...], Shared] = LRUCache(MOST_KEPT, lambda one: len(one.ready.text))
ONE_AT_A_TIME = threading.Lock()


def kept(draw: Callable[..., Drawing]) -> Callable[..., Drawing]:
    """Make a figure function that depends on its arguments alone share its last drawings among all sessions.

    In a hall hundreds look at one view. A type counts as well as a value: 1 and 1.0 may be written differently.
    """

    def key(*given: Any) -> tuple[Any, ...]:
        return (draw, *((type(one), frozen(one)) for one in given))

    @cached(KEPT, key, ONE_AT_A_TIME)
    @functools.wraps(draw)
    def find(*given: Any) -> Shared:
        return Shared(draw(*given), functools.partial(draw, *given))

    return find


def frozen(value: Any) -> Any:
    """A list or a mapping as the tuple of what it holds, in its order."""
    if isinstance(value, Mapping):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def as_csv(table: Table) -> bytes:
    """Write named columns as CSV, UTF-8 with a byte-order mark (spreadsheets need it); short columns end blank."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table)
    columns = [np.asarray(column).ravel().tolist() for column in table.values()]
    writer.writerows([cell(value) for value in row] for row in zip_longest(*columns, fillvalue=""))
    return out.getvalue().encode("utf-8-sig")


def grid(
    x: Sequence[float] | npt.NDArray, y: Sequence[float] | npt.NDArray, z: npt.NDArray, names: tuple[str, str, str]
) -> Table:  # type: ignore[type-arg]
    """Three columns for a heatmap: one row per cell of z (len(y), len(x))."""
    across, down = np.meshgrid(np.asarray(x), np.asarray(y))
    return {names[0]: across.ravel(), names[1]: down.ravel(), names[2]: np.asarray(z).ravel()}


def styled(figure: go.Figure, *, height: int = 400, x: str = "", y: str = "", **layout: object) -> go.Figure:
    """Give a figure the house's margins, type sizes and axis titles; the legend stands above the data."""
    figure.update_layout(
        height=height,
        margin={"l": 64, "r": 16, "t": 34, "b": 52},
        font={"size": 15},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        hoverlabel={"font": {"size": 15}},
    )
    if x:
        figure.update_xaxes(title_text=x)
    if y:
        figure.update_yaxes(title_text=y)
    return figure.update_layout(**layout) if layout else figure


def as_bytes(z: npt.NDArray, limit: float) -> npt.NDArray[np.int8]:  # type: ignore[type-arg]
    """Scale [-limit, limit] to -127..127: one byte per cell, exact enough for colour."""
    return np.rint(np.clip(np.asarray(z) / limit, -1, 1) * 127).astype(np.int8)


def byte_bar(limit: float, title: str = "", parts: int = 4) -> dict[str, object]:
    """A colour bar whose ticks read in the quantity's own unit for a heatmap of ``as_bytes`` values."""
    ticks = np.linspace(-127, 127, parts + 1)
    labels = [f"{tick / 127 * limit:.3g}" for tick in ticks]
    return {"tickvals": ticks.tolist(), "ticktext": labels, "title": {"text": title}, "thickness": 14}
