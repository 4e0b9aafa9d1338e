"""The Streamlit frame: one page's words, values and controls, its parts as fragments, and what is around them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rope_core.comparisons import pasted, samples
from rope_core.comparisons.samples import FunctionAnswers, SchemeCall
from rope_core.grade import spare, starter_source
from rope_core.grade.process import is_confined
from ui.figures.drawing import Drawing, Film, film_save_buttons_html
from ui.page import tasks
from ui.page.charts import FigureToSend
from ui.page.controls import ContainerContext
from ui.page.declaration import PageDeclaration, page_declaration, path_progress
from ui.page.menu import PATH
from ui.page.symbols import symbol_legend_html, symbol_meanings
from ui.page.tasks import ChoiceQuestion
from ui.present import panel, stage
from ui.present.language import current_language, draw_language_switch
from ui.present.steps import slide_finding
from ui.present.view import OPEN, REACHED, PageView
from ui.served import access, ahead, film
from ui.served.address import PageAddress
from ui.served.content import ServedContent
from ui.served.controls import ServedControls
from ui.text.words import PageTexts

STYLE = f"<style>{(Path(__file__).parent / 'style.css').read_text('utf-8')}</style>"
PLOT = {"displaylogo": False, "locale": "en"}
AHEAD = "ahead"
"""For which step, answer and language the session has had the next one drawn."""
SHOWN, PRESSED, ANSWERED = "code.shown", "code.pressed", "code.answered"
"""What the box for code was last filled with, the text that its reader had run, and what that answered."""
RUNNING = threading.BoundedSemaphore(2)
"""So many functions of visitors run at a time."""
StreamlitPages = Mapping[str, st.Page]


def draw_page(name: str, pages: StreamlitPages) -> None:
    """Draw a page for the session that runs this script; ``pages``: those that links lead to, by name."""
    view = PageView(name, current_language(), st.session_state)
    target = view.pop_page_to_go_to()
    if target not in (None, name):
        st.switch_page(pages[str(target)])
    page = page_declaration(name)
    served = ServedFrame(page, view, pages, pressed=target is not None)
    served.draw_page_top()
    with st.container(key="stage-rest") if served.stage else nullcontext():
        served.attempt(partial(page.body, served))
    served.draw_path_progress()
    # On the stage the figure that leads may stand outside of every part.
    served.address.write_address_bar()
    served.queue_next_drawing()


def anchor_html(section: str) -> str:
    """Return a place of this name that a link finds, as HTML."""
    return f'<span id="{escape(section)}"></span>'


class ServedFrame(ServedContent):
    """One run of a page: see ui.page.frame.PageFrame."""

    def __init__(self, page: PageDeclaration, view: PageView, pages: StreamlitPages, *, pressed: bool) -> None:
        self.name, self.t, self.session = page.name, PageTexts(view.lang, page.name), st.session_state
        self.store, self.view, self.pages, self.tasks = page.page_values(st.session_state), view, pages, page.tasks
        self.claim_in_film = page.claim_in_film
        self.address = PageAddress(self.store, view)
        self.address.take_link_values(pressed=pressed)
        self.controls = ServedControls(self.store, self.t, view.hidden_controls)
        self.stage: stage.StagePresenter | None = None
        self.folds: DeltaGenerator | None = None
        # How many tasks of the page the line below it says are done; None before it is drawn.
        self.counted: int | None = None
        self.parts, self.drawn_for = 0, self.store.shared_values()
        self.drawn_around = self._around()

    def draw_page_top(self) -> None:
        """Draw what is above the parts: the stage, or title, language, claim, task and the lesson's step."""
        st.html(STYLE + access.STYLE)
        # Letters of formulas and films take their meanings from the legend (ui/film/assets/symbols.js).
        symbols = f"<div hidden>{symbol_legend_html(self.t)}</div>"
        st.html(access.accessibility_script(self.t.lang) + symbols, unsafe_allow_javascript=True)
        if self.view.is_on_stage:
            self.stage = stage.StagePresenter(self.t, self.view, self.store, self.controls, self.address.permalink)
            return
        with st.container(horizontal=True, vertical_alignment="center", key="top"):
            st.title(self.t("title"), width="stretch")
            draw_language_switch()
            st.fragment(self._menu)()
        claim = "" if self.claim_in_film else self.t("claim")
        if claim:
            st.markdown(claim)
        if self.t.has_label("task"):
            st.markdown(f":material/touch_app: **{self.t('frame.try')}** {self.t('task')}")
        if self.view.step_number:
            stage.draw_lesson_strip(self.view, self.store)

    def queue_next_drawing(self) -> None:
        """Have what follows the step on the stage drawn in the background, once for each step and answer."""
        lesson, step, reached = self.view.lesson(), self.view.step_on_this_page(), self.session.get(REACHED)
        if not (self.stage and lesson and step) or self.session.get(AHEAD) == (self.t.lang, reached):
            return
        if AHEAD not in self.session:
            # Plotly is large: the browser reads it while a film leads, not when the first chart is asked for.
            with st.container(key="stage-ahead"):
                st.plotly_chart(FigureToSend({"data": [], "layout": {}}), key="stage.ahead", config=PLOT)
        self.session[AHEAD] = (self.t.lang, reached)
        ahead.queue_next_step(lesson, step, self.t.lang, answered=self.view.is_after_answer)

    def draw_live_part(
        self, part: Callable[..., None], *given: Any, shared: bool = True, every_seconds: float | None = None
    ) -> None:
        """Run a part as a fragment: a control inside it reruns it alone, then the URL follows.

        Where the control moved a shared value that other parts show, the whole page runs instead, once.
        """
        self.parts += shared
        name = self.stage.qualified_part_name(part.__name__) if self.stage else part.__name__
        if self.stage and self.stage.is_leading_figure_elsewhere(name):
            return

        @st.fragment(run_every=every_seconds)
        def fragment() -> None:
            # A fragment's run that follows a press on the language or the stage at once takes the place of theirs.
            if self._around() != self.drawn_around or (self.parts > 1 and self.store.shared_values() != self.drawn_for):
                st.rerun()
            with self.stage.drawing_part(name) if self.stage else nullcontext():
                self.attempt(partial(part, self, *given))
            if self.counted is not None and self.counted != tasks.done_task_count(self.tasks, self.store, self.session):
                st.rerun()  # the line below the page, in no part, says so at once
            self.address.write_address_bar()

        with self.stage.part_container(name) if self.stage else nullcontext():
            fragment()

    def _around(self) -> tuple[str, dict[str, str]]:
        """Return what the whole page is drawn for: the language and the view, but for what is unfolded in a part."""
        return current_language(), {
            name: text for name, text in self.view.as_url_parameters().items() if name != OPEN.name
        }

    def write_section(self, section: str) -> None:
        if self.stage:
            return
        title, body = self.t.section_title_and_text(section)
        if title:
            st.header(title, anchor=section)
        st.markdown(body)

    def show(
        self,
        drawing: Drawing | Film,
        *code: Callable[..., Any],
        then: Callable[[], None] | None = None,
        ask: ChoiceQuestion | None = None,
    ) -> None:
        if not self.stage:
            finding = self._shown(drawing)
            if then:
                then()
            if ask:
                self.ask_prediction(ask)
            self.offer_data_recipe_and_citation(drawing, finding, code)
        elif place := self.stage.leading_figure_container(drawing.id):
            with place:
                self._shown(drawing)
            self._values()

    def _shown(self, drawing: Drawing | Film) -> str:
        """Draw a figure, on the stage as high as its place, without buttons over it; return what it shows."""
        if isinstance(drawing, Film):
            return film.show_film(
                self.t,
                drawing,
                self.controls,
                self.view.film_play_record(),
                lesson=self.view.step_on_this_page() is not None,
            )
        chart = f"{self.name}.{drawing.id}"
        saved = {"format": "png", "scale": 2, "filename": f"{self.name}-{drawing.id}"}
        with st.container(key=f"wide-{chart}") if drawing.wide else nullcontext():
            st.plotly_chart(
                FigureToSend(drawing.figure),
                key=f"fig.{chart}",
                height="stretch" if self.stage else "content",
                alt=drawing.finding,
                config=PLOT | {"toImageButtonOptions": saved} | ({"displayModeBar": False} if self.stage else {}),
            )
        st.markdown(f"▸ {slide_finding(drawing.finding) if self.stage else drawing.finding}")
        return drawing.finding

    def permalink(self) -> str:
        return self.address.permalink()

    def draw_page_link(self, name: str, label: str | None = None, **query: str) -> None:
        if name in self.pages:
            text, icon = label or self.t.page_name(name), ":material/arrow_forward:"
            st.page_link(self.pages[name], label=text, icon=icon, query_params=query)

    def href(self, name: str, **query: str) -> str:
        return f"{'./' if name == PATH[0] else name}?{urlencode(query | {'lang': self.t.lang})}"

    def _menu(self) -> None:
        """Draw the button beside the title; what is behind it is drawn once it is open."""
        if self._around() != self.drawn_around or self.store.shared_values() != self.drawn_for:
            st.rerun()
        key, present, words = f"menu.{self.name}", f"present.{self.name}", self.t("frame.present")
        if st.session_state.get(present):
            st.session_state[key] = False  # what is in front of a dialog hides it
            st.dialog(words)(panel.draw_present_panel)(self.view)
        with st.popover(self.t("frame.menu"), icon=":material/more_horiz:", on_change="rerun", key=key) as box:
            if not box.open:
                return
            self.write_pending_refusals()
            # An embedded page belongs to another site, which is not presented.
            if not st.context.is_embedded:
                st.button(words, icon=":material/slideshow:", key=present, width="stretch")
            self._values()
            st.caption(self.t("frame.share_help"))
            st.code(self.address.permalink(self.view.as_url_parameters()), language=None, wrap_lines=True)
            if symbol_meanings(self.t):
                st.html(symbol_legend_html(self.t))

    def _values(self) -> None:
        """Draw the model with its geometry, where the page has one, and the way back to the defaults."""
        if self.store.shared_values():
            self.controls.draw_model_and_geometry_controls()
        if not self.controls.folded:
            key, icon = f"reset.{self.name}", ":material/restart_alt:"
            with self.controls.place:
                if st.button(
                    self.t("frame.reset"), on_click=self.view.restore_step_state, args=(self.store,), key=key, icon=icon
                ):
                    st.rerun()

    @property
    def is_on_stage(self) -> bool:
        return self.stage is not None

    def draw_film_save_buttons(self, chart: str) -> None:
        st.html(film_save_buttons_html(chart, self.t))

    def draw_graded_exercise(self, function: str) -> None:
        self.write(self.t("grade.served"))
        self.code(starter_source(function), "python")
        self.code(f"rope grade mine.py --only {function} --lang {self.t.lang}", "bash")

    def draw_scheme_editor(
        self, text: str, calls: Sequence[SchemeCall], take: Callable[[str], None]
    ) -> FunctionAnswers | None:
        key = f"code.{self.name}"
        if self.session.get(SHOWN) != text or key not in self.session:
            self.session[key], self.session[SHOWN] = pasted.shown(text), text

        def press() -> None:
            self.session[SHOWN] = self.session[PRESSED] = pasted.tidy(self.session[key])
            take(self.session[key])

        if not self.is_on_stage:
            st.text_area(self.t("code.label"), key=key, height=290, max_chars=access.MOST_LETTERS)
            st.button(self.t("code.run"), key=f"run.{self.name}", on_click=press, type="primary")
            spare.prepare_spare_process()
        known: tuple[Sequence[SchemeCall], FunctionAnswers] | None = self.session.get(ANSWERED)
        if known and known[0] == calls and known[1].code == text:
            return known[1]
        if pasted.kind_of(text) != "code":
            return None
        if not is_confined():
            self.note(self.t("code.elsewhere"))
            self.code("rope compare mine.py", "bash")
        elif self.session.get(PRESSED) != text:
            self.note(self.t("code.unread"), "warning")
        elif not RUNNING.acquire(timeout=samples.SECONDS):
            self.note(self.t("code.busy"), "warning")
        else:
            try:
                answers = samples.run(text, calls, self.t.lang)
            finally:
                RUNNING.release()
            self.session[ANSWERED] = calls, answers
            return answers
        return None

    def container_below_page(self) -> ContainerContext:
        if self.folds is None and not self.stage:
            st.header(self.t("frame.deeper"), anchor="deeper")
            self.folds = st.container(key="folds")
        return self.folds or nullcontext()

    @contextmanager
    def section_fold(self, section: str, title: str) -> Iterator[bool]:
        key, open_now = f"fold.{self.name}.{section}", section in self.view.unfolded_sections
        if st.session_state.get(key) != open_now:
            st.session_state[key] = open_now
        with st.expander(title, key=key, on_change=lambda: self.view.unfold(section, on=st.session_state[key])) as box:
            # The fold's own name for links: the heading that it replaces had one.
            st.html(anchor_html(section))
            yield bool(box.open)

    def draw_path_progress(self) -> None:
        """How far the visitor is on the path, and the link to its next page."""
        if path_progress(self.name, self.session) and not self.stage:
            st.fragment(self._onward)()

    def _onward(self) -> None:
        at = path_progress(self.name, self.session)
        if at is None:
            return
        counts = {"number": at.number, "total": at.total, "done": at.done, "of": at.of}
        with st.container(key="onward"):
            line = self.t("frame.way", **counts) if at.of else self.t("frame.way_step", **counts)
            if at.here_of:
                line += self.t("frame.way_here", here=at.here, here_of=at.here_of)
            st.progress(at.number / at.total, text=line)
            film.sync_done_tasks_with_browser(self.session)
            self.counted = at.here
            if at.following and at.following in self.pages:
                following = self.t.page_name(at.following)
                st.page_link(
                    self.pages[at.following],
                    label=f"**{self.t('frame.next', page=following)}**",
                    icon=":material/arrow_forward:",
                )
