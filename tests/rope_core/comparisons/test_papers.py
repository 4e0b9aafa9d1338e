"""Numbers of papers beside those here, by mpmath."""

import mpmath
import pytest

from rope_core.comparisons.papers import printed_numbers


def test_numbers_here_are_those_of_fifty_digits() -> None:
    with mpmath.workdps(50):
        ten = mpmath.mpf(10_000)
        turn = 2 * mpmath.pi
        wanted = {
            "base": ten * mpmath.mpf(2) ** (mpmath.mpf(128) / 126),
            "scale": mpmath.mpf(100) ** (mpmath.mpf(126) / 128),
            "critical_phi": sum(turn * ten ** (mpmath.mpf(2 * i) / 96) <= 2048 for i in range(48)),
            "critical_llama": sum(turn * mpmath.mpf(500_000) ** (mpmath.mpf(2 * i) / 128) <= 8192 for i in range(64)),
            "period_8": turn * ten ** (mpmath.mpf(14) / 96),
            "period_48": turn * ten ** (mpmath.mpf(94) / 96),
        }
    assert {each.key: each.here for each in printed_numbers()} == pytest.approx(
        {k: float(v) for k, v in wanted.items()}
    )
    assert [each.key for each in printed_numbers() if abs(each.off) > 0.02] == ["scale"]
