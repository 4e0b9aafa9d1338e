"""RMSNorm fused with the rotation: against transformers' own modules, finite differences and the eager form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core.kernels import cpu_norm, lanes
from rope_core.kernels.norm import apply_normed
from tests.support.tables import tables

LAYOUTS = ("half", "interleaved")


def inputs(dtype: torch.dtype, dim: int, whole: bool, seed: int = 0) -> tuple[Tensor, ...]:
    torch.manual_seed(seed)
    q, k = torch.randn(2, 5, 4, dim).to(dtype), torch.randn(2, 2, 5, dim).to(dtype).transpose(1, 2)
    return q, k, torch.rand(dim * (4 if whole else 1)) + 0.5, torch.rand(dim * (2 if whole else 1)) + 0.5


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("over", ["head", "token"])
def test_the_fused_form_equals_the_eager_one_in_float64(layout: str, over: str) -> None:
    ulp = {torch.float32: 2.0**-22, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float64: 1e-14}
    for dtype, share in ulp.items():
        for dim, pairs in ((64, 32), (20, 6)):
            cos, sin = tables(pairs, torch.float64 if dtype == torch.float64 else torch.float32)
            x = inputs(dtype, dim, over == "token")
            options: dict[str, Any] = {"layout": layout, "over": over, "positions": 7, "eps": 1e-3}
            for offset in (False, True):
                options["unit_offset"] = offset
                got = apply_normed(x[0], x[1], x[2], x[3], cos, sin, backend="numba", **options)
                wide = [t.double() for t in x]
                wanted = apply_normed(
                    wide[0], wide[1], wide[2], wide[3], cos.double(), sin.double(), backend="eager", **options
                )
                for a, b in zip(got, wanted, strict=True):
                    slack = 1e-13 if dtype == torch.float64 else 4e-6
                    assert a.dtype == dtype and bool(((a.double() - b).abs() <= share * b.abs() * 1.001 + slack).all())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("over", ["head", "token"])
def test_gradients_equal_finite_differences(layout: str, over: str) -> None:
    torch.manual_seed(1)
    cos, sin = tables(2, torch.float64)
    q, k = torch.randn(1, 3, 2, 5, dtype=torch.float64), torch.randn(1, 3, 1, 5, dtype=torch.float64)
    w, v = torch.rand(10 if over == "token" else 5, dtype=torch.float64), torch.rand(5, dtype=torch.float64)
    leaves = [t.requires_grad_() for t in (q, k, w, v)]
    for offset in (False, True):

        def function(*x: Tensor, offset: bool = offset) -> tuple[Tensor, Tensor]:
            return apply_normed(
                x[0], x[1], x[2], x[3], cos, sin, layout=layout, over=over, positions=3, unit_offset=offset, eps=1e-2
            )

        assert torch.autograd.gradcheck(function, leaves, fast_mode=True)


def test_gradients_of_many_rows_equal_the_eager_ones() -> None:
    cos, sin = tables(16)
    answers = []
    for backend in ("numba", "eager"):
        q, k, w, v = (t.requires_grad_() for t in inputs(torch.float32, 40, False, 3))
        a, b = apply_normed(q, k, w, v, cos, sin, layout="half", backend=backend)
        (a.pow(2).cos().sum() + (b * torch.arange(40.0)).sum()).backward()  # type: ignore[no-untyped-call]
        answers.append([t.grad for t in (q, k, w, v)])
    for got, wanted in zip(*answers, strict=True):
        assert got is not None and wanted is not None and torch.allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("family", ["qwen3", "gemma3", "olmo2"])
def test_it_is_what_the_models_do(family: str) -> None:
    """transformers rounds to the weights' type in between; in float32 both agree."""
    modeling = pytest.importorskip(f"transformers.models.{family}.modeling_{family}", reason="transformers is optional")
    whole = family == "olmo2"
    q, k, w, v = inputs(torch.float32, 64, whole, 5)
    norm = {"qwen3": "Qwen3RMSNorm", "gemma3": "Gemma3RMSNorm", "olmo2": "Olmo2RMSNorm"}[family]
    normed = []
    for x, weight in ((q, w), (k, v)):
        layer = getattr(modeling, norm)(weight.numel(), eps=1e-5)
        with torch.no_grad():
            layer.weight.copy_(weight)
            flat = x.flatten(-2) if whole else x
            normed.append(layer(flat).view(x.shape).transpose(1, 2))
    cos, sin = tables(32)
    doubled = [torch.cat([t[9:14], t[9:14]], -1)[None] for t in (cos, sin)]
    wanted = modeling.apply_rotary_pos_emb(normed[0], normed[1], *doubled)
    got = apply_normed(
        q, k, w, v, cos, sin, layout="half", positions=9, eps=1e-5, unit_offset=family == "gemma3",
        over="token" if whole else "head",
    )  # fmt: skip
    for a, b in zip(got, wanted, strict=True):
        assert torch.allclose(a, b.transpose(1, 2), atol=3e-6)


def test_packed_rows_and_no_rows() -> None:
    cos, sin = tables(4)
    q, k, w = torch.randn(9, 2, 8), torch.randn(9, 1, 8), torch.ones(8)
    borders = torch.tensor([0, 4, 9])
    got = apply_normed(q, k, w, w, cos, sin, layout="half", cu_seqlens=borders)[0]
    again = apply_normed(q[4:], k[4:], w, w, cos, sin, layout="half")[0]
    assert torch.allclose(got[4:], again)
    empty = apply_normed(q[:0], k[:0], w, w, cos, sin, layout="half")[0]
    assert empty.shape == (0, 2, 8)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"q_weight": torch.ones(7)}, r"q_weight must be a floating-point tensor \(8,\)"),
        ({"over": "token"}, r"q_weight must be a floating-point tensor \(16,\)"),
        ({"over": "batch"}, "over must be head or token"),
        ({"eps": 0.0}, "eps must be a positive number"),
        ({"backend": "complex"}, "backend must be one of eager, numba, triton"),
        ({"positions": 38}, "positions must be below the table's 40 rows"),
    ],
)
def test_bad_calls_are_refused(changed: dict[str, Any], words: str) -> None:
    cos, sin = tables(4)
    weights: dict[str, Any] = {"q_weight": torch.ones(8), "k_weight": torch.ones(8)} | changed
    with pytest.raises(ValueError, match=words):
        apply_normed(torch.randn(9, 2, 8), torch.randn(9, 1, 8), cos=cos, sin=sin, layout="half", **weights)


def test_what_was_in_the_scratch_row_does_not_count() -> None:
    x = torch.arange(1.0, 9.0).reshape(1, 1, 2, 4)
    row = np.full(8, np.nan, np.float32)
    read = cpu_norm._read
    total = read(lanes.TAGS["float32"], x.data_ptr(), x.element_size(), x.stride(), 2, 4, row)
    assert total == 204.0 and row.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
