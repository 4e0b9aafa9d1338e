"""Between the extrapolation page and the lab: records to show, work to start, and its status."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cachetools import LRUCache

from rope_core.comparisons.measured import Contrast, contrast_by_check
from rope_core.jobs import queue as jobs
from rope_core.lab import cards, records, view
from rope_core.lab.job import REQUEST_ENV
from rope_core.lab.records import MeasurementRecord
from rope_core.lab.results import GOING, HERE, SHIPPED, ExperimentRequest, ExperimentResults, RequestKey, ResultRecords
from rope_core.lab.shape import ModelShape
from rope_core.rope import Rope
from rope_core.schemes import UNSCALED
from ui.work.jobs import (
    active_jobs,
    is_active,
    job_memory_limit,
    job_owner,
    latest_job_status,
    session_jobs,
    waiting_tab,
)
from ui.work.session import IncompatibleValues, SessionState

MODULE = "rope_core.lab.job"
TIME_LIMIT, SILENCE_LIMIT = 1800.0, 600.0
MAX_TEXT = 5 * 10**6
# A process takes its request as one variable, which Linux bounds at 128 KiB; base64 makes 4 bytes of 3.
MOST_READ = 90_000
HELD_OUT = 4096
MOST_KEPT, MOST_KNOWN = 32, 256


RecipeFunction = Callable[..., Any]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the page.

    Attributes:
        kind: of work, a name in rope_core.lab.job.KINDS.
        record: the shipped record's name.
        quick: what a run from the page asks for where the visitor sets nothing else.
        beside: shipped records that are drawn with it.
    """

    kind: str
    record: str
    quick: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


PANELS = {
    "sweep": Experiment("sweep", "sweep"),
    "seeds": Experiment("sweep", "sweep-seeds", {"lengths": (2048,), "documents": 8}),
    "encodings": Experiment("sweep", "encodings", {"lengths": (256, 512, 1024, 2048), "documents": 8}),
    "finetuned": Experiment("sweep", "finetuned", {"lengths": (2048,), "documents": 8}),
    "retrieval": Experiment("retrieval", "retrieval"),
    "recall": Experiment("recall", "recall", {"trials": 4}, ("recall-window",)),
    "stale": Experiment("stale", "stale", {"factor": 4.0}),
    "generate": Experiment("generate", "generate"),
}


def experiment_request(kind: str, text: bytes = b"", **values: Any) -> ExperimentRequest:
    """Return a request of a kind; None values are left to the lab's defaults."""
    arguments = json.dumps({k: v for k, v in values.items() if v is not None}, sort_keys=True)
    return ExperimentRequest(kind, arguments, text, tuple(each.sha256 for each in cards.weights_cards().values()))


DrawResults = Callable[[ExperimentResults], None]


def shipped_record_or_none(name: str) -> MeasurementRecord | None:
    """Return a shipped record; None where there is none, or it cannot be read."""
    try:
        return records.shipped_record(name) if name in records.shipped_record_names() else None
    except (ValueError, TypeError, KeyError, OSError):
        return None


def shipped_results(name: str) -> ExperimentResults | None:
    """Return a shipped record's results, to draw."""
    record = shipped_record_or_none(name)
    if record is None:
        return None
    code = f"from rope_core.lab import records\nresults = records.shipped_record({name!r}).results"
    return ExperimentResults(record.results, SHIPPED, record, code)


@lru_cache(maxsize=1)
def shipped_contrasts_by_check() -> Mapping[str, Contrast]:
    """Return what the shipped sweep read of schemes that hold a check beside others, by the check's key."""
    sweep = shipped_results("sweep")
    return {} if sweep is None else contrast_by_check(view.read_cells(sweep.results), first_model_rope(sweep))


def combined_shipped_results(*names: str) -> ExperimentResults | None:
    """Results of shipped records on the same documents, to draw in one figure; None without the first."""
    first = shipped_results(names[0])
    if first is None:
        return None
    parts = [first, *(each for each in map(shipped_results, names[1:]) if each is not None)]
    joined = " + ".join(f"records.shipped_record({each!r}).results" for each in names if shipped_record_or_none(each))
    results = tuple(result for each in parts for result in each.results)
    return ExperimentResults(results, SHIPPED, first.record, f"from rope_core.lab import records\nresults = {joined}")


