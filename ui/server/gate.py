"""Turns away websockets that a page of another site opens, before anything is looked up for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamlit import config

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class SameOrigin:
    """Middleware: a websocket's Origin is absent, the address of the request, or one of server.corsAllowedOrigins.

    Streamlit checks as well, but lets other programs on this machine's own address in, and asks a service on the
    network for its external address whenever a stranger knocks, while all sessions wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not of_this_app(dict(scope["headers"])):
            await send({"type": "websocket.close", "code": 1008})
            return
        await self.app(scope, receive, send)


def of_this_app(headers: dict[bytes, bytes]) -> bool:
    """Whether a handshake comes from a page of this app, or from no page at all."""
    origin = headers.get(b"origin")
    if origin is None:
        return True
    host = headers.get(b"host", b"")
    same = bool(host) and origin.partition(b"://")[2] == host
    return same or origin.decode("latin-1") in config.get_option("server.corsAllowedOrigins")
