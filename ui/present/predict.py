"""Predict first: a question is answered before the figure moves; in a room the class's answers are counted."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from ui.figures.tally import finding, tally
from ui.page.charts import sendable
from ui.present import choices
from ui.present.lessons import Predict, Step
from ui.present.steps import Prediction
from ui.present.tally import Count, Tally, Unavailable
from ui.present.view import LEAD, View
from ui.text.escape import plain
from ui.text.words import Words
from ui.work.measured import VISITOR

T = TypeVar("T")
TOKEN, TROUBLE = "predict.token", "predict.trouble"
BOARD_SECONDS, WAIT_SECONDS = 2.0, 4.0
LOOK = """<style>
[class*="st-key-predict-choices"] button {height: 100%; min-height: 3rem; white-space: normal}
[class*="st-key-predict-choices"] button p {font-size: 1.1rem; white-space: normal}
/* On the stage the figure that leads fills what is left of the screen. */
.stMainBlockContainer:has([class*="st-key-predict-choices"]) {--asked: 6.2rem}
.stMainBlockContainer:has(.st-key-predict-verdict) {--asked: 2.6rem}
</style>"""


class Question(Prediction):
    """One question in one session of the app, and in its room."""

    def __init__(self, view: View, step: Step, predict: Predict, lesson_id: str) -> None:
        super().__init__(st.session_state, step, predict, lesson_id)
        self.t, self.view, self.stage, self.room = Words(view.lang, "predict"), view, view.stage, view.room

    def choose(self, choice: int) -> None:
        """Take a choice; where nobody waits for a lecturer the answer is out at once."""
        self.take(choice)
        st.session_state.pop(TROUBLE, None)
        if not self.room or not self.attempt(lambda file: self._count_me(file, choice)):
            self.see()

    def _count_me(self, file: Tally, choice: int) -> bool:
        """Count the choice; whether a lecturer is there who will show the answer."""
        counted = file.answer(self.room, self.id, token(), choice)
        if not counted:
            st.session_state[TROUBLE] = "late"
        return counted and self.count(file).hosted

    def lead(self, file: Tally) -> bool:
        """Lead the room with the key that this lecturer's address holds, else with a new one, which it then holds."""
        key = self.view.lead or secrets.token_hex(16)
        leads = file.host(self.room, key, token())
        if leads:
            self.view.put(LEAD, key)
        return leads

    def count(self, file: Tally) -> Count:
        """Return how the room has voted."""
        return file.count(self.room, self.id, len(self.predict.choices))

    def attempt(self, call: Callable[[Tally], T]) -> T | None:
        """Return what a call of the tally answers; None, with a note, where there is no tally for now."""
        try:
            return call(Tally())
        except Unavailable as error:
            st.session_state[TROUBLE] = f"why.{error.reason}"
            return None

    def say_trouble(self) -> None:
        """One sentence about what kept an answer from being counted."""
        trouble = st.session_state.pop(TROUBLE, None)
        if trouble:
            st.caption(self.t(trouble) if trouble == "late" else self.t("without", reason=self.t(trouble)))

    def verdict(self) -> None:
        """Whether the choice was right, and what is."""
        st.markdown(choices.verdict(self.t, self.texts, self.chosen, self.predict.answer))

    def buttons(self) -> None:
        """Draw the choices, none preselected."""
        choices.buttons(f"predict-choices-{self.id}", self.texts, self.chosen, self.choose)


def token() -> str:
    """Return a word by which this browser's vote is known; nothing else is."""
    known = st.session_state.get(VISITOR) or secrets.token_hex(16)
    return str(st.session_state.setdefault(TOKEN, known))


def ask(view: View, step: Step, lesson_id: str) -> bool:
    """Draw the choices of a step's question; True once its answer is out in this session and the figure may move.

    The question itself is the step's ``sentence``. Call it while the script draws the page, not in a fragment: an
    answer reruns the whole page.
    """
    if step.predict is None:
        return True
    question = Question(view, step, step.predict, lesson_id)
    st.html(LOOK)
    if question.seen:
        settled(question)
        return True
    if question.stage and question.room:
        st.fragment(board, run_every=BOARD_SECONDS)(question)
        return False
    question.buttons()
    if question.room and question.chosen is not None:
        st.fragment(wait, run_every=WAIT_SECONDS)(question)
    else:
        st.caption(question.t("how_stage" if question.stage else "how"))
    return False


def settled(question: Question) -> None:
    """Draw the verdict, and in a room how the class voted."""
    with st.container(horizontal=True, vertical_alignment="center", key="predict-verdict"):
        question.verdict()
        if not question.room:
            again = f"predict.again.{question.id}"
            st.button(question.t("again"), key=again, type="tertiary", on_click=question.forget)
    question.say_trouble()
    if question.room and question.stage:
        count = question.attempt(question.count)
        if count:
            st.markdown(f"▸ {finding(count.votes, question.predict.answer, question.t)}")
        question.say_trouble()


def wait(question: Question) -> None:
    """Draw a student's line while the answer is not out, anew every few seconds."""
    t = question.t
    count = question.attempt(question.count)
    question.say_trouble()
    if count is not None and count.revealed:
        question.see()
        st.rerun()
    st.markdown(t("counted", room=plain(question.room)))
    if st.button(t("now"), key=f"predict.now.{question.id}", type="tertiary"):
        question.see()
        st.rerun()


def board(question: Question) -> None:
    """Draw the lecturer's screen while the answer is not out: the class's count, and the button for the answer."""
    t, room = question.t, question.room
    leads = question.attempt(question.lead)
    count = question.attempt(question.count) if leads is not None else None
    if count is not None and count.revealed:
        question.see()
        st.rerun()
    texts = question.predict.choices
    votes = count.votes if count else (0,) * len(texts)
    drawing = tally(votes, texts, None, t)
    key, bare = f"predict.fig.{question.id}", {"displayModeBar": False}
    st.plotly_chart(sendable(drawing.figure), key=key, alt=drawing.finding, config=bare)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            t("reveal" if leads else "reveal_here"), key=f"predict.reveal.{question.id}", type="primary"
        )
        st.markdown(t("room", room=plain(room)) + (f" ▸ {drawing.finding}" if count else ""))
    if leads is False:
        st.caption(t("led", room=plain(room)))
    question.say_trouble()
    if pressed:
        question.attempt(lambda file: bool(leads) and file.reveal(room, question.id, question.view.lead))
        question.see()
        st.rerun()
