"""The layers between a browser and Streamlit, outermost first."""

from __future__ import annotations

from typing import Any

from starlette.middleware import Middleware
from streamlit.runtime import get_instance

from ui.server.early import Early
from ui.server.gate import SameOrigin
from ui.server.sessions import Sessions, Uploads
from ui.server.sockets import Bounded
from ui.server.turns import watch
from ui.work.jobs import end_with_their_tabs


def remove(session: str, file: str) -> None:
    """Remove an uploaded file, as Streamlit does where a browser wants it."""
    manager: Any = get_instance().uploaded_file_mgr
    manager.remove_file(session, file)


def stack() -> list[Middleware]:
    """Return the origin gate, bounds on websockets and uploads, and the player's header; runs end with their tabs."""
    sessions = Sessions(lambda name: get_instance().close_session(name), remove=remove)
    end_with_their_tabs(sessions.when_left)
    watch()
    return [Middleware(SameOrigin), Middleware(Bounded, sessions), Middleware(Uploads, sessions), Middleware(Early)]
