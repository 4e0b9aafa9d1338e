"""The drawn call of the LRPE page, and its backward against finite differences and autograd."""

from typing import Any

import numpy as np
import pytest

from rope_core.lrpe import lrpe_rotate
from rope_core.lrpe.demo import HEADS, KINDS, TOKENS, LrpeExample, backward_steps, relative_max_error

ACTS: list[tuple[str, int | None]] = [("none", None), ("relu", None), ("sigmoid", None), ("silu", None)]
ACTS += [("gelu", None), ("softmax", -1), ("softmax", 1), ("1+elu", None), ("relu2", None)]


def test_a_case_is_a_call_of_the_op() -> None:
    case = LrpeExample("silu", kind="learned", base=70.0, width=12, offset=19, front=2, behind=4)
    z = case.x / (1 + np.exp(-case.x))
    angle = (19 + np.arange(TOKENS))[:, None, None] * case.theta
    a, b = z[0, ..., 2:5], z[0, ..., 5:8]
    exact = z[0].copy()
    exact[..., 2:5], exact[..., 5:8] = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
    np.testing.assert_allclose(case.stages.out[0], exact, atol=1e-12)
    np.testing.assert_allclose(case.stages.activated, z, atol=1e-15)


def test_per_head_is_never_read_per_pair() -> None:
    case = LrpeExample(kind="per head", base=16.0, width=2 * HEADS)
    assert case.theta.shape == (HEADS, 1)
    np.testing.assert_allclose(
        case.theta_by_head_and_pair, np.repeat(16.0 ** (-np.arange(HEADS) / HEADS)[:, None], HEADS, axis=1)
    )


def test_the_turn_table_holds_cos_then_sin_and_nothing_where_nothing_turns() -> None:
    case = LrpeExample(base=25.0, width=10, offset=6, front=4, behind=2)
    table = case.cos_sin_by_dimension(0)
    angle = (6 + np.arange(TOKENS))[:, None] * np.array([1.0, 0.2])
    np.testing.assert_allclose(table[:, 4:8], np.hstack([np.cos(angle), np.sin(angle)]), atol=1e-12)
    assert np.isnan(table[:, [0, 1, 2, 3, 8, 9]]).all()


def test_the_wanted_pair_or_the_last_that_turns() -> None:
    case = LrpeExample(width=10, front=4)
    assert case.pair_at(1) == (1, 5, 8)
    assert case.pair_at(30) == (2, 6, 9)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"width": 8, "front": 8}, "front must be an integer in"),
    ({"width": 8, "front": 4, "behind": 4}, "behind must be an integer in"),
    ({"width": 8, "front": 1}, "rotary_dim must be"),
    ({"offset": 2**31}, "offset must be"),
]


@pytest.mark.parametrize("values, message", BAD)
def test_values_that_do_not_go_together_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LrpeExample(**values)


@pytest.mark.parametrize("number, act, dim", [(i, *act) for i, act in enumerate(ACTS)])
def test_each_step_of_the_backward_agrees_with_autograd(number: int, act: str, dim: int | None) -> None:
    steps = backward_steps(LrpeExample(act, dim, KINDS[number % 3], 300.0, 12, 41, 2, 4))
    gaps = (steps.gap_turned, steps.gap_dx, steps.gap_dtheta)
    assert max(gaps) < 1e-14
    assert (steps.gap_factor is None) == (act == "softmax")
    assert steps.gap_factor is None or steps.gap_factor < 1e-14


@pytest.mark.parametrize("act, dim", ACTS)
def test_dx_is_a_central_difference(act: str, dim: int | None) -> None:
    case = LrpeExample(act, dim, "learned", 300.0, 8, 41, 2)
    dx = backward_steps(case).dx
    for place in ((0, 0, 0, 0), (0, 4, 2, 3), (0, 11, 3, 7)):
        moved = np.zeros_like(case.x)
        moved[place] = 1e-6
        up, down = (lrpe_rotate(case.x + s * moved, case.theta, **case.options) for s in (1, -1))
        assert float(((up - down) * case.grad).sum()) / 2e-6 == pytest.approx(dx[place], abs=1e-7)


def test_gap_is_relative_to_the_exact() -> None:
    assert relative_max_error(np.array([3.0]), np.array([-4.0])) == 1.75
    assert relative_max_error(np.zeros(2), np.zeros(2)) == 0.0
