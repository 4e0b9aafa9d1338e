"""Predict first: nothing preselected, the figure moves after the answer, and a class that waits for its lecturer."""

import json
import sqlite3
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui.present import predict
from ui.present.lessons import Predict, Step
from ui.present.tally import Tally
from ui.present.view import View
from ui.work.measured import VISITOR

HOSTILE = "<b>$x$</b> [a](javascript:alert(1))"
STEP = Step(
    3,
    "clock",
    "Seen after the answer.",
    "",
    {},
    "",
    None,
    Predict("Which?", ("first", HOSTILE, "third"), 1, {"factor": 8.0}),
)
LATER = Step(4, "clock", "No question.", "", {}, "", None, None)


@pytest.fixture(autouse=True)
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "rooms.sqlite3"
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(path))
    return path


def screen() -> None:
    """Return the script of one page with one question."""
    import streamlit as st

    from ui.present.predict import ask
    from ui.present.steps import sentence
    from ui.present.view import View
    from ui.text.escape import plain

    view = View("clock", st.session_state["lang"], st.session_state)
    st.header(plain(sentence(st.session_state["step"], "lecture", st.session_state), 300))
    st.session_state["result"] = ask(view, st.session_state["step"], "lecture")


def opened(lang: str = "en", step: Step = STEP, **view: str) -> AppTest:
    at = AppTest.from_function(screen, default_timeout=30)
    at.session_state["lang"], at.session_state["step"], at.session_state["view"] = lang, step, view
    return at.run()


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def press(at: AppTest, part: str) -> AppTest:
    result = [button for button in at.button if part in button.label]
    assert len(result) == 1, labels(at)
    return result[0].click().run()


def written(at: AppTest) -> str:
    return " ".join(part.value for part in (*at.markdown, *at.caption))


def verdict(at: AppTest) -> str:
    return " ".join(part.value for part in at.markdown if ":material/" in part.value)


