"""A hall of replicas behind the real nginx on the loopback, for the tests that need one."""

import contextlib
import http.client
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.servers import free_port
from deploy.hall import TICK, Hall, Line
from deploy.proxy import Limits, Site

FLOOR = "benchmarks.floor_frozen:app"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
REQUIRED = os.environ.get("ROPE_LAB_NGINX") == "required"
needs_nginx = pytest.mark.skipif(
    not NGINX and not REQUIRED, reason="no nginx was found: `apt-get install nginx-light`, or `brew install nginx`"
)


@contextlib.contextmanager
def served_hall(
    replicas: int = 2,
    app: str = FLOOR,
    limits: Limits | None = None,
    proxies: tuple[str, ...] = (),
) -> Iterator[tuple[Hall, str]]:
    """Return a hall that is looked after in the background, and its URL."""
    site = Site(listen=f"127.0.0.1:{free_port()}", limits=limits or Limits(), proxies=proxies)
    hall = Hall(site, replicas, app)
    watcher = threading.Thread(target=hall.watch)
    try:
        hall.start()
        watcher.start()
        yield hall, f"http://{hall.site.listen}"
    finally:
        hall.stopping = True
        if watcher.is_alive():
            watcher.join()
        hall.stop()


def active_sessions(hall: Hall) -> list[int]:
    """How many sessions each replica says it has, read behind nginx's back."""
    result = []
    for replica in hall.replicas:
        with contextlib.closing(Line(replica.place, 5)) as line:
            line.request("GET", "/_stcore/metrics?families=active_sessions")
            shown = line.getresponse().read().decode()
            rows = [row for row in shown.splitlines() if row.startswith("active_sessions ")]
            result.append(sum(int(float(row.split()[1])) for row in rows))
    return result


def ask(url: str, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
    """One request with the path exactly as given; its answer is read."""
    with contextlib.closing(http.client.HTTPConnection(url.split("://")[1], timeout=60)) as line:
        line.request(method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        answer.read()
        return answer


def wait_until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something to come true; fails when it does not."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come true in time"
        time.sleep(TICK)


def alive(pid: int) -> bool:
    """Whether a process runs (Linux); one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
