"""Between the benchmark page and the harness: records to show, runs to start, and their status."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from rope_core.bench import view
from rope_core.bench.cases import SUITES, Case
from rope_core.bench.records import Result, Store, default_path
from rope_core.jobs import queue as jobs
from rope_core.jobs.queue import Status
from ui.work.session import Session

JOB, OWNER, SEEN = "benchmark.job", "benchmark.owner", "benchmark.seen"
# Where the frame notes the browser, the address and the tab of a session.
VISITOR, ADDRESS, TAB = "visitor", "visitor.address", "visitor.tab"
WAITS, RUNS = 10.0, 60.0
ONE, INTERPRETER, GPU = "one", "interpreter", "gpu"
# The interpreter takes milliseconds per program whatever its size, so its check is one small shape.
INTERPRETED = Case("cpu", "float32", 1, 16, 2, 1, 64, 64)
TIME_LIMIT = 3600.0
SILENCE_LIMIT = 900.0


def allowed() -> bool:
    """Whether this app may run benchmarks: ROPE_LAB_BENCH=off keeps the records only."""
    return os.environ.get("ROPE_LAB_BENCH") != "off"


@lru_cache(maxsize=1)
def gpu() -> bool:
    """Whether torch sees a GPU; in a browser's Python there is no torch."""
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def devices() -> tuple[str, ...]:
    """Where a run can take place."""
    return ("cpu", "cuda") if gpu() else ("cpu",)


def suites() -> tuple[str, ...]:
    """Return what a run can be: one shape, a suite, or the check of the GPU kernel by interpretation."""
    return (ONE, "quick", "cpu", *([GPU] if gpu() else []), INTERPRETER)


def sources() -> tuple[str, ...]:
    """Names of everything that can be shown: shipped files, and this machine's own runs where it can keep them."""
    return (*view.shipped_names(), *([view.HERE] if find_spec("sqlite3") else []))


def slug(case: Case) -> str:
    """Return a kind of case as one word for a link."""
    parts = (case.device, case.dtype, case.layout, case.direction, case.memory)
    sizes = (case.batch, case.q_heads, case.k_heads, case.dim, case.rotary_dim)
    return ".".join([*parts, "x".join(map(str, sizes)), *(["inplace"] if case.inplace else [])])


def kinds(source: view.Source) -> dict[str, Case]:
    """Return the kinds of case of a source by their words."""
    return {slug(kind): kind for kind in view.kinds(source.points)}


def lengths(points: Iterable[view.Point]) -> tuple[str, ...]:
    """Return the lengths among points, as text, the longest last."""
    return tuple(str(n) for n in sorted({p.case.seq for p in points}))


def at_length(points: Iterable[view.Point], length: str) -> list[view.Point]:
    """Return the points of one length."""
    return [p for p in points if str(p.case.seq) == length]


def chosen(wanted: str, among: Iterable[str], fallback: str) -> str:
    """Return the wanted word where it is among those offered, else the fallback."""
    return wanted if wanted in set(among) else fallback


def owner(session: Session) -> str:
    """Return a word that tells this browser's runs from those of others."""
    return str(session.setdefault(OWNER, session.get(VISITOR) or uuid.uuid4().hex))


def address(session: Session) -> str:
    """Return a word for the address from which a run is started; "" for this computer."""
    return str(session.get(ADDRESS, ""))


def tab(session: Session) -> str:
    """Return the tab that waits for a run; "" where nobody would notice that it is closed."""
    return str(session.get(TAB, ""))


def memory_limit() -> int | None:
    """Return the bytes of address space of a run: the machine's memory; None with a GPU, whose driver maps far more."""
    return None if gpu() else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def end_with_their_tabs(when_left: Callable[[float, Callable[[str], None]], None]) -> None:
    """Let waiting runs end WAITS seconds after their tab, and a running one RUNS seconds after it."""
    when_left(WAITS, lambda name: jobs.default_queue().leave(name))
    when_left(RUNS, lambda name: jobs.default_queue().leave(name, running=True))


def cases(what: str, own: Case) -> list[Case]:
    """Return the shapes of a choice."""
    return [own] if what == ONE else [INTERPRETED] if what == INTERPRETER else list(SUITES[what]())


