"""What one move of a control sends to the browser, over the websocket of a real server."""

import json
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

import rope_core as rc
from benchmarks.sessions import Session, Visit
from tests.conftest import apart
from ui.figures.attention import limits, scores
from ui.page.charts import sendable
from ui.page.fields import BASE
from ui.text.words import Words


@dataclass
class Watcher(Session):
    """A session that keeps the figures it is sent, in their order."""

    charts: list[str] = field(default_factory=list)

    def _element(self, element: Element, fragment: str) -> None:
        super()._element(element, fragment)
        if element.WhichOneof("type") == "plotly_chart":
            self.charts.append(element.plotly_chart.spec)


def traces(text: str) -> Any:
    return json.dumps(json.loads(text)["data"])


def test_a_move_of_a_shared_value_sends_each_figure_that_it_changes_once(app: str) -> None:
    async def moved() -> Watcher:
        watcher = Watcher(Visit(app, "attention", "base", "lang=en&open=all&context=8192"))
        await watcher.open()
        watcher.charts.clear()
        await watcher.move()
        await watcher.close()
        return watcher

    watcher = apart(moved)
    base = float(dict(pair.split("=") for pair in watcher.query.split("&"))["base"])
    assert base == BASE.steps[BASE.steps.index(BASE.default) + 1] and "train_len" not in watcher.query
    t, rope = Words("en", "attention"), rc.Rope(128, base, 4096)
    sent = [traces(text) for text in watcher.charts]
    drawings = scores.base_bound(rope, 8192, t), limits.limits(rope, t)
    assert [sent.count(traces(sendable(drawing.figure).to_json())) for drawing in drawings] == [1, 1]


ODD = ('{"moved": 5}', '{"moved": {"at": 5}}', '{"moved": {"at": {"NAME": [1]}, "count": {}}}')
ODDER = ('{"moved": {"at": {"NAME": {"a": 1}}}}', '{"moved": {"at": {"NAME": NaN}}}', '{"done": 5}')


def test_what_no_player_says_raises_nothing(app: str) -> None:
    async def visit() -> None:
        single = Session(Visit(app, "clock", ""))
        await single.open()
        assert single.film is not None
        for text in ODD + ODDER:
            value = text.replace("NAME", single.film.control)
            single.widgets[single.film.id] = WidgetState(id=single.film.id, json_value=value)
            # A page that raises is an error of the session's own.
            await single._run(single.message(), 60)
        await single.close()

    apart(visit)
