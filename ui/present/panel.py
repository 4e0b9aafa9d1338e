"""The panel that starts a presentation: this page, a shipped talk, or a lecturer's own file; and the room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.present import lessons
from ui.present.lessons import BadLesson, Lesson, Problem
from ui.present.tally import room_name
from ui.present.view import LOADED, OWN, ROOM
from ui.text.escape import plain
from ui.text.words import Words

if TYPE_CHECKING:
    from ui.page.frame import Page

PROBLEMS, FILE, ROOM_BOX, ROOM_SAID = "panel.problems", "panel.file", "panel.room", "panel.room_said"


def panel(page: Page) -> None:
    """Buttons for what can be presented, the room's name, and the box for a file."""
    t, view = Words(page.t.lang, "stage"), page.view
    if not view.stage and st.button(t("present_page"), key="panel.page", type="primary", width="stretch"):
        view.present()
        st.rerun()
    for name in lessons.talks():
        lesson = lessons.talk(page.t.lang, name)
        if lesson and st.button(said(lesson, t), key=f"panel.{name}", width="stretch"):
            view.begin(name)
            st.rerun()
    st.markdown(f"**{t('own')}**")
    st.file_uploader(t("upload"), type="toml", key=FILE, on_change=take, max_upload_size=1)
    own: Lesson | None = st.session_state.get(LOADED)
    if own is not None and st.button(said(own, t), key="panel.own", icon=":material/play_arrow:", width="stretch"):
        view.begin(OWN)
        st.rerun()
    problems: tuple[Problem, ...] = st.session_state.get(PROBLEMS, ())
    if problems:
        st.error("\n".join((t("problems"), "", *(f"- {sentence(problem, t)}" for problem in problems))))
    for name in lessons.talks()[-1:]:
        data = (lessons.FOLDER / page.t.lang / "talks" / f"{name}.toml").read_bytes()
        st.download_button(t("example"), data, f"{name}.toml", "application/toml", key="panel.example", type="tertiary")
    room(page, t)


def said(lesson: Lesson, t: Words) -> str:
    """A lesson in one line: title, minutes, steps."""
    return t("talk", title=plain(lesson.title, 120), minutes=f"{lesson.minutes:g}", steps=len(lesson.steps))


def room(page: Page, t: Words) -> None:
    """The box for the room's name."""
    if ROOM_BOX not in st.session_state:
        st.session_state[ROOM_BOX] = page.view.room
    st.text_input(t("room"), key=ROOM_BOX, max_chars=40, help=t("room_help"), on_change=enter, args=(page,))
    if st.session_state.pop(ROOM_SAID, False):
        st.warning(t("room_bad"))


def enter(page: Page) -> None:
    """Take the room that the box names; a name that is none changes nothing."""
    text = str(st.session_state.get(ROOM_BOX) or "").strip()
    try:
        page.view.put(ROOM, room_name(text) if text else "")
    except ValueError:
        st.session_state[ROOM_SAID] = True


def take() -> None:
    """Read the uploaded file; what is wrong with it is kept for the panel, and an earlier talk stays."""
    file: Any = st.session_state.get(FILE)
    st.session_state.pop(PROBLEMS, None)
    if file is None:
        return
    try:
        st.session_state[LOADED] = lessons.load(file.getvalue(), OWN)
    except BadLesson as bad:
        st.session_state[PROBLEMS] = bad.problems


def sentence(problem: Problem, t: Words) -> str:
    """A problem of a lesson file in the page's language, with nothing of the file that markup could act on."""
    given = {name: plain(value, 300) for name, value in problem.given.items() if name not in ("rule", "low", "high")}
    if "rule" in problem.given:
        given |= {"rule": t(problem.given["rule"], **bounds(problem))}
    told = t(problem.key, **given)
    return t("lesson.at_step", step=problem.step, problem=told) if problem.step else told


def bounds(problem: Problem) -> dict[str, str]:
    """The ends of a field's range as a reader writes them."""
    return {name: f"{problem.given[name]:,g}" for name in ("low", "high")}
