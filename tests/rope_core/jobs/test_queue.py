"""The queue of child processes: progress, cancel, caps, fairness, crashes, hangs, orphans."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rope_core.jobs import queue as jobs
from tests.support import ROOT
from tests.support.waiting import alive, wait_until

Submit = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules that children import."""
    sources = {
        "good": """
            import sys
            from rope_core.jobs.queue import report_progress
            print("not a report")
            report_progress(progress=0.25, eta=3.0, note="a quarter")
            for word in sys.argv[1:]:
                report_progress(result=word)
        """,
        "sleepy": """
            import pathlib, sys, time
            from rope_core.jobs.queue import report_progress
            report_progress(progress=0.5, note="begun")
            if len(sys.argv) > 1:
                pathlib.Path(sys.argv[1]).touch()
            time.sleep(60)
        """,
        "stubborn": """
            import os, pathlib, signal, subprocess, sys, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            child = subprocess.Popen([sys.executable, "-c",
                "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
            pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
            time.sleep(60)
        """,
        "crash": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "raises": "raise ValueError('positions must be fewer')",
        "greedy": "x = bytearray(2**31)",
        "chatty": "import rope_core.jobs.queue as jobs\nprint('x' * 3_000_000)\njobs.report_progress(result='after')",
    }
    for name, source in sources.items():
        (tmp_path / f"job_{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return tmp_path


@pytest.fixture
def queue() -> Iterator[jobs.JobQueue]:
    built = jobs.JobQueue()
    yield built
    built.close()


@pytest.fixture
def env(folder: Path) -> dict[str, str]:
    """Have children find this checkout and the modules."""
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


@pytest.fixture
def submit(queue: jobs.JobQueue, env: dict[str, str]) -> Submit:
    def put(name: str, *arguments: object, owner: str = "one", **options: object) -> str:
        words = [str(a) for a in arguments]
        return queue.submit(f"job_{name}", words, owner=owner, env=env, **options)  # type: ignore[arg-type]

    return put


def test_a_job_reports_and_hands_over_results(queue: jobs.JobQueue, submit: Submit) -> None:
    done = queue.wait(submit("good", "a", "b", title="two words"), 120)
    assert (done.state, done.progress, done.note, done.results) == ("done", 1.0, "a quarter", ("a", "b"))
    assert done.title == "two words" and done.error == "" and 0 < done.seconds < 20


def test_cancel_kills_a_job_that_refuses_to_end_and_its_children(
    queue: jobs.JobQueue, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE", 0.3)
    mark = tmp_path / "pids"
    job = submit("stubborn", mark)
    wait_until(lambda: mark.exists() and len(mark.read_text().split()) == 2)
    pids = [int(p) for p in mark.read_text().split()]
    assert all(alive(p) for p in pids)
    queue.cancel(job)
    assert queue.wait(job, 120).state == "cancelled"
    wait_until(lambda: not any(alive(p) for p in pids), 3)


def test_cancel_before_the_start(queue: jobs.JobQueue, submit: Submit, tmp_path: Path) -> None:
    first = submit("sleepy")
    mark = tmp_path / "never"
    second = submit("sleepy", mark)
    assert queue.status(second).state == "waiting"
    queue.cancel(second)
    queue.cancel(first)
    assert queue.wait(first, 120).state == "cancelled" and queue.status(second).state == "cancelled"
    assert not mark.exists()


def test_a_crash_or_an_exception_fails_the_job_and_the_next_one_runs(queue: jobs.JobQueue, submit: Submit) -> None:
    crashed = queue.wait(submit("crash"), 120)
    assert crashed.state == "failed" and "SIGSEGV" in crashed.error
    raised = queue.wait(submit("raises"), 120)
    assert raised.state == "failed" and "positions must be fewer" in raised.error
    assert queue.wait(submit("good"), 120).state == "done"


def test_a_hang_is_ended_by_its_silence_and_a_long_run_by_its_limit(queue: jobs.JobQueue, submit: Submit) -> None:
    hung = queue.wait(submit("sleepy", silence_limit=1.0), 120)
    assert hung.state == "failed" and hung.error == "it said nothing for 1 s"
    late = queue.wait(submit("sleepy", time_limit=0.5), 120)
    assert late.state == "failed" and late.error == "it ran longer than 0.5 s"


def test_a_job_keeps_within_its_memory(queue: jobs.JobQueue, submit: Submit) -> None:
    done = queue.wait(submit("greedy", memory_limit=2**30), 120)
    assert done.state == "failed" and "MemoryError" in done.error


def test_endless_lines_do_not_fill_the_memory_of_the_app(queue: jobs.JobQueue, submit: Submit) -> None:
    done = queue.wait(submit("chatty"), 120)
    assert done.state == "done" and done.results == ("after",)


def test_owners_take_turns(env: dict[str, str]) -> None:
    queue = jobs.JobQueue(per_owner=5)
    first = queue.submit("job_sleepy", owner="greedy", env=env)
    wait_until(lambda: queue.status(first).state == "running")
    names = {queue.submit("job_good", owner=owner, env=env): owner for owner in ("greedy", "greedy", "late", "later")}
    assert all(queue.wait(job, 0.1).state == "waiting" for job in names)
    order = sorted(names, key=lambda job: queue.status(job).ahead)
    assert [names[job] for job in order] == ["late", "later", "greedy", "greedy"]
    assert [queue.status(job).ahead for job in order] == [0, 1, 2, 3]
    queue.close()


def test_what_a_page_has_left_ends_and_nothing_else(env: dict[str, str]) -> None:
    with contextlib.closing(jobs.JobQueue(per_owner=5)) as queue:
        running, waiting = (queue.submit("job_sleepy", owner="a", tab="gone", env=env) for _ in range(2))
        other = queue.submit("job_good", owner="a", tab="here", env=env)
        wait_until(lambda: queue.status(running).state == "running")
        queue.cancel_abandoned("")
        queue.cancel_abandoned("gone")
        assert queue.wait(running, 30).state == queue.wait(waiting, 30).state == "cancelled"
        assert queue.wait(other, 60).state == "done"


def test_full_queues_refuse(env: dict[str, str]) -> None:
    queue = jobs.JobQueue(waiting=2, per_owner=2)
    first = queue.submit("job_sleepy", owner="a", env=env)
    wait_until(lambda: queue.status(first).state == "running")
    queue.submit("job_good", owner="a", env=env)
    with pytest.raises(ValueError, match="owner must be below 2 jobs waiting or running, got 2"):
        queue.submit("job_good", owner="a", env=env)
    queue.submit("job_good", owner="b", env=env)
    with pytest.raises(ValueError, match="queue must be below 2 waiting jobs, got 2"):
        queue.submit("job_good", owner="c", env=env)
    queue.close()
    with pytest.raises(ValueError, match="queue must be open"):
        queue.submit("job_good", owner="c", env=env)


def test_bad_requests_are_refused(queue: jobs.JobQueue) -> None:
    with pytest.raises(ValueError, match="module must be a dotted module name"):
        queue.submit("os; rm", owner="a")
    with pytest.raises(ValueError, match="time_limit"):
        queue.submit("job_good", owner="a", time_limit=0)
    with pytest.raises(ValueError, match="job_id must be"):
        queue.status("nobody")
    with pytest.raises(ValueError, match="waiting must be"):
        jobs.JobQueue(waiting=0)


def test_old_jobs_are_forgotten(env: dict[str, str]) -> None:
    queue = jobs.JobQueue(kept=1, per_owner=9)
    ids = []
    for _ in range(3):
        ids.append(queue.submit("job_good", owner="a", env=env))
        queue.wait(ids[-1], 120)
    queue.submit("job_good", owner="a", env=env)
    assert [s.id for s in queue.all()][:1] == ids[2:]
    queue.close()


def test_children_die_with_the_process_that_started_them(env: dict[str, str], tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    script = (
        "import sys, time; from rope_core.jobs.queue import JobQueue; "
        "JobQueue().submit('job_stubborn', [sys.argv[1]], owner='a'); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, str(mark)], env=os.environ | env)
    try:
        wait_until(lambda: mark.exists() and len(mark.read_text().split()) == 2)
        job, grandchild = (int(p) for p in mark.read_text().split())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        wait_until(lambda: not alive(job), 5)
    finally:
        parent.kill()
        if alive(grandchild):
            os.kill(grandchild, signal.SIGKILL)
