"""Lessons: steps in TOML, each a sentence and a state of a page's controls; read, checked, never executed.

A talk is a file of its own; a page's lesson is the table page_lesson of ui/text/<lang>/<page>.toml.

    title = "The clock in four steps"
    minutes = 10
    [[steps]]
    page = "clock"                           # talks only
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
lessons alone {{n:name}} is a count of the ledger or the catalogue (`ui.text.words.text_counts`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NoReturn

from rope_core.languages import FIRST
from ui.page.declaration import PageDeclaration, page_declaration
from ui.page.menu import SECTIONS
from ui.page.state import Field, FieldValue, RefusedValue, checked_value
from ui.page.store import refusal_slots
from ui.text.words import TEXT, fill_counts, read_page_file

MAX_BYTES = 64 * 1024
MAX_STEPS = 60
MAX_CHOICES = 6
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

TomlTable = Mapping[str, Any]


@dataclass(frozen=True)
class LessonQuestion:
    """A question that is answered before the figure moves; ``then`` is the whole state after the answer."""

    question: str
    choices: tuple[str, ...]
    answer: int
    then: dict[str, FieldValue]


@dataclass(frozen=True)
class FilmPlay:
    """What a film plays when a step is reached: a control dragged from where it is to a value."""

    control: str
    to: FieldValue
    seconds: float


@dataclass(frozen=True)
class LessonStep:
    """One step: where, its sentence, the whole state of the controls, and what leads."""

    number: int
    page: str
    say: str
    notes: str
    state: dict[str, FieldValue]
    figure: str
    play: FilmPlay | None
    predict: LessonQuestion | None

    @property
    def end_state(self) -> dict[str, FieldValue]:
        """Return the state that ``say`` is about: after the answer, and after what is played."""
        state = dict(self.predict.then if self.predict else self.state)
        return state | {self.play.control: self.play.to} if self.play else state


@dataclass(frozen=True)
class Lesson:
    """A page's lesson or a talk over several pages; steps are numbered from 1."""

    id: str
    title: str
    minutes: float
    steps: tuple[LessonStep, ...]

    def step(self, number: int) -> LessonStep:
        """Return the step with this number, from 1."""
        return self.steps[number - 1]


@dataclass(frozen=True)
class LessonProblem:
    """What is wrong with a lesson file: the step (0: the head of the file), a text key, and what fills its slots."""

    step: int
    key: str
    given: dict[str, Any] = field(default_factory=dict)


class LessonError(ValueError):
    """A lesson file that is not one; ``problem`` says why."""

    def __init__(self, problem: LessonProblem) -> None:
        super().__init__(
            f"lesson must be a valid lesson file, got {problem.key} {problem.given} at step {problem.step}"
        )
        self.problem = problem


