"""The ladder's results as a page shows them: cells read back from JSON, ordered and compared document by document."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_core.lab.estimates import LEVEL, Estimate, PerplexityCurve, paired_perplexity_ratio
from rope_core.rope import Array

ResultRecord = Mapping[str, Any]
NAN = float("nan")


def interval_from_json(values: Sequence[float | None]) -> Estimate:
    """Read [value, low, high] back; null is NaN.

    >>> interval_from_json([2.0, None, None]).has_interval
    False
    """
    value, low, high = (NAN if v is None else float(v) for v in values)
    return Estimate(value, low, high)


@dataclass(frozen=True)
class SweepCell:
    """One line at one length, read by one model.

    Attributes:
        weights, line, length: which; bytes.
        documents: how many were read.
        whole, last: perplexity per byte over the window, and over its last quarter.
        nats: mean loss of each document's last quarter, (documents,).
        curve: perplexity against position.
        undefined: why there is no number; "" where there is one.
    """

    weights: str
    line: str
    length: int
    documents: int
    whole: Estimate
    last: Estimate
    nats: Array
    curve: PerplexityCurve
    undefined: str = ""


_NONE = Estimate(NAN, NAN, NAN)
_EMPTY = np.empty(0)


def read_cell(result: ResultRecord) -> SweepCell:
    """Read one cell of a sweep back from its JSON values."""
    head = (str(result["weights"]), str(result["line"]), int(result["length"]), int(result.get("documents", 0)))
    if "undefined" in result:
        none = PerplexityCurve(_EMPTY, _EMPTY, _EMPTY, _EMPTY)
        return SweepCell(*head, _NONE, _NONE, _EMPTY, none, str(result["undefined"]))
    bins = {k: np.array([NAN if v is None else v for v in each], dtype=float) for k, each in result["curve"].items()}
    return SweepCell(
        *head,
        interval_from_json(result["whole"]),
        interval_from_json(result["last"]),
        np.asarray(result["nats"], float),
        PerplexityCurve(**bins),
    )


def read_cells(results: Iterable[ResultRecord]) -> list[SweepCell]:
    """Read a sweep's results back."""
    return [read_cell(each) for each in results if "line" in each and "length" in each]


def cell_lengths(cells: Iterable[SweepCell]) -> list[int]:
    """Return the lengths among cells, short ones first."""
    return sorted({each.length for each in cells})


def cells_at_length(cells: Iterable[SweepCell], length: int) -> list[SweepCell]:
    """Return the cells of one length that have a number."""
    return [each for each in cells if each.length == length and not each.undefined]


def last_quarter_ratio(cell: SweepCell, other: SweepCell, level: float = LEVEL) -> Estimate:
    """Return how many times b's perplexity a's is on the last quarter, documents paired; below 1, a reads better.

    Raises ValueError when the two did not read the same number of documents.
    """
    return paired_perplexity_ratio(cell.nats, other.nats, level)


@dataclass(frozen=True)
class RankedCell:
    """A cell's place in the order, and its paired ratio to the cell one place better and to the best.

    ``settled``: whether the documents tell it from the place before it. The same documents choose the neighbours, so
    the interval that decides is widened to hold for all pairs of the order at once (Bonferroni).
    """

    cell: SweepCell
    behind: Estimate | None
    over_best: Estimate
    settled: bool


def rank_cells(cells: Sequence[SweepCell]) -> list[RankedCell]:
    """Return cells of one length from the lowest perplexity on the last quarter to the highest."""
    ranked = sorted(cells, key=lambda each: float(each.nats.mean()))
    level = 1 - (1 - LEVEL) / max(1, math.comb(len(ranked), 2))
    places = [RankedCell(each, None, last_quarter_ratio(each, ranked[0]), settled=False) for each in ranked[:1]]
    for better, each in itertools.pairwise(ranked):
        settled = last_quarter_ratio(each, better, level).excludes(1.0)
        places.append(RankedCell(each, last_quarter_ratio(each, better), last_quarter_ratio(each, ranked[0]), settled))
    return places


def group_ties(ranked_cells: Sequence[RankedCell]) -> list[list[RankedCell]]:
    """Return an order cut wherever the documents tell a place from the one before it."""
    cut: list[list[RankedCell]] = []
    for place in ranked_cells:
        if place.settled or not cut:
            cut.append([])
        cut[-1].append(place)
    return cut


def coarsen_curve(fine: PerplexityCurve, width: float) -> PerplexityCurve:
    """Return a curve in wider bins: neighbours of equal width taken together, which is exact for the value.

    The interval's ends are averaged alike, which is a little too wide: neighbours do not err together in full.

    Args:
        fine: of equal bins.
        width: of a bin, in bytes, at least.
    """
    step = 2 * float(fine.position[0])
    together = max(1, round(width / step))
    starts = np.arange(0, fine.position.size, together)
    counts = np.diff([*starts, fine.position.size])
    logs = [np.exp(np.add.reduceat(np.log(each), starts) / counts) for each in (fine.value, fine.low, fine.high)]
    return PerplexityCurve(np.add.reduceat(fine.position, starts) / counts, *logs)


@dataclass(frozen=True)
class SeedEstimates:
    """One line over several trained models at one length: each one's perplexity on the last quarter."""

    line: str
    by_weights: Mapping[str, Estimate]

    @property
    def mean(self) -> float:
        """Mean over models."""
        return float(np.mean([each.value for each in self.by_weights.values()]))

    @property
    def mean_and_range(self) -> Estimate:
        """Mean, lowest and highest: with a few seeds the range is the interval."""
        values = [each.value for each in self.by_weights.values()]
        return Estimate(self.mean, min(values), max(values))


def results_over_seeds(cells: Sequence[SweepCell]) -> list[SeedEstimates]:
    """Return cells of one length by line, the lowest mean first."""
    keys = dict.fromkeys(each.line for each in cells)
    lines = [SeedEstimates(key, {each.weights: each.last for each in cells if each.line == key}) for key in keys]
    return sorted(lines, key=lambda each: each.mean)


def line_order_by_weights(cells: Sequence[SweepCell]) -> dict[str, tuple[str, ...]]:
    """Return each model's order of lines at one length, the lowest perplexity first."""
    names = dict.fromkeys(each.weights for each in cells)
    return {
        name: tuple(place.cell.line for place in rank_cells([each for each in cells if each.weights == name]))
        for name in names
    }


def copy_cells(results: Iterable[ResultRecord]) -> list[SweepCell]:
    """Return recall's results as one cell a model and line: its curve is the second copy's perplexity by distance.

    ``last`` and ``nats`` are those of the greatest distance, so that ``rank_cells`` and
    ``last_quarter_ratio`` compare lines there.
    """
    rows = [each for each in results if "copy" in each]
    cells = []
    for weights, key in dict.fromkeys((each["weights"], each["line"]) for each in rows):
        own = sorted((each for each in rows if (each["weights"], each["line"]) == (weights, key)), key=_distance)
        last, nats = interval_from_json(own[-1]["copy"]), np.asarray(own[-1]["nats"], float)
        parts = np.array([_parts(interval_from_json(each["copy"])) for each in own]).T
        curve = PerplexityCurve(np.array([_distance(each) for each in own], float), *parts)
        cells.append(SweepCell(str(weights), str(key), int(own[-1]["length"]), nats.size, last, last, nats, curve))
    return cells


def _distance(result: ResultRecord) -> int:
    return int(result["distance"])


def _parts(number: Estimate) -> tuple[float, float, float]:
    return number.value, number.low, number.high
