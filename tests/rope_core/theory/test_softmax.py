"""Softmax against length: torch's softmax and entropy, and the scales of released models."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
import torch

from rope_core.theory import softmax as tm


def test_softmax_and_entropy_are_torchs() -> None:
    z = 30 * np.random.default_rng(2).standard_normal((4, 9))
    z[1, 3] = -np.inf
    theirs = torch.softmax(torch.from_numpy(z), -1)
    np.testing.assert_allclose(tm.softmax(z), theirs.numpy(), atol=1e-15)
    expected = -torch.special.xlogy(theirs, theirs).sum(-1)
    np.testing.assert_allclose(tm.entropy(tm.softmax(z)), expected.numpy(), atol=1e-12)
    np.testing.assert_allclose(tm.softmax(z, axis=0), torch.softmax(torch.from_numpy(z), 0).numpy(), atol=1e-15)


def test_softmax_does_not_overflow() -> None:
    assert tm.softmax([1e4, 0.0]).tolist() == [1.0, 0.0]


def test_entropy_grows_with_length_and_a_scale_holds_it() -> None:
    """N(0, 1) logits: entropy is about ln n - 1/2."""
    flat = [tm.random_attention_means(n, signal=0.0).entropy for n in (1024, 8192)]
    assert flat == pytest.approx([math.log(1024) - 0.5, math.log(8192) - 0.5], abs=0.05)
    plain, scaled = tm.random_attention_means(8192), tm.random_attention_means(8192, scale=1.4)
    assert scaled.entropy < plain.entropy and scaled.meant > plain.meant and scaled.largest > plain.largest
    assert tm.random_attention_means(1) == tm.AttentionMeans(0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("length", "scale", "signal"), [(3, 1.5, 1.0), (16, 1.0, 4.0), (16, 2.5, 8.0), (128, 1.6, 2.0)]
)
def test_expected_attention_is_what_draws_average_to(length: int, scale: float, signal: float) -> None:
    """Within five standard errors of 60,000 draws: the many-keys formula is 1.1 % off at 16 keys, ten of them."""
    rng = np.random.default_rng(5)
    logits = rng.standard_normal((60_000, length))
    logits[:, 0] += signal
    p = tm.softmax(scale * logits)
    entropy, meant = tm.expected_entropy_and_weight([length], scale, signal)
    for value, drawn in ((meant[0], p[:, 0]), (entropy[0], tm.entropy(p))):
        assert value == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 60_000**0.5)


@pytest.mark.parametrize(("scale", "signal"), [(1.0, 4.0), (2.0, 0.5), (0.3, 9.0)])
def test_expected_attention_of_two_keys_is_one_integral(scale: float, signal: float) -> None:
    """Of two keys only the difference counts, c (signal + sqrt(2) z): integrated by mpmath."""

    def mean(of: Callable[[mp.mpf], mp.mpf]) -> float:
        return float(
            mp.quad(
                lambda z: mp.npdf(z) * of(1 / (1 + mp.exp(-scale * (signal + mp.sqrt(2) * z)))), [-12, -4, 0, 4, 12]
            )
        )

    entropy, meant = tm.expected_entropy_and_weight([2], scale, signal)
    assert meant[0] == pytest.approx(mean(lambda p: p), abs=1e-9)
    assert entropy[0] == pytest.approx(mean(lambda p: -p * mp.log(p) - (1 - p) * mp.log1p(-p)), abs=1e-9)


def test_without_a_scale_attention_is_even() -> None:
    entropy, meant = tm.expected_entropy_and_weight([2, 1000], [0.0, 0.0], 9.0)
    np.testing.assert_allclose(entropy, np.log([2, 1000]), atol=1e-12)
    np.testing.assert_allclose(meant, [1 / 2, 1 / 1000], atol=1e-15)


def test_factor_scale_is_the_square_of_yarns_root() -> None:
    assert tm.yarn_logit_scale(16.0) == pytest.approx((0.1 * math.log(16) + 1) ** 2)
    # DeepSeek-V3: mscale 1, factor 40: softmax scale 192**-0.5 * 1.3689 ** 2.
    assert tm.yarn_logit_scale(40.0, 1.0) == pytest.approx(1.3688879454113936**2)
    assert tm.yarn_logit_scale(0.5) == 1.0


def test_llama4s_scale_is_the_models_formula() -> None:
    positions = torch.tensor([0, 8190, 8191, 16_383, 1_000_000])
    theirs = torch.log1p(torch.floor((positions.float() + 1.0) / 8192.0)) * 0.1 + 1.0
    np.testing.assert_allclose(tm.llama4_query_scale(positions.numpy()), theirs.numpy(), rtol=1e-6)


def test_qwens_scale_is_its_released_list() -> None:
    released = [math.log(i, 2048) if i > 2048 else 1 for i in range(1, 8192, 97)]
    np.testing.assert_allclose(tm.log_length_scale(np.arange(1, 8192, 97), 2048), released, rtol=1e-12)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="train_len must be an integer in"):
        tm.log_length_scale([1], 1)
    with pytest.raises(ValueError, match="lengths must be finite numbers >= 1"):
        tm.log_length_scale([0], 10)
    with pytest.raises(ValueError, match="positions must be finite numbers >= 0"):
        tm.llama4_query_scale([-1])
    with pytest.raises(ValueError, match="lengths must be finite numbers >= 2"):
        tm.expected_entropy_and_weight([1], 1.0)
    with pytest.raises(ValueError, match="scales must be a non-empty vector of finite numbers"):
        tm.expected_entropy_and_weight([5], np.nan)
    with pytest.raises(ValueError, match="length must be an integer in"):
        tm.random_attention_means(0)


@pytest.mark.parametrize("words", [2, 3, 40, 700])
def test_drawn_ranges_have_the_law_of_the_least_and_greatest_of_so_many_scores(words: int) -> None:
    bins = 4_000
    low, high = tm.random_score_ranges([words * bins, bins / 2], bins, 7)[0].T
    scores = np.random.default_rng(1).standard_normal((bins, words))
    for drawn, counted in ((low, scores.min(axis=1)), (high, scores.max(axis=1))):
        for share in (0.1, 0.5, 0.9):
            assert abs((drawn < np.quantile(counted, share)).mean() - share) < 0.03
    both = np.corrcoef(low, high)[0, 1], np.corrcoef(scores.min(axis=1), scores.max(axis=1))[0, 1]
    assert abs(both[0] - both[1]) < 0.07 and np.all(low <= high)


def test_a_part_of_one_word_has_one_score() -> None:
    ranges = tm.random_score_ranges([3, 96], 96, 5)
    np.testing.assert_array_equal(ranges[..., 0], ranges[..., 1])
    assert 0.7 < tm.random_score_ranges([4000], 4000, 5).std() < 1.3
