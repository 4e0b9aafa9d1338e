"""The entries to all backends: ``apply``, and ``bind`` for loops over fixed memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from rope_core.errors import argument_error, checked_int
from rope_core.kernels import autograd
from rope_core.kernels.backends import KernelBackend, choose_backend
from rope_core.kernels.task import (
    RotationSpec,
    check_index_values,
    check_result_memory,
    check_tensors,
    make_rotation_spec,
)
from rope_core.layout import Layout

# Made of torch's own operations, which torch.func knows how to transform; it refuses custom ops.
PLAIN = ("eager", "complex")


def apply(
    q: Tensor,
    k: Tensor,
    cos: Tensor | None,
    sin: Tensor | None,
    *,
    layout: str | Layout,
    positions: Tensor | int | None = None,
    cu_seqlens: Tensor | None = None,
    offsets: Tensor | None = None,
    phase_step: Tensor | None = None,
    attention_factor: float = 1.0,
    inplace: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
    backend: str | None = None,
    check: bool = False,
) -> tuple[Tensor, Tensor]:
    """Turn the first rotary_dim dimensions of every head of q and k by its token's angles.

    Args:
        q, k: (B, S, Hq, D) and (B, S, Hk, D) in any strides, or packed (T, Hq, D) and (T, Hk, D).
            float32, float16, bfloat16 (computed in float32 and rounded once) or float64.
        cos, sin: tables (rows, rotary_dim/2) that positions index, or (B, S, rotary_dim/2) one row per token.
        layout: "interleaved" or "half".
        positions: the first token's position (0), or integers (S,) or (B, S).
        cu_seqlens: (n + 1,) borders of n packed sequences, each of which counts from 0.
        offsets: integers (B,), or (n,) beside cu_seqlens: each sequence's first position.
        phase_step: int64 (rotary_dim/2,), Spectrum.phase_step, to make the angles in the kernel; cos and sin are None.
        attention_factor: multiplies cos and sin made from phase_step; tables carry their own.
        inplace: write into q and k themselves and return them.
        out: two tensors of q's and k's shape and type to write into, where none needs a gradient.
        backend: "reference", "eager", "complex", "compiled", "numba" or "triton"; None is numba on the CPU and triton
            on a GPU.
        check: on a GPU, wait for the values of index tensors and compare them with the table, as the CPU always does.
            Without it a position outside the table gives NaN, never an unturned vector.

    Returns:
        (q, k) turned, of the same shapes and types. Gradients flow to q and k; the backward is the same kernel the
        other way.

    Raises:
        ValueError: on shapes, types, devices or positions that do not fit, results larger than the free memory, or a
            backend that cannot run here.

    >>> x = torch.tensor([[1.0, 0.0]]).expand(1, 1, 1, 2)
    >>> zero, unit = torch.zeros(1, 1), torch.ones(1, 1)
    >>> apply(x, x, zero, unit, layout="half", backend="eager")[0].tolist()  # a quarter turn
    [[[[0.0, 1.0]]]]
    """
    where = (positions, cu_seqlens, offsets)
    q4, k4, turn, chosen = _checked(q, k, cos, sin, phase_step, attention_factor, layout, where, backend)
    careful = q.device.type == "cpu" or check
    needs_grad = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)
    if inplace:
        _check_writable(q, k, out, needs_grad)
        _in_place(q, k, q4, k4, turn, chosen.name, careful, needs_grad)
        return q, k
    if out is not None:
        _check_out(q, k, out, needs_grad)
        into = tuple(o.unsqueeze(0) if q.dim() == 3 else o for o in out)
        autograd.run_backend((q4, k4), turn, chosen.name, careful, into)
        for o in out:
            torch.autograd.graph.increment_version(o)
        return out
    if autograd.is_functorch_transforming() and chosen.name in PLAIN:
        done = autograd.run_backend((q4, k4), turn, chosen.name, False)
    elif autograd.is_traced(q, k):
        done = autograd.rotate_op(q4, k4, *autograd.flatten_spec(turn), chosen.name, careful)
    else:
        check_result_memory(q, k)
        if careful:
            check_index_values(turn, q4.shape[1])
        if needs_grad:
            done = autograd.RotateFunction.apply(turn, chosen.name, q4, k4)  # type: ignore[no-untyped-call]
        else:
            done = autograd.run_backend((q4, k4), turn, chosen.name, False)
    return (done[0], done[1]) if q.dim() == 4 else (done[0][0], done[1][0])


def bind(
    q: Tensor,
    k: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    layout: str | Layout,
    out: tuple[Tensor, Tensor] | None = None,
    backend: str | None = None,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Return a call that turns q and k by their position, again and again: the fast path of decoding.

    Shapes, strides, addresses and tables are checked and read once; each call reads the values that are in q's and k's
    memory then.

    Args:
        q, k: (B, S, Hq, D) and (B, S, Hk, D), as ``apply`` takes them; their memory must stay where it is.
        cos, sin: tables (rows, rotary_dim/2).
        layout: "interleaved" or "half".
        out: two tensors to write into; None writes into q and k.
        backend: as in ``apply``.

    Returns:
        A function of the first token's position. It makes no gradients and is for one thread at a time.

    Raises:
        ValueError: as ``apply`` does, and on a q or k that requires a gradient.

    >>> q, k = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[0.0, 1.0]]]])
    >>> turn = bind(q, k, torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [1.0]]), layout="half")
    >>> turn(1)[0].tolist()  # row 1 is a quarter turn
    [[[[0.0, 1.0]]]]
    """
    q4, k4, turn, chosen = _checked(q, k, cos, sin, None, 1.0, layout, (None, None, None), backend)
    if turn.per_token:
        raise argument_error("cos", "a table of (rows, rotary_dim/2), which positions index", tuple(cos.shape))
    if q.requires_grad or k.requires_grad:
        raise argument_error("q and k", "without gradients, which a bound call does not make", "requires_grad=True")
    if out is None:
        _check_writable(q, k, None, False)
        into, turned = (q4, k4), (q, k)
    else:
        _check_out(q, k, out, False)
        into, turned = tuple(o.unsqueeze(0) if q.dim() == 3 else o for o in out), out  # type: ignore[assignment]
    last = turn.rows - q4.shape[1]
    if chosen.name == "numba":
        from rope_core.kernels import cpu

        return cpu.bind_numba((q4, k4), turn, into, last, turned)

    def again(position: int = 0) -> tuple[Tensor, Tensor]:
        chosen.run((q4, k4), replace(turn, start=checked_int("position", position, 0, last)), into)
        return turned

    return again


