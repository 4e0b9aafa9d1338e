"""Linear attention with turned features: against sums written out, and its decay against the mean cosine."""

import numpy as np
import pytest

from rope_core.lrpe import explain, linear
from rope_core.rope import Rope


def by_hand(q: np.ndarray, k: np.ndarray, v: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Causal attention with relu features, every score by complex numbers."""
    half = theta.size
    fq, fk = np.maximum(q, 0), np.maximum(k, 0)
    out = np.empty_like(v)
    for m in range(len(q)):
        above, below = np.zeros(v.shape[1]), 0.0
        for n in range(m + 1):
            a, b = fq[m, :half] + 1j * fq[m, half:], fk[n, :half] + 1j * fk[n, half:]
            above += float((a * np.conj(b) * np.exp(1j * (m - n) * theta)).real.sum()) * v[n]
            below += float(fq[m] @ fk[n])
        out[m] = above / below
    return out


@pytest.mark.parametrize("offset", [0, 1000])
def test_scores_and_running_sum_are_the_sums_written_out(offset: int) -> None:
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(9, 8)), rng.normal(size=(9, 8)), rng.normal(size=(9, 3))
    theta = Rope(8, 40.0).theta
    result = linear.linear_attention(q, k, v, theta, "relu", offset)
    exact = by_hand(q, k, v, theta)
    np.testing.assert_allclose(result.by_scores, exact, atol=1e-11)
    np.testing.assert_allclose(result.by_state, exact, atol=1e-11)
    assert result.undefined_token_count == 0 and result.residual < 1e-13


@pytest.mark.parametrize("act", explain.NON_NEGATIVE)
def test_every_feature_map_gives_plain_scores_that_are_not_negative(act: str) -> None:
    result = linear.random_linear_attention(Rope(64, 1e4).theta, act, 20)
    assert (result.plain >= 0).all()
    assert result.residual < 1e-13
    assert result.negative_score_count == int((result.scores[np.tril_indices(20)] < 0).sum())


def test_tokens_without_a_common_feature_have_no_output() -> None:
    # Token 1 sees a turned score that is not 0, over a plain sum that is.
    q, k = np.array([[1.0, -1.0]] * 3), np.array([[-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    result = linear.linear_attention(q, k, np.ones((3, 1)), np.array([0.5]), "relu")
    assert result.undefined_token_count == 2 and abs(result.scores[1, 0]) > 0.1
    assert np.isnan(result.by_state[:2]).all()
    np.testing.assert_allclose(result.by_scores[2], result.by_state[2])
