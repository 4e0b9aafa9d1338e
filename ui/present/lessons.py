"""Lessons: TOML files of steps, each a sentence and a state of a page's controls; read, checked, never executed.

    title = "The clock in four steps"
    minutes = 10
    [[steps]]
    page = "clock"                           # talks only; the page of a page's own lesson is its file's name
    say = "One sentence shown on the stage."
    notes = "What the lecturer may say."     # optional, shown in the lecturer's fold only
    state = { scheme = "yarn", factor = 8 }  # optional; what it leaves out is at its default
    figure = "slowdowns"                     # optional: the figure that leads, else the page's first
    play = { control = "factor", to = 8, seconds = 4 }  # optional: a film drags this control from the state to 8
    [steps.predict]                          # optional
    question = "What happens at 16?"
    choices = ["This.", "That."]
    answer = 1                               # index from 0
    then = { factor = 16 }                   # optional: what the answer changes in the state

All texts are shown as they are: Markdown, HTML and formulas in them are letters like any other. In the shipped
lessons alone {{n:name}} is a count of the ledger or the catalogue (`ui.text.words.counts`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ui.page.menu import SECTIONS, Declaration, declaration
from ui.page.state import Field, Refused, Value, check
from ui.page.store import slots
from ui.text.words import counted

FOLDER = Path(__file__).parent / "lessons"
MAX_BYTES = 64 * 1024
MAX_STEPS = 60
MAX_CHOICES = 6
SHOWN_PROBLEMS = 12
SHOWN_CHOICES = 12
LENGTHS = {"title": 120, "say": 300, "notes": 4000, "question": 300, "choice": 160, "figure": 60, "page": 60}
# A name of thousands of parts keeps Python's reader busy for seconds, with nothing else on the server moving.
DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){16}""", re.ASCII)
KEYS = {
    "lesson": ("title", "minutes", "steps"),
    "step": ("page", "say", "notes", "state", "figure", "play", "predict"),
    "play": ("control", "to", "seconds"),
    "predict": ("question", "choices", "answer", "then"),
}

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Predict:
    """A question that is answered before the figure moves; ``then`` is the whole state after the answer."""

    question: str
    choices: tuple[str, ...]
    answer: int
    then: dict[str, Value]


@dataclass(frozen=True)
class Play:
    """What a film plays when a step is reached: a control dragged from where it is to a value."""

    control: str
    to: Value
    seconds: float


@dataclass(frozen=True)
class Step:
    """One step: where, its sentence, the whole state of the controls, and what leads."""

    number: int
    page: str
    say: str
    notes: str
    state: dict[str, Value]
    figure: str
    play: Play | None
    predict: Predict | None

    @property
    def end(self) -> dict[str, Value]:
        """Return the state that ``say`` is about: after the answer, and after what is played."""
        state = dict(self.predict.then if self.predict else self.state)
        return state | {self.play.control: self.play.to} if self.play else state


@dataclass(frozen=True)
class Lesson:
    """A page's lesson or a talk over several pages; steps are numbered from 1."""

    id: str
    title: str
    minutes: float
    steps: tuple[Step, ...]

    def step(self, number: int) -> Step:
        """Return the step with this number, from 1."""
        return self.steps[number - 1]


@dataclass(frozen=True)
class Problem:
    """What is wrong with a lesson file: the step (0: the head of the file), a text key, and what fills its slots."""

    step: int
    key: str
    given: dict[str, Any] = field(default_factory=dict)


class BadLesson(ValueError):
    """A lesson file that is not one; ``problems`` says why, in the order of the file."""

    def __init__(self, problems: list[Problem]) -> None:
        first = problems[0]
        super().__init__(f"lesson must be a valid lesson file, got {first.key} {first.given} at step {first.step}")
        self.problems = tuple(problems)


