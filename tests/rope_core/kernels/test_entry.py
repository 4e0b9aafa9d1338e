"""apply against complex products in float64, on drawn shapes, strides, types and positions."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core import Request, Rope, spectrum
from rope_core.kernels import task, torch_ops
from rope_core.kernels.backends import BACKENDS
from rope_core.kernels.entry import apply
from rope_core.kernels.task import make_rotation_spec
from tests.support.tables import assert_turned, tables, turned

ROWS = 300
CPU = ("eager", "complex", "numba")
LAYOUTS = ("half", "interleaved")
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def strided(rng: random.Random, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return a drawn tensor of ``shape`` whose memory lies in a drawn order, with gaps where the draw says so."""
    order = list(range(len(shape)))
    if rng.random() < 0.7:
        rng.shuffle(order)
    padded = [shape[axis] * rng.choice((1, 1, 2)) + rng.choice((0, 0, 1)) for axis in order]
    base = torch.randn(padded).to(dtype)
    cut = base[tuple(slice(0, shape[axis]) for axis in order)]
    if rng.random() < 0.3:
        cut = base[tuple(slice(padded[i] - shape[axis], padded[i]) for i, axis in enumerate(order))]
    return cut.permute([order.index(axis) for axis in range(len(shape))])


def draw(rng: random.Random, backend: str, inplace: bool, number: int) -> None:
    """One drawn call beside the oracle; eight numbers on end have every type and layout."""
    dtype, layout = DTYPES[number % 4], LAYOUTS[number // 4 % 2]
    batch, seq, heads = rng.choice((0, 1, 2, 3)), rng.choice((0, 1, 2, 7, 33)), rng.choice((1, 2, 3))
    dim = rng.choice((2, 3, 10, 32, 36, 64, 72, 80, 92, 128, 256))
    pairs = rng.randint(1, dim // 2) if rng.random() < 0.5 else dim // 2
    # More KV heads than query heads are legal too.
    q, k = (strided(rng, (batch, seq, heads * n, dim), dtype) for n in rng.choice(((1, 1), (2, 1), (4, 1), (1, 2))))
    cos, sin = tables(pairs, torch.float64 if dtype == torch.float64 else torch.float32, ROWS)
    where = torch.arange(seq).expand(batch, seq)
    arguments: dict[str, Any] = {}
    kind = rng.choice(("none", "start", "vector", "matrix", "offsets", "rows"))
    if kind == "start":
        arguments["positions"] = rng.randint(0, 200)
        where = where + arguments["positions"]
    elif kind == "vector":
        arguments["positions"] = torch.randint(0, ROWS, (seq,))
        where = arguments["positions"].expand(batch, seq)
    elif kind == "matrix":
        arguments["positions"] = where = torch.randint(0, ROWS, (batch, seq), dtype=torch.int32)
    elif kind == "offsets":
        arguments["offsets"] = torch.randint(0, 200, (batch,))
        where = where + arguments["offsets"][:, None]
    elif kind == "rows":
        where = torch.randint(0, ROWS, (batch, seq))
    rows = cos[where.long()], sin[where.long()]
    exact = [turned(x, *rows, layout) for x in (q, k)]
    given = rows if kind == "rows" else (cos, sin)
    got = apply(q, k, *given, layout=layout, backend=backend, inplace=inplace, **arguments)
    for result, target in zip(got, exact, strict=True):
        assert_turned(result, target)
    assert not inplace or (got[0] is q and got[1] is k)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("backend", [*CPU, "reference"])
def test_drawn_calls_equal_float64(backend: str, inplace: bool) -> None:
    rng = random.Random(f"{backend}{inplace}")
    torch.manual_seed(3)
    for number in range(32 if backend == "numba" else 16):
        draw(rng, backend, inplace, number)


@pytest.mark.parametrize("compiler", ["eager", pytest.param("inductor", marks=pytest.mark.long)])
def test_the_compiled_form_is_one_graph_and_equal(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=compiler))
    torch_ops._compiled_one.cache_clear()
    torch.manual_seed(0)
    cos, sin = tables(8)
    q, k = torch.randn(2, 9, 4, 20), torch.randn(2, 9, 2, 20)
    for layout in LAYOUTS:
        for got, x in zip(apply(q, k, cos, sin, layout=layout, positions=17, backend="compiled"), (q, k), strict=True):
            assert_turned(got, turned(x, cos[17:26], sin[17:26], layout))
    torch_ops._compiled_one.cache_clear()


@pytest.mark.parametrize("backend", [*CPU, "reference"])
@pytest.mark.parametrize(("layout", "into"), [("half", [0.0, 0.0, 1.0, 0.0]), ("interleaved", [0.0, 1.0, 0.0, 0.0])])
def test_a_quarter_turn_takes_one_zero_to_zero_one(backend: str, layout: str, into: list[float]) -> None:
    x = torch.tensor([1.0, 0.0, 0.0, 0.0]).reshape(1, 1, 1, 4)
    cos, sin = torch.tensor([[1.0, 1.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    q, k = apply(x, x, cos, sin, layout=layout, positions=1, backend=backend)
    assert q.flatten().tolist() == into and k.flatten().tolist() == into


@pytest.mark.parametrize("backend", CPU)
def test_packed_sequences_count_from_their_own_first_position(backend: str) -> None:
    torch.manual_seed(1)
    cos, sin = tables(16, rows=120)
    borders, first = torch.tensor([0, 5, 5, 12, 20], dtype=torch.int32), torch.tensor([3, 0, 100, 7])
    q, k = torch.randn(20, 4, 32), torch.randn(20, 2, 32)
    alone = torch.cat([torch.arange(b - a) for a, b in pairwise(borders.tolist())])
    shift = torch.repeat_interleave(first, torch.diff(borders).long())
    for offsets, where in ((None, alone), (first, alone + shift)):
        got = apply(q, k, cos, sin, layout="half", cu_seqlens=borders, offsets=offsets, backend=backend)
        for result, x in zip(got, (q, k), strict=True):
            assert_turned(result, turned(x, cos[where], sin[where], "half"))


@pytest.mark.parametrize("backend", [*CPU, "reference"])
@pytest.mark.parametrize("start", [0, 2**31 - 9])
def test_angles_made_in_the_kernel_are_exact_at_every_position(backend: str, start: int) -> None:
    torch.manual_seed(2)
    s = spectrum(Request(Rope(64, 12_345.0)))
    steps = torch.from_numpy(s.phase_step.view(np.int64).copy())
    x = torch.randn(2, 9, 2, 70)
    turns = [(p * int(step)) % 2**64 / 2**64 for p in range(start, start + 9) for step in s.phase_step]
    angle = torch.tensor(turns, dtype=torch.float64).reshape(9, 32) * 2 * torch.pi
    for positions in (start, (torch.arange(9) + start)[None]):
        where: dict[str, Any] = {"phase_step": steps, "positions": positions, "attention_factor": 1.25}
        for got in apply(x, x, None, None, layout="half", backend=backend, **where):
            assert_turned(got, turned(x, 1.25 * angle.cos(), 1.25 * angle.sin(), "half"))


@pytest.mark.parametrize("streamed", [False, True])
def test_vectors_turn_both_ways(streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(4)
    if streamed:
        monkeypatch.setattr("rope_core.kernels.cpu.STREAM_BYTES", 0)
    for pairs in (64, 48, 20):
        cos, sin = tables(pairs)
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            for layout in LAYOUTS:
                q = torch.randn(1, 8, 37, 2 * pairs).to(dtype).transpose(1, 2)
                turn = make_rotation_spec(q, False, cos, sin, None, 1.0, layout, 3, None, None)
                for back in (False, True):
                    got = BACKENDS["numba"].run((q,), replace(turn, back=back), None)[0]
                    assert_turned(got, turned(q, cos[3:], -sin[3:] if back else sin[3:], layout))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sixteen_bits_are_rounded_to_nearest_even(layout: str) -> None:
    torch.manual_seed(8)
    for pairs in (64, 16, 3):
        cos = torch.rand(50, pairs) + 0.5
        # 1 + n 2**-8 lies halfway between two bfloat16 for odd n, 1 + n 2**-11 between two float16.
        cos[:20] = 1.0 + torch.randint(0, 64, (20, pairs)) * 2.0**-8
        cos[20:40] = 1.0 + torch.randint(0, 64, (20, pairs)) * 2.0**-11
        for dtype in (torch.bfloat16, torch.float16):
            # Four heads are turned at once, two one by one.
            x = torch.ones(1, 50, 6, 2 * pairs, dtype=dtype)
            x[:, ::3] = torch.randn(1, 17, 6, 2 * pairs).to(dtype)
            both = torch.cat([cos, cos], -1) if layout == "half" else cos.repeat_interleave(2, -1)
            done = apply(x[:, :, :4], x[:, :, 4:], cos, torch.zeros_like(cos), layout=layout, backend="numba")
            assert torch.equal(torch.cat(done, 2), (x.float() * both[None, :, None]).to(dtype))


@pytest.mark.parametrize("backend", CPU)
def test_a_nan_stays_a_nan_and_infinity_stays_infinite(backend: str) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for layout in LAYOUTS:
            x = torch.zeros(1, 2, 4, 128, dtype=dtype)
            x[0, 0, 2, 5], x[0, 1, 2, 40] = torch.nan, torch.inf
            cos = torch.full((2, 64), 0.5)
            table_nan = torch.tensor([0x7FFFFFFF], dtype=torch.int32).view(torch.float32)
            cos[1, 7] = table_nan[0]
            got = apply(x, x, cos, torch.full((2, 64), 0.25), layout=layout, backend=backend)[0]
            assert torch.isnan(got[0, 0]).sum() == 2
            assert torch.isinf(got[0, 1]).sum() == 2
            assert torch.isnan(got[0, 1]).sum() == 8  # the table's, in every head


def test_complex_numbers_are_read_from_any_place_in_memory() -> None:
    cos, sin = tables(4)
    for place in (0, 1, 3):
        x = torch.randn(35)[place : place + 32].view(1, 2, 2, 8)
        got = apply(x, x, cos, sin, layout="interleaved", backend="complex")[0]
        assert_turned(got, turned(x, cos[:2], sin[:2], "interleaved"))


def test_results_keep_the_order_of_memory() -> None:
    cos, sin = tables(4)
    q, k = torch.randn(2, 3, 5, 8).transpose(1, 2), torch.randn(2, 1, 5, 8).transpose(1, 2)
    for backend in CPU:
        got = apply(q, k, cos, sin, layout="half", backend=backend)
        assert got[0].shape == q.shape
        if backend == "numba":
            assert got[0].stride() == q.stride()


def test_results_land_in_the_given_tensors() -> None:
    cos, sin = tables(4)
    q, k = torch.randn(2, 5, 4, 8), torch.randn(2, 5, 2, 8)
    wanted = apply(q, k, cos, sin, layout="half", positions=5)
    for backend in CPU:
        out = torch.full_like(q, torch.nan), torch.full_like(k, torch.nan)
        version = out[0]._version
        got = apply(q, k, cos, sin, layout="half", positions=5, out=out, backend=backend)
        assert got[0] is out[0] and out[0]._version > version
        assert torch.allclose(got[0], wanted[0], atol=1e-6) and torch.allclose(got[1], wanted[1], atol=1e-6)


def test_results_larger_than_the_free_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "SMALL", 0)
    for free in (2 * 5 * 6 * 8 * 4, 2 * 5 * 6 * 8 * 4 - 1):
        monkeypatch.setattr(task, "available_memory", lambda free=free: free)
        if free % 4:
            with pytest.raises(ValueError, match="q and k must be small enough for results within the 1,919 free"):
                _call()
        else:
            _call()


def _call(**changed: Any) -> Any:
    """Return a call that is right but for ``changed``."""
    cos, sin = tables(4, rows=10)
    arguments: dict[str, Any] = {
        "q": torch.randn(2, 5, 4, 8),
        "k": torch.randn(2, 5, 2, 8),
        "cos": cos,
        "sin": sin,
        "layout": "half",
    } | changed
    q, k, c, s = (arguments.pop(name) for name in ("q", "k", "cos", "sin"))
    return apply(q, k, c, s, **arguments)


LEAF = torch.randn(2, 5, 4, 8, requires_grad=True)
PACKED = {"q": torch.randn(10, 4, 8), "k": torch.randn(10, 2, 8)}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"backend": "cuda"}, "backend must be one of reference, eager, .*, got 'cuda'"),
        ({"backend": "triton"}, "backend must be available on cpu, got 'triton': it needs a GPU"),
        ({"layout": "neox"}, "layout must be one of"),
        ({"q": np.zeros((2, 5, 4, 8))}, "q must be a torch tensor, got 'ndarray'"),
        ({"q": torch.zeros(2, 5, 4, 8, dtype=torch.int32)}, "q must be float32, float16"),
        ({"k": torch.randn(2, 6, 2, 8)}, "k must be of q's shape"),
        ({"k": torch.randn(2, 5, 2, 10)}, "k must be of q's shape"),
        ({"k": torch.randn(2, 5, 2, 8).half()}, "k must be of q's type and device"),
        ({"k": torch.randn(2, 5, 0, 8)}, "k must be of at least one head"),
        ({"cos": torch.zeros(10, 5), "sin": torch.zeros(10, 5)}, "cos must be 1..4 pairs wide to fit heads of 8"),
        ({"sin": torch.zeros(9, 4)}, "sin must be of cos's shape"),
        ({"cos": None, "sin": None}, "cos must be a tensor of floating-point numbers"),
        ({"cos": torch.zeros(10, 4, requires_grad=True)}, "cos must be a constant"),
        ({"positions": 6}, "positions must be below the table's 10 rows, got '6..10'"),
        ({"positions": -1}, "positions must be an integer in"),
        ({"positions": torch.tensor([0, 1, 2, 3, 10])}, r"positions must be integers in \[0, 10\), got 10"),
        ({"positions": torch.tensor([0, -1, 2, 3, 4])}, r"positions must be integers in \[0, 10\), got -1"),
        ({"positions": torch.tensor([0, 1, 2])}, r"positions must be an integer, \(5,\) or \(2, 5\)"),
        ({"positions": torch.arange(5.0)}, "positions must be of type int32 or int64"),
        ({"offsets": torch.tensor([0, 6])}, r"positions must be integers in \[0, 10\), got 10"),
        ({"offsets": torch.tensor([0])}, "offsets must be one first position for each of 2 sequences"),
        ({"offsets": torch.tensor([-1, 0])}, "offsets must be integers >= 0"),
        ({"cu_seqlens": torch.tensor([0, 5])}, r"q must be packed \(T, heads, D\) beside cu_seqlens"),
        (PACKED | {"cu_seqlens": torch.tensor([0, 7, 4, 10])}, "cu_seqlens must be borders that never fall"),
        (PACKED | {"cu_seqlens": torch.tensor([0, 4, 9])}, "cu_seqlens must be borders that never fall"),
        (PACKED | {"cu_seqlens": torch.tensor([0, 10]), "positions": 1}, "cu_seqlens must be left out"),
        ({"cos": torch.zeros(2, 5, 4), "sin": torch.zeros(2, 5, 4), "positions": 1}, "cos must be a table of"),
        ({"q": LEAF, "inplace": True}, "q must be no leaf that requires grad"),
        ({"q": torch.randn(2, 1, 4, 8).expand(2, 5, 4, 8), "inplace": True}, "q must be no expanded tensor"),
        ({"out": (torch.empty(2, 5, 4, 8), torch.empty(2, 5, 2, 7))}, r"out\[1\] must be"),
        ({"q": LEAF, "out": (torch.empty(2, 5, 4, 8), torch.empty(2, 5, 2, 8))}, "out must be left out where"),
        ({"phase_step": torch.zeros(4, dtype=torch.int64)}, "cos and sin must be None beside phase_step"),
    ],
)  # fmt: skip
def test_bad_calls_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _call(**changed)


