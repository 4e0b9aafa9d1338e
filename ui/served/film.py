"""A film on a Streamlit page: its scene is sent once, its values go beside it, and a moved control comes back.

The scene's bytes stay the same while values move, so that Streamlit's message cache does not send them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from ui import film as package
from ui.figures.drawing import Film
from ui.page import tasks
from ui.page.controls import FilmHand, PageControls
from ui.text.words import PageTexts
from ui.work.session import SessionState

PACKAGE = "rope-lab"
NAME = f"{PACKAGE}.film"
ADAPTER = "streamlit.js"
DONE = "film.done"
"""The key of the component that keeps which tasks are done."""


def register_player() -> None:
    """Have the player's files served.

    Streamlit knows files of a component from a manifest in an installed package alone, and the app is not installed;
    inline scripts, which need none, are blobs, which the hall's security policy blocks.
    """
    manager = get_bidi_component_manager()
    if manager.get_metadata(NAME) is None:
        manifest = ComponentManifest(PACKAGE, "1", [ComponentConfig("film", "assets")])
        manager.register_from_manifest(manifest, Path(package.__file__).parent)


def film_component() -> Any:
    """Return what mounts a film, and beside it, with JSON in place of bytes, its values."""
    files = {"html": '<div class="film-host"></div>', "js": ADAPTER, "css": "film.css"}
    return st.components.v2.component(NAME, **files, isolate_styles=False)


def sync_done_tasks_with_browser(session: SessionState) -> None:
    """Have the browser keep which tasks are done, and take those that it knows of."""

    def known() -> None:
        tasks.remember_done_tasks(session, (st.session_state.get(DONE) or {}).get("done"))

    film_component()(
        key=DONE, data={"film": "", "at": {}, "done": tasks.done_task_names(session)}, on_done_change=known
    )


def _moved(key: str) -> dict[str, Any]:
    """Return what the player says of its controls and how often they moved; what no player says counts as nothing."""
    moved = st.session_state.get(key, {}).get("moved")
    given = moved if isinstance(moved, Mapping) else {}
    at, count = given.get("at"), given.get("count")
    values = at.items() if isinstance(at, Mapping) else ()
    plain = {name: value for name, value in values if isinstance(value, str | int | float)}
    return {"at": plain, "count": count if isinstance(count, int) else 0}


def show_film(
    t: PageTexts, film: Film, controls: PageControls, play: Mapping[str, Any] | None, *, lesson: bool = False
) -> str:
    """Draw a film, return the sentence below its picture; ``play``, ``lesson`` as for `FilmHand.player_settings`."""
    name, hand = f"{t.page}.{film.id}", FilmHand(film, controls)
    key, mount = f"film.{name}", film_component()
    with st.container(key=f"film-{film.id}"):
        mount(key=key, data=film.packed(t).data, on_moved_change=lambda: hand.store_control_values(_moved(key)["at"]))
        mount(key=f"{key}.told", data=hand.player_settings(name, _moved(key)["count"], play, lesson=lesson))
    return hand.finding