def measure_command(panel: str) -> str:
    """Return the command line that measures a panel's record."""
    wanted = panel_request(panel)
    return f"rope lab record {PANELS[panel].record} {wanted.kind} '{wanted.arguments}'"


KEPT: LRUCache[RequestKey, ResultRecords] = LRUCache(MOST_KEPT)
"""Results of this process by their request's key, the latest used; numbers and the lab's own text only."""
REQUESTS: LRUCache[str, RequestKey] = LRUCache(MOST_KNOWN)
"""The keys of requests by the jobs of this process."""
TURN = threading.Lock()


def is_measuring_allowed() -> bool:
    """Whether this app measures: ROPE_LAB_MEASURE=off keeps the records only."""
    return os.environ.get("ROPE_LAB_MEASURE") != "off"


def start_measurement(session: SessionState, panel: str, request: ExperimentRequest, title: str) -> None:
    """Queue a panel's work, or take up what this browser's page has left before it was loaded again.

    Raises ValueError where the queue takes no more.
    """
    with TURN:
        mine = [
            each.id
            for each in active_jobs()
            if each.owner == job_owner(session) and REQUESTS.get(each.id) == request.key
        ]
    job = (
        mine[0]
        if mine
        else jobs.default_queue().submit(
            MODULE,
            [request.kind, "-"],
            owner=job_owner(session),
            tab=waiting_tab(session),
            title=title,
            memory_limit=job_memory_limit(),
            env={REQUEST_ENV: request.argument},
            time_limit=TIME_LIMIT,
            silence_limit=SILENCE_LIMIT,
        )
    )
    jobs.default_queue().reassign_tab(job, waiting_tab(session))
    session_jobs(session)[panel] = job
    with TURN:
        REQUESTS[job] = request.key


def refresh_seconds(session: SessionState, panel: str) -> float | None:
    """Seconds between two looks at a panel, or None where nothing will change."""
    return 1.0 if is_active(latest_job_status(session, panel)) else None


def measured_results(session: SessionState, panel: str, wanted: ExperimentRequest) -> ExperimentResults | None:
    """Return what was measured here for a request: all of it, or as far as the session's running work has come.

    Finished work is kept for all sessions.
    """
    status = latest_job_status(session, panel)
    with TURN:
        key = REQUESTS.get(status.id) if status else None
        if status and key and status.state == jobs.DONE:
            KEPT.setdefault(key, status.results)
        results = KEPT.get(wanted.key)
    if results is not None:
        return ExperimentResults(results, HERE, None, measurement_recipe(wanted), wanted)
    if status and status.results and key == wanted.key:
        return ExperimentResults(status.results, GOING, None, measurement_recipe(wanted), wanted)
    return None


def measurement_recipe(wanted: ExperimentRequest) -> str:
    """Python lines that measure a request again."""
    lines_ = ["from rope_core.lab.job import run_measurement", f"request = {wanted.values!r}"]
    if wanted.text:
        lines_ = [
            "import base64",
            "from pathlib import Path",
            *lines_,
            f"text = Path('text.txt').read_bytes()[:{len(wanted.text)}]",
            "request['text'] = base64.b64encode(text)",
        ]
    return "\n".join([*lines_, f"results = [result for _, result in run_measurement({wanted.kind!r}, request)]"])


def shipped_rotary_models() -> tuple[str, ...]:
    """Names of the shipped rotary weights that were trained on text from the start; ("",) where there are none."""
    names = [
        each.name
        for each in cards.weights_cards().values()
        if (each.encoding, each.task, each.recipe.start) == ("rope", "text", "")
    ]
    return tuple(names) or ("",)


def first_model_per_encoding() -> tuple[str, ...]:
    """Names of one model per encoding, the rotary one first."""
    names: dict[str, str] = {}
    for each in cards.weights_cards().values():
        if each.is_trained_from_scratch:
            names.setdefault(each.encoding, each.name)
    return tuple(sorted(names.values(), key=lambda name: (name not in shipped_rotary_models(), name)))


def first_rotary_family() -> tuple[str, ...]:
    """Names of the first rotary model and of what was fine-tuned from it on text."""
    first = shipped_rotary_models()[0]
    return (
        first,
        *(
            c.name
            for c in cards.weights_cards().values()
            if c.recipe.start == first and c.task == "text" and c.encoding == "rope"
        ),
    )


