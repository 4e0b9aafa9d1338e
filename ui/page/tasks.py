"""What a learning page asks of its reader: questions to answer before looking, and challenges with a check.

Both are data of the page file. What was answered is kept in fields of the page, so that a link carries it and a reset
forgets it; what was done stays done. Their words are in the page's labels: ``ask.<name>.question``, ``ask.<name>.a``
and so on, and ``ask.<name>.why``; ``challenge.<name>.task`` and a sentence for each reason of its verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from rope_core.theory.challenges import ChallengeVerdict
from ui.figures.tally import LETTERS
from ui.page.state import Field, FieldValue
from ui.page.store import PageValues
from ui.text.words import RAISED, PageTexts
from ui.work.session import SessionState

DONE = "tasks.done_task_count"
"""The session's set of tasks that are done, as "<page>.<task>"; the reader's browser keeps it as well."""
NAME, MOST = re.compile(r"[a-z_]{1,40}\.[a-z_]{1,40}"), 500
"""What a done task is called, and how many a browser may name."""


@dataclass(frozen=True)
class ChoiceQuestion:
    """A prediction: one of its choices is right, and the answer moves the page's values to where it is seen.

    Attributes:
        name: of its field and of its words, the same in both languages.
        right: the choice that is right.
        choices: their names, a letter each.
        then: the values that show the answer, by field.
    """

    name: str
    right: str
    then: tuple[tuple[Field, FieldValue], ...]
    choices: str = "abc"

    def __post_init__(self) -> None:
        if self.right not in tuple(self.choices):
            raise ValueError(f"right must be one of {self.choices}, got {self.right}")
        if not self.then:
            raise ValueError(f"then must be the values that show the answer, got {self.then}")

    @property
    def field(self) -> Field:
        """The field that holds the choice, "" before there is one."""
        return Field(self.name, "choice", "", choices=("", *self.choices))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that hold the reader's answer."""
        return (self.field,)


@dataclass(frozen=True)
class Challenge:
    """A task whose answer is checked: ``check`` takes what the page gives it and the values of the fields.

    A field is a number, None until it is given, or a choice, "" until there is one.
    """

    name: str
    fields: tuple[Field, ...]
    check: Callable[..., ChallengeVerdict]

    def __post_init__(self) -> None:
        for field in self.fields:
            if not (field.optional and field.default is None) and not (field.kind == "choice" and field.default == ""):
                raise ValueError(f"fields must be empty at first, got {field.name}")


@dataclass(frozen=True)
class SketchQuestion:
    """A prediction that is drawn: ``name`` is its field, the one of a film's sketch (`ui.figures.predicted`)."""

    name: str

    @property
    def field(self) -> Field:
        """The field that holds the curve as the sketch writes it, "" before there is one."""
        return Field(self.name, "text", "")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that hold the reader's answer."""
        return (self.field,)


Task = ChoiceQuestion | Challenge | SketchQuestion


def take_choice(question: ChoiceQuestion, store: PageValues, choice: str) -> None:
    """Take a choice, "" to ask again, and move the page's values to where the answer is seen."""
    store.try_put(question.field, choice)
    if choice:
        for field, value in question.then:
            store.try_put(field, value)


def challenge_verdict(
    challenge: Challenge, store: PageValues, session: SessionState, page_arguments: Sequence[Any]
) -> ChallengeVerdict | None:
    """Return what the check says of the values in force, None until all are given; remember that it was passed."""
    values = [store.get(field) for field in challenge.fields]
    if any(value in (None, "") for value in values):
        return None
    result = challenge.check(*page_arguments, *values)
    if result.passed:
        remember_done_tasks(session, [f"{store.page}.{challenge.name}"])
    return result


def choice_feedback(words: PageTexts, texts: Sequence[str], chosen: int | None, right: int) -> str:
    """Return whether a choice, None for no choice, was right, and what is; ``words``: those of predictions."""
    slots = {"right": LETTERS[right], "choice": texts[right]}
    if chosen is None:
        return words("shown", **slots)
    if chosen == right:
        return words("yes", letter=LETTERS[right], choice=texts[right])
    return words("no", letter=LETTERS[chosen], **slots)


def challenge_feedback(challenge: Challenge, result: ChallengeVerdict, words: PageTexts, t: PageTexts) -> str:
    """Return what a check says of an answer, as Markdown; ``words``: those of predictions, ``t``: the page's."""
    head = words("solved" if result.passed else "not_yet")
    slots = {slot: feedback_number_text(value, result.beside.get(slot)) for slot, value in result.given.items()}
    return f"**{head}** {t(f'challenge.{challenge.name}.{result.reason}', **slots)}"


def feedback_number_text(value: float, beside: float | None = None) -> str:
    """Write a number as feedback does: whole ones whole, others with three digits, more only where needed.

    Rounding must not take it to the number ``beside``, or past it; one beside itself is written as it is.

    >>> feedback_number_text(65_537), feedback_number_text(54_410.2), feedback_number_text(32_767.6, 32_768)
    ('65,537', '54,400', '32,767.6')
    >>> feedback_number_text(0.0201, 0.02), feedback_number_text(-0.02)
    ('0.0201', '−0.02')
    """
    shown = value
    for digits in range(3, 17):
        shown = value if float(value).is_integer() else float(f"{value:.{digits}g}")
        if beside is None or (shown > beside, shown < beside) == (value > beside, value < beside):
            break
    part, _, power = (f"{int(shown):,}" if float(shown).is_integer() else f"{shown:,}").partition("e")
    return part.replace("-", "−") + (f"·10{str(int(power)).translate(RAISED)}" if power else "")


def done_task_count(tasks: Collection[Task], store: PageValues, session: SessionState) -> int:
    """Return how many of a page's tasks are done: answered rightly, drawn and compared, or passed, once or as it is."""
    for task in tasks:
        if isinstance(task, ChoiceQuestion) and store.get(task.field) == task.right:
            remember_done_tasks(session, [f"{store.page}.{task.name}"])
        if isinstance(task, SketchQuestion) and store.get(task.field):
            remember_done_tasks(session, [f"{store.page}.{task.name}"])
    return sum(f"{store.page}.{task.name}" in session.get(DONE, ()) for task in tasks)


def remember_done_tasks(session: SessionState, names: object) -> None:
    """Add tasks to those done; what a browser sends that is no list of names is left out."""
    known: set[str] = session.setdefault(DONE, set())
    given = names if isinstance(names, list) else []
    known.update(name for name in given[:MOST] if isinstance(name, str) and NAME.fullmatch(name))


def done_task_names(session: SessionState) -> list[str]:
    """Return the tasks that are done, in order, for the browser to keep."""
    return sorted(session.get(DONE, ()))
