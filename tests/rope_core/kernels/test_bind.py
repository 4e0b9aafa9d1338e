"""A bound call: checked once, it turns what its memory holds, at any position, and keeps what it needs alive."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from rope_core.kernels import apply, bind

ROWS, DIM = 40, 16


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def tables(seed: int, pairs: int = DIM // 2) -> tuple[Tensor, Tensor]:
    angle = drawn(seed, ROWS, pairs)
    return angle.cos(), angle.sin()


def expected(x: Tensor, cos: Tensor, sin: Tensor, start: int, layout: str = "half") -> Tensor:
    """Return the rotation in float64, by torch's own operations."""
    seq, pairs = x.shape[1], cos.shape[-1]
    c, s = (t.double()[start : start + seq, None] for t in (cos, sin))
    x = x.double()
    a, b = (x[..., :pairs], x[..., pairs : 2 * pairs]) if layout == "half" else (x[..., 0::2], x[..., 1::2])
    both = a * c - b * s, a * s + b * c
    turned = torch.cat(both, -1) if layout == "half" else torch.stack(both, -1).flatten(-2)
    return torch.cat([turned, x[..., 2 * pairs :]], -1)


@pytest.mark.parametrize("backend", ["numba", "eager"])
@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("inplace", [False, True])
def test_each_call_turns_what_the_memory_holds_at_its_position(
    backend: str, layout: str, dtype: torch.dtype, inplace: bool
) -> None:
    cos, sin = tables(1)
    q, k = drawn(2, 2, 3, 4, DIM, dtype=dtype), drawn(3, 2, 3, 2, DIM, dtype=dtype)
    out = None if inplace else (torch.empty_like(q), torch.empty_like(k))
    turn = bind(q, k, cos, sin, layout=layout, out=out, backend=backend)
    for seed, position in enumerate((0, 7, ROWS - 3, 5)):
        for i, x in enumerate((q, k)):
            x.copy_(drawn(10 * seed + i, *x.shape))
        wanted = [expected(x, cos, sin, position, layout) for x in (q, k)]
        got = turn(position)
        for x, y in zip(got, wanted, strict=True):
            torch.testing.assert_close(x.double(), y, rtol=0, atol=3e-2 if dtype == torch.bfloat16 else 1e-6)
        assert all(x is y for x, y in zip(got, (q, k) if inplace else out or (), strict=True))


def test_partial_widths_strides_packed_tensors_and_large_ones() -> None:
    cos, sin = tables(1, pairs=6)
    q, k = drawn(2, 2, 4, 3, DIM).transpose(1, 2), drawn(3, 2, 2, 3, DIM).transpose(1, 2)
    for got, x in zip(bind(q, k, cos, sin, layout="half", out=(q.clone(), k.clone()))(9), (q, k), strict=True):
        torch.testing.assert_close(got.double(), expected(x, cos, sin, 9), rtol=0, atol=1e-6)
    packed = drawn(4, 3, 4, DIM), drawn(5, 3, 2, DIM)
    wanted = [expected(x[None], cos, sin, 9)[0] for x in packed]
    for got, y in zip(bind(*packed, cos, sin, layout="half")(9), wanted, strict=True):
        torch.testing.assert_close(got.double(), y, rtol=0, atol=1e-6)
    cos, sin = tables(6, pairs=64)
    q, k = drawn(7, 1, 32, 16, 128), drawn(8, 1, 32, 16, 128)
    for got, x in zip(bind(q, k, cos, sin, layout="half", out=(q.clone(), k.clone()))(8), (q, k), strict=True):
        torch.testing.assert_close(got.double(), expected(x, cos, sin, 8), rtol=0, atol=1e-6)


def test_it_survives_its_arguments() -> None:
    cos, sin = tables(1)
    q, k = drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM)
    wanted = expected(q, cos, sin, 5)
    turn = bind(q, k, cos, sin, layout="half", out=(torch.empty_like(q), torch.empty_like(k)))
    del cos, sin, q, k
    gc.collect()
    [torch.full((ROWS, DIM // 2), torch.nan) for _ in range(8)]
    torch.testing.assert_close(turn(5)[0].double(), wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("position", [-1, ROWS - 2, 1.5, True])
@pytest.mark.parametrize("backend", ["numba", "eager"])
def test_a_position_that_the_table_does_not_have_is_refused(backend: str, position: Any) -> None:
    q, k = drawn(2, 1, 3, 3, DIM), drawn(3, 1, 3, 2, DIM)
    turn = bind(q, k, *tables(1), layout="half", backend=backend)
    with pytest.raises(ValueError, match="position must be an integer"):
        turn(position)
    assert torch.equal(q, drawn(2, 1, 3, 3, DIM))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"k": drawn(3, 1, 2, 2, DIM)}, "k must be of q's shape"),
        ({"q": drawn(2, 1, 3, 3, DIM).requires_grad_()}, "q and k must be without gradients"),
        ({"cos": drawn(1, 1, 3, 8), "sin": drawn(1, 1, 3, 8)}, "cos must be a table"),
        ({"layout": "thirds"}, "layout must be"),
        ({"backend": "triton"}, "backend must be available"),
        ({"out": (drawn(2, 1, 3, 3, DIM),)}, "out must be two tensors"),
        ({"q": drawn(2, 1, 3, 1, DIM).expand(1, 3, 3, DIM)}, "q must be no expanded tensor"),
        ({"cos": drawn(1, 2, 8), "sin": drawn(1, 2, 8)}, "positions must be below the table's 2 rows"),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_bound(changed: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = dict(zip(("cos", "sin"), tables(1), strict=True))
    given |= {"q": drawn(2, 1, 3, 3, DIM), "k": drawn(3, 1, 3, 2, DIM), "layout": "half"} | changed
    with pytest.raises(ValueError, match=words):
        bind(**given)


def test_threads_with_calls_of_their_own_do_not_mix_them() -> None:
    wrong: list[float] = []

    def work(seed: int) -> None:
        cos, sin = tables(seed)
        q, k = drawn(seed, 1, 1, 3, DIM), drawn(seed + 1, 1, 1, 2, DIM)
        turn = bind(q, k, cos, sin, layout="half", out=(torch.empty_like(q), torch.empty_like(k)))
        for i in range(200):
            wanted = expected(q, cos, sin, i % ROWS)
            entry = apply(q, k, cos, sin, layout="half", positions=i % ROWS)[0]
            wrong.extend((x.double() - wanted).abs().max().item() for x in (turn(i % ROWS)[0], entry))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 1600 and max(wrong) < 1e-6