class Reader:
    """Reads one file and gathers everything that is wrong with it."""

    def __init__(self, page: str | None) -> None:
        self.page, self.at = page, 0
        self.problems: list[Problem] = []

    def wrong(self, key: str, **given: Any) -> None:
        """Note a problem at the place that is being read."""
        self.problems.append(Problem(self.at, key, given))

    def known(self, kind: str, table: Table) -> None:
        """Refuse keys that the format does not have."""
        for name in table:
            if name not in KEYS[kind]:
                self.wrong("lesson.unknown_key", given=name)

    def text(self, table: Table, name: str, *, needed: bool = True) -> str:
        """Return a text of at most its length; "" where it is absent or wrong."""
        value = table.get(name)
        if value is None:
            if needed:
                self.wrong("lesson.missing", name=name)
            return ""
        if not isinstance(value, str):
            self.wrong("lesson.not_text", name=name)
        elif needed and not value.strip():
            self.wrong("lesson.missing", name=name)
        elif len(value) > LENGTHS[name]:
            self.wrong("lesson.too_long", name=name, limit=LENGTHS[name])
        else:
            return value.strip()
        return ""

    def table(self, table: Table, name: str) -> Table | None:
        """Return a table, or None where it is absent or wrong."""
        value = table.get(name)
        if value is None or isinstance(value, dict):
            return value
        self.wrong("lesson.not_table", name=name)
        return None

    def minutes(self, table: Table) -> float:
        """How long the lesson takes, in minutes."""
        value = table.get("minutes")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 600:
            self.wrong("lesson.minutes")
            return 0.0
        return float(value)

    def lesson(self, table: Table, name: str) -> Lesson:
        """Return the whole file; ``problems`` holds what is wrong in it."""
        self.known("lesson", table)
        title, minutes = self.text(table, "title"), self.minutes(table)
        steps = table.get("steps")
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps) or not steps:
            self.wrong("lesson.no_steps")
            steps = []
        if len(steps) > MAX_STEPS:
            self.wrong("lesson.many_steps", given=len(steps), limit=MAX_STEPS)
            steps = []
        read = []
        for self.at, step in enumerate(steps, 1):
            read.append(self.step(step))
        return Lesson(name, title, minutes, tuple(read))

    def step(self, table: Table) -> Step:
        """One step."""
        self.known("step", table)
        page = self.page_of(table)
        declared = declaration(page) if page in SECTIONS else None
        if page and declared is None:
            self.wrong("lesson.unknown_page", given=page)
        state = self.state(table, "state", declared)
        predict = self.table(table, "predict")
        return Step(
            self.at,
            page,
            self.text(table, "say"),
            self.text(table, "notes", needed=False),
            state,
            self.text(table, "figure", needed=False),
            self.play(table, state, declared),
            None if predict is None else self.predict(predict, state, declared),
        )

    def play(self, table: Table, state: Mapping[str, Value], declared: Declaration | None) -> Play | None:
        """Return what a film is to drag; None where the step has nothing of it or it is wrong."""
        given = self.table(table, "play")
        if given is None:
            return None
        self.known("play", given)
        control, seconds = given.get("control"), given.get("seconds", 4)
        if not isinstance(control, str) or "to" not in given:
            self.wrong("lesson.missing", name="control, to")
            return None
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 60:
            self.wrong("lesson.seconds")
            return None
        end = self.state({"play": {control: given["to"]}}, "play", declared, state)
        return Play(control, end[control], float(seconds)) if control in end else None

    def page_of(self, table: Table) -> str:
        """Return the page of a step: its own, or the one whose lesson this is."""
        if self.page is None:
            return self.text(table, "page")
        if table.get("page", self.page) != self.page:
            self.wrong("lesson.other_page", given=table["page"])
        return self.page

    def predict(self, table: Table, state: Mapping[str, Value], declared: Declaration | None) -> Predict:
        """Return a question with its choices, its answer, and the state after it."""
        self.known("predict", table)
        choices, answer = table.get("choices"), table.get("answer")
        if not isinstance(choices, list) or not 2 <= len(choices) <= MAX_CHOICES:
            self.wrong("lesson.choices", limit=MAX_CHOICES)
            choices = []
        texts = tuple(self.text({"choice": choice}, "choice") for choice in choices)
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < max(len(texts), 1):
            self.wrong("lesson.answer", last=max(len(texts) - 1, 0))
            answer = 0
        then = self.state(table, "then", declared, state)
        return Predict(self.text(table, "question"), texts, answer, then)

    def state(
        self, table: Table, name: str, declared: Declaration | None, before: Mapping[str, Value] | None = None
    ) -> dict[str, Value]:
        """Return a page's values by name, each in its field's type and range, and all of them going together."""
        given = self.table(table, name) or {}
        if declared is None:
            return {}
        state = dict(before or {})
        count = len(self.problems)
        for key, value in given.items():
            of = next((field for field in declared.fields if field.name == key), None)
            if of is None:
                self.wrong("lesson.unknown_field", given=key, page=declared.name)
                continue
            try:
                state[key] = check(of, typed(of, value))
            except Refused as refused:
                self.refused(refused, of)
        if len(self.problems) == count:
            self.together(declared, state)
        return state

    def refused(self, refused: Refused, of: Field) -> None:
        """Note a value that its field does not take; a choice with what is offered."""
        if refused.rule != "rule.choice":
            self.wrong("lesson.value", **slots(refused))
            return
        offered = ", ".join(of.choices[:SHOWN_CHOICES]) + (", …" if len(of.choices) > SHOWN_CHOICES else "")
        self.wrong("lesson.choice", field=of.name, given=refused.given, offered=offered)

    def together(self, declared: Declaration, state: Mapping[str, Value]) -> None:
        """Refuse values that the page cannot draw."""
        draft = declared.store({})
        draft.take(state)
        try:
            draft.fits()
        except ValueError as error:
            self.wrong("lesson.impossible", error=error)


