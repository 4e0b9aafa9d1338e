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


def test_a_negative_score_is_found_where_the_mean_of_the_cosines_is() -> None:
    rope = Rope(64, 10_000.0, 4096)
    scores = np.cos((np.arange(3000) - 1)[:, None] * rope.theta).mean(axis=1)
    verdicts = [challenges.negative_score(rope, 1, position) for position in range(3000)]
    assert [verdict.passed for verdict in verdicts] == (scores < 0).tolist()
    np.testing.assert_allclose([verdict.given["value"] for verdict in verdicts], scores, atol=1e-12)
    assert all(verdict.score == 1 or abs(verdict.score + verdict.given["value"] - 1) < 1e-12 for verdict in verdicts)


def test_one_checkpoint_has_the_wrong_layout_and_nothing_else() -> None:
    distances = (0, 1, 5, 40)
    right, scores = challenges.checkpoint_scores(distances, 500.0)
    wrong = {name: np.abs(got - right) > 1e-3 for name, got in scores.items()}
    assert sorted(scores) == ["a", "b", "c", "d"]
    verdicts = {name: challenges.wrong_layout(distances, 500.0, name) for name in scores}
    for name, verdict in verdicts.items():
        assert verdict.passed == (not wrong[name][0] and wrong[name][1:].all())
        assert (verdict.reason == "healthy") == (not wrong[name].any())
        assert (verdict.reason == "at_zero") == wrong[name][0]
    assert sum(verdict.passed for verdict in verdicts.values()) == 1
