"""The checks of the challenges, against brute force over the answers that a reader may give."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Rope
from rope_core.theory import challenges


def test_twins_are_the_positions_whose_arrows_agree() -> None:
    rope = Rope(8, 50.0, 4096)
    for pair in range(rope.pairs):
        arrows = np.exp(1j * np.arange(400) * rope.theta[pair])
        for second in range(1, 400):
            verdict = challenges.twins(rope, pair, 0.02, 7, (7 + second) % 400)
            gap = abs(np.angle(arrows[(7 + second) % 400] / arrows[7]))
            assert verdict.passed == (gap < 0.02)
            assert verdict.score == 1.0 if verdict.passed else abs(verdict.score - (1 - gap / np.pi)) < 1e-9
            assert abs(verdict.given["gap"] - gap) < 1e-9


def test_a_position_is_no_twin_of_itself() -> None:
    verdict = challenges.twins(Rope(128, 10_000.0, 4096), 0, 0.02, 5, 5)
    assert (verdict.passed, verdict.score, verdict.reason) == (False, 0.0, "same")


def test_a_base_is_judged_by_the_slowest_wavelength() -> None:
    for dim, length in ((128, 32_768), (64, 4096)):
        bases = np.geomspace(100.0, 1e6, 4001)
        slowest = np.array([2 * np.pi * base ** (1 - 2 / dim) for base in bases])
        least = bases[slowest >= length][0]
        for base, wavelength in zip(bases, slowest, strict=True):
            verdict = challenges.slowest_repeats(dim, length, 1.2, base)
            if wavelength < length:
                assert verdict.reason == "small" and verdict.score < 1
            elif base > 1.21 * least:
                assert verdict.reason == "large" and verdict.score < 1
            elif base < 1.19 * least:
                assert verdict.passed and verdict.score == 1
            np.testing.assert_allclose(verdict.given["wavelength"], wavelength, rtol=1e-12)
