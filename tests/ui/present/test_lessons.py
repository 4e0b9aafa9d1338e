"""Lesson files: what is read, and that everything else is refused in sentences."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import ROOT
from ui.page.declaration import page_declaration
from ui.present import lessons
from ui.present.lessons import LessonError, LessonProblem, LessonQuestion, load_lesson
from ui.present.steps import problem_sentence
from ui.text.words import PageTexts, page_labels

STEP = '[[steps]]\npage = "clock"\nsay = "Look."\n'


def file(steps: str = STEP, head: str = 'title = "T"\nminutes = 10\n') -> bytes:
    return f"{head}{steps}".encode()


def problem(data: bytes, page: str | None = None) -> LessonProblem:
    with pytest.raises(LessonError) as bad:
        load_lesson(data, "own", page)
    return bad.value.problem


def test_a_step_holds_the_whole_state_and_the_answer_adds_to_it() -> None:
    steps = (
        STEP + 'notes = " n "\nfigure = "hands"\nstate = { scheme = "yarn", factor = 8, seq_len = "auto" }\n'
        '[steps.predict]\nquestion = "?"\nchoices = ["a", "b"]\nanswer = 1\nthen = { factor = 16 }\n'
        '[[steps]]\npage = "rotation"\nsay = "Next."\n'
    )
    lesson = load_lesson(file(steps), "own")
    first, second = lesson.steps
    assert (lesson.title, lesson.minutes, lesson.id) == ("T", 10.0, "own")
    assert first.state == {"scheme": "yarn", "factor": 8.0, "seq_len": None}
    assert first.predict == LessonQuestion("?", ("a", "b"), 1, first.state | {"factor": 16.0})
    assert (first.notes, first.figure, first.number) == ("n", "hands", 1)
    assert (second.page, second.state, second.predict, second.number) == ("rotation", {}, None, 2)
    assert lesson.step(2) is second


def test_a_step_plays_a_control_from_its_state_to_a_value() -> None:
    steps = STEP + 'state = { factor = 2 }\nplay = { control = "factor", to = 8 }\n'
    step = load_lesson(file(steps), "own").step(1)
    assert step.play == lessons.FilmPlay("factor", 8.0, 4.0)
    assert step.state == {"factor": 2.0} and step.end_state == {"factor": 8.0}


def test_a_page_lesson_stands_on_its_page() -> None:
    assert load_lesson(file('[[steps]]\nsay = "Look."\n'), "clock", "clock").step(1).page == "clock"
    assert problem(file('[[steps]]\nsay = "a"\npage = "lrpe"\n'), "clock").key == "lesson.other_page"


BAD = {
    "not text": (b"\xff\xfe", (0, "not_utf8")),
    "not TOML": (b"title = ", (0, "not_toml")),
    "empty": (b"", (0, "missing")),
    "too big": (b"#" * (lessons.MAX_BYTES + 1), (0, "too_big")),
    "deep": (b"a = " + b"[" * 20_000, (0, "nested")),
    "dotted": (".".join("a" * 30_000).encode() + b" = 1", (0, "nested")),
    "many tables": ("".join(f"[t{k}]\n" for k in range(7000)).encode(), (0, "unknown_key")),
    "endless minutes": (file(head=f'title = "T"\nminutes = 0x{"f" * 60_000}\n'), (0, "minutes")),
    "a date": (file(STEP + "state = { factor = 1979-05-27 }\n"), (1, "value")),
    "endless number": (file(STEP + f"state = {{ factor = 1{'0' * 5000} }}\n"), (0, "not_toml")),
    "endless hexadecimal": (file(STEP + f"state = {{ factor = 0x{'f' * 5000} }}\n"), (1, "value")),
    "unknown keys": (
        file(STEP + "code = 1\n", 'x = 1\ntitle = "T"\nminutes = 1\n'),
        (0, "unknown_key"),
    ),
    "minutes": (file(head='title = "T"\nminutes = true\n'), (0, "minutes")),
    "a day": (file(head='title = "T"\nminutes = 1440\n'), (0, "minutes")),
    "title": (file(head="title = 3\nminutes = 1\n"), (0, "not_text")),
    "long title": (file(head=f'title = "{"x" * 121}"\nminutes = 1\n'), (0, "too_long")),
    "steps": (file('steps = ["a"]\n'), (0, "no_steps")),
    "61 steps": (file(STEP * 61), (0, "many_steps")),
    "no sentence": (file('[[steps]]\npage = "clock"\n'), (1, "missing")),
    "blank sentence": (file('[[steps]]\npage = "clock"\nsay = "  "\n'), (1, "missing")),
    "no page": (file('[[steps]]\nsay = "a"\n'), (1, "missing")),
    "unknown page": (file(STEP + '[[steps]]\npage = "../app"\nsay = "a"\n'), (2, "unknown_page")),
    "unknown field": (file(STEP + "state = { fator = 2 }\n"), (1, "unknown_field")),
    "out of range": (file(STEP + "state = { factor = 1e6 }\n"), (1, "value")),
    "not a number": (file(STEP + "state = { factor = nan }\n"), (1, "value")),
    "text for a number": (file(STEP + 'state = { factor = "8" }\n'), (1, "value")),
    "switch for a number": (file(STEP + "state = { factor = true }\n"), (1, "value")),
    "number for a switch": (file(STEP + "state = { truncate = 1 }\n"), (1, "value")),
    "number for a choice": (file(STEP + "state = { scheme = 1 }\n"), (1, "value")),
    "unknown choice": (file(STEP + 'state = { scheme = "yarrn" }\n'), (1, "choice")),
    "odd": (file(STEP + "state = { dim = 7 }\n"), (1, "value")),
    "state": (file(STEP + "state = [1]\n"), (1, "not_table")),
    "not together": (file(STEP + "state = { train_len = 16777216, factor = 1024 }\n"), (1, "impossible")),
    "answer": (file(STEP + '[steps.predict]\nquestion = "?"\nchoices = ["a", "b"]\nanswer = 2\n'), (1, "answer")),
    "one choice": (file(STEP + '[steps.predict]\nquestion = "?"\nchoices = ["a"]\nanswer = 0\n'), (1, "choices")),
    "choices": (file(STEP + '[steps.predict]\nquestion = "?"\nchoices = [1, 2]\nanswer = 0\n'), (1, "not_text")),
    "play nothing": (file(STEP + "play = { seconds = 2 }\n"), (1, "missing")),
    "play forever": (file(STEP + 'play = { control = "factor", to = 8, seconds = 1e9 }\n'), (1, "seconds")),
    "play too far": (file(STEP + 'play = { control = "factor", to = 1e6 }\n'), (1, "value")),
    "play what is not there": (file(STEP + 'play = { control = "fator", to = 8 }\n'), (1, "unknown_field")),
    "then": (
        file(STEP + '[steps.predict]\nquestion = "?"\nchoices = ["a", "b"]\nanswer = 0\nthen = { factor = 0 }\n'),
        (1, "value"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_a_sentence_at_its_step(name: str) -> None:
    data, expected = BAD[name]
    begun = time.thread_time()
    bad = problem(data)
    assert time.thread_time() - begun < 2.0
    assert (bad.step, bad.key.removeprefix("lesson.")) == expected
    for lang in ("en", "zh"):
        text = problem_sentence(bad, PageTexts(lang, "stage"))
        assert text and "{" not in text.replace("\\{", "").replace("{ factor = 8 }", "") and len(text) < 800
        assert str(bad.step) in text or not bad.step


def test_every_problem_has_its_sentence() -> None:
    source = Path(lessons.__file__).read_text("utf-8")
    for key in page_labels("en", "stage"):
        number = f'"{key.removeprefix("lesson.")}"'
        assert not key.startswith("lesson.") or key == "lesson.at_step" or f'"{key}"' in source or number in source


def test_foreign_letters_in_a_problem_are_escaped() -> None:
    text = problem_sentence(
        LessonProblem(1, "lesson.unknown_page", {"given": "<b>$x$ [a](b)"}), PageTexts("en", "stage")
    )
    assert r"\<b\>\$x\$ \[a\]\(b\)" in text


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just("auto")),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text("ab", max_size=2), inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["clock", "config", "models", "lrpe"]),
    st.fixed_dictionaries({}, optional={"title": VALUES, "minutes": VALUES, "steps": VALUES}),
    st.fixed_dictionaries(
        {}, optional={"say": VALUES, "state": VALUES, "predict": VALUES, "figure": VALUES, "notes": VALUES}
    ),
    st.data(),
)
def test_nothing_but_a_lesson_or_its_problems_comes_of_any_table(
    page: str, head: dict[str, Any], step: dict[str, Any], data: st.DataObject
) -> None:
    fields = sorted(field.name for field in page_declaration(page).fields)
    names = data.draw(st.lists(st.sampled_from(fields), max_size=3))
    state = {name: data.draw(VALUES) for name in names}
    table = {"title": "T", "minutes": 1, "steps": [{"page": page, "say": "a", "state": state} | step]} | head
    try:
        read = lessons.LessonReader(None).read_lesson(table, "own")
    except LessonError as bad:
        assert problem_sentence(bad.problem, PageTexts("zh", "stage"))
    else:
        for name, value in read.step(1).state.items():
            assert value is None or isinstance(value, bool | int | float | str), name


@pytest.mark.parametrize("name", ["docs/hall.md", "docs/hall.zh.md"])
def test_the_lesson_of_docs_is_one(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    (example,) = re.findall(r"```toml\n(title.*?)```", text, re.DOTALL)
    assert len(load_lesson(example.encode(), "own").steps) == 2
