"""How a job's process is ended, and the sentence on one that ended by itself."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections import deque

GRACE = 2.0
FOLDERS = re.compile(r"(?<![\w.…/])/(?:[^\s/'\"]+/)+")  # of this machine, which a job's last words shall not name


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """End a job and everything it started: ask, wait, then kill; its readers are done when its pipes close."""
    for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        # Children of a job that has ended by itself may ignore the first signal.
        if number == signal.SIGTERM and not _group_alive(process.pid):
            return


def _group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def exit_sentence(exit_code: int, stderr: deque[bytes]) -> str:
    """Return in one sentence how a process ended."""
    for _ in range(20):
        if stderr:
            break
        time.sleep(0.005)
    message = FOLDERS.sub("…/", b"".join(stderr).decode("utf-8", "replace"))
    last = message.strip().splitlines()[-1:] or [""]
    if exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in signal.valid_signals() else str(-exit_code)
        return f"it was ended by {name}" + (f": {last[0][:300]}" if last[0] else "")
    return f"it ended with code {exit_code}" + (f": {last[0][:300]}" if last[0] else "")
