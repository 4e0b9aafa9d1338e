"""RMSNorm and rotation in one pass over q and k, forward and backward, in numba."""

# The compiler infers these functions' types.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from rope_core.kernels.lanes import TAGS, read_one, write_one
from rope_core.kernels.tables import ONE_AT_A_TIME, compiled

NAMES = {getattr(torch, name): name for name in TAGS}


@compiled(fastmath={"contract", "reassoc"})
def _read(tag, at, size, strides, heads, dim, row):
    """Read ``heads`` head vectors from address ``at`` into row (heads * dim,); return the sum of their squares."""
    row[0] = 0  # what was in the row may be NaN, and NaN times zero is no zero to start from
    total = row[0]
    for h in range(heads):
        for i in range(dim):
            value = read_one(tag, at + (h * strides[2] + i * strides[3]) * size)
            row[h * dim + i] = value
            total += value * value
    return total


@compiled()
def _members(i, pairs, half):
    """Return pair i's dimensions."""
    if half:
        return i, i + pairs
    return 2 * i, 2 * i + 1


@compiled(parallel=True)
def _forward(tag, x, out, size, shape, x_strides, out_strides, weight, shift, cos, sin, half, eps, whole, chunks):
    batch, seq, heads, dim = shape
    pairs = cos.shape[2]
    group = heads if whole else 1
    groups = heads // group
    count = batch * seq * groups
    for chunk in prange(chunks):
        row = np.empty(group * dim, cos.dtype)
        for n in range(count * chunk // chunks, count * (chunk + 1) // chunks):
            b, s, g = n // (seq * groups), (n // groups) % seq, n % groups
            at = x + (b * x_strides[0] + s * x_strides[1] + g * x_strides[2]) * size
            to = out + (b * out_strides[0] + s * out_strides[1] + g * out_strides[2]) * size
            mean = _read(tag, at, size, x_strides, group, dim, row) / (group * dim)
            scale = 1 / np.sqrt(mean + eps)
            c, d = cos[min(b, cos.shape[0] - 1), s], sin[min(b, cos.shape[0] - 1), s]
            for h in range(group):
                base, first = h * dim, to + h * out_strides[2] * size
                for i in range(dim):
                    row[base + i] *= scale * (weight[base + i] + shift)
                for i in range(pairs):
                    p, q = _members(i, pairs, half)
                    a, e = row[base + p], row[base + q]
                    write_one(tag, first + p * out_strides[3] * size, a * c[i] - e * d[i])
                    write_one(tag, first + q * out_strides[3] * size, a * d[i] + e * c[i])
                for i in range(2 * pairs, dim):
                    write_one(tag, first + i * out_strides[3] * size, row[base + i])


@compiled(parallel=True)
def _backward(
    tag, x, grad, out, size, shape, x_strides, g_strides, out_strides, weight, shift, cos, sin, half, eps, whole, shares
):  # fmt: skip
    """Write the gradient of x, and each chunk's share of the weight's gradient into its row of ``shares``."""
    batch, seq, heads, dim = shape
    pairs = cos.shape[2]
    group = heads if whole else 1
    groups = heads // group
    count = batch * seq * groups
    chunks = shares.shape[0]
    for chunk in prange(chunks):
        row = np.empty(group * dim, cos.dtype)
        back = np.empty(group * dim, cos.dtype)
        share = shares[chunk]
        for n in range(count * chunk // chunks, count * (chunk + 1) // chunks):
            b, s, g = n // (seq * groups), (n // groups) % seq, n % groups
            at = x + (b * x_strides[0] + s * x_strides[1] + g * x_strides[2]) * size
            came = grad + (b * g_strides[0] + s * g_strides[1] + g * g_strides[2]) * size
            to = out + (b * out_strides[0] + s * out_strides[1] + g * out_strides[2]) * size
            mean = _read(tag, at, size, x_strides, group, dim, row) / (group * dim)
            scale = 1 / np.sqrt(mean + eps)
            _read(tag, came, size, g_strides, group, dim, back)
            c, d = cos[min(b, cos.shape[0] - 1), s], sin[min(b, cos.shape[0] - 1), s]
            dot = mean * 0
            for h in range(group):
                base = h * dim
                for i in range(pairs):
                    p, q = _members(i, pairs, half)
                    a, e = back[base + p], back[base + q]
                    back[base + p] = a * c[i] + e * d[i]
                    back[base + q] = e * c[i] - a * d[i]
                for i in range(dim):
                    share[base + i] += back[base + i] * row[base + i] * scale
                    back[base + i] *= weight[base + i] + shift
                    dot += back[base + i] * row[base + i]
            dot *= scale * scale / (group * dim)
            for h in range(group):
                base, first = h * dim, to + h * out_strides[2] * size
                for i in range(dim):
                    write_one(tag, first + i * out_strides[3] * size, scale * (back[base + i] - row[base + i] * dot))


def forward(
    x: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, half: bool, eps: float, shift: float, whole: bool
) -> Tensor:
    """Return x (B, S, heads, D) normalised, weighted and turned; weight and tables are in the compute type."""
    out = torch.empty_like(x)
    if x.numel():
        tag, kind = _tag(x, weight)
        with ONE_AT_A_TIME:
            _forward(
                tag, x.data_ptr(), out.data_ptr(), x.element_size(), tuple(x.shape), x.stride(), out.stride(),
                weight.numpy(), kind(shift), cos.numpy(), sin.numpy(), half, kind(eps), whole,
                8 * numba.get_num_threads(),
            )  # fmt: skip
    return out


def backward(
    x: Tensor, grad: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, half: bool, eps: float, shift: float, whole: bool
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and of the weight (in the compute type)."""
    out = torch.empty_like(x)
    partial = torch.zeros(8 * numba.get_num_threads(), weight.numel(), dtype=weight.dtype)
    if x.numel():
        tag, kind = _tag(x, weight)
        with ONE_AT_A_TIME:
            _backward(
                tag, x.data_ptr(), grad.data_ptr(), out.data_ptr(), x.element_size(), tuple(x.shape),
                x.stride(), grad.stride(), out.stride(), weight.numpy(), kind(shift), cos.numpy(), sin.numpy(),
                half, kind(eps), whole, partial.numpy(),
            )  # fmt: skip
    return out, partial.sum(0)


def _tag(x: Tensor, weight: Tensor) -> tuple[Any, Any]:
    return TAGS[NAMES[x.dtype]], np.float64 if weight.dtype == torch.float64 else np.float32
