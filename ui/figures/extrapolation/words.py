"""The lab's results in words: names of lines, numbers with their intervals, where they were measured, the ladder."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version

from rope_core.lab import view
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import GOING, ExperimentRequest, ExperimentResults
from rope_core.lab.view import RankedCell, SeedEstimates, SweepCell
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts

WHOLE, LAST = "whole", "last"


def byte_length_text(length: str) -> str:
    """Return a length in a row of buttons."""
    return f"{int(length):,}"


def line_name(line: str, t: PageTexts) -> str:
    """Return a line's name for readers."""
    return next((t(key) for key in (f"line.{line}", f"scheme.{line}") if t.has_label(key)), line)


def perplexity_text(value: float) -> str:
    """Return a perplexity for readers: three digits, no exponent below a million.

    >>> perplexity_text(4.7234), perplexity_text(36.04), perplexity_text(1234.5)
    ('4.72', '36.0', '1,234')
    """
    if value >= 1e6:
        return f"{value:.2e}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def estimate_text(each: Estimate) -> str:
    """Return a number with its 95 % interval, where there is one.

    >>> estimate_text(Estimate(4.7234, 4.5, 4.95))
    '4.72 [4.50, 4.95]'
    """
    return perplexity_text(each.value) + (
        f" [{perplexity_text(each.low)}, {perplexity_text(each.high)}]" if each.has_interval else ""
    )


def ratio_text(each: Estimate) -> str:
    """Return a ratio with its interval.

    >>> ratio_text(Estimate(1.125, 1.08, 1.17))
    '×1.12 [1.08, 1.17]'
    """
    return f"×{each.value:.2f}" + (f" [{each.low:.2f}, {each.high:.2f}]" if each.has_interval else "")


def length_factor_text(length: int, trained_length: int) -> str:
    """How many times the trained length.

    >>> length_factor_text(2048, 256), length_factor_text(384, 256)
    ('8', '1.5')
    """
    return f"{length / trained_length:g}"


def ranking_text(places: Sequence[RankedCell], t: PageTexts, label: Callable[[SweepCell], str] | None = None) -> str:
    """Return an order as one phrase: best first, with the paired ratio to the place before wherever it is settled.

    ``label``: a cell's name; its line's where left out.
    """
    parts = []
    for group in view.group_ties(places):
        lead = group[0].behind
        names = t("tied").join(label(place.cell) if label else line_name(place.cell.line, t) for place in group)
        parts.append(names if lead is None else f"{names} ({ratio_text(lead)})")
    return t("before").join(parts)


def seed_order_text(across: Sequence[SeedEstimates], t: PageTexts) -> str:
    """Return lines in a given order as one phrase; those with the same numbers for every model are joined as equal."""
    same = itertools.groupby(across, lambda each: {key: each.by_weights[key].value for key in sorted(each.by_weights)})
    return t("before").join(" = ".join(line_name(each.line, t) for each in group) for _, group in same)


def perplexity_by_length_table(results: Sequence[SweepCell], share: str, t: PageTexts) -> dict[str, list[str]]:
    """Length by line: perplexity with its interval, over the window or its last quarter; the lowest is marked."""
    keys = [each.key for each in scheme_lines() if any(c.line == each.key for c in results)]
    table = {t("column.line"): [line_name(key, t) for key in keys]}
    for length in view.cell_lengths(results):
        cells = {each.line: each for each in results if each.length == length}
        values = {key: getattr(each, share).value for key, each in cells.items() if not each.undefined}
        least = min(values.values(), default=0.0)
        table[f"{length:,}"] = [
            "…"
            if key not in cells
            else "—"
            if cells[key].undefined
            else ("★ " if values[key] == least else "") + estimate_text(getattr(cells[key], share))
            for key in keys
        ]
    return table


def short_hash(sha256: str) -> str:
    """Return the first digits of a hash."""
    return f"{sha256[:10]}…" if sha256 else "—"


def results_provenance(seen: ExperimentResults, t: PageTexts) -> str:
    """Where results come from: a shipped record with hashes, hardware and date, or this server."""
    if seen.record is None:
        sentence = t("measured_going" if seen.origin == GOING else "measured_here", count=len(seen.results))
        return sentence + (server_provenance_text(seen.request, t) if seen.request else "")
    record = seen.record
    hardware = record.hardware
    return t(
        "provenance",
        date=escaped_markdown(record.date),
        weights=hashed_weights_text(record.weights, t),
        text=short_hash(record.text),
        processor=escaped_markdown(hardware.get("processor", "?")),
        threads=escaped_markdown(hardware.get("threads", "?")),
        versions=escaped_markdown(f"torch {hardware.get('torch', '?')}, numpy {hardware.get('numpy', '?')}"),
    )


def hashed_weights_text(weights: Mapping[str, str], t: PageTexts) -> str:
    """Names of weights, each with the beginning of its hash."""
    return t("comma").join(f"{escaped_markdown(key)} ({short_hash(sha)})" for key, sha in weights.items())


def server_provenance_text(requested: ExperimentRequest, t: PageTexts) -> str:
    """Return what this server measured a request with: weights, text and versions."""
    versions = t("comma").join(f"{name} {version(name)}" for name in ("torch", "numpy"))
    text = short_hash(requested.text_hash)
    return t(
        "provenance_here",
        weights=hashed_weights_text(requested.weights_read, t),
        text=text,
        versions=escaped_markdown(versions),
    )


def job_progress_text(share: float | None, left: float | None, seconds: float, t: PageTexts) -> str:
    """How far a job is, with the time left where it says so."""
    if share is None:
        return t("preparing", seconds=f"{seconds:.0f}")
    return t("progress", percent=f"{100 * share:.0f}", left="?" if left is None else f"{left:.0f}")


def shortest_longer_length(offered: Sequence[str]) -> str:
    """Return the shortest length past the trained one, where papers' orders are least sure."""
    return offered[min(1, len(offered) - 1)]
