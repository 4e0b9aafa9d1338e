"""``rope bench``: run a suite or one shape, keep the record, print it; list, compare, export, import."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from rope_core.bench.cases import DIRECTIONS, ITEM_BYTES, MEMORY, SUITES, BenchmarkCase
from rope_core.bench.environment import restart_with_allocator
from rope_core.bench.records import BenchmarkDatabase, CaseResult
from rope_core.bench.statistics import compare_timings, summarize_samples
from rope_core.bench.view import case_timing, quiet_copy_ratio
from rope_core.cli.command import run_subcommand
from rope_core.cli.terminal import print_lines
from rope_core.errors import argument_error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--suite", choices=sorted(SUITES), help="a list of shapes, in place of the shape given below")
    parser.add_argument(
        "--kernel", metavar="FILE.py:FUNCTION", help="a function f(q, k, cos, sin, *, layout) beside ours"
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="contestants by name (repeat); all by default")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=sorted(ITEM_BYTES), default="float32")
    parser.add_argument("--layout", choices=("half", "interleaved"), default="half")
    parser.add_argument("--memory", choices=MEMORY, default="bhsd")
    parser.add_argument("--direction", choices=DIRECTIONS, default="forward")
    parser.add_argument("--inplace", action="store_true")
    for name, value in (("batch", 1), ("seq", 2048), ("heads", 32), ("kv-heads", 32), ("dim", 128)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rotary-dim", type=int, help="all of a head by default")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument(
        "--allocator",
        choices=("tuned", "default"),
        default="tuned",
        help="tuned keeps large blocks mapped (glibc), so that page faults are not what is measured",
    )
    parser.add_argument("--records", help="the SQLite file (default: ROPE_LAB_RECORDS or the user's data folder)")
    parser.add_argument("--progress", action="store_true", help="JSON lines with progress on standard output")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list recorded runs")
    what.add_argument("--show", metavar="RUN")
    what.add_argument("--compare", nargs=2, metavar=("RUN", "RUN"))
    what.add_argument("--export", metavar="FILE", help="all runs as JSON")
    what.add_argument("--import", dest="load", metavar="FILE")


def run(options: argparse.Namespace) -> int:
    """Time rotations beside the copy of the same bytes, answers checked first. Exit 1 when an answer is wrong."""
    if options.list:
        return _list(BenchmarkDatabase(options.records))
    if options.show:
        return _show(BenchmarkDatabase(options.records), options.show)
    if options.compare:
        return _compare(BenchmarkDatabase(options.records), *options.compare)
    if options.export:
        return _export(BenchmarkDatabase(options.records), Path(options.export))
    if options.load:
        return _import(BenchmarkDatabase(options.records), Path(options.load))
    restart_with_allocator(options.allocator, "rope_core.cli.bench", options.argv)
    return _measure(options)


def cases_of(options: argparse.Namespace) -> list[BenchmarkCase]:
    """Return the shapes that the options name."""
    if options.suite:
        return list(SUITES[options.suite]())
    rotary = options.dim if options.rotary_dim is None else options.rotary_dim
    return [
        BenchmarkCase(
            options.device,
            options.dtype,
            options.batch,
            options.seq,
            options.heads,
            options.kv_heads,
            options.dim,
            rotary,
            options.layout,
            options.memory,
            options.direction,
            options.inplace,
        )
    ]


def _measure(options: argparse.Namespace) -> int:
    """Measure, record and print; return 1 when somebody's answer was wrong."""
    if os.environ.get("ROPE_LAB_BENCH") == "off":
        raise argument_error("ROPE_LAB_BENCH", "unset_to_run", "off")
    from rope_core.bench import contestants as everybody
    from rope_core.bench.environment import environment_record
    from rope_core.bench.harness import measure_case
    from rope_core.jobs import queue as jobs

    cases = cases_of(options)
    if options.rounds < 5:
        raise argument_error("rounds", "at_least", options.rounds, low=5)
    entrants = everybody.all_implementations()
    if options.kernel:
        entrants.insert(0, everybody.implementation_from_file(options.kernel))
    if options.only:
        unknown = set(options.only) - {e.name for e in entrants}
        if unknown:
            raise argument_error("only", "among", sorted(unknown), names=[e.name for e in entrants])
        entrants = [e for e in entrants if e.name in options.only]
    if any(case.device == "cuda" for case in cases):
        _need_gpu()
    store = BenchmarkDatabase(options.records)
    name = store.begin_run(options.suite or "one", environment_record())
    begun = time.monotonic()
    wrong = False
    for index, case in enumerate(cases):

        def report(share: float, note: str, index: int = index) -> None:
            done = (index + share) / len(cases)
            if options.progress:
                jobs.report_progress(progress=done, eta=(time.monotonic() - begun) * (1 - done) / done, note=note)

        try:
            results = measure_case(case, entrants, options.rounds, report)
        except ValueError as error:
            results = [CaseResult(case, "copy", "error", str(error), {})]
        for result in results:
            store.add(name, result)
            wrong = wrong or result.state == "wrong"
        if options.progress:
            jobs.report_progress(result={"run": name, "case": case.key})
        else:
            print_lines(*results_table(results).splitlines(), flush=True)
    store.finish(name)
    print_lines(f"run {name} in {store.path}", error=True)
    return int(wrong)


