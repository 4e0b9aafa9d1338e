"""The Triton kernels on CPU tensors, interpreted: every option against the reference, few large tiles.

Run by kernels/test_triton.py in a process with TRITON_INTERPRET=1: Triton decides at its import whether it interprets;
and by benchmarks/device.py on the GPU that ROPE_LAB_DEVICE names.
"""

from __future__ import annotations

import importlib
import os
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core import Request, Rope, spectrum
from rope_core.kernels.backends import BACKENDS
from rope_core.kernels.entry import apply
from rope_core.kernels.norm import apply_normed
from rope_core.kernels.task import make_rotation_spec
from tests.support.tables import HALF_ULP, assert_turned, tables

if (DEVICE := os.environ.get("ROPE_LAB_DEVICE", "cpu")) != "cpu":
    torch.set_default_device(DEVICE)
LAYOUTS = ("half", "interleaved")


def exact(x: Tensor, cos: Tensor, sin: Tensor, layout: str, **where: Any) -> Tensor:
    """Return the float64 reference, which test_entry compares with complex products."""
    return apply(x.double(), x.double(), cos.double(), sin.double(), layout=layout, backend="reference", **where)[0]


def assert_near(got: Tensor, wanted: Tensor) -> None:
    # The interpreter cuts bfloat16 off where the GPU rounds: a whole unit in the last place (triton issue 4972).
    assert_turned(got, wanted, 1.0 if got.dtype == torch.bfloat16 else 0.5)


WIDTHS = ((32, 16), (36, 18), (80, 20), (7, 2))
EVERY = list(product(HALF_ULP, LAYOUTS, WIDTHS))
# Every pair of type and layout, and every width in both layouts.
COVER = [(dtype, layout, WIDTHS[(i + j) % 4]) for i, dtype in enumerate(HALF_ULP) for j, layout in enumerate(LAYOUTS)]


@pytest.mark.parametrize(
    ("dtype", "layout", "width"), COVER + [pytest.param(*each, marks=pytest.mark.long) for each in EVERY]
)
def test_types_layouts_widths_and_memory_orders(dtype: torch.dtype, layout: str, width: tuple[int, int]) -> None:
    torch.manual_seed(0)
    dim, pairs = width
    cos, sin = tables(pairs, torch.float64 if dtype == torch.float64 else torch.float32)
    q, k = torch.randn(2, 5, 6, dim).to(dtype), torch.randn(2, 3, 5, dim).to(dtype).transpose(1, 2)
    got = apply(q, k, cos, sin, layout=layout, positions=11, backend="triton")
    for result, x in zip(got, (q, k), strict=True):
        assert_near(result, exact(x, cos, sin, layout, positions=11))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_strides_in_and_out(layout: str) -> None:
    torch.manual_seed(1)
    cos, sin = tables(8)
    q = torch.randn(4, 40, 3, 2).permute(3, 2, 0, 1)[..., 1::2]
    k = torch.randn(2, 3, 20, 7).transpose(2, 3)[:, :, ::4]
    assert q.shape == (2, 3, 4, 20) and k.shape == (2, 3, 2, 20) and q.stride(-1) != 1 and k.stride(-1) != 1
    wanted = [exact(x, cos, sin, layout, positions=2) for x in (q, k)]
    out = torch.empty(20, 2, 3, 4).permute(1, 2, 3, 0), torch.empty(2, 2, 20, 3).permute(0, 3, 1, 2)
    for result, want in zip(apply(q, k, cos, sin, layout=layout, positions=2, out=out, backend="triton"), wanted,
                            strict=True):  # fmt: skip
        assert_near(result, want)


def test_where_tokens_stand() -> None:
    torch.manual_seed(2)
    cos, sin = tables(8)
    q, k = torch.randn(2, 6, 4, 20), torch.randn(2, 6, 2, 20)
    rows = torch.randint(0, 40, (2, 6))
    choices: list[dict[str, Any]] = [
        {},
        {"positions": 33},
        {"positions": rows[0]},
        {"positions": rows.int()},
        {"positions": rows.t().contiguous().t()},
        {"offsets": torch.tensor([30, 3], dtype=torch.int32)},
    ]
    for where in choices:
        for result, x in zip(apply(q, k, cos, sin, layout="half", backend="triton", **where), (q, k), strict=True):
            assert_near(result, exact(x, cos, sin, "half", **where))
    got = apply(q, q, cos[rows], sin[rows], layout="half", backend="triton")[0]
    assert_near(got, exact(q, cos, sin, "half", positions=rows))


