"""Launches RMSNorm with rotation on a GPU, forward and backward."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from rope_core.kernels import gpu_norm_kernels
from rope_core.kernels.gpu import INTERPRETED_TOKENS, TILE_BYTES, next_power_of_two

# Programs that share the backward: enough to fill a large GPU several times, few enough to add up their shares.
PROGRAMS = 1024


def normed_rotation_forward(
    x: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, half: bool, eps: float, shift: float, whole: bool
) -> Tensor:
    """Return x (B, S, heads, D) normalised, weighted and turned; weight and tables are in the compute type."""
    out = torch.empty_like(x)
    if x.numel():
        tokens, constants = _cut(x, cos, half, whole)
        grid = (x.shape[0] * triton.cdiv(x.shape[1], tokens),)
        with _on(x):
            gpu_norm_kernels.normed_forward_kernel[grid](
                x, out, weight, cos, sin, x.shape[1], *x.stride(), *out.stride(), _per_batch(cos), shift, eps,
                **constants,
            )  # fmt: skip
    return out


def normed_rotation_backward(
    x: Tensor, grad: Tensor, weight: Tensor, cos: Tensor, sin: Tensor, half: bool, eps: float, shift: float, whole: bool
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and of the weight (in the compute type)."""
    out = torch.empty_like(x)
    tokens, constants = _cut(x, cos, half, whole)
    programs = max(1, min(PROGRAMS, x.shape[0] * triton.cdiv(x.shape[1], tokens)))
    shares = torch.zeros(programs, weight.numel(), dtype=weight.dtype, device=x.device)
    if x.numel():
        with _on(x):
            gpu_norm_kernels.normed_backward_kernel[(programs,)](
                x, grad, out, weight, shares, cos, sin, x.shape[0], x.shape[1], *x.stride(), *grad.stride(),
                *out.stride(), _per_batch(cos), shift, eps, **constants,
            )  # fmt: skip
    return out, shares.sum(0)


def _per_batch(cos: Tensor) -> int:
    return cos.stride(0) if cos.shape[0] > 1 else 0


def _on(x: Tensor) -> AbstractContextManager[Any]:
    return torch.cuda.device(x.device) if x.device.type == "cuda" else nullcontext()


def _cut(x: Tensor, cos: Tensor, half: bool, whole: bool) -> tuple[int, dict[str, Any]]:
    """Return tokens per program and the kernels' compile-time constants."""
    heads, dim, pairs = x.shape[2], x.shape[3], cos.shape[2]
    if x.device.type == "cpu":
        tokens, wide = min(next_power_of_two(x.shape[1]), INTERPRETED_TOKENS), next_power_of_two(heads)
    else:
        room = max(1, TILE_BYTES // (next_power_of_two(dim) * x.element_size()))
        wide = min(next_power_of_two(heads), room)
        tokens = max(1, min(room // wide, next_power_of_two(x.shape[1])))
    constants = {
        "HEAD_COUNT": heads,
        "PAIRS": pairs,
        "LANES": next_power_of_two(pairs),
        "DIM": dim,
        "REST": next_power_of_two(dim - 2 * pairs),
        "HALF": half,
        "WHOLE": whole,
        "COMPUTE": tl.float64 if cos.dtype == torch.float64 else tl.float32,
        "TOKENS": tokens,
        "HEADS": wide,
    }
    return tokens, constants
