"""QK norm, rotation and the write into the cache, against numpy in float64."""

from typing import Any

import numpy as np
import pytest
import torch

from rope_core.kernels.cached import apply_normed_cached
from tests.support.tables import normed, tables


@pytest.mark.parametrize(("dtype", "ulp"), [(torch.float32, 2.0**-22), (torch.bfloat16, 2.0**-8)])
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_each_token_lands_in_its_slot_and_nowhere_else(dtype: torch.dtype, ulp: float, layout: str) -> None:
    torch.manual_seed(3)
    table, weights = tables(6), (torch.rand(20) + 0.5, torch.rand(20) - 2.0)
    # A view of q, k and v in one tensor; blocks of four slots for k, slots one by one for v.
    together = torch.randn(9, 4 + 2 + 2, 20).to(dtype)
    q, k, v = together[:, :4], together[:, 4:6], together[:, 6:, :7]
    k_cache, v_cache = torch.full((5, 4, 2, 20), 7.0, dtype=dtype), torch.full((20, 2, 7), 7.0, dtype=dtype)
    slots, where = torch.randperm(20)[:9], torch.randint(1, 40, (9,))
    slots[4] = -1
    before = together.clone()
    got = apply_normed_cached(
        q, k, v, *weights, *table, k_cache, v_cache, slots, layout=layout, eps=1e-3, unit_offset=True, positions=where
    )
    assert torch.equal(together, before)
    wanted = [normed(x, 1 + w.double(), table, where, layout, 1e-3) for x, w in zip((q, k), weights, strict=True)]
    kept, held = slots >= 0, k_cache.flatten(0, 1)
    for a, b in ((got, wanted[0]), (held[slots[kept]], wanted[1][kept.numpy()])):
        assert a.dtype == dtype and (np.abs(a.double().numpy() - b) <= ulp * 1.01 * np.abs(b) + 1e-5).all()
    assert torch.equal(v_cache[slots[kept]], v[kept])
    untouched = torch.ones(20, dtype=torch.bool)
    untouched[slots[kept]] = False
    assert bool((held[untouched] == 7.0).all()) and bool((v_cache[untouched] == 7.0).all())


def test_q_may_be_overwritten_and_there_may_be_no_token() -> None:
    table, weight = tables(16), torch.rand(32)
    q, k = torch.randn(11, 4, 32), torch.randn(11, 2, 32)
    cache, slots = torch.zeros(2, 11, 2, 32), torch.arange(11, dtype=torch.int32)
    wanted = normed(q, weight, table, torch.arange(21, 32), "half", 1e-6)
    options: dict[str, Any] = {"layout": "half", "positions": 21}
    assert apply_normed_cached(q, k, k, weight, weight, *table, cache[0], cache[1], slots, **options, out=q) is q
    assert np.allclose(q.numpy(), wanted, atol=2e-6)
    assert bool(cache.flatten(2).any(dim=-1).all()), "slot 0 is a slot"
    q, k, slots = q[:0], k[:0], slots[:0]
    none = apply_normed_cached(q, k, k, weight, weight, *table, cache[0], cache[1], slots, **options)
    assert none.shape == (0, 4, 32)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"slots": torch.tensor([0, 8])}, r"slots must be integers in \[-1, 8\), got 8"),
        ({"slots": torch.tensor([0, -2])}, r"slots must be integers in \[-1, 8\), got -2"),
        ({"slots": torch.tensor([0])}, r"slots must be an int32 or int64 tensor \(2,\)"),
        ({"k_cache": torch.zeros(8, 2, 7)}, r"k_cache must be \(slots, 2, 8\) or in blocks"),
        ({"k_cache": torch.zeros(8, 2, 8).half()}, "k_cache must be torch.float32 on cpu"),
        ({"v_cache": torch.zeros(4, 4, 2, 8)[:, :2]}, "v_cache must be made of blocks that follow one another"),
        ({"v": torch.zeros(3, 2, 8)}, "v must be of shape"),
        ({"q_weight": torch.ones(7)}, r"q_weight must be a floating-point tensor \(8,\)"),
        ({"q": torch.zeros(2, 4, 8, requires_grad=True)}, "without gradients, which a write into a cache"),
        ({"positions": 39}, "positions must be below the table's 40 rows"),
        ({"out": torch.zeros(2, 4, 4)}, r"out must be torch.float32 \(2, 4, 8\)"),
    ],
)
def test_bad_calls_are_refused(changed: dict[str, Any], words: str) -> None:
    cos, sin = tables(4)
    single = torch.ones(8)
    call: dict[str, Any] = {
        "q": torch.zeros(2, 4, 8), "k": torch.zeros(2, 2, 8), "v": torch.zeros(2, 2, 8), "q_weight": single,
        "k_weight": single, "k_cache": torch.zeros(8, 2, 8), "v_cache": torch.zeros(8, 2, 8),
        "slots": torch.tensor([1, 0]),
    } | changed  # fmt: skip
    with pytest.raises(ValueError, match=words):
        apply_normed_cached(cos=cos, sin=sin, layout="half", **call)
