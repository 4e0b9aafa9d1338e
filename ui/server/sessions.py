"""The sessions that a browser holds open: when they end, and which files each may upload."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"
# Bytes of one session, bytes of all, places that a session may have open, and seconds in which a file is whole.
MOST_EACH, MOST_ALL, MOST_OPEN, SECONDS = 10 * 10**6, 256 * 10**6, 32, 60.0
# Seconds after its last socket closed: a browser that lost its connection is back sooner, and Streamlit keeps a session
# for 120, if nobody else comes until the next one leaves.
GONE = 110.0


@dataclass
class _Session:
    address: str = ""
    sockets: int = 0
    files: dict[str, int] = field(default_factory=dict)
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


class Sessions:
    """Who is here. Used on the event loop's thread alone.

    Args:
        close: ends a session whose browser has been gone for ``gone`` seconds, with all that it holds.
        gone: seconds of patience.
        remove: removes a session's file, both by name.
    """

    def __init__(
        self, close: Callable[[str], None], gone: float = GONE, remove: Callable[[str, str], None] = lambda *_: None
    ) -> None:
        self._close, self._gone, self._remove = close, gone, remove
        self._known: dict[str, _Session] = {}
        self._left: list[tuple[float, Callable[[str], None]]] = []

    def open(self, name: str) -> int:
        """Return how many sockets a session has open."""
        return self._known[name].sockets if name in self._known else 0

    def when_left(self, seconds: float, call: Callable[[str], None]) -> None:
        """Call ``call`` with a session's name once its browser has been gone for so many seconds."""
        self._left.append((seconds, call))

    def enter(self, name: str, address: str = "") -> None:
        """Note that a socket of a session is open, from an address."""
        session = self._known.setdefault(name, _Session(address))
        session.sockets += 1
        _stop(session)

    def leave(self, name: str) -> None:
        """Note that one is closed; with the last one the session's time runs out."""
        session = self._known.get(name)
        if session is None:
            return
        session.sockets -= 1
        if session.sockets == 0:
            later = asyncio.get_running_loop().call_later
            session.timers = [later(seconds, call, name) for seconds, call in self._left]
            session.timers.append(later(self._gone, self._end, name))

    def _end(self, name: str) -> None:
        self._known.pop(name, None)
        self._close(name)

    def allow(self, name: str, paths: list[str]) -> None:
        """Let a session upload to these addresses, each one file; those of unused older ones lapse."""
        session = self._known.get(name)
        if session is not None:
            session.files |= dict.fromkeys(paths, 0)
            unused = [path for path, size in session.files.items() if not size]
            for path in unused[: max(0, len(session.files) - MOST_OPEN)]:
                del session.files[path]

    def room(self, path: str, size: int) -> HTTPStatus:
        """Reserve ``size`` bytes for an upload; OK, or the status that says why not.

        Where all that fits is taken, the oldest file goes of the session that holds most, at the address that does.
        """
        files = self._files(path)
        if files is None or files[path]:
            return HTTPStatus.FORBIDDEN
        if sum(files.values()) + size > MOST_EACH:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        while sum(map(_bytes, self._known.values())) + size > MOST_ALL:
            self._evict()
        files[path] = size
        return HTTPStatus.OK

    def _evict(self) -> None:
        held = Counter[str]()
        for session in self._known.values():
            held[session.address] += _bytes(session)
        most = max(self._known.values(), key=lambda each: (held[each.address], _bytes(each)))
        path = next(path for path, size in most.files.items() if size)
        del most.files[path]
        self._remove(*path.removeprefix(UPLOADS).split("/", 1))

    def allows(self, path: str) -> bool:
        """Return whether a session that is here has been given an upload's address."""
        return self._files(path) is not None

    def free(self, path: str) -> None:
        """Give back what an upload had reserved, and its address."""
        files = self._files(path)
        if files is not None:
            del files[path]

    def _files(self, path: str) -> dict[str, int] | None:
        """Return the files of the session that owns an upload's address; None where nobody has been given it."""
        session = self._known.get(path.removeprefix(UPLOADS).partition("/")[0])
        return session.files if session and path in session.files else None


def _bytes(session: _Session) -> int:
    return sum(session.files.values())


def _stop(session: _Session) -> None:
    for timer in session.timers:
        timer.cancel()
    session.timers.clear()


class Uploads:
    """Middleware: a file goes to an address that its session was given, once, and within the session's bytes."""

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self.app, self.sessions = app, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(UPLOADS) or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
            return
        path, answered = scope["path"], 0
        put = scope["method"] == "PUT"
        status = self._status(scope) if put or self.sessions.allows(path) else HTTPStatus.FORBIDDEN
        if status != HTTPStatus.OK:
            await _refuse(send, status)
            return
        until = asyncio.get_running_loop().time() + SECONDS

        async def arriving() -> Message:
            """Return what arrives, as long as it is awaited."""
            try:
                async with asyncio.timeout_at(until):
                    return await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}

        async def note(message: Message) -> None:
            nonlocal answered
            answered = message.get("status", answered)
            await send(message)

        try:
            await self.app(scope, arriving, note)
        finally:
            stored = put and 200 <= answered < 300
            if not stored:
                self.sessions.free(path)
        if stored and not self.sessions.allows(path):
            # The session ended while its file was on the way, after which nothing would remove it.
            await self.app({**scope, "method": "DELETE"}, _nothing, _nowhere)

    def _status(self, scope: Scope) -> HTTPStatus:
        if scope["method"] == "DELETE":
            return HTTPStatus.OK
        size = _length(scope)
        return HTTPStatus.LENGTH_REQUIRED if size is None else self.sessions.room(scope["path"], size)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(_: Message) -> None:
    return None


def _length(scope: Scope) -> int | None:
    """Return the length that a request announces; None where it does not."""
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 16 else None


async def _refuse(send: Send, status: HTTPStatus) -> None:
    body = f"{status.phrase}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
