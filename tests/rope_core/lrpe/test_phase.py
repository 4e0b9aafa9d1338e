"""Fixed-point turns per token: against exact fractions, negative and large frequencies included."""

from fractions import Fraction

import mpmath
import numpy as np

from rope_core import Spectrum
from rope_core.lrpe.phase import PER_TURN, phase_steps


def test_one_turn_in_four_tokens_is_a_quarter() -> None:
    assert phase_steps(np.array([np.pi / 2]))[0] / 2.0**64 == 0.25
    assert phase_steps(np.array([0.0]))[0] == 0


def test_the_constant_is_one_over_two_pi() -> None:
    with mpmath.workdps(60):
        exact = 1 / (2 * mpmath.pi)
        assert abs(mpmath.mpf(PER_TURN.numerator) / PER_TURN.denominator - exact) < mpmath.mpf(2) ** -159


def test_agrees_with_exact_arithmetic() -> None:
    rng = np.random.default_rng(0)
    theta = np.concatenate(
        [rng.normal(size=200), 10.0 ** rng.uniform(-12, 6, 200), -(10.0 ** rng.uniform(-12, 6, 200)), [2.0**20, 5e-324]]
    )
    for value, step in zip(theta, phase_steps(theta), strict=True):
        exact = Fraction(float(value)) * PER_TURN * 2**64
        off = (int(step) - exact) % 2**64
        assert min(off, 2**64 - off) <= 2, value


def test_agrees_with_the_spectrum() -> None:
    inv_freq = 10000.0 ** (-np.arange(64) / 64)
    off = phase_steps(inv_freq).view(np.uint64) - Spectrum.of(inv_freq).phase_step
    assert np.abs(off.view(np.int64)).max() <= 2
