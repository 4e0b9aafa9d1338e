"""The other experiments' results as a page shows them: passkeys and stale caches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rope_core.errors import argument_error
from rope_core.lab.estimates import Estimate, wilson_interval
from rope_core.lab.view import NAN, ResultRecord, SweepCell, read_cell
from rope_core.rope import Array


@dataclass(frozen=True)
class RetrievalGrid:
    """Retrieval of one line: arrays (lengths, depths); NaN where nothing was read.

    Attributes:
        lengths, depths: the axes; bytes, and shares of the text.
        right: share answered; low, high: its 95 % interval.
        trials: of a cell, the least.
    """

    lengths: tuple[int, ...]
    depths: tuple[float, ...]
    right: Array
    low: Array
    high: Array
    trials: int


WHOLE, DIGITS = "whole", "digits"


def right_answer_share(result: ResultRecord, counted: str) -> tuple[float, float, float]:
    """Return the share of a cell's answers that are right with its interval: whole answers, or single digits.

    Raises ValueError on another word for what is counted.
    """
    if counted == DIGITS:
        share, low, high = result["digits"]
        return float(share), float(low), float(high)
    if counted != WHOLE:
        raise argument_error("counted", "one_of", counted, names=(WHOLE, DIGITS))
    return result["right"] / result["trials"], result["low"], result["high"]


def retrieval_grids(results: Iterable[ResultRecord], counted: str = WHOLE) -> dict[str, RetrievalGrid]:
    """Return the passkey's heatmaps by line, of the first model among the results."""
    rows = [each for each in results if "right" in each]
    rows = [each for each in rows if each["weights"] == rows[0]["weights"]]
    grids = {}
    for key in dict.fromkeys(each["line"] for each in rows):
        own = [each for each in rows if each["line"] == key]
        across, down = sorted({each["depth"] for each in own}), sorted({each["length"] for each in own})
        layers = np.full((3, len(down), len(across)), NAN)
        for each in own:
            spot = (slice(None), down.index(each["length"]), across.index(each["depth"]))
            layers[spot] = right_answer_share(each, counted)
        least = min(each["trials"] for each in own)
        grids[str(key)] = RetrievalGrid(tuple(down), tuple(across), layers[0], layers[1], layers[2], least)
    return grids


def key_retrieval_share(
    results: Iterable[ResultRecord], key: str, length: int, counted: str = WHOLE
) -> tuple[Estimate, int]:
    """Return the share of keys that a line found at a length over all depths with its interval, and the trials.

    The interval of digits takes those of one answer for one trial: they are found or lost together.
    """
    rows = [each for each in results if "right" in each]
    own = [
        each for each in rows if (each["weights"], each["line"], each["length"]) == (rows[0]["weights"], key, length)
    ]
    trials = sum(each["trials"] for each in own)
    right = sum(
        each["right"] if counted == WHOLE else right_answer_share(each, counted)[0] * each["trials"] for each in own
    )
    return Estimate(right / trials, *wilson_interval(right, trials)), trials


def cache_handling_cells(results: Iterable[ResultRecord]) -> list[SweepCell]:
    """Return the handlings of cached keys among results as cells, each by its own name in the place of a line's."""
    named = (
        each | {"line": each["variant"], "whole": each["last"]} for each in map(dict, results) if "variant" in each
    )
    return [read_cell(each) for each in named]
