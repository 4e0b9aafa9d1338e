"""All schemes side by side: who takes part, unseen angles, and cell means against sums position by position."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import SCHEMES, Param, Request, Rope, Spectrum, cos_sin, spectrum
from rope_core.schemes import Rescale, Scheme
from rope_core.theory.extension import (
    compared_schemes,
    extended_length,
    first_pair_under_fifth_turn,
    is_factor_only_scheme,
    length_independent_schemes,
    mean_cosine_per_bin,
    position_bin_edges,
    reached_untrained_angle_mask,
    scheme_spectra,
    trained_angles,
    untrained_angle_mask,
    untrained_pair_count,
    with_factor,
)


def test_who_extends_is_read_off_the_params() -> None:
    # A scheme that is added as newer is among them without a change here.
    assert set(SCHEMES) - set(compared_schemes()) == {"longrope", "proportional"} | {
        n for n, s in SCHEMES.items() if s.newer
    }
    assert {"cope", "lerope"} <= set(SCHEMES) - set(compared_schemes())
    assert "longrope" in compared_schemes("longrope")
    drawn = Scheme("new", (Param("factor", 3.0, 1.0, 9.0),), lambda rope, seq_len: Rescale(np.ones(1)), "-", False)
    assert is_factor_only_scheme(drawn)


def test_reach() -> None:
    assert extended_length(Rope(128, 1e4, 4096), 2.5) == 10_240
    with pytest.raises(ValueError, match="factor must be such that"):
        extended_length(Rope(128, 1e4, 2**31 - 1), 2.0)


@settings(max_examples=40, deadline=None)
@given(
    pairs=st.integers(2, 24),
    base=st.floats(1.0001, 1e7),
    train=st.integers(16, 70_000),
    factor=st.floats(1.0, 64.0),
    stretch=st.floats(1.0, 9.0),
)
def test_extensions_are_spectra(pairs: int, base: float, train: int, factor: float, stretch: float) -> None:
    rope, length = Rope(2 * pairs, base, train), round(stretch * train)
    params = {name: {"factor": factor} if SCHEMES[name].params else {} for name in compared_schemes()}
    result, refused = scheme_spectra(rope, params, length)
    assert not refused
    for each in result:
        expected = spectrum(Request(rope, each.scheme, params[each.scheme], length))
        assert np.array_equal(each.spectrum.slowdown, expected.slowdown)


def test_one_scheme_of_each_kind() -> None:
    """The first slows all pairs alike, the second each more than the one before, the last none, then all alike."""
    rope = Rope(128, 1e4, 4096)
    alike, rising, *blends = (
        spectrum(Request(rope, name, {"factor": 4.0})).slowdown for name in length_independent_schemes()
    )
    assert np.all(alike == 4.0) and np.all(np.diff(rising) > 0)
    assert all(np.all(blended[:20] == 1.0) and np.allclose(blended[-15:], 4.0) for blended in blends)
    assert {*length_independent_schemes("dynamic")} == {*length_independent_schemes(), "dynamic"}


@given(factor=st.floats(1.0, 30.0), train=st.integers(16, 9000))
def test_a_request_at_another_factor(factor: float, train: int) -> None:
    rope = Rope(16, 1e4, train)
    for name in compared_schemes():
        moved = with_factor(Request(rope, name), factor)
        wanted = {"factor": factor} if SCHEMES[name].params else {}
        length = round(factor * train) if SCHEMES[name].follows_length else None
        assert moved == Request(rope, name, wanted, length)
    assert with_factor(Request(rope, "dynamic", seq_len=77), factor).seq_len == 77


@pytest.mark.parametrize(
    "rope", [Rope(128, 1e4, 4096), Rope(64, 5e5, 8192), Rope(2), Rope(8, 2.0, 4096), Rope(6, 1e9, 3)]
)
def test_a_slow_hand_made_less_than_a_fifth_of_a_turn(rope: Rope) -> None:
    slow = [i for i in range(rope.pairs) if 5 * rope.train_len * rope.base ** (-2 * i / rope.dim) < 2 * math.pi]
    assert first_pair_under_fifth_turn(rope) == [*slow, rope.pairs - 1][0]


@settings(max_examples=40, deadline=None)
@given(
    base=st.floats(1.5, 1e6),
    train=st.integers(2, 300),
    factor=st.floats(1.0, 9.0),
    name=st.sampled_from(compared_schemes()),
    distance=st.integers(0, 900),
)
def test_unseen_angles_token_by_token(base: float, train: int, factor: float, name: str, distance: int) -> None:
    """Each pair is walked token by token, in halves of a degree, beside what it saw in training."""
    rope = Rope(8, base, train)
    s = spectrum(with_factor(Request(rope, name), factor))
    past, new = (function(rope, s, [distance])[0] for function in (reached_untrained_angle_mask, untrained_angle_mask))
    for i, (trained, used) in enumerate(zip(rope.theta * train, s.inv_freq * distance, strict=True)):
        if min(abs(used - trained), abs(used % (2 * math.pi) - trained)) < 1e-6 or abs(trained - 2 * math.pi) < 1e-6:
            continue
        walked = np.linspace(0.0, used, 2000)
        assert past[i] == bool(np.any((walked > trained) & (trained < 2 * math.pi)))
        assert new[i] == (
            trained < 2 * math.pi and used > trained and used - 2 * math.pi * (used // (2 * math.pi)) > trained
        )
    assert np.allclose(trained_angles(rope), [min(f * train, 2 * math.pi) for f in rope.theta])


def test_unseen_angles_by_hand() -> None:
    # theta = 1, 0.1, 0.01, 0.001; 100 tokens show 1 turn of the first two and 1 and 0.1 rad of the others.
    rope = Rope(8, 10_000.0, 100)
    plain = spectrum(Request(rope))
    assert untrained_pair_count(rope, plain, 100) == 0
    assert untrained_pair_count(rope, plain, 200) == 2
    assert reached_untrained_angle_mask(rope, plain, [0, 99, 100, 101]).tolist() == [[False] * 4] * 3 + [
        [False, False, True, True]
    ]
    assert untrained_angle_mask(rope, plain, [101, 629, 729])[:, 2].tolist() == [True, False, True]
    assert untrained_pair_count(rope, spectrum(Request(rope, "linear", {"factor": 2.0})), 200) == 0
    # NTK at 2 slows by 1, 2**(1/3), 2**(2/3), 2: the third pair still reaches 2 / 1.587 rad.
    assert untrained_pair_count(rope, spectrum(Request(rope, "ntk", {"factor": 2.0})), 200) == 1


@settings(max_examples=60, deadline=None)
@given(length=st.integers(2, 10**7), count=st.integers(1, 200), logarithmic=st.booleans())
def test_edges_cover_the_length(length: int, count: int, logarithmic: bool) -> None:
    edges = position_bin_edges(length, count, logarithmic)
    assert edges[0] == int(logarithmic)
    assert edges[-1] == length
    assert np.all(np.diff(edges) > 0)
    assert edges.size <= count + 1


@settings(max_examples=40, deadline=None)
@given(
    base=st.floats(1.0001, 1e6),
    start=st.integers(0, 40_000),
    widths=st.lists(st.integers(1, 300), min_size=1, max_size=6),
)
def test_cell_means_are_sums_over_positions(base: float, start: int, widths: list[int]) -> None:
    s = spectrum(Request(Rope(16, base)))
    edges = np.cumsum([start, *widths])
    cos, _ = cos_sin(s, np.arange(edges[0], edges[-1]), "float64")
    rows = np.split(cos, edges[1:-1] - edges[0])
    expected = np.array([part.mean(axis=0) for part in rows]).T
    assert np.abs(mean_cosine_per_bin(s, edges) - expected).max() < 1e-9


def test_cell_means_of_still_and_alternating_pairs() -> None:
    result = mean_cosine_per_bin(Spectrum.from_inv_freq([0.0, math.pi, 2 * math.pi]), [5, 6, 9, 11])
    assert np.allclose(result, np.array([[1, 1, 1], [-1, 1 / 3, 0], [1, 1, 1]]), atol=1e-9)
    with pytest.raises(ValueError, match="edges must be a rising vector"):
        mean_cosine_per_bin(Spectrum.from_inv_freq([1.0]), [3, 3])
