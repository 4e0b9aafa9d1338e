"""Whatever a link says, its page opens and says what it left out; a broken part breaks no other."""

import logging
import math
import random
from typing import Any

import pytest

from tests.test_pages import opened
from ui.book.frame import BookFrame
from ui.page import frame
from ui.page.declaration import page_declaration
from ui.page.menu import ORDER
from ui.page.state import Field, RefusedValue, parse_url_value
from ui.present.view import FIELDS

NAMES = [name for names in ORDER.values() for name in names]
ODD = [
    "",
    " ",
    "x",
    "\x00",
    "%",
    "<b>",
    "{0}",
    "\ud800",
    "\u202e1",
    "１２",
    "1e400",
    "nan",
    "-inf",
    "9" * 400,
    "[]",
    "0x1",
]


def wrong(field: Field, draw: random.Random) -> list[str]:
    """Return texts that are wrong by kind, range, length and encoding; of a text field, whatever it may hold."""
    letters = "".join(chr(draw.choice([draw.randrange(128), draw.randrange(0xE000, 0x110000)])) for _ in range(9))
    numbers = [] if field.high == math.inf else [f"{field.high * 10:.0f}", f"{field.low - draw.random():.17g}"]
    return [*draw.sample(ODD, 3), letters, letters * 60, *draw.sample(numbers, len(numbers) // 2)]


def notes(book: BookFrame) -> list[str]:
    return [node.html for node in book.places.root.self_and_descendants() if node.kind == "note warning"]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_a_page_takes_any_text_or_says_why_not(name: str) -> None:
    """One link has a wrong text of each field; what the small model reads takes it a second."""
    draw, fields = random.Random(name), {each.name: each for each in (*page_declaration(name).fields, *FIELDS.values())}
    texts = {each: wrong(field, draw) for each, field in fields.items()}
    for k in range(1 if name == "inside" else max(map(len, texts.values()))):
        query = {each: drawn[k] for each, drawn in texts.items() if k < len(drawn)}
        session: dict[Any, Any] = {}
        book = BookFrame(name, draw.choice(["en", "zh"]), session, "", query)
        assert session["notes"] == []
        refused = []
        for each, text in query.items():
            field = fields[each]
            try:
                parse_url_value(field, text)
            except RefusedValue:
                refused.append(each)
                number = field.kind in ("int", "float")
                taken = book.store.get(field) if each in book.store.fields else book.view.get(field)
                assert taken == field.default or (number and field.low <= taken <= field.high), (each, text)
        assert refused and len(notes(book)) >= len(refused), (refused, notes(book))


def test_a_text_of_one_letter_is_refused() -> None:
    for text in ("x", "", " "):
        book = BookFrame("inside", "en", {}, "", {"text": text})
        assert "at least 2 letters" in notes(book)[0] and book.store.as_url_parameters() == {}


@pytest.mark.broken_part
def test_a_note_is_written_once_also_where_it_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened("clock", worst="x", beat="99")
    assert not at.exception and len(at.warning) == 2
    assert not at.run().exception and not at.warning

    def fail(*given: Any) -> str:
        raise KeyError(given)

    book = BookFrame("clock", "en", {}, "", {})
    book.store.notes.append(("frame.corrected", {}))
    with monkeypatch.context() as patched:
        patched.setattr(frame, "escaped_label", fail)
        book.draw()
    assert book.session["notes"] == []
    book.draw()
    assert not notes(book)


@pytest.mark.broken_part
def test_a_part_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    from pages.learn import rotation

    def fail(*given: Any) -> None:
        raise ZeroDivisionError

    whole = opened("rotation")
    parts = [part for part in vars(rotation).values() if getattr(part, "__module__", "") == rotation.__name__]
    part = next(part.__name__ for part in parts if callable(part) and part.__name__ not in ("body", "fits"))
    monkeypatch.setattr(rotation, part, fail)
    at = opened("rotation")
    assert not at.exception and len(at.error) == 1 and len(at.markdown) > 1 and len(whole.error) == 0
    book = BookFrame("rotation", "zh", {}, "", {})
    assert sum(node.kind == "note error" for node in book.places.root.self_and_descendants()) == 1
    assert {record.levelno for record in caplog.records if record.name == frame.__name__} == {logging.ERROR}
