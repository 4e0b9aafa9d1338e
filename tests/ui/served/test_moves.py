"""What one move of a control sends to the browser, over the websocket of a real server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

import rope_core as rc
from benchmarks.servers import ROOT, served
from benchmarks.sessions import Session, Visit
from tests.conftest import apart
from ui.figures.frequencies import spans
from ui.page.charts import sendable
from ui.text.words import Words


@dataclass
class Watcher(Session):
    """A session that moves a film, and keeps the figures it is sent, in their order."""

    charts: list[str] = field(default_factory=list)
    film: str = ""

    def _element(self, element: Element, fragment: str) -> None:
        super()._element(element, fragment)
        kind = element.WhichOneof("type")
        if kind == "plotly_chart":
            self.charts.append(element.plotly_chart.spec)
        if kind == "bidi_component" and element.bidi_component.component_name == "rope-lab.film":
            self.film, self.fragment = element.bidi_component.id, fragment

    async def put(self, **at: float) -> None:
        """Let go of the film's controls at these values, as the player reports it."""
        moved = json.dumps({"moved": {"at": at, "count": 1}})
        self.widgets[self.film] = WidgetState(id=self.film, json_value=moved)
        message = self._message()
        message.rerun_script.fragment_id = self.fragment
        await self._run(message, 30)


def traces(text: str) -> Any:
    return json.dumps(json.loads(text)["data"])


def test_a_move_of_a_shared_value_sends_each_figure_that_it_changes_once() -> None:
    base = 700_000.0

    async def moved() -> Watcher:
        watcher = Watcher(Visit(url, "frequencies"))
        await watcher.open()
        watcher.charts.clear()
        await watcher.put(base=base, train_len=4096)
        await watcher.close()
        return watcher

    with served(ROOT / "app.py") as url:
        watcher = apart(moved)
    assert "base=700000" in watcher.query and "train_len" not in watcher.query
    t, rope = Words("en", "frequencies"), rc.Rope(128, base, 4096)
    sent = [traces(text) for text in watcher.charts]
    drawings = (
        spans.base_choice(rope, t),
        spans.rulers(rope, 0.1, t),
        spans.repeats(rope, t),
        spans.wave(rope, 4, 128, t),
    )
    assert [sent.count(traces(sendable(drawing.figure).to_json())) for drawing in drawings] == [1, 1, 1, 1]
