"""The plain torch backend: against autograd, far positions, half types, checked gradients, what is kept for later."""

import mpmath
import numpy as np
import pytest
import torch

from rope_core.lrpe import ACTIVATIONS, lrpe_rotate
from tests.support.lrpe_cases import agree, by_torch, draw, gap, oracle


def test_agrees_with_autograd_in_float64() -> None:
    for seed in range(24):
        case = draw(seed)
        for got, wanted in zip(by_torch(case, None, torch.float64), oracle(case), strict=True):
            assert gap(got, wanted) < 2e-11, case.label


def test_agrees_with_autograd_in_float32() -> None:
    agree(None, range(32))


def test_far_positions_keep_their_phase() -> None:
    theta = np.array([1.0, 0.1, 10000.0 ** (-0.75), -2.5])
    x = torch.tensor([1.0] * 4 + [0.0] * 4).reshape(1, 1, 1, 8)
    for position in (1, 131_072, 2**31 - 1):
        out = lrpe_rotate(x, torch.from_numpy(theta), offset=position).numpy()[0, 0, 0]
        with mpmath.workdps(40):
            angles = [mpmath.mpf(position) * mpmath.mpf(float(t)) for t in theta]
            wanted = [float(mpmath.cos(a)) for a in angles] + [float(mpmath.sin(a)) for a in angles]
        # The product position * theta is rounded to float64.
        assert np.abs(out - wanted).max() < 1e-6, position


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_large_and_not_finite_values_are_as_in_the_reference(act: str) -> None:
    rng = np.random.default_rng(1)
    for dim in (-1, 1) if act == "softmax" else (None,):
        x = rng.uniform(-900.0, 500.0, (1, 40, 2, 34)).astype(np.float32)
        x[0, 1, 0, 1], x[0, 2, 1, 20], x[0, 33, 1, 33] = np.nan, np.inf, -np.inf
        theta = rng.normal(size=(2, 16))
        wanted = lrpe_rotate(x.astype(np.float64), theta, act=act, dim=dim, rotary_dim=32)
        got = lrpe_rotate(torch.from_numpy(x), torch.from_numpy(theta), act=act, dim=dim, rotary_dim=32).numpy()
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(np.isfinite(got), finite)
        assert np.abs(got[finite] - wanted[finite]).max() < 4e-7 * np.abs(wanted[finite]).max()


@pytest.mark.parametrize(("dtype", "digits"), [(torch.float16, 11), (torch.bfloat16, 8)])
def test_half_types_are_computed_in_float32_and_rounded_once(dtype: torch.dtype, digits: int) -> None:
    for seed in range(24):
        case = draw(seed)
        x = torch.tensor(case.x).to(dtype)
        wanted = lrpe_rotate(x.double().numpy(), case.theta, **case.options)
        got = lrpe_rotate(x, torch.tensor(case.theta), **case.options)
        assert got.dtype == dtype
        # Half a unit of the last digit, and float32's error in front of it.
        bound = 2.0**-digits * np.abs(wanted) + 1e-5 * max(1.0, np.abs(wanted).max())
        assert (np.abs(got.double().numpy() - wanted) <= bound).all(), case.label


def test_only_x_and_theta_are_kept() -> None:
    kept: list[torch.Tensor] = []

    def keep(t: torch.Tensor) -> torch.Tensor:
        kept.append(t)
        return t

    x, theta = torch.randn(2, 5, 3, 8, requires_grad=True), torch.randn(4, requires_grad=True)
    for act, inputs, expected in (
        ("silu", (x, theta), {x.data_ptr(), theta.data_ptr()}),
        ("none", (x, theta), {x.data_ptr(), theta.data_ptr()}),
        ("none", (x, theta.detach()), {theta.data_ptr()}),
    ):
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
            lrpe_rotate(*inputs, act=act)
        assert {t.data_ptr() for t in kept} == expected, act


def test_a_second_derivative_is_refused_not_wrong() -> None:
    x = torch.randn(1, 2, 4, dtype=torch.float64, requires_grad=True)
    out = lrpe_rotate(x, torch.ones(2), act="silu")
    with pytest.raises(RuntimeError, match="differentiable once"):
        torch.autograd.grad(out.sum(), x, create_graph=True)
