"""The language in force, and the switch."""

from __future__ import annotations

import streamlit as st

from rope_core.languages import LANGUAGES, language_of_locale
from ui.text.words import PageTexts


def current_language() -> str:
    """Return the language in force: chosen, else the link's, else the browser's."""
    if "lang" not in st.session_state:
        wanted = st.query_params.get("lang", "")
        st.session_state["lang"] = wanted if wanted in LANGUAGES else language_of_locale(st.context.locale)
    return str(st.session_state["lang"])


def draw_language_switch() -> None:
    """Draw the languages as buttons."""
    t, key = PageTexts(current_language(), "labels"), "w.lang"
    if st.session_state.get(key) != t.lang:
        st.session_state[key] = t.lang
    st.segmented_control(
        t("app.language"),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=key,
        required=True,
        on_change=_speak,
        label_visibility="collapsed",
    )


def _speak() -> None:
    # Where a run is cut short before the switch is drawn, Streamlit reports it as changed to nothing.
    if (wanted := st.session_state.get("w.lang")) in LANGUAGES:
        st.session_state["lang"] = wanted
