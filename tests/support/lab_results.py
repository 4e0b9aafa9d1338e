"""Results of the lab as its work yields them, made from drawn losses, for the tests of what shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.lab.cards import WeightsCard
from rope_core.lab.lines import scheme_lines
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.records import MeasurementRecord
from rope_core.lab.results import SHIPPED, ExperimentResults
from rope_core.lab.shape import ModelShape
from rope_core.schemes import UNSCALED

Array = npt.NDArray[np.float64]
KEYS = tuple(each.key for each in scheme_lines())
LENGTHS = (64, 128, 256)
HASH = "0123456789abcdef" * 4


def losses(seed: int, level: float, documents: int, length: int) -> Array:
    """Losses of bytes, (documents, length): a level, harder and easier documents, and noise."""
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(7).normal(0, 0.3, (documents, 1))
    return level + hard + rng.normal(0, 0.05, (documents, length))


def spread(per_document: Array) -> list[float | None]:
    """exp of the mean, with a made-up interval of plainly known width."""
    value = float(np.exp(per_document.mean()))
    return [value, value * 0.9, value * 1.2] if per_document.size > 1 else [value, None, None]


def cell(weights: str, line: str, nats: Array, bins: int = 8) -> dict[str, Any]:
    """One cell of a sweep, whose "nats" are of the last quarter."""
    length = nats.shape[1]
    parts = np.array_split(nats, bins, axis=1)
    values = [spread(part.mean(1)) for part in parts]
    edges = np.linspace(0, length, bins + 1)
    curve = {
        "position": ((edges[1:] + edges[:-1]) / 2).tolist(),
        **{name: [each[at] for each in values] for at, name in enumerate(("value", "low", "high"))},
    }
    late = nats[:, -length // 4 :].mean(1)
    return {
        "weights": weights,
        "line": line,
        "length": length,
        "documents": len(nats),
        "whole": spread(nats.mean(1)),
        "last": spread(late),
        "nats": late.tolist(),
        "curve": curve,
        "seconds": 0.1,
    }


def levels(seed: int) -> dict[str, float]:
    """Return a level of loss per line, drawn, at least 0.1 apart."""
    order = np.random.default_rng(seed).permutation(len(KEYS))
    return {key: 0.8 + 0.1 * float(at) for key, at in zip(KEYS, order, strict=True)}


def sweep(
    seed: int = 0, weights: Sequence[str] = ("rope-0",), documents: int = 5, lengths: Sequence[int] = LENGTHS
) -> tuple[dict[str, Any], ...]:
    """Return a whole sweep; every line's level grows with the length alike."""
    return tuple(
        cell(name, key, losses(seed + place, level + length / 1000, documents, length))
        for length in lengths
        for name in weights
        for place, (key, level) in enumerate(levels(seed).items())
    )


def seen(results: Sequence[Mapping[str, Any]], name: str = "sweep") -> ExperimentResults:
    """Results as if from a shipped record, whose recipe defines them by their text."""
    machine = {"processor": "a <b>processor</b>", "threads": 2, "torch": "2", "numpy": "2"}
    record = MeasurementRecord(name, {}, tuple(map(dict, results)), {"rope-0": HASH}, HASH[::-1], machine, "2026-01-02")
    return ExperimentResults(tuple(results), SHIPPED, record, f"nan = None\nresults = {list(results)!r}")


def card(name: str, encoding: str = "rope", start: str = "", scheme: str = UNSCALED, **more: Any) -> WeightsCard:
    """Return a card of weights that were trained on 64 bytes."""
    recipe = TrainingRecipe(ModelShape(encoding, context=64), start=start, scheme=scheme, steps=99, warmup=9, **more)
    return WeightsCard(name, HASH, recipe, (1.0, 0.9, 1.1), "2026-01-02")


def retrieval(seed: int = 0, trials: int = 10) -> tuple[dict[str, Any], ...]:
    """Return a passkey's cells, drawn."""
    rng = np.random.default_rng(seed)
    result = []
    for key in KEYS[:3]:
        for length in LENGTHS:
            for depth in (0.0, 0.5, 1.0):
                right = int(rng.integers(0, trials + 1))
                text = {"weights": "rope-0-passkey", "line": key, "length": length, "depth": depth}
                text |= {"right": right, "trials": trials, "low": 0.0, "high": 1.0}
                digits = (right + 0.37 * (trials - right)) / trials
                result.append(text | {"digits": [digits, digits / 2, (1 + digits) / 2]})
    return tuple(result)


def stale(worse: float = 0.2, documents: int = 4) -> tuple[dict[str, Any], ...]:
    """Three handlings of cached keys."""
    result = []
    for variant, level in (("unscaled", 2.5), ("stale", 1.0 + worse), ("recomputed", 1.0)):
        built = cell("rope-0", KEYS[0], losses(3, level, documents, 512))
        result.append({"variant": variant, "factor": 1.0, **{k: v for k, v in built.items() if k != "whole"}})
    return tuple(result)


def generated() -> tuple[dict[str, Any], ...]:
    """Return what two lines wrote at two lengths; the text is hostile."""
    return tuple(
        {"weights": "rope-0", "line": key, "length": length, "prompt_end": "def f(", "truth": "x):"}
        | {"text": f"<script>{length}</script>`{key}`", "truth_loss": loss}
        for length in LENGTHS[:2]
        for key, loss in zip(KEYS[:2], (0.5, 1.5), strict=True)
    )


def recall(weights: str = "rope-0", keys: Sequence[str] = KEYS, trials: int = 6) -> tuple[dict[str, Any], ...]:
    """Draw a second copy's losses at three distances; the later a line, the worse, and worse with the distance."""
    result = []
    for place, key in enumerate(keys):
        for distance in (256, 64, 128):
            nats = losses(place, 0.2 * place + distance / 200, trials, 8).mean(1)
            text = {"weights": weights, "line": key, "length": 512, "distance": distance}
            result.append(text | {"copy": spread(nats), "nats": nats.tolist()})
    return tuple(result)
