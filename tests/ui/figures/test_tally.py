"""The sentence on a class's answers carries the votes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui.figures.tally import vote_sentence
from ui.text.words import PageTexts

EN, ZH = PageTexts("en", "predict"), PageTexts("zh", "predict")


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=3), st.one_of(st.none(), st.integers(0, 2)))
@settings(max_examples=15, deadline=None)
def test_the_sentence_carries_the_votes(votes: list[int], answer: int | None) -> None:
    for t in (EN, ZH):
        sentence = vote_sentence(votes, answer, t)
        if sum(votes):
            assert str(sum(votes)) in sentence and f"C {votes[2]}" in sentence
        if sum(votes) and answer is not None:
            assert f"{100 * votes[answer] / sum(votes):.0f} %" in sentence


@pytest.mark.parametrize("t, empty", [(EN, "No answers yet."), (ZH, "还没有人作答。")])
def test_nobody_and_one(t: PageTexts, empty: str) -> None:
    assert vote_sentence((0, 0), None, t) == empty
    answered = vote_sentence((0, 0), 1, t)
    assert answered.startswith(empty) and "B" in answered
    assert "1" in vote_sentence((1, 0), None, t)
