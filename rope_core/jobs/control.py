"""An operator's way to a server's queue: a socket for the server's own user, which lists the jobs and cancels one."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import threading
from pathlib import Path
from typing import Any

from rope_core.errors import reject
from rope_core.jobs.queue import OVER, Queue

# What a server writes while it runs lies in a folder of the system's temporary one, by these names.
PREFIX, SUFFIX = "rope-lab-", ".jobs"
MOST_BYTES = 4096
SECONDS = 5.0


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def serve(queue: Queue, path: Path) -> None:
    """Answer on a Unix socket at ``path`` from a thread of its own, until the process ends."""

    class Handler(socketserver.StreamRequestHandler):
        timeout = SECONDS

        def handle(self) -> None:
            self.wfile.write(json.dumps(_answer(queue, self.rfile.readline(MOST_BYTES))).encode() + b"\n")

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


def ask(path: Path, cancel: str = "") -> list[dict[str, Any]]:
    """Return the jobs that wait or run on the server at ``path``, without the one that ``cancel`` names.

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