@pytest.mark.parametrize("borders", [[0, 0, 5, 5, 5, 12, 20, 20], [0, 7, 13, 19, 20]])
def test_packed_sequences(borders: list[int]) -> None:
    torch.manual_seed(3)
    cos, sin = tables(8)
    q, k = torch.randn(20, 4, 16), torch.randn(20, 2, 16)
    where: dict[str, Any] = {"cu_seqlens": torch.tensor(borders, dtype=torch.int32)}
    for offsets in (None, torch.arange(len(borders) - 1) * 3):
        where["offsets"] = offsets
        for result, x in zip(apply(q, k, cos, sin, layout="half", backend="triton", **where), (q, k), strict=True):
            assert_near(result, exact(x, cos, sin, "half", **where))


@pytest.mark.parametrize(("start", "dtype"), [(977, torch.float64), (2**31 - 9, torch.float32)])
def test_angles_made_in_the_kernel(start: int, dtype: torch.dtype) -> None:
    torch.manual_seed(4)
    steps = torch.as_tensor(spectrum(Request(Rope(64, 12_345.0))).phase_step.view(np.int64).copy())
    q = torch.randn(2, 9, 2, 70, dtype=dtype)
    where: dict[str, Any] = {"positions": start, "phase_step": steps, "attention_factor": 1.25}
    got = apply(q, q, None, None, layout="half", backend="triton", **where)[0]
    wanted = apply(q.double(), q.double(), None, None, layout="half", backend="reference", **where)[0]
    assert float((got.double() - wanted).abs().max()) < (1e-13 if dtype == torch.float64 else 2e-6)


def test_unchecked_a_position_outside_gives_nan_and_never_an_unturned_row() -> None:
    cos, sin = tables(4, rows=10)
    q = torch.randn(1, 4, 2, 10)
    run = BACKENDS["triton"].run
    for where in ({"positions": torch.tensor([1, 10, 2, -1])}, {"offsets": torch.tensor([7])}):
        turn = make_rotation_spec(
            q, False, cos, sin, None, 1.0, "half", where.get("positions"), None, where.get("offsets")
        )
        nan = torch.isnan(run((q,), turn, None)[0][0, :, :, :8])
        outside = [1, 3] if "positions" in where else [3]
        assert nan[outside].all() and not nan[[i for i in range(4) if i not in outside]].any()
    turn = make_rotation_spec(q, True, cos, sin, None, 1.0, "half", None, torch.tensor([0, 2, 3]), None)
    nan = torch.isnan(run((q,), turn, None)[0][0, :, :, :8])
    assert nan[3].all() and not nan[:3].any()


def test_in_place_and_gradients() -> None:
    torch.manual_seed(5)
    cos, sin = tables(4, torch.float64)
    for layout in LAYOUTS:
        q, k = (torch.randn(1, 3, h, 10, dtype=torch.float64, requires_grad=True) for h in (2, 1))
        a, b = q * 1, k * 1
        apply(a, b, cos, sin, layout=layout, positions=5, inplace=True, backend="triton")
        (a.pow(2) * torch.arange(10)).sum().backward()  # type: ignore[no-untyped-call]
        wanted = exact(q.detach(), cos, sin, layout, positions=5)
        assert_near(a.detach(), wanted)
        back = apply(
            2 * wanted * torch.arange(10), b.detach(), cos, -sin, layout=layout, positions=5, backend="reference"
        )[0]
        assert q.grad is not None and torch.allclose(q.grad, back, atol=1e-12)
        assert k.grad is None


def test_empty_calls_launch_nothing() -> None:
    cos, sin = tables(4)
    for batch, seq in ((0, 3), (2, 0)):
        q, k = apply(torch.randn(batch, seq, 2, 8), torch.randn(batch, seq, 1, 8), cos, sin, layout="half",
                     backend="triton")  # fmt: skip
        assert q.shape == (batch, seq, 2, 8) and k.shape == (batch, seq, 1, 8)


