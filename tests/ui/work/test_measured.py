"""Between the benchmark page and the harness: command lines that the harness reads back, refusals, the switch."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rope_core.bench import view
from rope_core.bench.cases import SUITES, BenchmarkCase
from rope_core.bench.records import BenchmarkDatabase
from rope_core.cli import bench
from rope_core.cli.bench import cases_of
from rope_core.cli.command import parser_of
from rope_core.jobs import queue as jobs
from rope_core.languages import LANGUAGES
from tests.rope_core.bench.test_view import result
from tests.test_pages import opened
from ui.text.words import PageTexts
from ui.work import jobs as work
from ui.work import measured

CASE = BenchmarkCase("cpu", "bfloat16", 3, 40, 6, 2, 48, 32, "interleaved", "bshd", "backward")


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROPE_LAB_RECORDS", str(tmp_path / "records.sqlite3"))
    return tmp_path / "records.sqlite3"


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> jobs.JobQueue:
    """Return a queue of its own with nothing started by anybody else."""
    own = jobs.JobQueue()
    monkeypatch.setattr(jobs, "default_queue", lambda: own)
    return own


@pytest.mark.parametrize("case", [CASE, replace(CASE, direction="forward", inplace=True, layout="half")])
def test_a_shape_survives_the_command_line(case: BenchmarkCase) -> None:
    line = measured.bench_arguments(measured.ONE, case, ["numba", "eager"], 7)
    options = parser_of("bench", bench).parse_args(line)
    assert cases_of(options) == [case]
    assert options.only == ["numba", "eager"] and options.rounds == 7 and options.progress


def test_suites_and_the_interpreter(records: Path) -> None:
    for name in ("quick", "cpu", "gpu"):
        assert cases_of(parser_of("bench", bench).parse_args(measured.bench_arguments(name, CASE, [], 9))) == list(
            SUITES[name]()
        )
        assert measured.chosen_cases(name, CASE) == list(SUITES[name]())
    options = parser_of("bench", bench).parse_args(measured.bench_arguments(measured.INTERPRETER, CASE, ["numba"], 99))
    assert cases_of(options) == [measured.INTERPRETED] and options.only == ["triton"]
    assert Path(options.records).parent == records.parent and Path(options.records) != records


def test_words_for_links_are_unique() -> None:
    source = view.shipped_benchmarks(view.shipped_benchmark_names()[0])
    kinds = measured.case_kinds_by_text(source)
    assert len(kinds) == len(view.case_kinds(source.points))
    assert measured.case_slug(CASE) != measured.case_slug(replace(CASE, direction="forward", inplace=True))
    assert measured.choice_or_fallback("b", "abc", "a") == "b" and measured.choice_or_fallback("<", "abc", "a") == "a"
    points = [p for p in source.points if view.case_without_length(p.case) == view.case_kinds(source.points)[0]]
    assert list(measured.length_choices(points)) == sorted(measured.length_choices(points), key=int)
    assert {p.case.seq for p in measured.timings_at_length(points, measured.length_choices(points)[0])} == {
        min(p.case.seq for p in points)
    }


def test_a_shape_that_does_not_fit_never_reaches_the_queue(queue: jobs.JobQueue, records: Path) -> None:
    huge = BenchmarkCase("cpu", "float32", 4096, 1_048_576, 64, 64, 128, 128)
    with pytest.raises(ValueError, match=r"small enough for the [\d,]+ free bytes, got .1,125,899,906,842,624 bytes"):
        measured.start_benchmark({}, measured.ONE, huge, [], 5, "tuned")
    assert queue.all() == []
    shape = {"batch": "4096", "seq": "1048576", "heads": "1024", "kv_heads": "1024", "head_dim": "1024"}
    at = opened("benchmark", lang="en", open="run", suite="one", **shape)
    at.button(key="benchmark.start").click().run()
    assert any(re.match(r"Not started.*bytes", error.value) for error in at.error)
    assert queue.all() == []


def test_two_sessions_in_the_queue(queue: jobs.JobQueue, records: Path) -> None:
    mine: dict[str, Any] = {}
    yours: dict[str, Any] = {}
    place = measured.PLACE
    assert work.latest_job_status(mine, place) is None and not work.is_active(None)
    try:
        measured.start_benchmark(mine, measured.ONE, CASE, ["eager"], 5, "tuned")
        for _ in range(200):
            if queue.all()[0].state == jobs.RUNNING:
                break
            queue.wait(work.session_jobs(mine)[place], 0.05)
        measured.start_benchmark(yours, measured.ONE, CASE, ["eager"], 5, "tuned")
        first, second = work.latest_job_status(mine, place), work.latest_job_status(yours, place)
        assert first is not None and second is not None
        assert work.job_owner(mine) != work.job_owner(yours)
        assert [s.id for s in work.active_jobs()] == [first.id, second.id]
        assert (work.jobs_ahead(first), work.jobs_ahead(second)) == (0, 1)
        work.cancel_job(yours, place)
        work.cancel_job(mine, place)
        assert queue.wait(work.session_jobs(mine)[place], 120).state == jobs.CANCELLED
        assert work.active_jobs() == []
        assert work.has_just_ended(mine, place) and not work.has_just_ended(mine, place)
    finally:
        queue.close()


def test_a_forgotten_job_is_no_job(queue: jobs.JobQueue) -> None:
    assert work.latest_job_status({work.JOBS: {measured.PLACE: "gone"}}, measured.PLACE) is None
    work.cancel_job({}, measured.PLACE)


def test_what_landed_is_this_runs_only(records: Path) -> None:
    store = BenchmarkDatabase(records)
    first, two = (store.begin_run("one", {}) for _ in range(2))
    store.add(first, result(CASE, "numba", [1.0] * 5))
    store.add(two, result(CASE, "eager", [1.0] * 5))
    status = jobs.JobStatus("j", "o", "t", "running", 0, 0.5, 1.0, "", ({"run": two}, "other"), "", 1.0)
    assert [r.contestant for r in measured.recorded_results(status)] == ["eager"]
    assert measured.recorded_results(jobs.JobStatus("j", "o", "t", "running", 0, 0.5, 1.0, "", (), "", 1.0)) == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_switched_off_it_keeps_the_records(lang: str, monkeypatch: pytest.MonkeyPatch, records: Path) -> None:
    monkeypatch.setenv("ROPE_LAB_BENCH", "off")
    at = opened("benchmark", lang=lang, open="run")
    t = PageTexts(lang, "benchmark")
    assert not at.exception and at.get("plotly_chart")
    assert t("off") in [note.value for note in at.info]
    assert t("start") not in [button.label for button in at.button]


def test_an_empty_machine_and_an_unknown_kind_get_a_sentence(records: Path) -> None:
    t = PageTexts("en", "benchmark")
    at = opened("benchmark", lang="en", source="here")
    assert not at.exception and t("nothing_here") in [note.value for note in at.info]
    at = opened("benchmark", lang="en", kind="no.such", only="nobody,numba")
    assert not at.exception and at.get("plotly_chart")
