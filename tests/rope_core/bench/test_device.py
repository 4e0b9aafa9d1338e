"""What a GPU tells, taken in calls that end in time: benchmarks/device.py, here with a small case on the CPU."""

import json
from pathlib import Path

import pytest

from benchmarks import device
from rope_core.bench.cases import SUITES, BenchmarkCase
from rope_core.bench.contestants import Implementation, apply_with_backend

CASES = tuple(BenchmarkCase("cpu", "float32", 1, seq, 2, 2, 8, 8) for seq in (4, 6, 9))


def ours() -> list[Implementation]:
    return [apply_with_backend("eager")]


def test_a_later_call_goes_on_where_the_last_one_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease of no time takes nothing; what was taken comes along as a file, also to a machine that has no other."""
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(CASES))
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    assert device.sweep(first, "tiny", 0.0, 5, ours) == list(CASES) and not (first / device.RECORDS).exists()
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(CASES[:2]))
    assert not device.sweep(first, "tiny", 60.0, 5, ours)
    (second / device.RECORDS).write_bytes((first / device.RECORDS).read_bytes())
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(CASES))
    assert not device.sweep(second, "tiny", 60.0, 5, ours)
    runs = json.loads((second / device.RECORDS).read_text("utf-8"))["runs"]
    taken = [[(row["case"]["seq"], row["state"]) for row in run["results"]] for run in runs]
    assert sorted(taken, key=len) == [[(9, "ok")], [(4, "ok"), (6, "ok")]]