def doubled_lengths(trained_length: int, max_length: int) -> tuple[int, ...]:
    """Return the trained length, doubled up to the longest.

    >>> doubled_lengths(256, 1024)
    (256, 512, 1024)
    """
    lengths = []
    length = trained_length
    while length <= max_length:
        lengths.append(length)
        length *= 2
    return tuple(lengths)


def text_within_limits(text: bytes, length: int, documents: int) -> bytes:
    """Return the bytes of a visitor's text that are read: whole documents of ``length + 1``, at most so many.

    Raises Unfit on an empty text, one shorter than a document, and one past 5 MB.
    """
    if not text:
        raise IncompatibleValues("text_empty", need=f"{length + 1:,}", length=f"{length:,}")
    if len(text) > MAX_TEXT:
        raise IncompatibleValues("text_huge", size=f"{len(text):,}", most=f"{MAX_TEXT:,}")
    if len(text) <= length:
        raise IncompatibleValues("text_tiny", size=f"{len(text):,}", need=f"{length + 1:,}", length=f"{length:,}")
    if length >= MOST_READ:
        raise IncompatibleValues("text_long", length=f"{length:,}", most=f"{MOST_READ - 1:,}")
    return text[: min(documents, len(text) // (length + 1), MOST_READ // (length + 1)) * (length + 1)]


def check_held_out_length(length: int) -> None:
    """Refuse a length that the held-out documents do not have, with Unfit."""
    if length > HELD_OUT:
        raise IncompatibleValues("held_out_short", length=f"{length:,}", most=f"{HELD_OUT:,}")


def sweep_request(
    name: str,
    longest: int,
    documents: int,
    *,
    factor: float | None,
    base: float,
    params: Mapping[str, float | None],
    text: bytes = b"",
) -> ExperimentRequest:
    """Return what the page's own sweep asks for: every line at the trained length, doubled up to the longest."""
    model = cards.get_weights_card(name)
    given = {key: value for key, value in params.items() if value is not None}
    return experiment_request(
        "sweep",
        text,
        weights=[name],
        lengths=list(doubled_lengths(model.context, longest)),
        documents=documents,
        factor=factor,
        base=None if base == model.recipe.shape.base else base,
        params=given or None,
    )


def panel_request(panel: str, **values: Any) -> ExperimentRequest:
    """Return what "measure it here" asks for: the panel's models and quick values, and those of its controls."""
    known: dict[str, dict[str, Any]] = {
        "seeds": {"weights": shipped_rotary_models()},
        "encodings": {"weights": first_model_per_encoding(), "lines": (UNSCALED,)},
        "finetuned": {"weights": first_rotary_family()},
        "recall": {"weights": tuple(each.name for each in cards.weights_cards().values() if each.task == "copy")},
    }
    arguments = {**known.get(panel, {}), **PANELS[panel].quick, **values}
    return experiment_request(
        PANELS[panel].kind, b"", **{k: list(v) if isinstance(v, tuple) else v for k, v in arguments.items()}
    )


def first_model_trained_length(seen: ExperimentResults) -> int:
    """Trained length of the first model among results; of the first rotary one where the index lacks it."""
    known = cards.weights_cards()
    names = [each["weights"] for each in seen.results if each.get("weights") in known]
    return known[names[0]].context if names else first_rotary_trained_length()


def first_model_rope(seen: ExperimentResults) -> Rope:
    """Return the rotation of the first model among results, of the usual shape where the index lacks it."""
    known = cards.weights_cards()
    names = [each["weights"] for each in seen.results if each.get("weights") in known]
    return (known[names[0]].recipe.shape if names else ModelShape()).rope


def first_rotary_trained_length() -> int:
    """Trained length of the first rotary model, or the shortest length of the shipped sweep where no weights are."""
    if shipped_rotary_models()[0]:
        return cards.get_weights_card(shipped_rotary_models()[0]).context
    sweep = shipped_record_or_none("sweep")
    return min((each["length"] for each in sweep.results if "length" in each), default=256) if sweep else 256


def text_usage_slots(given: bytes, used: bytes, length: int) -> dict[str, str]:
    """Return the numbers of the sentence that says how much of a text is read."""
    each = length + 1
    return {
        "size": f"{len(given):,}",
        "used": f"{len(used):,}",
        "each": f"{each:,}",
        "count": f"{len(used) // each}",
    }
