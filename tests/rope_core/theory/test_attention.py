"""Attention scores: curves and bounds against the rotation matrices, the base's bound against a brute search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import Request, Rope, rotation_matrix, spectrum
from rope_core.spectrum import Spectrum
from rope_core.theory import attention as at

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_scores_are_those_of_the_matrices(layout: str) -> None:
    s = spectrum(Request(Rope(16, 700.0, 512), "yarn", {"factor": 8.0}))
    q, k = RNG.standard_normal((2, 16))
    for m, n in [(3, 9), (40, 2), (100, 99)]:
        rotated = rotation_matrix(m, s.inv_freq, layout) @ q, rotation_matrix(n, s.inv_freq, layout) @ k
        expected = s.attention_factor**2 * rotated[0] @ rotated[1]
        assert at.score_curve(s, [m - n], q, k, layout)[0] == pytest.approx(expected, abs=1e-10)
        parts = at.pair_contributions(s, [m - n], q, k, layout)
        assert parts.shape == (1, 8) and parts.sum() == pytest.approx(expected, abs=1e-10)


def test_the_sign_of_a_distance() -> None:
    """A query a quarter turn ahead: q = (1, 0) at m, k = (0, 1) at n, and R turns (1, 0) to (0, 1)."""
    s = Spectrum.from_inv_freq([np.pi / 2])
    assert at.score_curve(s, [1.0], [1.0, 0.0], [0.0, 1.0])[0] == pytest.approx(1.0)
    assert at.score_curve(s, [-1.0], [1.0, 0.0], [0.0, 1.0])[0] == pytest.approx(-1.0)


def test_equal_vectors_give_the_mean_cosine() -> None:
    s = spectrum(Request(Rope(32, 3000.0)))
    unit = np.full(32, 1 / np.sqrt(32))
    d = RNG.uniform(-500, 500, 20)
    np.testing.assert_allclose(at.score_curve(s, d), at.score_curve(s, d, unit, unit), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 24), st.floats(2.0, 1e6), st.integers(0, 2**31), st.floats(-5000, 5000))
def test_roformers_bound_holds(pairs: int, base: float, seed: int, distance: float) -> None:
    s = spectrum(Request(Rope(2 * pairs, base)))
    q, k = np.random.default_rng(seed).standard_normal((2, 2 * pairs))
    score = abs(at.score_curve(s, [distance], q, k)[0])
    h = at.pair_score_coefficients(q, k, "interleaved")
    step = np.abs(np.diff(np.append(h, 0))).max()
    assert score <= step * pairs * at.decay_bound(s, [distance])[0] * (1 + 1e-9) + 1e-12


def test_decay_bound_is_the_loop_of_the_paper() -> None:
    rope = Rope(128)
    total = 0.0
    for j in range(1, 65):
        total += abs(sum(np.exp(1j * 50 * 10_000 ** (-2 * i / 128)) for i in range(j)))
    assert at.decay_bound(spectrum(Request(rope)), [50])[0] == pytest.approx(total / 64, abs=1e-9)
    curve = at.decay_bound(spectrum(Request(rope)), np.arange(256))
    assert curve[0] == 32.5 and curve[250] < 0.4 * curve[0]


def test_first_negative_against_a_plain_sum() -> None:
    theta = Rope(64, 2500.0).theta
    sums = [np.cos(m * theta).sum() for m in range(3000)]
    expected = next(m for m, value in enumerate(sums) if value < 0)
    assert at.first_negative_score_distance(64, 2500.0, 3000) == expected
    assert at.first_negative_score_distance(64, 2500.0, expected) is None
    theta = Rope(128).theta
    later = next(m for m in range(3000) if np.cos(m * theta).sum() < 0)
    assert later > 1024 and at.first_negative_score_distance(128, 10_000.0, 3000) == later


@pytest.mark.parametrize(("start", "count"), [(0, 1), (3, 511), (17, 1537), (100_000, 700)])
def test_cosine_sums_are_the_plain_sums(start: int, count: int) -> None:
    theta = Rope(16, 900.0).theta
    m = np.arange(start, start + count, dtype=np.float64)
    np.testing.assert_allclose(at.cosine_sums(theta, start, count), np.cos(m[:, None] * theta).sum(axis=1), atol=1e-9)


def test_served_contexts_end_at_the_first_base_that_serves_the_limit() -> None:
    bases, contexts = at.bases_and_served_contexts(32, 8, 2000)
    assert contexts[-1] == 2000 and (contexts[:-1] < 2000).all()
    np.testing.assert_allclose(np.diff(np.log10(bases)), 1 / 8, atol=1e-12)
    sums = np.cos(np.arange(2000)[:, None] * Rope(32, float(bases[12])).theta).sum(axis=1)
    assert contexts[12] == np.flatnonzero(sums < 0)[0]
    assert (at.bases_and_served_contexts(2, 1, 50)[1] == 2).all()


def test_repeated_starts_again() -> None:
    assert at.cycled_vector([1.0, 2.0, 3.0], 8).tolist() == [1, 2, 3, 1, 2, 3, 1, 2]
    with pytest.raises(ValueError, match="values must be at most 2 numbers, got 3"):
        at.cycled_vector([1.0, 2.0, 3.0], 2)


def test_the_passing_bases_are_no_interval() -> None:
    assert [at.first_negative_score_distance(128, base, 4096) for base in (26_953.0, 26_970.0, 28_632.0)] == [None] * 3
    for base in (26_900.0, 26_980.0, 28_000.0, 28_620.0):
        assert at.first_negative_score_distance(128, base, 4096) is not None


def test_bad_input_is_named() -> None:
    s = spectrum(Request(Rope(8)))
    with pytest.raises(ValueError, match="q must be of size 8 to fit the spectrum, got 4"):
        at.score_curve(s, [1], [1.0] * 4, [1.0] * 4)
    with pytest.raises(ValueError, match="q and k must be given together"):
        at.score_curve(s, [1], [1.0] * 8)
    with pytest.raises(ValueError, match="distances must be a non-empty vector"):
        at.score_curve(s, [np.nan])
    with pytest.raises(ValueError, match="k must be a vector of 2 finite numbers"):
        at.pair_score_coefficients([1.0, 2.0], [1.0], "half")


def test_a_score_carries_the_attention_factor_twice() -> None:
    """cos and sin times a are q and k times a."""
    plain, q, k = Spectrum.from_inv_freq(Rope(16, 700.0).theta), *RNG.standard_normal((2, 16))
    where = np.arange(0, 400, 7)
    scores = at.score_curve(Spectrum.from_inv_freq(plain.inv_freq, 1.3), where, q, k)
    np.testing.assert_allclose(scores, at.score_curve(plain, where, 1.3 * q, 1.3 * k))
