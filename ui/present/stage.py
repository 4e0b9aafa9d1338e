"""The presentation display: one figure above the fold, the step's sentence, keys that step, the audience's QR code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import streamlit as st

from ui.page.controls import ContainerContext, PageControls
from ui.page.store import PageValues
from ui.present import panel, predict, qr
from ui.present.addresses import is_local_address
from ui.present.language import draw_language_switch
from ui.present.lessons import LessonStep
from ui.present.steps import headline_sentence, is_long_sentence, lecturer_notes_html
from ui.present.view import PageView
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts

HERE = Path(__file__).parent
STYLE = f"<style>{(HERE / 'stage.css').read_text('utf-8')}</style>"
KEYS = f"<script>{(HERE / 'stage.js').read_text('utf-8')}</script>"
LEADS = "stage.leads"
"""The session's parts in which the first figures of pages stand, by page: which is first may depend on the values."""
STANDS: dict[tuple[str, str], str] = {}
"""The part in which a figure stands, by (page, figure's id), as far as it was drawn for anybody."""
OUTSIDE = ""
"""The name of the part of a page that is no part."""


class StagePresenter:
    """One run of a page on the stage.

    Args:
        own: the page's words.
        view: how the page is shown.
        store: the page's values, which an answer moves.
        controls: the page's controls, which the stage folds and places.
        link: the address of the page's values with these parameters of the view.
    """

    def __init__(
        self,
        own: PageTexts,
        view: PageView,
        store: PageValues,
        controls: PageControls,
        link: Callable[[Mapping[str, str]], str],
    ) -> None:
        self.view, self.controls, self.link = view, controls, link
        self.t = PageTexts(view.lang, "stage")
        step = view.step_on_this_page()
        self.wanted = step.figure if step else ""
        self.leads: dict[str, str] = st.session_state.setdefault(LEADS, {})
        self.first: str | None = None
        self.drawn, self.led = OUTSIDE, False
        st.html(STYLE)
        st.html(KEYS, unsafe_allow_javascript=True)
        self._tools(own("title"), step)
        self.open = bool(st.session_state.get("stage.open"))
        controls.folded = not self.open
        draw_headline(own, view, store)
        self.top = st.container()
        self.lead = self.top

    def _tools(self, title: str, step: LessonStep | None) -> None:
        """Draw the title, small, and what a lecturer presses."""
        with st.container(horizontal=True, vertical_alignment="center", key="stage-tools"):
            st.title(title, width="stretch")
            st.toggle(self.t("controls"), key="stage.open")
            if st.button(self.t("qr"), key="stage-code", icon=":material/qr_code_2:"):
                self._show_code()
            if step:
                st.button(self.t("notes"), key="stage-notes", help=self.t("notes_help"))
                st.html(lecturer_notes_html(self.view.lesson(), step, self.t))
            with st.popover(self.t("talks"), key="stage-talks", on_change="rerun") as box:
                if box.open:
                    panel.draw_present_panel(self.view)
            draw_language_switch()
            st.button(
                self.t("leave"),
                key="stage-leave",
                help=self.t("leave_help"),
                icon=":material/close:",
                on_click=self.view.set_presenting,
                kwargs={"on": False},
            )

    def _show_code(self) -> None:
        """Draw the audience's QR code of this view, as large as the screen allows."""
        url = self.link(self.view.as_url_parameters(audience=True))
        code = qr.qr_code_html(url, self.t("qr_alt", url=url))

        @st.dialog(self.t("qr_title"), width="large")
        def dialog() -> None:
            if code is None:
                st.warning(self.t("qr_long"))
            else:
                with st.container(key="stage-qr"):
                    st.html(code)
            st.code(url, language=None, wrap_lines=True)
            if is_local_address(url):
                st.caption(self.t("qr_local"))

        dialog()

    def _known(self) -> str | None:
        """Return the name of the part that has the leading figure, if it is known."""
        page = self.view.page
        return STANDS.get((page, self.wanted)) if self.wanted else self.leads.get(page)

    def leading_part_name(self) -> str | None:
        """Return the name of the part that has the leading figure, as far as it is known; else the first part's."""
        known = self._known()
        return self.first if known is None else known

    def qualified_part_name(self, part: str) -> str:
        """Return the name of a part that is drawn next: its own, below that of the part that holds it."""
        return f"{self.drawn}/{part}" if self.drawn else part

    def is_leading_figure_elsewhere(self, part: str) -> bool:
        """Return whether the leading figure is known to be in no part of this one, which then need not be drawn."""
        known = self._known()
        return known is not None and not is_within_part(known, part)

    def part_container(self, part: str) -> AbstractContextManager[object]:
        """Where a part of the page is drawn: above the others where it has the figure that leads."""
        self.first = self.first or part
        above = is_within_part(self.leading_part_name(), part) and self.drawn == OUTSIDE
        return self.top if above else nullcontext()

    @contextmanager
    def drawing_part(self, part: str) -> Iterator[None]:
        """One run of a part: a place for the leading figure, the controls below it, then the rest."""
        before = self.drawn, self.controls.place
        self.drawn = part
        if part == self.leading_part_name():
            self.lead, self.led = st.container(), False
        if self.open:
            self.controls.place = st.container(horizontal=True, vertical_alignment="bottom")
        with st.container(key=f"stage-more-{part.replace('/', '-')}"):
            yield
        self.drawn, self.controls.place = before

    def leading_figure_container(self, figure: str) -> ContainerContext | None:
        """Return the place of the figure that leads, above the rest of its part; None for others, which are not drawn.

        A part that was not known to have it is put above the others by another run.
        """
        if self.led or self.wanted not in ("", figure):
            return None
        known = self.leading_part_name()
        if self.wanted:
            STANDS[self.view.page, self.wanted] = self.drawn
        else:
            self.leads[self.view.page] = self.drawn
        if self.drawn not in (known, OUTSIDE):
            st.rerun()
        self.led = True
        return self.lead.container(key=f"stage-figure-{figure}")


