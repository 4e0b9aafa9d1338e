"""What follows a step is drawn before its press: then a press on the stage draws no figure anew."""

import logging
from queue import Queue

import pytest

from tests.test_pages import opened
from ui.figures.drawing import KEPT
from ui.page.state import number_text
from ui.present import lessons
from ui.present.lessons import Step
from ui.present.stage import STANDS
from ui.served import ahead


def step(number: int) -> Step:
    talk = lessons.talk("en", "tour")
    assert talk is not None
    return talk.step(number)


@pytest.mark.parametrize("number, part", [(6, "heatmaps"), (9, "paths"), (8, "programs")])
def test_the_stage_finds_its_figure_drawn_and_knows_where_it_stands(number: int, part: str) -> None:
    wanted = step(number)
    KEPT.clear()
    STANDS.clear()
    ahead.Rehearsal(wanted.page, "en", wanted.figure, wanted.state)
    assert {(wanted.page, wanted.figure): part} == STANDS
    before = set(KEPT)
    assert before
    values = {name: number_text(value) for name, value in wanted.state.items()}
    at = opened(wanted.page, lang="en", display="stage", talk="tour", step=str(number), **values)
    assert not at.exception
    charts = [chart.proto.id for chart in at.get("plotly_chart")]
    assert [chart.split(".")[-1] for chart in charts if not chart.endswith("stage.ahead")] == [wanted.figure]
    assert set(KEPT) == before


def test_an_answer_follows_a_question_and_the_next_step_follows_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: Queue[ahead.Job] = Queue(3)
    monkeypatch.setattr(ahead, "JOBS", waiting)
    talk = lessons.talk("zh", "tour")
    assert talk is not None
    first, second, third, last = talk.step(1), talk.step(2), talk.step(3), talk.steps[-1]
    assert second.predict is not None
    for shown, answered in ((second, False), (second, True), (last, False), (first, False), (third, False)):
        ahead.rehearse(talk, shown, "zh", answered=answered)
    # The last step is followed by none, and no fourth job waits.
    assert [waiting.get_nowait() for _ in range(waiting.qsize())] == [
        (second.page, "zh", second.figure, second.predict.then),
        (third.page, "zh", third.figure, third.state),
        (second.page, "zh", second.figure, second.state),
    ]


def test_the_slow_figures_are_ones_that_a_talk_shows() -> None:
    talk = lessons.talk("en", "lecture")
    assert talk is not None
    assert {(page, figure) for page, _, figure, _ in ahead.SLOW} <= {(each.page, each.figure) for each in talk.steps}


def test_a_step_that_cannot_be_drawn_is_logged_and_the_next_one_is_drawn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting: Queue[ahead.Job] = Queue()
    drawn: list[str] = []

    def rehearsal(page: str, *more: object) -> None:
        drawn.append(page)
        raise SystemExit if page == "last" else RuntimeError("out of chalk")

    monkeypatch.setattr(ahead, "JOBS", waiting)
    monkeypatch.setattr(ahead, "Rehearsal", rehearsal)
    for page in ("first", "last"):
        waiting.put((page, "en", "", {}))
    with caplog.at_level(logging.ERROR), pytest.raises(SystemExit):
        ahead.work()
    assert drawn == [*(job[0] for job in ahead.SLOW), "first", "last"]
    assert "could not be drawn ahead: ('first'" in caplog.text and "out of chalk" in caplog.text
