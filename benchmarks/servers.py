"""Streamlit servers on free ports of the loopback, for measurements and browser tests."""

import contextlib
import os
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
