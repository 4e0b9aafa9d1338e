"""The next step of a lesson computed while this one is shown: a press on the stage then waits for no figure.

A step's state is whole, so that its figures are the same for everybody: drawn once on a page that nobody sees, they are
among those that all sessions share.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from queue import Full, Queue
from typing import Any

from ui.book.frame import Book
from ui.figures.drawing import Drawing, Film
from ui.page.menu import declaration
from ui.page.state import Value
from ui.page.tasks import Challenge, Question
from ui.present.lessons import Lesson, Step
from ui.present.stage import OUTSIDE, STANDS, within

WAITING = 8
"""How many steps may wait to be drawn; a lecturer who goes on faster waits as without."""
Job = tuple[str, str, str, Mapping[str, Value]]
SLOW: tuple[Job, ...] = (("ledger", "en", "overview", {}), ("attention", "en", "base_bound", {}))
"""Figures whose first drawing computes for most of a second, in any language: a link may lead to them at once."""


class Found(Exception):
    """The figure that leads is drawn, with what else its part draws."""


class Rehearsal(Book):
    """A page of the stage in a state, drawn for nobody: the part that has the figure, or all until it is found."""

    def __init__(self, name: str, lang: str, figure: str, state: Mapping[str, Value]) -> None:
        self.wanted, self.part, self.found = figure, OUTSIDE, False
        session: dict[Any, Any] = {}
        declaration(name).store(session).take(state)
        with suppress(Found):
            super().__init__(name, lang, session, "")

    def live(self, part: Callable[..., None], *given: Any, shared: bool = True, every: float | None = None) -> None:
        name = f"{self.part}/{part.__name__}" if self.part else part.__name__
        if not within(STANDS.get((self.name, self.wanted), name), name):
            return
        before, self.part = self.part, name
        super().live(part, *given, shared=shared)
        self.part = before
        if self.found and not before:
            raise Found

    def folded(self, section: str, *parts: Callable[[Any], None]) -> None:
        for part in parts:
            part(self)

    def show(self, drawing: Drawing | Film, *code: Callable[..., Any]) -> None:
        if not self.found and self.wanted in ("", drawing.id):
            self.found = True
            if self.wanted:
                STANDS[self.name, self.wanted] = self.part

    def predict(self, question: Question) -> bool:
        return True

    def challenge(self, challenge: Challenge, *given: Any) -> None:
        """Draw nothing: a task is not on the stage."""

    def onward(self) -> None:
        """Draw nothing: nor is the way on."""


JOBS: Queue[Job] = Queue(WAITING)


def rehearse(lesson: Lesson, step: Step, lang: str, *, answered: bool) -> None:
    """Have what follows a step drawn in the background: its answer, or the next step."""
    if step.predict and not answered:
        following, state = step, step.predict.then
    elif step.number < len(lesson.steps):
        following = lesson.step(step.number + 1)
        state = following.state
    else:
        return
    with suppress(Full):
        JOBS.put_nowait((following.page, lang, following.figure, state))


def work() -> None:
    """Draw the slow figures once, then what waits, one after another; the server has a thread for it."""
    for job in chain(SLOW, iter(JOBS.get, None)):
        try:
            Rehearsal(*job)
        except Exception:
            logging.getLogger(__name__).exception("a step could not be drawn ahead: %s", job)
