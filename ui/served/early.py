"""Has browsers read the films' player along with Streamlit's own files, before a page names a film."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

from ui import film as package
from ui.served.film import NAME

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = Path(streamlit.__file__).parent / "static"


@cache
def preload_link_header() -> bytes:
    """Return the header that names the player's files and Streamlit's part that mounts components.

    The files are modules; a browser that does not know the header reads them when a film is mounted. The addresses are
    relative, as Streamlit's own are.
    """
    files = [f"./static/js/{path.name}" for path in (STATIC / "static" / "js").glob("BidiComponent.*.js")]
    assets = sorted((Path(package.__file__).parent / "assets").glob("*.js"))
    files += [f"./_stcore/bidi-components/{NAME}/{path.name}" for path in assets]
    return ", ".join(f"<{file}>; rel=modulepreload" for file in files).encode("ascii")


class PreloadMiddleware:
    """Middleware: every HTML document comes with that header."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", [])
                if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
                    message = {**message, "headers": [*headers, (b"link", preload_link_header())]}
            await send(message)

        await self.app(scope, receive, sent if scope["type"] == "http" else send)
