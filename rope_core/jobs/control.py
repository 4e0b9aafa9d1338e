"""An operator's way to a server's queue: a socket for the server's own user, which lists the jobs and cancels one."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rope_core.errors import reject
from rope_core.jobs.queue import OVER, Queue

# What a server writes while it runs lies in a folder of the system's temporary one, by these names.
PREFIX, SUFFIX = "rope-lab-", ".jobs"
VISITORS = b"visitors"
MOST_BYTES = 4096
SECONDS = 5.0


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def sockets() -> list[Path]:
    """Return the sockets of this user's servers on this machine."""
    paths = Path(tempfile.gettempdir()).glob(f"{PREFIX}*/*{SUFFIX}")
    return sorted(path for path in paths if path.lstat().st_uid == os.getuid())


def serve(queue: Queue, path: Path, visitors: Callable[[], list[Any]] = list) -> None:
    """Answer on a Unix socket at ``path`` from a thread of its own, until the process ends.

    ``visitors`` says who is here, in JSON's terms.
    """

    class Handler(socketserver.StreamRequestHandler):
        timeout = SECONDS

        def handle(self) -> None:
            line = self.rfile.readline(MOST_BYTES)
            answer = visitors() if line.strip() == VISITORS else _answer(queue, line)
            self.wfile.write(json.dumps(answer).encode() + b"\n")

    before = os.umask(0o177)
    try:
        server = _Server(str(path), Handler)
    finally:
        os.umask(before)
    threading.Thread(target=server.serve_forever, name="jobs control", daemon=True).start()


def _answer(queue: Queue, line: bytes) -> Any:
    """Cancel the job that a request names, if it names one; return those that wait or run."""
    wanted = line.decode("ascii", "replace").strip()
    if wanted:
        try:
            queue.cancel(wanted)
        except ValueError as error:
            return str(error)
    going = [each for each in queue.all() if each.state not in OVER]
    return [{name: getattr(each, name) for name in ("id", "owner", "title", "state", "seconds")} for each in going]


def visitors() -> list[dict[str, Any]]:
    """Return who is at this user's servers, as each says."""
    rows: list[dict[str, Any]] = []
    for path in sockets():
        # A server that has ended meanwhile.
        with contextlib.suppress(OSError, ValueError):
            rows += ask(path, VISITORS.decode())
    return rows


def ask(path: Path, cancel: str = "") -> list[dict[str, Any]]:
    """Return the jobs that wait or run on the server at ``path``, without the one that ``cancel`` names.

    Where it is ``VISITORS``, return who is there.

    Raises ValueError where the server has no such job, OSError where there is no server.
    """
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(SECONDS)
        line.connect(str(path))
        line.sendall(f"{cancel}\n".encode())
        with line.makefile("rb") as answer:
            reply = json.loads(answer.readline())
    if isinstance(reply, str):
        raise reject("job", "going_job", cancel)
    return list(reply)
