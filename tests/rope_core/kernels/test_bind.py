"""A bound call: checked once, it turns what its memory holds, at any position, and keeps what it needs alive."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from rope_core.kernels import apply, bind
from tests.support.tables import assert_turned, tables, turned

ROWS, DIM = 40, 16


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize(
    ("backend", "layout", "dtype", "inplace"),
    [
        ("numba", "half", torch.float32, False),
        ("numba", "interleaved", torch.bfloat16, True),
        ("numba", "interleaved", torch.float64, False),
        ("eager", "half", torch.bfloat16, False),
        ("eager", "interleaved", torch.float32, True),
    ],
)
def test_each_call_turns_what_the_memory_holds_at_its_position(
    backend: str, layout: str, dtype: torch.dtype, inplace: bool
) -> None:
    cos, sin = tables(6, torch.float64 if dtype == torch.float64 else torch.float32)
    q, k = drawn(2, 2, 4, 3, DIM, dtype=dtype).transpose(1, 2), drawn(3, 2, 3, 2, DIM, dtype=dtype)
    out = None if inplace else (torch.empty_like(q), torch.empty_like(k))
    turn = bind(q, k, cos, sin, layout=layout, out=out, backend=backend)
    for seed, position in enumerate((0, 7, ROWS - 3, 5)):
        for i, x in enumerate((q, k)):
            x.copy_(drawn(10 * seed + i, *x.shape))
        rows = cos[position : position + 3], sin[position : position + 3]
        wanted = [turned(x, *rows, layout) for x in (q, k)]
        got = turn(position)
        for x, y in zip(got, wanted, strict=True):
            assert_turned(x, y)
        assert all(x is y for x, y in zip(got, (q, k) if inplace else out or (), strict=True))


def test_packed_tensors_and_large_ones_on_all_threads() -> None:
    cos, sin = tables(64)
    for q, k in ((drawn(4, 3, 4, 128), drawn(5, 3, 2, 128)), (drawn(7, 1, 32, 16, 128), drawn(8, 1, 32, 16, 128))):
        seq = q.shape[-3]
        for got, x in zip(bind(q, k, cos, sin, layout="half", out=(q.clone(), k.clone()))(8), (q, k), strict=True):
            assert_turned(got, turned(x, cos[8 : 8 + seq], sin[8 : 8 + seq], "half"))


def test_it_survives_its_arguments() -> None:
    cos, sin = tables(8)
    q, k = drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM)
    wanted = turned(q, cos[5:6], sin[5:6], "half")
    turn = bind(q, k, cos, sin, layout="half", out=(torch.empty_like(q), torch.empty_like(k)))
    del cos, sin, q, k
    gc.collect()
    [torch.full((ROWS, DIM // 2), torch.nan) for _ in range(8)]
    assert_turned(turn(5)[0], wanted)


@pytest.mark.parametrize("position", [-1, ROWS - 2, 1.5, True])
@pytest.mark.parametrize("backend", ["numba", "eager"])
def test_a_position_that_the_table_does_not_have_is_refused(backend: str, position: Any) -> None:
    q, k = drawn(2, 1, 3, 3, DIM), drawn(3, 1, 3, 2, DIM)
    turn = bind(q, k, *tables(8), layout="half", backend=backend)
    with pytest.raises(ValueError, match="position must be an integer"):
        turn(position)
    assert torch.equal(q, drawn(2, 1, 3, 3, DIM))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"q": drawn(2, 1, 3, 3, DIM).requires_grad_()}, "q and k must be without gradients"),
        ({"cos": drawn(1, 1, 3, 8), "sin": drawn(1, 1, 3, 8)}, "cos must be a table"),
        ({"out": (drawn(2, 1, 3, 3, DIM),)}, "out must be two tensors"),
        ({"q": drawn(2, 1, 3, 1, DIM).expand(1, 3, 3, DIM)}, "q must be no expanded tensor"),
        ({"cos": drawn(1, 2, 8), "sin": drawn(1, 2, 8)}, "positions must be below the table's 2 rows"),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_bound(changed: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = dict(zip(("cos", "sin"), tables(8), strict=True))
    given |= {"q": drawn(2, 1, 3, 3, DIM), "k": drawn(3, 1, 3, 2, DIM), "layout": "half"} | changed
    with pytest.raises(ValueError, match=words):
        bind(**given)


def test_threads_with_calls_of_their_own_do_not_mix_them() -> None:
    wrong: list[float] = []

    def work(seed: int) -> None:
        cos, sin = tables(8)
        q, k = drawn(seed, 1, 1, 3, DIM), drawn(seed + 1, 1, 1, 2, DIM)
        turn = bind(q, k, cos, sin, layout="half", out=(torch.empty_like(q), torch.empty_like(k)))
        for i in range(200):
            row = i % ROWS
            wanted = turned(q, cos[row : row + 1], sin[row : row + 1], "half")
            entry = apply(q, k, cos, sin, layout="half", positions=row)[0]
            wrong.extend((x.double() - wanted).abs().max().item() for x in (turn(row)[0], entry))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 1600 and max(wrong) < 1e-6
