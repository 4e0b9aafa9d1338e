"""The other experiments' results as a page shows them: passkeys, temperatures, stale caches, what heads look at."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rope_core.errors import reject
from rope_core.lab.estimates import Curve, Estimate, paired, wilson
from rope_core.lab.view import NAN, Result, three
from rope_core.rope import Array


@dataclass(frozen=True)
class Grid:
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


def answered(result: Result, counted: str) -> tuple[float, float, float]:
    """Return the share of a cell's answers that are right with its interval: whole answers, or single digits.

    Raises ValueError on another word for what is counted.
    """
    if counted == DIGITS:
        share, low, high = result["digits"]
        return float(share), float(low), float(high)
    if counted != WHOLE:
        raise reject("counted", "one_of", counted, names=(WHOLE, DIGITS))
    return result["right"] / result["trials"], result["low"], result["high"]


def retrieval(results: Iterable[Result], counted: str = WHOLE) -> dict[str, Grid]:
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
            layers[spot] = answered(each, counted)
        least = min(each["trials"] for each in own)
        grids[str(key)] = Grid(tuple(down), tuple(across), layers[0], layers[1], layers[2], least)
    return grids


def recalled(results: Iterable[Result], key: str, length: int, counted: str = WHOLE) -> tuple[Estimate, int]:
    """Return the share of keys that a line found at a length over all depths with its interval, and the trials.

    The interval of digits takes those of one answer for one trial: they are found or lost together.
    """
    rows = [each for each in results if "right" in each]
    own = [
        each for each in rows if (each["weights"], each["line"], each["length"]) == (rows[0]["weights"], key, length)
    ]
    trials = sum(each["trials"] for each in own)
    right = sum(each["right"] if counted == WHOLE else answered(each, counted)[0] * each["trials"] for each in own)
    return Estimate(right / trials, *wilson(right, trials)), trials


@dataclass(frozen=True)
class Fit:
    """YaRN's logit scale, fitted anew.

    Attributes:
        factors: how many times the trained length.
        best: the attention factor of the least loss at each.
        slope: of 1 + slope ln(factor); ``paper``: the published one.
    """

    factors: tuple[float, ...]
    best: tuple[Estimate, ...]
    slope: Estimate
    paper: float

    def at(self, factor: float) -> tuple[float, float]:
        """Return the fitted and the published attention factor at a factor."""
        return 1 + self.slope.value * math.log(factor), 1 + self.paper * math.log(factor)


def fit(results: Iterable[Result]) -> Fit | None:
    """Return the fit of a temperature sweep, or None while it is not done."""
    fitted = next((each["fit"] for each in results if "fit" in each), None)
    if fitted is None:
        return None
    best = tuple(three(each) for each in fitted["best"])
    return Fit(tuple(map(float, fitted["factors"])), best, three(fitted["slope"]), float(fitted["paper"]))


@dataclass(frozen=True)
class Swept:
    """One point of a temperature sweep: perplexity on the last quarter, and its paired ratio to the factor's lowest."""

    attention_factor: float
    last: Estimate
    over_best: Estimate


def swept(results: Iterable[Result]) -> dict[float, list[Swept]]:
    """Return a sweep's points by factor, both in order."""
    points = [each for each in results if "attention_factor" in each]
    factors = {}
    for factor in sorted({float(each["factor"]) for each in points}):
        own = sorted((each for each in points if each["factor"] == factor), key=_scale)
        nats = [np.asarray(each["nats"], float) for each in own]
        best = min(nats, key=lambda each: float(each.mean()))
        factors[factor] = [
            Swept(_scale(each), three(each["last"]), paired(mine, best)) for each, mine in zip(own, nats, strict=True)
        ]
    return factors


def _scale(result: Result) -> float:
    return float(result["attention_factor"])


@dataclass(frozen=True)
class Variant:
    """One handling of the same text under the same scheme: perplexity on the last quarter, its documents, its curve."""

    name: str
    length: int
    last: Estimate
    nats: Array
    curve: Curve

    def over(self, other: Variant) -> Estimate:
        """Return how many times the other's perplexity this one's is, documents paired."""
        return paired(self.nats, other.nats)


def variants(results: Iterable[Result]) -> list[Variant]:
    """Return the variants among results, in their order."""
    variants = []
    for each in results:
        if "variant" in each:
            bins = {k: np.asarray(v, dtype=float) for k, v in each["curve"].items()}
            last, nats = three(each["last"]), np.asarray(each["nats"], float)
            variants.append(Variant(str(each["variant"]), int(each["length"]), last, nats, Curve(**bins)))
    return variants
