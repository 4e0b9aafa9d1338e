"""What a page draws for a model of one's own: its films and figures, without a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.hf.read import read_config
from rope_core.languages import LANGUAGES
from ui.book.frame import BookFrame
from ui.book.nodes import HtmlNode
from ui.figures import catalogue as models
from ui.figures.drawing import Drawing, Film
from ui.page import configs
from ui.page.declaration import page_declaration
from ui.page.fields import CUSTOM, DIM, LAYER, MODEL, SEQ_LEN
from ui.page.menu import SECTIONS
from ui.page.state import Field, RefusedValue, checked_value, url_value_text
from ui.page.store import OWN
from ui.text.words import PageTexts, number_text
from ui.work.session import SessionState

ConfigOrRope = Mapping[str, Any] | str | Path | rc.HfRope
FIRST_FILM = "film"
CONFIG_PAGE = "config"


class DrawingFound(BaseException):
    """The page has drawn what is looked for."""


class NotebookFrame(BookFrame):
    """A page that keeps what it draws, folded sections included, and stops at what is ``wanted``."""

    def __init__(self, name: str, lang: str, session: SessionState, query: Mapping[str, str], wanted: str = "") -> None:
        self.shown: dict[str, Drawing | Film] = {}
        self.wanted = wanted
        super().__init__(name, lang, session, "", query)

    def draw(self) -> HtmlNode:
        try:
            return super().draw()
        except DrawingFound:
            return self.places.root

    def show(self, drawing: Drawing | Film, *code: Callable[..., Any], then: object = None, ask: object = None) -> None:
        self.shown[drawing.id] = drawing
        if drawing.id == self.wanted or (self.wanted == FIRST_FILM and isinstance(drawing, Film)):
            raise DrawingFound

    def draw_folded_section_below(
        self, section: str, *parts: Callable[[Any], None], every_seconds: float | None = None
    ) -> None:
        self.draw_folded_section(section, *parts)

    def draw_folded_section(self, section: str, *parts: Callable[[Any], None]) -> None:
        for part in parts:
            self.attempt(partial(part, self))


def draw_page_until(
    page: str,
    config: ConfigOrRope | None,
    lang: str,
    layer_type: str | None,
    values: Mapping[str, Any],
    wanted_drawing: str = "",
) -> NotebookFrame:
    """Draw a page for a model until ``wanted_drawing`` is drawn, else all of it.

    Args:
        page: its name, as in the app's address.
        config: of the model: a dict, a path to a JSON file or its folder, or what rc.from_hf gave; None for the
            page's own defaults.
        lang: one of rope_core.languages.LANGUAGES.
        layer_type: which of the config's layers, where they differ.
        values: of the page's controls, by the names that the app's address has.
        wanted: the id of a figure or film, or "film" for the first film.

    Raises:
        ValueError: where an argument is none of these; ConfigError where the config cannot be read.
    """
    if page not in SECTIONS:
        raise ValueError(f"page must be one of {', '.join(sorted(SECTIONS))}, got {page!r}")
    if lang not in LANGUAGES:
        raise ValueError(f"lang must be one of {', '.join(LANGUAGES)}, got {lang!r}")
    declared = {field.name: field for field in page_declaration(page).fields}
    session: dict[Any, Any] = {"values": {}}
    query = _query(page, declared, values, PageTexts(lang, "labels"))
    if config is not None:
        for name in sorted({MODEL.name, LAYER.name} & set(query) if DIM.name in declared else ()):
            raise ValueError(f"{name} must be left out where config says the model, got {values[name]!r}")
        session |= _model(page, declared, config, layer_type)
        if isinstance(config, rc.HfRope) and config.seq_len and SEQ_LEN.name in declared:
            query.setdefault(SEQ_LEN.name, url_value_text(config.seq_len))
        if page == CONFIG_PAGE and layer_type:
            query["layer"] = layer_type
    reader = NotebookFrame(page, lang, session, query, wanted_drawing)
    for key, slots in reader.store.notes:
        raise ValueError(reader.filled_label(key, slots))
    return reader


def _query(page: str, declared: Mapping[str, Field], values: Mapping[str, Any], t: PageTexts) -> dict[str, str]:
    for name, value in values.items():
        if name not in declared:
            raise ValueError(f"values must be among {', '.join(sorted(declared))} on the page {page}, got {name!r}")
        try:
            checked_value(declared[name], value)
        except (RefusedValue, TypeError, ValueError) as error:
            bounds = {"low": number_text(declared[name].low), "high": number_text(declared[name].high)}
            rule = t(error.rule, **bounds) if isinstance(error, RefusedValue) else t("rule.number")
            raise ValueError(f"{name} must be {rule}, got {value!r}") from None
    return {name: "auto" if value is None else url_value_text(value) for name, value in values.items()}


def _model(page: str, declared: Mapping[str, Field], config: ConfigOrRope, layer_type: str | None) -> dict[Any, Any]:
    """Return what a session holds for a model in the place of one of the catalogue."""
    if page == CONFIG_PAGE:
        if isinstance(config, rc.HfRope):
            raise ValueError("config must be a dict or a path on the page config, which checks all of its fields")
        name = config if isinstance(config, str) else ""
        return {configs.TEXT: configs.NamedConfig("upload", Path(name).name, read_config(config))}
    if DIM.name not in declared:
        raise ValueError(f"config must be None on the page {page}, whose pictures are of no one model")
    rope = config if isinstance(config, rc.HfRope) else rc.from_hf(config, layer_type)
    if rope.nope:
        raise ValueError(f"config must name a layer type that rotates, got {rope.layer_type!r}")
    own = models.rope_setting(rope)
    given = rc.spectrum(rc.Request(own.rope, own.scheme, own.params, rope.seq_len))
    if not np.allclose(given.inv_freq, rope.inv_freq, rtol=1e-12, atol=0.0):
        raise ValueError("config must be a rotation whose frequencies its scheme gives, got others")
    return {OWN: own, "values": {MODEL.name: CUSTOM}}
