"""The Streamlit script: page config, language, and the list of pages by section."""

import uuid
from functools import partial

import streamlit as st

from ui.page.menu import ORDER, SECTIONS
from ui.present.language import current_language
from ui.present.view import DISPLAY, SESSION, STAGE
from ui.served import film
from ui.served.frame import draw_page
from ui.text.words import PageTexts
from ui.work.jobs import OWNER, TAB, end_abandoned_work


def is_menu_hidden() -> bool:
    """Return whether the menu is out of the way: on the stage, and inside another site's frame."""
    kept = st.session_state.get(SESSION)
    display = st.query_params.get(DISPLAY.name) if kept is None else kept.get(DISPLAY.name)
    return display == STAGE or bool(st.context.is_embedded)


@st.cache_resource(scope="session", on_release=end_abandoned_work, show_spinner=False)
def session_tab_id() -> str:
    """Return a word for this session; Streamlit ends its work some time after its browser has gone."""
    return uuid.uuid4().hex


def main(first: str = "home") -> None:
    """Run the page that the address names; ``first`` is the one at the root."""
    film.register_player()
    st.session_state.setdefault(TAB, session_tab_id())
    st.session_state.setdefault(OWNER, st.context.ip_address or "here")
    t = PageTexts(current_language(), "labels")
    st.set_page_config(page_title=t("app.title"), page_icon="🧭", layout="wide")
    pages: dict[str, st.Page] = {}
    for name in SECTIONS:
        run = partial(draw_page, name, pages)
        pages[name] = st.Page(run, title=t.page_name(name), url_path=name, default=name == first)
    menu = {
        t(f"section.{section}"): [pages[name] for name in names if name in pages] for section, names in ORDER.items()
    }
    shown = {section: links for section, links in menu.items() if links}
    st.navigation(shown, position="hidden" if is_menu_hidden() else "sidebar", expanded=True).run()


if __name__ == "__main__":
    main()
