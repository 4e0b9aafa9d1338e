"""Gradients of apply: against finite differences, in place, shared gradients, torch.compile, tracers.

The finite differences are taken along drawn directions (gradcheck's fast mode), not along each element.
"""
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core.kernels import autograd
from rope_core.kernels.entry import apply
from tests.support.tables import tables

Two = tuple[Tensor, Tensor]


COS, SIN = tables(4, torch.float64)


def turn(q: Tensor, k: Tensor, **options: Any) -> Two:
    chosen: dict[str, Any] = {"layout": "half", "positions": 7} | options
    return apply(q, k, COS, SIN, **chosen)


def leaves(seed: int = 0) -> Two:
    torch.manual_seed(seed)
    q, k = torch.randn(1, 3, 4, 10, dtype=torch.float64), torch.randn(1, 3, 2, 10, dtype=torch.float64)
    return q.requires_grad_(), k.requires_grad_()


def exact(q: Tensor, k: Tensor, layout: str = "half") -> Two:
    """Return the same by torch's own operations, which autograd knows by itself."""
    cos, sin = COS[7:10][None, :, None], SIN[7:10][None, :, None]

    def turned_one(x: Tensor) -> Tensor:
        a, b = (x[..., :4], x[..., 4:8]) if layout == "half" else (x[..., 0:8:2], x[..., 1:8:2])
        first, second = a * cos - b * sin, a * sin + b * cos
        turned = torch.cat([first, second], -1) if layout == "half" else torch.stack([first, second], -1).flatten(-2)
        return torch.cat([turned, x[..., 8:]], -1)

    return turned_one(q), turned_one(k)


@pytest.mark.parametrize(
    ("backend", "layout"), [("numba", "half"), ("numba", "interleaved"), ("eager", "half"), ("complex", "interleaved")]
)
def test_gradients_equal_finite_differences(backend: str, layout: str) -> None:
    def function(q: Tensor, k: Tensor) -> Two:
        return turn(q, k, backend=backend, layout=layout)

    assert torch.autograd.gradcheck(function, leaves(), fast_mode=True)
    assert torch.autograd.gradgradcheck(function, leaves(), fast_mode=True)


def in_place(q: Tensor, k: Tensor) -> Two:
    q, k = q * 1, k * 1
    return turn(q, k, inplace=True)


def in_place_on_slices_of_one(q: Tensor, k: Tensor) -> Tensor:
    both = torch.cat([q, k], 2)
    turn(both[:, :, :4], both[:, :, 4:], inplace=True)
    return both


def in_place_on_transposes(q: Tensor, k: Tensor) -> tuple[Tensor, ...]:
    q, k = q.transpose(1, 2) * 1, k.transpose(1, 2) * 1
    a, b = turn(q.transpose(1, 2), k.transpose(1, 2), inplace=True)
    return q, k, a, b


def in_place_packed(q: Tensor, k: Tensor) -> Two:
    q, k = q.flatten(0, 1) * 1, k.flatten(0, 1) * 1
    return turn(q, k, positions=None, cu_seqlens=torch.tensor([0, 2, 3]), inplace=True)


@pytest.mark.parametrize("function", [in_place, in_place_on_slices_of_one, in_place_on_transposes, in_place_packed])
def test_gradients_in_place_equal_finite_differences(function: Callable[..., Any]) -> None:
    assert torch.autograd.gradcheck(function, leaves(), fast_mode=True)


