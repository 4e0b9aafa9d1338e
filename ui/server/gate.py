"""Turns away requests for a name that is not ours, and websockets that a page of another site opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# Who looks after the process asks it by its number.
CHECKS = ("/_stcore/health", "/_stcore/script-health-check", "/_stcore/metrics")
SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class SameOrigin:
    """Middleware: a request's Host is one of server.allowedHosts, as in no attack by DNS rebinding.

    A websocket's Origin is absent, the address of the request with its scheme, or one of server.corsAllowedOrigins.
    Streamlit checks as well, but websockets alone; it lets other schemes and other programs on this machine's own
    address in, and asks a service on the network for its external address whenever a stranger knocks, while all
    sessions wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        kind, host = scope["type"], headers.get(b"host", b"").decode("latin-1")
        if kind == "http" and scope["path"] not in CHECKS and not is_host_allowed(host):
            await send({"type": "http.response.start", "status": 421, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
        elif kind == "websocket" and not (is_host_allowed(host) and of_this_app(headers, scope["scheme"])):
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.app(scope, receive, send)


def of_this_app(headers: dict[bytes, bytes], scheme: str) -> bool:
    """Whether a handshake comes from a page of this app, or from no page at all."""
    given = headers.get(b"origin")
    if given is None:
        return True
    origin, host = given.decode("latin-1"), headers.get(b"host", b"").decode("latin-1")
    same = bool(host) and origin == f"{SCHEMES[scheme]}://{host}"
    return same or origin in config.get_option("server.corsAllowedOrigins")
