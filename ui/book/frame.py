"""The book's frame: one page's words, values and controls as a tree of nodes; a moved control redraws its part."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any
from urllib.parse import urlencode

from rope_core.languages import FIRST
from ui.book.content import OPEN, DownloadFile, RedrawRequest
from ui.book.controls import BookControls
from ui.book.markdown import markdown_to_html
from ui.book.nodes import HtmlNode
from ui.book.places import NodeTree
from ui.book.stage import CONTROLS, LessonFrame
from ui.figures.drawing import Drawing, Film, figure_to_json
from ui.page import tasks
from ui.page.controls import FilmHand
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.page.symbols import symbol_legend_html, symbol_meanings
from ui.page.tasks import ChoiceQuestion
from ui.present.steps import slide_finding
from ui.present.view import PageView
from ui.text.words import PageTexts
from ui.work.session import SessionState

"""The language whose pages are at the book's root; the others are in folders of their names."""
AGAIN = 5
"""How often a page may ask to be drawn again before it is taken as it is."""


class BookFrame(LessonFrame):
    """A page for one reader: see ui.page.frame.PageFrame.

    Args:
        name: of the page.
        lang: its language.
        session: the reader's values and texts.
        root: the way from the page's folder to the book's, in links.
        query: the link's parameters.
    """

    def __init__(
        self, name: str, lang: str, session: SessionState, root: str, query: Mapping[str, str] | None = None
    ) -> None:
        self.page = page_declaration(name)
        self.name, self.t, self.session, self.root = name, PageTexts(lang, name), session, root
        session[OPEN] = set()
        self.store = self.page.page_values(session)
        self.store.read_query(query or {})
        self.view = PageView(name, lang, session)
        self.view.explicit_values.clear()
        self.store.notes.extend(self.view.read_query(query or {}, self.store.fields))
        self.view.apply_reached_step_state(self.store, query or {}, moved=True)
        self.findings: dict[str, str] = {}
        self.figures: dict[str, Drawing | Film] = {}
        self.draw()

    def draw(self) -> HtmlNode:
        """Draw the whole page; return its tree."""
        for _ in range(AGAIN):
            self.places, self.parts = NodeTree(), dict[str, Callable[[], None]]()
            self.shared = self.folds = 0
            self.lead, question = None, self.step_question()
            self.view.apply_state_after_answer(self.store, is_answer_out=bool(question and question.is_answer_seen))
            self.controls = BookControls(self.store, self.t, self.places, self.view.hidden_controls)
            self.controls.folded = self.view.is_on_stage and not self.session.get(CONTROLS)
            try:
                self.draw_lesson_top()
                if not self.view.is_on_stage:
                    self.draw_page_menu()
                self.attempt(partial(self.page.body, self))
                self.draw_path_progress()
            except RedrawRequest:
                continue
            if not self.forget_stale_leading_part():
                break
        if self.view.is_on_stage:
            self.keep_leading_figure_only()
        return self.places.root

    def act(self, key: str, given: Any) -> DownloadFile | None:
        """Do what a control asks for and draw its part again, or the page; return a file where it asks for one."""
        before, owner = self.store.shared_values(), self.places.owners[key]
        saved = self.places.acts[key](given)
        if isinstance(saved, DownloadFile):
            return saved
        self.view.apply_reached_step_state(self.store, {}, moved=False)
        part = next((node for node in self.places.root.self_and_descendants() if node.id == owner), self.places.root)
        if (
            self.view.is_on_stage
            or part is self.places.root
            or (self.shared > 1 and self.store.shared_values() != before)
        ):
            self.draw()
        else:
            try:
                with self.places.redrawing_part(part):
                    self.parts[part.id]()
                if tasks.done_task_count(self.page.tasks, self.store, self.session) != self.counted:
                    raise RedrawRequest
            except RedrawRequest:
                self.draw()
        self.pressed = ""
        return None

    def draw_live_part(
        self, part: Callable[..., None], *given: Any, shared: bool = True, every_seconds: float | None = None
    ) -> None:
        node = self.places.add_node("part", key=part.__name__)
        self.shared += shared
        if self.view.is_on_stage and self.is_leading_figure_elsewhere(node.id):
            return

        self.parts[node.id] = partial(self.attempt, partial(part, self, *given))
        with self.places.inside(node):
            self.parts[node.id]()

    def write_section(self, section: str) -> None:
        title, body = self.t.section_title_and_text(section)
        heading = f'<h2 id="{escape(section)}">{escape(title)}</h2>' if title else ""
        self.places.add_node("prose", heading + markdown_to_html(body), key=f"prose.{section}")

    def show(
        self,
        drawing: Drawing | Film,
        *code: Callable[..., Any],
        then: Callable[[], None] | None = None,
        ask: ChoiceQuestion | None = None,
    ) -> None:
        if self.view.is_on_stage and not self.is_leading_figure(drawing.id):
            return
        finding = self._film(drawing) if isinstance(drawing, Film) else self._figure(drawing)
        if self.view.is_on_stage:
            self.set_leading_node(self.places.current_node.children[-1])
            if self.store.shared_values():
                self.controls.draw_model_and_geometry_controls()
            return
        if then:
            then()
        if ask:
            self.ask_prediction(ask)
        self.offer_data_recipe_and_citation(drawing, finding, code)

    def _figure(self, drawing: Drawing) -> str:
        """Draw a figure; return the sentence below it."""
        look = "figure wide" if drawing.wide else "figure"
        with self.places.inside(self.places.add_node(look, key=f"fig.{drawing.id}")):
            plot = self.places.add_node("plot", key=f"plot.{drawing.id}", data=figure_to_json(drawing.figure))
            text = slide_finding(drawing.finding) if self.view.is_on_stage else drawing.finding
            finding = self.places.add_node("finding", markdown_to_html(f"▸ {text}"), key=f"finding.{drawing.id}")
        self.figures[plot.id] = drawing
        style = f"height: {drawing.figure['layout']['height']}px"
        plot.attributes = {"role": "img", "aria-labelledby": finding.id, "style": style}
        return drawing.finding

    def _film(self, drawing: Film) -> str:
        """Draw a film; return the sentence below its picture."""
        film, name, hand = drawing.packed(self.t), f"{self.name}.{drawing.id}", FilmHand(drawing, self.controls)
        data = b64encode(film.data).decode("ascii")
        node = self.places.add_node("film", key=f"film.{drawing.id}", data=data, attributes={"data-film": name})
        count, lesson = self.session.get(node.id, 0), self.view.step_on_this_page() is not None
        node.live = hand.player_settings(name, count, self.view.film_play_record(), lesson=lesson)

        def moved(answer: Any) -> None:
            self.session[node.id] = answer["count"]
            hand.store_control_values(answer["at"])

        self.places.register_handler(node.id, moved)
        self.figures[node.id] = drawing
        self.findings[node.id] = hand.finding
        return hand.finding

    def permalink(self) -> str:
        """Return the address of these values, below the address of the book."""
        query = urlencode(self.as_url_parameters())
        return f"{self.session.get('book.address', '')}{page_folder(self.name, FIRST)}?{query}"

    def as_url_parameters(self) -> dict[str, str]:
        """Return the explicit values and the language as URL parameters."""
        return self.store.as_url_parameters() | {"lang": self.t.lang} | self.view.as_url_parameters()

    def draw_page_link(self, name: str, label: str | None = None, **query: str) -> None:
        if name in SECTIONS:
            more = f"?{urlencode(query)}" if query else ""
            href = f"{self.root}{page_folder(name, self.t.lang)}{more}" or "./"
            text = markdown_to_html(label or self.t.page_name(name), is_one_line=True)
            self.places.add_node("goto", f'<a href="{escape(href)}">{text} →</a>', key=f"goto.{name}")

    def href(self, name: str, **query: str) -> str:
        return f"{self.root}{page_folder(name, self.t.lang)}?{urlencode(query)}"

    def draw_page_menu(self) -> None:
        """Draw the button beside the title, and what is behind it."""
        with self.places.folded_node("menu", escape(self.t("frame.menu"))):
            with self.details(self.t("frame.present"), "present") as unfolded:
                if unfolded:
                    self.draw_present_panel()
            if self.store.shared_values():
                self.controls.draw_model_and_geometry_controls()
            self.button(self.t("frame.reset"), "reset", self.view.restore_step_state, self.store)
            self.caption(self.t("frame.share_help"))
            self.places.add_node("code wrapped address", tag="pre", attributes={"tabindex": "0"})
            if symbol_meanings(self.t):
                self.places.add_node("legend", symbol_legend_html(self.t))


def page_folder(name: str, lang: str) -> str:
    """Return where a page is below the book's root: "", or folders that each end with a slash."""
    return ("" if lang == FIRST else f"{lang}/") + ("" if name == "home" else f"{name}/")