def _need_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        raise argument_error("device", "visible_gpu", "cuda")


def results_table(results: list[CaseResult]) -> str:
    """Return results as text, the fastest first."""
    lines = [results[0].case.title] if results else []
    good = (case_timing(r, {}) for r in results if r.state == "ok")
    lines += [
        f"  {p.contestant:24s} {p.seconds.median * 1e6:11.2f} us  {p.ratio.median:7.3f} of the copy's time "
        f"[{p.ratio.low:.3f}, {p.ratio.high:.3f}] quiet {p.quiet:.3f}  {p.bandwidth / 1e9:8.2f} GB/s  "
        f"error {p.error:.2e}  faults {p.faults:.0f}  first call {p.first_call:.2f} s"
        for p in sorted(good, key=lambda p: p.quiet)
    ]
    timed = next((r.data for r in results if r.state == "ok"), {})
    for name, seconds in timed.get("movers", {}).items():
        took, ratio = summarize_samples(seconds).median, quiet_copy_ratio(seconds, timed["floor"])
        lines.append(f"  {f'({name})':24s} {took * 1e6:11.2f} us  quiet {ratio:.3f}")
    lines += [f"  {r.contestant:24s} {r.state}: {r.reason}" for r in results if r.state != "ok"]
    return "\n".join(lines)


def _list(store: BenchmarkDatabase) -> int:
    for r in store.runs():
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(r.started))
        where = r.environment.get("gpu") or r.environment.get("cpu", "?")
        print_lines(f"{r.id}  {when}  {r.run_status:11s}  {r.suite:6s}  {where}  {len(store.results(r.id))} results")
    return 0


def _find(store: BenchmarkDatabase, start: str) -> str:
    fitting = [r.id for r in store.runs() if r.id.startswith(start)]
    if len(fitting) != 1:
        raise argument_error("run", "run_start", start, count=len(fitting))
    return fitting[0]


def _show(store: BenchmarkDatabase, start: str) -> int:
    by_case: dict[str, list[CaseResult]] = {}
    for result in store.results(_find(store, start)):
        by_case.setdefault(result.case.key, []).append(result)
    for results in by_case.values():
        print_lines(*results_table(results).splitlines())
    return 0


def _compare(store: BenchmarkDatabase, first: str, second: str) -> int:
    """Print, for every case and contestant of both runs, how the ratios to the copy compare."""
    left, right = (
        {(r.case.key, r.contestant): r for r in store.results(_find(store, s)) if r.state == "ok"}
        for s in (first, second)
    )
    for key in left.keys() & right.keys():
        a, b = (
            [x / y for x, y in zip(r.data["seconds"], r.data["floor"], strict=True)] for r in (left[key], right[key])
        )
        c = compare_timings(a, b)
        verdict = {"a is faster": "the first is faster", "b is faster": "the second is faster"}.get(
            c.verdict, c.verdict
        )
        print_lines(
            f"{left[key].case.title}  {key[1]:24s} second/first {c.ratio:.3f} [{c.low:.3f}, {c.high:.3f}]  {verdict}"
        )
    return 0


def _export(store: BenchmarkDatabase, path: Path) -> int:
    path.write_text(store.export_json(), encoding="utf-8")
    return 0


def _import(store: BenchmarkDatabase, path: Path) -> int:
    if not path.is_file():
        raise argument_error("import", "existing_file", str(path))
    print_lines(f"{store.import_json(path.read_text(encoding='utf-8'))} new run(s)")
    return 0


if __name__ == "__main__":
    sys.exit(run_subcommand("bench", sys.modules[__name__], sys.argv[1:]))