class LessonReader:
    """Reads one file; the first thing that is wrong with it is raised as LessonError."""

    def __init__(self, page: str | None) -> None:
        self.page, self.at = page, 0

    def raise_problem(self, key: str, **given: Any) -> NoReturn:
        """Refuse the file for a problem at the place that is being read."""
        raise LessonError(LessonProblem(self.at, key, given))

    def refuse_unknown_keys(self, kind: str, table: TomlTable) -> None:
        """Refuse keys that the format does not have."""
        for name in table:
            if name not in KEYS[kind]:
                self.raise_problem("lesson.unknown_key", given=name)

    def read_text(self, table: TomlTable, name: str, *, needed: bool = True) -> str:
        """Return a text of at most its length; "" where it is absent and not needed."""
        value = table.get(name, "")
        if not isinstance(value, str):
            self.raise_problem("lesson.not_text", name=name)
        if needed and not value.strip():
            self.raise_problem("lesson.missing", name=name)
        if len(value) > LENGTHS[name]:
            self.raise_problem("lesson.too_long", name=name, limit=LENGTHS[name])
        return value.strip()

    def read_table(self, table: TomlTable, name: str) -> TomlTable:
        """Return a table, an empty one where it is absent."""
        value = table.get(name, {})
        if not isinstance(value, dict):
            self.raise_problem("lesson.not_table", name=name)
        return value

    def read_number(self, table: TomlTable, name: str, maximum: float, default: float | None = None) -> float:
        """Return a number above 0, at most ``maximum``."""
        value = table.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= maximum:
            self.raise_problem(f"lesson.{name}")
        return float(value)

    def read_lesson(self, table: TomlTable, name: str) -> Lesson:
        """Return the whole file."""
        self.refuse_unknown_keys("lesson", table)
        title, minutes = self.read_text(table, "title"), self.read_number(table, "minutes", 600)
        steps = table.get("steps")
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps) or not steps:
            self.raise_problem("lesson.no_steps")
        if len(steps) > MAX_STEPS:
            self.raise_problem("lesson.many_steps", given=len(steps), limit=MAX_STEPS)
        read = []
        for self.at, step in enumerate(steps, 1):
            read.append(self.read_step(step))
        return Lesson(name, title, minutes, tuple(read))

    def read_step(self, table: TomlTable) -> LessonStep:
        """One step."""
        self.refuse_unknown_keys("step", table)
        page = self.read_text({"page": self.page or "", **table}, "page")
        if self.page not in (None, page):
            self.raise_problem("lesson.other_page", given=page)
        if page not in SECTIONS:
            self.raise_problem("lesson.unknown_page", given=page)
        declared = page_declaration(page)
        state = self.read_state(table, "state", declared, {})
        return LessonStep(
            self.at,
            page,
            self.read_text(table, "say"),
            self.read_text(table, "notes", needed=False),
            state,
            self.read_text(table, "figure", needed=False),
            self.read_film_play(self.read_table(table, "play"), state, declared) if "play" in table else None,
            self.read_question(self.read_table(table, "predict"), state, declared) if "predict" in table else None,
        )

    def read_film_play(self, table: TomlTable, state: Mapping[str, FieldValue], declared: PageDeclaration) -> FilmPlay:
        """Return what a film is to drag."""
        self.refuse_unknown_keys("play", table)
        control = table.get("control")
        if not isinstance(control, str) or "to" not in table:
            self.raise_problem("lesson.missing", name="control, to")
        end = self.read_state({"play": {control: table["to"]}}, "play", declared, state)
        return FilmPlay(control, end[control], self.read_number(table, "seconds", 60, 4))

    def read_question(
        self, table: TomlTable, state: Mapping[str, FieldValue], declared: PageDeclaration
    ) -> LessonQuestion:
        """Return a question with its choices, its answer, and the state after it."""
        self.refuse_unknown_keys("predict", table)
        choices, answer = table.get("choices"), table.get("answer")
        if not isinstance(choices, list) or not 2 <= len(choices) <= MAX_CHOICES:
            self.raise_problem("lesson.choices", limit=MAX_CHOICES)
        texts = tuple(self.read_text({"choice": choice}, "choice") for choice in choices)
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(texts):
            self.raise_problem("lesson.answer", last=len(texts) - 1)
        return LessonQuestion(
            self.read_text(table, "question"), texts, answer, self.read_state(table, "then", declared, state)
        )

    def read_state(
        self, table: TomlTable, name: str, declared: PageDeclaration, before: Mapping[str, FieldValue]
    ) -> dict[str, FieldValue]:
        """Return a page's values by name, each in its field's type and range, and all of them going together."""
        state, fields = dict(before), {field.name: field for field in declared.fields}
        for key, value in self.read_table(table, name).items():
            if key not in fields:
                self.raise_problem("lesson.unknown_field", given=key, page=declared.name)
            try:
                state[key] = checked_value(fields[key], field_value_from_toml(fields[key], value))
            except RefusedValue as refused:
                if refused.rule != "rule.choice":
                    self.raise_problem("lesson.value", **refusal_slots(refused))
                offered = fields[key].choices
                more = ", …" if len(offered) > SHOWN_CHOICES else ""
                self.raise_problem(
                    "lesson.choice", field=key, given=refused.given, offered=", ".join(offered[:SHOWN_CHOICES]) + more
                )
        draft = declared.page_values({})
        draft.replace_all(state)
        try:
            draft.require_consistent()
        except ValueError as error:
            self.raise_problem("lesson.impossible", error=error)
        return state

    def parse_toml(self, data: bytes) -> TomlTable:
        """Return the file as a table."""
        if len(data) > MAX_BYTES:
            self.raise_problem("lesson.too_big", limit=MAX_BYTES // 1024)
        try:
            text = data.decode("utf-8-sig")
            if DOTTED.search(text):
                raise RecursionError
            return tomllib.loads(text)
        except UnicodeDecodeError:
            self.raise_problem("lesson.not_utf8")
        except RecursionError:
            self.raise_problem("lesson.nested")
        except ValueError as error:
            self.raise_problem("lesson.not_toml", detail=str(error))


def field_value_from_toml(of: Field, value: object) -> FieldValue:
    """Return a TOML value as the field's type takes it; raises RefusedValue for a value of another type."""
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
        raise RefusedValue(of, rule, value_for_error(value))
    return value


def value_for_error(value: object) -> object:
    """Return a value as an error can name it; Python refuses to write whole numbers of thousands of digits."""
    small = isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 10**18)
    return value if small else type(value).__name__


def load_lesson(data: bytes, name: str, page: str | None = None) -> Lesson:
    """Read a lesson file; ``page`` is the page of a page's own lesson, None for a talk.

    Raises:
        LessonError: with what is wrong first.
    """
    reader = LessonReader(page)
    return reader.read_lesson(reader.parse_toml(data), name)


def shipped_talk_bytes(lang: str, name: str) -> bytes:
    """Return the file of a shipped talk with its counts filled in; b"" where there is none."""
    path = TEXT / lang / "talks" / f"{name}.toml"
    return fill_counts(path.read_text("utf-8")).encode() if path.exists() else b""


@lru_cache(maxsize=128)
def page_lesson(lang: str, page: str) -> Lesson | None:
    """Return the lesson in a page's own file; None where it has none."""
    table = read_page_file(lang, page).get("page_lesson")
    return LessonReader(page).read_lesson(table, page) if table else None


@lru_cache(maxsize=1)
def talk_names() -> tuple[str, ...]:
    """Return the names of the shipped talks, the same in both languages."""
    return tuple(sorted(path.stem for path in (TEXT / FIRST / "talks").glob("*.toml")))


@lru_cache(maxsize=16)
def shipped_talk(lang: str, name: str) -> Lesson | None:
    """Return a shipped talk by its name; None where there is none."""
    data = shipped_talk_bytes(lang, name) if name in talk_names() else b""
    chosen = tomllib.loads(data.decode())
    if whole := shipped_talk(lang, chosen["of"]) if "of" in chosen else None:
        # A shorter talk says which steps of a longer one it has.
        steps = (replace(whole.step(number), number=k) for k, number in enumerate(chosen["only"], 1))
        return Lesson(name, chosen["title"], chosen["minutes"], tuple(steps))
    return load_lesson(data, name) if data else None