def is_within_part(part: str | None, outer: str) -> bool:
    """Return whether a part is ``outer`` or in it.

    >>> is_within_part("catalogue/spans", "catalogue"), is_within_part("catalogue", "catalogue/spans")
    (True, False)
    """
    return part is not None and f"{part}/".startswith(f"{outer}/")


def draw_headline(own: PageTexts, view: PageView, store: PageValues) -> None:
    """Draw the step's sentence, large, between the buttons that the arrow keys press; the claim before the first."""
    t = PageTexts(view.lang, "stage")
    lesson, step = view.lesson(), view.step_on_this_page()
    with st.container(horizontal=True, vertical_alignment="center", key="stage-line"):
        if lesson:
            draw_step_button(view, t, -1)
        text = headline_sentence(step, lesson.id, view.session) if lesson and step else own("claim")
        with st.container(key="stage-say-long" if is_long_sentence(text) else "stage-say", width="stretch"):
            st.markdown(escaped_markdown(text, 300) if step else text)
        if lesson:
            with st.container(key="stage-count", width="content"):
                st.markdown(t("count", number=view.step_number or 0, total=len(lesson.steps)))
            draw_step_button(view, t, 1)
            for name, number in (("first", view.first_step_number()), ("last", len(lesson.steps))):
                st.button(t(name), key=f"stage-{name}", on_click=view.go_to_step, args=(number,))
    draw_step_question(view, store)


def draw_step_button(view: PageView, t: PageTexts, by: int) -> None:
    """Draw a button that moves through the lesson, off at its ends."""
    lesson = view.lesson()
    at, last = view.step_number or 0, len(lesson.steps) if lesson else 0
    st.button(
        t("next" if by > 0 else "previous"),
        key="stage-next" if by > 0 else "stage-previous",
        icon=":material/arrow_forward:" if by > 0 else ":material/arrow_back:",
        icon_position="right" if by > 0 else "left",
        disabled=not view.first_step_number() <= at + by <= last,
        on_click=view.go_to_step,
        args=(at + by,),
    )


def draw_step_question(view: PageView, store: PageValues) -> None:
    """Draw the question of the step; once it is answered the figure moves. In a talk, the way back to its page."""
    t = PageTexts(view.lang, "stage")
    lesson, step = view.lesson(), view.step()
    if lesson is None or step is None:
        return
    if step.page != view.page:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("elsewhere", number=step.number, page=t.page_name(step.page)))
            st.button(t("back_to_talk"), key="stage-back", on_click=view.go_to_step, args=(step.number,))
    elif step.predict:
        view.apply_state_after_answer(store, is_answer_out=predict.ask_question(view, step, lesson.id))


def draw_lesson_strip(view: PageView, store: PageValues) -> None:
    """Draw the lesson beside the normal display, for who follows on a screen of their own."""
    t = PageTexts(view.lang, "stage")
    lesson, step = view.lesson(), view.step_on_this_page()
    if lesson is None:
        return
    with st.container(border=True, key="lesson"):
        st.caption(
            t(
                "count_lesson",
                title=escaped_markdown(lesson.title, 120),
                number=view.step_number,
                total=len(lesson.steps),
            )
        )
        if step:
            st.markdown(f"**{escaped_markdown(headline_sentence(step, lesson.id, view.session), 300)}**")
        draw_step_question(view, store)
        with st.container(horizontal=True):
            draw_step_button(view, t, -1)
            draw_step_button(view, t, 1)
            st.button(t("end"), key="stage-end", on_click=view.leave_lesson, type="tertiary")
