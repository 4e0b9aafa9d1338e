"""A call like the last one skips the checks, and nothing else: whatever changed in between is seen."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from rope_core.kernels import apply, cpu, repeated
from rope_core.kernels.task import make_turn

ROWS, DIM = 40, 16
BACKENDS = ("numba", "eager")


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def tables(seed: int, rows: int = ROWS, pairs: int = DIM // 2) -> tuple[Tensor, Tensor]:
    angle = drawn(seed, rows, pairs)
    return angle.cos(), angle.sin()


def expected(q: Tensor, cos: Tensor, sin: Tensor, start: int, half: bool = True) -> Tensor:
    x, c, s = q.double(), cos.double()[start : start + q.shape[1], None], sin.double()[start : start + q.shape[1], None]
    pairs = c.shape[-1]
    a, b = (x[..., :pairs], x[..., pairs:]) if half else (x[..., 0::2], x[..., 1::2])
    one, two = a * c - b * s, a * s + b * c
    return torch.cat([one, two], -1) if half else torch.stack([one, two], -1).flatten(-2)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a call was checked from the ground up."""
    seen: list[int] = []

    def counting(*given: object) -> object:
        seen.append(1)
        return make_turn(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("rope_core.kernels.entry.make_turn", counting)
    monkeypatch.setattr(repeated, "_last", [None])
    return seen


@pytest.mark.parametrize("backend", BACKENDS)
def test_layers_are_checked_once_and_each_gets_its_own_answer(backend: str, counted: list[int]) -> None:
    cos, sin = tables(1)
    for position in (3, 4):
        for layer in range(4):
            q, k = drawn(10 * position + layer, 2, 1, 3, DIM), drawn(99 - layer, 2, 1, 2, DIM)
            got = apply(q, k, cos, sin, layout="half", positions=position, backend=backend)
            for x, y in zip((q, k), got, strict=True):
                torch.testing.assert_close(y.double(), expected(x, cos, sin, position), rtol=0, atol=1e-6)
    assert len(counted) == 2


CHANGES: dict[str, Callable[[dict[str, object]], object]] = {
    "layout": lambda given: given.update(layout="interleaved"),
    "start": lambda given: given.update(positions=9),
    "first position": lambda given: given.update(positions=None),
    "tables": lambda given: given.update(zip(("cos", "sin"), tables(7), strict=True)),
    "sine alone": lambda given: given.update(sin=tables(8)[1]),
    "heads": lambda given: given.update(q=drawn(5, 2, 3, 5, DIM)),
    "length": lambda given: given.update(q=drawn(5, 2, 4, 3, DIM), k=drawn(6, 2, 4, 2, DIM)),
    "strides": lambda given: given.update(q=drawn(5, 2, 3, 3, DIM).transpose(1, 2)),
    "memory order": lambda given: given.update(q=drawn(5, DIM, 3, 3, 2).permute(3, 1, 2, 0)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_differs_from_the_last_call_counts(backend: str, change: str) -> None:
    cos, sin = tables(1)
    given: dict[str, object] = {"q": drawn(2, 2, 3, 3, DIM), "k": drawn(3, 2, 3, 2, DIM), "cos": cos, "sin": sin}
    given |= {"layout": "half", "positions": 5, "backend": backend}
    apply(**given)  # type: ignore[arg-type]
    CHANGES[change](given)
    got = apply(**given)  # type: ignore[arg-type]
    start, half = int(given["positions"] or 0), given["layout"] == "half"  # type: ignore[call-overload]
    for x, y in zip((given["q"], given["k"]), got, strict=True):
        assert isinstance(x, Tensor)
        wanted = expected(x, given["cos"], given["sin"], start, half)  # type: ignore[arg-type]
        torch.testing.assert_close(y.double(), wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16])
def test_new_values_in_the_same_tables_are_read(kind: torch.dtype) -> None:
    q, k, (cos, sin) = drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM), tables(1)
    cos, sin = cos.to(kind), sin.to(kind)
    for seed in (4, 5, 6):
        for into, values in zip((cos, sin), tables(seed), strict=True):
            into.copy_(values)
        got = apply(q, k, cos, sin, layout="half", positions=3)[0]
        torch.testing.assert_close(got.double(), expected(q, cos, sin, 3), rtol=0, atol=1e-6)


def test_tables_changed_in_place_are_checked_again() -> None:
    q, k = drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM)

    def call(cos: Tensor, sin: Tensor) -> Tensor:
        return apply(q, k, cos, sin, layout="half", positions=7)[0]

    cos, sin = tables(1)
    call(cos, sin)
    cos.requires_grad_()
    with pytest.raises(ValueError, match="cos must be a constant"):
        call(cos, sin)
    cos, sin = tables(1)
    call(cos, sin)
    for table in (cos, sin):
        table.resize_(7, DIM // 2)
    with pytest.raises(ValueError, match="positions must be below the table's 7 rows"):
        call(cos, sin)
    cos, sin = tables(1, rows=8)
    call(cos, sin)
    for table in (cos, sin):
        table.t_()
    torch.testing.assert_close(call(cos, sin).double(), expected(q, cos, sin, 7), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"k": drawn(3, 1, 1, 2, DIM, dtype=torch.bfloat16)}, "k must be of q's type"),
        ({"k": drawn(3, 1, 2, 2, DIM)}, "k must be of q's shape"),
        ({"positions": ROWS}, "positions must be below the table's 40 rows"),
        ({"positions": True}, "positions must be an integer"),
        ({"backend": "triton"}, "backend must be available"),
        ({"layout": "thirds"}, "layout must be"),
    ],
)
def test_a_call_that_does_not_pass_is_refused_after_one_that_did(change: dict[str, object], words: str) -> None:
    cos, sin = tables(1)
    given: dict[str, object] = {"q": drawn(2, 1, 1, 3, DIM), "k": drawn(3, 1, 1, 2, DIM), "cos": cos, "sin": sin}
    given |= {"layout": "half", "positions": 5, "backend": "numba"}
    apply(**given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=words):
        apply(**(given | change))  # type: ignore[arg-type]