def typed(of: Field, value: object) -> Value:
    """Return a TOML value as the field's type takes it; raises Refused for a value of another type."""
    if of.optional and value == "auto":
        return None
    if of.kind == "bool":
        fits, rule = isinstance(value, bool), "rule.truth"
    elif of.kind in ("choice", "text"):
        fits, rule = isinstance(value, str) and len(value) <= 200, "rule.text"
    else:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits, rule = number and abs(value) < 1e300, "rule.number"  # type: ignore[arg-type]
    if not fits:
        raise Refused(of, rule, tellable(value))
    return value


def tellable(value: object) -> object:
    """Return a value as an error can name it; Python refuses to write whole numbers of thousands of digits."""
    small = isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 10**18)
    return value if small else type(value).__name__


def load(data: bytes, name: str, page: str | None = None) -> Lesson:
    """Read a lesson file; ``page`` is the page of a page's own lesson, None for a talk.

    Raises:
        BadLesson: with every problem of the file.
    """
    reader = Reader(page)
    table = parsed(data, reader.wrong)
    lesson = reader.lesson(table, name) if table is not None else None
    if lesson is None or reader.problems:
        raise BadLesson(reader.problems[:SHOWN_PROBLEMS])
    return lesson


def parsed(data: bytes, wrong: Callable[..., None]) -> Table | None:
    """Return the file as a table, or None with the reason noted."""
    if len(data) > MAX_BYTES:
        wrong("lesson.too_big", limit=MAX_BYTES // 1024)
        return None
    try:
        text = data.decode("utf-8-sig")
        if DOTTED.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except UnicodeDecodeError:
        wrong("lesson.not_utf8")
    except RecursionError:
        wrong("lesson.nested")
    except ValueError as error:
        wrong("lesson.not_toml", detail=str(error))
    return None


def shipped(lang: str, kind: str, name: str) -> bytes:
    """Return a shipped lesson file with its counts filled in; b"" where there is none. ``kind``: "pages" or "talks"."""
    path = FOLDER / lang / kind / f"{name}.toml"
    return counted(path.read_text("utf-8")).encode() if path.exists() else b""


@lru_cache(maxsize=128)
def page_lesson(lang: str, page: str) -> Lesson | None:
    """Return the shipped lesson of a page; None where there is none."""
    data = shipped(lang, "pages", page)
    return load(data, page, page) if data else None


@lru_cache(maxsize=1)
def talks() -> tuple[str, ...]:
    """Return the names of the shipped talks, the same in both languages."""
    return tuple(sorted(path.stem for path in (FOLDER / "en" / "talks").glob("*.toml")))


@lru_cache(maxsize=16)
def talk(lang: str, name: str) -> Lesson | None:
    """Return a shipped talk by its name; None where there is none."""
    data = shipped(lang, "talks", name) if name in talks() else b""
    chosen = tomllib.loads(data.decode())
    if whole := talk(lang, chosen["of"]) if "of" in chosen else None:
        # A shorter talk says which steps of a longer one it has.
        steps = (replace(whole.step(number), number=k) for k, number in enumerate(chosen["only"], 1))
        return Lesson(name, chosen["title"], chosen["minutes"], tuple(steps))
    return load(data, name) if data else None
