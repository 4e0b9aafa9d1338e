"""Waiting for what another process does."""

import time
from collections.abc import Callable
from pathlib import Path

TICK = 0.1


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
    except FileNotFoundError:
        return False
