"""Whose script runs next: few at once, one for each visitor, who has used least first; who waits is not counted."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from tests.conftest import apart
from ui.server import turns as module
from ui.server.turns import AT_ONCE, TURN, Turn, Turns, visitors, watch


class Runs:
    """Runs of visitors, begun and ended by the test."""

    def __init__(self, now: Callable[[], float] = lambda: 0.0) -> None:
        self.turns = Turns(now)
        self.going: list[tuple[Turn, module._Clock]] = []

    def ask(self, visitor: str, address: str = "campus") -> Turn:
        turn = Turn(self.turns, visitor, address)
        turn.ask().add_done_callback(lambda _: self.begin(turn))
        return turn

    def begin(self, turn: Turn) -> None:
        clock = module._Clock()
        turn.started(clock)
        self.going.append((turn, clock))

    async def end(self, seconds: float) -> str:
        """End the oldest run; whose it was."""
        turn, clock = self.going.pop(0)
        turn.over(clock, seconds)
        await asyncio.sleep(0)
        return turn.visitor


def test_few_run_at_once_and_who_has_used_least_is_next() -> None:
    async def lecture() -> None:
        runs = Runs()
        for visitor in "abaaabbbc":
            runs.ask(visitor)
        await asyncio.sleep(0)
        assert [turn.visitor for turn, _ in runs.going] == ["a", "b"] and AT_ONCE == 2
        order = [await runs.end(1.0) for _ in range(4)]
        assert order == ["a", "b", "c", "a"]
        quiet = runs.ask("d")
        while quiet.visitor not in order:
            assert len({turn.visitor for turn, _ in runs.going}) == len(runs.going) <= AT_ONCE
            order.append(await runs.end(1.0))
        assert len(order) <= 8, "who comes to a queue waits for the average at most"
        alone = Runs()
        for _ in range(3):
            alone.ask("a")
        await asyncio.sleep(0)
        assert len(alone.going) == AT_ONCE, "two tabs of a visitor who is alone"

    apart(lecture)


def test_who_is_here_is_known_with_sockets_and_seconds() -> None:
    async def visit() -> None:
        runs = Runs()
        first, _ = runs.ask("a"), runs.ask("b")
        Turn(runs.turns, "a", "campus")
        await asyncio.sleep(0)
        await runs.end(1.5)
        rows = {row["visitor"]: (row["sockets"], row["seconds"]) for row in runs.turns.visitors()}
        assert rows == {"a": (2, 1.5), "b": (1, 0.0)}
        assert all(row in visitors() for row in runs.turns.visitors())
        first.leave()
        assert {row["visitor"]: row["sockets"] for row in runs.turns.visitors()} == {"a": 1, "b": 1}

    apart(visit)


def test_new_names_gain_nothing_and_another_address_is_served() -> None:
    clock = [0.0]

    async def flood() -> list[str]:
        runs, order = Runs(lambda: clock[0]), []
        for at in range(40):
            runs.ask(f"made up {at}", "one")
        await asyncio.sleep(0)
        for at in range(40):
            if at == 10:
                runs.ask("student", "other")
            clock[0] += 0.5
            order.append(await runs.end(0.5))
        return order

    assert apart(flood).index("student") <= 10 + AT_ONCE


def test_a_run_that_uses_no_processor_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.05)
    stop = threading.Event()

    async def visit() -> float:
        runs = Runs()
        for name in "ab":
            runs.ask(name)
        await asyncio.sleep(0)
        threads = []
        for at, (_, clock) in enumerate(runs.going):
            # One waits, as for the hub; the other is at work.
            body = stop.wait if at else lambda: [None for _ in iter(stop.is_set, True)]
            threads.append(threading.Thread(target=lambda c=clock, b=body: (c.start(), b(), c.stop())))
            threads[-1].start()
        began = time.monotonic()
        third = runs.ask("c")
        assert third.coming is not None
        await asyncio.wait_for(third.coming, 20)
        fourth = runs.ask("d")
        await asyncio.sleep(0.3)
        assert fourth.coming is not None and not fourth.coming.done(), "whoever works keeps the place"
        stop.set()
        for thread in threads:
            thread.join()
        return time.monotonic() - began

    try:
        assert apart(visit) < 30
    finally:
        stop.set()


def test_streamlits_threads_are_seen_to_begin_and_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_session, "ScriptRunner", ScriptRunner)
    watch()
    seen: list[int] = []
    turn = Turn(Turns(), "a", "b")
    # What Streamlit's own class does between the two.
    monkeypatch.setattr(ScriptRunner, "_run_script_thread", lambda self: seen.append(turn.threads))

    async def run() -> None:
        TURN.set(turn)
        await turn.ask()
        runner: Any = object.__new__(vars(app_session)["ScriptRunner"])
        runner._script_thread = None
        runner.start()
        runner._script_thread.join()
        await asyncio.sleep(0.05)
        seen.append(turn.threads)

    apart(run)
    assert seen == [1, 0]
