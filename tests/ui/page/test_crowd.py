"""In a crowd a move is one run of the page, which sends every changed figure once, on one core."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.Element_pb2 import Element

import rope_core as rc
from benchmarks.servers import ROOT, served
from benchmarks.sessions import Session, Visit
from tests.conftest import apart
from ui.figures.frequencies import spans
from ui.figures.frequencies import tables as frequencies
from ui.page import frame
from ui.page.fields import BASE
from ui.text.words import Words

SCRIPT = """
import sys
import streamlit as st
sys.path.insert(0, {root!r})
import ui.page.frame
ui.page.frame.CROWD = {crowd}
app = st.App({root!r} + "/ui/main.py")
"""


@dataclass
class Watcher(Session):
    """A session that keeps the figures it is sent, in their order."""

    charts: list[str] = field(default_factory=list)

    def _element(self, element: Element, fragment: str) -> None:
        super()._element(element, fragment)
        if element.WhichOneof("type") == "plotly_chart":
            self.charts.append(element.plotly_chart.spec)


def drawn(text: str) -> Any:
    """A figure's traces."""
    return json.dumps(json.loads(text)["data"])


def test_a_matrix_product_of_a_page_stays_on_one_core() -> None:
    code = "import ui.server.warm, threadpoolctl as t; print(t.ThreadpoolController().select(user_api='blas').info())"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    pools = ast.literal_eval(found.stdout.splitlines()[-1])
    assert pools and all(pool["num_threads"] == 1 for pool in pools)


@pytest.mark.parametrize("more, is_one", [(-1, False), (0, True)])
def test_a_crowd_is_several_scripts_at_one_time(more: int, is_one: bool) -> None:
    done = threading.Event()
    names = ["ScriptRunner.scriptThread"] * (frame.CROWD + more) + ["another"] * 9
    threads = [threading.Thread(target=done.wait, name=name) for name in names]
    for thread in threads:
        thread.start()
    found = frame.crowded()
    done.set()
    for thread in threads:
        thread.join()
    assert found is is_one


@pytest.mark.parametrize("crowd, sent", [(0, 1), (99, 2)])
def test_a_move_sends_what_it_changes(crowd: int, sent: int, tmp_path: Path) -> None:
    async def moved() -> Watcher:
        watcher = Watcher(Visit(url, "frequencies", "base"))
        await watcher.open()
        watcher.charts.clear()
        await watcher.move()
        await watcher.close()
        return watcher

    script = tmp_path / "crowd.py"
    script.write_text(SCRIPT.format(root=str(ROOT), crowd=crowd))
    with served(script) as url:
        watcher = apart(moved)
    base = float(dict(pair.split("=") for pair in watcher.query.split("&"))["base"])
    assert base in BASE.steps
    t, rope = Words("en", "frequencies"), rc.Rope(128, base, 4096)
    found = [drawn(text) for text in watcher.charts]
    assert found.count(drawn(frequencies.wavelengths(rope, t).ready.text)) == sent
    for drawing in (spans.base_choice(rope, t), spans.rulers(rope, 0.1, t), spans.wave(rope, 4, 128, t)):
        assert found.count(drawn(drawing.ready.text)) == 1
