"""How a page is shown, beside its values: display, hidden controls, room, place in a lesson; kept in the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.page.state import Field, FieldValue, RefusedValue, values_from_query
from ui.page.store import PageValues, StoreNote, refusal_slots
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.present.rooms import normalized_room_name
from ui.text.words import page_sections
from ui.work.session import SessionState

STAGE, OWN, ALL = "stage", "own", "all"
DISPLAY = Field("display", "choice", "normal", choices=("normal", STAGE))
STEP = Field("step", "int")
TALK = Field("talk", "choice", "", choices=("", OWN, *lessons.talk_names()))
ROOM = Field("room", "text", "")
HIDE = Field("hide", "text", "")
OPEN = Field("open", "text", "")
"""The sections that are unfolded, with commas between, or ``all``."""
FIELDS = {field.name: field for field in (DISPLAY, STEP, TALK, ROOM, HIDE, OPEN)}
UNKNOWN_SHOWN = 3

SESSION = "view"
"""The session's dict of explicit values, by field name."""
LOADED = "view.own"
"""The session's own talk, by language-free content: a Lesson."""
REACHED = "view.reached"
"""The lesson's step whose state the session has taken: (lesson, number, whether after its answer)."""
GOING = "view.going"
"""The page of the step that a press asked for, until the next run opens it."""


def is_known_control(name: str) -> bool:
    """Whether any page has a control of this name."""
    return any(field.name == name for page in SECTIONS for field in page_declaration(page).fields)


