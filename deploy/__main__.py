"""`python -m deploy`: serve the app to a hall. SIGHUP restarts the replicas one after another, SIGTERM stops all.

`python -m deploy jobs` lists the work that visitors have queued, and cancels it; `python -m deploy rooms` lists the
rooms that are open, writes their votes and closes them.
"""

import argparse
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from deploy.hall import Hall, say
from deploy.proxy import Site

LOCAL = ("localhost", "127.0.0.1")


def options() -> argparse.Namespace:
    """Return the command line; every option has an environment variable that `make serve` passes on."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    parser.add_argument("--replicas", type=int, default=os.cpu_count(), help="processes that serve the app")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--hosts", default="", help="names under which visitors may come, separated by spaces")
    parser.add_argument("--address", help="address to listen on: all where hosts are named, else the loopback")
    parser.add_argument("--frame-ancestors", default="'self'", help="origins whose pages may frame the app")
    parser.add_argument("--proxies", default="", help="addresses or networks of proxies in front, separated by spaces")
    parser.add_argument("--certificate", type=Path, help="PEM file: serve over TLS")
    parser.add_argument("--key", type=Path, help="PEM file of the certificate's key")
    parser.add_argument("--app", default="app:app", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Serve until stopped; exit 1 with one sentence when that cannot be."""
    if sys.argv[1:2] in (["jobs"], ["rooms"]):
        # What the rooms need, Streamlit among it, is not loaded to serve.
        return int(import_module(f"deploy.{sys.argv[1]}").main(sys.argv[2:]))
    given = options()
    named = tuple(given.hosts.split())
    address = given.address or ("0.0.0.0" if named else "127.0.0.1")
    try:
        site = Site(
            hosts=tuple(dict.fromkeys(LOCAL + named)),
            listen=f"{address}:{given.port}",
            frame_ancestors=given.frame_ancestors,
            proxies=tuple(given.proxies.split()),
            certificate=given.certificate,
            key=given.key,
        )
        hall = Hall(site, given.replicas, given.app)
    except (ValueError, OSError) as error:
        return refuse(error)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(hall, "stopping", True))
    signal.signal(signal.SIGHUP, lambda *_: hall.restart())
    try:
        hall.start()
        if not hall.stopping:
            scheme = "https" if site.certificate else "http"
            count = "1 replica" if given.replicas == 1 else f"{given.replicas} replicas"
            url = f"{scheme}://{named[0] if named else 'localhost'}:{given.port}"
            say(f"{count} behind {url}; the hall's own page, for you alone: {url}/hall?key={hall.operator}")
        hall.watch()
    except (RuntimeError, OSError) as error:
        return refuse(error)
    finally:
        hall.stop()
    return 0


def refuse(error: Exception) -> int:
    """Say in one sentence why nothing is served."""
    rule = f"TMPDIR must be a folder with room that can be written, got {error}"
    print(rule if isinstance(error, OSError) else error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
