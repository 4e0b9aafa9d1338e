"""Predict first: a question is answered before the figure moves; on the stage of a room the class answers on phones."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import streamlit as st

from ui.figures.tally import finding
from ui.page.tasks import judged
from ui.present import choices
from ui.present.lessons import Predict, Step
from ui.present.steps import Prediction
from ui.present.tally import Count, Tally, Unavailable
from ui.present.view import LEAD, View
from ui.text.escape import plain
from ui.text.words import Words
from ui.work.jobs import VISITOR

T = TypeVar("T")
TOKEN, TROUBLE, REVEAL = "predict.token", "predict.trouble", "stage-reveal"
BOARD_SECONDS = 2.0
LOOK = """<style>
[class*="st-key-predict-choices"] button {height: 100%; min-height: 3rem; white-space: normal}
[class*="st-key-predict-choices"] button p {font-size: 1.1rem; white-space: normal}
/* On the stage the figure that leads fills what is left of the screen. */
.stMainBlockContainer:has(.st-key-stage-line) [class*="st-key-predict-choices"] button p
  {font-size: 1.5rem; line-height: 1.25}
.stMainBlockContainer:has([class*="st-key-predict-choices"]) {--asked: 8.6rem; --times: 1.2}
.stMainBlockContainer:has(.st-key-predict-verdict) {--asked: 2.6rem}
</style>"""


class Question(Prediction):
    """One question in one session of the app, and in its room."""

    def __init__(self, view: View, step: Step, predict: Predict, lesson_id: str) -> None:
        super().__init__(st.session_state, step, predict, lesson_id)
        self.t, self.view, self.stage, self.room = Words(view.lang, "predict"), view, view.stage, view.room

    def choose(self, choice: int) -> None:
        """Take a choice, and put the answer out."""
        self.take(choice)
        self.reveal()

    def reveal(self) -> None:
        """Put the answer out here, and on the stage of a room for the whole class, where this screen leads it."""
        st.session_state.pop(TROUBLE, None)
        if self.voting:
            self.attempt(lambda file: self.lead(file) and file.reveal(self.room, self.id, self.view.lead, token()))
        self.see()

    @property
    def voting(self) -> bool:
        """Whether a class answers on its phones."""
        return bool(self.room and self.stage)

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
            st.caption(self.t("without", reason=self.t(trouble)))

    def verdict(self) -> None:
        """Whether the choice was right, and what is."""
        icon = "check" if self.chosen == self.predict.answer else "lightbulb"
        st.markdown(f":material/{icon}: **{judged(self.t, self.texts, self.chosen, self.predict.answer)}**")

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
    question.buttons()
    if question.voting:
        st.fragment(board, run_every=BOARD_SECONDS)(question)
    elif question.stage:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(question.t("reveal_here"), key=REVEAL, on_click=question.reveal)
            st.caption(question.t("how_stage"))
    else:
        st.caption(question.t("how"))
    return False


def settled(question: Question) -> None:
    """Draw the verdict, and in a room how the class voted."""
    with st.container(horizontal=True, vertical_alignment="center", key="predict-verdict"):
        question.verdict()
        if not question.voting:
            again = f"predict.again.{question.id}"
            st.button(question.t("again"), key=again, type="tertiary", on_click=question.forget)
    question.say_trouble()
    if question.voting:
        count = question.attempt(question.count)
        if count:
            st.markdown(f"▸ {finding(count.votes, question.predict.answer, question.t)}")
        question.say_trouble()


def board(question: Question) -> None:
    """Draw how many have answered, not what: a count that is seen moves those who have not; and the way to show it."""
    t, room = question.t, question.room
    leads = question.attempt(question.lead)
    count = question.attempt(question.count) if leads is not None else None
    if count is not None and count.revealed:
        question.see()
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(t("reveal" if leads else "reveal_here"), key=REVEAL, type="primary"):
            question.reveal()
            st.rerun()
        st.markdown(t("room", room=plain(room)) + (f" ▸ {t('answers', count=sum(count.votes))}" if count else ""))
    if leads is False:
        st.caption(t("led", room=plain(room)))
    question.say_trouble()


def share(view: View, say: str, step: Step | None, lesson_id: str) -> None:
    """Have the phones of the room see this step: its question and choices, its answer once that is out, or a sentence.

    Phones show nothing that is beside the question here, which could answer it.
    """
    content: dict[str, object] = {"lang": view.lang, "say": say}
    if step and step.predict:
        question = Question(view, step, step.predict, lesson_id)
        content |= {"id": question.id, "question": step.predict.question, "choices": list(step.predict.choices)}
        content |= {"answer": step.predict.answer} if question.seen else {"say": ""}
    text = json.dumps(content, ensure_ascii=False)
    with suppress(Unavailable):
        key = view.lead or secrets.token_hex(16)
        if Tally().show(view.room, key, token(), text):
            view.put(LEAD, key)