def _checked(
    q: Any, k: Any, cos: Any, sin: Any, steps: Any, scale: float, layout: Any, where: tuple[Any, Any, Any], backend: Any
) -> tuple[Tensor, Tensor, RotationSpec, KernelBackend]:
    """Return q and k with a batch, their RotationSpec and the backend, or raise ValueError."""
    q4, k4 = check_tensors(q, k)
    turn = make_rotation_spec(q4, q.dim() == 3, cos, sin, steps, scale, layout, *where)
    return q4, k4, turn, choose_backend(backend, q.device)


def _check_writable(q: Tensor, k: Tensor, out: Any, needs_grad: bool) -> None:
    """Raise ValueError unless q and k can be overwritten."""
    if out is not None:
        raise argument_error("out", "left out where inplace is set", "both")
    for name, x in (("q", q), ("k", k)):
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise argument_error(name, "no expanded tensor, because several elements share its memory", x.stride())
        if needs_grad and x.requires_grad and x.is_leaf:
            raise argument_error(name, "no leaf that requires grad, because its value would be lost", "inplace=True")
    if not torch.compiler.is_compiling() and q.numel() and q.data_ptr() == k.data_ptr():
        raise argument_error("k", "in other memory than q where both are overwritten", "the same address")


def _check_out(q: Tensor, k: Tensor, out: Any, needs_grad: bool) -> None:
    """Raise ValueError unless ``out`` can take the results."""
    if needs_grad:
        raise argument_error("out", "left out where a gradient is asked for", "requires_grad=True")
    if not isinstance(out, tuple) or len(out) != 2:
        raise argument_error("out", "two tensors", type(out).__name__)
    for name, x, o in (("out[0]", q, out[0]), ("out[1]", k, out[1])):
        if o.shape != x.shape or o.dtype != x.dtype or o.device != x.device:
            raise argument_error(
                name, f"{x.dtype} {tuple(x.shape)} on {x.device}", f"{o.dtype} {tuple(o.shape)} on {o.device}"
            )
        if any(stride == 0 and size > 1 for stride, size in zip(o.stride(), o.shape, strict=True)):
            raise argument_error(name, "no expanded tensor, because several elements share its memory", o.stride())


def _in_place(
    q: Tensor, k: Tensor, q4: Tensor, k4: Tensor, turn: RotationSpec, backend: str, check: bool, needs_grad: bool
) -> None:
    """Overwrite q and k, and tell autograd."""
    if autograd.is_traced(q, k):
        if not needs_grad:
            autograd.rotate_op_inplace(q4, k4, *autograd.flatten_spec(turn), backend, check)
            return
        done = autograd.rotate_op(q4, k4, *autograd.flatten_spec(turn), backend, check)
        q4.copy_(done[0])
        k4.copy_(done[1])
        return
    if check:
        check_index_values(turn, q4.shape[1])
    if not needs_grad:
        autograd.run_backend((q4, k4), turn, backend, False, (q4, k4))
        for x in (q4, k4):
            torch.autograd.graph.increment_version(x)
        return
    if q.requires_grad and k.requires_grad and q4._base is None and k4._base is None:
        autograd.RotateInPlaceFunction.apply(turn, backend, q4, k4)  # type: ignore[no-untyped-call]
        return
    # autograd rebases a view only through a function of one output.
    for x in (q4, k4):
        if x.requires_grad:
            autograd.RotateInPlaceFunction.apply(turn, backend, x)  # type: ignore[no-untyped-call]
        else:
            autograd.run_backend((x,), turn, backend, False, (x,))
            torch.autograd.graph.increment_version(x)
