"""What learning pages ask: answers in fields, checks that pass and fail in sentences, and how far a visitor is."""

import re
from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rope_core import Rope
from rope_core.languages import LANGUAGES
from rope_core.theory.challenges import ChallengeVerdict
from tests.test_pages import opened
from ui.page.declaration import page_declaration, path_progress
from ui.page.menu import PATH, SECTIONS
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import (
    Challenge,
    ChoiceQuestion,
    SketchQuestion,
    challenge_feedback,
    challenge_verdict,
    done_task_count,
    done_task_names,
    feedback_number_text,
    remember_done_tasks,
    take_choice,
)
from ui.text.words import PageTexts, page_labels

MOVED = Field("moved", "int", 3, 0, 9)
SIDE = ChoiceQuestion("side", "b", ((MOVED, 7),), "ab")
CURVE = SketchQuestion("curve")
NUMBER = Field("number", "int", None, 0, 9, optional=True)
EVEN = Challenge("even", (NUMBER,), lambda least, n: ChallengeVerdict("passed" if n % 2 == 0 and n >= least else "odd"))
LLAMA = Rope(128, 10_000.0, 4096)
EXPONENT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
LEARNING = [name for name in PATH if name in SECTIONS]


def store() -> PageValues:
    return PageValues("page", (MOVED, *SIDE.fields, *CURVE.fields, *EVEN.fields), {})


def test_an_answer_is_a_field_and_moves_the_page_to_where_it_is_seen() -> None:
    values = store()
    take_choice(SIDE, values, "a")
    assert values.as_url_parameters() == {"side": "a", "moved": "7"}
    take_choice(SIDE, values, "")
    assert values.get(MOVED) == 7
    values.reset()
    assert values.as_url_parameters() == {}


def test_what_is_done_counts_where_it_is_right_and_stays_done() -> None:
    values, session = store(), dict[str, object]()
    steps: list[tuple[ChoiceQuestion | SketchQuestion, str, int]] = [
        (SIDE, "a", 0),
        (SIDE, "b", 1),
        (SIDE, "a", 1),
        (CURVE, "1.2", 2),
        (CURVE, "", 2),
    ]
    for task, value, count in steps:
        values.put(task.field, value)
        assert done_task_count((SIDE, CURVE, EVEN), values, session) == count
    assert challenge_verdict(EVEN, values, session, (2,)) is None
    for number, passed, count in ((3, False, 2), (4, True, 3), (0, False, 3)):
        values.put(NUMBER, number)
        result = challenge_verdict(EVEN, values, session, (2,))
        assert result and result.passed == passed and done_task_count((SIDE, CURVE, EVEN), values, session) == count
    another: dict[str, object] = {}
    remember_done_tasks(another, done_task_names(session))
    assert done_task_names(another) == ["page.curve", "page.even", "page.side"]
    for sent in (None, "page.side", 7, {"a": 1}, [7, None, "<b>.x", "a" * 99 + ".b", ["page.side"]]):
        fresh: dict[str, object] = {}
        remember_done_tasks(fresh, sent)
        assert done_task_names(fresh) == []


def test_a_question_without_its_right_choice_and_a_field_that_is_filled_are_refused() -> None:
    with pytest.raises(ValueError, match="right must be one of ab, got c"):
        ChoiceQuestion("side", "c", ((MOVED, 7),), "ab")
    with pytest.raises(ValueError, match="then must be the values that show the answer"):
        ChoiceQuestion("side", "a", ())
    with pytest.raises(ValueError, match="fields must be empty at first, got moved"):
        Challenge("even", (MOVED,), EVEN.check)


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_task_has_its_words(name: str, lang: str) -> None:
    own = page_labels(lang, name)
    for task in page_declaration(name).tasks:
        if isinstance(task, SketchQuestion):
            needed = {f"{task.name}_ask", f"{task.name}_label"}
        elif isinstance(task, ChoiceQuestion):
            needed = {f"ask.{task.name}.{part}" for part in ("question", "why", *task.choices)}
        else:
            needed = {f"challenge.{task.name}.{part}" for part in ("task", "passed")}
        assert needed <= own.keys()


@pytest.mark.parametrize("name", LEARNING)
def test_no_words_are_left_of_a_task_that_is_not_there(name: str) -> None:
    known = {task.name for task in page_declaration(name).tasks if not isinstance(task, SketchQuestion)}
    used = {match[1] for key in page_labels("en", name) if (match := re.match(r"(?:ask|challenge)\.(\w+)\.", key))}
    assert used == known


def test_how_far_a_visitor_is_counts_what_was_done() -> None:
    session: dict[str, object] = {}
    declared = page_declaration("rotation")
    before = path_progress("rotation", session)
    assert before and before.number == LEARNING.index("rotation") + 1 and before.total == len(LEARNING)
    assert (before.here, before.here_of, before.done) == (0, len(declared.tasks), 0)
    question = next(task for task in declared.tasks if isinstance(task, ChoiceQuestion))
    take_choice(question, declared.page_values(session), question.right)
    after, elsewhere = path_progress("rotation", session), path_progress("layouts", session)
    assert after and elsewhere and (after.here, after.done, elsewhere.done) == (1, 1, 1)
    assert before.following == LEARNING[LEARNING.index("rotation") + 1]
    last = path_progress(LEARNING[-1], session)
    assert last and last.following is None
    assert path_progress("ledger", session) is None


def texts(at: AppTest) -> str:
    return "\n".join(each.value for each in (*at.markdown, *at.success, *at.warning))


