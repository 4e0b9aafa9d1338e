"""A film as a widget of a notebook: the player that the app has, and Python at its side."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import traitlets
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from ui import film as player
from ui.figures.drawing import Film, TableColumns
from ui.film.static_scene import StaticScene
from ui.text.words import PageTexts

HERE = Path(__file__).parent
PLAYER = Path(player.__file__).parent / "assets"


def adapter_script() -> str:
    """Return the adapter as one module that has the player's files in it: a notebook serves no others."""
    files = {path.name: path.read_text("utf-8") for path in sorted(PLAYER.glob("*.js")) if path.stem != "streamlit"}
    return (HERE / "notebook.js").read_text("utf-8").replace("{/* files */}", json.dumps(files))


class FilmWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A film that moves in a notebook.

    Attributes:
        values: where the film's controls are, by name. It follows the hand once that lets go, can be observed, and
            moves the film where it is set; a number is taken to the nearest stop.
        recipe: Python lines that reproduce the film's numbers, with the controls where they are.
    """

    _esm = adapter_script()
    _css = (PLAYER / "film.css").read_text("utf-8") + (HERE / "notebook.css").read_text("utf-8")
    _scene = traitlets.Bytes().tag(sync=True)
    _gap = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    _still = traitlets.Unicode().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)

    def __init__(self, film: Film, t: PageTexts, values: Mapping[str, Any]) -> None:
        packed = film.packed(t)
        self._film, self._words = packed, t
        self._stops = {control.name: control for control in packed.scene.all_controls}
        super().__init__(_scene=packed.data, values=dict(values))
        self._still = uuid4().hex

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, after an output of its picture and sentence for who reads it where nothing runs.

        An export takes a widget before a picture beside it, so that the picture is an output of its own; a widget
        that runs hides it.
        """
        shown = super()._repr_mimebundle_(**kwargs)
        data, metadata = shown if isinstance(shown, tuple) else (shown, {})
        still = StaticScene(self._film.data, self.values).to_standalone_svg()
        picture = {"image/svg+xml": still, "text/plain": self.finding}
        if InteractiveShell.initialized():
            source = f"data:image/svg+xml;base64,{b64encode(still.encode()).decode()}"
            image = f'<img src="{source}" alt="{escape(self.finding)}"><p>{escape(self.finding)}</p>'
            display(picture | {"text/html": f'<div class="rope-lab-{self._still}">{image}</div>'}, raw=True)  # type: ignore[no-untyped-call]
        return {**(data or {}), **picture}, metadata

    @property
    def recipe(self) -> str:
        return self._film.recipe_at(self.values)

    @property
    def finding(self) -> str:
        """Return the sentence below the picture, with the controls where they are."""
        return self._gap or self._film.scene.finding_at(self.values)

    def table(self) -> TableColumns:
        """Return the film's numbers as named columns."""
        return self._film.table()

    @traitlets.validate("values")  # type: ignore[untyped-decorator]
    def _checked(self, proposal: Any) -> dict[str, Any]:
        given, sketch = dict(proposal["value"]), self._film.scene.sketch
        now: dict[str, Any] = dict(self.values)
        for name, value in given.items():
            if sketch and name == sketch.name:
                if not isinstance(value, str):
                    raise traitlets.TraitError(f"values must have a text for {name}, got {value!r}")
                now[name] = value if sketch.drawn_heights(value) is not None else ""
            elif name not in self._stops:
                raise traitlets.TraitError(f"values must be among {', '.join(self._stops)}, got {name!r}")
            elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                raise traitlets.TraitError(f"values must have a number for {name}, got {value!r}")
            else:
                control = self._stops[name]
                now[name] = control.stops[control.nearest_stop_index(value)]
        return now

    @traitlets.observe("values")  # type: ignore[untyped-decorator]
    def _compared(self, change: Any) -> None:
        """Say how far a curve that was drawn by hand is from the true one."""
        sketch = self._film.scene.sketch
        heights = sketch.drawn_heights(change["new"].get(sketch.name)) if sketch else None
        self._gap = self._film.gap(heights) if self._film.gap and heights is not None else None
