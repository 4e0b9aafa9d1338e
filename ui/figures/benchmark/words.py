"""Records of the benchmark in words: names, sizes, times, where they were made, what landed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from rope_core.bench import view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.records import CaseResult
from ui.text.words import PageTexts

MEGA, GIGA, MICRO, MILLI = 1e6, 1e9, 1e-6, 1e-3


def implementation_name(contestant: str, t: PageTexts) -> str:
    """Return a contestant's name for readers; a visitor's own function keeps the name it was recorded under."""
    key = f"who.{contestant}"
    return t(key) if t.has_label(key) else contestant


def byte_count_text(count: float) -> str:
    """Bytes for a reader, in decimal units.

    >>> byte_count_text(33554432), byte_count_text(8192)
    ('33.6 MB', '8.19 kB')
    """
    for unit, name in ((GIGA, "GB"), (MEGA, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:.0f} B"


def seconds_text(seconds: float, digits: int = 3) -> str:
    """Seconds for a reader.

    >>> [seconds_text(seconds) for seconds in (2.0, 0.0123, 2.5e-6, 3e-9)], seconds_text(0.1234, 2)
    (['2 s', '12.3 ms', '2.5 µs', '3 ns'], '120 ms')
    """
    rounded = float(f"{seconds:.{digits}g}")
    for unit, name in ((1.0, "s"), (MILLI, "ms"), (MICRO, "µs")):
        if rounded >= unit:
            return f"{rounded / unit:.3g} {name}"
    return f"{rounded * 1e9:.3g} ns"


def case_kind_text(case: BenchmarkCase, t: PageTexts) -> str:
    """Return a kind of case in one line of a menu."""
    heads = f"{case.batch}×{case.q_heads}/{case.k_heads}×{case.dim}"
    part = "" if case.rotary_dim == case.dim else f" ({case.rotary_dim})"
    place = f" · {t('in_place')}" if case.inplace else ""
    words = f"{t(f'layout.{case.layout}')} · {t(f'direction.{case.direction}')}"
    return f"{case.device} · {case.dtype} · {words} · {case.memory.upper()} {heads}{part}{place}"


def source_provenance(source: view.BenchmarkSource, t: PageTexts) -> str:
    """Hardware, versions, date and load of the latest run of a source."""
    run = source.runs[0]
    where = run.environment
    packages = where.get("packages", {})
    named = ("torch", "numba", "triton", "transformers", "flash-attn", "liger-kernel")
    versions = ", ".join(f"{name} {packages[name]}" for name in named if name in packages)
    load = max((run.environment.get("load") or 0.0 for run in source.runs), default=0.0)
    day = datetime.datetime.fromtimestamp(run.started, datetime.UTC).date().isoformat()
    return t(
        "provenance",
        hardware=source.hardware,
        cores=where.get("cores", "?"),
        threads=where.get("threads", "?"),
        versions=versions,
        day=day,
        load=f"{load:.1f}",
        runs=len(source.runs),
    )


def cached_buffers_note(points: Sequence[view.CaseTiming], source: view.BenchmarkSource, t: PageTexts) -> str:
    """Says that the cache held the buffers where it did; empty where memory was measured or nobody knows."""
    if not any(p.cold is False for p in points):
        return ""
    cache = source.runs[0].environment.get("cache_bytes", 0)
    return t("in_cache", cache=byte_count_text(cache))


def missing_implementations_note(source: view.BenchmarkSource, t: PageTexts) -> str:
    """Who has no number in a source; empty where everybody has one."""
    present = {p.contestant for p in source.points}
    missing = dict.fromkeys(r.contestant for r in source.refused if r.contestant not in present)
    return t("absent", names=t("comma").join(implementation_name(name, t) for name in missing)) if missing else ""


def run_progress_text(share: float | None, left: float | None, seconds: float, t: PageTexts) -> str:
    """How far a run is, with the time left where it says so."""
    if share is None:
        return t("preparing", seconds=f"{seconds:.0f}")
    percent = f"{100 * share:.0f}"
    return t("progress", percent=percent, left="?" if left is None else f"{left:.0f}")


def results_table(results: Sequence[CaseResult], t: PageTexts) -> dict[str, list[str]]:
    """Results as a table for reading, in the order in which they came."""
    good = [view.case_timing(r, {}) if r.state == "ok" else None for r in results]
    return {
        t("column.case"): [r.case.title for r in results],
        t("column.who"): [implementation_name(r.contestant, t) for r in results],
        t("column.state"): [t(f"state.{r.state}") for r in results],
        t("column.time"): ["" if p is None else seconds_text(p.seconds.median) for p in good],
        t("column.rate"): ["" if p is None else f"{p.bandwidth / GIGA:.3g}" for p in good],
        t("column.ratio"): [
            "" if p is None else f"{p.ratio.median:.2f} [{p.ratio.low:.2f}, {p.ratio.high:.2f}]" for p in good
        ],
        t("column.error"): ["" if p is None else f"{p.error:.1e}" for p in good],
        t("column.reason"): [r.reason for r in results],
    }
