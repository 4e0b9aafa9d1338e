"""The address bar: read when a visitor arrives, goes back or forth; written when a value has moved."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.page.store import PageValues
from ui.present.view import PageView


def is_history_navigation() -> bool:
    """Return whether the browser's back or forward button brought this run; Streamlit tells its own runtime alone."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


class PageAddress:
    """The address of one page with one session's values."""

    def __init__(self, store: PageValues, view: PageView) -> None:
        self.store, self.view = store, view

    def take_link_values(self, *, pressed: bool) -> None:
        """Take the link's values on the first run, after each page change and when the visitor goes back or forth.

        Every other run comes with the address that the browser knew when a control was moved; where moves follow each
        other faster than the network, that is an earlier one than was published, and nobody chose it. ``pressed``: a
        step of a talk brought the visitor here.
        """
        query = st.query_params.to_dict()
        moved = st.session_state.get("page") != self.store.page
        st.session_state["page"] = self.store.page
        returned = not moved and not pressed and is_history_navigation()
        if moved or returned:
            st.session_state["published"] = query
        if returned:
            self.store.reset()
            self.view.explicit_values.clear()
        fresh = query if moved or returned else {}
        if fresh:
            self.store.read_query(query)
            self.store.notes.extend(self.view.read_query(query, self.store.fields))
        self.view.apply_reached_step_state(self.store, fresh, moved=moved)

    def write_address_bar(self) -> None:
        """Put the explicit values into the address bar."""
        query = self.as_url_parameters()
        if not query == st.query_params.to_dict() == st.session_state.get("published"):
            st.query_params.from_dict(query)
        st.session_state["published"] = query

    def as_url_parameters(self) -> dict[str, str]:
        """Return the explicit values, the language and the view as URL parameters."""
        return self.store.as_url_parameters() | {"lang": self.view.lang} | self.view.as_url_parameters()

    def permalink(self, view_parameters: Mapping[str, str] | None = None) -> str:
        """Return the address, as the browser reaches it, of these values and of the view's ``view_parameters``."""
        address = urlsplit(st.context.url or "http://localhost:8501")
        query = urlencode(self.store.as_url_parameters() | {"lang": self.view.lang} | dict(view_parameters or {}))
        return f"{address.scheme}://{address.netloc}{address.path or '/'}?{query}"
