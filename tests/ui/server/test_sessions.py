"""When a session ends, and what it may upload until then."""

import asyncio
from typing import Any

import pytest

from tests.conftest import apart
from ui.server import sessions as module
from ui.server.sessions import MOST_EACH, MOST_OPEN, UPLOADS, Sessions, Uploads

MB = 10**6


def paths(session: str, count: int) -> list[str]:
    """Addresses as Streamlit gives them out."""
    return [f"{UPLOADS}{session}/{number}" for number in range(count)]


def sent(
    sessions: Sessions, method: str, path: str, length: int | str | None, answer: int = 204
) -> tuple[int, list[str]]:
    """Return the status of a request, and the methods that reached Streamlit, which answers with ``answer``."""
    reached: list[str] = []
    statuses: list[int] = []

    async def app(scope: Any, _: Any, put: Any) -> None:
        reached.append(scope["method"])
        if answer == 0:
            sessions._end("a")
        await put({"type": "http.response.start", "status": answer or 204})

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def put(message: Any) -> None:
        statuses.append(message.get("status", 0))

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    apart(lambda: Uploads(app, sessions)(scope, receive, put))
    return statuses[0], reached


def test_a_file_is_refused_by_its_header_and_one_that_never_ends_is_not_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.05)
    sessions, steps = Sessions(lambda _: None), list[str]()

    async def app(_: Any, get: Any, __: Any) -> None:
        steps.append((await get())["type"])
        steps.append((await get())["type"])

    async def receive() -> Any:
        if steps[-1:] == ["http.request"]:
            await asyncio.sleep(10)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def put(message: Any) -> None:
        steps.append(str(message.get("status", "body")))

    scope = {"type": "http", "method": "PUT", "path": paths("a", 1)[0], "headers": [(b"content-length", b"9")]}
    apart(lambda: Uploads(app, sessions)(scope, receive, put))
    assert steps == ["403", "body"]
    sessions.enter("a")
    sessions.allow("a", paths("a", 1))
    apart(lambda: Uploads(app, sessions)(scope, receive, put))
    assert steps[2:] == ["http.request", "http.disconnect"]
    assert not sessions.allows(paths("a", 1)[0]), "what was reserved is free"


def test_uploads_go_where_they_were_allowed_once_and_within_the_sessions_bytes() -> None:
    sessions = Sessions(lambda _: None)
    sessions.enter("a")
    first, second, third, fourth = paths("a", 4)
    assert sent(sessions, "PUT", first, 5 * MB) == (403, [])
    sessions.allow("a", [first, second, third, fourth])
    assert sent(sessions, "PUT", first, None) == (411, [])
    assert sent(sessions, "PUT", first, "1e6") == (411, [])
    assert sent(sessions, "PUT", first, 5 * MB) == (204, ["PUT"])
    assert sent(sessions, "PUT", first, 1) == (403, []), "an address takes one file"
    assert sent(sessions, "PUT", second, 6 * MB) == (413, [])
    assert sent(sessions, "PUT", second, MOST_EACH - 5 * MB) == (204, ["PUT"])
    assert sent(sessions, "PUT", third, 1) == (413, [])
    assert sent(sessions, "DELETE", first, None) == (204, ["DELETE"])
    assert sent(sessions, "PUT", third, 5 * MB, answer=413) == (413, ["PUT"])
    assert sent(sessions, "PUT", fourth, 5 * MB) == (204, ["PUT"]), "what was refused costs nothing"
    assert sent(sessions, "DELETE", f"{UPLOADS}b/0", None) == (403, [])
    assert sent(sessions, "GET", "/", None) == (204, ["GET"])


def test_places_that_nobody_uses_lapse_and_the_greediest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[tuple[str, str]] = []
    sessions = Sessions(lambda _: None, remove=lambda *names: removed.append(names))
    for name, address in (("a", "one"), ("b", "one"), ("c", "other"), ("d", "one")):
        sessions.enter(name, address)
        sessions.allow(name, paths(name, MOST_OPEN + 1))
    assert not sessions.allows(paths("a", 1)[0]) and sessions.allows(paths("a", 2)[1])
    monkeypatch.setattr(module, "MOST_ALL", 15 * MB)
    taken = (("a", 1, 3), ("a", 2, 2), ("b", 1, 4), ("c", 1, 6))
    for name, number, size in taken:
        assert sent(sessions, "PUT", paths(name, 3)[number], size * MB)[0] == 204
    assert removed == []
    assert sent(sessions, "PUT", paths("d", 2)[1], MB)[0] == 204, "a newcomer is served"
    assert removed == [("a", "1")], "of the address with 9 MB, the session with 5, its oldest"
    assert not sessions.allows(paths("a", 2)[1])


def test_a_file_that_comes_after_its_sessions_end_is_removed() -> None:
    sessions = Sessions(lambda _: None)
    sessions.enter("a")
    sessions.allow("a", paths("a", 1))
    assert sent(sessions, "PUT", paths("a", 1)[0], 1, answer=0) == (204, ["PUT", "DELETE"])


def test_a_session_ends_some_time_after_its_last_socket() -> None:
    async def visits() -> list[str]:
        ended: list[str] = []
        sessions = Sessions(lambda name: ended.append(f"closed {name}"), gone=0.06)
        sessions.when_left(0.02, lambda name: ended.append(f"left {name}"))
        for name in ("stays", "returns", "leaves"):
            sessions.enter(name)
        sessions.leave("returns")
        sessions.enter("returns")
        sessions.enter("stays")
        sessions.leave("stays")
        sessions.leave("leaves")
        await asyncio.sleep(0.1)
        assert sessions.open("returns") == sessions.open("stays") == 1
        return ended

    assert apart(visits) == ["left leaves", "closed leaves"]
