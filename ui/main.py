"""The Streamlit script: page config, language, and the list of pages by section."""

from functools import partial

import streamlit as st

from ui.page.menu import ORDER, SECTIONS
from ui.present import operator
from ui.present.language import language
from ui.present.view import DISPLAY, SESSION, STAGE
from ui.present.visitor import identify
from ui.served import film
from ui.served.frame import draw
from ui.text.words import Words


def bare() -> bool:
    """Return whether the menu is out of the way: on the stage, and inside another site's frame."""
    kept = st.session_state.get(SESSION)
    display = st.query_params.get(DISPLAY.name) if kept is None else kept.get(DISPLAY.name)
    return display == STAGE or bool(st.context.is_embedded)


def main(first: str = "home") -> None:
    """Run the page that the address names; ``first`` is the one at the root."""
    film.register()
    identify(st.session_state)
    t = Words(language(), "labels")
    st.set_page_config(page_title=t("app.title"), page_icon="🧭", layout="wide")
    pages: dict[str, st.Page] = {}
    for name in SECTIONS:
        run = partial(draw, name, pages)
        pages[name] = st.Page(run, title=t(f"page.{name}"), url_path=name, default=name == first)
    menu = {
        t(f"section.{section}"): [pages[name] for name in names if name in pages] for section, names in ORDER.items()
    }
    shown = {section: links for section, links in menu.items() if links}
    if operator.there():
        title = Words(language(), operator.PAGE)("title")
        own = st.Page(operator.draw, title=title, url_path=operator.PAGE, visibility="hidden")
        next(iter(shown.values())).append(own)
    st.navigation(shown, position="hidden" if bare() else "sidebar", expanded=True).run()


if __name__ == "__main__":
    main()
