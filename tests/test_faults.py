"""What goes wrong on a server, tried: a locked file, a full disk, no home, killed children, a jumping clock."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rope_core.bench import view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import BenchmarkDatabase, CaseResult
from rope_core.jobs import queue as jobs
from tests.support import ROOT
from tests.test_pages import opened

CASE = BenchmarkCase("cpu", "float32", 1, 16, 2, 1, 64, 64)


def result(k: int) -> CaseResult:
    """Return a result of its own contestant."""
    return CaseResult(CASE, f"contestant {k}", "error", "", {})


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return this server's file of records."""
    path = tmp_path / "records.sqlite3"
    monkeypatch.setenv("ROPE_LAB_RECORDS", str(path))
    view._here.cache_clear()
    return path


@pytest.fixture
def lock(records: Path) -> Iterator[sqlite3.Connection]:
    """Another process's hold on the whole file; `close` lets it go."""
    BenchmarkDatabase(records).begin_run("one", {})
    held = sqlite3.connect(records, isolation_level=None, check_same_thread=False)
    held.execute("PRAGMA locking_mode=EXCLUSIVE")
    held.execute("BEGIN EXCLUSIVE")
    yield held
    held.close()


def test_a_locked_file_is_waited_for_and_then_one_sentence(lock: sqlite3.Connection, records: Path) -> None:
    with pytest.raises(ValueError, match=r"records\.sqlite3.*database is locked"):
        BenchmarkDatabase(records, patience=0.1)
    trouble = view.local_benchmarks().trouble
    assert trouble == "database is locked"
    threading.Timer(0.5, lock.close).start()
    store = BenchmarkDatabase(records, patience=20)
    run = store.begin_run("one", {})
    store.add(run, result(1))
    assert store.results(run) == [result(1)]
    assert view.local_benchmarks().trouble == "" and len(view.local_benchmarks().runs) == 2


@pytest.mark.long
@pytest.mark.parametrize("fault", ["locked", "no database", "a folder"])
def test_the_page_says_that_its_records_cannot_be_read(
    fault: str, records: Path, request: pytest.FixtureRequest
) -> None:
    if fault == "locked":
        request.getfixturevalue("lock")
    elif fault == "a folder":
        records.mkdir()
    else:
        records.write_bytes(b"no database" * 100)
    at = opened("benchmark", lang="en", source="here")
    assert not at.exception
    text = [note.value for note in at.warning]
    assert len(text) == 1 and text[0].startswith("The records of this machine cannot be read at the moment")
    assert str(records.parent) not in text[0]


FILLING = """
import resource, signal, sys
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import CaseResult, BenchmarkDatabase
case = BenchmarkCase("cpu", "float32", 1, 16, 2, 1, 64, 64)
store = BenchmarkDatabase(sys.argv[1])
run = store.begin_run("one", {})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))
for k in range(1000):
    try:
        store.add(run, CaseResult(case, f"contestant {k}", "error", "x" * 3000, {}))
    except ValueError as error:
        print(run, k, error)
        break
"""


def test_a_full_disk_ends_a_run_in_a_sentence_and_keeps_what_was_written(records: Path) -> None:
    command = [sys.executable, "-c", FILLING, str(records)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    run, count, text = ran.stdout.split(maxsplit=2)
    assert (
        int(count) >= 5
        and "path must be a file that can be read and written at the moment" in text
        and "\n" not in text.strip()
    )
    assert len(BenchmarkDatabase(records).results(run)) == int(count)


@pytest.mark.parametrize("home", ["/dev/null", pytest.param("/proc/1/no-such-home", marks=pytest.mark.long)])
def test_without_a_home_to_write_a_run_says_where_else(home: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("ROPE_LAB_RECORDS", "XDG_DATA_HOME")}
    command = [sys.executable, "-W", "ignore", "-m", "rope_core", "bench", "--list"]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment | {"HOME": home}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "path must be a file of records that can be written" in ran.stderr and "ROPE_LAB_RECORDS" in ran.stderr


CACHELESS = """
import warnings
from numba.core import caching
caching.CacheImpl._locator_classes = []
warnings.simplefilter("ignore")
import numpy as np, rope_core as rc
from rope_core.kernels import cpu_loops
print(cpu_loops.rotate_parallel.targetoptions["parallel"], cpu_loops.rotate_row_range.targetoptions["nogil"])
"""


@pytest.mark.long
def test_kernels_are_there_where_no_cache_can_be_written() -> None:
    ran = subprocess.run([sys.executable, "-c", CACHELESS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-800:]
    assert ran.stdout.split() == ["True", "True"]


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[jobs.JobQueue]:
    """Return a queue of its own, and a job that sleeps after it has reported its process's number."""
    source = (
        "import os, time\nfrom rope_core.jobs.queue import report_progress\n"
        "report_progress(note=str(os.getpid()))\ntime.sleep(60)\n"
    )
    (tmp_path / "job_sleepy.py").write_text(source, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    built = jobs.JobQueue()
    yield built
    built.close()


def begun(queue: jobs.JobQueue, job: str) -> int:
    """Return the process of a job, once it runs."""
    until = time.monotonic() + 120
    while not queue.status(job).note:
        assert time.monotonic() < until
        time.sleep(0.02)
    return int(queue.status(job).note)


@pytest.mark.long
def test_a_killed_child_is_a_sentence_and_the_next_one_runs(
    queue: jobs.JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (queue.submit("job_sleepy", owner=owner) for owner in ("one", "two"))
    os.kill(begun(queue, first), signal.SIGKILL)
    over = queue.wait(first, 120)
    assert over.state == "failed" and over.error == "it was ended by SIGKILL"
    assert begun(queue, second)
    monkeypatch.setattr("ui.work.jobs.latest_job_status", lambda session, place: over)
    at = opened("benchmark", lang="en", open="run")
    assert not at.exception
    assert any("it was ended by SIGKILL" in box.value.replace("\\", "") for box in at.error)


@pytest.mark.long
@pytest.mark.parametrize("jump", [-400 * 86_400.0, 400 * 86_400.0])
def test_a_jumping_clock_ends_no_run_and_breaks_no_page(
    jump: float, queue: jobs.JobQueue, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue.submit("job_sleepy", owner="one", time_limit=50, silence_limit=50)
    begun(queue, job)
    store = BenchmarkDatabase(records)
    before = store.begin_run("one", {})
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    time.sleep(0.3)
    assert queue.status(job).state == "running" and 0 < queue.status(job).seconds < 45
    after = store.begin_run("one", {})
    store.finish(before)
    assert {run.id for run in store.runs()} == {before, after}
    at = opened("benchmark", lang="en", source="here")
    assert not at.exception
    at = opened("rotation", lang="en", m="21")
    assert not at.exception
    queue.cancel(job)
    assert queue.wait(job, 120).state == "cancelled"