def test_the_same_tensor_cannot_be_overwritten_twice() -> None:
    x = torch.randn(2, 5, 4, 8)
    with pytest.raises(ValueError, match="k must be in other memory than q"):
        _call(q=x, k=x, inplace=True)


def test_results_that_would_not_fit_are_refused_before_they_are_allocated() -> None:
    huge = torch.zeros(1).expand(64, 2**20, 2**12, 2)
    cos = torch.ones(1, 1).expand(2**20, 1)
    with pytest.raises(ValueError, match="2,199,560,126,464 bytes"):
        apply(huge, huge[:, :, :1], cos, cos, layout="half", backend="numba")


@pytest.mark.parametrize("backend", ["eager", "complex"])
def test_unchecked_a_position_outside_gives_nan_and_never_an_unturned_row(backend: str) -> None:
    cos, sin = tables(4, rows=10)
    q = torch.randn(1, 3, 2, 10)
    turn = make_rotation_spec(q, False, cos, sin, None, 1.0, "half", torch.tensor([1, 10, 2]), None, None)
    got = BACKENDS[backend].run((q,), turn, None)[0]
    assert torch.isnan(got[0, 1, :, :8]).all() and not torch.isnan(got[0, [0, 2]]).any()


SHAPES: dict[str, tuple[int, ...]] = {"q": (1, 6, 4, 128), "k": (1, 6, 2, 128)}


