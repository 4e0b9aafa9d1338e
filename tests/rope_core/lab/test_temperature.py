"""The sweep of the logit scale: points against float64 loops, parabolas against polynomials, known slopes."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core.lab import job, temperature, weights
from rope_core.lab.corpus import held_out
from rope_core.lab.lines import line, lines
from rope_core.lab.temperature import fit, lowest, measured, slope
from rope_core.schemes import SCHEMES
from rope_core.spectrum import spectrum
from tests.support import lab_oracle
from tests.support.lab_reader import small, stock

WARM = next(each.key for each in lines() if "attention_factor" in SCHEMES[each.scheme].defaults())


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-alibi": small("alibi")})


@pytest.mark.parametrize(("factor", "value"), [(2.0, 0.8), (3.0, 1.0), (3.0, 1.4)])
def test_a_point_keeps_the_line_s_frequencies_and_takes_the_swept_factor(factor: float, value: float) -> None:
    model, size = small(), round(factor * 12)
    documents = np.stack([np.frombuffer(d.text, dtype=np.uint8)[: size + 1] for d in held_out()[:2]])
    result = measured(model, documents, WARM, factor, value)
    inv_freq = spectrum(line(WARM).request(model.shape, size, factor)).inv_freq
    for row, text in zip(result, documents.tolist(), strict=True):
        logits = lab_oracle.logits(model.state_dict(), model.shape, text[:-1], inv_freq, value)
        expected = lab_oracle.nats(np.vstack([logits, logits[-1:]]), text)
        np.testing.assert_allclose(row, expected, atol=2e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12))
def test_the_lowest_point_is_that_of_a_polynomial_fit(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.exp(np.sort(rng.uniform(-1.0, 1.0, count)) + 0.05 * np.arange(count))
    losses = rng.uniform(1.0, 2.0, (5, count))
    result = lowest(values, losses)
    for row, best in zip(losses, result, strict=True):
        at = int(np.argmin(row))
        if at in (0, count - 1):
            assert math.isnan(best)
            continue
        a, b, _ = np.polyfit(np.log(values[at - 1 : at + 2]), row[at - 1 : at + 2], 2)
        assert math.log(best) == pytest.approx(-b / (2 * a), abs=1e-8)
        assert values[at - 1] < best < values[at + 1]


def test_the_slope_is_the_least_squares_line_through_one() -> None:
    factors, rng = np.array([2.0, 4.0, 8.0]), np.random.default_rng(2)
    np.testing.assert_allclose(slope(factors, 1.0 + 0.23 * np.log(factors)), 0.23)
    best = rng.uniform(0.9, 1.5, (4, 3))
    for row, result in zip(best, slope(factors, best), strict=True):
        tried = np.linspace(result - 0.1, result + 0.1, 201)
        errors = [((row - 1 - a * np.log(factors)) ** 2).sum() for a in tried]
        assert int(np.argmin(errors)) == 100


def drawn(factors: tuple[float, ...], values: tuple[float, ...], a: float, documents: int, seed: int) -> list[Any]:
    """Losses of documents whose best attention factor scatters about 1 + a ln(factor)."""
    rng = np.random.default_rng(seed)
    swept, bias = np.log(np.array(values)), rng.normal(0.0, 0.05, documents)
    return [
        rng.uniform(1, 2, (documents, 1)) + 3.0 * (swept - (math.log(1 + a * math.log(f)) + bias)[:, None]) ** 2
        for f in factors
    ]


def test_a_known_law_is_found_again_within_its_interval() -> None:
    factors, values = (2.0, 4.0, 8.0), temperature.VALUES
    held = 0
    for seed in range(100):
        text = fit(factors, values, drawn(factors, values, 0.1, 8, seed))
        value, low, high = text["slope"]
        assert low < value < high and abs(value - 0.1) < 0.06
        held += low <= 0.1 <= high
        for factor, (best, below, above) in zip(factors, text["best"], strict=True):
            assert below < best < above and abs(best - (1 + 0.1 * math.log(factor))) < 0.06
    assert 93 <= held <= 97  # the quantiles alone hold it in 92
    assert text["paper"] == pytest.approx(0.1) and text["factors"] == [2.0, 4.0, 8.0]


def test_a_best_value_at_an_end_of_the_sweep_is_unknown() -> None:
    factors, values = (2.0, 8.0), (0.9, 1.0, 1.1, 1.15)
    text = fit(factors, values, drawn(factors, values, 0.1, 12, 3))
    assert text["best"][1] == [None, None, None] and text["best"][0][0] is not None
    assert text["slope"][0] == pytest.approx((text["best"][0][0] - 1) / math.log(2.0), abs=1e-5)
    assert fit((8.0,), values, drawn((8.0,), values, 0.3, 5, 3))["slope"] == [None, None, None]
    single = fit(factors, temperature.VALUES, drawn(factors, temperature.VALUES, 0.1, 1, 3))
    assert single["slope"][0] is not None and single["slope"][1:] == [None, None]


def test_the_job_tells_points_and_then_their_fit() -> None:
    values = [0.2, 0.5, 1.0, 2.0]
    result = list(job.steps("temperature", {"weights": ["tiny"], "factors": [2, 3], "values": values, "documents": 4}))
    points, (share, last) = [r for _, r in result[:-1]], result[-1]
    assert [(p["factor"], p["length"], p["attention_factor"]) for p in points] == [
        (factor, 12 * factor, value) for factor in (2, 3) for value in values
    ]
    assert share == 1.0 and all(p["line"] == WARM and p["weights"] == "tiny" for p in points)
    for each in points:
        assert each["last"][0] == pytest.approx(math.exp(np.mean(each["nats"])), rel=1e-5)
    documents = np.stack([np.frombuffer(d.text, dtype=np.uint8)[:37] for d in held_out()[:4]])
    late = measured(weights.load("tiny"), documents, WARM, 3.0, 0.5)[:, 27:].mean(1)
    np.testing.assert_allclose(points[5]["nats"], late, atol=1e-6)
    nats = [np.array([p["nats"] for p in points[i : i + 4]]).T for i in (0, 4)]
    again = fit((2.0, 3.0), tuple(values), nats)
    assert last["fit"]["factors"] == [2, 3] and last["fit"]["paper"] == pytest.approx(0.1)
    for mine, other in zip(last["fit"]["best"], again["best"], strict=True):
        assert mine == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"weights": ["tiny-alibi"]}, "weights must be of a model with rotary positions, got 'tiny-alibi'"),
        ({"factors": []}, "factors must be numbers > 1, at least one"),
        ({"factors": [1.0]}, "factors must be numbers > 1, at least one"),
        ({"factors": [math.nan]}, "factors must be a finite number, got nan"),
        ({"factors": [1000.0]}, "length must be at most 4,096"),
        ({"values": [1.0, 1.1]}, "values must be rising numbers in (0, 16], at least three"),
        ({"values": [1.0, 1.2, 1.1]}, "values must be rising"),
        ({"values": [0.0, 1.2, 1.3]}, "values must be rising"),
        ({"values": [1.0, math.inf, 1.3]}, "values must be rising"),
        ({"line": "cold"}, "line must be one of"),
        ({"documents": 0}, "documents must be an integer"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(wanted: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        job.steps("temperature", {"weights": ["tiny"]} | wanted)
    assert str(error.value).startswith(text)
