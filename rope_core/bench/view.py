"""Recorded results as a page shows them: shipped files and this machine's own, by kind of case, with intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import FORMAT, BenchmarkDatabase, BenchmarkRun, CaseResult, default_record_path
from rope_core.bench.statistics import SampleSummary, summarize_samples
from rope_core.errors import argument_error

SHIPPED = Path(__file__).parent / "records"
HERE = "here"
OURS = ("numba (raw)", "numba (bound)", "triton (raw)", "numba", "triton", "compiled", "complex", "eager")
PEERS = ("transformers", "transformers compiled", "Liger", "FLA", "flash-attention", "flashinfer", "SGLang", "TileOPs")
# A page does not wait longer for a locked file, in seconds.
PATIENCE = 0.5
# What others are compared with: our kernel as a model calls it, on either device.
ENTRY = {"cpu": "numba", "cuda": "triton"}


@dataclass(frozen=True)
class CaseTiming:
    """One contestant on one case.

    Attributes:
        allocator: "tuned" or "default" (glibc's thresholds), which decides about page faults.
        seconds: per call; ``ratio``: to the copy of the same round; both with intervals.
        bandwidth, floor: bytes per second, the contestant's and the copy's.
        quiet: the ratio in the half of the rounds in which the copy was fastest.
        error: largest difference from the float64 reference.
        first_call: seconds until the first answer.
        faults: minor page faults per call.
        cold: whether the buffers that took turns were larger than the cache; None where nobody knows.
        samples: seconds of each round.
    """

    case: BenchmarkCase
    contestant: str
    allocator: str
    seconds: SampleSummary
    ratio: SampleSummary
    bandwidth: float
    floor: float
    quiet: float
    error: float
    first_call: float
    faults: float
    cold: bool | None
    samples: tuple[float, ...]

    @property
    def copy_seconds(self) -> float:
        """Median seconds of copying what the case reads and writes."""
        return 2 * self.case.memory_passes * self.case.tensor_bytes / self.floor


@dataclass(frozen=True)
class BenchmarkSource:
    """All runs of one place: a shipped file or this machine.

    Attributes:
        name: the file's name without its ending, or "here".
        runs: with their environments, the latest first.
        points: the latest good result of each case, contestant and allocator.
        refused: the latest result of those that have no good one.
        trouble: why the runs could not be read, "" where they could.
    """

    name: str
    runs: tuple[BenchmarkRun, ...]
    points: tuple[CaseTiming, ...]
    refused: tuple[CaseResult, ...]
    trouble: str = ""

    @property
    def hardware(self) -> str:
        """The processor's or the graphics card's name."""
        where = self.runs[0].environment if self.runs else {}
        return str(where.get("gpu") or where.get("cpu") or self.name)


def quiet_copy_ratio(seconds: Sequence[float], copy_seconds: Sequence[float]) -> float:
    """Return the median ratio to the copy over the half of the rounds in which the copy was fastest.

    >>> quiet_copy_ratio([2.0, 9.0], [2.0, 3.0])
    1.0
    """
    rounds = sorted(zip(copy_seconds, seconds, strict=True))[: max(1, len(copy_seconds) // 2)]
    return summarize_samples([took / copy for copy, took in rounds]).median


def case_timing(result: CaseResult, environment: dict[str, Any]) -> CaseTiming:
    """Return a good result with what the page draws of it."""
    data, case = result.data, result.case
    ratios = [a / b for a, b in zip(data["seconds"], data["floor"], strict=True)]
    took = summarize_samples(data["seconds"])
    return CaseTiming(
        case,
        result.contestant,
        str(environment.get("allocator", "default")),
        took,
        summarize_samples(ratios),
        data["traffic"] / took.median,
        2 * case.memory_passes * case.tensor_bytes / summarize_samples(data["floor"]).median,
        quiet_copy_ratio(data["seconds"], data["floor"]),
        float(data["error"]),
        float(data["first_call"]),
        float(data["faults"]),
        data.get("larger_than_cache"),
        tuple(data["seconds"]),
    )


def merge_runs(name: str, runs: Iterable[tuple[BenchmarkRun, list[CaseResult]]]) -> BenchmarkSource:
    """Put runs together; of equal cases the latest counts."""
    ordered = sorted(runs, key=lambda run_and_results: run_and_results[0].started, reverse=True)
    points: dict[tuple[str, str, str], CaseTiming] = {}
    refused: dict[tuple[str, str], CaseResult] = {}
    for run, results in ordered:
        for result in results:
            where = str(run.environment.get("allocator", "default"))
            key = (result.case.key, result.contestant, where)
            if result.state == "ok" and key not in points:
                points[key] = case_timing(result, run.environment)
            elif result.state != "ok":
                refused.setdefault(key[:2], result)
    good = {key[:2] for key in points}
    left = tuple(r for key, r in refused.items() if key not in good)
    return BenchmarkSource(name, tuple(run for run, _ in ordered), tuple(points.values()), left)


@lru_cache(maxsize=16)
def shipped_benchmarks(name: str) -> BenchmarkSource:
    """Return one shipped file's results, or raise ValueError when there is none of that name."""
    if name not in shipped_benchmark_names():
        raise argument_error("name", "one_of", name, names=shipped_benchmark_names())
    body = json.loads((SHIPPED / f"{name}.json").read_text(encoding="utf-8"))
    if body.get("format") != FORMAT:
        raise argument_error("format", "one_of", body.get("format"), names=[FORMAT])
    return merge_runs(name, [_read(run) for run in body["runs"]])


def _read(run: dict[str, Any]) -> tuple[BenchmarkRun, list[CaseResult]]:
    head = BenchmarkRun(run["id"], run["suite"], run["started"], run["finished"], run["environment"], 0)
    return head, [
        CaseResult(BenchmarkCase.from_key(x["case"]), x["contestant"], x["state"], x["reason"], x["data"])
        for x in run["results"]
    ]


def shipped_benchmark_names() -> tuple[str, ...]:
    """Return the shipped files' names."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.json")))


def local_benchmarks() -> BenchmarkSource:
    """Return this machine's own results, empty where nothing was recorded or can be read; read when they changed."""
    path = default_record_path()
    try:
        beside = [p for p in (path, path.with_name(path.name + "-wal")) if p.exists()]
        stamps = tuple((p.stat().st_mtime_ns, p.stat().st_size) for p in beside)
        return _here(path, stamps) if stamps else BenchmarkSource(HERE, (), (), ())
    except (OSError, ValueError) as error:
        # The cause names no folder of this machine; a visitor need not know them.
        cause = error.__cause__ or error
        return BenchmarkSource(HERE, (), (), (), cause.strerror or "" if isinstance(cause, OSError) else str(cause))


@lru_cache(maxsize=1)
def _here(path: Path, stamps: tuple[tuple[int, int], ...]) -> BenchmarkSource:
    store = BenchmarkDatabase(path, PATIENCE)
    return merge_runs(HERE, [(run, store.results(run.id)) for run in store.runs()])


def benchmark_source(name: str) -> BenchmarkSource:
    """Return a shipped file's results by its name, or this machine's by "here"."""
    return local_benchmarks() if name == HERE else shipped_benchmarks(name)


def case_without_length(case: BenchmarkCase) -> BenchmarkCase:
    """Return what is left of a case without its length: cases of one kind make one curve."""
    return replace(case, seq=1)


def case_kinds(timings: Iterable[CaseTiming]) -> list[BenchmarkCase]:
    """Return the kinds among points, those with the most lengths first."""
    lengths: dict[BenchmarkCase, set[int]] = {}
    for p in timings:
        lengths.setdefault(case_without_length(p.case), set()).add(p.case.seq)
    return sorted(lengths, key=lambda k: -len(lengths[k]))


def case_kind_timings_by_length(timings: Iterable[CaseTiming], case_kind: BenchmarkCase) -> list[CaseTiming]:
    """Return the points of one kind with the tuned allocator, by length; of the other one where there are none."""
    same = sorted((p for p in timings if case_without_length(p.case) == case_kind), key=lambda p: p.case.seq)
    return [p for p in same if p.allocator == "tuned"] or same


def speedup_over_peer(ours: CaseTiming, peer: CaseTiming) -> SampleSummary:
    """Return how many times longer the peer takes: round by round where both are of one run, else by the ratios."""
    if len(ours.samples) == len(peer.samples) and ours.floor == peer.floor:
        return summarize_samples([b / a for a, b in zip(ours.samples, peer.samples, strict=True)])
    middle = peer.ratio.median / ours.ratio.median
    low, high = peer.ratio.low / ours.ratio.high, peer.ratio.high / ours.ratio.low
    return SampleSummary(middle, low, high, low, high, min(ours.ratio.count, peer.ratio.count))


def own_reference_timing(timings: Iterable[CaseTiming]) -> CaseTiming | None:
    """Return our kernel as a model calls it, or the fastest of ours, or None where none of ours was measured."""
    mine = [p for p in timings if p.contestant in OURS]
    entry = [p for p in mine if p.contestant == ENTRY[p.case.device]]
    return entry[0] if entry else min(mine, key=lambda p: p.ratio.median, default=None)


def allocator_timing_pairs(timings: Iterable[CaseTiming]) -> list[tuple[CaseTiming, CaseTiming]]:
    """Return (tuned, default) of each contestant on the largest case that was measured under both allocators."""
    both: dict[tuple[BenchmarkCase, str], dict[str, CaseTiming]] = {}
    for p in timings:
        both.setdefault((p.case, p.contestant), {})[p.allocator] = p
    pairs = [
        (points_of["tuned"], points_of["default"])
        for points_of in both.values()
        if {"tuned", "default"} <= set(points_of)
    ]
    largest = max((a.case.tensor_bytes for a, _ in pairs), default=0)
    chosen = [pair for pair in pairs if pair[0].case.tensor_bytes == largest]
    return [pair for pair in chosen if pair[0].case == chosen[0][0].case]
