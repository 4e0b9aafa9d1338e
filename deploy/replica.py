"""One replica: the app on a Unix socket, with the settings that all replicas of a hall share.

Run by deploy/hall.py as ``python -m deploy.replica APP SOCKET HOST...`` with STREAMLIT_SERVER_COOKIE_SECRET set.
"""

import sys
from pathlib import Path

import uvicorn
from streamlit import config

from rope_core.jobs import control
from rope_core.jobs.queue import default_queue
from ui.server.sockets import MOST_BYTES

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
}
STOP_SECONDS = 5
PING_SECONDS = 30


def main(app: str, socket: str, hosts: list[str]) -> None:
    """Serve ``app`` ("module:name") on ``socket`` for requests to one of ``hosts`` until stopped."""
    for name, value in SETTINGS.items():
        config.set_option(name, value)
    config.set_option("server.allowedHosts", hosts)
    control.serve(default_queue(), Path(socket).with_suffix(control.SUFFIX))
    uvicorn.run(
        app,
        uds=socket,
        # Only nginx speaks to the socket, and it writes the header anew.
        forwarded_allow_ips="*",
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
