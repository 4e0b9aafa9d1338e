"""YaRN's logit scale swept on this model: where the best one lies at each factor, and the fit 1 + a ln(factor)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import finite, reject
from rope_core.lab import plan, weights
from rope_core.lab.estimates import LEVEL, perplexity, share, student_t
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.lines import line, lines
from rope_core.lab.model import Model
from rope_core.lab.positions import Rotary
from rope_core.rope import Array
from rope_core.schemes import SCHEMES
from rope_core.schemes import temperature as paper
from rope_core.spectrum import Spectrum, spectrum

# 0.1 in the paper, arXiv:2309.00071, equation 22; read off at ln(factor) = 1, so that it is written once.
RESAMPLES = 4000
PAPER = paper(math.e) - 1.0
VALUES = tuple(round(0.85 + 0.05 * i, 2) for i in range(12))


def measured(model: Model, documents: npt.NDArray[np.uint8], key: str, factor: float, attention_factor: float) -> Array:
    """Return the loss of every byte but the first, nats, float64 (n, length).

    The frequencies are the line's at that factor; cos and sin carry another attention factor than its own.

    Args:
        documents: uint8 (n, length + 1).
        attention_factor: multiplies cos and sin; logits get its square.
    """
    request = line(key).request(model.shape, documents.shape[1] - 1, factor)
    return byte_losses(model, documents, Rotary(model.shape, Spectrum.of(spectrum(request).inv_freq, attention_factor)))


def lowest(values: Array, losses: Array) -> Array:
    """Return where parabolas over ln(value) through the lowest of the losses and its two neighbours are lowest.

    Args:
        values: swept ones, rising, float64 (n,), n >= 3.
        losses: nats, float64 (..., n).

    Returns:
        float64 (...): NaN where the lowest loss is at an end of the sweep, because it may lie beyond.

    >>> v = np.exp([0.0, 0.5, 1.0, 2.0])
    >>> lowest(v, (np.log(v) - 0.7) ** 2 + 1.0).round(9) == round(math.exp(0.7), 9)
    np.True_
    """
    x = np.log(values)
    at = losses.argmin(-1)
    inside = np.clip(at, 1, values.size - 2)
    a, b, c = x[inside - 1], x[inside], x[inside + 1]
    y = [np.take_along_axis(losses, (inside + step)[..., None], -1)[..., 0] for step in (-1, 0, 1)]
    # Newton's divided differences; the curvature is positive wherever the middle is the lowest of the three.
    rise, fall = (y[1] - y[0]) / (b - a), (y[2] - y[1]) / (c - b)
    bend = (fall - rise) / (c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.exp((a + b) / 2 - rise / (2 * bend))
    return np.where(at == inside, vertex, math.nan)


def slope(factors: Array, best: Array) -> Array:
    """Return a of best = 1 + a ln(factor) by least squares, float64 (...), from best (..., n); NaN where one is."""
    x = np.log(factors)
    rise: Array = ((best - 1.0) @ x) / (x @ x)
    return rise


def fit(factors: tuple[float, ...], values: tuple[float, ...], nats: list[Array]) -> dict[str, Any]:
    """Return the best value at each factor and the slope, each with its 95 % interval by resampling documents.

    The documents are the same at every factor and are drawn together. A best value that lies at an end of the sweep
    is unknown: its three numbers are None, and the slope is of the others. An interval has None at both ends where
    more than one draw in forty has its best at an end of the sweep, or there is one document only. Of sweeps drawn like
    the shipped one, of 8 to 24 documents, normal or skewed, the intervals hold 91 to 97 % of the true values (the
    quantiles alone 87 to 94 %).

    Args:
        nats: one array per factor, mean loss of each document's last quarter at each value, (documents, values).
    """
    swept = np.asarray(values)
    count = len(nats[0])
    lowest_each = np.array([lowest(swept, each.mean(0)) for each in nats])
    draws = np.random.default_rng(0).multinomial(count, [1.0 / count] * count, RESAMPLES) / count
    drawn = np.stack([lowest(swept, draws @ each) for each in nats], -1)
    known = np.isfinite(lowest_each)
    best = [_interval(value, drawn[:, i], count) for i, value in enumerate(lowest_each)]
    if not known.any():
        return {"factors": list(factors), "best": best, "slope": [None] * 3, "paper": PAPER}
    chosen = np.asarray(factors)[known]
    tilt = _interval(float(slope(chosen, lowest_each[known])), slope(chosen, drawn[:, known]), count)
    return {"factors": list(factors), "best": best, "slope": tilt, "paper": round(PAPER, 12)}


def _interval(value: float, drawn: Array, count: int) -> list[float | None]:
    if not math.isfinite(value):
        return [None, None, None]
    beyond = float(np.mean(~np.isfinite(drawn)))
    if count < 2 or beyond > 1 / 40:
        return [round(value, 6), None, None]
    # Quantiles of few resampled documents are too narrow by what Student's t and the divisor n - 1 make up for.
    wider = student_t(LEVEL, count - 1) / NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(count / (count - 1))
    ends = np.nanquantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return [round(value, 6), *(round(value + wider * (float(end) - value), 6) for end in ends)]


@dataclass(frozen=True)
class Ask:
    """What is swept, whole.

    Args:
        weights: names of shipped weights with rotary positions.
        line: key of the line whose frequencies are kept; "" means the first whose scheme has a temperature.
        factors: of the line; each is measured at the factor times the trained length.
        values: attention factors, rising, at least three.
        documents: how many to read at most.
        text: what to read; empty means the held-out documents.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    line: str = ""
    factors: tuple[float, ...] = (2.0, 4.0, 8.0)
    values: tuple[float, ...] = VALUES
    documents: int = 8
    text: bytes = b""

    def __post_init__(self) -> None:
        for name in plan.named(self.weights):
            if weights.card(name).recipe.shape.encoding != "rope":
                raise reject("weights", "rotary_weights", name)
        if not self.factors or any(finite("factors", each) <= 1.0 for each in self.factors):
            raise reject("factors", "numbers_above", self.factors, low=1)
        rule = "rising_numbers"
        numbers = [finite("values", each, rule) for each in self.values]
        if len(numbers) < 3 or sorted(set(numbers)) != numbers or numbers[0] <= 0 or numbers[-1] > 16:
            raise reject("values", rule, self.values)
        warm = [each.key for each in lines() if "attention_factor" in SCHEMES[each.scheme].defaults()]
        object.__setattr__(self, "line", self.line or warm[0])
        for name in self.weights:
            self.read(name)
            for factor, length in zip(self.factors, self.lengths(name), strict=True):
                line(self.line).request(weights.card(name).recipe.shape, length, factor)

    def lengths(self, name: str) -> list[int]:
        """Return the length in bytes at each factor."""
        return [round(factor * weights.card(name).recipe.shape.context) for factor in self.factors]

    def read(self, name: str) -> npt.NDArray[np.uint8]:
        """Return the documents, uint8 (n, longest + 1)."""
        return plan.documents(max(self.lengths(name)), self.documents, self.text)


