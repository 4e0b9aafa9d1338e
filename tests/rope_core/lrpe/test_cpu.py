"""The fused CPU kernels: against float64 autograd, far positions, poisoned memory, decoding, memory."""

from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from rope_core.lrpe import ACTIVATIONS, cpu, cpu_kernels, lrpe_rotate
from rope_core.lrpe.arguments import Plan
from rope_core.lrpe.cpu_math import exp32, normal32
from tests.support.lrpe_cases import agree


def test_agrees_with_autograd() -> None:
    agree("numba", range(32))


@pytest.mark.long
def test_agrees_with_autograd_over_many_draws() -> None:
    agree("numba", range(32, 1200))


def test_is_what_a_float32_cpu_tensor_gets() -> None:
    x, theta = torch.randn(1, 3, 2, 8), torch.randn(4)
    assert torch.equal(lrpe_rotate(x, theta, act="silu"), lrpe_rotate(x, theta, act="silu", backend="numba"))
    assert not torch.equal(lrpe_rotate(x, theta, act="silu"), lrpe_rotate(x, theta, act="silu", backend="eager"))


def test_far_positions_keep_their_phase() -> None:
    theta = np.array([1.0, 0.1, 10000.0 ** (-0.75), -2.5])
    x = torch.zeros(1, 1, 1, 8)
    x[..., :4] = 1.0
    for position in (0, 1, 4095, 131_072, 10_000_019, 2**31 - 1):
        out = lrpe_rotate(x, torch.from_numpy(theta), offset=position, backend="numba").numpy()[0, 0, 0]
        with mpmath.workdps(40):
            angles = [mpmath.mpf(position) * mpmath.mpf(float(t)) for t in theta]
            wanted = [float(mpmath.cos(a)) for a in angles] + [float(mpmath.sin(a)) for a in angles]
        assert np.abs(out - wanted).max() < 2e-7, position


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_every_element_of_poisoned_memory_is_written(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blank = torch.empty

    def poisoned(*shape: object, **options: object) -> torch.Tensor:
        return blank(*shape, **options).fill_(torch.nan)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(torch, "empty", poisoned)
    for dim in (-1, 1) if act == "softmax" else (None,):
        for theta, part in (((3, 2), slice(3, 7)), ((2,), 4), ((3,), slice(6, 10)), ((5,), None)):
            x = torch.randn(2, 37, 3, 10, requires_grad=True)
            out = lrpe_rotate(x, torch.randn(*theta), act=act, dim=dim, rotary_dim=part, backend="numba")
            assert torch.isfinite(out).all()
            (dx,) = torch.autograd.grad(out, x, torch.randn(2, 37, 3, 10))
            assert torch.isfinite(dx).all()


def test_not_finite_values_propagate_as_in_the_reference() -> None:
    rng = np.random.default_rng(1)
    for act in ACTIVATIONS:
        for dim in (-1, 1) if act == "softmax" else (None,):
            x = rng.normal(size=(1, 40, 2, 34)).astype(np.float32)
            x[0, 1, 0, 1], x[0, 2, 1, 20], x[0, 33, 1, 33], x[0, 5, 0, 0] = np.nan, np.inf, -np.inf, -np.nan
            theta = rng.normal(size=(2, 16))
            wanted = lrpe_rotate(x.astype(np.float64), theta, act=act, dim=dim, rotary_dim=32)
            got = lrpe_rotate(torch.from_numpy(x), torch.from_numpy(theta), act=act, dim=dim, rotary_dim=32).numpy()
            np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), err_msg=f"{act} {dim}")
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(got[~finite], wanted[~finite].astype(np.float32))
            assert np.abs(got[finite] - wanted[finite]).max() < 2e-6


