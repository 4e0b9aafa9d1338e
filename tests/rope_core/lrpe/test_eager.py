"""The plain torch backend: float64 against autograd, half types, checked gradients, what is kept for the backward."""

import numpy as np
import pytest
import torch

from rope_core.lrpe import ACTIVATIONS, lrpe_cosine, lrpe_cosine_md, lrpe_rotate, lrpe_rotate_md
from tests.support.lrpe_cases import by_torch, draw, gap, oracle


def test_agrees_with_autograd_in_float64() -> None:
    for seed in range(24):
        case = draw(seed)
        for got, wanted in zip(by_torch(case, None, torch.float64), oracle(case), strict=True):
            assert gap(got, wanted) < 2e-11, case.label


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_gradcheck(act: str) -> None:
    torch.manual_seed(0)
    x, theta = torch.randn(2, 3, 2, 6, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    for dim in (-1, 1) if act == "softmax" else (None,):
        assert torch.autograd.gradcheck(
            lambda a, b, dim=dim: lrpe_rotate(a, b, offset=4, act=act, dim=dim, rotary_dim=slice(1, 5)),
            (x.requires_grad_(), theta.requires_grad_()),
            fast_mode=True,
        )


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
    for backend in ("eager", "numba"):
        for act, inputs, expected in (
            ("silu", (x, theta), {x.data_ptr(), theta.data_ptr()}),
            ("none", (x, theta), {x.data_ptr(), theta.data_ptr()}),
            ("none", (x, theta.detach()), {theta.data_ptr()}),
        ):
            kept.clear()
            with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
                lrpe_rotate(*inputs, act=act, backend=backend)
            assert {t.data_ptr() for t in kept} == expected, (backend, act)


def test_a_second_derivative_is_refused_not_wrong() -> None:
    x = torch.randn(1, 2, 4, dtype=torch.float64, requires_grad=True)
    out = lrpe_rotate(x, torch.ones(2), act="silu")
    with pytest.raises(RuntimeError, match="differentiable once"):
        torch.autograd.grad(out.sum(), x, create_graph=True)


def test_cosine_and_grids_agree_with_the_reference_and_carry_gradients() -> None:
    rng = np.random.default_rng(3)
    x, theta = rng.normal(size=(2, 7, 3, 8)), rng.normal(size=(3, 8))
    tx, tt = torch.tensor(x, requires_grad=True), torch.tensor(theta, requires_grad=True)
    pairs = [
        (lrpe_cosine(tx, tt, offset=5, act="silu"), lrpe_cosine(x, theta, offset=5, act="silu")),
        (lrpe_cosine(tx, tt[0], offset=[5, 9]), lrpe_cosine(x, theta[0], offset=[5, 9])),
        (lrpe_cosine_md(tx, tt, (2, 3), leading=1), lrpe_cosine_md(x, theta, (2, 3), leading=1)),
        (
            lrpe_rotate_md(tx, tt[:, :2], (3, 2), leading=1, act="softmax", dim=1),
            lrpe_rotate_md(x, theta[:, :2], (3, 2), leading=1, act="softmax", dim=1),
        ),
    ]
    for got, wanted in pairs:
        assert gap(got.detach().numpy(), wanted) < 1e-13
        dx, dtheta = torch.autograd.grad((got * torch.linspace(-1, 2, got.numel()).reshape(got.shape)).sum(), (tx, tt))
        assert dx.abs().max() > 0.1
        assert dtheta.abs().max() > 0.1
    assert torch.autograd.gradcheck(
        lambda a, b: lrpe_cosine_md(a, b, (2, 3), leading=1, act="silu"), (tx, tt), fast_mode=True
    )
    assert torch.autograd.gradcheck(
        lambda a, b: lrpe_rotate_md(a, b[:, :2], (2, 3), leading=1), (tx, tt), fast_mode=True
    )
