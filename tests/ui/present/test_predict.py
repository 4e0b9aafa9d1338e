"""Predict first: nothing preselected, the figure moves after the answer, on a page and on the stage."""

import pytest
from streamlit.testing.v1 import AppTest

from ui.present.lessons import LessonQuestion, LessonStep

HOSTILE = "<b>$x$</b> [a](javascript:alert(1))"
STEP = LessonStep(
    3,
    "clock",
    "Seen after the answer.",
    "",
    {},
    "",
    None,
    LessonQuestion("Which?", ("first", HOSTILE, "third"), 1, {"factor": 8.0}),
)
LATER = LessonStep(4, "clock", "No question.", "", {}, "", None, None)


def screen() -> None:
    """Return the script of one page with one question."""
    import streamlit as st

    from ui.present.predict import ask_question
    from ui.present.steps import headline_sentence
    from ui.present.view import PageView
    from ui.text.escape import escaped_markdown

    view = PageView("clock", st.session_state["lang"], st.session_state)
    st.header(escaped_markdown(headline_sentence(st.session_state["step"], "lecture", st.session_state), 300))
    st.session_state["result"] = ask_question(view, st.session_state["step"], "lecture")


def opened(lang: str = "en", step: LessonStep = STEP, **view: str) -> AppTest:
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


def test_a_right_answer_and_asking_again() -> None:
    at = press(opened(), "**B**")
    assert ended(at) and "check" in verdict(at) and "B" in verdict(at)
    press(at, "Ask again")
    assert not ended(at) and len(at.button) == 3
    assert not any(button.proto.type == "primary" for button in at.button)


def test_a_step_without_a_question_asks_nothing() -> None:
    at = opened(step=LATER)
    assert ended(at) and not at.button and not at.markdown and at.header[0].value.startswith("No question")


def test_questions_of_other_steps_are_others() -> None:
    at = press(opened(), "first")
    assert ended(at)
    at.session_state["step"] = LessonStep(5, STEP.page, STEP.say, "", {}, "", None, STEP.predict)
    assert not ended(at.run())


def test_texts_of_a_lesson_are_letters() -> None:
    for at in (opened(), press(opened(), "first")):
        shown = written(at) + " ".join(labels(at))
        assert "<b>" not in shown and "$x$" not in shown and "](javascript" not in shown


def test_a_stage_takes_the_class_s_choice_or_shows_the_answer() -> None:
    at = opened(display="stage")
    assert len(at.button) == 4 and not at.get("plotly_chart")
    assert ended(press(at, "first"))
    shown = press(opened(display="stage"), "this screen only")
    assert ended(shown) and "The answer is B" in verdict(shown)
