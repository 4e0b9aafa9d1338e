"""The panel that starts a presentation: this page, a shipped talk, or a lecturer's own file."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.present import lessons
from ui.present.lessons import Lesson, LessonError, LessonProblem
from ui.present.steps import lesson_summary, problem_sentence
from ui.present.view import LOADED, OWN, PageView
from ui.text.words import PageTexts

PROBLEM, FILE = "panel.problem", "panel.file"
# The label says the limit; Streamlit's own line would say another.
ONE_LIMIT = "<style>[data-testid=stFileUploaderDropzoneInstructions] {display: none}</style>"


def draw_present_panel(view: PageView) -> None:
    """Buttons for what can be presented, and the box for a file."""
    t = PageTexts(view.lang, "stage")
    if not view.is_on_stage and st.button(t("present_page"), key="panel.page", type="primary", width="stretch"):
        view.set_presenting()
        st.rerun()
    for name in lessons.talk_names():
        lesson = lessons.shipped_talk(view.lang, name)
        if lesson and st.button(lesson_summary(lesson, t), key=f"panel.{name}", width="stretch"):
            view.begin_talk(name)
            st.rerun()
    st.markdown(f"**{t('own')}**")
    st.html(ONE_LIMIT)
    st.file_uploader(t("upload"), type="toml", key=FILE, on_change=read_uploaded_lesson, max_upload_size=1)
    own: Lesson | None = st.session_state.get(LOADED)
    if own is not None and st.button(
        lesson_summary(own, t), key="panel.own", icon=":material/play_arrow:", width="stretch"
    ):
        view.begin_talk(OWN)
        st.rerun()
    problem: LessonProblem | None = st.session_state.get(PROBLEM)
    if problem:
        st.error(f"{t('problem')} {problem_sentence(problem, t)}")
    st.caption(t("frame.present_help"))
    for name in lessons.talk_names()[-1:]:
        data = lessons.shipped_talk_bytes(view.lang, name)
        st.download_button(t("example"), data, f"{name}.toml", "application/toml", key="panel.example", type="tertiary")
    st.caption(t("room_elsewhere"))


def read_uploaded_lesson() -> None:
    """Read the uploaded file; what is wrong with it is kept for the panel, and an earlier talk stays."""
    file: Any = st.session_state.get(FILE)
    st.session_state.pop(PROBLEM, None)
    if file is None:
        return
    try:
        st.session_state[LOADED] = lessons.load_lesson(file.getvalue(), OWN)
    except LessonError as bad:
        st.session_state[PROBLEM] = bad.problem
