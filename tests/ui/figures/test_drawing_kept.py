"""Drawings that sessions share: by every argument and its type, a bounded number, and never changed after."""

from __future__ import annotations

import gc
import inspect

import pytest

import rope_core as rc
from ui.figures import drawing, home
from ui.figures import plain as go
from ui.figures.clock import hands as clock
from ui.figures.drawing import Drawing, kept
from ui.figures.frequencies import spans
from ui.figures.frequencies import tables as frequencies
from ui.text.words import Words

EN, ZH = Words("en", "frequencies"), Words("zh", "frequencies")


@pytest.fixture(autouse=True)
def empty() -> None:
    drawing.KEPT.clear()


def drawn(*given: object) -> Drawing:
    return Drawing("one", go.Figure(go.Scatter(y=[1.0])), repr(given), dict, "")


def test_the_same_question_has_the_same_drawing_and_another_has_another() -> None:
    draw = kept(drawn)
    assert draw(1, EN) is draw(1, EN)
    assert len({id(draw(*given)) for given in ((1, EN), (1, ZH), (1.0, EN), (True, EN), (2, EN), ("1", EN))}) == 6
    assert kept(lambda *given: drawn(*given))(1, EN) is not draw(1, EN)


def test_the_last_ones_are_kept() -> None:
    draw = kept(drawn)
    first, second = draw(-1), draw(-2)
    room = drawing.MOST_KEPT // len(first.ready.text)
    for number in range(room - 1):
        draw(number)
        assert draw(-1) is first
    assert room - 1 <= len(drawing.KEPT) <= room
    assert draw(-2) is not second


def test_a_list_or_a_mapping_counts_by_what_it_holds_in_its_order() -> None:
    draw = kept(drawn)
    assert draw([1, 2]) is draw([1, 2])
    assert draw({"a": 1, "b": 2}) is draw({"a": 1, "b": 2})
    both = ([1, 2], [2, 1], (1, 2), {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, (("a", 1),))
    assert len({id(draw(one)) for one in both}) == len(both)


def test_what_is_kept_is_one_text_and_draws_again_for_whoever_looks() -> None:
    def thousand(*given: object) -> Drawing:
        return Drawing("many", go.Figure([go.Scatter(y=[1.0, 2.0])] * 1000), "", dict, "")

    gc.collect()
    before = len(gc.get_objects())
    shared = kept(thousand)(7)
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    assert shared.figure is not shared.figure
    assert shared.figure.traces[0] == {"type": "scatter", "y": [1.0, 2.0]}
    assert shared.ready.to_json() == shared.figure.to_json()


def test_a_refusal_is_not_kept() -> None:
    asked: list[int] = []

    @kept
    def draw(number: int) -> Drawing:
        asked.append(number)
        raise ValueError("number must be even, got 3")

    for _ in range(2):
        with pytest.raises(ValueError, match="must be even"):
            draw(3)
    assert asked == [3, 3]


def test_what_is_sent_is_made_once_and_the_code_shown_is_the_function_s_own() -> None:
    found = frequencies.heat(rc.Rope(16, 500.0, 64), "cos", 64, EN)
    assert found.ready is found.ready and found.ready.to_json() == found.figure.to_json()
    assert "def heat(" in inspect.getsource(inspect.unwrap(frequencies.heat))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_shared_drawing_is_what_a_fresh_one_would_be(lang: str) -> None:
    rope, t = rc.Rope(16, 500.0, 64), Words(lang, "frequencies")
    for draw, given in (
        (frequencies.wavelengths, (rope, t)),
        (frequencies.heat, (rope, "sin", 128, t)),
        (frequencies.digits, (6, 500.0, 77, t)),
        (spans.repeats, (rope, t)),
        (spans.wave, (rope, 3, 32, t)),
        (clock.quoted, (3.0, Words(lang, "clock"))),
        (home.dials, (rope, 5, Words(lang, "home"))),
    ):
        shared = draw(*given)
        fresh = inspect.unwrap(draw)(*given)
        assert shared is draw(*given) is not fresh
        assert (shared.finding, shared.ready.mark) == (fresh.finding, fresh.ready.mark)
