"""Predict first: a question is answered before the figure moves."""

from __future__ import annotations

import streamlit as st

from ui.page.tasks import choice_feedback
from ui.present import choices
from ui.present.lessons import LessonQuestion, LessonStep
from ui.present.steps import PredictionState
from ui.present.view import PageView
from ui.text.words import PageTexts

REVEAL = "stage-reveal"
LOOK = """<style>
[class*="st-key-predict-choices"] button {height: 100%; min-height: 3rem; white-space: normal}
[class*="st-key-predict-choices"] button p {font-size: 1.1rem; white-space: normal}
/* On the stage the figure that leads fills what is left of the screen. */
.stMainBlockContainer:has(.st-key-stage-line) [class*="st-key-predict-choices"] button p
  {font-size: 1.5rem; line-height: 1.25}
.stMainBlockContainer:has([class*="st-key-predict-choices"]) {--asked: 8.6rem; --times: 1.2}
.stMainBlockContainer:has(.st-key-predict-verdict) {--asked: 2.6rem}
</style>"""


class ServedPrediction(PredictionState):
    """One question in one session of the app."""

    def __init__(self, view: PageView, step: LessonStep, predict: LessonQuestion, lesson_id: str) -> None:
        super().__init__(st.session_state, step, predict, lesson_id)
        self.t, self.stage = PageTexts(view.lang, "predict"), view.is_on_stage

    def choose(self, choice: int) -> None:
        """Take a choice, and put the answer out."""
        self.keep_choice(choice)
        self.reveal_answer()


def ask_question(view: PageView, step: LessonStep, lesson_id: str) -> bool:
    """Draw the choices of a step's question; True once its answer is out in this session and the figure may move.

    The question itself is the step's ``sentence``. Call it while the script draws the page, not in a fragment: an
    answer reruns the whole page.
    """
    if step.predict is None:
        return True
    question = ServedPrediction(view, step, step.predict, lesson_id)
    st.html(LOOK)
    if question.is_answer_seen:
        draw_answer_feedback(question)
        return True
    choices.draw_choice_buttons(
        f"predict-choices-{question.id}", question.choice_texts, question.chosen, question.choose
    )
    if question.stage:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(question.t("reveal_here"), key=REVEAL, on_click=question.reveal_answer)
            st.caption(question.t("how_stage"))
    else:
        st.caption(question.t("how"))
    return False


def draw_answer_feedback(question: ServedPrediction) -> None:
    """Draw whether the choice was right and what is, and the way to ask again."""
    right = question.predict.answer
    icon = "check" if question.chosen == right else "lightbulb"
    with st.container(horizontal=True, vertical_alignment="center", key="predict-verdict"):
        st.markdown(
            f":material/{icon}: **{choice_feedback(question.t, question.choice_texts, question.chosen, right)}**"
        )
        st.button(question.t("again"), key=f"predict.again.{question.id}", type="tertiary", on_click=question.ask_again)
