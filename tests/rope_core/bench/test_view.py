"""Records put together for display: the latest counts, pairs pair, and shipped files agree with the harness."""

from dataclasses import replace
from pathlib import Path

import pytest

from rope_core.bench import view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import all_implementations
from rope_core.bench.records import BenchmarkDatabase, BenchmarkRun, CaseResult

CASE = BenchmarkCase("cpu", "float32", 1, 8, 2, 1, 16, 16)


def result(case: BenchmarkCase, name: str, seconds: list[float], floor: list[float] | None = None) -> CaseResult:
    data = {"seconds": seconds, "floor": floor or [1.0] * len(seconds), "traffic": case.min_bytes_moved, "faults": 0.0}
    return CaseResult(case, name, "ok", "", data | {"error": 0.0, "first_call": 0.0})


def run(name: str, started: float, allocator: str = "tuned") -> BenchmarkRun:
    return BenchmarkRun(name, "one", started, started + 1, {"allocator": allocator, "cpu": "P"}, 0)


def test_names_are_the_harness_own() -> None:
    assert {c.name for c in all_implementations()} == {*view.OURS, *view.PEERS}
    assert set(view.ENTRY.values()) <= set(view.OURS)


def test_the_latest_result_counts_and_a_failure_does_not_hide_a_good_one() -> None:
    old, new = run("a", 1.0), run("b", 2.0)
    failed = CaseResult(CASE, "numba", "error", "broke", {})
    answer = view.merge_runs("x", [(old, [result(CASE, "numba", [3.0] * 5)]), (new, [failed])])
    assert [p.seconds.median for p in answer.points] == [3.0] and answer.refused == ()
    answer = view.merge_runs(
        "x", [(old, [result(CASE, "numba", [3.0] * 5)]), (new, [result(CASE, "numba", [2.0] * 5), failed])]
    )
    assert [p.seconds.median for p in answer.points] == [2.0]
    assert answer.runs[0].id == "b" and answer.hardware == "P"


def test_point_by_hand() -> None:
    case = replace(CASE, direction="both")
    p = view.case_timing(result(case, "numba", [2.0, 4.0, 6.0], [1.0, 1.0, 2.0]), {"allocator": "default"})
    size = 8 * 3 * 16 * 4
    assert (p.seconds.median, p.ratio.median, p.quiet, p.allocator) == (4.0, 3.0, 2.0, "default")
    assert p.floor == 2 * 2 * size / 1.0
    assert p.bandwidth == (2 * (2 * size + 2 * 8 * 8 * 4)) / 4.0


def test_speed_up_pairs_rounds_of_one_run_only() -> None:
    ours = view.case_timing(result(CASE, "numba", [1.0, 2.0, 4.0], [1.0, 2.0, 3.0]), {})
    peer = view.case_timing(result(CASE, "FLA", [3.0, 4.0, 4.0], [1.0, 2.0, 3.0]), {})
    assert view.speedup_over_peer(ours, peer).median == 2.0
    other = view.case_timing(result(CASE, "FLA", [3.0, 4.0, 4.0], [2.0, 4.0, 6.0]), {})
    assert view.speedup_over_peer(ours, other).median == pytest.approx(other.ratio.median / ours.ratio.median)


def test_kinds_and_fault_pairs() -> None:
    long = replace(CASE, seq=64)
    half, whole = replace(CASE, layout="interleaved"), [result(long, "numba", [1.0] * 3), result(CASE, "numba", [1.0])]
    answer = view.merge_runs(
        "x",
        [
            (run("a", 1.0), [*whole, result(half, "numba", [1.0])]),
            (run("b", 2.0, "default"), [result(long, "numba", [5.0] * 3), result(CASE, "numba", [9.0])]),
        ],
    )
    assert view.case_kinds(answer.points) == [view.case_without_length(CASE), view.case_without_length(half)]
    assert [p.case.seq for p in view.case_kind_timings_by_length(answer.points, view.case_without_length(CASE))] == [
        8,
        64,
    ]
    pairs = view.allocator_timing_pairs(answer.points)
    assert [(a.allocator, a.case.seq, b.seconds.median) for a, b in pairs] == [("tuned", 64, 5.0)]
    assert view.allocator_timing_pairs([]) == []


def test_here_is_read_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.sqlite3"
    monkeypatch.setenv("ROPE_LAB_RECORDS", str(path))
    assert view.local_benchmarks().points == () and not path.exists()
    store = BenchmarkDatabase(path)
    name = store.begin_run("one", {"allocator": "tuned"})
    store.add(name, result(CASE, "numba", [1.0]))
    assert len(view.local_benchmarks().points) == 1
    store.add(name, result(CASE, "eager", [1.0]))
    assert len(view.benchmark_source("here").points) == 2


def test_unknown_shipped_name_is_refused() -> None:
    with pytest.raises(ValueError, match="name must be one of"):
        view.shipped_benchmarks("../../etc/passwd")
