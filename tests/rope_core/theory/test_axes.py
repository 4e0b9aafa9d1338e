"""Directions of frequencies against the authors' formulas and transformers' own order of pairs."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding

from rope_core import rotation_matrix
from rope_core.theory.axes import (
    axial_frequencies,
    axial_frequencies_turned_by,
    golden_gate_frequencies,
    mean_cosine_map,
    mrope_frequencies,
)


@pytest.mark.parametrize(("pairs", "axes"), [(32, 2), (7, 3)])
def test_golden_directions_are_the_authors(pairs: int, axes: int) -> None:
    """The post's own steps: ten rounds for g, erfinv of 2 z - 1, length 1."""
    g = 2.0
    for _ in range(10):
        g = (1 + g) ** (1 / (axes + 1))
    z = torch.fmod(torch.arange(1, pairs + 1, dtype=torch.float64)[:, None] * (1 / g) ** torch.arange(1, axes + 1), 1)
    directions = torch.nn.functional.normalize(torch.erfinv(2 * z - 1), dim=-1)
    sizes = 0.02 * (3.0 / 0.02) ** torch.linspace(0, 1, pairs, dtype=torch.float64)
    np.testing.assert_allclose(golden_gate_frequencies(pairs, 0.02, 3.0, axes), directions * sizes[:, None], atol=2e-4)


@given(st.floats(-10, 10), st.integers(1, 20))
def test_turned_axial_is_axial_seen_from_a_turned_grid(angle: float, half: int) -> None:
    result = axial_frequencies_turned_by(2 * half, 0.1, 2.0, angle)
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    np.testing.assert_allclose(result, axial_frequencies(2 * half, 0.1, 2.0) @ turn, atol=1e-12)


@pytest.mark.parametrize("counts", [(24, 20, 20), (12, 10, 10)])
def test_interleaved_sections_are_qwen3_vls(counts: tuple[int, int, int]) -> None:
    """The module's cosines at a frame, a row and a column, one at a time, tell which pairs follow which axis."""
    dim, base = 2 * sum(counts), 5e5
    parameters = {"rope_type": "default", "rope_theta": base, "mrope_section": list(counts), "mrope_interleaved": True}
    config = Qwen3VLTextConfig(hidden_size=4 * dim, num_attention_heads=4, head_dim=dim, rope_parameters=parameters)
    module = Qwen3VLTextRotaryEmbedding(config)
    place = torch.tensor([3, 5, 7])
    cos, _ = module(torch.zeros(1), place[:, None, None])
    expected = np.cos(mrope_frequencies(counts, base, interleaved=True) @ place.numpy())
    np.testing.assert_allclose(cos[0, 0, : dim // 2].numpy(), expected, atol=2e-6)


@pytest.mark.parametrize(
    "frequencies",
    [axial_frequencies(6, 0.1, 1.0), golden_gate_frequencies(5, 0.2, 2.0), mrope_frequencies((4, 2, 2), 300.0, True)],
)
def test_a_score_map_is_the_score_of_turned_vectors(frequencies: np.ndarray) -> None:
    """Turn a query and a key by the full matrix, each at its own place, and take their product."""
    rng = np.random.default_rng(4)
    q_at, k_at = rng.integers(0, 30, (2, frequencies.shape[1]))
    vector = np.tile([0.6, 0.8], len(frequencies))
    turned = [rotation_matrix(1.0, frequencies @ at, "interleaved") @ vector for at in (q_at, k_at)]
    expected = turned[0] @ turned[1] / (vector @ vector)
    assert mean_cosine_map(frequencies, q_at - k_at) == pytest.approx(expected, abs=1e-12)


def test_axial_pairs_never_forget_their_own_row() -> None:
    far = np.array([[0, d] for d in range(8, 200)])
    assert mean_cosine_map(axial_frequencies(32, 0.01, 1.0), far).min() > 0.2
    assert mean_cosine_map(golden_gate_frequencies(32, 0.01, 1.0), far).min() < 0.1


def test_refusals() -> None:
    with pytest.raises(ValueError, match="pairs must be even, got 3"):
        axial_frequencies(3, 0.1, 1.0)
    with pytest.raises(ValueError, match="low must be"):
        axial_frequencies(4, 2.0, 1.0)
    with pytest.raises(ValueError, match="offsets must be of shape"):
        mean_cosine_map(axial_frequencies(4, 0.1, 1.0), [1.0, 2.0, 3.0])
