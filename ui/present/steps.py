"""What is shown of a lesson's step, and what its question came to in a session; nothing here knows who draws it."""

from __future__ import annotations

import re
from html import escape

from ui.page.sentences import escaped_label as written
from ui.present.lessons import Lesson, LessonProblem, LessonQuestion, LessonStep
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts
from ui.work.session import SessionState

ANSWERS, SEEN = "predict.answers", "predict.seen"
"""The session's choices by question, and its questions whose answer is out."""
LONG = 110
"""A sentence of more letters is written smaller; a Chinese letter counts double."""
TWO_LINES = 200
"""Letters below a figure on a slide."""
HAN = "\u2e80"


class PredictionState:
    """One question in one session: what was chosen, and whether the answer is out."""

    def __init__(self, session: SessionState, step: LessonStep, predict: LessonQuestion, lesson_id: str) -> None:
        self.session, self.predict, self.id = session, predict, question_key(step, lesson_id)

    @property
    def chosen(self) -> int | None:
        """This session's choice."""
        choice: int | None = self.session.setdefault(ANSWERS, {}).get(self.id)
        return choice

    @property
    def is_answer_seen(self) -> bool:
        """Whether this session has seen the answer."""
        return self.id in self.session.setdefault(SEEN, set())

    @property
    def choice_texts(self) -> tuple[str, ...]:
        """The choices as harmless Markdown."""
        return tuple(escaped_markdown(choice, 200) for choice in self.predict.choices)

    def keep_choice(self, choice: int) -> None:
        """Keep a choice."""
        self.session.setdefault(ANSWERS, {})[self.id] = choice

    def reveal_answer(self) -> None:
        """Put the answer out in this session."""
        self.session.setdefault(SEEN, set()).add(self.id)

    def ask_again(self) -> None:
        """Ask again."""
        self.session[SEEN].discard(self.id)
        self.session.setdefault(ANSWERS, {}).pop(self.id, None)


def question_key(step: LessonStep, lesson_id: str) -> str:
    """Return the word by which a question is known in the session and in a room, in every language the same."""
    return f"{lesson_id}/{step.number}"


def headline_sentence(step: LessonStep, lesson_id: str, session: SessionState) -> str:
    """Return what is written in large letters: the question until the answer is out, then the step's sentence."""
    open_question = step.predict is not None and question_key(step, lesson_id) not in session.get(SEEN, ())
    return step.predict.question if step.predict and open_question else step.say


def is_long_sentence(text: str) -> bool:
    """Return whether a sentence is written smaller."""
    return letter_width(text) > LONG


def letter_width(text: str) -> int:
    """Return how many letters wide a text is; a Chinese letter counts double."""
    return sum(2 if letter > HAN else 1 for letter in text)


def slide_finding(finding: str) -> str:
    """Return what a room can read of a finding: its first whole sentences, or parts of one, that fill two lines.

    >>> slide_finding("The window reads best; " + "then others, " * 20)
    'The window reads best.'
    """
    if letter_width(finding) <= TWO_LINES:
        return finding
    ends = [
        match
        for match in re.finditer(r"[.;](?= )|[。；]", finding)
        if letter_width(finding[: match.end()]) <= TWO_LINES
    ]
    # Where there is no end in reach, a slide shows the beginning of it.
    return finding[: ends[-1].start()] + (ends[-1][0].replace(";", ".").replace("；", "。")) if ends else finding


def lesson_summary(lesson: Lesson, t: PageTexts, *, markdown: bool = True) -> str:
    """Return a lesson in one line, as harmless ``markdown`` or as letters: title, minutes, steps."""
    title = escaped_markdown(lesson.title, 120) if markdown else lesson.title
    return t("talk", title=title, minutes=f"{lesson.minutes:g}", steps=len(lesson.steps))


def problem_sentence(problem: LessonProblem, t: PageTexts) -> str:
    """Return a problem of a lesson file in the page's language, with its step."""
    text = written(problem.key, problem.given, t)
    return t("lesson.at_step", step=problem.step, problem=text) if problem.step else text


def lecturer_notes_html(lesson: Lesson | None, step: LessonStep, t: PageTexts) -> str:
    """Return what the lecturer's own window shows of a step, hidden here, as HTML; stage.js writes it there."""
    following = lesson.steps[step.number].say if lesson and step.number < len(lesson.steps) else ""
    answer = f"{t('answer')} {step.predict.choices[step.predict.answer]}" if step.predict else ""
    parts = {
        "count": t("count", number=step.number, total=len(lesson.steps) if lesson else step.number),
        "question": step.predict.question if step.predict else "",
        "answer": answer,
        "say": step.say,
        "notes": step.notes,
        "following": f"{t('following')} {following}" if following else "",
    }
    lines = "".join(f'<p class="{name}">{escape(text)}</p>' for name, text in parts.items() if text)
    return f'<div class="stage-notes-text" hidden data-title="{escape(t("notes"))}">{lines}</div>'
