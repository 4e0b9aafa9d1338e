"""What the page shows: stages, decoding, linear attention, sample frequencies."""

import numpy as np
import pytest

from rope_core import rotation_matrix
from rope_core.lrpe import lrpe_rotate
from rope_core.lrpe.explain import (
    NON_NEGATIVE,
    compare_decoding,
    forward_stages,
    linear_scores,
    sample_theta,
)

RNG = np.random.default_rng(0)
THETA = np.array([1.0, 0.3, 0.05])


def test_stages_are_the_op_in_two_steps() -> None:
    x = RNG.normal(size=(2, 4, 3, 6))
    seen = forward_stages(x, THETA, act="relu2", offset=2)
    np.testing.assert_array_equal(seen.x, x)
    np.testing.assert_array_equal(seen.activated, np.maximum(x, 0) ** 2)
    np.testing.assert_allclose(seen.out, lrpe_rotate(seen.activated, THETA, offset=2), atol=1e-15)


def test_the_decode_strip_agrees_in_every_bit_unless_it_looks_along_the_sequence() -> None:
    x = RNG.normal(size=(2, 6, 2, 6))
    for options in ({"act": "silu"}, {"act": "softmax", "dim": -1}, {"act": "gelu", "rotary_dim": slice(0, 6)}):
        assert compare_decoding(x, THETA, offset=90, **options).same_bits
    apart = compare_decoding(x, THETA, act="softmax", dim=1)
    assert not apart.same_bits and np.abs(apart.whole - apart.steps).max() > 0.1


@pytest.mark.parametrize("act", NON_NEGATIVE)
def test_linear_scores_are_the_written_product_and_forget_the_offset(act: str) -> None:
    q, k = RNG.normal(size=(5, 6)), RNG.normal(size=(5, 6))
    scores = linear_scores(q, k, THETA, act=act)
    dim = -1 if act == "softmax" else None
    phi_q, phi_k = (forward_stages(v[None], THETA, act=act, dim=dim).activated[0] for v in (q, k))
    assert phi_q.min() >= 0
    for m in range(5):
        for n in range(5):
            wanted = phi_q[m] @ rotation_matrix(m, THETA, "half").T @ rotation_matrix(n, THETA, "half") @ phi_k[n]
            assert abs(scores[m, n] - wanted) < 1e-12
    np.testing.assert_allclose(linear_scores(q, k, THETA, act=act, offset=5000), scores, atol=1e-10)


def test_samples_have_the_shapes_they_promise() -> None:
    np.testing.assert_allclose(sample_theta("geometric", 3, 4, base=16.0), [1.0, 0.5, 0.25, 0.125])
    assert sample_theta("per head", 3, 4).shape == (3,)
    learned = sample_theta("learned", 3, 4)
    assert learned.shape == (3, 4) and (learned > 0).all()
    np.testing.assert_array_equal(learned, sample_theta("learned", 3, 4))
    assert not np.array_equal(learned, sample_theta("learned", 3, 4, seed=1))


def test_bad_input_is_refused() -> None:
    ones = np.ones((2, 2))
    with pytest.raises(ValueError, match=r"act must be one of relu, .* nowhere negative, got 'gelu'"):
        linear_scores(ones, ones, [1.0], act="gelu")
    with pytest.raises(ValueError, match=r"q and k must be two arrays of one shape \(N, D\)"):
        linear_scores(ones, ones[:1], [1.0])
    with pytest.raises(ValueError, match="kind must be one of geometric, per head, learned, got 'random'"):
        sample_theta("random", 1, 1)
    with pytest.raises(ValueError, match="base must be a finite number > 1"):
        sample_theta("geometric", 1, 1, base=1.0)
