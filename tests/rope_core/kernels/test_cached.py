"""QK norm, rotation and the write into the cache in one pass, against numpy in float64."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core import Rope
from rope_core.kernels.cached import apply_normed_cached

ULP = {torch.float32: 2.0**-22, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float64: 1e-14}
ROWS = 300


def tables(pairs: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    angle = torch.arange(ROWS, dtype=torch.float64)[:, None] * torch.tensor(Rope(2 * pairs, 700.0).theta)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def exact(x: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, where: Any, layout: str, eps: float) -> Any:
    """Each head vector by itself: norm, weight, then a complex product for each pair."""
    wide = x.double().numpy()
    wide = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + eps) * weight.double().numpy()
    pairs = cos.shape[1]
    turn = (cos.double().numpy() + 1j * sin.double().numpy())[where][:, None]
    first, second = (slice(0, pairs), slice(pairs, 2 * pairs))
    if layout == "interleaved":
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    turned = (wide[..., first] + 1j * wide[..., second]) * turn
    wide[..., first], wide[..., second] = turned.real, turned.imag
    return wide


def drawn(tokens: int, heads: int, dim: int, dtype: torch.dtype, order: str) -> Tensor:
    if order == "heads first":
        return torch.randn(heads, tokens, dim).to(dtype).transpose(0, 1)
    if order == "packed qkv":
        return torch.randn(tokens, heads + 3, dim).to(dtype)[:, 2 : 2 + heads]
    return torch.randn(tokens, heads, 2 * dim).to(dtype)[..., ::2]


CASES = [
    # tokens, q heads, k heads, head, rotary, v width, order, blocks
    (37, 8, 4, 128, 128, 128, "packed qkv", 16),
    (9, 4, 1, 128, 64, 64, "heads first", 0),
    (5, 3, 3, 20, 12, 7, "packed qkv", 4),
    (6, 4, 4, 96, 32, 32, "strided", 0),
    (64, 12, 2, 80, 80, 80, "packed qkv", 8),
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("backend", ["numba", "eager"])
def test_one_pass_equals_float64(backend: str, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if backend == "eager" and streamed:
        pytest.skip("streaming is numba's")
    if streamed:
        monkeypatch.setattr("rope_core.kernels.cpu_cached.STREAM_BYTES", 0)
        monkeypatch.setattr("rope_core.kernels.cpu_cached.SERIAL_BYTES", 0)
    torch.manual_seed(3)
    for tokens, q_heads, k_heads, dim, rotary, width, order, block in CASES:
        for dtype, ulp in ULP.items():
            cos, sin = tables(rotary // 2, torch.float64 if dtype == torch.float64 else torch.float32)
            for layout in ("half", "interleaved"):
                q, k = drawn(tokens, q_heads, dim, dtype, order), drawn(tokens, k_heads, dim, dtype, order)
                v = drawn(tokens, k_heads, width, dtype, order)
                weights = torch.rand(dim) + 0.5, torch.rand(dim) - 2.0
                room = 2 * tokens if not block else -(-2 * tokens // block) * block
                shape = (room,) if not block else (room // block, block)
                caches = [torch.full((*shape, k_heads, w), 7.0, dtype=dtype) for w in (dim, width)]
                slots = torch.randperm(room)[:tokens]
                slots[tokens // 2] = -1
                where = torch.randint(1, ROWS, (tokens,))
                before = q.clone(), k.clone(), v.clone()
                got = apply_normed_cached(
                    q, k, v, *weights, cos, sin, caches[0], caches[1], slots, layout=layout, eps=1e-3,
                    unit_offset=True, positions=where, backend=backend,
                )  # fmt: skip
                wanted = [
                    exact(x, 1 + weight.double(), cos, sin, where.numpy(), layout, 1e-3)
                    for x, weight in zip((q, k), weights, strict=True)
                ]
                assert all(torch.equal(a, b) for a, b in zip((q, k, v), before, strict=True))
                held = [cache.flatten(0, 1) if block else cache for cache in caches]
                kept = slots >= 0
                slack = 1e-13 if dtype == torch.float64 else 1e-5
                for a, b in ((got, wanted[0]), (held[0][slots[kept]], wanted[1][kept.numpy()])):
                    assert a.dtype == dtype
                    assert (np.abs(a.double().numpy() - b) <= ulp * 1.01 * np.abs(b) + slack).all()
                assert torch.equal(held[1][slots[kept]], v[kept])
                untouched = torch.ones(room, dtype=torch.bool)
                untouched[slots[kept]] = False
                assert all(bool((cache[untouched] == 7.0).all()) for cache in held)


def test_q_may_be_overwritten_and_positions_count_from_one_number() -> None:
    torch.manual_seed(5)
    cos, sin = tables(16, torch.float32)
    q, k = torch.randn(11, 4, 32), torch.randn(11, 2, 32)
    weight, slots = torch.rand(32), torch.arange(11, dtype=torch.int32)
    cache = torch.zeros(2, 11, 2, 32)
    wanted = exact(q, weight, cos, sin, np.arange(41, 52), "half", 1e-6)
    got = apply_normed_cached(
        q, k, k, weight, weight, cos, sin, cache[0], cache[1], slots, layout="half", positions=41, out=q
    )
    assert got is q and np.allclose(q.numpy(), wanted, atol=2e-6)
    assert np.allclose(cache[0].numpy(), exact(k, weight, cos, sin, np.arange(41, 52), "half", 1e-6), atol=2e-6)
    empty = apply_normed_cached(
        q[:0], k[:0], k[:0], weight, weight, cos, sin, cache[0], cache[1], slots[:0], layout="half"
    )
    assert empty.shape == (0, 4, 32)


def test_nan_stays_in_its_head() -> None:
    cos, sin = tables(32, torch.float32)
    q = torch.ones(2, 4, 64, dtype=torch.bfloat16)
    q[1, 2, 5] = torch.nan
    cache = torch.zeros(2, 2, 4, 64, dtype=torch.bfloat16)
    single = torch.ones(64)
    got = apply_normed_cached(
        q, q, q, single, single, cos, sin, cache[0], cache[1], torch.tensor([1, 0]), layout="half", positions=3
    )
    for x in (got[1], cache[0, 0]):
        assert torch.isnan(x).any(-1).tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"slots": torch.tensor([0, 9])}, r"slots must be integers in \[-1, 8\), got 9"),
        ({"slots": torch.tensor([0, -2])}, r"slots must be integers in \[-1, 8\), got -2"),
        ({"slots": torch.tensor([0])}, r"slots must be an int32 or int64 tensor \(2,\)"),
        ({"k_cache": torch.zeros(8, 2, 7)}, r"k_cache must be \(slots, 2, 8\) or in blocks"),
        ({"k_cache": torch.zeros(8, 2, 8).half()}, "k_cache must be torch.float32 on cpu"),
        ({"v_cache": torch.zeros(4, 4, 2, 8)[:, :2]}, "v_cache must be made of blocks that follow one another"),
        ({"v": torch.zeros(3, 2, 8)}, "v must be of shape"),
        ({"q_weight": torch.ones(7)}, r"q_weight must be a floating-point tensor \(8,\)"),
        ({"q": torch.zeros(2, 4, 8, requires_grad=True)}, "without gradients, which a write into a cache"),
        ({"positions": 299}, "positions must be below the table's 300 rows"),
        ({"out": torch.zeros(2, 4, 4)}, r"out must be torch.float32 \(2, 4, 8\)"),
        ({"backend": "complex"}, "backend must be one of eager, numba"),
        ({"eps": 0.0}, "eps must be a positive number"),
    ],
)
def test_bad_calls_are_refused(changed: dict[str, Any], words: str) -> None:
    cos, sin = tables(4, torch.float32)
    single = torch.ones(8)
    call: dict[str, Any] = {
        "q": torch.zeros(2, 4, 8), "k": torch.zeros(2, 2, 8), "v": torch.zeros(2, 2, 8), "q_weight": single,
        "k_weight": single, "k_cache": torch.zeros(8, 2, 8), "v_cache": torch.zeros(8, 2, 8),
        "slots": torch.tensor([1, 0]),
    } | changed  # fmt: skip
    with pytest.raises(ValueError, match=words):
        apply_normed_cached(cos=cos, sin=sin, layout="half", **call)
