"""The app's one launcher: `make run`, the container and every replica of a hall start it, with the same settings.

`python -m deploy.replica` serves on the address and port and under the names of .streamlit/config.toml, or of
STREAMLIT_SERVER_ADDRESS, _PORT and _ALLOWED_HOSTS. FORWARDED_ALLOW_IPS names the proxies, by address or network, whose
word on a visitor's address and scheme counts. With --socket it serves the nginx of deploy/hall.py.
"""

import argparse
import contextlib
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import uvicorn
from streamlit import config
from streamlit.logger import get_logger
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from rope_core.jobs import control
from rope_core.jobs.queue import default_queue
from ui.server.sockets import MOST_BYTES
from ui.server.turns import visitors

# Errors are told in general terms, and a page of another origin neither reads an answer nor opens a websocket.
SETTINGS = {
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.scriptHealthCheckEnabled": True,
    "server.fileWatcherType": "none",
    "server.headless": True,
    "browser.gatherUsageStats": False,
    "logger.enableRich": False,
}
# What Streamlit's own command takes from the environment, by the variable.
GIVEN: dict[str, tuple[str, Callable[[str], object]]] = {
    "STREAMLIT_SERVER_ADDRESS": ("server.address", str),
    "STREAMLIT_SERVER_PORT": ("server.port", int),
    "STREAMLIT_SERVER_ALLOWED_HOSTS": ("server.allowedHosts", lambda text: text.replace(",", " ").split()),
}
QUIET_SECONDS = 60.0
STOP_SECONDS = 5
PING_SECONDS = 30
# Connections that a process may hold, where the machine lets it: the usual soft limit is 1,024.
FILES = 65_536
REFUSED = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Protocol(WebSocketsSansIOProtocol):
    """Answers a handshake that cannot be read; uvicorn's own leaves its connection open, without a word."""

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(REFUSED)
            self.transport.close()


class Once(logging.Filter):
    """Lets a traceback pass once in a while for each place that raises: an odd message must not fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self.logged: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        place, now = str(traceback.extract_tb(error.__traceback__)[-1:]), time.monotonic()
        fresh = now - self.logged.get(place, -QUIET_SECONDS) >= QUIET_SECONDS
        if fresh:
            self.logged[place] = now
        return fresh


def open_files() -> None:
    """Raise the soft limit of open files as far as the hard one lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(app: str, socket: str | None, hosts: list[str]) -> None:
    """Serve ``app`` ("module:name") until stopped, for requests to one of ``hosts``, if any are given."""
    open_files()
    get_logger("streamlit.error_util").addFilter(Once())
    for name, value in SETTINGS.items():
        config.set_option(name, value)
    for variable, (name, read) in GIVEN.items():
        if text := os.environ.get(variable):
            config.set_option(name, read(text))
    if hosts:
        config.set_option("server.allowedHosts", hosts)
    address, port = config.get_option("server.address"), config.get_option("server.port")
    if socket is None:
        print(f"http://{address}:{port}", file=sys.stderr)
    uvicorn.run(
        app,
        host=address,
        port=port,
        uds=socket,
        # Only nginx speaks to the socket, and it writes the header anew.
        forwarded_allow_ips="*" if socket else None,
        ws=Protocol,
        ws_max_size=MOST_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def main() -> int:
    """Serve; exit 1 with one sentence where nothing can be written for the time it runs."""
    parser = argparse.ArgumentParser(prog="python -m deploy.replica", description=__doc__)
    parser.add_argument("--app", default="app:app", help=argparse.SUPPRESS)
    parser.add_argument("--socket", help="a Unix socket instead of an address")
    parser.add_argument("--hosts", nargs="*", default=[], help="names that are served instead of server.allowedHosts")
    given = parser.parse_args()
    # Raised once more when all is answered: it leaves by way of what is to be cleared.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with contextlib.ExitStack() as stack:
            place = given.socket or stack.enter_context(tempfile.TemporaryDirectory(prefix=control.PREFIX)) + "/app"
            control.serve(default_queue(), Path(place).with_suffix(control.SUFFIX), visitors)
            serve(given.app, given.socket, given.hosts)
    except OSError as error:
        print(f"TMPDIR must be a folder with room that can be written, got {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
