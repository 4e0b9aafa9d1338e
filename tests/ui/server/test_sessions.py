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


@pytest.mark.parametrize(
    ("length", "read"),
    [(3 * MB, 3), (2 * MB, 2), (module.DRAINED + 1, 0), (None, 0)],
    ids=["all", "to its end", "no", "-"],
)
def test_a_refused_file_is_read_before_the_answer(length: int | None, read: int) -> None:
    """A proxy takes an answer to a file that it still sends for a failure; what is too large is not read."""
    steps: list[str] = []

    async def app(*_: Any) -> None:
        steps.append("app")

    async def receive() -> Any:
        steps.append("read")
        return {"type": "http.request", "body": b"x" * MB, "more_body": True}

    async def put(message: Any) -> None:
        steps.append(str(message.get("status", "body")))

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "method": "PUT", "path": f"{UPLOADS}a/0", "headers": headers}
    apart(lambda: Uploads(app, Sessions(lambda _: None))(scope, receive, put))
    assert steps == ["read"] * read + ["411" if length is None else "403", "body"]


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


def test_addresses_that_nobody_uses_lapse_and_all_sessions_share_a_lid(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(lambda _: None)
    for name in "ab":
        sessions.enter(name)
        sessions.allow(name, paths(name, MOST_OPEN + 1))
    assert not sessions.allows(paths("a", 1)[0]) and sessions.allows(paths("a", 2)[1])
    monkeypatch.setattr(module, "MOST_ALL", 9 * MB)
    assert sent(sessions, "PUT", paths("a", 2)[1], 5 * MB)[0] == 204
    assert sent(sessions, "PUT", paths("b", 2)[1], 5 * MB)[0] == 503


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
