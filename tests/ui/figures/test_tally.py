"""The class's answers as bars: the votes, the texts as letters, and the sentence with its numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.figures import Row, chart
from ui.figures.tally import vote_count_chart
from ui.film.colours import GREEN
from ui.text.words import PageTexts

EN, ZH = PageTexts("en", "predict"), PageTexts("zh", "predict")
CHOICES = ("short", "a long answer " * 11, "<b>bold</b>")


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3), st.one_of(st.none(), st.integers(0, 2)))
@settings(max_examples=15, deadline=None)
def test_bars_and_sentence_carry_the_votes(votes: list[int], answer: int | None) -> None:
    for t in (EN, ZH):
        built = vote_count_chart(votes, CHOICES, answer, t)
        bar = chart(built).data[0]
        assert list(bar.x) == votes
        greens = [k for k, colour in enumerate(bar.marker.color) if colour == GREEN]
        assert greens == ([] if answer is None else [answer])
        assert ["✓" in text for text in bar.text] == [k == answer for k in range(3)], "colour is not alone"
        if sum(votes):
            assert str(sum(votes)) in built.finding and f"C {votes[2]}" in built.finding
        if sum(votes) and answer is not None:
            assert f"{100 * votes[answer] / sum(votes):.0f} %" in built.finding
        assert dict(built.table())["votes"] == votes


def test_long_choices_take_lines_and_do_not_overlap() -> None:
    built = vote_count_chart((1, 2, 3), CHOICES, None, EN)
    feet = list(chart(built).data[0].y)
    lines = [note.text.count("<br>") + 1 for note in chart(built).layout.annotations]
    assert lines == [1, 2, 1]
    for k in (1, 2):
        assert feet[k - 1] - feet[k] >= 26 * lines[k] + chart(built).data[0].width, "room for the text of the bar below"
    assert feet[-1] > 0 and feet[0] < chart(built).layout.yaxis.range[1]


def test_choices_are_letters() -> None:
    texts = [note.text for note in chart(vote_count_chart((0, 0, 0), CHOICES, None, EN)).layout.annotations]
    assert "&lt;b&gt;bold&lt;/b&gt;" in texts[2]


@pytest.mark.parametrize("t, empty", [(EN, "No answers yet."), (ZH, "还没有人作答。")])
def test_nobody_and_one(t: PageTexts, empty: str) -> None:
    assert vote_count_chart((0, 0), ("a", "b"), None, t).finding == empty
    assert (
        vote_count_chart((0, 0), ("a", "b"), 1, t).finding.startswith(empty)
        and "B" in vote_count_chart((0, 0), ("a", "b"), 1, t).finding
    )
    assert "1" in vote_count_chart((1, 0), ("a", "b"), None, t).finding


ROWS = [Row("predict", vote_count_chart, ((3, 5), ("a", "b"), 1))]
