"""What a learning page asks of its reader, drawn by Streamlit: symbols, folds, the way on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rope_core.grade import starter
from ui.figures.drawing import saves
from ui.page.controls import Place
from ui.page.menu import way
from ui.page.symbols import legend
from ui.present.stage import Stage
from ui.present.view import View
from ui.served import film
from ui.served.content import Content


def anchor(section: str) -> str:
    """Return a place of this name that a link finds, as HTML."""
    return f'<span id="{escape(section)}"></span>'


class Learning(Content):
    """The parts of a page that teach; each method is described in ui.page.frame.Frame."""

    view: View
    stage: Stage | None
    pages: Mapping[str, st.Page]
    folds: DeltaGenerator | None = None
    counted: int | None = None
    """How many tasks of the page the line below it says are done; None before it is drawn."""

    @property
    def staged(self) -> bool:
        return self.stage is not None

    def symbols(self) -> None:
        if not self.stage:
            st.html(legend(self.t))

    def saves(self, chart: str) -> None:
        st.html(saves(chart, self.t))

    def grade(self, function: str) -> None:
        self.write(self.t("grade.served"))
        self.code(starter(function), "python")
        self.code(f"rope grade mine.py --only {function} --lang {self.t.lang}", "bash")

    def below(self) -> Place:
        if self.folds is None and not self.stage:
            st.header(self.t("frame.deeper"), anchor="deeper")
            self.folds = st.container(key="folds")
        return self.folds or nullcontext()

    @contextmanager
    def unfolding(self, section: str, title: str) -> Iterator[bool]:
        key, open_now = f"fold.{self.name}.{section}", section in self.view.opened
        if st.session_state.get(key) != open_now:
            st.session_state[key] = open_now
        with st.expander(title, key=key, on_change=lambda: self.view.unfold(section, on=st.session_state[key])) as box:
            # The fold's own name for links: the heading that it replaces had one.
            st.html(anchor(section))
            yield bool(box.open)

    def onward(self) -> None:
        """How far the visitor is on the path, and the link to its next page."""
        if way(self.name, self.session) and not self.stage:
            st.fragment(self._onward)()

    def _onward(self) -> None:
        at = way(self.name, self.session)
        if at is None:
            return
        counts = {"number": at.number, "total": at.total, "done": at.done, "of": at.of}
        with st.container(key="onward"):
            line = self.t("frame.way", **counts) if at.of else self.t("frame.way_step", **counts)
            if at.here_of:
                line += self.t("frame.way_here", here=at.here, here_of=at.here_of)
            st.progress(at.number / at.total, text=line)
            film.remember(self.session)
            self.counted = at.here
            if at.following and at.following in self.pages:
                following = self.t(f"page.{at.following}")
                st.page_link(
                    self.pages[at.following],
                    label=f"**{self.t('frame.next', page=following)}**",
                    icon=":material/arrow_forward:",
                )
