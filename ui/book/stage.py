"""Lessons, talks and the presentation display in the book: a step, its question, and on the stage one figure alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

from ui.book.hall import HallFrame
from ui.book.nodes import HtmlNode
from ui.page import tasks
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.present.steps import PredictionState, headline_sentence, is_long_sentence, lecturer_notes_html, lesson_summary
from ui.present.view import PageView
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts

LEADS = "stage.leads"
"""The session's parts in which the leading figures are, by (page, figure's id; "" is the page's first)."""
CONTROLS = "stage.open"
"""Whether the session's stage has the controls below the figure."""


class LessonFrame(HallFrame):
    """What a lesson adds to a page, and what the presentation display leaves of it."""

    view: PageView
    lead: HtmlNode | None = None
    lead_part: HtmlNode

    # ---- a step ----------------------------------------------------------------------------------------------------

    def step_question(self) -> PredictionState | None:
        """Return the question of the step in force on this page."""
        lesson, step = self.view.lesson(), self.view.step_on_this_page()
        return (
            PredictionState(self.session, step, step.predict, lesson.id) if lesson and step and step.predict else None
        )

    def draw_lesson_top(self) -> None:
        """Draw the stage's tools and the step's sentence; beside the normal display the lesson's step in a card."""
        lesson, step, stage = self.view.lesson(), self.view.step_on_this_page(), self.view.is_on_stage
        if not stage and not (lesson and self.view.step_number):
            return
        t = PageTexts(self.t.lang, "stage")
        with self.places.inside(self.places.add_node("stage" if stage else "card lesson", key="stage")):
            if stage:
                self._tools(t, lesson, step)
            elif lesson:
                slots = {
                    "title": escaped_markdown(lesson.title, 120),
                    "number": self.view.step_number,
                    "total": len(lesson.steps),
                }
                self.caption(t("count_lesson", **slots))
            self._line(t, lesson, step)
            self._ask(t)
            if lesson and not stage:
                self._press("stage-end", t("end"), self.view.leave_lesson)

    def _tools(self, t: PageTexts, lesson: Lesson | None, step: LessonStep | None) -> None:
        with self.places.inside(self.places.add_node("stage-tools row", key="tools")):
            self.places.add_node("stage-title", f"<h1>{escape(self.t('title'))}</h1>")
            on = bool(self.session.get(CONTROLS))
            self._press("stage-open", t("controls"), lambda: self.session.update({CONTROLS: not on}), on=on)
            if step:
                self._press("stage-notes", t("notes"))
                self.places.add_node("write", lecturer_notes_html(lesson, step, t), key="notes")
            with self.details(t("qr"), "qr") as unfolded:
                if unfolded:
                    self.draw_audience_link(t)
            with self.details(t("talks"), "talks", lazy=False):
                self.draw_present_panel()
            self._press("stage-leave", t("leave"), lambda: self.view.set_presenting(on=False))

    def _line(self, t: PageTexts, lesson: Lesson | None, step: LessonStep | None) -> None:
        """Draw the sentence between the buttons that the arrow keys press; the claim before a page's own first step."""
        text = headline_sentence(step, lesson.id, self.session) if lesson and step else self.t("claim")
        with self.places.inside(self.places.add_node("stage-line row", key="line")):
            if lesson:
                self._step(t, lesson, -1)
            size = " stage-long" if is_long_sentence(text) else ""
            self.places.add_node(f"stage-say{size}", f"<p>{escape(text)}</p>", attributes={"aria-live": "polite"})
            if lesson:
                count = t("count", number=self.view.step_number or 0, total=len(lesson.steps))
                self.places.add_node("stage-count", f"<p>{count}</p>")
                self._step(t, lesson, 1)
                for name, number in (("first", self.view.first_step_number()), ("last", len(lesson.steps))):
                    self._press(f"stage-{name}", t(name), partial(self.view.go_to_step, number))
        if self.view.is_on_stage:
            self.draw_room_line(t, text if step else "", self.step_question())

    def _step(self, t: PageTexts, lesson: Lesson, by: int) -> None:
        name = "next" if by > 0 else "previous"
        number = (self.view.step_number or 0) + by
        off = not self.view.first_step_number() <= number <= len(lesson.steps)
        self._press(
            f"stage-{name}", t(name), lambda: self.view.go_to_step(number), off=off, icon="→" if by > 0 else "←"
        )

    def _press(
        self,
        name: str,
        label: str,
        act: Callable[[], object] | None = None,
        *,
        on: bool | None = None,
        off: bool = False,
        icon: str = "",
    ) -> None:
        """Draw a button that stage.js finds by its name; ``icon`` takes the place of its label."""
        node = self.places.add_node(f"button {name}", key=name)
        state = " disabled" if off else ""
        state += f' aria-pressed="{str(on).lower()}"' if on is not None else ""
        state += f' aria-label="{escape(label)}"' if icon else ""
        asks = f' data-act="{escape(node.id)}"' if act else ""
        node.html = f'<button type="button"{asks}{state}>{icon or escape(label)}</button>'
        if act:
            self.places.register_handler(node.id, lambda _: act())

    def _ask(self, t: PageTexts) -> None:
        """Ask the step's question or, once there is a choice, judge it; offer the way back to a talk's page."""
        lesson, step, question = self.view.lesson(), self.view.step(), self.step_question()
        if lesson and step and step.page != self.view.page:
            self.write(t("elsewhere", number=step.number, page=t.page_name(step.page)))
            self._press("stage-back", t("back_to_talk"), lambda: self.view.go_to_step(step.number))
        if question is None:
            return
        words, choices = PageTexts(self.t.lang, "predict"), question.predict.choices
        if question.is_answer_seen:
            right = question.predict.answer
            verdict = tasks.choice_feedback(words, choices, question.chosen, right)
            with self.row():
                self.write(f"{'✓' if question.chosen == right else '✗'} **{escaped_markdown(verdict, 600)}**")
                if not self.room_name:
                    self._press("stage-again", words("again"), question.ask_again)
            self.draw_vote_counts(question)
            return

        def choose(choice: int) -> None:
            question.keep_choice(choice)
            question.reveal_answer()

        # On a slide the figure needs the lines: the button stands beside the choices, and nothing is explained.
        with self.row():
            self.choice_buttons("choices", question.choice_texts, None, choose)
            if self.view.is_on_stage:
                self._press(
                    "stage-reveal", words("reveal" if self.room_name else "reveal_here"), question.reveal_answer
                )
        if not self.view.is_on_stage:
            self.caption(words("how"))

    def draw_present_panel(self) -> None:
        """Draw what can be presented: this page, the shipped talks, a lesson file; and in a hall the room."""
        t = PageTexts(self.t.lang, "stage")
        self.draw_room_form(t)
        if not self.view.is_on_stage:
            self.button(t("present_page"), "present.page", self.view.set_presenting, look="primary")
        for name in lessons.talk_names():
            talk = lessons.shipped_talk(self.t.lang, name)
            if talk:
                self.button(lesson_summary(talk, t, markdown=False), f"present.{name}", self.view.begin_talk, name)
        self.caption(t("arrows"))
        self.draw_lesson_upload(t)

    # ---- what the stage leaves of a page ---------------------------------------------------------------------------

    @property
    def leading_figure_id(self) -> str:
        """The id of the figure that leads, "" where it is the page's first."""
        step = self.view.step_on_this_page()
        return step.figure if step else ""

    def is_leading_figure_elsewhere(self, part: str) -> bool:
        """Return whether the leading figure is drawn already, or known to be in no part of this one."""
        known = self.session.get(LEADS, {}).get((self.name, self.leading_figure_id))
        return self.lead is not None or (known is not None and not f"{known}/".startswith(f"{part}/"))

    def is_leading_figure(self, figure: str) -> bool:
        """Return whether this figure leads."""
        return self.lead is None and self.leading_figure_id in ("", figure)

    def set_leading_node(self, node: HtmlNode) -> None:
        """Have a node lead: it alone is left of the page, with its part's controls where they are wanted."""
        self.lead, self.lead_part = node, self.places.current_part
        self.session.setdefault(LEADS, {})[self.name, self.leading_figure_id] = self.lead_part.id

    def forget_stale_leading_part(self) -> bool:
        """Return whether the leading figure was looked for in a part that has it no more, and forget that part."""
        known: dict[tuple[str, str], str] = self.session.get(LEADS, {})
        return (
            self.view.is_on_stage and self.lead is None and bool(known.pop((self.name, self.leading_figure_id), None))
        )

    def keep_leading_figure_only(self) -> None:
        """Leave of the tree the lesson's step, the leading figure, and the controls of its part."""
        root = self.places.root
        controls = (
            [node for node in self.lead_part.self_and_descendants() if node.kind.split()[0] == "control"]
            if self.lead
            else []
        )
        root.children = [*root.children[:1], *([self.lead] if self.lead else []), *controls]
