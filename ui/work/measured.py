"""Between the benchmark page and the harness: records to show, runs to start, and their status."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from rope_core.bench import view
from rope_core.bench.cases import SUITES, BenchmarkCase
from rope_core.bench.records import BenchmarkDatabase, CaseResult, default_record_path
from rope_core.jobs import queue as jobs
from rope_core.jobs.queue import JobStatus
from ui.work.jobs import has_gpu, job_memory_limit, job_owner, session_jobs, waiting_tab
from ui.work.session import SessionState

PLACE = "benchmark"
ONE, INTERPRETER, GPU = "one", "interpreter", "gpu"
# The interpreter takes milliseconds per program whatever its size, so its check is one small shape.
INTERPRETED = BenchmarkCase("cpu", "float32", 1, 16, 2, 1, 64, 64)
TIME_LIMIT = 3600.0
SILENCE_LIMIT = 900.0


def is_benchmarking_allowed() -> bool:
    """Whether this app may run benchmarks: ROPE_LAB_BENCH=off keeps the records only."""
    return os.environ.get("ROPE_LAB_BENCH") != "off"


def available_devices() -> tuple[str, ...]:
    """Where a run can take place."""
    return ("cpu", "cuda") if has_gpu() else ("cpu",)


def benchmark_choice_names() -> tuple[str, ...]:
    """Return what a run can be: one shape, a suite, or the check of the GPU kernel by interpretation."""
    return (ONE, "quick", "cpu", *([GPU] if has_gpu() else []), INTERPRETER)


def source_names() -> tuple[str, ...]:
    """Names of everything that can be shown: shipped files, and this machine's own runs where it can keep them."""
    return (*view.shipped_benchmark_names(), *([view.HERE] if find_spec("sqlite3") else []))


def case_slug(case: BenchmarkCase) -> str:
    """Return a kind of case as one word for a link."""
    parts = (case.device, case.dtype, case.layout, case.direction, case.memory)
    sizes = (case.batch, case.q_heads, case.k_heads, case.dim, case.rotary_dim)
    return ".".join([*parts, "x".join(map(str, sizes)), *(["inplace"] if case.inplace else [])])


def case_kinds_by_text(source: view.BenchmarkSource) -> dict[str, BenchmarkCase]:
    """Return the kinds of case of a source by their words."""
    return {case_slug(kind): kind for kind in view.case_kinds(source.points)}


def length_choices(points: Iterable[view.CaseTiming]) -> tuple[str, ...]:
    """Return the lengths among points, as text, the longest last."""
    return tuple(str(n) for n in sorted({p.case.seq for p in points}))


def timings_at_length(points: Iterable[view.CaseTiming], length: str) -> list[view.CaseTiming]:
    """Return the points of one length."""
    return [p for p in points if str(p.case.seq) == length]


def choice_or_fallback(wanted: str, among: Iterable[str], fallback: str) -> str:
    """Return the wanted word where it is among those offered, else the fallback."""
    return wanted if wanted in set(among) else fallback


def chosen_cases(what: str, own: BenchmarkCase) -> list[BenchmarkCase]:
    """Return the shapes of a choice."""
    return [own] if what == ONE else [INTERPRETED] if what == INTERPRETER else list(SUITES[what]())


def interpreter_records_path() -> Path:
    """Where the interpreter's checks are kept: apart, since its times mean nothing."""
    return default_record_path().with_name("interpreter.sqlite3")


def bench_arguments(what: str, own: BenchmarkCase, only: Iterable[str], rounds: int) -> list[str]:
    """Return the command line of ``rope bench`` for a choice.

    >>> bench_arguments("quick", INTERPRETED, ["numba"], 9)
    ['--suite', 'quick', '--rounds', '9', '--progress', '--only', 'numba']
    """
    if what == INTERPRETER:
        own, only, rounds = INTERPRETED, ["triton"], 5
    line = ["--suite", what] if what in SUITES else case_arguments(own)
    line += ["--rounds", str(rounds), "--progress"]
    for name in only:
        line += ["--only", name]
    return line + (["--records", str(interpreter_records_path())] if what == INTERPRETER else [])


def case_arguments(case: BenchmarkCase) -> list[str]:
    """One case as a command line."""
    words = {"device": case.device, "dtype": case.dtype, "layout": case.layout, "memory": case.memory}
    words |= {"direction": case.direction, "batch": str(case.batch), "seq": str(case.seq), "dim": str(case.dim)}
    words |= {"heads": str(case.q_heads), "kv-heads": str(case.k_heads), "rotary-dim": str(case.rotary_dim)}
    line = [part for name, value in words.items() for part in (f"--{name}", value)]
    return line + (["--inplace"] if case.inplace else [])


def start_benchmark(
    session: SessionState, what: str, case: BenchmarkCase, only: Iterable[str], rounds: int, allocator: str
) -> None:
    """Queue a run.

    Raises ValueError where it would not fit in memory, with the number, or the queue takes no more.
    """
    from rope_core.bench.harness import case_buffer_set_count

    wanted = chosen_cases(what, case)
    for each in wanted:
        if each.device == "cpu":
            case_buffer_set_count(each)
    title = wanted[0].title if len(wanted) == 1 else f"{what}: {len(wanted)} cases"
    line = [*bench_arguments(what, case, only, rounds), "--allocator", allocator]
    session_jobs(session)[PLACE] = jobs.default_queue().submit(
        "rope_core.cli.bench",
        line,
        owner=job_owner(session),
        tab=waiting_tab(session),
        title=title,
        memory_limit=job_memory_limit(),
        env={"TRITON_INTERPRET": "1"} if what == INTERPRETER else {},
        time_limit=TIME_LIMIT,
        silence_limit=SILENCE_LIMIT,
    )


def recorded_results(status: JobStatus) -> list[CaseResult]:
    """Return what a run has recorded so far."""
    runs = {result["run"] for result in status.results if isinstance(result, dict) and "run" in result}
    results: list[CaseResult] = []
    for path in (default_record_path(), interpreter_records_path()):
        # A file that is busy for a moment is read again by the next look, a second later.
        with contextlib.suppress(OSError, ValueError):
            if runs and path.exists():
                store = BenchmarkDatabase(path, view.PATIENCE)
                results += [result for run in sorted(runs) for result in store.results(run)]
    return results
