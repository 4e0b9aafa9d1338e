"""RMSNorm with the rotation: against numpy in float64 and transformers' own modules; its kernels: interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core.kernels.norm import apply_normed
from tests.support.tables import normed, tables


def inputs(dtype: torch.dtype, dim: int, whole: bool) -> tuple[Tensor, ...]:
    torch.manual_seed(5)
    q, k = torch.randn(2, 5, 4, dim).to(dtype), torch.randn(2, 2, 5, dim).to(dtype).transpose(1, 2)
    return q, k, torch.rand(dim * (4 if whole else 1)) + 0.5, torch.rand(dim * (2 if whole else 1)) + 0.5


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("over", ["head", "token"])
def test_every_type_is_rounded_once(layout: str, over: str) -> None:
    ulp = {torch.float32: 2.0**-22, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float64: 1e-14}
    for dtype, share in ulp.items():
        table = tables(6, torch.float64 if dtype == torch.float64 else torch.float32)
        q, k, w, v = inputs(dtype, 20, over == "token")
        for offset in (False, True):
            got = apply_normed(
                q, k, w, v, *table, layout=layout, over=over, positions=7, eps=1e-3, unit_offset=offset
            )  # fmt: skip
            for x, gain, a in zip((q, k), (w, v), got, strict=True):
                wanted = normed(x, gain.double() + offset, table, torch.arange(7, 12), layout, 1e-3)
                slack = 1e-13 if dtype == torch.float64 else 4e-6
                assert a.dtype == dtype
                assert (np.abs(a.double().numpy() - wanted) <= share * np.abs(wanted) * 1.001 + slack).all()


@pytest.mark.parametrize("family", ["qwen3", "gemma3", "olmo2"])
def test_it_is_what_the_models_do(family: str) -> None:
    """transformers rounds to the weights' type in between; in float32 both agree."""
    modeling = pytest.importorskip(f"transformers.models.{family}.modeling_{family}", reason="transformers is optional")
    whole = family == "olmo2"
    q, k, w, v = inputs(torch.float32, 64, whole)
    norm = {"qwen3": "Qwen3RMSNorm", "gemma3": "Gemma3RMSNorm", "olmo2": "Olmo2RMSNorm"}[family]
    each = []
    for x, weight in ((q, w), (k, v)):
        layer = getattr(modeling, norm)(weight.numel(), eps=1e-5)
        with torch.no_grad():
            layer.weight.copy_(weight)
            flat = x.flatten(-2) if whole else x
            each.append(layer(flat).view(x.shape).transpose(1, 2))
    cos, sin = tables(32)
    doubled = [torch.cat([t[9:14], t[9:14]], -1)[None] for t in (cos, sin)]
    wanted = modeling.apply_rotary_pos_emb(each[0], each[1], *doubled)
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
        ({"backend": "complex"}, "backend must be one of eager, triton"),
        ({"positions": 38}, "positions must be below the table's 40 rows"),
    ],
)
def test_bad_calls_are_refused(changed: dict[str, Any], words: str) -> None:
    cos, sin = tables(4)
    weights: dict[str, Any] = {"q_weight": torch.ones(8), "k_weight": torch.ones(8)} | changed
    with pytest.raises(ValueError, match=words):
        apply_normed(torch.randn(9, 2, 8), torch.randn(9, 1, 8), cos=cos, sin=sin, layout="half", **weights)
