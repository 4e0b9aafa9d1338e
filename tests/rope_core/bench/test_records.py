"""Records: round trips, a kill at any moment, comparisons."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import BenchmarkDatabase, CaseResult
from rope_core.bench.statistics import compare_timings, median_interval_trim, summarize_samples

CASE = BenchmarkCase("cpu", "bfloat16", 2, 33, 4, 2, 64, 32, "interleaved", "bshd", "both")
GOOD = CaseResult(CASE, "numba", "ok", "", {"seconds": [0.1, 0.30000000000000004], "floor": [0.1, 0.2], "error": 1e-7})
BAD = CaseResult(CASE, 'other, "quoted"\nname', "wrong", "q errs by 1", {})


def filled(path: Path) -> tuple[BenchmarkDatabase, str]:
    store = BenchmarkDatabase(path)
    run = store.begin_run("one", {"cpu": "a processor", "cores": 2})
    store.add(run, GOOD)
    store.add(run, BAD)
    store.finish(run)
    return store, run


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    store, run = filled(tmp_path / "a.sqlite3")
    assert store.results(run) == [GOOD, BAD]
    (result,) = store.runs()
    assert (result.id, result.run_status, result.suite) == (run, "finished", "one")
    assert result.environment == {"cpu": "a processor", "cores": 2}


def test_exports_come_back_as_they_were(tmp_path: Path) -> None:
    store, run = filled(tmp_path / "a.sqlite3")
    text = store.export_json()
    other = BenchmarkDatabase(tmp_path / "b.sqlite3")
    assert other.import_json(text) == 1
    assert other.import_json(text) == 0
    assert other.results(run) == store.results(run)
    ((was,), (came,)) = store.runs(), other.runs()
    assert (came.id, came.started, came.finished, came.environment) == (
        was.id,
        was.started,
        was.finished,
        was.environment,
    )


def spoiled(**changed: object) -> str:
    """Return an export of one result, something of it changed."""
    result = {"case": json.loads(CASE.key), "contestant": "a", "state": "ok", "reason": "", "data": {}}
    result |= {name: changed.pop(name) for name in ("case", "state") if name in changed}
    run = {"id": "x", "suite": "s", "started": 1.0, "environment": {}, "results": [result]}
    return json.dumps({"format": 1, "runs": [run]} | changed)


BAD_EXPORTS = (
    *("", "{", "[]", spoiled(format=2), spoiled(runs=[{"id": 5}])),
    *(spoiled(case={"device": "tpu"}), spoiled(state="fast")),
)


@pytest.mark.parametrize("text", BAD_EXPORTS)
def test_what_is_no_export_is_refused_whole(text: str, tmp_path: Path) -> None:
    store, run = filled(tmp_path / "a.sqlite3")
    with pytest.raises(ValueError, match="must be"):
        store.import_json(text)
    assert [r.id for r in store.runs()] == [run]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite3").write_text("not a database, " * 100)
    with pytest.raises(ValueError, match="path must be a SQLite file"):
        BenchmarkDatabase(tmp_path / "a.sqlite3")


WRITER = """
import sys
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import CaseResult, BenchmarkDatabase
store = BenchmarkDatabase(sys.argv[1])
run = store.begin_run("endless", {})
for n in range(10**9):
    case = BenchmarkCase("cpu", "float32", 1, n + 1, 1, 1, 2, 2)
    store.add(run, CaseResult(case, "x", "ok", "", {"seconds": [0.5] * 200, "n": n}))
    print(n, flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    rng = np.random.default_rng(0)
    for _ in range(4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.15)))
        writer.send_signal(signal.SIGKILL)
        text = [int(line) for line in writer.stdout.read().splitlines()]
        writer.wait()
        store = BenchmarkDatabase(path)
        run = store.runs()[0]
        kept = [r.data["n"] for r in store.results(run.id)]
        assert run.run_status == "interrupted"
        assert kept == list(range(len(kept))) and len(kept) >= (max(text) + 1 if text else 1)


def test_intervals_hold_the_median_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    for count in (9, 25, 60):
        held = 0
        for _ in range(2000):
            s = summarize_samples(list(rng.exponential(size=count)))
            held += s.low <= np.log(2.0) <= s.high
        assert 0.945 <= held / 2000 <= 1.0
        below = rng.binomial(count, 0.5, 20_000)
        # One more left out at each end would be too many.
        assert (
            2 * np.mean(below <= median_interval_trim(count)) < 0.06
            and 2 * np.mean(below <= median_interval_trim(count) + 1) > 0.045
        )


def test_the_same_distribution_makes_no_difference_and_another_one_does() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(1.0, 0.05, 40), rng.normal(1.0, 0.05, 40)
    assert compare_timings(list(a), list(b)).verdict == "no difference"
    c = compare_timings(list(a), list(1.2 * b))
    assert c.verdict == "a is faster" and c.low > 1 and c.low <= c.ratio <= c.high
    assert compare_timings(list(1.2 * b), list(a)).verdict == "b is faster"


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [float("inf")]])
def test_no_numbers_no_summary(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="samples must be"):
        summarize_samples(samples)
