"""The checks of the challenges, against brute force over the answers that a reader may give."""

import math

import mpmath
import numpy as np
import pytest
import torch

from rope_core.rope import Rope
from rope_core.theory import challenges


def test_twins_are_the_positions_whose_arrows_agree() -> None:
    rope = Rope(8, 50.0, 4096)
    for pair in range(rope.pairs):
        arrows = np.exp(1j * np.arange(400) * rope.theta[pair])
        for second in range(1, 400):
            verdict = challenges.check_equal_angles(rope, pair, 0.02, 7, (7 + second) % 400)
            gap = abs(np.angle(arrows[(7 + second) % 400] / arrows[7]))
            assert verdict.passed == (gap < 0.02)
            assert (verdict.reason == "half") == (gap > np.pi - 0.2)
            assert abs(verdict.given["gap"] - gap) < 1e-9


def test_a_position_is_no_twin_of_itself() -> None:
    verdict = challenges.check_equal_angles(Rope(128, 10_000.0, 4096), 0, 0.02, 5, 5)
    assert not verdict.passed and verdict.reason == "same"


def test_a_base_is_judged_by_the_slowest_wavelength() -> None:
    for dim, length in ((128, 32_768), (64, 4096)):
        bases = np.geomspace(100.0, 1e6, 4001)
        slowest = np.array([2 * np.pi * base ** (1 - 2 / dim) for base in bases])
        least = bases[slowest >= length][0]
        for base, wavelength in zip(bases, slowest, strict=True):
            verdict = challenges.check_slowest_pair_base(dim, length, 1.2, base)
            if wavelength < length:
                assert verdict.reason == ("exponent" if abs(2 * np.pi * base / length - 1) <= 0.01 else "small")
            elif base > 1.21 * least:
                assert verdict.reason == ("length" if abs(base / length - 1) <= 0.01 else "large")
            elif base < 1.19 * least:
                assert verdict.passed
            np.testing.assert_allclose(verdict.given["wavelength"], wavelength, rtol=1e-12)


def test_a_negative_score_is_found_where_the_mean_of_the_cosines_is() -> None:
    rope = Rope(64, 10_000.0, 4096)
    scores = np.cos((np.arange(3000) - 1)[:, None] * rope.theta).mean(axis=1)
    verdicts = [challenges.check_negative_score(rope, 1, position) for position in range(3000)]
    assert [verdict.passed for verdict in verdicts] == (scores < 0).tolist()
    np.testing.assert_allclose([verdict.given["value"] for verdict in verdicts], scores, atol=1e-12)
    first = int(np.abs(np.flatnonzero(scores < 0) - 1).min())
    apart = np.abs(np.arange(3000) - 1)
    written_text = np.select([scores < 0, apart == 0, apart < first], ["passed", "same", "early"], "late")
    assert [verdict.reason for verdict in verdicts] == written_text.tolist()


def test_one_checkpoint_has_the_wrong_layout_and_nothing_else() -> None:
    distances = (0, 1, 5, 40)
    right, scores = challenges.checkpoint_scores(distances, 500.0)
    wrong = {name: np.abs(got - right) > 1e-3 for name, got in scores.items()}
    assert sorted(scores) == ["a", "b", "c", "d"]
    verdicts = {name: challenges.check_wrong_layout_choice(distances, 500.0, name) for name in scores}
    for name, verdict in verdicts.items():
        assert verdict.passed == (not wrong[name][0] and wrong[name][1:].all())
        assert (verdict.reason == "healthy") == (not wrong[name].any())
        assert (verdict.reason == "at_zero") == wrong[name][0]
    assert sum(verdict.passed for verdict in verdicts.values()) == 1


@pytest.mark.parametrize("scheme", ["linear", "ntk", "ntk_by_parts", "yarn"])
@pytest.mark.parametrize("factor", [4.0, 8.0, 17.0, 18.0])
def test_an_extension_is_judged_pair_by_pair(scheme: str, factor: float) -> None:
    """Slow-downs written out from the papers, at a base and a trained length of the test's own."""
    rope = Rope(64, 20_000.0, 1000)
    slow = []
    for i in range(rope.pairs):
        theta = rope.base ** (-2 * i / rope.dim)
        turns = rope.train_len * theta / (2 * math.pi)
        if scheme == "linear":
            slow.append(factor)
        elif scheme == "ntk":
            slow.append(factor ** (2 * i / (rope.dim - 2)))
        elif scheme == "ntk_by_parts":
            kept = min(max((turns - 1) / 31, 0.0), 1.0)
            slow.append(1 / ((1 - kept) / factor + kept))
        else:

            def where(turn: float) -> float:
                return rope.dim * math.log(rope.train_len / (turn * 2 * math.pi)) / (2 * math.log(rope.base))

            low, high = max(math.floor(where(32)), 0), min(math.ceil(where(1)), rope.dim - 1)
            kept = 1 - min(max((i - low) / (high - low), 0.0), 1.0)
            slow.append(1 / ((1 - kept) / factor + kept))
    theta = [rope.base ** (-2 * i / rope.dim) for i in range(rope.pairs)]
    unseen = sum(
        8 * each / by > each * (1 + 1e-9) and each * rope.train_len < 2 * math.pi
        for each, by in zip(theta, slow, strict=True)
    )
    verdict = challenges.check_extension_choice(rope, 8, 1e6, scheme, factor)
    assert verdict.given["unseen"] == unseen and verdict.given["slower"] == pytest.approx(slow[0])
    assert verdict.reason == ("unseen" if unseen else "neighbours" if slow[0] > 1 else "passed")
    assert not verdict.passed or challenges.check_extension_choice(rope, 8, 1.1, scheme, 1.2 * factor).reason == "more"


