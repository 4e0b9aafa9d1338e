"""The frame's script: page config, language, and the list of pages by section."""

import streamlit as st

from ui.page.language import language
from ui.page.menu import FILES, ORDER
from ui.present.view import bare
from ui.text.words import Words


def main() -> None:
    """Run the page that the address asks for."""
    t = Words(language(), "labels")
    st.set_page_config(page_title=t("app.title"), page_icon="🧭", layout="wide")
    pages = {
        t(f"section.{section}"): [
            st.Page(FILES[name], title=t(f"page.{name}"), default=name == "home") for name in names if name in FILES
        ]
        for section, names in ORDER.items()
    }
    shown = {section: found for section, found in pages.items() if found}
    chosen = st.navigation(shown, position="hidden" if bare() else "sidebar", expanded=True)
    chosen.run()


main()
