"""An operator's view of a queue, over a socket that only the server's user may open."""

import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rope_core.jobs import control
from rope_core.jobs import queue as jobs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")
SLEEP = "import time\ntime.sleep(60)\n"


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[jobs.Queue]:
    (tmp_path / "job_sleep.py").write_text(SLEEP, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    built = jobs.Queue(per_owner=2)
    yield built
    built.close()


def test_an_operator_lists_and_cancels(queue: jobs.Queue, tmp_path: Path) -> None:
    path = tmp_path / f"1{control.SUFFIX}"
    control.serve(queue, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert control.ask(path) == []
    first, second = (queue.submit("job_sleep", owner="a", title=title) for title in ("one", "two"))
    assert {(each["id"], each["title"]) for each in control.ask(path)} == {(first, "one"), (second, "two")}
    assert [each["id"] for each in control.ask(path, second)] == [first]
    control.ask(path, first)
    assert queue.wait(first, 120).state == jobs.CANCELLED
    for wrong in ("none", "x" * 10_000):
        with pytest.raises(ValueError, match="job must be one that waits or runs"):
            control.ask(path, wrong)


def test_jobs_end_with_the_tab_that_waits_for_them(queue: jobs.Queue) -> None:
    runs, waits = (queue.submit("job_sleep", owner=owner, tab="closed") for owner in "ab")
    stays = queue.submit("job_sleep", owner="c", tab="open")
    taken = queue.submit("job_sleep", owner="d", tab="closed")
    nobodys = queue.submit("job_sleep", owner="e")
    queue.adopt(taken, "open")
    queue.leave("")
    queue.leave("closed")
    assert queue.status(waits).state == jobs.CANCELLED
    assert {queue.status(job).state for job in (stays, taken, nobodys)} == {jobs.WAITING}
    queue.leave("closed", running=True)
    assert queue.wait(runs, 120).state == jobs.CANCELLED
