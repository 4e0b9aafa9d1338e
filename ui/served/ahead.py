"""The next step of a lesson computed while this one is shown: a press on the stage then waits for no figure.

A step's state is whole, so that its figures are the same for everybody: drawn once on a page that nobody sees, they are
among those that all sessions share.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from itertools import chain
from queue import Full, Queue

from rope_core.languages import FIRST
from ui.book.frame import BookFrame
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.present.stage import STANDS
from ui.present.steps import SEEN, question_key
from ui.present.view import DISPLAY, LOADED, OWN, STAGE, STEP, TALK

WAITING = 8
"""How many steps may wait to be drawn; a lecturer who goes on faster waits as without."""
DrawJob = tuple[Lesson, LessonStep, str, bool]
SLOW = {("ledger", "overview"), ("attention", "base_bound")}
"""Figures whose first drawing computes for most of a second, in any language: a link may lead to them at once."""
JOBS: Queue[DrawJob] = Queue(WAITING)


def queue_next_step(lesson: Lesson, step: LessonStep, lang: str, *, answered: bool) -> None:
    """Have what follows a step drawn in the background: its answer, or the next step."""
    asks = step.predict is not None and not answered
    if asks or step.number < len(lesson.steps):
        with suppress(Full):
            JOBS.put_nowait((lesson, step if asks else lesson.step(step.number + 1), lang, asks))


def draw_step_in_background(lesson: Lesson, step: LessonStep, lang: str, answered: bool) -> None:
    """Draw a step's figure for nobody, and note the part that it is in."""
    session = {LOADED: lesson, SEEN: {question_key(step, lesson.id)} if answered else set()}
    query = {DISPLAY.name: STAGE, TALK.name: OWN, STEP.name: str(step.number)}
    page = BookFrame(step.page, lang, session, "", query)
    if page.lead and step.figure:
        STANDS[step.page, step.figure] = page.lead_part.id.partition("/")[2]


def draw_queued_steps() -> None:
    """Draw the slow figures once, then what waits, one after another; the server has a thread for it."""
    talks = [talk for name in lessons.talk_names() if (talk := lessons.shipped_talk(FIRST, name))]
    slow = {(step.page, step.figure): (talk, step, FIRST, False) for talk in talks for step in talk.steps}
    for job in chain((slow[figure] for figure in sorted(SLOW)), iter(JOBS.get, None)):
        try:
            draw_step_in_background(*job)
        except Exception:
            logging.getLogger(__name__).exception("a step could not be drawn ahead: %s", job[1])
