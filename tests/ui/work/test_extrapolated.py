"""Between the extrapolation page and the lab: requests, texts, the queue, what is kept, and records that are absent."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rope_core.jobs import queue as jobs
from rope_core.lab import cards, records
from rope_core.lab.cards import WeightsCard
from rope_core.lab.job import KINDS, run_measurement
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import GOING, HERE, SHIPPED
from rope_core.languages import LANGUAGES
from tests.support import lab_results as made
from tests.test_pages import opened, specs
from ui.text.words import PageTexts
from ui.work import extrapolated
from ui.work import jobs as work
from ui.work.session import IncompatibleValues


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, WeightsCard]:
    """Return an index of weights of its own."""
    result = {name: made.card(name) for name in ("rope-0", "rope-1")}
    result |= {"alibi-0": made.card("alibi-0", "alibi"), "rope-0-linear": made.card("rope-0-linear", start="rope-0")}
    result |= {"rope-0-passkey": made.card("rope-0-passkey", start="rope-0", task="passkey")}
    monkeypatch.setattr(cards, "weights_cards", lambda: result)
    return result


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[jobs.JobQueue]:
    """Return a queue of its own whose jobs answer without a model, and nothing kept from before."""
    own = jobs.JobQueue()
    monkeypatch.setattr(jobs, "default_queue", lambda: own)
    monkeypatch.setattr(extrapolated, "MODULE", "tests.support.lab_child")
    extrapolated.KEPT.clear()
    yield own
    own.close()


def finished(queue: jobs.JobQueue, session: dict[str, Any], panel: str = "sweep") -> jobs.JobStatus:
    return queue.wait(work.session_jobs(session)[panel], 30)


def test_reading_and_drawing_records_loads_no_torch() -> None:
    modules = (
        "ui.work.extrapolated",
        "rope_core.lab.view",
        "ui.figures.extrapolation.curves",
        "ui.figures.extrapolation.handling",
    )
    lines = [*(f"import {name}" for name in modules), "import sys", "print('torch' in sys.modules)"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_requests_differ_by_everything_that_their_results_depend_on(index: dict[str, WeightsCard]) -> None:
    def key(text: bytes = b"", **other: Any) -> object:
        sentence: dict[str, Any] = {"factor": None, "base": 1e4, "params": {"beta_fast": 32.0}} | other
        name, longest, documents = (
            sentence.pop(k, v) for k, v in (("name", "rope-0"), ("longest", 256), ("documents", 3))
        )
        return extrapolated.sweep_request(name, longest, documents, text=text, **sentence).key

    same = key()
    changed = [
        key(name="rope-1"),
        key(longest=128),
        key(documents=4),
        key(factor=2.0),
        key(base=5e4),
        key(params={"beta_fast": 16.0}),
        key(b"some text"),
        key(b"some other text"),
    ]
    assert len({same, *changed}) == 9
    assert key() == same and key(params={"beta_fast": 32.0, "attention_factor": None}) == same
    index["rope-0"] = dataclasses.replace(index["rope-0"], sha256="f" * 64)
    assert key() != same, "retrained weights are another request"


def test_a_text_never_stands_in_its_key(index: dict[str, WeightsCard]) -> None:
    wanted = extrapolated.sweep_request("rope-0", 64, 1, factor=None, base=1e4, params={}, text=b"a secret sentence")
    assert "secret" not in repr(wanted.key)
    assert wanted.values == {"weights": ["rope-0"], "lengths": [64], "documents": 1}


@pytest.mark.parametrize("panel", [name for name in extrapolated.PANELS if name != "sweep"])
def test_every_panel_asks_for_a_kind_of_work_that_takes_its_arguments(panel: str) -> None:
    kind = extrapolated.PANELS[panel].kind
    assert kind in KINDS
    wanted = extrapolated.panel_request(panel, weights=["no such weights"])
    with pytest.raises(ValueError, match=r"weights must be one of|nothing is shipped"):
        # Whatever else is refused would be an argument that the work does not take.
        next(run_measurement(kind, wanted.values))


@pytest.mark.parametrize(
    ("text", "length", "key", "numbers"),
    [
        (b"", 256, "text_empty", ["257", "256"]),
        (b"x" * 256, 256, "text_tiny", ["256", "257"]),
        (b"x" * 5_000_001, 256, "text_huge", ["5,000,001", "5,000,000"]),
        (b"x" * 200_000, 90_000, "text_long", ["90,000", "89,999"]),
    ],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_that_do_not_do_are_answered_with_their_numbers(
    text: bytes, length: int, key: str, numbers: list[str], lang: str
) -> None:
    with pytest.raises(IncompatibleValues) as refused:
        extrapolated.text_within_limits(text, length, 8)
    assert refused.value.key == key
    sentence = PageTexts(lang, "extrapolation")(refused.value.key, **refused.value.given)
    assert all(number in sentence for number in numbers)


def test_the_first_documents_of_a_text_are_read_and_fit_into_an_argument() -> None:
    text = bytes(np.random.default_rng(0).integers(0, 256, 300_000, dtype=np.uint8))
    used = extrapolated.text_within_limits(text, 256, 4)
    assert used == text[: 4 * 257]
    assert extrapolated.text_usage_slots(text, used, 256) == {
        "size": "300,000",
        "used": "1,028",
        "each": "257",
        "count": "4",
    }
    assert extrapolated.text_within_limits(text[:600], 256, 4) == text[:514]
    most = extrapolated.text_within_limits(text, 2048, 4096)
    assert len(most) % 2049 == 0
    assert len(extrapolated.experiment_request("sweep", most, weights=["rope-0"]).argument) < 128 * 1024
    with pytest.raises(IncompatibleValues):
        extrapolated.check_held_out_length(4097)
    extrapolated.check_held_out_length(4096)


def test_results_are_found_by_their_request_alone(queue: jobs.JobQueue, index: dict[str, WeightsCard]) -> None:
    mine: dict[str, Any] = {}
    yours: dict[str, Any] = {}
    wanted = extrapolated.experiment_request("sweep", b"\x00\xff\x07", documents=4)
    assert extrapolated.measured_results(mine, "sweep", wanted) is None
    extrapolated.start_measurement(mine, "sweep", wanted, "a title")
    assert finished(queue, mine).state == jobs.DONE
    result = extrapolated.measured_results(mine, "sweep", wanted)
    assert result is not None and result.origin == HERE
    assert result.results == ({"kind": "sweep", "asked": {"documents": 4}}, {"read": 3, "sum": 262})
    assert (
        extrapolated.measured_results(
            mine, "sweep", extrapolated.experiment_request("sweep", b"\x00\xff\x08", documents=4)
        )
        is None
    )
    assert extrapolated.measured_results(mine, "sweep", extrapolated.experiment_request("sweep", documents=4)) is None
    again = extrapolated.measured_results(yours, "sweep", wanted)
    assert again is not None and again.results == result.results, "the same text and settings need no second run"
    assert all(status.title == "a title" for status in queue.all())


def test_running_work_shows_what_it_has_and_is_cancelled(queue: jobs.JobQueue, index: dict[str, WeightsCard]) -> None:
    mine: dict[str, Any] = {}
    yours: dict[str, Any] = {}
    slow = extrapolated.experiment_request("sweep", documents=1)
    extrapolated.start_measurement(mine, "sweep", slow, "slow")
    while not (status := work.latest_job_status(mine, "sweep")) or not status.results:
        assert (
            work.is_active(work.latest_job_status(mine, "sweep")) and extrapolated.refresh_seconds(mine, "sweep") == 1.0
        )
    part = extrapolated.measured_results(mine, "sweep", slow)
    assert part is not None and part.origin == GOING and len(part.results) == 1
    assert extrapolated.measured_results(yours, "sweep", slow) is None, "unfinished work is its owner's"
    other = extrapolated.experiment_request("sweep", documents=5)
    assert extrapolated.measured_results(mine, "sweep", other) is None, "results of another request are not shown"
    extrapolated.start_measurement(yours, "sweep", other, "waits")
    waiting = work.latest_job_status(yours, "sweep")
    assert waiting is not None and waiting.state == jobs.WAITING and work.jobs_ahead(waiting) == 1
    assert not work.has_just_ended(mine, "sweep")
    work.cancel_job(mine, "sweep")
    assert finished(queue, mine).state == jobs.CANCELLED and finished(queue, yours).state == jobs.DONE
    assert work.has_just_ended(mine, "sweep") and not work.has_just_ended(mine, "sweep")
    assert extrapolated.refresh_seconds(mine, "sweep") is None
    assert extrapolated.measured_results(yours, "", slow) is None, "what was cut short is kept for nobody"


def test_the_page_says_how_its_work_goes(queue: jobs.JobQueue) -> None:
    t, busy = PageTexts("en", "extrapolation"), dict[str, Any]()
    extrapolated.start_measurement(busy, "sweep", extrapolated.experiment_request("sweep", documents=7), "before")
    at = opened("extrapolation", lang="en", open="live", documents="7", longest="256")
    at.button(key="extrapolation.start.sweep").click().run()
    assert any(t("waiting", ahead=1) in each.value for each in at.markdown)
    work.cancel_job(busy, "sweep")
    job = queue.all()[1].id
    while queue.status(job).progress is None:
        pass
    at.run()
    (bar,) = (each.proto.value for each in at.get("progress") if "%" in each.proto.text)
    assert bar == 50
    at.button(key="extrapolation.cancel.sweep").click().run()
    assert queue.wait(job, 30).state == jobs.CANCELLED
    assert t("cancelled") in [each.value for each in at.run().info]


def test_what_a_reloaded_page_left_is_taken_up_again(queue: jobs.JobQueue, index: dict[str, WeightsCard]) -> None:
    before: dict[str, Any] = {work.OWNER: "browser"}
    beside: dict[str, Any] = {work.OWNER: "another"}
    after: dict[str, Any] = {work.OWNER: "browser", work.TAB: "tab"}
    slow = extrapolated.experiment_request("sweep", documents=1)
    extrapolated.start_measurement(before, "sweep", slow, "slow")
    while not (status := work.latest_job_status(before, "sweep")) or not status.results:
        pass
    extrapolated.start_measurement(beside, "sweep", slow, "beside")
    assert work.session_jobs(beside) != work.session_jobs(before), "work stays its owner's"
    work.cancel_job(beside, "sweep")
    extrapolated.start_measurement(after, "sweep", slow, "again")
    assert work.session_jobs(after) == work.session_jobs(before)
    result = extrapolated.measured_results(after, "sweep", slow)
    assert result is not None and result.origin == GOING
    queue.cancel_abandoned("tab")
    assert finished(queue, before).state == jobs.CANCELLED, "it ends with the page that looks at it now"
    extrapolated.start_measurement(after, "sweep", slow, "anew")
    assert work.session_jobs(after) != work.session_jobs(before)
    work.cancel_job(after, "sweep")


def test_work_that_fails_says_why(queue: jobs.JobQueue, index: dict[str, WeightsCard]) -> None:
    mine: dict[str, Any] = {}
    wanted = extrapolated.experiment_request("sweep", documents=2)
    extrapolated.start_measurement(mine, "sweep", wanted, "fails")
    assert "at most 4,096" in finished(queue, mine).error
    assert (
        extrapolated.measured_results({}, "sweep", wanted) is None
        and extrapolated.refresh_seconds(mine, "sweep") is None
    )


def test_what_weights_there_are(index: dict[str, WeightsCard]) -> None:
    assert extrapolated.shipped_rotary_models() == ("rope-0", "rope-1")
    assert extrapolated.first_model_per_encoding() == ("rope-0", "alibi-0")
    assert extrapolated.first_rotary_family() == ("rope-0", "rope-0-linear")
    assert extrapolated.first_rotary_trained_length() == 64
    assert '"weights": ["rope-0", "rope-1"]' in extrapolated.measure_command("seeds")
    assert '"weights": ["rope-0", "alibi-0"]' in extrapolated.measure_command("encodings")
    index.clear()
    assert extrapolated.shipped_rotary_models() == ("",) and extrapolated.first_model_per_encoding() == ()


def test_recipes_of_own_measurements_name_the_work_and_the_text() -> None:
    plain = extrapolated.measurement_recipe(extrapolated.experiment_request("stale", documents=3))
    assert "run_measurement('stale', request)" in plain and "'documents': 3" in plain
    exec(plain.partition("\n")[0], {})
    compile(plain, "recipe", "exec")
    own = extrapolated.measurement_recipe(extrapolated.experiment_request("sweep", b"x" * 99, documents=3))
    assert "read_bytes()[:99]" in own and "x" * 9 not in own
    compile(own, "recipe", "exec")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder of records."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    records.shipped_record.cache_clear()
    yield tmp_path
    records.shipped_record.cache_clear()


def put(shelf: Path, name: str, results: tuple[dict[str, Any], ...]) -> None:
    record = made.seen(results, name).record
    assert record is not None
    records.write_record(record, shelf / f"{name}.json")


def test_absent_and_broken_records_are_no_records(shelf: Path) -> None:
    assert extrapolated.shipped_results("sweep") is None
    (shelf / "sweep.json").write_text("{", "utf-8")
    assert extrapolated.shipped_results("sweep") is None
    put(shelf, "stale", made.stale())
    seen = extrapolated.shipped_results("stale")
    assert seen is not None and seen.origin == SHIPPED and len(seen.results) == 3
    scope: dict[str, Any] = {}
    exec(seen.code, scope)
    assert scope["results"] == seen.results


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_without_records_says_how_to_make_them(shelf: Path, lang: str) -> None:
    at = opened("extrapolation", lang=lang, open="all")
    # Weights need no record: which pairs they use is drawn.
    drawn = [chart.proto.id.rpartition(".")[2] for chart in at.get("plotly_chart")]
    assert not at.exception and drawn == ["pairs"]
    assert any(each.value.startswith("rope lab record sweep sweep") for each in at.code)
    assert [each.value for each in at.info].count(PageTexts(lang, "extrapolation")("not_recorded")) >= 8


ALL = {
    "sweep": made.sweep,
    "sweep-seeds": lambda: made.sweep(0, ("rope-0", "rope-1"), lengths=(256,)),
    "encodings": lambda: tuple(e | {"weights": w} for w in ("rope-0", "alibi-0") for e in made.sweep()[:8:8]),
    "retrieval": made.retrieval,
    "stale": made.stale,
    "generate": made.generated,
}


def test_the_page_draws_every_record_and_shows_text_as_text(shelf: Path) -> None:
    for name, results in ALL.items():
        put(shelf, name, results())
    at = opened("extrapolation", lang="en", open="all")
    assert not at.exception
    assert len(specs(at)) == 7
    assert any(each.value == f"<script>{made.LENGTHS[1]}</script>`{made.KEYS[0]}`" for each in at.code)
    assert not any("<script>" in each.value for each in at.markdown)
    assert any(made.HASH[:10] in each.value for each in at.caption)


def test_measuring_can_be_switched_off(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPE_LAB_MEASURE", "off")
    at = opened("extrapolation", lang="en", open="all")
    assert not at.exception
    assert not any(button.label in ("Measure", "Measure it here") for button in at.button)


@pytest.mark.long
def test_a_real_model_answers() -> None:
    names = extrapolated.shipped_rotary_models()
    if not names[0]:
        pytest.skip("no trained weights are in the package")
    mine: dict[str, Any] = {}
    text = Path(__file__).read_bytes()
    wanted = extrapolated.sweep_request(names[0], 256, 2, factor=None, base=1e4, params={}, text=text[:514])
    extrapolated.start_measurement(mine, "sweep", wanted, "real")
    assert jobs.default_queue().wait(work.session_jobs(mine)["sweep"], 300).state == jobs.DONE
    seen = extrapolated.measured_results(mine, "sweep", wanted)
    assert seen is not None and [each["line"] for each in seen.results] == [each.key for each in scheme_lines()]
    assert all(each["documents"] == 2 and each["last"][0] < 256 for each in seen.results)