def test_the_answer_is_hidden_until_a_choice_is_made_and_the_link_keeps_it() -> None:
    t = PageTexts("en", "rotation")
    question = next(task for task in page_declaration("rotation").tasks if isinstance(task, ChoiceQuestion))
    at = opened("rotation", lang="en")
    assert t(f"ask.{question.name}.question") in texts(at) and t(f"ask.{question.name}.why") not in texts(at)
    wrong = next(k for k, letter in enumerate(question.choices) if letter != question.right)
    at.button(key=f"choices-{question.name}.{wrong}").click().run()
    assert not at.exception
    assert t(f"ask.{question.name}.why") in texts(at) and "You chose" in texts(at)
    linked = opened("rotation", lang="zh", **{question.name: question.right})
    assert PageTexts("zh", "rotation")(f"ask.{question.name}.why") in texts(linked)


def test_a_challenge_fails_and_passes_with_a_sentence() -> None:
    shown = opened("rotation", lang="en", first="10", second="20")
    assert any("Not yet." in each.value and "10 tokens apart" in each.value for each in shown.warning)
    assert not shown.success
    shown = opened("rotation", lang="en", first="10", second="54")
    assert "Solved." in shown.success[0].value and "44 tokens apart" in shown.success[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fold_has_its_text_from_the_start_and_its_parts_once_a_link_opens_it(lang: str) -> None:
    _, body = PageTexts(lang, "rotation").section_title_and_text("backward")
    folded, unfolded = opened("rotation", lang=lang), opened("rotation", lang=lang, open="backward,nothing")
    assert body in texts(folded) and body in texts(unfolded)
    assert len(unfolded.get("plotly_chart")) == len(folded.get("plotly_chart")) + 1
    assert unfolded.session_state["view"]["open"] == "backward"


TRIED: dict[str, tuple[tuple[object, ...], list[tuple[object, ...]]]] = {
    "below": ((LLAMA, 1), [(1,), (5,), (1708,), (1900,)]),
    "same": ((40, 33), [(40, 33), (33, 40), (50, 23), (1, 0), (9, 2)]),
    "twins": ((LLAMA, 0, 0.02), [(4, 4), (10, 20), (10, 32), (10, 35), (10, 54)]),
    "which": (((0, 1, 8), 10_000.0), [("a",), ("b",), ("c",)]),
    "least": ((128, 32_768, 1.1), [(100.0,), (5215.0,), (32_768.0,), (10_000.0,), (6000.0,)]),
    "extend": ((LLAMA, 8, 1.1), [("ntk", 8.0), ("linear", 8.0), ("yarn", 9.0), ("yarn", 8.0)]),
    "serve": ((128, 32_768, 1.7e6), [(2e6,), (1e6,), (1.5e6,)]),
    "luck": ((np.repeat([0.12341, 0.9], [1026, 1]), np.full(1027, 0.12344), 1024), [(1024,), (1026,), (1027,)]),
    "extra": ((LLAMA,), [(1,), (2,), (4,)]),
    "wrong": ((), [(4,), (6,), (7,)]),
    "hold": (("bfloat16",), [(200,), (65_536,), (65_537,)]),
    "decoding": ((16, 12, 3), [(31,), (29,), (14,), (18,), (5,), (30,)]),
}
"""What each challenge's check is given by its page, and answers that make every mistake it knows, once each."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", LEARNING)
def test_every_mistake_has_its_sentence_and_every_sentence_its_mistake(name: str, lang: str) -> None:
    t, words = PageTexts(lang, name), PageTexts(lang, "predict")
    for task in (task for task in page_declaration(name).tasks if isinstance(task, Challenge)):
        given, answers = TRIED[task.name]
        verdicts = [task.check(*given, *each) for each in answers]
        start = f"challenge.{task.name}."
        known = {key.removeprefix(start) for key in page_labels(lang, name) if key.startswith(start)}
        assert {each.reason for each in verdicts} == known - {"task"} - set(task.fields[0].choices)
        sentences = [challenge_feedback(task, each, words, t) for each in verdicts]
        assert len({each.reason for each in verdicts}) == len(set(sentences)) and "{" not in "".join(sentences)


def test_numbers_in_feedback_are_the_readers_own_and_do_not_reach_the_bound_they_miss() -> None:
    t, words = PageTexts("en", "precision"), PageTexts("en", "predict")
    (hold,) = (
        each for each in page_declaration("precision").tasks if isinstance(each, Challenge) and each.name == "hold"
    )
    assert "65,537 becomes 65,536" in challenge_feedback(hold, hold.check("bfloat16", 65_537), words, t)
    rng = np.random.default_rng(5)
    for value, beside in zip(rng.lognormal(0, 8, 500), rng.lognormal(0, 8, 500), strict=True):
        for bound in (beside, value * (1 + 1e-6), value * (1 - 1e-9)):
            shown = float(feedback_number_text(value, bound).replace(",", "").translate(EXPONENT).replace("·10", "e"))
            assert (shown > bound) == (value > bound) and shown == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize("name", LEARNING)
def test_a_number_typed_from_the_task_is_no_solution(name: str) -> None:
    for task in page_declaration(name).tasks:
        if isinstance(task, Challenge) and all(field.kind != "choice" for field in task.fields):
            written_there = re.findall(r"\d[\d,.]*\d|\d", page_labels("en", name)[f"challenge.{task.name}.task"])
            numbers = {float(text.replace(",", "")) for text in written_there}
            for typed in product(numbers, repeat=len(task.fields)):
                kinds = zip(typed, task.fields, strict=True)
                values = [int(number) if field.kind == "int" else number for number, field in kinds]
                if all(field.low < number <= field.high for number, field in zip(values, task.fields, strict=True)):
                    assert not task.check(*TRIED[task.name][0], *values).passed, values
