"""What learning pages ask: answers in fields, checks that pass and fail in sentences, and how far a visitor is."""

import re
from string import Formatter

import pytest
from streamlit.testing.v1 import AppTest

from rope_core import Rope
from rope_core.theory import challenges
from rope_core.theory.challenges import Verdict
from tests.test_pages import opened
from ui.page.menu import PATH, SECTIONS, declaration, way
from ui.page.state import Field
from ui.page.store import Store
from ui.page.tasks import SOLVED, Challenge, Drawn, Question, answer, done, verdict
from ui.text.words import LANGUAGES, Words, labels

MOVED = Field("moved", "int", 3, 0, 9)
SIDE = Question("side", "b", "ab", then=((MOVED, 7),))
NUMBER = Field("number", "int", None, 0, 9, optional=True)
EVEN = Challenge("even", (NUMBER,), lambda least, n: Verdict(n % 2 == 0 and n >= least, n / 9, "reason"))
LEARNING = [name for name in PATH if name in SECTIONS]


def store() -> Store:
    return Store("page", (MOVED, *SIDE.fields, *EVEN.fields), {})


def test_an_answer_is_a_field_and_moves_the_page_to_where_it_is_seen() -> None:
    values = store()
    assert not done(SIDE, values, {})
    answer(SIDE, values, "a")
    assert done(SIDE, values, {}) and values.query() == {"side": "a", "moved": "7"}
    answer(SIDE, values, "")
    assert not done(SIDE, values, {}) and values.get(MOVED) == 7
    values.reset()
    assert values.query() == {}


def test_a_challenge_is_checked_once_all_is_given_and_passed_only_while_it_is() -> None:
    values = store()
    session: dict[str, object] = {}
    assert verdict(EVEN, values, session, (2,)) is None
    for number, passed in ((3, False), (4, True), (0, False)):
        values.put(NUMBER, number)
        result = verdict(EVEN, values, session, (2,))
        assert result and result.passed == passed == done(EVEN, values, session)
        assert session[SOLVED] == ({("page", "even")} if passed else set())


def test_a_question_without_its_right_choice_and_a_field_that_is_filled_are_refused() -> None:
    with pytest.raises(ValueError, match="right must be one of ab, got c"):
        Question("side", "c", "ab")
    with pytest.raises(ValueError, match="fields must be empty at first, got moved"):
        Challenge("even", (MOVED,), EVEN.check)


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_task_has_its_words(name: str, lang: str) -> None:
    own = labels(lang, name)
    for task in declaration(name).tasks:
        if isinstance(task, Drawn):
            needed = {f"{task.name}_ask", f"{task.name}_label"}
        elif isinstance(task, Question):
            needed = {f"ask.{task.name}.{part}" for part in ("question", "why", *task.choices)}
        else:
            needed = {f"challenge.{task.name}.{part}" for part in ("task", "passed")}
        assert needed <= own.keys()


@pytest.mark.parametrize("name", LEARNING)
def test_no_words_are_left_of_a_task_that_is_not_there(name: str) -> None:
    known = {task.name for task in declaration(name).tasks if not isinstance(task, Drawn)}
    used = {match[1] for key in labels("en", name) if (match := re.match(r"(?:ask|challenge)\.(\w+)\.", key))}
    assert used == known


def test_how_far_a_visitor_is_counts_what_was_done() -> None:
    session: dict[str, object] = {}
    declared = declaration("rotation")
    before = way("rotation", session)
    assert before and before.number == LEARNING.index("rotation") + 1 and before.total == len(LEARNING)
    assert (before.here, before.here_of, before.done) == (0, len(declared.tasks), 0)
    question = next(task for task in declared.tasks if isinstance(task, Question))
    answer(question, declared.store(session), question.right)
    after, elsewhere = way("rotation", session), way("layouts", session)
    assert after and elsewhere and (after.here, after.done, elsewhere.done) == (1, 1, 1)
    assert before.following == LEARNING[LEARNING.index("rotation") + 1]
    last = way(LEARNING[-1], session)
    assert last and last.following is None
    assert way("ledger", session) is None


def texts(at: AppTest) -> str:
    return "\n".join(each.value for each in (*at.markdown, *at.success, *at.warning))


def test_the_answer_is_hidden_until_a_choice_is_made_and_the_link_keeps_it() -> None:
    t = Words("en", "rotation")
    question = next(task for task in declaration("rotation").tasks if isinstance(task, Question))
    at = opened("rotation", lang="en")
    assert t(f"ask.{question.name}.question") in texts(at) and t(f"ask.{question.name}.why") not in texts(at)
    wrong = next(k for k, letter in enumerate(question.choices) if letter != question.right)
    at.button(key=f"choices-{question.name}.{wrong}").click().run()
    assert not at.exception
    assert t(f"ask.{question.name}.why") in texts(at) and "You chose" in texts(at)
    linked = opened("rotation", lang="zh", **{question.name: question.right})
    assert Words("zh", "rotation")(f"ask.{question.name}.why") in texts(linked)


def test_a_challenge_fails_and_passes_with_a_sentence() -> None:
    shown = opened("rotation", lang="en", first="10", second="20")
    assert any("Not yet: " in each.value and "3.717" not in each.value for each in shown.warning)
    assert not shown.success
    shown = opened("rotation", lang="en", first="10", second="54")
    assert "Solved." in shown.success[0].value and "44 tokens apart" in shown.success[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fold_has_its_text_from_the_start_and_its_parts_once_a_link_opens_it(lang: str) -> None:
    _, body = Words(lang, "rotation").prose("backward")
    folded, unfolded = opened("rotation", lang=lang), opened("rotation", lang=lang, open="backward,nothing")
    assert body in texts(folded) and body in texts(unfolded)
    assert len(unfolded.get("plotly_chart")) == len(folded.get("plotly_chart")) + 1
    assert unfolded.session_state["view"]["open"] == "backward"


def test_the_sentences_of_a_verdict_say_its_numbers_only() -> None:
    given = set(challenges.twins(Rope(128, 10_000.0, 4096), 0, 0.02, 10, 20).given)
    for key, text in labels("en", "rotation").items():
        if key.startswith("challenge.twins."):
            assert {name for _, name, _, _ in Formatter().parse(text) if name} <= given, key
