"""The lab's model and its positions against the same written again in float64 loops."""

from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.lab.model import KeyValueCache, LabModel
from rope_core.lab.positions import POSITIONS, rotary_encoding_for
from rope_core.lab.shape import ModelShape
from tests.support import lab_reader as reader

ENCODINGS = tuple(POSITIONS)


def small(encoding: str) -> LabModel:
    """Return a model with weights large enough for positions to matter."""
    return reader.small(encoding, width=24, heads=3, hidden=20, context=48, base=700.0)


def text(size: int, seed: int = 0) -> list[int]:
    """Drawn bytes."""
    return [int(v) for v in np.random.default_rng(seed).integers(0, 256, size)]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_model_is_what_the_loops_say(encoding: str) -> None:
    model, given = small(encoding), text(40)
    with torch.no_grad():
        result = model(torch.tensor([given]))[0].double().numpy()
    expected = reader.read(model, bytes(given))
    np.testing.assert_allclose(result, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_training_and_evaluation_compute_the_same(encoding: str) -> None:
    model, given = small(encoding), torch.tensor([text(33), text(33, 1)])
    trained = model(given)
    with torch.no_grad():
        torch.testing.assert_close(model(given), trained.detach(), atol=3e-4, rtol=1e-4)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_byte_sees_a_later_one(encoding: str) -> None:
    model, given = small(encoding), torch.tensor([text(30)])
    other = given.clone()
    other[0, 20] = (other[0, 20] + 1) % 256
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            a, b = model(given), model(other)
        assert torch.equal(a[:, :20], b[:, :20])
        assert not torch.allclose(a[:, 20:], b[:, 20:], atol=1e-3)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_reading_in_pieces_is_reading_at_once(encoding: str) -> None:
    model, given = small(encoding), torch.tensor([text(36)])
    with torch.no_grad():
        whole = model(given)
        cache, parts, first = KeyValueCache([]), [], 0
        for size in (17, 1, 1, 9, 1, 7):
            parts.append(model(given[:, first : first + size], cache=cache))
            first += size
    assert cache.length == 36
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=3e-4, rtol=1e-4)


@pytest.mark.parametrize(("scheme", "params"), [("yarn", {"factor": 4.0}), ("ntk", {"factor": 3.0}), ("linear", {})])
def test_a_scheme_turns_by_its_own_frequencies(scheme: str, params: dict[str, float]) -> None:
    model, given = small("rope"), text(60, 5)
    request = rc.Request(model.shape.rope, scheme, params, seq_len=60)
    s = rc.spectrum(request)
    with torch.no_grad():
        result = (
            model(torch.tensor([given]), place=rotary_encoding_for(model.shape, request).at(0, 60))[0].double().numpy()
        )
    expected = reader.read(model, bytes(given), lambda i, j: s.inv_freq, factor=s.attention_factor)
    np.testing.assert_allclose(result, expected, atol=2e-4 * np.abs(expected).max())
    plain = reader.read(model, bytes(given))
    assert np.abs(plain - expected).max() > 1e-2


def test_a_learned_table_ends() -> None:
    with pytest.raises(ValueError, match="at most the table's 48 positions, got 49"):
        small("learned")(torch.tensor([text(49)]))


def test_a_request_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="the model's head dimension 8, got 16"):
        rotary_encoding_for(small("rope").shape, rc.Request(rc.Rope(16)))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"encoding": "rotary"}, "encoding must be one of rope, "),
        ({"width": 30, "heads": 4}, "width must be a multiple of 8, got 30"),
        ({"layers": 0}, "layers must be"),
        ({"context": 1}, "context must be"),
        ({"base": 1.0}, "base must be"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ModelShape(**given)


def test_equal_seeds_give_equal_weights_and_leave_the_generator_alone() -> None:
    before = torch.random.get_rng_state()
    a, b, c = (LabModel(ModelShape(layers=1, width=8, heads=2, hidden=8), seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(a.embedding.weight, c.embedding.weight)
    assert sum(p.numel() for p in LabModel(ModelShape()).parameters()) == 1_820_352