def run(ask: Ask) -> Iterator[tuple[float, dict[str, Any]]]:
    """Sweep point by point, then fit; yields the share of the work that is done, and the point or the fit.

    "last" of a point is the perplexity of the last quarter, "nats" each document's mean loss there. "best" of a fit
    is the best attention factor per factor, "slope" a of 1 + a ln(factor), "paper" the paper's a.
    """
    work = sum(sum(ask.lengths(name)) for name in ask.weights) * len(ask.values)
    done = 0
    for name in ask.weights:
        documents, model = ask.read(name), weights.load(name)
        swept = []
        for factor, length in zip(ask.factors, ask.lengths(name), strict=True):
            rows = []
            for value in ask.values:
                nats = measured(model, documents[:, : length + 1], ask.line, factor, value)
                rows.append(share(nats, 0.75, 1.0).mean(1))
                done += length
                yield (
                    done / work,
                    {
                        "weights": name,
                        "line": ask.line,
                        "length": length,
                        "factor": factor,
                        "attention_factor": value,
                        "documents": len(documents),
                        "last": plan.three(perplexity(nats, 0.75)),
                        "nats": rows[-1].round(6).tolist(),
                    },
                )
            swept.append(np.stack(rows, -1))
        yield done / work, {"weights": name, "line": ask.line, "fit": fit(ask.factors, ask.values, swept)}
