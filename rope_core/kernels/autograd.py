"""Gradients: the backward of a rotation is the rotation the other way.

Eager calls go through autograd.Function; torch.compile and other tracers see the custom ops rope_core::turn and
rope_core::turn_, whose bodies they do not enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from rope_core.kernels.backends import BACKENDS
from rope_core.kernels.task import RotationSpec, check_index_values

Tensors = tuple[Tensor, ...]


def run_backend(tensors: Tensors, spec: RotationSpec, backend: str, check: bool, out: Tensors | None = None) -> Tensors:
    """Check the values of the index tensors where ``check`` is set, then turn; no gradients."""
    if check:
        check_index_values(spec, tensors[0].shape[1])
    return BACKENDS[backend].run(tensors, spec, out)


def spec_tensors(spec: RotationSpec) -> tuple[Tensor | None, ...]:
    """Return the tensors that a RotationSpec holds, in the order of its fields."""
    return spec.cos, spec.sin, spec.steps, spec.positions, spec.cu_seqlens, spec.offsets


def _opposite(spec: RotationSpec, saved: Sequence[Tensor | None]) -> RotationSpec:
    """Return the RotationSpec the other way, on the tensors that autograd kept and checked for changes."""
    cos, sin, steps, positions, borders, offsets = saved
    return RotationSpec(cos, sin, steps, spec.scale, positions, borders, offsets, spec.start, spec.half, not spec.back)


class RotateFunction(torch.autograd.Function):
    """Out of place: (spec, backend, tensors...) -> turned tensors."""

    @staticmethod
    def forward(ctx: Any, spec: RotationSpec, backend: str, *tensors: Tensor) -> Any:
        done = run_backend(tensors, spec, backend, False)
        _keep(ctx, spec, backend, done)
        fixed = [t for t, needed in zip(done, ctx.needs_input_grad[2:], strict=True) if not needed]
        ctx.mark_non_differentiable(*fixed)
        return done

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        return _turned_back(ctx, grads)


class RotateInPlaceFunction(torch.autograd.Function):
    """In place: (spec, backend, tensors...) -> the same tensors, marked as changed."""

    @staticmethod
    def forward(ctx: Any, spec: RotationSpec, backend: str, *tensors: Tensor) -> Any:
        run_backend(tensors, spec, backend, False, tensors)
        _keep(ctx, spec, backend, tensors)
        ctx.mark_dirty(*tensors)
        return tensors if len(tensors) > 1 else tensors[0]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        return _turned_back(ctx, grads)


def _keep(ctx: Any, spec: RotationSpec, backend: str, done: Tensors) -> None:
    ctx.save_for_backward(*spec_tensors(spec))
    ctx.spec, ctx.backend = replace(spec, cos=None, sin=None), backend
    ctx.strides = [t.stride() for t in done]
    ctx.set_materialize_grads(False)


def _turned_back(ctx: Any, grads: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
    """Turn the gradients that came and are needed, into memory of their own: others may hold what came."""
    needed = [i for i, g in enumerate(grads) if g is not None and ctx.needs_input_grad[2 + i]]
    answer: list[Tensor | None] = [None] * len(grads)
    if not needed:
        return None, None, *answer
    spec = _opposite(ctx.spec, ctx.saved_tensors)
    if torch.is_grad_enabled():
        done = RotateFunction.apply(spec, ctx.backend, *(grads[i] for i in needed))  # type: ignore[no-untyped-call]
    else:
        came = tuple(g for g in (grads[i] for i in needed) if g is not None)
        out = tuple(
            torch.empty_strided(g.shape, ctx.strides[i], dtype=g.dtype, device=g.device)
            for g, i in zip(came, needed, strict=True)
        )
        done = run_backend(came, spec, ctx.backend, False, out)
    for i, g in zip(needed, done, strict=True):
        answer[i] = g
    return None, None, *answer


def flatten_spec(spec: RotationSpec) -> tuple[Any, ...]:
    """Return a RotationSpec as the custom ops take it."""
    t = spec
    return t.cos, t.sin, t.steps, t.scale, t.positions, t.cu_seqlens, t.offsets, t.start, t.half, t.back


# What both ops take behind q and k: the fields of a RotationSpec, a backend's name, whether to verify.
FLAT = (
    "Tensor? cos, Tensor? sin, Tensor? steps, float scale, Tensor? positions, Tensor? cu_seqlens, Tensor? offsets, "
    "SymInt start, bool half, bool back, str backend, bool check"
)


@torch.library.custom_op("rope_core::turn", mutates_args=(), schema=f"(Tensor q, Tensor k, {FLAT}) -> (Tensor, Tensor)")
def rotate_op(q: Tensor, k: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
    """Turn q and k into tensors of their own; the form that tracers see."""
    *fields, backend, check = arguments
    out = torch.empty_like(q), torch.empty_like(k)
    run_backend((q, k), RotationSpec(*fields), backend, check, out)
    return out


@rotate_op.register_fake
def _(q: Tensor, k: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*(inputs[i] for i in TENSORS))
    ctx.rest = {i: value for i, value in enumerate(inputs) if i > 1 and i not in TENSORS}


# Where the op's tensors stand among its arguments, and where its direction does.
TENSORS = (2, 3, 4, 6, 7, 8)
BACK, CHECK = 11, 13


def _op_backward(ctx: Any, dq: Tensor, dk: Tensor) -> tuple[Any, ...]:
    rest = dict(ctx.rest) | dict(zip(TENSORS, ctx.saved_tensors, strict=True))
    rest[BACK], rest[CHECK] = not rest[BACK], False
    grads = rotate_op(dq, dk, *(rest[i] for i in range(2, 14)))
    return *grads, *([None] * 12)


rotate_op.register_autograd(_op_backward, setup_context=_remember)


@torch.library.custom_op(
    "rope_core::turn_", mutates_args=("q", "k"), schema=f"(Tensor(a!) q, Tensor(b!) k, {FLAT}) -> ()"
)
def rotate_op_inplace(q: Tensor, k: Tensor, *arguments: Any) -> None:
    """Turn q and k in their own memory; without gradients."""
    *fields, backend, check = arguments
    run_backend((q, k), RotationSpec(*fields), backend, check, (q, k))


def is_traced(*tensors: Tensor) -> bool:
    """Return whether this call is recorded or transformed, so that memory must not be touched from Python."""
    return (
        torch.compiler.is_compiling()
        or any(type(t) not in (Tensor, torch.nn.Parameter) for t in tensors)
        or torch._C._len_torch_dispatch_stack() > 0
        or is_functorch_transforming()
    )


def is_functorch_transforming() -> bool:
    """Return whether torch.func is transforming this call."""
    return torch._C._functorch.peek_interpreter_stack() is not None
