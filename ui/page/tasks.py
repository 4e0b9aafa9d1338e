"""What a learning page asks of its reader: questions to answer before looking, and challenges with a check.

Both are data of the page file. What was answered is kept in fields of the page, so that a link carries it and a reset
forgets it. Their words are in the page's labels: ``ask.<name>.question``, ``ask.<name>.a`` and so on, and
``ask.<name>.why``; ``challenge.<name>.task`` and a sentence for each reason of its verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rope_core.theory.challenges import Verdict
from ui.figures.tally import LETTERS
from ui.page.state import Field, Session, Value
from ui.page.store import Store
from ui.text.words import Words, short

SOLVED = "tasks.solved"
"""The session's set of challenges that were passed, by (page, name)."""


@dataclass(frozen=True)
class Question:
    """A prediction: one of its choices is right, and the answer moves the page's values to where it is seen.

    Attributes:
        name: of its field and of its words, the same in both languages.
        right: the choice that is right.
        choices: their names, a letter each.
        then: the values that show the answer, by field.
    """

    name: str
    right: str
    choices: str = "abc"
    then: tuple[tuple[Field, Value], ...] = ()

    def __post_init__(self) -> None:
        if self.right not in tuple(self.choices):
            raise ValueError(f"right must be one of {self.choices}, got {self.right}")

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
    check: Callable[..., Verdict]

    def __post_init__(self) -> None:
        for field in self.fields:
            if not (field.optional and field.default is None) and not (field.kind == "choice" and field.default == ""):
                raise ValueError(f"fields must be empty at first, got {field.name}")


@dataclass(frozen=True)
class Drawn:
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


Task = Question | Challenge | Drawn


def answer(question: Question, store: Store, choice: str) -> None:
    """Take a choice, "" to ask again, and move the page's values to where the answer is seen."""
    store.try_put(question.field, choice)
    if choice:
        for field, value in question.then:
            store.try_put(field, value)


def verdict(challenge: Challenge, store: Store, session: Session, given: Sequence[Any]) -> Verdict | None:
    """Return what the check says of the values in force, None until all are given; remember that it was passed."""
    values = [store.get(field) for field in challenge.fields]
    if any(value in (None, "") for value in values):
        return None
    result = challenge.check(*given, *values)
    solved: set[tuple[str, str]] = session.setdefault(SOLVED, set())
    (solved.add if result.passed else solved.discard)((store.page, challenge.name))
    return result


def judged(words: Words, texts: Sequence[str], chosen: int | None, right: int) -> str:
    """Return whether a choice, None for no choice, was right, and what is; ``words``: those of predictions."""
    slots = {"right": LETTERS[right], "choice": texts[right]}
    if chosen is None:
        return words("shown", **slots)
    if chosen == right:
        return words("yes", letter=LETTERS[right], choice=texts[right])
    return words("no", letter=LETTERS[chosen], **slots)


def feedback(challenge: Challenge, result: Verdict, words: Words, t: Words) -> str:
    """Return what a check says of an answer, as Markdown; ``words``: those of predictions, ``t``: the page's."""
    head = words("solved") if result.passed else words("score", score=round(100 * result.score))
    slots = {slot: short(float(f"{value:.4g}")) for slot, value in result.given.items()}
    return f"**{head}** {t(f'challenge.{challenge.name}.{result.reason}', **slots)}"


def done(task: Task, store: Store, session: Session) -> bool:
    """Return whether a question was answered, a curve drawn, or a challenge passed."""
    if isinstance(task, Challenge):
        return (store.page, task.name) in session.get(SOLVED, ())
    return bool(store.get(task.field))