def test_no_table_is_kept_alive() -> None:
    cos, sin = tables(1)
    seen = weakref.ref(cos)
    apply(drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM), cos, sin, layout="half", positions=3)
    gc.disable()
    try:
        del cos
        assert seen() is None
    finally:
        gc.enable()


def test_strides_count_where_the_results_lie_alike() -> None:
    k, (cos, sin) = drawn(3, 2, 3, 2, DIM), tables(1)
    out = torch.empty(2, 3, 3, DIM), torch.empty_like(k)
    for q in (drawn(2, 2, 3, 3, DIM), drawn(2, 2, 3, 3, DIM).transpose(1, 2)):
        apply(q, k, cos, sin, layout="half", positions=5, out=out, backend="numba")
        torch.testing.assert_close(out[0].double(), expected(q, cos, sin, 5), rtol=0, atol=1e-6)


def test_other_tables_in_the_memory_of_the_last_ones() -> None:
    q, k = drawn(2, 1, 1, 3, DIM, dtype=torch.float64), drawn(3, 1, 1, 2, DIM, dtype=torch.float64)
    memory = [torch.empty(ROWS * DIM // 2, dtype=torch.float64) for _ in range(2)]
    for kind in (torch.float64, torch.float32):
        cos, sin = (m.view(kind)[: ROWS * DIM // 2].view(ROWS, DIM // 2) for m in memory)
        for into, values in zip((cos, sin), tables(4), strict=True):
            into.copy_(values)
        got = apply(q, k, cos, sin, layout="half", positions=3, backend="numba")[0]
        torch.testing.assert_close(got.double(), expected(q, cos, sin, 3), rtol=0, atol=1e-6)


def test_gradients_of_a_repeated_call() -> None:
    cos, sin = tables(1)
    for seed in (4, 5):
        q, k = drawn(seed, 1, 1, 3, DIM).requires_grad_(), drawn(seed + 9, 1, 1, 2, DIM)
        got = apply(q, k, cos, sin, layout="half", positions=11)[0]
        came = drawn(seed + 30, *got.shape)
        (slope,) = torch.autograd.grad(got, q, came)
        torch.testing.assert_close(slope.double(), expected(came, cos, -sin, 11), rtol=0, atol=1e-6)


def test_threads_with_different_tables_do_not_mix_them() -> None:
    wrong: list[float] = []

    def work(seed: int) -> None:
        cos, sin = tables(seed)
        q, k = drawn(seed, 1, 1, 3, DIM), drawn(seed + 1, 1, 1, 2, DIM)
        for _ in range(300):
            got = apply(q, k, cos, sin, layout="half", positions=seed, backend="numba")[0]
            wrong.append((got.double() - expected(q, cos, sin, seed)).abs().max().item())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 1200 and max(wrong) < 1e-6


def test_a_call_bound_once_survives_its_arguments() -> None:
    cos, sin = tables(1)
    q, k = drawn(2, 1, 1, 3, DIM), drawn(3, 1, 1, 2, DIM)
    wanted = expected(q, cos, sin, 5)
    out = torch.full_like(q, torch.nan), torch.full_like(k, torch.nan)
    again = cpu.bind((q, k), make_turn(q, False, cos, sin, None, 1.0, "half", 5, None, None), out)
    del cos, sin
    gc.collect()
    [torch.full((ROWS, DIM // 2), torch.nan) for _ in range(8)]
    again()
    torch.testing.assert_close(out[0].double(), wanted, rtol=0, atol=1e-6)
