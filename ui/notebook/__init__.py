"""The third frame: a page's films and figures in a notebook, for any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui.figures.drawing import Drawing, Film
from ui.notebook.drawn import FIRST_FILM, ConfigOrRope, draw_page_until

if TYPE_CHECKING:
    from ui.notebook.widget import FilmWidget


def film(
    page: str,
    config: ConfigOrRope | None = None,
    *,
    name: str = FIRST_FILM,
    lang: str = "en",
    layer_type: str | None = None,
    **values: Any,
) -> FilmWidget:
    """Return a film of a page as a widget, drawn for a model.

    Args:
        page: as in the app's address: "clock", "rotation", "frequencies", "attention", "config" and so on.
        config: of the model: a dict, a path to its config.json or folder, or an HfRope; None for the page's own.
        name: which film of the page; without it the first. `names` says which there are.
        lang: one of rope_core.languages.LANGUAGES.
        layer_type: which of the config's layers, where they differ.
        values: of the page's controls, by the names that the app's address has: ``factor=8``.

    Raises:
        ValueError: on an argument that is none of these; ConfigError where the config cannot be read.
    """
    from ui.notebook.widget import FilmWidget

    reader = draw_page_until(page, config, lang, layer_type, values, name)
    shown = reader.shown.get(name) if name != FIRST_FILM else next(iter(_films(reader.shown).values()), None)
    if not isinstance(shown, Film):
        raise ValueError(_none(page, name, _films(reader.shown)))
    fields = reader.store.fields
    at = shown.scene.control_values(lambda control: reader.store.get(fields[control]))
    return FilmWidget(shown, reader.t, at)


def figure(
    page: str,
    name: str,
    config: ConfigOrRope | None = None,
    *,
    lang: str = "en",
    layer_type: str | None = None,
    **values: Any,
) -> Any:
    """Return a figure of a page as Plotly's, drawn for a model; the arguments are those of `film`."""
    from ui.notebook.plotly_figure import NotebookFigure

    reader = draw_page_until(page, config, lang, layer_type, values, name)
    drawing = reader.shown.get(name)
    if not isinstance(drawing, Drawing):
        figures = {each: shown for each, shown in reader.shown.items() if isinstance(shown, Drawing)}
        raise ValueError(_none(page, name, figures))
    return NotebookFigure(drawing.figure)


def names(page: str, config: ConfigOrRope | None = None, *, layer_type: str | None = None) -> dict[str, str]:
    """Return what a page draws for a model, in its order: "film" or "figure" by name."""
    shown = draw_page_until(page, config, "en", layer_type, {}).shown
    return {name: "film" if isinstance(each, Film) else "figure" for name, each in shown.items()}


def _films(shown: dict[str, Drawing | Film]) -> dict[str, Film]:
    return {name: each for name, each in shown.items() if isinstance(each, Film)}


def _none(page: str, name: str, there: dict[str, Any]) -> str:
    if not there:
        return f"page must be one that draws such a picture for this model, got {page!r}"
    return f"name must be one of {', '.join(there)} on the page {page} for this model, got {name!r}"