@pytest.mark.parametrize("dim", [-1, 1])
@pytest.mark.parametrize(
    ("low", "high"), [(-200.0, 200.0), (300.0, 500.0), (-900.0, -700.0), (-60.0, -30.0), (-89.0, -83.0)]
)
def test_softmax_survives_large_values(low: float, high: float, dim: int) -> None:
    x = np.random.default_rng(2).uniform(low, high, (2, 33, 3, 16)).astype(np.float32)
    for part in (16, 8):
        theta = np.ones(part // 2)
        wanted = lrpe_rotate(x.astype(np.float64), theta, act="softmax", dim=dim, rotary_dim=part)
        got = lrpe_rotate(torch.from_numpy(x), torch.from_numpy(theta), act="softmax", dim=dim, rotary_dim=part)
        assert np.abs(got.numpy() - wanted).max() < 1e-6


def test_a_masked_column_of_minus_infinity_starts_late() -> None:
    x = np.random.default_rng(3).normal(size=(1, 64, 1, 4)).astype(np.float32)
    x[0, :40, 0, :2] = -np.inf
    wanted = lrpe_rotate(x.astype(np.float64), np.ones(2), act="softmax", dim=1)
    got = lrpe_rotate(torch.from_numpy(x), torch.ones(2), act="softmax", dim=1).numpy()
    assert np.abs(got - wanted).max() < 1e-7


def test_the_exponential_and_the_normal_share_are_within_a_few_ulp() -> None:
    for x in np.linspace(-87.0, 88.0, 4001, dtype=np.float32):
        assert abs(float(exp32(x)) / float(mpmath.exp(float(x))) - 1.0) < 4e-7
    assert exp32(np.float32(-200.0)) == 0.0
    assert exp32(np.float32(200.0)) == np.inf
    assert np.isnan(exp32(np.float32(np.nan)))
    for x in np.linspace(-9.0, 9.0, 2001, dtype=np.float32):
        share, _ = normal32(x)
        # The bell's argument x^2 / 2 is rounded before its exponential is taken.
        assert abs(float(share) / float(mpmath.ncdf(float(x))) - 1.0) < 5e-6


def test_decoding_compiles_nothing_and_agrees_with_the_whole_sequence() -> None:
    torch.manual_seed(1)
    x, theta = torch.randn(2, 24, 3, 16), torch.randn(3, 8)
    whole = lrpe_rotate(x, theta, offset=77, act="silu")
    before = {name: len(getattr(cpu_kernels, name).signatures) for name in ("forward", "backward")}
    assert before["forward"] == 1
    for act in ACTIVATIONS:
        lrpe_rotate(x[:, :5], theta, act=act, dim=-1)
    steps = [lrpe_rotate(x[:, n : n + 1], theta, offset=77 + n, act="silu") for n in range(24)]
    assert torch.equal(torch.cat(steps, 1), whole)
    by_starts = [lrpe_rotate(x[:, n : n + 1], theta, offset=torch.tensor([77 + n] * 2), act="silu") for n in range(24)]
    assert torch.equal(torch.cat(by_starts, 1), whole)
    lrpe_rotate(x[:1, :3], theta[:, :1], offset=[[5, 5, 9]], act="relu")
    assert {name: len(getattr(cpu_kernels, name).signatures) for name in before} == before


@pytest.mark.parametrize("shape", [(2, 5, 4, 16), (1, 40, 1, 32), (3, 7, 2, 8), (2, 5, 3, 6)])
@pytest.mark.parametrize(("act", "dim"), [("none", None), ("relu", None), ("relu2", None), ("softmax", 1)])
def test_results_written_past_the_cache_are_the_same_bits(
    act: str, dim: int | None, shape: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = torch.Generator().manual_seed(3)
    x, grad = (torch.randn(shape, generator=draws) for _ in range(2))
    theta = torch.rand(shape[3] // 2, generator=draws, dtype=torch.float64)
    seen: list[bool] = []
    arguments = cpu.past_cache

    def noted(out: torch.Tensor, p: Plan) -> bool:
        seen.append(arguments(out, p))
        out.fill_(torch.nan)
        return seen[-1]

    def both_ways() -> tuple[torch.Tensor, torch.Tensor]:
        leaf = x.clone().requires_grad_()
        out = lrpe_rotate(leaf, theta, offset=9, act=act, dim=dim, backend="numba")
        return out.detach(), torch.autograd.grad(out, leaf, grad)[0]

    monkeypatch.setattr(cpu, "past_cache", noted)
    wanted = both_ways()
    monkeypatch.setattr(cpu, "STREAM_BYTES", 0)
    got = both_ways()
    assert seen == [False, False] + [shape[2] * shape[3] % 16 == 0] * 2
    assert all(torch.equal(first, other) for first, other in zip(got, wanted, strict=True))


def test_strides_do_not_matter() -> None:
    torch.manual_seed(2)
    x, theta = torch.randn(2, 3, 9, 16), torch.randn(8, requires_grad=True)
    view = x.transpose(1, 2).requires_grad_()
    out = lrpe_rotate(view, theta, offset=3, act="silu")
    assert torch.equal(out, lrpe_rotate(view.detach().contiguous(), theta, offset=3, act="silu"))
    # A sum's gradient has strides of zero.
    dx, dtheta = torch.autograd.grad(out.sum(), (view, theta))
    again = lrpe_rotate(view, theta, offset=3, act="silu")
    same_dx, same_dtheta = torch.autograd.grad(again, (view, theta), torch.ones_like(again))
    assert torch.equal(dx, same_dx) and torch.equal(dtheta, same_dtheta)


def test_threads_do_not_change_the_bits() -> None:
    import numba

    torch.manual_seed(3)
    x, theta = torch.randn(2, 50, 2, 16, requires_grad=True), torch.randn(8, requires_grad=True)
    before, answers = numba.get_num_threads(), []
    for threads in {1, before}:
        numba.set_num_threads(threads)
        out = lrpe_rotate(x, theta, act="softmax", dim=1)
        answers.append((out, *torch.autograd.grad(out, (x, theta), torch.ones_like(out))))
    numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(answers[0], answers[-1], strict=True))


def peak_bytes() -> int:
    """Return the largest resident size since it was last reset, in bytes."""
    line = next(s for s in Path("/proc/self/status").read_text().splitlines() if s.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak can be reset on Linux only")
@pytest.mark.parametrize(("act", "dim"), [("silu", None), ("softmax", -1), ("softmax", 1)])
def test_backward_takes_no_more_memory_than_x_and_dx(act: str, dim: int | None) -> None:
    shape = (1, 1024, 16, 128)
    size = 4 * int(np.prod(shape))
    x, theta = torch.randn(shape, requires_grad=True), torch.randn(64, requires_grad=True)
    grad = torch.randn(shape)

    def step() -> None:
        out = lrpe_rotate(x, theta, act=act, dim=dim)
        out.backward(grad)
        x.grad = None

    step()
    Path("/proc/self/clear_refs").write_text("5")
    start = peak_bytes()
    out = lrpe_rotate(x, theta, act=act, dim=dim)
    out.backward(grad)
    # x and dO are the caller's and there already; O and dX are new, and tables, sums and stacks are small.
    assert peak_bytes() - start < 2 * size + size // 4
