"""Numbers as CSV, and drawings that sessions share: by every argument and its type, a bounded number."""

import csv
import inspect
import io

import numpy as np
import pytest
from cachetools import LRUCache

import rope_core as rc
from ui.figures import drawing
from ui.figures.clock import reading as clock
from ui.figures.drawing import Drawing, cached_figure, figure_to_json, heatmap_table, table_to_csv
from ui.figures.frequencies import spans
from ui.figures.plot import figure_as_json_values
from ui.text.words import PageTexts

EN, ZH = PageTexts("en", "frequencies"), PageTexts("zh", "frequencies")


@pytest.fixture(autouse=True)
def empty() -> None:
    drawing.KEPT.clear()


class Drawn:
    """A figure function that counts its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.draw = cached_figure(self.make)

    def make(self, *given: object) -> Drawing:
        self.calls.append(given)
        return Drawing("one", {"data": [], "layout": {}}, repr(given), lambda: {"call": [len(self.calls)]}, "")


def test_csv_columns_of_different_length_end_blank() -> None:
    text = table_to_csv({"位置": [1, 2], "x": [0.1]}).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [["位置", "x"], ["1", "0.1"], ["2", ""]]


def test_a_grid_has_one_row_per_cell() -> None:
    table = heatmap_table([10, 20, 30], [1, 2], np.arange(6).reshape(2, 3), ("x", "y", "z"))
    assert list(zip(*(np.asarray(c).tolist() for c in table.values()), strict=True))[4] == (20, 2, 4)


def test_the_same_question_is_drawn_once_and_another_again() -> None:
    drawn, other = Drawn(), Drawn()
    given = ((1, EN), (1, ZH), (1.0, EN), (True, EN), (2, EN), ("1", EN))
    findings = [drawn.draw(*each).finding for each in given for _ in range(2)]
    assert findings == [repr(each) for each in given for _ in range(2)]
    assert drawn.calls == list(given)
    other.draw(1, EN)
    assert len(other.calls) == 1


def test_the_last_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn()
    size = len(figure_to_json(drawn.make().figure))
    room: LRUCache[object, drawing.StoredDrawing] = LRUCache(10 * size + 1, drawing.KEPT.getsizeof)
    monkeypatch.setattr(drawing, "KEPT", room)
    draw = cached_figure(drawn.make)
    drawn.calls.clear()
    for number in range(10):
        draw(number)
        draw(0)
    assert len(drawn.calls) == 10 and len(room) == 10
    draw(10)
    draw(0)
    assert len(drawn.calls) == 11 and len(room) == 10
    draw(1)
    assert len(drawn.calls) == 12


def test_a_list_or_a_mapping_counts_by_what_it_holds_in_its_order() -> None:
    drawn = Drawn()
    for _ in range(2):
        for each in ([1, 2], [2, 1], (1, 2), {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, (("a", 1),)):
            drawn.draw(each)
    assert len(drawn.calls) == 7


def test_no_session_changes_what_another_gets() -> None:
    rope = rc.Rope(8, 500.0, 64)
    first = spans.code_similarity_chart(rope, EN)
    first.figure["layout"]["height"] = 1
    assert spans.code_similarity_chart(rope, EN).figure["layout"]["height"] > 1


def test_the_numbers_are_made_when_they_are_wanted() -> None:
    drawn = Drawn()
    shared = drawn.draw(1)
    assert len(drawn.calls) == 1 and shared.table() == {"call": [2]}


def test_a_refusal_is_not_kept() -> None:
    calls: list[int] = []

    @cached_figure
    def draw(number: int) -> Drawing:
        calls.append(number)
        raise ValueError("number must be even, got 3")

    for _ in range(2):
        with pytest.raises(ValueError, match="must be even"):
            draw(3)
    assert calls == [3, 3]


def test_the_code_shown_is_the_functions_own() -> None:
    assert "def code_similarity_chart(" in inspect.getsource(inspect.unwrap(spans.code_similarity_chart))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_shared_drawing_is_what_a_fresh_one_would_be(lang: str) -> None:
    rope, t = rc.Rope(16, 500.0, 64), PageTexts(lang, "frequencies")
    for draw, given in (
        (spans.code_similarity_chart, (rope, t)),
        (clock.quoted_duration_chart, (3.0, PageTexts(lang, "clock"))),
    ):
        shared = draw(*given)
        fresh = inspect.unwrap(draw)(*given)
        assert (shared.finding, shared.figure) == (fresh.finding, figure_as_json_values(fresh.figure))