def test_another_use_of_an_overwritten_tensor_is_an_error_not_a_wrong_gradient() -> None:
    q, k = leaves()
    middle = q * 1
    square = middle * middle
    turn(middle, k * 1, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()


def test_overwriting_without_gradients_counts_as_a_change() -> None:
    q, k = leaves()
    with torch.no_grad():
        a, b = q.clone(), k.clone()
        before = a._version, b._version
        turn(a, b, inplace=True)
    assert a._version > before[0] and b._version > before[1]


@pytest.mark.parametrize(
    "use",
    [
        lambda r: (r[0] * r[0]).sum() + (r[1] ** 3).sum(),
        lambda r: r[0].sum() + 2 * r[1].sum(),
        lambda r: r[0].pow(2).sum(),
    ],
    ids=["both", "expanded", "one of the two"],
)
def test_gradients_are_those_of_torch_s_own_operations(use: Callable[[Two], Tensor]) -> None:
    wanted, got = leaves(4), leaves(4)
    use(exact(*wanted)).backward()
    use(turn(*got)).backward()
    for a, b in zip(wanted, got, strict=True):
        assert (a.grad is None) == (b.grad is None)
        assert a.grad is None or b.grad is None or torch.allclose(a.grad, b.grad, atol=1e-12)


def test_a_gradient_that_the_caller_holds_is_left_alone() -> None:
    q, k = leaves()
    given = torch.ones_like(q), torch.ones_like(k)
    torch.autograd.backward(turn(q, k), given)
    assert all(bool((g == 1).all()) for g in given)


def test_a_frozen_input_gets_no_gradient_and_its_result_needs_none() -> None:
    q, k = leaves()
    k = k.detach()
    a, b = turn(q, k)
    assert a.requires_grad and not b.requires_grad
    a.sum().backward()
    assert k.grad is None


def test_a_table_changed_before_the_backward_is_an_error() -> None:
    cos, sin = COS.clone(), SIN.clone()
    q, k = leaves()
    a, _ = apply(q, k, cos, sin, layout="half")
    cos.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        a.pow(2).sum().backward()


def test_gradients_lie_as_their_inputs_do() -> None:
    q, k = (x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for x in leaves())
    turn(q, k)[0].sum().backward()
    assert q.grad is not None and q.grad.stride() == q.stride()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize(
    "function", [turn, in_place, in_place_on_slices_of_one, in_place_on_transposes, in_place_packed]
)
def test_compiled_without_a_graph_break(function: Callable[..., Any], gradients: bool) -> None:
    with torch.set_grad_enabled(gradients):
        wanted, got = leaves(3), leaves(3)
        first, two = function(*wanted), compiled(function)(*got)
        pairs = list(zip(first, two, strict=True)) if isinstance(first, tuple) else [(first, two)]
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in pairs)
        if gradients:
            for index in (0, 1):
                sum((p[index] ** 2 * torch.arange(10.0)).sum() for p in pairs).backward()
            assert all(torch.allclose(a.grad, b.grad) for a, b in zip(wanted, got, strict=True))  # type: ignore[arg-type]


def test_the_custom_ops_keep_torch_library_s_rules() -> None:
    q, k = leaves()
    arguments = (COS, SIN, None, 1.0, torch.tensor([[1, 5, 9]]), None, None, 0, True, False, "numba", True)
    torch.library.opcheck(autograd.rotate_op, (q, k, *arguments))
    torch.library.opcheck(autograd.rotate_op_inplace, (q.detach().clone(), k.detach().clone(), *arguments))
    steps = torch.from_numpy(np.array([2**60, 3, 2**50, 5], dtype=np.int64))
    torch.library.opcheck(
        autograd.rotate_op, (q, k, None, None, steps, 1.5, None, None, None, 3, False, True, "eager", True)
    )


def test_tracers_see_one_op() -> None:
    q, k = (x.detach() for x in leaves())
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda a, b: turn(a, b))(q, k)
    assert sum("rope_core.turn" in str(node.target) for node in graph.graph.nodes) == 1
    gradient = torch.func.grad(lambda x: (turn(x, k, backend="eager")[0] ** 2 * torch.arange(10.0)).sum())(q)
    wanted = torch.func.grad(lambda x: (exact(x, k)[0] ** 2 * torch.arange(10.0)).sum())(q)
    assert torch.allclose(gradient, wanted)
