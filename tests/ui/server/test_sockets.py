"""What a websocket may send: kinds, bytes, and messages a second, by a clock of the test's own."""

import asyncio
from functools import partial
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.conftest import apart
from tests.support.attacks import message
from ui.present.visitor import browser
from ui.server import shut_out, sockets
from ui.server.sessions import Sessions
from ui.server.sockets import (
    BURST,
    MOST_BYTES,
    MOST_FILES,
    MOST_ITEMS,
    PATIENCE,
    RATE,
    RUNS,
    RUNS_AT_ONCE,
    Bounded,
    of_use,
)

SCOPE: dict[str, Any] = {"type": "websocket", "headers": [], "client": ("192.0.2.1", 1)}
MOVE = message(lambda built: built.rerun_script.widget_states.widgets.add(id="base", double_value=1.0))
GIT = message(lambda built: setattr(built, "load_git_info", True))


class Clock:
    """Seconds that pass where the code under test sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        # A busy machine wakes late.
        self.now += seconds + (0.02 if seconds else 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock that only the code under test moves."""
    return Clock(monkeypatch)


def reach(frames: list[Any], clock: Clock, every: float = 0.0) -> tuple[list[bytes], list[int]]:
    """Send frames, one each ``every`` seconds, and return what Streamlit is given and the codes of a close."""
    given: list[bytes] = []
    codes: list[int] = []
    queue = iter(frames)

    async def receive() -> Any:
        clock.now += every
        frame = next(queue, None)
        if frame is None:
            return {"type": "websocket.disconnect", "code": 1005}
        return {"type": "websocket.receive", "text" if isinstance(frame, str) else "bytes": frame}

    async def send(sent: Any) -> None:
        codes.append(sent["code"])

    async def app(_: Any, get: Any, put: Any) -> None:
        while (got := await get())["type"] == "websocket.receive":
            given.append(got["bytes"])
        # What Streamlit still has in its hands must not reach a closed socket.
        if codes:
            await put({"type": "websocket.send", "bytes": b""})

    bounded = Bounded(app, Sessions(lambda _: None), lambda: clock.now)
    apart(lambda: bounded(SCOPE, receive, send))
    return given, codes


def moves(count: int) -> list[bytes]:
    """One control's values, one message each."""
    return [message(partial(_move, value=value)) for value in range(count)]


def _move(built: Any, value: int) -> None:
    built.rerun_script.widget_states.widgets.add(id="base", double_value=value)


def test_a_held_key_passes_and_a_flood_is_slowed_and_closed(clock: Clock) -> None:
    held = moves(3000)
    given, codes = reach(held, clock, every=1 / 30)
    # The browser is done after 100 s, and so is the server: what it could not show is not caught up with.
    assert codes == [] and given[-1] == held[-1] and clock.now < 102
    assert RUNS * 95 < len(given) < RUNS * 101 + RUNS_AT_ONCE
    assert sorted(given, key=held.index) == given
    began = clock.now
    given, codes = reach(moves(2500), clock)
    assert codes == [1008] and PATIENCE / RATE <= clock.now - began < 3 * PATIENCE / RATE
    assert len(given) <= RUNS_AT_ONCE + RUNS * (clock.now - began) + 1


def test_large_texts_cost_more_and_are_waited_for(clock: Clock) -> None:
    large = message(lambda built: built.rerun_script.widget_states.widgets.add(string_value="x" * (MOST_BYTES - 99)))
    _, codes = reach([large] * 100, clock)
    assert codes == [] and clock.now > (100 * 4 - BURST) / RATE - 1


def test_no_press_of_a_button_is_lost_and_no_other_part_is_left_out(clock: Clock) -> None:
    press = message(lambda built: built.rerun_script.widget_states.widgets.add(id="go", trigger_value=True))
    part = message(lambda built: setattr(built.rerun_script, "fragment_id", "part"))
    stop = message(lambda built: setattr(built, "stop_script", True))
    sent = [MOVE, part, press, MOVE, stop] * 40
    assert reach(sent, clock) == (sent, [])
    assert clock.now > (4 * 40 - RUNS_AT_ONCE) / RUNS - 1


def test_what_the_app_has_no_use_for_goes_no_further(clock: Clock) -> None:
    of_no_use = [
        GIT,
        message(lambda built: setattr(built, "clear_cache", True)),
        message(lambda built: setattr(built, "set_run_on_save", True)),
        message(lambda built: setattr(built, "debug_shutdown_runtime", True)),
        message(lambda built: built.backend_operation_request.install_skills.SetInParent()),
        b"",
    ]
    assert reach([*of_no_use, MOVE], clock) == ([MOVE], [])
    assert reach([GIT] * 2500, clock) == ([], [1008])


@pytest.mark.parametrize(
    "frame, code",
    [
        ("text", 1003),
        (b"x" * (MOST_BYTES + 1), 1009),
        (b"\xff" * 100, 1008),
        (message(lambda m: m.file_urls_request.file_names.extend(["x"] * (MOST_FILES + 1))), 1008),
        (message(lambda m: m.rerun_script.cached_message_hashes.extend(["x"] * (MOST_ITEMS + 1))), 1008),
        (message(lambda m: [m.rerun_script.widget_states.widgets.add() for _ in range(MOST_ITEMS + 1)]), 1008),
        (message(lambda m: setattr(m.rerun_script, "query_string", "x" * 40_000)), 1008),
        (message(lambda m: m.rerun_script.widget_states.widgets.add(id="film", json_value="[1]")), 1008),
    ],
    ids=["text", "bytes", "no message", "files", "hashes", "widgets", "query", "film"],
)
def test_what_no_browser_sends_closes_the_socket(frame: Any, code: int, clock: Clock) -> None:
    assert reach([MOVE, frame, MOVE], clock) == ([MOVE], [code])


def test_every_kind_that_streamlit_knows_is_decided() -> None:
    kinds = {each.name for each in BackMsg.DESCRIPTOR.fields}
    dropped = {
        "clear_cache",
        "set_run_on_save",
        "load_git_info",
        "debug_disconnect_websocket",
        "debug_shutdown_runtime",
    }
    assert kinds - dropped == sockets.KINDS
    built = BackMsg()
    built.backend_operation_request.deferred_file.SetInParent()
    assert of_use(built)


def test_a_sockets_session_is_known_until_it_is_closed() -> None:
    shown = ForwardMsg()
    shown.new_session.initialize.session_id = "abc"
    sessions, seen = Sessions(lambda _: None), list[int]()

    async def app(_: Any, __: Any, put: Any) -> None:
        for each in (shown.SerializeToString(), b"\0" * 2**20):
            await put({"type": "websocket.send", "bytes": each})
        seen.append(sessions.open("abc"))

    async def receive() -> Any:
        return {"type": "websocket.disconnect", "code": 1005}

    async def send(_: Any) -> None:
        return None

    apart(lambda: Bounded(app, sessions)(SCOPE, receive, send))
    assert seen == [1] and sessions.open("abc") == 0


def test_a_browser_that_is_shut_out_is_closed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reach([MOVE], clock) == ([MOVE], [])
    monkeypatch.setattr(shut_out, "browsers", frozenset({browser({}, "192.0.2.1")}))
    assert reach([MOVE], clock) == ([], [1008])
