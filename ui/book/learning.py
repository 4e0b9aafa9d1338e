"""What a learning page asks of its reader, as nodes: questions, challenges, folds, the way on."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from rope_core import errors
from rope_core.grade.assignment import SECONDS, TASKS
from rope_core.grade.result import Result, check_source, results, starter, texts
from ui.book.content import Content
from ui.book.controls import Controls
from ui.book.markdown import html
from ui.figures.tally import LETTERS
from ui.page import tasks
from ui.page.menu import PATH, declaration
from ui.page.state import Field
from ui.page.store import Store
from ui.page.symbols import legend
from ui.page.tasks import Challenge, Question
from ui.present.view import View
from ui.text.escape import plain
from ui.text.words import Words


class Learning(Content):
    """The parts of a page that teach; each method is described in ui.page.frame.Frame."""

    name: str
    t: Words
    store: Store
    controls: Controls
    view: View
    folds = counted = 0

    def live(self, part: Callable[..., None], *given: Any, shared: bool = True, every: float | None = None) -> None:
        raise NotImplementedError

    def goto(self, name: str, label: str | None = None, **query: str) -> None:
        raise NotImplementedError

    def predict(self, question: Question) -> bool:
        field, answered = question.field, bool(self.store.get(question.field))
        if self.view.stage or self.controls.hides(field):
            return True
        words, key = Words(self.t.lang, "predict"), f"ask.{question.name}"
        with self.places.inside(self.places.add("card", key=key)):
            self.write(f"**{words('predict')}** {self.t(f'{key}.question')}")
            if answered:
                self._answer(question, words)
            else:
                self._choices(key, field, lambda choice: tasks.answer(question, self.store, choice))
        return answered

    def _choices(self, key: str, field: Field, take: Callable[[str], None]) -> None:
        """Draw the choices of a field that is empty at first as buttons."""
        node = self.places.add("choices", key=f"choices.{field.name}")
        buttons = []
        for number, letter in enumerate(field.choices[1:]):
            on = str(letter == self.store.get(field)).lower()
            choice = self.t(f"{key}.{letter}")
            name = f"<b>{LETTERS[number]}</b>"
            text = name if choice == LETTERS[number] else f"{name} {html(choice, line=True)}"
            buttons.append(f'<button data-act="{escape(node.id)}" value="{letter}" aria-pressed="{on}">{text}</button>')
        node.html = "".join(buttons)
        self.places.act(node.id, lambda choice: take(str(choice)))

    def _answer(self, question: Question, words: Words) -> None:
        """Write whether the choice was right and why, and offer to ask again."""
        key, letters = f"ask.{question.name}", question.choices
        chosen, right = letters.index(self.store.get(question.field)), letters.index(question.right)
        verdict = tasks.judged(words, [self.t(f"{key}.{letter}") for letter in letters], chosen, right)
        self.write(f"{'✓' if chosen == right else '✗'} **{verdict}** {self.t(f'{key}.why')}")
        self.button(words("again"), f"again.{question.name}", tasks.answer, question, self.store, "")

    def symbols(self) -> None:
        self.places.add("legend", legend(self.t))

    def challenge(self, challenge: Challenge, *given: Any) -> None:
        words, key = Words(self.t.lang, "predict"), f"challenge.{challenge.name}"
        with self.places.inside(self.places.add("card", key=key)):
            self.write(f"**{words('challenge')}** {self.t(f'{key}.task')}")
            numbers = [field for field in challenge.fields if field.kind != "choice"]
            if numbers:
                self.controls.beside(*numbers, draw=self.controls.number)
            for field in challenge.fields:
                if field.kind == "choice" and not self.controls.hides(field):
                    self._choices(key, field, lambda choice, field=field: self.store.try_put(field, choice))  # type: ignore[misc]
            result = tasks.verdict(challenge, self.store, self.session, given)
            if result:
                self.note(tasks.feedback(challenge, result, words, self.t), "success" if result.passed else "warning")

    def grade(self, function: str) -> None:
        stages, text, key = TASKS[function], starter(function), f"grade.{function}"
        self.caption(self.t("grade.where", seconds=f"{SECONDS:g}"))
        node = self.places.add("grade", key=key)
        node.attributes = {
            "data-grade": function,
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
                check_source(given["source"], "mine.py")
                key_of, slots = given["ended"]
                graded = results(function, dict.fromkeys(stages, 1.0), given["lines"], (key_of, slots))
                self.session[key] = graded
            except ValueError as error:
                self.session[key] = errors.sentence(error, self.t.lang)

        self.places.act(node.id, take)
        self._graded(self.session.get(key))

    def _graded(self, graded: list[Result] | str | None) -> None:
        """Write what a student's code gave: why it is no Python, or a line for each stage."""
        if not graded:
            return
        if isinstance(graded, str):
            self.note(plain(graded, 400), "error")
            return
        lang, right = self.t.lang, sum(result.passed for result in graded)
        total = texts()["word"]["total"][lang].format(points=right, most=len(graded))
        self.note(f"**{total}**", "success" if right == len(graded) else "warning")
        marks = [f"{'✓' if result.passed else '✗'} {result.headline(lang)}" for result in graded]
        self.table({self.t("grade.stage"): marks, self.t("grade.fault"): [each.sentence(lang) for each in graded]})

    def deeper(self, section: str, *parts: Callable[[Any], None], every: float | None = None) -> None:
        if not self.folds:
            self.places.add("prose", f'<h2 id="deeper">{escape(self.t("frame.deeper"))}</h2>', key="deeper")
        self.folds += 1

        def fold(page: Learning) -> None:
            page.folded(section, *parts)

        fold.__name__ = section
        self.live(fold, every=every)

    def folded(self, section: str, *parts: Callable[[Any], None]) -> None:
        if self.view.stage:
            for part in parts:
                part(self)
            return
        title, body = self.t.prose(section)
        opened = self.view.opened
        node = self.places.add("fold", key="fold", tag="details")
        node.attributes = {"data-act": node.id, **({"open": ""} if section in opened else {})}
        self.places.act(node.id, lambda on: self.view.unfold(section, on=bool(on)))
        with self.places.inside(node):
            self.places.add("line", f'<span id="{escape(section)}">{escape(title)}</span>', tag="summary")
            with self.places.inside(self.places.add("inside")):
                self.write(body)
                if section in opened:
                    for part in parts:
                        part(self)

    def onward(self) -> None:
        """How far the page is on the path, and the link to the next one."""
        if self.name not in PATH:
            return
        at, own = PATH.index(self.name), declaration(self.name).tasks
        line = self.t("frame.way_step", number=at + 1, total=len(PATH))
        self.counted = tasks.done(own, self.store, self.session)
        if own:
            line += self.t("frame.way_here", here=self.counted, here_of=len(own))
        node = self.places.add("onward", key="onward")
        node.live = {"done": tasks.remembered(self.session)}
        self.places.act(node.id, lambda names: tasks.remember(self.session, names))
        with self.places.inside(node):
            self.progress((at + 1) / len(PATH), line)
            if at + 1 < len(PATH):
                following = PATH[at + 1]
                self.goto(following, f"**{self.t('frame.next', page=self.t(f'page.{following}'))}**")
