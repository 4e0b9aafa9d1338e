"""The LRPE Triton kernels in the interpreter, against float64 autograd.

Run by kernels/test_triton.py in a process with TRITON_INTERPRET=1: Triton decides at its import whether it interprets;
and by benchmarks/device.py on the GPU that ROPE_LAB_DEVICE names.
"""

import os

import mpmath
import numpy as np
import pytest
import torch

from rope_core.lrpe import ACTIVATIONS, gpu, lrpe_rotate
from rope_core.lrpe.arguments import make_lrpe_spec
from tests.support.lrpe_cases import agree, draw

if (DEVICE := os.environ.get("ROPE_LAB_DEVICE", "cpu")) != "cpu":
    torch.set_default_device(DEVICE)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_the_kernels_are_interpreted() -> None:
    assert (DEVICE == "cpu") == gpu.INTERPRETED


def test_agrees_with_autograd() -> None:
    agree("triton", range(8))


@pytest.mark.long
def test_agrees_with_autograd_over_many_draws() -> None:
    agree("triton", range(8, 600))


@pytest.mark.parametrize(("dtype", "digits"), [(torch.float16, 11), (torch.bfloat16, 8)])
def test_half_types_are_computed_in_float32(dtype: torch.dtype, digits: int) -> None:
    for seed in (1, 5):
        case = draw(seed)
        x = torch.tensor(case.x).to(dtype)
        wanted = lrpe_rotate(x.double().cpu().numpy(), case.theta, **case.options)
        got = lrpe_rotate(x, torch.tensor(case.theta), **case.options, backend="triton")
        # A whole unit of the last digit: the interpreter cuts bfloat16 off where a GPU rounds.
        bound = 2.0 ** (1 - digits) * np.abs(wanted) + 1e-5 * max(1.0, np.abs(wanted).max())
        assert (np.abs(got.double().cpu().numpy() - wanted) <= bound).all(), case.label


def test_far_positions_keep_their_phase() -> None:
    theta = np.array([1.0, -2.5, 12_345.678, 2.0**20])
    x = torch.tensor([1.0] * 4 + [0.0] * 4).reshape(1, 1, 1, 8)
    for position in (1, 131_072, 2**31 - 1):
        got = lrpe_rotate(x, torch.as_tensor(theta), offset=position, backend="triton").cpu().numpy().ravel()
        with mpmath.workdps(40):
            angles = [mpmath.mpf(position) * mpmath.mpf(float(t)) for t in theta]
            wanted = [float(mpmath.cos(a)) for a in angles] + [float(mpmath.sin(a)) for a in angles]
        assert np.abs(got - wanted).max() < 2e-7, position


@pytest.mark.parametrize(("act", "dim"), [("none", None), ("gelu", None), ("softmax", -1), ("softmax", 1)])
def test_every_element_of_poisoned_memory_is_written(
    act: str, dim: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = torch.empty

    def poisoned(*shape: object, **options: object) -> torch.Tensor:
        return blank(*shape, **options).fill_(torch.nan)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(torch, "empty", poisoned)
    theta, part = ((3, 2), slice(3, 7)) if act != "none" else ((5,), None)
    x, frequency = torch.randn(2, 17, 3, 10, requires_grad=True), torch.randn(*theta, requires_grad=True)
    out = lrpe_rotate(x, frequency, act=act, dim=dim, rotary_dim=part, backend="triton")
    gradients = torch.autograd.grad(out, (x, frequency), torch.randn(2, 17, 3, 10))
    assert all(torch.isfinite(t).all() for t in (out, *gradients))


def test_not_finite_values_propagate_as_in_the_reference() -> None:
    rng = np.random.default_rng(1)
    for act in ACTIVATIONS:
        for dim in (-1, 1) if act == "softmax" else (None,):
            x = rng.normal(size=(1, 20, 2, 10)).astype(np.float32)
            x[0, 1, 0, 1], x[0, 2, 1, 5], x[0, 13, 1, 9] = np.nan, np.inf, -np.inf
            theta = rng.normal(size=(2, 4))
            wanted = lrpe_rotate(x.astype(np.float64), theta, act=act, dim=dim, rotary_dim=8)
            got = (
                lrpe_rotate(
                    torch.as_tensor(x), torch.as_tensor(theta), act=act, dim=dim, rotary_dim=8, backend="triton"
                )
                .cpu()
                .numpy()
            )
            np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), err_msg=f"{act} {dim}")
            finite = np.isfinite(wanted)
            assert np.abs(got[finite] - wanted[finite]).max() < 2e-6


def test_theta_that_cannot_be_looked_at_propagates() -> None:
    x = torch.ones(1, 2, 1, 4)
    out = gpu.TRITON.forward(x, torch.tensor([[torch.inf, 0.5]]), 1, make_lrpe_spec((1, 2, 1, 4), (2,)))
    assert torch.isnan(out[..., [0, 2]]).all() and torch.isfinite(out[..., [1, 3]]).all()


def test_float64_is_refused() -> None:
    with pytest.raises(ValueError, match="x must be float16, bfloat16 or float32 for backend triton"):
        lrpe_rotate(torch.ones(1, 2, 4, dtype=torch.float64), torch.ones(2), backend="triton")
