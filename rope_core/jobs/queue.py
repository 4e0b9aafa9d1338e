"""One bounded queue of child processes for all heavy work: progress, cancel that kills, caps, fair between owners.

A job is a Python module run as a process of its own, through ``python -m rope_core.jobs.child MODULE ARGUMENTS...``.
It reports by JSON lines on standard output, written by ``report_progress``; it dies with its parent, and a crash or a
hang stays its own.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.jobs.child import LIMIT_ENV, report_progress
from rope_core.jobs.ending import GRACE, exit_sentence, kill_process_group

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
OVER = (DONE, FAILED, CANCELLED)
MAX_LINE = 2**20
MAX_RESULTS = 2000
STDERR_KEPT = 8000
TICK = 0.05


@dataclass(frozen=True)
class JobStatus:
    """What is known of a job.

    Attributes:
        id, owner, title: as submitted.
        state: "waiting", "running", "done", "failed" or "cancelled".
        ahead: jobs that start before this one, while it waits.
        progress: share done in [0, 1], or None before the job's first report.
        eta: seconds left as the job estimates, or None.
        note: what it is doing.
        results: what it has handed over so far, in order; at most the last 2000.
        error: why it failed, one sentence.
        seconds: how long it has run.
    """

    id: str
    owner: str
    title: str
    state: str
    ahead: int
    progress: float | None
    eta: float | None
    note: str
    results: tuple[Any, ...]
    error: str
    seconds: float


@dataclass
class _Job:
    id: str
    owner: str
    title: str
    command: list[str]
    env: dict[str, str]
    time_limit: float
    silence_limit: float
    memory_limit: int | None
    state: str = WAITING
    progress: float | None = None
    eta: float | None = None
    note: str = ""
    results: deque[Any] = field(default_factory=lambda: deque(maxlen=MAX_RESULTS))
    error: str = ""
    stop: str = ""
    process: subprocess.Popen[bytes] | None = None
    begun: float = 0.0
    ended: float = 0.0
    last_output: float = 0.0
    stderr: deque[bytes] = field(default_factory=deque)
    tab: str = ""


class JobQueue:
    """Runs jobs one after another, each owner in turn.

    Args:
        waiting: jobs that may wait in all; more are refused.
        per_owner: jobs that one owner may have waiting or running; more are refused.
        kept: finished jobs that are remembered.

    Raises ValueError on numbers below 1.
    """

    def __init__(self, waiting: int = 32, per_owner: int = 2, kept: int = 200) -> None:
        self._limit = checked_int("waiting", waiting, 1, 10_000)
        self._per_owner = checked_int("per_owner", per_owner, 1, 10_000)
        self._kept = checked_int("kept", kept, 1, 100_000)
        self._jobs: dict[str, _Job] = {}
        self._served: dict[str, int] = {}
        self._starts = 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(
        self,
        module: str,
        arguments: Sequence[str] = (),
        *,
        owner: str,
        tab: str = "",
        title: str = "",
        env: Mapping[str, str] | None = None,
        time_limit: float = 3600.0,
        silence_limit: float = 600.0,
        memory_limit: int | None = None,
    ) -> str:
        """Queue ``python -m module arguments...`` and return the job's id.

        Args:
            module: importable module with a ``__main__`` part.
            arguments: its command line.
            owner: who asks; jobs of different owners take turns.
            tab: the page that waits for it; see ``leave``.
            title: a name for people.
            env: environment variables to add.
            time_limit: seconds after which it is killed.
            silence_limit: seconds without a line of output after which it is taken for hung and killed.
            memory_limit: bytes of address space that it may take, or None.

        Raises ValueError when the queue or the owner's share is full, or it is closed.
        """
        if not all(part.isidentifier() for part in module.split(".")):
            raise argument_error("module", "a dotted module name", module)
        limit = checked_finite("time_limit", time_limit, "positive_seconds")
        silence = checked_finite("silence_limit", silence_limit, "positive_seconds")
        if limit <= 0 or silence <= 0:
            raise argument_error("time_limit and silence_limit", "positive_seconds", (time_limit, silence_limit))
        command = [sys.executable, "-m", "rope_core.jobs.child", module, *(str(a) for a in arguments)]
        job = _Job(
            uuid.uuid4().hex, owner, title or module, command, dict(env or {}), limit, silence, memory_limit, tab=tab
        )
        with self._changed:
            if self._closed:
                raise argument_error("queue", "open_queue", "closed")
            waiting = [j for j in self._jobs.values() if j.state == WAITING]
            if len(waiting) >= self._limit:
                raise argument_error("queue", "queue_room", len(waiting), limit=self._limit)
            mine = [j for j in self._jobs.values() if j.owner == owner and j.state not in OVER]
            if len(mine) >= self._per_owner:
                raise argument_error("owner", "owner_room", len(mine), limit=self._per_owner)
            self._forget_old()
            self._jobs[job.id] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return job.id

    def status(self, job_id: str) -> JobStatus:
        """Return what is known of a job, or raise ValueError when there is none of that id."""
        with self._changed:
            return self._status(self._find(job_id))

    def all(self) -> list[JobStatus]:
        """Return every job that is remembered, oldest first."""
        with self._changed:
            return [self._status(job) for job in self._jobs.values()]

    def cancel(self, job_id: str) -> None:
        """Stop a job: a waiting one never starts, a running one is killed with all its children."""
        with self._changed:
            _cancel(self._find(job_id))
            self._changed.notify_all()

    def cancel_abandoned(self, tab: str) -> None:
        """Cancel the jobs that a page has left, waiting or running."""
        with self._changed:
            for job in self._jobs.values():
                if tab and job.tab == tab and job.state not in OVER:
                    _cancel(job)
            self._changed.notify_all()

    def reassign_tab(self, job_id: str, tab: str) -> None:
        """Let a job wait for another page, as after a reload."""
        with self._changed:
            self._find(job_id).tab = tab

    def wait(self, job_id: str, seconds: float) -> JobStatus:
        """Return a job's status once it is over, or after ``seconds``."""
        end = time.monotonic() + seconds
        with self._changed:
            job = self._find(job_id)
            while job.state not in OVER and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._status(job)

    def close(self) -> None:
        """Kill everything and take no more jobs."""
        with self._changed:
            self._closed = True
            for job in self._jobs.values():
                _cancel(job)
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(2 * GRACE + 1)

    def _find(self, job_id: str) -> _Job:
        if job_id not in self._jobs:
            raise argument_error("job_id", "known_job", job_id)
        return self._jobs[job_id]

    def _status(self, job: _Job) -> JobStatus:
        ahead = self._order().index(job) if job.state == WAITING else 0
        end = job.ended or time.monotonic()
        return JobStatus(
            job.id,
            job.owner,
            job.title,
            job.state,
            ahead,
            job.progress,
            job.eta,
            job.note,
            tuple(job.results),
            job.error,
            end - job.begun if job.begun else 0.0,
        )

    def _order(self) -> list[_Job]:
        """Return waiting jobs in the order in which they will start: owners in turn, the longest unserved first."""
        served = dict(self._served)
        left = [j for j in self._jobs.values() if j.state == WAITING]
        order: list[_Job] = []
        turn = self._starts
        while left:
            chosen = min(left, key=lambda j: served.get(j.owner, 0))
            left.remove(chosen)
            order.append(chosen)
            turn += 1
            served[chosen.owner] = turn
        return order

    def _forget_old(self) -> None:
        over = [j.id for j in self._jobs.values() if j.state in OVER]
        for job_id in over[: max(0, len(over) - self._kept)]:
            del self._jobs[job_id]
        owners = {j.owner for j in self._jobs.values()}
        self._served = {owner: turn for owner, turn in self._served.items() if owner in owners}

    def _work(self) -> None:
        """Start, watch and end jobs, until closed. The children's lives hang on this thread, which lasts as long."""
        while True:
            with self._changed:
                running = [j for j in self._jobs.values() if j.state == RUNNING]
                if self._closed and not running:
                    return
                ready = [] if running else self._order()[:1]
                for job in ready:
                    self._start(job)
                if not running and not ready:
                    self._changed.wait()
                    continue
                self._changed.wait(TICK)
            for job in running:
                self._watch(job)

    def _start(self, job: _Job) -> None:
        self._starts += 1
        self._served[job.owner] = self._starts
        job.begun = job.last_output = time.monotonic()
        job.state = RUNNING
        env = os.environ | job.env | ({LIMIT_ENV: str(job.memory_limit)} if job.memory_limit else {})
        try:
            job.process = subprocess.Popen(
                job.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            job.state, job.error, job.ended = FAILED, f"it could not be started: {error}", time.monotonic()
            self._changed.notify_all()
            return
        for read, stream in ((self._listen, job.process.stdout), (self._drain, job.process.stderr)):
            threading.Thread(target=read, args=(job, stream), daemon=True).start()

    def _listen(self, job: _Job, stream: IO[bytes]) -> None:
        """Take in what a job reports; lines that are no report only count as a sign of life."""
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(MAX_LINE):
                with self._changed:
                    job.last_output = time.monotonic()
                    _take(job, line)
                    self._changed.notify_all()

    def _drain(self, job: _Job, stream: IO[bytes]) -> None:
        """Keep the end of standard error."""
        with contextlib.suppress(OSError, ValueError):
            while chunk := stream.read1(4096):  # type: ignore[attr-defined]
                job.stderr.append(chunk)
                while sum(map(len, job.stderr)) > STDERR_KEPT + 4096:
                    job.stderr.popleft()

    def _watch(self, job: _Job) -> None:
        process = job.process
        assert process is not None
        now = time.monotonic()
        if process.poll() is None:
            if not job.stop and now - job.begun > job.time_limit:
                job.stop = f"it ran longer than {job.time_limit:g} s"
            if not job.stop and now - job.last_output > job.silence_limit:
                job.stop = f"it said nothing for {job.silence_limit:g} s"
            if not job.stop:
                return
        kill_process_group(process)
        with self._changed:
            job.ended = time.monotonic()
            if job.stop == CANCELLED:
                job.state = CANCELLED
            elif job.stop:
                job.state, job.error = FAILED, job.stop
            elif process.returncode == 0:
                job.state, job.progress, job.eta = DONE, 1.0, 0.0
            else:
                job.state, job.error = FAILED, exit_sentence(process.returncode, job.stderr)
            self._changed.notify_all()


def _cancel(job: _Job) -> None:
    if job.state == WAITING:
        job.state = CANCELLED
    elif job.state == RUNNING and not job.stop:
        job.stop = CANCELLED


def _take(job: _Job, line: bytes) -> None:
    try:
        message = json.loads(line)
    except ValueError:
        return
    if not isinstance(message, dict):
        return
    progress, eta = message.get("progress"), message.get("eta")
    if isinstance(progress, int | float) and 0.0 <= progress <= 1.0:
        job.progress = float(progress)
        job.eta = float(eta) if isinstance(eta, int | float) and eta >= 0 else None
    if isinstance(message.get("note"), str):
        job.note = message["note"][:200]
    if "result" in message:
        job.results.append(message["result"])


_DEFAULT: list[JobQueue] = []
_DEFAULT_LOCK = threading.Lock()


def default_queue() -> JobQueue:
    """Return the process's one queue, which everything in an app shares; it dies with the process."""
    with _DEFAULT_LOCK:
        if not _DEFAULT:
            _DEFAULT.append(JobQueue())
            atexit.register(_DEFAULT[0].close)
        return _DEFAULT[0]


__all__ = [
    "CANCELLED",
    "DONE",
    "FAILED",
    "RUNNING",
    "WAITING",
    "JobQueue",
    "JobStatus",
    "default_queue",
    "report_progress",
]
