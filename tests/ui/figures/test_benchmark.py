"""The benchmark page's figures on drawn samples, against sums written out by hand."""

import json
import re
from dataclasses import replace
from inspect import unwrap
from pathlib import Path

import numpy as np
import pytest

from rope_core.bench import traffic, view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import BenchmarkDatabase, CaseResult
from rope_core.kernels import cpu
from rope_core.languages import LANGUAGES
from tests.support.figures import Row, chart
from tests.support.films import FilmRow
from ui.figures.benchmark import bars, paper, words
from ui.figures.benchmark import times as figures
from ui.film.scene import text_at
from ui.text.words import PageTexts

T = PageTexts("en", "benchmark")
CASE = BenchmarkCase("cpu", "float32", 2, 64, 4, 2, 32, 32)
FACTORS = {"numba": 1.25, "eager": 6.0, "transformers": 5.0, "transformers compiled": 2.0, "mine.py:f": 3.0}


def drawn(case: BenchmarkCase, contestant: str, factor: float, seed: int, faults: float = 0.0) -> CaseResult:
    """Return a result whose time is about ``factor`` times the copy's."""
    rng = np.random.default_rng(seed)
    floor = rng.uniform(1e-3, 2e-3, 21)
    # The same floor for everybody of a case, as one run has it.
    seconds = floor * factor * np.random.default_rng(len(contestant)).uniform(0.95, 1.05, 21)
    data = {"seconds": seconds.tolist(), "floor": floor.tolist(), "traffic": case.min_bytes_moved, "faults": faults}
    return CaseResult(
        case, contestant, "ok", "", data | {"larger_than_cache": False, "error": 1e-7 * factor, "first_call": 0.1}
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> view.BenchmarkSource:
    """Two lengths under the tuned allocator and one under the default one, recorded for real."""
    path = tmp_path_factory.mktemp("figures") / "records.sqlite3"
    store = BenchmarkDatabase(path)
    for allocator, slower in (("tuned", 1.0), ("default", 4.0)):
        run = store.begin_run("one", {"cpu": "A processor", "allocator": allocator, "packages": {"torch": "9.9"}})
        for seq in (64, 4096) if allocator == "tuned" else (4096,):
            for name, factor in FACTORS.items():
                count = 0.0 if allocator == "tuned" else 1000 * factor
                store.add(run, drawn(replace(CASE, seq=seq), name, factor * slower, seq, count))
        gone = CaseResult(CASE, "Liger", "unavailable", "it runs on a GPU only", {})
        store.add(run, gone)
        store.finish(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROPE_LAB_RECORDS", str(path))
        return view.local_benchmarks()


def tuned(source: view.BenchmarkSource, seq: int | None = None) -> list[view.CaseTiming]:
    points = view.case_kind_timings_by_length(source.points, view.case_without_length(CASE))
    return points if seq is None else [p for p in points if p.case.seq == seq]


def test_curves_are_bytes_over_median_seconds(source: view.BenchmarkSource) -> None:
    drawing = figures.bandwidth_chart(tuned(source), "here", T)
    by_name = {trace.name: trace for trace in chart(drawing).data}
    assert len(by_name) == 1 + len(FACTORS)
    for seq, place in ((64, 0), (4096, 1)):
        case = replace(CASE, seq=seq)
        floor = np.random.default_rng(seq).uniform(1e-3, 2e-3, 21)
        size = 2 * seq * 6 * 32 * 4
        assert by_name[T("copy")].x[place] == pytest.approx(size / 1e6)
        assert by_name[T("copy")].y[place] == pytest.approx(2 * size / np.median(floor) / 1e9)
        seconds = floor * 6.0 * np.random.default_rng(len("eager")).uniform(0.95, 1.05, 21)
        tables = 2 * seq * 16 * 4
        assert by_name[T("who.eager")].y[place] == pytest.approx((2 * size + tables) / np.median(seconds) / 1e9)
        assert case.tensor_bytes == size
    ours = next(p for p in tuned(source, 4096) if p.contestant == "numba").ratio.median
    assert f"takes {ours:.2f} times" in drawing.finding and "6.29 MB" in drawing.finding


def test_three_lines_lead_and_are_named_at_their_ends(source: view.BenchmarkSource) -> None:
    shown = chart(figures.bandwidth_chart(tuned(source), "here", T, all_contestants=False))
    sizes = np.log10([x for trace in shown.data for x in trace.x])
    left, right = shown.layout.xaxis.range
    assert sizes.min() - 0.2 < left < sizes.min() and sizes.max() < right < sizes.max() + 0.2
    names = [T("copy"), T("who.numba"), T("who.transformers")]
    assert [trace.name for trace in shown.data] == names
    assert [each.text for each in shown.layout.annotations] == [f"<b>{name}</b>" for name in names]


def test_speed_ups_name_the_round_by_round_ratio(source: view.BenchmarkSource) -> None:
    drawing = figures.speed_up_chart(tuned(source, 64), "here", T)
    noise = {n: np.random.default_rng(len(n)).uniform(0.95, 1.05, 21) for n in FACTORS}
    for name in set(FACTORS) - {"numba"}:
        expected = np.median(FACTORS[name] * noise[name] / (1.25 * noise["numba"]))
        assert f"{words.implementation_name(name, T)}  {expected:.2f}×" in chart(drawing).data[0].y
    assert "transformers, compiled" in drawing.finding and "times as fast" in drawing.finding


@pytest.mark.parametrize(("factor", "verdict"), [(0.4, "faster"), (1.25, "same"), (9.0, "slower")])
def test_the_sentence_knows_slower_from_no_difference(factor: float, verdict: str) -> None:
    peer = view.case_timing(drawn(CASE, "FLA", 1.25, 1), {})
    ours = view.case_timing(drawn(CASE, "numba", factor, 1), {})
    text = figures.speed_up_chart([ours, peer], "here", T).finding
    mark = {"faster": "times as fast", "same": "no difference", "slower": "is slower than"}
    assert mark[verdict] in text
    assert [word for word in mark.values() if word in text] == [mark[verdict]]


def test_errors_are_named_from_the_least_to_the_greatest(source: view.BenchmarkSource) -> None:
    drawing = figures.error_and_time_chart(tuned(source, 64), "here", T)
    assert "1.2·10⁻⁷ (our numba kernel) to 6.0·10⁻⁷ (eager torch)" in drawing.finding


@pytest.mark.parametrize("tokens", [1, 131_072])
def test_bytes_on_paper(tokens: int) -> None:
    drawing = paper.traffic_chart(tokens, 100.0, T)
    size = tokens * 40 * 128 * 2
    widths: dict[str, float] = {}
    for trace in chart(drawing).data:
        for name, width in zip(trace.y, trace.x, strict=True):
            widths[name] = widths.get(name, 0.0) + width
    expected = {"transformers": 10, "Liger": 4, "FLA": 3, "ours": 2}
    assert widths == {T(f"path.{name}"): pytest.approx(times * size / 1e6) for name, times in expected.items()}
    assert words.seconds_text(10 * size / 1e11) in drawing.finding
    np.testing.assert_allclose(np.asarray(drawing.table()["seconds"]), [n * size / 1e11 for n in expected.values()])


def test_paper_beside_the_record(source: view.BenchmarkSource) -> None:
    largest = paper.largest_forward_timings(source.points)
    assert {p.case.seq for p in largest} == {4096} and {p.allocator for p in largest} == {"tuned"}
    drawing = paper.paper_and_measured_time_chart(largest, "here", T)
    assert drawing is not None
    assert sorted(chart(drawing).data[0].y) == [1.0, 5.0]
    assert "should take 5 times the copy" in drawing.finding
    backward = [view.case_timing(drawn(replace(CASE, direction="backward"), "numba", 1.0, 1), {})]
    assert paper.paper_and_measured_time_chart(backward, "here", T) is None
    assert paper.largest_forward_timings(backward) == []


def test_page_faults_pair_the_allocators(source: view.BenchmarkSource) -> None:
    pairs = view.allocator_timing_pairs(source.points)
    assert len(pairs) == len(FACTORS) and {a.allocator for a, _ in pairs} == {"tuned"}
    drawing = paper.page_fault_chart(pairs, "here", T)
    quick, plain = chart(drawing).data
    assert np.all(np.asarray(plain.x) / np.asarray(quick.x) == pytest.approx(4.0))
    assert "6,000 minor page faults" in drawing.finding
    for label, count in zip(plain.y, sorted(p.faults for _, p in pairs), strict=True):
        assert label.endswith(f"<br>{count:,.0f} faults")
    assert not chart(drawing).layout.annotations


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words_about_a_source(source: view.BenchmarkSource, lang: str) -> None:
    t = PageTexts(lang, "benchmark")
    text = words.source_provenance(source, t)
    assert "A processor" in text and "torch 9.9" in text and re.search(r"20\d\d-\d\d-\d\d", text)
    assert "Liger" in words.missing_implementations_note(source, t) and "FLA" not in words.missing_implementations_note(
        source, t
    )
    assert words.cached_buffers_note(source.points, source, t) and not words.cached_buffers_note([], source, t)
    assert "30" in words.run_progress_text(0.3, 12.0, 1.0, t) and "12" in words.run_progress_text(0.3, 12.0, 1.0, t)
    assert "7" in words.run_progress_text(None, None, 7.0, t)
    table = words.results_table([drawn(CASE, "numba", 2.0, 1), CaseResult(CASE, "FLA", "wrong", "off by 1", {})], t)
    assert all(len(column) == 2 for column in table.values())
    assert table[t("column.reason")] == ["", "off by 1"] and table[t("column.time")][1] == ""


def test_every_path_and_contestant_has_a_name() -> None:
    for lang in LANGUAGES:
        t = PageTexts(lang, "benchmark")
        assert all(t.has_label(f"who.{name}") for name in (*view.OURS, *view.PEERS))
        assert all(t.has_label(f"path.{name}") for name in traffic.PATHS)


def test_the_shipped_record_draws_and_names_no_machine() -> None:
    assert view.shipped_benchmark_names()
    for name in view.shipped_benchmark_names():
        source = view.shipped_benchmarks(name)
        for kind in view.case_kinds(source.points):
            points = view.case_kind_timings_by_length(source.points, kind)
            assert chart(figures.bandwidth_chart(points, name, T)).data
        text = (Path(view.SHIPPED) / f"{name}.json").read_text("utf-8")
        assert not re.search(r"/home/|/work|/tmp|hostname|\b\d+\.\d+\.\d+\.\d+\b", text)


SHIPPED = view.shipped_benchmarks("intel-xeon")
POINTS = paper.largest_forward_timings(SHIPPED.points)


def paths(t: PageTexts) -> str:
    """q and k of 500 tokens, 32 + 8 heads of 128, two bytes each."""
    case, size = BenchmarkCase("cpu", "bfloat16", 1, 500, 32, 8, 128, 128), 500 * 40 * 128 * 2
    eager, ours = (traffic.traffic_per_element(name) * size for name in ("transformers", "ours"))
    assert case.tensor_bytes == size
    return t(
        "paths_finding",
        tokens="500",
        size=words.byte_count_text(size),
        eager=words.byte_count_text(eager),
        ours=words.byte_count_text(ours),
        rate="50",
        slow=words.seconds_text(eager / 50e9),
        fast=words.seconds_text(ours / 50e9),
    )


KIND = view.case_kind_timings_by_length(SHIPPED.points, view.case_kinds(SHIPPED.points)[0])
ONE_CASE = [point for point in KIND if point.case == KIND[-1].case]
ROWS = [
    Row("benchmark", paper.traffic_chart, (500, 50.0), paths),
    Row("benchmark", paper.paper_and_measured_time_chart, (POINTS, "intel-xeon")),
    Row("benchmark", paper.page_fault_chart, (view.allocator_timing_pairs(SHIPPED.points), "intel-xeon")),
    Row("benchmark", figures.bandwidth_chart, (KIND, "intel-xeon")),
    Row("benchmark", figures.speed_up_chart, (ONE_CASE, "intel-xeon")),
    Row("benchmark", figures.error_and_time_chart, (ONE_CASE, "intel-xeon")),
]


XEON = view.benchmark_source("intel-xeon")
FILMS = [FilmRow("benchmark", bars.time_over_copy_film, (tuple(XEON.points), XEON.hardware), {"at": 2048})]


def test_a_bar_is_as_long_as_the_record_has_it() -> None:
    shipped = json.loads((Path(view.__file__).parent / "records/intel-xeon.json").read_text("utf-8"))
    wanted = {}
    for run in shipped["runs"]:
        for each in run["results"]:
            case = BenchmarkCase.from_key(each["case"])
            plain = replace(BenchmarkCase("cpu", "float32", 1, 2048, 32, 32, 128, 128), seq=case.seq)
            if case == plain and run["environment"].get("allocator") == "tuned" and each["state"] == "ok":
                pairs = zip(each["data"]["seconds"], each["data"]["floor"], strict=True)
                wanted[case.seq, each["contestant"]] = float(np.median([took / copy for took, copy in pairs]))
    film = unwrap(bars.time_over_copy_film)(tuple(XEON.points), XEON.hardware, T)
    (control,) = film.scene.controls
    assert control.stops == (1, 16, 128, 512, 2048)
    for panel in film.scene.panels:
        ours, copy, peer = (mark for mark in panel.marks if mark["kind"] == "rect")
        for k, tokens in enumerate(control.stops):
            assert ours["x1"].numbers_at({"at": k}) == pytest.approx([wanted[tokens, "numba"]], rel=1e-9)
            assert peer["x1"].numbers_at({"at": k}) == pytest.approx([wanted[tokens, "transformers"]], rel=1e-9)
            assert copy["x1"].numbers_at({"at": k}) == 1.0
    assert "0.76" in film.scene.finding_at({"at": 2048}) and "10 copies" in film.scene.finding_at({"at": 1})


def test_the_words_beside_our_bar_give_the_prepared_call_s_time_below_16_mib() -> None:
    assert bars.STREAM_BYTES == cpu.STREAM_BYTES
    prepared = {n: each["numba (bound)"].ratio.median for n, each in bars.timings_by_tokens(XEON.points).items()}
    panel = unwrap(bars.time_over_copy_film)(tuple(XEON.points), XEON.hardware, T).scene.panels[0]
    texts = [mark["content"] for mark in panel.marks if mark["kind"] == "text"]
    for k, tokens in enumerate((1, 16, 128, 512, 2048)):
        wanted = T("way.prepared", ratio=f"{prepared[tokens]:.2g}") if tokens < 512 else T("way.numba").replace("|", "")
        assert wanted in [text_at(each, {"at": k}) for each in texts]


def test_the_start_of_a_call_is_named_where_it_takes_most_of_the_time() -> None:
    timings = bars.timings_by_tokens(XEON.points)
    assert [n for n, each in timings.items() if bars.is_bound_by_start(each)] == [1, 16]
