"""Bounds on what one websocket may send: kinds of messages, bytes of each, and messages a second."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.requests import HTTPConnection
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ui.present.visitor import browser
from ui.server import shut_out
from ui.server.turns import TURN, Turn, Turns

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ui.server.sessions import Sessions

# A key that is held down sends 30 messages a second, a film one when the hand lets go.
RATE, BURST = 40.0, 200.0
RUNS, RUNS_AT_ONCE = 12.0, 24.0
# A message costs one, and one more for each of these bytes: a page with a text in a box sends it with every move. A box
# takes MOST_LETTERS of it (ui/served/access.py), a longer text comes as a file.
BYTES_EACH, MOST_BYTES = 2**16, 2**18
# Messages that come faster than RATE until the socket is closed: 10 seconds of them.
PATIENCE = 400
# Widgets of a page and messages in a browser's cache are a few dozen.
MOST_ITEMS = 2000
MOST_FILES = 16
MOST_QUERY = 2**15
KINDS = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
# Values that hold for one run: a button, a message of a chat, an event of a component.
PRESSED = {"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"}
POLICY, UNSUPPORTED, TOO_BIG = 1008, 1003, 1009


class Bounded:
    """Middleware between a browser and Streamlit: messages that the app has no use for go no further.

    A socket that sends faster than ``RATE`` waits, with nothing read from it meanwhile; one that goes on is closed,
    as is one that sends text, too many bytes, or more names than any page has. Of moves that come faster than ``RUNS``
    the latest of each moment counts: a run takes most of a core, and one that is interrupted shows nothing. So it is
    with moves that wait for their turn among all who are here.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions, now: Callable[[], float] = time.monotonic) -> None:
        self.app, self.sessions, self.now, self.turns = app, sessions, now, Turns(now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        address = connection.client.host if connection.client else ""
        turn = Turn(self.turns, browser(connection.cookies, address), address)
        TURN.set(turn)
        socket = _Socket(self.sessions, turn, receive, send, self.now)
        try:
            await self.app(scope, socket.receive, socket.send)
        finally:
            socket.end()


class _Socket:
    """One websocket: what it may still send, and the session that Streamlit gave it."""

    def __init__(self, sessions: Sessions, turn: Turn, receive: Receive, send: Send, now: Callable[[], float]) -> None:
        self._sessions, self._turn, self._receive, self._send, self._now = sessions, turn, receive, send, now
        self._messages, self._runs = Bucket(RATE, BURST, now), Bucket(RUNS, RUNS_AT_ONCE, now)
        self._ahead: asyncio.Task[tuple[Message, Any]] | None = None
        self._session = ""
        self._files_asked = 0
        self._closed = False

    async def receive(self) -> Message:
        """Return the next message that may pass, of moves in quick succession the latest."""
        self._turn.settle()
        message, run = await self._next()
        if not run:
            return message
        until, coming = self._now() + self._runs.charge(1), None
        while coming is None or not coming.done():
            left = until - self._now()
            if left <= 0 and coming is None:
                coming = self._turn.ask()
                continue
            self._ahead = self._ahead or asyncio.ensure_future(self._passing())
            await asyncio.wait(
                {self._ahead, coming or self._ahead}, timeout=max(0, left) or None, return_when=asyncio.FIRST_COMPLETED
            )
            if self._ahead.done():
                newer, its = self._ahead.result()
                if replaces(run, its):
                    message, run, self._ahead = newer, its, None
                elif coming is None:
                    await asyncio.sleep(until - self._now())
                elif newer["type"] == "websocket.disconnect":
                    self._ahead = None
                    return newer
                else:
                    await coming
        return message

    async def _next(self) -> tuple[Message, Any]:
        """Return the message that was read ahead, else the next one that may pass."""
        if self._ahead is None:
            return await self._passing()
        ahead = await self._ahead
        self._ahead = None
        return ahead

    async def _passing(self) -> tuple[Message, Any]:
        """Return the next message that may pass, and its run; a disconnect once the socket is closed."""
        while True:
            message = await self._receive()
            if self._closed:
                return {"type": "websocket.disconnect", "code": POLICY}, None
            if message["type"] != "websocket.receive":
                return message, None
            data = message.get("bytes")
            code = UNSUPPORTED if data is None else TOO_BIG if len(data) > MOST_BYTES else 0
            code = POLICY if self._turn.visitor in shut_out.browsers else code
            if not code and data is not None:
                await asyncio.sleep(self._messages.charge(1 + len(data) // BYTES_EACH))
                request = parsed(data)
                if request is None or self._messages.late > PATIENCE or not fits(request):
                    code = POLICY
                elif of_use(request):
                    kind = request.WhichOneof("type")
                    self._files_asked += kind == "file_urls_request"
                    return message, request.rerun_script if kind == "rerun_script" else None
            if code:
                self._closed = True
                await self._send({"type": "websocket.close", "code": code})
                return {"type": "websocket.disconnect", "code": code}, None

    async def send(self, message: Message) -> None:
        """Hand a message to the browser, and note the session's name and the uploads that it allows."""
        if message["type"] == "websocket.send" and (not self._session or self._files_asked):
            self._note(message.get("bytes") or b"")
        if not self._closed:
            try:
                await self._send(message)
            except (OSError, RuntimeError):
                # The line is closed: Streamlit, told so by the next message, ends the session without a traceback.
                self._closed = True

    def _note(self, data: bytes) -> None:
        if len(data) > BYTES_EACH:
            return
        message: Any = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "new_session" and not self._session:
            self._session = message.new_session.initialize.session_id
            self._sessions.enter(self._session, self._turn.address)
        elif kind == "file_urls_response":
            self._files_asked -= 1
            self._sessions.allow(self._session, [each.upload_url for each in message.file_urls_response.file_urls])

    def end(self) -> None:
        """Tell that the socket is gone."""
        if self._ahead is not None:
            self._ahead.cancel()
        self._turn.leave()
        if self._session:
            self._sessions.leave(self._session)


class Bucket:
    """A token bucket: ``rate`` tokens a second, at most ``burst`` kept.

    Attributes:
        late: how many messages found it empty since it was last full.
    """

    def __init__(self, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._tokens, self._at, self.late = burst, now(), 0

    def charge(self, cost: float) -> float:
        """Take ``cost`` tokens and return the seconds until they are there."""
        at = self._now()
        self._tokens = min(self._burst, self._tokens + self._rate * (at - self._at)) - cost
        self._at = at
        if self._tokens < 0:
            self.late += 1
        elif self._tokens + 1 >= self._burst:
            self.late = 0
        return max(0.0, -self._tokens / self._rate)


def parsed(data: bytes) -> Any:
    """Return a browser's message, or None where it is none."""
    try:
        return BackMsg.FromString(data)
    except DecodeError:
        return None


def of_use(message: Any) -> bool:
    """Whether the app has a use for a browser's message.

    >>> of_use(BackMsg(stop_script=True)), of_use(BackMsg(load_git_info=True))
    (True, False)
    """
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return bool(message.backend_operation_request.HasField("deferred_file"))
    return kind in KINDS


def fits(message: Any) -> bool:
    """Whether a message names no more widgets, cached messages, files and letters of an address than a page has.

    Films' values are JSON objects.
    """
    run, files = message.rerun_script, message.file_urls_request.file_names
    items = max(len(run.widget_states.widgets), len(run.cached_message_hashes))
    few = items <= MOST_ITEMS and len(run.query_string) <= MOST_QUERY and len(files) <= MOST_FILES
    return few and all(is_object(each.json_value) for each in run.widget_states.widgets if each.HasField("json_value"))


def is_object(text: str) -> bool:
    """Whether a text is a JSON object, as every value of a film is.

    >>> is_object('{"moved": {}}'), is_object("[]"), is_object("[" * 9000)
    (True, False, False)
    """
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def replaces(run: Any, newer: Any) -> bool:
    """Whether nothing is lost by the newer of two runs alone: it is of the same part, and no button was pressed."""
    return (
        newer is not None
        and (run.fragment_id, run.page_script_hash, run.page_name)
        == (newer.fragment_id, newer.page_script_hash, newer.page_name)
        and not any(widget.WhichOneof("value") in PRESSED for widget in run.widget_states.widgets)
    )