def test_a_base_keeps_the_score_positive_where_every_sum_of_cosines_is() -> None:
    for base in (900.0, 3000.0, 12_000.0, 40_000.0):
        theta = [mpmath.mpf(base) ** (mpmath.mpf(-2 * i) / 32) for i in range(16)]
        first = next((m for m in range(600) if sum(mpmath.cos(m * each) for each in theta) < 0), None)
        verdict = challenges.check_positive_base(32, 600, 30_000.0, base)
        assert verdict.given["first"] == (600 if first is None else first)
        assert verdict.passed == (first is None and base <= 30_000)
        assert verdict.reason == ("large" if base > 30_000 else "negative" if first is not None else "passed")


def test_the_same_score_needs_the_same_signed_distance() -> None:
    rope = Rope(8, 50.0, 64)
    q, k = np.random.default_rng(3).standard_normal((2, 4)) + 1j * np.random.default_rng(4).standard_normal((2, 4))

    def score(m: int, n: int) -> float:
        return float((q * np.exp(1j * m * rope.theta) * np.conj(k * np.exp(1j * n * rope.theta))).sum().real)

    for m in range(20):
        for n in range(20):
            verdict = challenges.check_same_distance(12, 5, m, n)
            alike = abs(score(m, n) - score(12, 5)) < 1e-9
            assert verdict.passed == (alike and (m, n) != (12, 5))
    assert challenges.check_same_distance(12, 5, 5, 12).reason == "mirrored"
    assert challenges.check_same_distance(12, 5, 12, 5).reason == "same"


def test_one_line_of_the_layer_is_too_many() -> None:
    verdicts = [
        challenges.check_superfluous_step(Rope(16, 300.0, 64), line) for line in range(1, len(challenges.STEPS) + 1)
    ]
    assert [each.reason for each in verdicts] == ["needed", "moves", "moves", "passed", "needed", "needed"]
    assert verdicts[3].given["change"] < 1e-12 and verdicts[1].given["change"] > 0.01


def test_a_position_falls_on_another_where_the_format_has_no_such_number() -> None:
    for position in (*range(250, 270), 511, 513, 4096, 4097):
        held = float(torch.tensor(float(position)).to(torch.bfloat16))
        verdict = challenges.check_rounded_position("bfloat16", position)
        assert verdict.given["held"] == held and verdict.passed == (held != position)
        if verdict.reason == "step":
            near = torch.tensor(held).to(torch.bfloat16)
            assert verdict.given["step"] == float(torch.nextafter(near, near + 99)) - held and position > 256


def test_a_decoding_step_stands_behind_all_tokens_before_it() -> None:
    for start, prompt in ((0, 1), (16, 12), (100, 7)):
        positions = list(range(start, start + prompt))
        for step in range(1, 6):
            positions.append(positions[-1] + 1)
            for offset in range(start, start + prompt + 8):
                verdict = challenges.check_decode_offset(start, prompt, step, offset)
                assert verdict.passed == (offset == positions[-1])
                assert (verdict.reason in ("one_more", "one_less")) == (abs(offset - positions[-1]) == 1)


def test_a_byte_is_read_better_where_its_chance_is_greater() -> None:
    plain, best = np.random.default_rng(6).random((2, 40))
    won = sum(plain[k] > best[k] for k in range(25, 40))
    for byte in range(1, 41):
        verdict = challenges.check_better_reading(plain, best, 25, byte)
        assert verdict.passed == (byte > 25 and plain[byte - 1] > best[byte - 1])
        assert (verdict.reason == "early") == (byte <= 25)
        if byte > 25:
            assert (verdict.given["won"], verdict.given["of"]) == (won, 15)
            assert math.isclose(verdict.given["plain"], 100 * plain[byte - 1])