@pytest.mark.parametrize("shifted", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_results_land_at_any_address(
    shifted: tuple[int, int], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stores past the cache want whole lines of memory: each result's own address decides."""
    monkeypatch.setattr("rope_core.kernels.cpu.STREAM_BYTES", 0)
    cos, sin = tables(64)
    given = [torch.randn(shape).to(dtype) for shape in SHAPES.values()]
    held = [torch.empty(shift + x.numel() + 64, dtype=dtype) for x, shift in zip(given, shifted, strict=True)]
    out = []
    for x, memory, shift in zip(given, held, shifted, strict=True):
        aligned = -memory.data_ptr() % 64 // memory.element_size()
        out.append(memory[aligned + shift :][: x.numel()].view(x.shape))
    apply(given[0], given[1], cos, sin, layout="half", out=(out[0], out[1]), backend="numba")
    for x, result in zip(given, out, strict=True):
        assert_turned(result, turned(x, cos[:6], sin[:6], "half"))


@pytest.mark.parametrize("at", ["q", "k"])
@pytest.mark.parametrize("backend", CPU)
def test_results_of_another_type_size_or_order_are_refused(at: str, backend: str) -> None:
    cos, sin = tables(64)
    given = {name: torch.randn(shape) for name, shape in SHAPES.items()}
    right = {name: torch.empty_like(x) for name, x in given.items()}
    x = right[at]
    others = [x.double(), x[..., :64], x[:, :5], x.transpose(1, 2), x[0], right["k" if at == "q" else "q"]]
    for other in others:
        out = right | {at: other}
        with pytest.raises(ValueError, match=r"^out\b.* must be"):
            apply(given["q"], given["k"], cos, sin, layout="half", out=(out["q"], out["k"]), backend=backend)