def interpreter_records() -> Path:
    """Where the interpreter's checks are kept: apart, since its times mean nothing."""
    return default_path().with_name("interpreter.sqlite3")


def arguments(what: str, own: Case, only: Iterable[str], rounds: int) -> list[str]:
    """Return the command line of ``rope bench`` for a choice.

    >>> arguments("quick", INTERPRETED, ["numba"], 9)
    ['--suite', 'quick', '--rounds', '9', '--progress', '--only', 'numba']
    """
    if what == INTERPRETER:
        own, only, rounds = INTERPRETED, ["triton"], 5
    line = ["--suite", what] if what in SUITES else shape(own)
    line += ["--rounds", str(rounds), "--progress"]
    for name in only:
        line += ["--only", name]
    return line + (["--records", str(interpreter_records())] if what == INTERPRETER else [])


def shape(case: Case) -> list[str]:
    """One case as a command line."""
    words = {"device": case.device, "dtype": case.dtype, "layout": case.layout, "memory": case.memory}
    words |= {"direction": case.direction, "batch": str(case.batch), "seq": str(case.seq), "dim": str(case.dim)}
    words |= {"heads": str(case.q_heads), "kv-heads": str(case.k_heads), "rotary-dim": str(case.rotary_dim)}
    line = [part for name, value in words.items() for part in (f"--{name}", value)]
    return line + (["--inplace"] if case.inplace else [])


def start(session: Session, what: str, own: Case, only: Iterable[str], rounds: int, allocator: str) -> str:
    """Queue a run and return its job's id.

    Raises ValueError where it would not fit in memory, with the number, or the queue takes no more.
    """
    from rope_core.bench.harness import sets_for

    wanted = cases(what, own)
    for case in wanted:
        if case.device == "cpu":
            sets_for(case)
    title = wanted[0].title if len(wanted) == 1 else f"{what}: {len(wanted)} cases"
    line = [*arguments(what, own, only, rounds), "--allocator", allocator]
    job = jobs.default_queue().submit(
        "rope_core.cli.bench",
        line,
        owner=owner(session),
        address=address(session),
        tab=tab(session),
        title=title,
        memory_limit=memory_limit(),
        env={"TRITON_INTERPRET": "1"} if what == INTERPRETER else {},
        time_limit=TIME_LIMIT,
        silence_limit=SILENCE_LIMIT,
    )
    session[JOB] = job
    return job


def mine(session: Session) -> Status | None:
    """Return the status of this session's latest run; None where it has none."""
    try:
        return jobs.default_queue().status(session[JOB]) if JOB in session else None
    except ValueError:
        return None


def going(status: Status | None) -> bool:
    """Whether a run waits or runs."""
    return status is not None and status.state not in jobs.OVER


def queue() -> list[Status]:
    """Everybody's heavy work that waits or runs, the running first."""
    waiting = [status for status in jobs.default_queue().all() if going(status)]
    return sorted(waiting, key=lambda status: (status.state != jobs.RUNNING, status.ahead))


def before(status: Status) -> int:
    """How many runs end before this one starts: those ahead of it and those that run."""
    running = [other for other in queue() if other.state == jobs.RUNNING]
    return status.ahead + len(running) if status.state == jobs.WAITING else 0


def cancel(session: Session) -> None:
    """Stop this session's run."""
    if JOB in session:
        jobs.default_queue().cancel(session[JOB])


def landed(status: Status) -> list[Result]:
    """Return what a run has recorded so far."""
    runs = {result["run"] for result in status.results if isinstance(result, dict) and "run" in result}
    results: list[Result] = []
    for path in (default_path(), interpreter_records()):
        # A file that is busy for a moment is read again by the next look, a second later.
        with contextlib.suppress(OSError, ValueError):
            if runs and path.exists():
                store = Store(path, view.PATIENCE)
                results += [result for run in sorted(runs) for result in store.results(run)]
    return results


def news(session: Session) -> bool:
    """Whether this session's run came to its end, or a result landed, since the last call."""
    status = mine(session)
    now = None if status is None else (status.id, status.state in jobs.OVER)
    before = session.get(SEEN)
    session[SEEN] = now
    return now is not None and now != before and now[1]
