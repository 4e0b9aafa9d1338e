"""Rotations of other projects that are not installed here: called by the signatures that their sources have."""

import sys
import types
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from rope_core.bench import contestants
from rope_core.bench.answers import largest_error_and_first_seconds
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import Implementation
from rope_core.kernels.torch_ops import rotate_eager

CASE = BenchmarkCase("cpu", "bfloat16", 2, 9, 4, 2, 64, 64, "half", "bshd")
ON_GPU = replace(CASE, device="cuda")


def turned(x: Tensor, cos: Tensor, sin: Tensor, half: bool) -> Tensor:
    return rotate_eager(x[None].float(), cos.float()[None], sin.float()[None], half)[0].to(x.dtype)


def _sglang() -> types.ModuleType:
    """python/sglang/jit_kernel/rope.py of sgl-project/sglang as of 2026: names, order, what is keyword-only."""

    def apply_rope_inplace(
        q: Tensor, k: Tensor, cos_sin_cache: Tensor, positions: Tensor, *, is_neox: bool, rope_dim: int = 0
    ) -> None:
        assert cos_sin_cache.dtype == torch.float32 and positions.dtype in (torch.int32, torch.int64)
        assert q.dim() == k.dim() == 3 and positions.shape == q.shape[:1]
        assert rope_dim == cos_sin_cache.shape[-1]
        cos, sin = cos_sin_cache[positions.long()].chunk(2, -1)
        for x in (q, k):
            x.copy_(turned(x, cos, sin, is_neox))

    module = types.ModuleType("sglang.jit_kernel.rope")
    module.apply_rope_inplace = apply_rope_inplace  # type: ignore[attr-defined]
    return module


def _tileops() -> types.ModuleType:
    """tileops/ops/rope.py of tile-ai/TileOPs as of 2026: the op makes its tables by position, in the tensors' type."""

    class RoPENeoxPositionIdsFwdOp:
        def __init__(
            self,
            max_position: int,
            base: float = 10000.0,
            rotary_dim: int | None = None,
            *,
            target: object = None,
            kernel_map: object = None,
            tune: bool = False,
        ) -> None:
            assert rotary_dim is not None and rotary_dim % 2 == 0
            half = rotary_dim // 2
            theta = 1.0 / base ** (torch.arange(half, dtype=torch.float32) / half)
            self.angle = torch.outer(torch.arange(max_position, dtype=torch.float32), theta)

        def __call__(self, x: Tensor, position_ids: Tensor) -> Tensor:
            assert x.dim() == 3 and position_ids.dtype in (torch.int32, torch.int64)
            angle = self.angle[position_ids.long()]
            return turned(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype), True)

    module = types.ModuleType("tileops.ops.rope")
    module.RoPENeoxPositionIdsFwdOp = RoPENeoxPositionIdsFwdOp  # type: ignore[attr-defined]
    return module


CASES = {
    "SGLang": (_sglang, [replace(CASE, inplace=True), replace(CASE, inplace=True, layout="interleaved")]),
    "TileOPs": (_tileops, [CASE, replace(CASE, rotary_dim=32)]),
}


def named(name: str) -> Implementation:
    return next(c for c in contestants.all_implementations() if c.name == name)


@pytest.mark.parametrize("name", CASES)
def test_a_peer_is_called_by_its_own_signature(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, cases = CASES[name]
    module = make()
    parts = module.__name__.split(".")
    for count in range(1, len(parts)):
        parent = types.ModuleType(".".join(parts[:count]))
        parent.__path__ = []
        monkeypatch.setitem(sys.modules, parent.__name__, parent)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for case in cases:
        # SGLang's dims that do not turn stand after those that do, as here.
        assert largest_error_and_first_seconds(named(name), case)[0] < 0.1


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("SGLang", {"inplace": True}, "sglang is not installed"),
        ("SGLang", {}, "it writes in place only"),
        ("SGLang", {"inplace": True, "memory": "bhsd"}, "it takes (tokens, heads, dim) in one piece only"),
        ("SGLang", {"inplace": True, "device": "cpu"}, "it runs on a GPU only"),
        ("TileOPs", {}, "tileops is not installed"),
        ("TileOPs", {"layout": "interleaved"}, "it knows the half layout only"),
        ("TileOPs", {"direction": "backward"}, "it has no backward"),
    ],
)
def test_a_peer_says_why_it_cannot_take_part(name: str, changed: dict[str, object], reason: str) -> None:
    assert named(name).missing(replace(ON_GPU, **changed)) == reason  # type: ignore[arg-type]
