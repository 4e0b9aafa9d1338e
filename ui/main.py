"""The frame's script: page config, language, and the list of pages by section."""

import streamlit as st

from ui.frame import language
from ui.menu import ORDER, PAGES
from ui.words import LANGUAGES, Words


def main() -> None:
    """Run the page that the address asks for."""
    t = Words(language(), "labels")
    st.set_page_config(page_title=t("app.title"), page_icon="🧭", layout="wide")
    pages = {
        t(f"section.{section}"): [
            st.Page(PAGES / section / f"{name}.py", title=t(f"page.{name}"), default=name == "home")
            for name in names
            if (PAGES / section / f"{name}.py").exists()
        ]
        for section, names in ORDER.items()
    }
    chosen = st.navigation({section: found for section, found in pages.items() if found}, expanded=True)
    with st.sidebar:
        if st.session_state.get("w.lang") != t.lang:
            st.session_state["w.lang"] = t.lang
        st.segmented_control(
            t("app.language"), LANGUAGES, format_func=LANGUAGES.get, key="w.lang", required=True, on_change=_speak
        )
    chosen.run()


def _speak() -> None:
    st.session_state["lang"] = st.session_state["w.lang"]


main()
