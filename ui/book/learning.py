"""What a learning page asks of its reader, as nodes: symbols, folds, code to write, the way on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from rope_core import errors
from rope_core.comparisons import pasted, samples
from rope_core.comparisons.samples import FunctionAnswers, SchemeCall
from rope_core.grade.assignment import SECONDS, TASKS
from rope_core.grade.child import stage_outcome_lines
from rope_core.grade.result import StageResult, check_python_syntax, stage_results, starter_source
from rope_core.languages import words
from ui.book.content import BookContent
from ui.figures.drawing import film_save_buttons_html
from ui.page import tasks
from ui.page.controls import ContainerContext
from ui.page.declaration import page_declaration
from ui.page.menu import PATH
from ui.present.view import PageView
from ui.text.escape import escaped_markdown

ANSWERED = "code.answered"
"""The session's calls of a reader's function and what it answered."""


class LearningFrame(BookContent):
    """The parts of a page that teach; each method is described in ui.page.frame.PageFrame."""

    view: PageView
    folds = counted = 0

    @property
    def is_on_stage(self) -> bool:
        return self.view.is_on_stage

    def draw_film_save_buttons(self, chart: str) -> None:
        self.places.add_node("row", film_save_buttons_html(chart, self.t), key=f"saves.{chart}")

    def draw_graded_exercise(self, function: str) -> None:
        stages, text, key = TASKS[function], starter_source(function), f"grade.{function}"
        self.caption(self.t("grade.where", seconds=f"{SECONDS:g}"))
        node = self.places.add_node("grade", key=key)
        node.attributes = {
            "data-grade": function,
            "data-homework": "",
            **_runner_attributes(stage_outcome_lines),
            "data-stages": " ".join(stages),
            "data-seconds": f"{SECONDS:g}",
            "data-running": self.t("grade.running"),
        }
        rows, hint = text.count("\n") + 8, escape(self.t("grade.keys"))
        box = f'<textarea rows="{rows}" spellcheck="false" autocapitalize="off">{escape(text)}</textarea>'
        buttons = " ".join(
            f'<button type="button" class="{name}">{escape(self.t(f"grade.{name}"))}</button>'
            for name in ("run", "again", "save")
        )
        label = f"<label><span>{escape(self.t('grade.editor', name=function))}</span>{box}</label>"
        node.html = f'{label}<p class="caption">{hint}</p>{buttons} <span role="status"></span>'

        def take(given: Any) -> None:
            try:
                check_python_syntax(given["source"], "mine.py")
                key_of, slots = given["ended"]
                graded = stage_results(function, dict.fromkeys(stages, 1.0), given["lines"], (key_of, slots))
                for each in graded:
                    each.sentence(self.t.lang)
                self.session[key] = graded
            except Exception as error:  # the frame's lines are the student's, who may have written others
                self.session[key] = errors.error_sentence(error, self.t.lang) or type(error).__name__

        self.places.register_handler(node.id, take)
        self._graded(self.session.get(key))

    def draw_scheme_editor(
        self, text: str, calls: Sequence[SchemeCall], take: Callable[[str], None]
    ) -> FunctionAnswers | None:
        words = [samples.write_call(each) for each in calls]
        known: tuple[Sequence[str], FunctionAnswers] | None = self.session.get(ANSWERED)
        answers = known[1] if known and known[0] == words and known[1].code == text else None
        if self.is_on_stage:
            return answers
        node = self.places.add_node("grade", key="code")
        node.attributes = {
            "data-grade": samples.FUNCTION,
            **_runner_attributes(samples.lines),
            "data-stages": " ".join(words),
            "data-seconds": f"{samples.SECONDS:g}",
            "data-running": self.t("grade.running"),
        }
        shown = escape(pasted.shown(text))
        box = f'<textarea rows="14" spellcheck="false" autocapitalize="off">{shown}</textarea>'
        button = f'<button type="button" class="run">{escape(self.t("code.run"))}</button>'
        node.html = f"<label><span>{escape(self.t('code.label'))}</span>{box}</label>{button} <span role=status></span>"
        # The browser runs by itself what has no answers yet: a frame of its own holds it.
        node.live = {"run": words[0] + words[-1] if pasted.kind_of(text) == "code" and answers is None else ""}

        def run(given: Any) -> None:
            source, lines = pasted.tidy(str(given["source"])), [str(line) for line in given["lines"]]
            if pasted.kind_of(source) == "code":
                self.session[ANSWERED] = words, samples.of_lines(source, calls, lines, self.t.lang)
            take(source)

        self.places.register_handler(node.id, run)
        return answers

    def _graded(self, graded: list[StageResult] | str | None) -> None:
        """Write what a student's code gave: why it is no Python, or a line for each stage."""
        if not graded:
            return
        if isinstance(graded, str):
            self.note(escaped_markdown(graded, 400), "error")
            return
        lang, right = self.t.lang, sum(result.passed for result in graded)
        total = words(lang, "grade")["word"]["total"].format(points=right, most=len(graded))
        self.note(f"**{total}**", "success" if right == len(graded) else "warning")
        marks = [f"{'✓' if result.passed else '✗'} {result.headline(lang)}" for result in graded]
        self.table({self.t("grade.stage"): marks, self.t("grade.fault"): [each.sentence(lang) for each in graded]})

    def container_below_page(self) -> ContainerContext:
        if not self.folds:
            self.places.add_node("prose", f'<h2 id="deeper">{escape(self.t("frame.deeper"))}</h2>', key="deeper")
        self.folds += 1
        return self.places.inside(self.places.current_node)

    @contextmanager
    def section_fold(self, section: str, title: str) -> Iterator[bool]:
        opened, line = section in self.view.unfolded_sections, f'<span id="{escape(section)}">{escape(title)}</span>'
        with self.places.folded_node("fold", line) as node:
            node.attributes = {"data-act": node.id, **({"open": ""} if opened else {})}
            self.places.register_handler(node.id, lambda on: self.view.unfold(section, on=bool(on)))
            yield opened

    def draw_path_progress(self) -> None:
        """How far the page is on the path, and the link to the next one."""
        if self.name not in PATH:
            return
        at, own = PATH.index(self.name), page_declaration(self.name).tasks
        line = self.t("frame.way_step", number=at + 1, total=len(PATH))
        self.counted = tasks.done_task_count(own, self.store, self.session)
        if own:
            line += self.t("frame.way_here", here=self.counted, here_of=len(own))
        node = self.places.add_node("onward", key="onward")
        node.live = {"done": tasks.done_task_names(self.session)}
        self.places.register_handler(node.id, lambda names: tasks.remember_done_tasks(self.session, names))
        with self.places.inside(node):
            self.progress((at + 1) / len(PATH), line)
            if at + 1 < len(PATH):
                following = PATH[at + 1]
                self.draw_page_link(following, f"**{self.t('frame.next', page=self.t.page_name(following))}**")


def _runner_attributes(runner: Callable[..., Iterator[str]]) -> dict[str, str]:
    """Return where the browser finds the function that runs a reader's code and yields a line for each stage."""
    return {"data-module": runner.__module__, "data-runner": runner.__name__}
