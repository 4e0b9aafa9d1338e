"""A film on a Streamlit page: its scene is sent once, its values are told beside it, and a moved control comes back.

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
from ui.page.store import Store
from ui.served.controls import Controls
from ui.text.words import Words

PACKAGE = "rope-lab"


def register() -> None:
    """Make the film's files known to the server that runs.

    Streamlit knows files of a component from a manifest in an installed package alone, and the app is not installed;
    inline scripts, which need none, are blobs, which the hall's security policy blocks.
    """
    manager = get_bidi_component_manager()
    if manager.get_metadata(f"{PACKAGE}.film") is None:
        components = [ComponentConfig(name, "assets") for name in ("film", "told")]
        manager.register_from_manifest(ComponentManifest(PACKAGE, "1", components), Path(package.__file__).parent)


def component(name: str, element: str) -> Any:
    """Return what mounts a component with the film's script: the film itself, or what is told beside it."""
    given = {"html": f'<{element} class="{name}"></{element}>', "js": "streamlit.js", "css": "film.css"}
    return st.components.v2.component(f"{PACKAGE}.{name}", **given, isolate_styles=False)


def show(t: Words, film: Film, store: Store, controls: Controls, play: Mapping[str, Any] | None) -> None:
    """Draw a film and put what was moved into the store; a value that is refused goes back in the picture.

    ``play``: a control that the film is to drag by itself, to a value, in seconds; once for each step of a lesson.
    """
    name = f"{t.page}.{film.id}"
    sent, key = film.packed(t), f"film.{name}"
    fields = [store.fields[control.name] for control in film.scene.controls]
    values = film.scene.values(lambda field: store.get(store.fields[field]))

    def moved() -> None:
        at = (st.session_state[key].get("moved") or {}).get("at", {})
        for field in fields:
            if field.name not in controls.hidden and at.get(field.name, values[field.name]) != values[field.name]:
                store.try_put(field, at[field.name])

    register()
    with st.container(key=f"film-{film.id}"):
        component("film", "div")(key=key, data=sent.data, on_moved_change=moved)
        count = (st.session_state.get(key, {}).get("moved") or {}).get("count", 0)
        component("told", "span")(
            key=f"{key}.told",
            data={
                "film": name,
                "at": values,
                "count": count,
                "fixed": [field.name for field in fields if field.name in controls.hidden],
                "bare": controls.folded,
                "play": play,
            },
        )
