"""The rotation in plain torch: eager, complex, compiled; and the float64 reference in numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rope_core.kernels.task import RotationSpec, compute_dtype, token_cos_sin
from rope_core.rotation import rotate

Tensors = tuple[Tensor, ...]


def split(x: Tensor, half: bool) -> tuple[Tensor, Tensor]:
    """Return the pairs' first and second members as views, each (..., pairs)."""
    if half:
        pairs = x.shape[-1] // 2
        return x[..., :pairs], x[..., pairs:]
    return x[..., 0::2], x[..., 1::2]


def rotate_eager(x: Tensor, cos: Tensor, sin: Tensor, half: bool) -> Tensor:
    """Turn x (B, S, heads, D) by per-token tables (1 or B, S, pairs), in the tables' type, rounded once."""
    width = 2 * cos.shape[-1]
    c, s = cos[:, :, None], sin[:, :, None]
    a, b = split(x[..., :width].to(cos.dtype), half)
    first, second = a * c - b * s, a * s + b * c
    turned = torch.cat([first, second], -1) if half else torch.stack([first, second], -1).flatten(-2)
    return turned.to(x.dtype) if width == x.shape[-1] else torch.cat([turned.to(x.dtype), x[..., width:]], -1)


def _complex_one(x: Tensor, cos: Tensor, sin: Tensor, half: bool) -> Tensor:
    """Turn x as eager_one does, as one complex product."""
    width = 2 * cos.shape[-1]
    wide = x[..., :width].to(cos.dtype)
    by = torch.complex(cos, sin)[:, :, None]
    if half:
        turned = torch.complex(*split(wide, True)) * by
        done = torch.cat([turned.real, turned.imag], -1)
    else:
        pairs = wide.reshape(*wide.shape[:-1], cos.shape[-1], 2).contiguous()
        # torch reads pairs as complex numbers only from an even place in memory.
        even = pairs.clone() if pairs.storage_offset() % 2 else pairs
        done = torch.view_as_real(torch.view_as_complex(even) * by).flatten(-2)
    return done.to(x.dtype) if width == x.shape[-1] else torch.cat([done.to(x.dtype), x[..., width:]], -1)


@functools.cache
def _compiled_one(dtype: torch.dtype, half: bool) -> Callable[..., Tensor]:
    """Return eager_one through torch.compile, for one type and layout; one graph for all lengths.

    torch gives up after eight graphs of one function and runs it uncompiled, in silence; a full graph raises instead,
    and graphs are counted for each type and layout apart.
    """
    # torch's own overloads do not list these two.
    apart: dict[str, Any] = {"isolate_recompiles": True, "recompile_limit": 64}
    return torch.compile(rotate_eager, fullgraph=True, **apart)


def _each(form: Callable[..., Tensor], tensors: Tensors, turn: RotationSpec, out: Tensors | None) -> Tensors:
    """Run a one-tensor form on every tensor, into ``out`` where there is one."""
    x = tensors[0]
    cos, sin = token_cos_sin(turn, x.shape[1], x.device, compute_dtype(x.dtype))
    if turn.back:
        sin = -sin
    done = tuple(form(x, cos, sin, turn.half) for x in tensors)
    if out is None:
        return done
    for target, result in zip(out, done, strict=True):
        target.copy_(result)
    return out


def run_eager(tensors: Tensors, spec: RotationSpec, out: Tensors | None) -> Tensors:
    """Turn by a sum of products."""
    return _each(rotate_eager, tensors, spec, out)


def run_complex(tensors: Tensors, spec: RotationSpec, out: Tensors | None) -> Tensors:
    """Turn by a complex product."""
    return _each(_complex_one, tensors, spec, out)


def run_compiled(tensors: Tensors, spec: RotationSpec, out: Tensors | None) -> Tensors:
    """Turn by what torch.compile makes of the sum of products."""
    return _each(_compiled_one(tensors[0].dtype, spec.half), tensors, spec, out)


def run_reference(tensors: Tensors, spec: RotationSpec, out: Tensors | None) -> Tensors:
    """Turn by rope_core.rotate in float64 numpy, one batch row at a time, rounded once to the tensor's type."""
    x = tensors[0]
    cos, sin = token_cos_sin(spec, x.shape[1], x.device, torch.float64)
    c, s = cos.cpu().numpy(), (-sin if spec.back else sin).cpu().numpy()
    done = tuple(torch.empty_like(x) for x in tensors) if out is None else out
    for source, target in zip(tensors, done, strict=True):
        for b, row in enumerate(source.detach().double().cpu().numpy()):
            table = min(b, c.shape[0] - 1)
            turned: Any = rotate(row, c[table], s[table], spec.layout)
            target[b].copy_(torch.from_numpy(turned))
    return done
