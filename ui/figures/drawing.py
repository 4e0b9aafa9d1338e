"""What a figure function returns, a drawing or a film, and those that all sessions share."""

from __future__ import annotations

import ast
import csv
import io
import json
import textwrap
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from html import escape
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache, cached

from rope_core.version import LICENCE, __version__
from ui.figures.plot import Figure, figure_as_json_values
from ui.film.scene import Scene
from ui.text.escape import escaped_csv_cell
from ui.text.words import PageTexts

TableColumns = Mapping[str, Any]


@dataclass(frozen=True)
class Drawing:
    """A figure with its finding, its numbers and the Python that reproduces them.

    ``figure``: Plotly's JSON as a dict; ``finding``: the one sentence that the figure shows, in the page's language,
    which is its alternative text as well; ``table``: builds the numbers as named columns, on demand; ``recipe``:
    Python lines that reproduce them; ``wide``: it needs more width than a phone has and is moved sideways there.
    """

    id: str
    figure: Figure
    finding: str
    table: Callable[[], TableColumns]
    recipe: str
    wide: bool = False


@dataclass(frozen=True)
class Film:
    """A picture that moves under the hand, with its numbers and the Python that reproduces them.

    ``scene``: what moves, and the finding, which moves with it; ``table`` and ``recipe`` as a drawing has them, but
    that a recipe may name the film's controls (`recipe_at`);
    ``data``: the scene packed for the browser, under the page's name; a film that is kept has it in place of panels;
    ``gap``: the sentence about a curve drawn by hand, from the height drawn at each column of the scene's sketch.
    """

    id: str
    scene: Scene
    table: Callable[[], TableColumns]
    recipe: str
    data: bytes = field(default=b"", repr=False)
    gap: Callable[[npt.NDArray[np.float64]], str] | None = None

    def recipe_at(self, values: Mapping[str, float]) -> str:
        """Return the recipe after a line that sets the controls that it names and does not set itself."""
        lines = textwrap.dedent(self.recipe).strip()
        names = [node for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        free = {node.id for node in names} - own
        given = {each.name: values[each.name] for each in self.scene.all_controls if each.name in free}
        numbers = (repr(int(value) if value == int(value) else value) for value in given.values())
        return f"{', '.join(given)} = {', '.join(numbers)}\n{lines}" if given else lines

    def packed(self, t: PageTexts) -> Film:
        """Return the film of a page ready to be sent, its panels as bytes."""
        data = self.data or self.scene.to_bytes(f"{t.page}.{self.id}", t)
        return replace(self, scene=replace(self.scene, panels=()), data=data)

    @property
    def size(self) -> int:
        """Return how much is sent, bytes."""
        return len(self.data)


@dataclass(frozen=True)
class StoredDrawing:
    """A drawing as it is kept: its figure as one text in place of hundreds of objects.

    Streamlit has all objects searched for garbage after every rerun, so that each one kept costs every visitor: with
    256 drawings kept as dicts a search took 114 ms on two busy cores, with texts 0.2 ms.
    """

    drawing: Drawing
    text: str

    @property
    def size(self) -> int:
        """Return how much is kept, letters."""
        return len(self.text)


KEPT: LRUCache[tuple[Any, ...], StoredDrawing | Film] = LRUCache(24_000_000, lambda stored: stored.size)
"""The last drawings of all sessions, 24 MB of text at most."""
DRAWN = threading.Condition()
"""Who asks for a drawing that another session has begun waits for that one."""


PictureT = TypeVar("PictureT", Drawing, Film)


def cached_figure(draw: Callable[..., PictureT]) -> Callable[..., PictureT]:
    """Make a figure function that depends on its arguments alone share its last drawings among all sessions.

    In a hall hundreds look at one view. A type counts as well as a value: 1 and 1.0 may be written differently.
    """

    def key(*given: Any) -> tuple[Any, ...]:
        return (draw, *((type(value), hashable_form(value)) for value in given))

    @cached(KEPT, key, condition=DRAWN)
    def stored(*given: Any) -> StoredDrawing | Film:
        drawing = draw(*given)
        if isinstance(drawing, Film):
            return replace(drawing.packed(given[-1]), table=lambda: draw(*given).table())
        return StoredDrawing(
            replace(drawing, figure={}, table=lambda: draw(*given).table()), figure_to_json(drawing.figure)
        )

    @wraps(draw)
    def recall(*given: Any) -> Any:
        known = stored(*given)
        if isinstance(known, Film):
            return known
        return replace(known.drawing, figure=json.loads(known.text))

    return recall


def figure_to_json(figure: Figure) -> str:
    """Return a figure as JSON text."""
    return json.dumps(figure_as_json_values(figure), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def hashable_form(value: Any) -> Any:
    """Return lists, mappings and arrays as what tells them from others: tuples in their order, an array's bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, hashable_form(item)) for name, item in value.items())
    return tuple(map(hashable_form, value)) if isinstance(value, list | tuple) else value


def table_to_csv(table: TableColumns) -> bytes:
    """Write named columns as CSV, UTF-8 with a byte-order mark (spreadsheets need it); short columns end blank."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table)
    columns = [np.asarray(column).ravel().tolist() for column in table.values()]
    writer.writerows([escaped_csv_cell(value) for value in row] for row in zip_longest(*columns, fillvalue=""))
    return out.getvalue().encode("utf-8-sig")


GROUNDS = ("screen", "light", "dark", "none")
"""What a saved picture may lie on: as on the screen, either theme's paper, or nothing."""


def film_save_buttons_html(film: str, t: PageTexts) -> str:
    """Return what saves a film's frame in view, as HTML; the player hears it, and writes the line about it below."""
    options = "".join(f'<option value="{name}">{escape(t(f"film.ground_{name}"))}</option>' for name in GROUNDS)
    film = escape(film)
    buttons = "".join(
        f'<button type="button" class="film-button" data-film="{film}" data-film-save="{kind}">{escape(text)}</button>'
        for kind, text in ((kind, t("film.save", kind=kind)) for kind in ("SVG", "PNG", "PDF"))
    )
    about = t("film.about", page=t("title"), version=__version__, licence=LICENCE)
    data = f'data-page="{escape(t("title"))}" data-about="{escape(about)}" data-rights="{LICENCE}"'
    return (
        f'<div class="film-saves" {data}>{buttons}'
        f'<label>{escape(t("film.ground"))} <select class="film-button">{options}</select></label></div>'
    )


def heatmap_table(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, names: tuple[str, str, str]) -> TableColumns:
    """Return three columns for a heatmap: one row per cell of z (len(y), len(x))."""
    across, down = np.meshgrid(np.asarray(x), np.asarray(y))
    return {names[0]: across.ravel(), names[1]: down.ravel(), names[2]: np.asarray(z).ravel()}
