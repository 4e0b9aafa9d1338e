"""What a hall adds to the book: a lesson file, a room's line and what its phones get, the count once it is out."""

import json
from html import unescape
from typing import Any

import pytest

from ui.book import session as module
from ui.book.frame import BookFrame
from ui.book.hall import ROOMS
from ui.book.nodes import HtmlNode
from ui.book.session import ReaderSession
from ui.present import lessons
from ui.present.lessons import LessonQuestion, LessonStep
from ui.present.qr import qr_code_html
from ui.text.words import PageTexts

SERVICE = "https://rope.example/room/"


def opened(name: str = "rotation", rooms: str = SERVICE, **query: str) -> BookFrame:
    return BookFrame(name, "en", {ROOMS: rooms}, "../", {"lang": "en"} | query)


def node(book: BookFrame, kind: str) -> HtmlNode | None:
    return next((each for each in book.places.root.self_and_descendants() if each.kind == kind), None)


def there(book: BookFrame, kind: str) -> HtmlNode:
    each = node(book, kind)
    assert each, kind
    return each


def shown(book: BookFrame) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(there(book, "stage-room").attributes["data-show"])
    return content


def asking() -> tuple[LessonStep, LessonQuestion]:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson
    step = next(step for step in lesson.steps if step.predict)
    assert step.predict
    return step, step.predict


@pytest.fixture
def stage() -> BookFrame:
    return opened(display="stage", room="physics-2", step=str(asking()[0].number))


def test_phones_get_the_question_and_no_answer_before_it_is_out(stage: BookFrame) -> None:
    step, predict = asking()
    question = {"lang": "en", "say": "", "id": f"rotation/{step.number}", "question": predict.question}
    assert shown(stage) == question | {"choices": list(predict.choices)}
    stage.act(there(stage, "button stage-reveal").id, "")
    assert shown(stage) == question | {"choices": list(predict.choices), "say": step.say, "answer": predict.answer}
    assert node(stage, "button stage-again") is None, "what is out in a room stays out"


def test_the_count_is_written_once_it_comes_and_puts_the_answer_out(stage: BookFrame) -> None:
    _, predict = asking()
    votes = [3 * (k == predict.answer) + 1 for k in range(len(predict.choices))]
    room = there(stage, "stage-room")
    stage.act(room.id, {"id": shown(stage)["id"], "votes": votes})
    sentence = f"{votes[predict.answer]} of {sum(votes)}"
    assert sentence in unescape(stage.places.root.to_html()) and shown(stage)["answer"] == predict.answer


def test_other_steps_are_their_sentence_and_the_claim_is_nothing() -> None:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson
    plain = next(step for step in lesson.steps if not step.predict)
    assert shown(opened(display="stage", room="a", step=str(plain.number))) == {"lang": "en", "say": plain.say}
    assert shown(opened(display="stage", room="a")) == {"lang": "en", "say": ""}


def test_without_a_service_there_is_no_room() -> None:
    book = opened(rooms="", display="stage", room="physics-2")
    assert node(book, "stage-room") is None and node(book, "form") is None and node(book, "popover") is not None


def test_a_room_is_opened_named_and_left() -> None:
    book, t = opened(display="stage"), PageTexts("en", "stage")
    form = there(book, "form")
    book.act(form.id, "no room!")
    assert t("room_bad") in unescape(book.places.root.to_html()) and "room" not in book.as_url_parameters()
    book.act(form.id, " Physics-２ ")
    assert book.as_url_parameters()["room"] == "physics-2"
    text = unescape(book.places.root.to_html())
    assert t("room_bad") not in text and f'href="{SERVICE}physics-2/votes.csv"' in text
    code = qr_code_html(f"{SERVICE}physics-2?lang=en", t("qr_alt", url=f"{SERVICE}physics-2?lang=en"))
    assert code and code in there(book, "qr-code").to_html()
    assert t("room_local") not in text, "phones reach it"
    close = there(book, "button room-close")
    assert close.attributes["data-room"] == f"{SERVICE}physics-2"
    book.act(close.id, "")
    assert "room" not in book.as_url_parameters() and node(book, "stage-room") is None


def test_an_address_of_this_computer_is_warned_of() -> None:
    book = opened(rooms="http://127.0.0.1:8080/room/", display="stage", room="a")
    assert PageTexts("en", "stage")("room_local") in unescape(book.places.root.to_html())


LESSON = """title = "Mine: <b>*own*"
minutes = 5
[[steps]]
page = "clock"
say = "My own sentence."
[[steps]]
page = "rotation"
say = "And another page."
"""


def test_a_lesson_file_is_read_begun_and_kept_on_the_next_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OWN_LESSON", [])
    reading = ReaderSession(
        "rotation", "en", "../", "https://rope.example/", {}, {"display": "stage", "lang": "en"}, {}
    )
    key = next(each for each in reading.page.places.acts if each.endswith("present.file"))
    broken = [*b"title = 3"]
    reading.act(key, json.dumps(["mine.toml", broken]))
    assert PageTexts("en", "stage")("problem") in unescape(reading.page.places.root.to_html())
    reading.act(key, json.dumps(["mine.toml", [*LESSON.encode()]]))
    assert PageTexts("en", "stage")("problem") not in unescape(reading.page.places.root.to_html())
    assert "Mine: <b>*own*, 5 min" in unescape(reading.page.places.root.to_html()), "a title is letters"
    begin = next(each for each in reading.page.places.acts if each.endswith("present.own"))
    reading.act(begin, '""')
    assert reading.page.name == "clock" and "My own sentence." in reading.page.places.root.to_html()
    query = {"display": "stage", "lang": "en", "talk": "own", "step": "2"}
    other = ReaderSession("rotation", "en", "../", "https://rope.example/", {}, query, {})
    assert "And another page." in other.page.places.root.to_html()
