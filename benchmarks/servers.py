"""Servers on free ports of the loopback, for measurements and tests: Streamlit's, and the hall's."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(url: str) -> bool:
    """Whether the server answers its health check."""
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            return bool(answer.read() == b"ok")
    except OSError:
        return False


@contextlib.contextmanager
def served(script: Path, cwd: Path = ROOT, seconds: float = 240, **environment: str) -> Iterator[str]:
    """Serve ``script`` and yield its URL; the server's output is shown when it does not come up."""
    with running(script, cwd, seconds, 0, **environment) as (url, _):
        yield url


@contextlib.contextmanager
def running(
    script: Path, cwd: Path = ROOT, seconds: float = 240, port: int = 0, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve ``script`` on ``port``, or on one that is free, and yield its process."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    environment |= {"STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "STREAMLIT_SERVER_PORT": str(port)}
    environment |= {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    environment |= {"STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env=os.environ | environment)
        url = f"http://127.0.0.1:{port}"
        try:
            until = time.monotonic() + seconds
            while not healthy(url):
                if server.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    raise RuntimeError(f"the server of {script.name} did not start: {log.read().decode()[-2000:]}")
                time.sleep(0.1)
            yield url, server
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


class HallProcess:
    """`make serve`'s process over a built book, with rooms, a lecturer's key and a log in ``folder``."""

    def __init__(self, book: Path, folder: Path) -> None:
        self.book, self.folder, self.port = book, folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.command = [sys.executable, "-m", "deploy", str(book), "--port", str(self.port), "--address", "127.0.0.1"]
        self.environment = os.environ | {"ROPE_LAB_ROOMS": str(folder / "rooms.sqlite3")}

    def start(self, *options: str) -> None:
        """Start the process, and wait until it answers; RuntimeError with its log where it does not."""
        command = [*self.command, *options]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the process by a signal."""
        self.process.send_signal(number)
        self.process.wait(20)

    @property
    def key(self) -> str:
        """The lecturer's key."""
        return (self.folder / "lecturers.txt").read_text().strip()

    @property
    def memory(self) -> float:
        """Resident memory, MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1000

    @property
    def work(self) -> float:
        """Processor seconds so far: on a busy machine a clock says more of others than of the hall."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
