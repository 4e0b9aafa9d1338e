"""Predict first: nothing preselected, the figure moves after the answer, and a class that waits for its lecturer."""

import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ui.present.lessons import Predict, Step
from ui.present.predict import TOKEN, share
from ui.present.tally import Tally
from ui.present.view import View
from ui.work.jobs import VISITOR

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


def voted(*chosen: int) -> None:
    """Have phones vote in the room."""
    for k, choice in enumerate(chosen):
        assert Tally().answer("physik", "lecture/3", f"phone {k}", choice)


def test_a_class_answers_and_nobody_sees_how_before_the_lecturer_shows_it(rooms: Path) -> None:
    lecturer = opened(display="stage", room="physik")
    assert not ended(lecturer) and "Show the answer" in labels(lecturer) and len(labels(lecturer)) == 4
    voted(2, 1, 1)
    lecturer.run()
    assert "3 answered" in written(lecturer) and not lecturer.get("plotly_chart")
    assert not any(text in written(lecturer) for text in ("A 0", "B 2", "C 1"))
    press(lecturer, "Show the answer")
    assert ended(lecturer) and "B is right: 2 of 3 (67 %)" in written(lecturer)
    assert not Tally().answer("physik", "lecture/3", "late", 1)


def test_a_stage_s_own_choice_shows_the_answer_to_the_room() -> None:
    lecturer = press(opened(display="stage", room="physik"), "**C**")
    assert ended(lecturer) and Tally().count("physik", "lecture/3", 3).revealed


def test_who_reads_alone_is_in_no_room(rooms: Path) -> None:
    at = press(opened(room="physik"), "first")
    assert ended(at) and not rooms.exists()


def test_a_lecturer_goes_on_with_the_address_and_nobody_else_does() -> None:
    lecturer = opened(display="stage", room="physik")
    key = lecturer.session_state["view"]["lead"]
    assert len(key) == 32
    for lead in ("", "0" * 32):
        assert "Show the answer on this screen only" in labels(opened(display="stage", room="physik", lead=lead))
    again = opened(display="stage", room="physik", lead=key)
    press(again, "Show the answer")
    assert Tally().count("physik", "lecture/3", 3).revealed


def test_who_lost_the_window_finds_the_room_with_the_same_browser() -> None:
    for _ in range(2):
        at = AppTest.from_function(screen, default_timeout=30)
        at.session_state["lang"], at.session_state["step"], at.session_state[VISITOR] = "en", STEP, "b" * 32
        at.session_state["view"] = {"display": "stage", "room": "physik"}
        assert "Show the answer" in labels(at.run())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_phones_are_shown_the_question_alone_and_then_its_answer(lang: str) -> None:
    view = View("clock", lang, {"view": {"room": "physik", "display": "stage"}, TOKEN: "t" * 32})

    def shown(step: Step) -> dict[str, object]:
        share(view, step.say, step, "lecture")
        content: dict[str, object] = json.loads(Tally().shown("physik")[1])
        return content

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", view.session)
        question = {
            "lang": lang,
            "say": "",
            "id": "lecture/3",
            "question": "Which?",
            "choices": ["first", HOSTILE, "third"],
        }
        assert shown(STEP) == question
        view.session["predict.seen"] = {"lecture/3"}
        assert shown(STEP) == question | {"answer": 1, "say": STEP.say}
        assert shown(LATER) == {"lang": lang, "say": LATER.say}


def test_the_key_is_in_the_lecturers_address_alone() -> None:
    key = "0123456789abcdef" * 2
    for given, kept in ((key, key), (key[1:], ""), (key.upper(), ""), ("<script>", "")):
        view = View("clock", "en", {})
        view.read({"room": "physik", "lead": given, "display": "stage"}, {})
        assert view.lead == kept
        assert view.query(lead=True).get("lead", "") == kept
        assert "lead" not in view.query() and "lead" not in view.query(audience=True)


def test_a_second_stage_leads_nothing() -> None:
    opened(display="stage", room="physik")
    other = opened(display="stage", room="physik")
    assert "Show the answer on this screen only" in labels(other) and "Another screen" in written(other)
    press(other, "this screen only")
    assert ended(other) and not Tally().count("physik", "lecture/3", 3).revealed


def test_a_stage_without_a_room_takes_the_class_s_choice_or_shows_the_answer() -> None:
    at = opened(display="stage")
    assert len(at.button) == 4 and not at.get("plotly_chart")
    assert ended(press(at, "first"))
    shown = press(opened(display="stage"), "this screen only")
    assert ended(shown) and "The answer is B" in verdict(shown)


@pytest.mark.parametrize("lang, sentence", [("en", "goes on without the class"), ("zh", "只是没有全班的票数")])
def test_without_a_file_the_question_goes_on(
    lang: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(tmp_path / "blocked" / "rooms.sqlite3"))
    lecturer = opened(lang, display="stage", room="physik")
    assert not ended(lecturer) and written(lecturer).count(sentence) == 1
    assert ended(lecturer.button[0].click().run())
