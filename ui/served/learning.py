"""What a learning page asks of its reader, drawn by Streamlit: questions, challenges, folds, the way on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from html import escape
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rope_core.grade import starter
from ui.page import tasks
from ui.page.menu import way
from ui.page.state import Field
from ui.page.store import Store
from ui.page.symbols import legend
from ui.page.tasks import Challenge, Question
from ui.present import choices
from ui.present.stage import Stage
from ui.present.view import View
from ui.served import film
from ui.served.content import Content
from ui.served.controls import Controls
from ui.text.words import Words
from ui.work.session import Session


def anchor(section: str) -> str:
    """Return a place of this name that a link finds, as HTML."""
    return f'<span id="{escape(section)}"></span>'


class Learning(Content):
    """The parts of a page that teach; each method is described in ui.page.frame.Frame."""

    name: str
    t: Words
    store: Store
    session: Session
    view: View
    controls: Controls
    stage: Stage | None
    pages: Mapping[str, st.Page]
    folds: DeltaGenerator | None = None
    counted: int | None = None
    """How many tasks of the page the line below it says are done; None before it is drawn."""

    def live(self, part: Callable[..., None], *given: Any, shared: bool = True, every: float | None = None) -> None:
        raise NotImplementedError

    def prose(self, section: str) -> None:
        raise NotImplementedError

    def predict(self, question: Question) -> bool:
        field, answered = question.field, bool(self.store.get(question.field))
        if self.stage or self.controls.hides(field):
            return True
        words = Words(self.t.lang, "predict")
        with st.container(border=True, key=f"ask-{question.name}"):
            st.markdown(f"**{words('predict')}** {self.t(f'ask.{question.name}.question')}")
            if answered:
                self._answer(question, words)
            else:
                self._choices(f"choices-{question.name}", f"ask.{question.name}", field, partial(self._take, question))
        return answered

    def _take(self, question: Question, choice: str) -> None:
        tasks.answer(question, self.store, choice)

    def _choices(self, key: str, words: str, field: Field, take: Callable[[str], None]) -> None:
        """Draw the choices of a field that is empty at first as buttons."""
        letters, value = field.choices[1:], self.store.get(field)
        chosen = letters.index(value) if value else None
        texts = [self.t(f"{words}.{letter}") for letter in letters]
        choices.buttons(key, texts, chosen, lambda at: take(letters[at]))

    def _answer(self, question: Question, words: Words) -> None:
        """Write whether the choice was right and why, and offer to ask again."""
        key, letters = f"ask.{question.name}", question.choices
        texts = [self.t(f"{key}.{letter}") for letter in letters]
        chosen = letters.index(self.store.get(question.field))
        verdict = choices.verdict(words, texts, chosen, letters.index(question.right))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{verdict} {self.t(f'{key}.why')}")
            again = partial(self._take, question, "")
            st.button(words("again"), key=f"again.{question.name}", type="tertiary", on_click=again)

    def symbols(self) -> None:
        if not self.stage:
            st.html(legend(self.t))

    def challenge(self, challenge: Challenge, *given: Any) -> None:
        if self.stage:
            return
        words, key = Words(self.t.lang, "predict"), f"challenge.{challenge.name}"
        with st.container(border=True, key=f"challenge-{challenge.name}"):
            st.markdown(f":material/flag: **{words('challenge')}** {self.t(f'{key}.task')}")
            numbers = [field for field in challenge.fields if field.kind != "choice"]
            if numbers:
                self.controls.beside(*numbers, draw=self.controls.number)
            for field in challenge.fields:
                if field.kind == "choice" and not self.controls.hides(field):
                    self._choices(f"choices-{field.name}", key, field, partial(self.store.try_put, field))
            result = tasks.verdict(challenge, self.store, self.session, given)
            if result:
                (st.success if result.passed else st.warning)(tasks.feedback(challenge, result, words, self.t))

    def grade(self, function: str) -> None:
        self.write(self.t("grade.served"))
        self.code(starter(function), "python")
        self.code(f"rope grade mine.py --only {function} --lang {self.t.lang}", "bash")

    def deeper(self, section: str, *parts: Callable[[Any], None], every: float | None = None) -> None:
        if self.folds is None and not self.stage:
            st.header(self.t("frame.deeper"), anchor="deeper")
            self.folds = st.container(key="folds")

        def fold(page: Learning) -> None:
            page.folded(section, *parts)

        fold.__name__ = section
        with self.folds or nullcontext():
            self.live(fold, every=every)

    def folded(self, section: str, *parts: Callable[[Any], None]) -> None:
        if self.stage:
            for part in parts:
                part(self)
            return
        title, body = self.t.prose(section)
        key, open_now = f"fold.{self.name}.{section}", section in self.view.opened
        if st.session_state.get(key) != open_now:
            st.session_state[key] = open_now
        with st.expander(title, key=key, on_change=lambda: self.view.unfold(section, on=st.session_state[key])) as box:
            # The fold's own name for links: the heading that it replaces had one.
            st.html(anchor(section))
            st.markdown(body)
            if box.open:
                for part in parts:
                    part(self)

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