def ended(at: AppTest) -> bool:
    assert not at.exception
    return bool(at.session_state["result"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_figure_waits_for_the_answer(lang: str) -> None:
    at = opened(lang)
    assert not ended(at)
    assert len(at.button) == 3 and not any(button.proto.type == "primary" for button in at.button)
    assert at.header[0].value == "Which?" and not verdict(at)
    press(at, "first")
    assert ended(at) and at.header[0].value.startswith("Seen after the answer")
    assert "lightbulb" in verdict(at) and "A" in verdict(at) and "B" in verdict(at)
    assert ended(at.run()), "the answer stays in the session"


def test_a_right_answer_and_asking_again(rooms: Path) -> None:
    at = press(opened(), "**B**")
    assert ended(at) and "check" in verdict(at) and "B" in verdict(at)
    press(at, "Ask again")
    assert not ended(at) and len(at.button) == 3
    assert not any(button.proto.type == "primary" for button in at.button)
    assert not rooms.exists(), "without a room nothing is written"


def test_a_step_without_a_question_asks_nothing() -> None:
    at = opened(step=LATER)
    assert ended(at) and not at.button and not at.markdown and at.header[0].value.startswith("No question")


def test_questions_of_other_steps_are_others() -> None:
    at = press(opened(), "first")
    assert ended(at)
    at.session_state["step"] = Step(5, STEP.page, STEP.say, "", {}, "", None, STEP.predict)
    assert not ended(at.run())


def test_texts_of_a_lesson_are_letters() -> None:
    for at in (opened(), press(opened(), "first")):
        shown = written(at) + " ".join(labels(at))
        assert "<b>" not in shown and "$x$" not in shown and "](javascript" not in shown


def test_a_class_answers_waits_and_sees(rooms: Path) -> None:
    lecturer = opened(display="stage", room="physik")
    assert not ended(lecturer) and labels(lecturer) == ["Show the answer"]
    students = [press(opened("zh" if k else "en", room="physik"), f"**{'ABB'[k]}**") for k in range(3)]
    for student in students:
        assert not ended(student) and "physik" in written(student)
        assert not verdict(student)
    press(students[0], "**C**")
    lecturer.run()
    spec = json.loads(lecturer.get("plotly_chart")[0].proto.spec)
    assert spec["data"][0]["x"] == [0, 2, 1]
    assert lecturer.get("plotly_chart")[0].proto.alt == "3 answers: A 0, B 2, C 1."
    press(lecturer, "Show the answer")
    assert ended(lecturer) and "B is right: 2 of 3 (67 %)" in written(lecturer)
    for student in students:
        assert ended(student.run())
    assert [":material/check:" in verdict(student) for student in students] == [False, True, True]
    late = press(opened(room="physik"), "first")
    assert ended(late) and "not counted" in written(late)
    assert sum(Tally().count("physik", "lecture/3", 3).votes) == 3


def test_a_room_keeps_no_names(rooms: Path) -> None:
    opened(display="stage", room="physik")
    at = press(opened(room="physik"), "first")
    with sqlite3.connect(rooms) as db:
        row = db.execute("SELECT room, question, token, choice FROM answers").fetchall()
    assert row == [("physik", "lecture/3", at.session_state[predict.TOKEN], 0)]
    assert len(at.session_state[predict.TOKEN]) == 32
    assert predict.TOKEN not in opened().session_state, "a token is drawn only where it is used"


def test_nobody_waits_for_a_lecturer_who_is_not_there() -> None:
    at = press(opened(room="physik"), "first")
    assert ended(at) and "Nobody has opened this room." in written(at)
    assert Tally().rooms() == [], "a vote opens none"


def test_a_student_need_not_wait() -> None:
    opened(display="stage", room="physik")
    at = press(opened(room="physik"), "first")
    press(at, "Show me now")
    assert ended(at) and not any("**C**" in label for label in labels(at)), "and may change no more"
    assert not Tally().count("physik", "lecture/3", 3).revealed


def test_a_lecturer_goes_on_with_the_address_and_nobody_else_does() -> None:
    lecturer = opened(display="stage", room="physik")
    key = lecturer.session_state["view"]["lead"]
    assert len(key) == 32
    student = press(opened(room="physik"), "first")
    assert "lead" not in student.session_state["view"]
    for lead in ("", "0" * 32):
        assert labels(opened(display="stage", room="physik", lead=lead)) == ["Show the answer on this screen only"]
    again = opened(display="stage", room="physik", lead=key)
    assert labels(again) == ["Show the answer"]
    press(again, "Show the answer")
    assert ended(student.run())


def test_the_key_is_in_the_lecturers_address_alone() -> None:
    key = "0123456789abcdef" * 2
    for given, kept in ((key, key), (key[1:], ""), (key.upper(), ""), ("<script>", "")):
        view = View("clock", "en", {})
        view.read({"room": "physik", "lead": given, "display": "stage"}, {})
        assert view.lead == kept
        assert view.query(lead=True).get("lead", "") == kept
        assert "lead" not in view.query() and "lead" not in view.query(audience=True)


def test_one_browser_has_one_vote() -> None:
    opened(display="stage", room="physik")
    for k in range(3):
        tab = opened(room="physik")
        tab.session_state[VISITOR] = "b" * 32
        press(tab.run(), f"**{'ABA'[k]}**")
    assert Tally().count("physik", "lecture/3", 3).votes == (1, 0, 0)


def test_a_second_stage_leads_nothing() -> None:
    opened(display="stage", room="physik")
    student = press(opened(room="physik"), "first")
    other = opened(display="stage", room="physik")
    assert labels(other) == ["Show the answer on this screen only"] and "Another screen" in written(other)
    press(other, "this screen only")
    assert ended(other) and not ended(student.run())


def test_a_stage_without_a_room_takes_the_class_s_choice() -> None:
    at = opened(display="stage")
    assert len(at.button) == 3 and not at.get("plotly_chart")
    assert ended(press(at, "first"))


@pytest.mark.parametrize("lang, sentence", [("en", "goes on without the class"), ("zh", "只是没有全班的票数")])
def test_without_a_file_the_question_goes_on(
    lang: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(tmp_path / "blocked" / "rooms.sqlite3"))
    student = press(opened(lang, room="physik"), "first")
    assert ended(student) and written(student).count(sentence) == 1
    lecturer = opened(lang, display="stage", room="physik")
    assert not ended(lecturer) and written(lecturer).count(sentence) == 1
    assert ended(lecturer.button[0].click().run())