@dataclass(frozen=True)
class PageView:
    """How one page is shown to one session."""

    page: str
    lang: str
    session: SessionState

    @property
    def explicit_values(self) -> dict[str, FieldValue]:
        """The explicit values, by name; one plain dict for the whole session."""
        return self.session.setdefault(SESSION, {})  # type: ignore[no-any-return]

    def get(self, field: Field) -> Any:
        """Return a field's value in force."""
        return self.explicit_values.get(field.name, field.default)

    def put(self, field: Field, value: FieldValue) -> None:
        """Set a value; a default is forgotten."""
        if value == field.default:
            self.explicit_values.pop(field.name, None)
        else:
            self.explicit_values[field.name] = value

    @property
    def is_on_stage(self) -> bool:
        """Whether this is the presentation display."""
        return bool(self.get(DISPLAY) == STAGE)

    @property
    def room_name(self) -> str:
        """The room of a hall in which a class answers; "" without one."""
        return str(self.get(ROOM))

    @property
    def hidden_controls(self) -> frozenset[str]:
        """The names of the controls that are not drawn."""
        return frozenset(self.get(HIDE).split(",")) if HIDE.name in self.explicit_values else frozenset()

    @property
    def unfolded_sections(self) -> tuple[str, ...]:
        """The sections of the page's text that are unfolded."""
        names = tuple(filter(None, self.get(OPEN).split(",")))
        return tuple(page_sections(self.lang, self.page)) if ALL in names else names

    def unfold(self, section: str, *, on: bool) -> None:
        """Unfold a section, or fold it."""
        others = tuple(name for name in self.unfolded_sections if name != section)
        self.put(OPEN, ",".join((*others, section) if on else others))

    @property
    def step_number(self) -> int | None:
        """The number of the lesson's step, from 1; None before the first."""
        number: int | None = self.get(STEP)
        return number

    def as_url_parameters(self, *, audience: bool = False) -> dict[str, str]:
        """Return the explicit values as URL parameters; an ``audience`` has no stage."""
        own = self.get(TALK) == OWN
        left_out = (DISPLAY.name, *((STEP.name, TALK.name) if own else ())) if audience else ()
        return {name: str(value) for name, value in self.explicit_values.items() if name not in left_out}

    def lesson(self) -> Lesson | None:
        """Return the talk in force, else the page's own lesson."""
        name = self.get(TALK)
        if name == OWN:
            return self.session.get(LOADED)
        return lessons.shipped_talk(self.lang, name) if name else lessons.page_lesson(self.lang, self.page)

    def step(self) -> LessonStep | None:
        """Return the step in force, which may be on another page of a talk."""
        lesson = self.lesson() if self.step_number else None
        return lesson.step(self.step_number) if lesson and self.step_number else None

    def step_on_this_page(self) -> LessonStep | None:
        """Return the step in force where it is on this page."""
        step = self.step()
        return step if step and step.page == self.page else None

    @property
    def is_after_answer(self) -> bool:
        """Whether the state in force is the one after the answer of the step."""
        return bool(self.session.get(REACHED, (None, False))[1])

    def read_query(self, query: Mapping[str, str], known: Mapping[str, Field]) -> list[StoreNote]:
        """Take the link's values; returns what was corrected or refused."""
        values, corrected = values_from_query(FIELDS, query)
        notes: list[StoreNote] = [
            ("frame.ignored" if used is None else "frame.corrected", refusal_slots(refused) | {"used": used})
            for refused, used in corrected
        ]
        for name, value in values.items():
            self.put(FIELDS[name], value)
        if ROOM.name in values:
            notes += self._read_room(str(values[ROOM.name]))
        if OPEN.name in values:
            names = (ALL, *page_sections(self.lang, self.page))
            self.put(OPEN, ",".join(name for name in self.get(OPEN).split(",") if name in names))
        if HIDE.name in values:
            notes += self._read_hide(str(values[HIDE.name]), known)
        return notes + self._read_step()

    def _read_room(self, text: str) -> list[StoreNote]:
        try:
            self.put(ROOM, normalized_room_name(text) if text else "")
        except ValueError:
            self.put(ROOM, "")
            return [("frame.ignored", refusal_slots(RefusedValue(ROOM, "rule.room", text)))]
        return []

    def _read_hide(self, text: str, known: Mapping[str, Field]) -> list[StoreNote]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        unknown = [name for name in names if name not in known and not is_known_control(name)]
        self.put(HIDE, ",".join(dict.fromkeys(name for name in names if name not in unknown)))
        return [("frame.unknown_hidden", {"given": name[:40]}) for name in unknown[:UNKNOWN_SHOWN]]

    def _read_step(self) -> list[StoreNote]:
        """Bring the step within the lesson; a talk starts at its first step."""
        if self.step_number is None and TALK.name not in self.explicit_values:
            return []
        lesson = self.lesson()
        if lesson is None:
            lost = TALK.name in self.explicit_values
            self.put(TALK, "")
            self.put(STEP, None)
            return [("frame.talk_not_loaded", {})] if lost else []
        if self.step_number is None and self.get(TALK):
            self.put(STEP, 1)
        given, last = self.step_number, len(lesson.steps)
        if given is None or 1 <= given <= last:
            return []
        self.put(STEP, min(max(given, 1), last))
        values = refusal_slots(RefusedValue(STEP, "rule.range", given)) | {
            "low": 1,
            "high": last,
            "used": self.step_number,
        }
        return [("frame.corrected", values)]

    def apply_reached_step_state(self, store: PageValues, query: Mapping[str, str], *, moved: bool) -> None:
        """Take the state of a step that was just reached, unless the ``query`` just read brought values of its own."""
        given = any(name in store.fields for name in query)
        if moved and STEP.name not in query and not self.get(TALK):
            self.put(STEP, None)
        if moved and OPEN.name not in query:
            self.put(OPEN, "")
        lesson, step = self.lesson() if self.step_number else None, self.step_on_this_page()
        reached = (lesson.id, step.number) if lesson and step else None
        if self.session.get(REACHED, (None, False))[0] == reached:
            return
        self.session[REACHED] = (reached, False)
        if step and not given:
            store.replace_all(step.state)

    def apply_state_after_answer(self, store: PageValues, *, is_answer_out: bool) -> None:
        """Take the state after the step's answer once ``is_answer_out``; ask again from the state before."""
        reached, after = self.session.get(REACHED, (None, False))
        step = self.step_on_this_page()
        if step and step.predict and is_answer_out != after:
            self.session[REACHED] = (reached, is_answer_out)
            store.replace_all(step.predict.then if is_answer_out else step.state)

    def film_play_record(self) -> Mapping[str, Any] | None:
        """Return what the step in force has a film play, once its question is answered, in the player's words."""
        step = self.step_on_this_page()
        if step is None or step.play is None or (step.predict and not self.is_after_answer):
            return None
        return asdict(step.play) | {"step": step.number}

    def restore_step_state(self, store: PageValues) -> None:
        """Return to the state of the step in force, else to the page's defaults."""
        step = self.step_on_this_page()
        if step:
            store.replace_all(step.state)
        else:
            store.reset()

    def first_step_number(self) -> int:
        """Return where a lesson begins: on the stage the claim comes before a page's own first step."""
        return 0 if self.is_on_stage and not self.get(TALK) else 1

    def go_to_step(self, number: int) -> None:
        """Go to a step of the lesson, to another page where the talk leads there.

        By its number and not by a difference: a press can be handed over twice, and must then be one.
        """
        lesson = self.lesson()
        if lesson is None:
            return
        number = min(max(number, self.first_step_number()), len(lesson.steps))
        self.put(STEP, number or None)
        step = self.step()
        self.session[GOING] = step.page if step else self.page

    def set_presenting(self, *, on: bool = True) -> None:
        """Open or leave the presentation display; the place in a lesson is kept."""
        self.put(DISPLAY, STAGE if on else DISPLAY.default)

    def begin_talk(self, talk: str) -> None:
        """Start a talk at its first step on the stage; "" is the page's own lesson."""
        self.put(TALK, talk)
        self.put(STEP, None)
        self.session.pop(REACHED, None)
        self.set_presenting()
        self.go_to_step(1)

    def leave_lesson(self) -> None:
        """Leave the lesson, and the stage with it."""
        for field in (TALK, STEP, DISPLAY):
            self.put(field, field.default)

    def pop_page_to_go_to(self) -> str | None:
        """Return the page of the step just chosen, once; None when none was."""
        return self.session.pop(GOING, None)  # type: ignore[no-any-return]
