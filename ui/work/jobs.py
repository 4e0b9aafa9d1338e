"""A session's long work, one job for each place that starts some: whose it is, how far it has come, its end."""

from __future__ import annotations

import os
import uuid
from functools import lru_cache
from importlib.util import find_spec

from rope_core.jobs import queue as jobs
from rope_core.jobs.queue import JobStatus
from ui.work.session import SessionState

JOBS, SEEN, OWNER = "work.jobs", "work.seen", "work.owner"
TAB = "work.tab"
"""The session's word for the page that waits for its work."""


@lru_cache(maxsize=1)
def has_gpu() -> bool:
    """Whether torch sees a GPU; in a browser's Python there is no torch."""
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def job_owner(session: SessionState) -> str:
    """Return a word for whose work it is, the same after a reload where the frame knows the reader's address."""
    return str(session.setdefault(OWNER, uuid.uuid4().hex))


def waiting_tab(session: SessionState) -> str:
    """Return the tab that waits for the work; "" where nobody would notice that it is closed."""
    return str(session.get(TAB, ""))


def job_memory_limit() -> int | None:
    """Return the bytes of address space of a job: the machine's memory; None with a GPU, whose driver maps far more."""
    return None if has_gpu() else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def end_abandoned_work(name: str) -> None:
    """End the work that the page of this name waits for: it has gone."""
    jobs.default_queue().cancel_abandoned(name)


def session_jobs(session: SessionState) -> dict[str, str]:
    """Return the session's latest job of each place."""
    result: dict[str, str] = session.setdefault(JOBS, {})
    return result


def latest_job_status(session: SessionState, place: str) -> JobStatus | None:
    """Return the status of the session's latest job of a place; None where it has none."""
    try:
        return jobs.default_queue().status(session_jobs(session)[place])
    except (KeyError, ValueError):
        return None


def is_active(status: JobStatus | None) -> bool:
    """Whether a job waits or runs."""
    return status is not None and status.state not in jobs.OVER


def active_jobs() -> list[JobStatus]:
    """Return everybody's jobs that wait or run, the running first."""
    return sorted(
        filter(is_active, jobs.default_queue().all()), key=lambda status: (status.state != jobs.RUNNING, status.ahead)
    )


def jobs_ahead(status: JobStatus) -> int:
    """Return how many jobs end before this one starts: those ahead of it and those that run."""
    running = [other for other in active_jobs() if other.state == jobs.RUNNING]
    return status.ahead + len(running) if status.state == jobs.WAITING else 0


def cancel_job(session: SessionState, place: str) -> None:
    """Stop the session's job of a place."""
    if place in session_jobs(session):
        jobs.default_queue().cancel(session_jobs(session)[place])


def has_just_ended(session: SessionState, place: str) -> bool:
    """Whether a place's job came to its end since the last call."""
    status, seen = latest_job_status(session, place), session.setdefault(SEEN, {})
    now = None if status is None else (status.id, status.state in jobs.OVER)
    last, seen[place] = seen.get(place), now
    return now is not None and now[1] and now != last
