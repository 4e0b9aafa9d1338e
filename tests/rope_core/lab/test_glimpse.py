"""Attention maps and entropies against the probabilities that float64 loops find, byte by byte."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rope_core.lab import glimpse, job, plan, weights
from rope_core.lab.corpus import held_out
from rope_core.lab.lines import line
from rope_core.spectrum import spectrum
from tests.support.lab_oracle import Array
from tests.support.lab_reader import bytes_drawn, read, small, stock


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-learned": small("learned")})


def seen(model: Any, documents: Any, frequencies: Any = None, factor: float = 1.0) -> Array:
    """Probabilities by the loops, (documents, layers, heads, S, S)."""
    count, size = documents.shape
    out = np.zeros((count, model.shape.layers, model.shape.heads, size, size))
    for each, kept in zip(documents, out, strict=True):
        read(model, each.tobytes(), frequencies, factor=factor, attention=kept)
    return out


def entropy(p: Array) -> Array:
    """-sum p ln p, one number at a time."""
    rows = p.reshape(-1, p.shape[-1])
    return np.array([-sum(v * math.log(v) for v in row if v > 0) for row in rows]).reshape(p.shape[:-1])


@pytest.mark.parametrize(
    ("encoding", "key"), [("rope", "none"), ("rope", "yarn"), ("alibi", ""), ("t5", ""), ("nope", "")]
)
def test_maps_and_entropies_are_those_of_the_loops(encoding: str, key: str) -> None:
    model, size, bins = small(encoding), 27, 4
    documents = np.frombuffer(bytes_drawn(2 * size, 6), dtype=np.uint8).reshape(2, size)
    place, frequencies, factor = None, None, 1.0
    if key:
        request = line(key).request(model.shape, size)
        place, factor = plan.place(model, key, size), spectrum(request).attention_factor
        frequencies = lambda i, j: spectrum(request).inv_freq  # noqa: E731
    view = glimpse.look(model, documents, 1, 1, place, bins)
    p = seen(model, documents, frequencies, factor)
    np.testing.assert_allclose(view.entropy, entropy(p[:, 1, 1]), atol=2e-4)
    late = entropy(p)[..., size - size // 4 :].mean((0, 3))
    np.testing.assert_allclose(view.heads, late, atol=2e-4)
    edges = [0, 7, 14, 20, 27]
    for a in range(bins):
        for b in range(bins):
            block = p[:, 1, 1, edges[a] : edges[a + 1], edges[b] : edges[b + 1]]
            assert view.map[a, b] == pytest.approx(block.sum(-1).mean(), abs=2e-5)


def test_rows_of_a_map_sum_to_one_and_nothing_looks_ahead() -> None:
    model, size = small(), 100
    documents = np.frombuffer(bytes_drawn(size), dtype=np.uint8)[None]
    result = glimpse.look(model, documents, 0, 0).map
    assert result.shape == (64, 64)
    np.testing.assert_allclose(result.sum(1), 1.0, atol=1e-5)
    assert not np.triu(result, 1).any() and (np.diagonal(result) > 0).all()


def test_a_head_that_does_not_care_has_the_largest_entropy() -> None:
    model = small()
    with torch.no_grad():
        model.get_parameter("blocks.0.attention.qkv.weight").zero_()
    documents = np.frombuffer(bytes_drawn(20), dtype=np.uint8)[None]
    view = glimpse.look(model, documents, 0, 1, bins=5)
    np.testing.assert_allclose(view.entropy[0], np.log(np.arange(1, 21)), atol=1e-5)


def test_a_cell_has_intervals_over_documents() -> None:
    result = list(
        job.steps(
            "glimpse", {"weights": ["tiny"], "lines": ["none", "yarn"], "lengths": [12, 70], "head": 1, "documents": 3}
        )
    )
    assert [(c["line"], c["length"]) for _, c in result] == [("none", 12), ("yarn", 12), ("none", 70), ("yarn", 70)]
    assert result[-1][0] == 1.0
    documents = np.stack([np.frombuffer(d.text, dtype=np.uint8)[:70] for d in held_out()[:3]])
    for _, each in result:
        size, model = each["length"], weights.load("tiny")
        assert (each["layer"], each["head"], each["documents"]) == (0, 1, 3)
        view = glimpse.look(model, documents[:, :size], 0, 1, plan.place(model, each["line"], size))
        np.testing.assert_allclose(each["map"], view.map, atol=1e-5)
        np.testing.assert_allclose(each["heads"], view.heads, atol=1e-5)
        cut = np.linspace(0, size, min(64, size) + 1).round().astype(int)
        for i, (a, b) in enumerate(itertools.pairwise(cut)):
            mine = view.entropy[:, a:b].mean(1)
            assert each["entropy"][i] == pytest.approx(mine.mean(), abs=1e-5)
            assert each["entropy_low"][i] <= each["entropy"][i] + 1e-5
            assert each["entropy"][i] - 1e-5 <= each["entropy_high"][i]
            assert each["entropy_max"][i] == pytest.approx(np.mean([math.log(q + 1) for q in range(a, b)]), abs=1e-5)
        factor = spectrum(line(each["line"]).request(model.shape, size)).attention_factor
        assert each["logit_scale"] == pytest.approx(factor**2, abs=1e-6)
    assert result[-1][1]["logit_scale"] > 1.3


def test_the_interval_is_that_of_a_mean() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, (400, 1))
    mean, low, high = glimpse.interval(values)
    error = 1.96 * values.std() / 20
    assert mean[0] == values.mean() and low and high
    assert low[0] == pytest.approx(mean[0] - error, abs=0.08 * error)
    assert high[0] == pytest.approx(mean[0] + error, abs=0.08 * error)
    assert glimpse.interval(values[:1])[1:] == (None, None)
    mean, low, high = glimpse.interval(np.array([[1.0], [2.0]]))
    assert low and high and high[0] - mean[0] == mean[0] - low[0] == pytest.approx(12.7062 / 2)


def test_past_a_learned_table_there_is_nothing_to_look_at() -> None:
    ((_, inside), (_, past)) = glimpse.run(glimpse.Ask(("tiny-learned",), lengths=(12, 13)))
    assert inside["map"] and inside["logit_scale"] == 1.0
    assert past["undefined"] == "its table ends at position 12" and "map" not in past


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"layer": 2}, "layer must be an integer in [0, 1], got 2"),
        ({"head": -1}, "head must be an integer in [0, 1], got -1"),
        ({"lengths": [5000]}, "length must be at most 4,096 on the held-out documents, got 5000"),
        ({"lengths": [1]}, "lengths must be an integer in [2, 131072], got 1"),
        ({"documents": 0}, "documents must be an integer in [1, 4096], got 0"),
        ({"lines": ["x"]}, "line must be one of"),
        ({"weights": ["x"]}, "weights must be one of"),
        ({"text": "YWJj"}, "text must be at least 61 bytes"),
        ({"tail": 1}, "arguments must be those of glimpse"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(wanted: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        job.steps("glimpse", {"weights": ["tiny"], "lengths": [60]} | wanted)
    assert str(error.value).startswith(text)


def test_lengths_past_memory_are_refused_before_they_are_read() -> None:
    with pytest.raises(ValueError, match=r"length must be short enough for 2 GiB; it takes .* GiB, got 70000"):
        glimpse.look(small(), np.zeros((1, 70_000), dtype=np.uint8), 0, 0)
