"""The hall's one process: the book's files, the rooms, and the limits of its connections."""

from __future__ import annotations

import asyncio
import logging
import random
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount
from uvicorn.protocols.http.h11_impl import H11Protocol

from ui.hall.files import BookFiles, read_book_files
from ui.hall.rooms import RoomService
from ui.hall.store import RoomStore, StoreUnavailable

HEAD_SECONDS = 10.0
"""Seconds in which a connection's first request has its header whole."""
CONNECTIONS, FILES = 20_000, 65_536
"""Connections that are answered at once, and open files where the machine lets the process have them."""
EXPIRE_SECONDS = 3600.0
STOP_SECONDS, BACKLOG = 2, 4096


class TimeoutProtocol(H11Protocol):
    """Closes a connection whose next request has begun, or was never begun, and is not whole in time.

    uvicorn's own limit is for a connection on which nothing arrives after an answer.
    """

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time of the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; stop the time while a request is answered."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        if self.late:
            self.late.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            if self.late:
                self.late.cancel()
            self.late = None
        elif self.late is None:
            # Not all at the same moment: thousands of connections end as they began.
            self.late = self.loop.call_later(HEAD_SECONDS * random.uniform(1, 1.5), self.transport.abort)


def hall_application(book: Path, store: RoomStore, keys: list[str], hosts: list[str], origin: str = "") -> Starlette:
    """Return the hall as an ASGI application.

    Args:
        book: the folder of a built book.
        store: the file of rooms and votes.
        keys: the lecturers' keys.
        hosts: names under which it answers, all without one.
        origin: of a book on another host, whose pages may ask for rooms here; "" without one.

    Raises:
        ValueError: where ``book`` is no built book.
    """
    rooms = RoomService(store, keys)

    async def expire() -> None:
        while True:
            await asyncio.sleep(EXPIRE_SECONDS)
            try:
                rooms.remove_expired_rooms()
            except StoreUnavailable as error:
                logging.getLogger(__name__).error("%s", error)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(expire())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        store.close()

    doors = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)] if hosts else []
    if origin:
        methods, headers = ["GET", "PUT", "DELETE"], ["authorization", "content-type"]
        doors.append(Middleware(CORSMiddleware, allow_origins=[origin], allow_methods=methods, allow_headers=headers))
    routes = [*rooms.routes(), Mount("/", BookFiles(read_book_files(book)))]
    return Starlette(routes=routes, middleware=doors, lifespan=lifespan)


def raise_open_file_limit() -> int:
    """Raise the soft limit of open files as far as the hard one lets it; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def serve(app: Starlette, listening: socket.socket, certificate: Path | None = None, key: Path | None = None) -> None:
    """Serve on a socket until stopped; FORWARDED_ALLOW_IPS names the proxies whose word on the scheme counts."""
    settings = uvicorn.Config(
        app,
        http=TimeoutProtocol,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=STOP_SECONDS,
        limit_concurrency=min(CONNECTIONS, raise_open_file_limit() - 100),
        backlog=BACKLOG,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    uvicorn.Server(settings).run(sockets=[listening])
