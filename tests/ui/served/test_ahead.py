"""What follows a step is drawn before its press: then a press on the stage draws no figure anew."""

import logging
from queue import Queue

import pytest

from tests.test_pages import opened
from ui.figures.drawing import KEPT
from ui.page.state import url_value_text
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.present.stage import STANDS
from ui.served import ahead

TOUR = lessons.shipped_talk("en", "tour")
assert TOUR is not None


@pytest.mark.parametrize("number, part", [(6, "heatmaps"), (9, "paths"), (8, "programs")])
def test_the_stage_finds_its_figure_drawn_and_knows_its_part(number: int, part: str) -> None:
    assert TOUR is not None
    wanted = TOUR.step(number)
    KEPT.clear()
    STANDS.clear()
    ahead.draw_step_in_background(TOUR, wanted, "en", False)
    assert {(wanted.page, wanted.figure): part} == STANDS
    before = set(KEPT)
    assert before
    values = {name: url_value_text(value) for name, value in wanted.state.items()}
    at = opened(wanted.page, lang="en", display="stage", talk="tour", step=str(number), **values)
    assert not at.exception
    charts = [chart.proto.id for chart in at.get("plotly_chart")]
    assert [chart.split(".")[-1] for chart in charts if not chart.endswith("stage.ahead")] == [wanted.figure]
    assert set(KEPT) == before


def test_an_answer_follows_a_question_and_the_next_step_follows_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: Queue[ahead.DrawJob] = Queue(3)
    monkeypatch.setattr(ahead, "JOBS", waiting)
    assert TOUR is not None
    first, second, third, last = TOUR.step(1), TOUR.step(2), TOUR.step(3), TOUR.steps[-1]
    assert second.predict is not None
    for shown, answered in ((second, False), (second, True), (last, False), (first, False), (third, False)):
        ahead.queue_next_step(TOUR, shown, "zh", answered=answered)
    # The last step is followed by none, and no fourth job waits.
    assert [waiting.get_nowait()[1:] for _ in range(waiting.qsize())] == [
        (second, "zh", True),
        (third, "zh", False),
        (second, "zh", False),
    ]


def test_a_step_that_cannot_be_drawn_is_logged_and_the_next_one_is_drawn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting: Queue[ahead.DrawJob] = Queue()
    drawn: list[tuple[str, str]] = []

    def draw(lesson: Lesson, step: LessonStep, *more: object) -> None:
        drawn.append((step.page, step.figure))
        raise SystemExit if len(drawn) == len(ahead.SLOW) + 2 else RuntimeError("out of chalk")

    monkeypatch.setattr(ahead, "JOBS", waiting)
    monkeypatch.setattr(ahead, "draw_step_in_background", draw)
    assert TOUR is not None
    for step in TOUR.steps[:2]:
        waiting.put((TOUR, step, "en", False))
    with caplog.at_level(logging.ERROR), pytest.raises(SystemExit):
        ahead.draw_queued_steps()
    assert drawn == [*sorted(ahead.SLOW), *((step.page, step.figure) for step in TOUR.steps[:2])]
    assert "could not be drawn ahead" in caplog.text and "out of chalk" in caplog.text
