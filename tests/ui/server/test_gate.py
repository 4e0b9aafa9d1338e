"""Whose requests and websockets the app takes: under its own names, and from its own pages."""

from typing import Any

import pytest
from streamlit import config

from tests.conftest import apart
from ui.server.gate import SameOrigin


@pytest.mark.parametrize(
    ("scope", "host", "origin", "status"),
    [
        ({"type": "http", "path": "/"}, "rope.example:80", None, 200),
        ({"type": "http", "path": "/"}, "evil.example", None, 421),
        ({"type": "http", "path": "/_stcore/upload_file/a/b"}, "", None, 421),
        ({"type": "http", "path": "/_stcore/health"}, "10.0.0.7:8501", None, 200),
        ({"type": "websocket", "scheme": "ws"}, "rope.example:80", "http://rope.example:80", 200),
        ({"type": "websocket", "scheme": "wss"}, "rope.example", "https://rope.example", 200),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", None, 200),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "https://rope.example", 1008),
        ({"type": "websocket", "scheme": "wss"}, "rope.example", "http://rope.example", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "ftp://rope.example", 1008),
        ({"type": "websocket", "scheme": "ws"}, "evil.example", "http://evil.example", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "http://127.0.0.1", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "null", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "http://x@rope.example", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "http://rope.example.evil.example", 1008),
        ({"type": "websocket", "scheme": "ws"}, "rope.example", "http://[bad", 1008),
        ({"type": "websocket", "scheme": "ws"}, "evil.example", None, 1008),
    ],
)
def test_names_and_schemes(
    scope: dict[str, Any], host: str, origin: str | None, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    get = config.get_option
    hosts = {"server.allowedHosts": ["rope.example"]}
    monkeypatch.setattr(config, "get_option", lambda name: hosts.get(name) or get(name))
    seen: list[int] = []

    async def app(*_: Any) -> None:
        seen.append(200)

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        seen.extend(message[key] for key in ("status", "code") if key in message)

    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    apart(lambda: SameOrigin(app)(scope | {"headers": headers}, receive, send))
    assert seen == [status]
