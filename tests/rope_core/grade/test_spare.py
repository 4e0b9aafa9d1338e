"""A process that is ready before its text: one text each, nothing of the last one's left, ended afterwards."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from rope_core.grade import spare
from rope_core.grade.process import can_isolate_processes, isolated_functions

FIRST = "import numpy as np\nnp.left_behind = 1\ndef value():\n    return np.ones(1)"
SECOND = "import numpy as np\ndef value():\n    return np.asarray([hasattr(np, 'left_behind')], dtype=float)"


def wait(until: Callable[[], bool]) -> None:
    """Wait until something holds, at most a minute."""
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end
        time.sleep(0.02)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended, with all of its group."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return process.poll() is not None
    return False


def ready_process() -> subprocess.Popen[bytes]:
    """Wait for the process that is ready; one that other tests have ended is taken away."""
    while True:
        wait(lambda: spare._READY.qsize() == 1)
        process: subprocess.Popen[bytes] = spare._READY.queue[0][0]
        if process.poll() is None:
            return process
        with contextlib.ExitStack() as stack:
            assert spare._taken(stack) is None


@pytest.mark.skipif(not can_isolate_processes(), reason="no process is held apart here")
def test_each_text_has_a_process_of_its_own_that_was_ready() -> None:
    spare.prepare_spare_process()
    processes: list[subprocess.Popen[bytes]] = []

    @contextlib.contextmanager
    def recorded(seconds: float) -> Iterator[subprocess.Popen[bytes]]:
        with spare.spare_process(seconds) as process:
            processes.append(process)
            yield process

    values = []
    for text in (FIRST, SECOND):
        ready = ready_process()
        with isolated_functions(text, spare.SECONDS, "en", recorded) as call:
            values.append(float(call("value")[0]))
        assert processes[-1] is ready
    assert values == [1.0, 0.0] and processes[0].pid != processes[1].pid
    for process in processes:
        wait(partial(has_ended, process))


def test_without_one_that_is_ready_or_alive_a_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "_taken", lambda started: None)
    with isolated_functions(FIRST, spare.SECONDS, "en", spare.spare_process) as call:
        assert float(call("value")[0]) == 1.0