def test_every_cut_gives_the_same_answer() -> None:
    gpu = importlib.import_module("rope_core.kernels.gpu")
    torch.manual_seed(6)
    cos, sin = tables(8)
    q, k = torch.randn(2, 9, 6, 16), torch.randn(2, 9, 3, 16)
    turn = make_rotation_spec(q, False, cos, sin, None, 1.0, "interleaved", 4, None, None)
    wanted = [exact(x, cos, sin, "interleaved", positions=4) for x in (q, k)]
    for cut in (gpu.TileSizes(4, 8, 1), gpu.TileSizes(16, 2, 7)):
        for result, want in zip(gpu.run_triton((q, k), turn, None, cut), wanted, strict=True):
            assert_near(result, want)
        # In place a head that two programs turn is turned twice.
        own = q.clone(), k.clone()
        for result, want in zip(gpu.run_triton(own, turn, own, cut), wanted, strict=True):
            assert_near(result, want)


def test_the_device_s_tiles_are_powers_of_two_that_cover_every_head() -> None:
    gpu = importlib.import_module("rope_core.kernels.gpu")
    for heads, kv in ((32, 8), (1, 1), (12, 4), (71, 1), (128, 16)):
        for seq in (1, 7, 8192):
            for dim in (64, 72, 96, 256):
                for order in ((seq * heads * dim, heads * dim, dim, 1), (seq * heads * dim, dim, seq * dim, 1)):
                    q = torch.empty_strided((4, seq, heads, dim), order, dtype=torch.bfloat16, device="meta")
                    cut = gpu.choose_tiles(q, kv, False)
                    assert all(n & (n - 1) == 0 and n >= 1 for n in (cut.tokens, cut.heads))
                    assert 1 <= cut.groups <= heads
                    assert cut.tokens * cut.heads * gpu.next_power_of_two(dim) * 2 <= 2 * gpu.TILE_BYTES


@pytest.mark.parametrize(
    ("over", "layout", "dtype", "share"),
    [
        ("token", "half", torch.float32, 2.0**-22),
        ("head", "interleaved", torch.float32, 2.0**-22),
        ("head", "half", torch.bfloat16, 2.0**-7),
        ("token", "interleaved", torch.float64, 1e-14),
    ],
)
def test_norm_and_rotation_in_one(over: str, layout: str, dtype: torch.dtype, share: float) -> None:
    torch.manual_seed(7)
    dim, pairs, heads = (16, 8, 4) if layout == "half" else (14, 3, 3)
    cos, sin = tables(pairs, torch.float64 if dtype == torch.float64 else torch.float32)
    q, k = torch.randn(2, 5, 2 * heads, dim).to(dtype), torch.randn(2, heads, 5, dim).to(dtype).transpose(1, 2)
    w, v = (torch.rand(dim * (n if over == "token" else 1)) + 0.5 for n in (2 * heads, heads))
    answers = []
    for backend, wide in (("triton", False), ("eager", True)):
        leaves = [(t.double() if wide else t).detach().requires_grad_() for t in (q, k, w, v)]
        c, s = (t.double() if wide else t for t in (cos, sin))
        got = apply_normed(
            leaves[0], leaves[1], leaves[2], leaves[3], c, s, layout=layout, over=over, positions=9, eps=1e-3,
            unit_offset=True, backend=backend,
        )  # fmt: skip
        weights = torch.arange(dim).double().to(got[0].dtype)
        ((got[0] * weights).sum() + (got[1] * weights).sum()).backward()  # type: ignore[no-untyped-call]
        answers.append([*(g.detach() for g in got), *(leaf.grad for leaf in leaves)])
    for index, (got_one, want) in enumerate(zip(*answers, strict=True)):
        assert got_one is not None and want is not None
        bound = share * want.abs() * 1.001 + (1e-12 if dtype == torch.float64 else 4e-6)
        if index > 1:
            bound = bound + (2e-7 if dtype == torch.float64 else 2e-5) * float(want.abs().max())
        assert bool(((got_one.double() - want).abs() <= bound).all()), index
