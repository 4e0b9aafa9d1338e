"""A process that has started before its text is known: each runs one text, and ends as any process of homework does.

Starting Python and numpy apart takes longer than running a function; a server that runs functions keeps one ready.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import cache
from queue import Empty, Queue

from rope_core.grade.process import PATIENCE, can_isolate_processes, child_process

SECONDS = 5.0
"""For which a text runs that is given to a process kept ready."""
_READY: Queue[tuple[subprocess.Popen[bytes], contextlib.ExitStack]] = Queue(1)


def prepare_spare_process() -> None:
    """Keep a process ready from now on, where processes are held apart."""
    if can_isolate_processes():
        _keeper()


@cache
def _keeper() -> threading.Thread:
    """Start the thread that starts processes: the kernel ends a process with the thread that started it."""

    def keep() -> None:
        while True:
            stack = contextlib.ExitStack()
            try:
                process = stack.enter_context(child_process(SECONDS))
            except OSError:  # no process can be started: whoever wants one says so
                time.sleep(PATIENCE)
                continue
            _READY.put((process, stack))
            _READY.join()

    thread = threading.Thread(target=keep, name="spare process", daemon=True)
    thread.start()
    return thread


@contextlib.contextmanager
def spare_process(seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the process that is ready, else one that is started now; ``seconds`` as for `child_process`."""
    with contextlib.ExitStack() as started:
        process = _taken(started) if seconds == SECONDS else None
        yield process or started.enter_context(child_process(seconds))


def _taken(started: contextlib.ExitStack) -> subprocess.Popen[bytes] | None:
    """Return the process that is ready, to be ended with ``started``; None where there is none alive."""
    try:
        process, stack = _READY.get_nowait()
    except Empty:
        return None
    _READY.task_done()
    # Ending it, and removing its folder, takes as long as a run: whoever waits for the answer does not wait for that.
    started.callback(threading.Thread(target=stack.close).start)
    return process if process.poll() is None else None
