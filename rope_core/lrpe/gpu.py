"""LRPE on CUDA tensors by the Triton kernels; with TRITON_INTERPRET=1 at import they run on CPU tensors, for tests."""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor

from rope_core.errors import argument_error
from rope_core.kernels.gpu import next_power_of_two
from rope_core.lrpe import gpu_kernels as kernels
from rope_core.lrpe.arguments import LrpeSpec
from rope_core.lrpe.autograd import Gradients, NeedsGradient, TokenPositions, run_backend

INTERPRETED = not isinstance(kernels.forward_kernel, triton.JITFunction)

# Elements of one tile: registers decide on a GPU, the cost of a program in the interpreter.
TILE = 1 << 17 if INTERPRETED else 1 << 11
# Programs that share the tokens of one head where a gradient is a sum over tokens.
SPLITS = 2 if INTERPRETED else 64


def rotate(x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
    """Return O of checked arguments, (B, N, H, D), differentiable in x and theta."""
    if x.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise argument_error("x", "triton_types", str(x.dtype))
    if not x.is_cuda and not INTERPRETED:
        raise argument_error("x", "triton_device", str(x.device))
    return run_backend(TRITON, x, theta, start, p)


def kernel_start_arguments(theta: Tensor, start: TokenPositions) -> tuple[Tensor, int, str]:
    """Return the kernels' starts, offset and kind of positions; theta takes the place of starts that are not read."""
    if isinstance(start, int):
        return theta, start, "offset"
    kind = "starts" if start.ndim == 1 else ("table" if start.shape[0] == 1 else "tables")
    return torch.from_numpy(start).to(theta.device), 0, kind


def kernel_constants(p: LrpeSpec, kind: str) -> dict[str, Any]:
    """Return the kernels' compile-time arguments but for their tile."""
    rest = p.width - 2 * p.pairs
    return {
        "H": p.heads,
        "D": p.width,
        "FIRST": p.start,
        "PAIRS": p.pairs,
        "ACT": "along sequence" if p.is_activation_over_sequence else p.act,
        "WHERE": kind,
        "PER_HEAD": p.theta_shape[0] > 1,
        "PER_PAIR": p.theta_shape[1] > 1,
        "REST": rest,
        "P": next_power_of_two(p.pairs),
        "R": next_power_of_two(rest),
    }


def tokens_and_heads_per_program(p: LrpeSpec) -> tuple[int, int]:
    """Return how many tokens and heads one program takes."""
    heads = min(next_power_of_two(p.heads), 32 if INTERPRETED else 8)
    return max(1, min(128 if INTERPRETED else 16, TILE // (heads * next_power_of_two(p.pairs)))), heads


class TritonBackend:
    """The fused GPU backend."""

    def forward(self, x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
        """Return O, shaped like x; rows that are not contiguous are copied first."""
        x, out = x.contiguous(), torch.empty(p.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            starts, offset, kind = kernel_start_arguments(theta, start)
            tokens, heads = tokens_and_heads_per_program(p)
            grid = (triton.cdiv(p.length, tokens), triton.cdiv(p.heads, heads), p.batch)
            theta = theta.contiguous()
            peak, share = softmax_statistics(x, p)
            kernels.forward_kernel[grid](
                x, out, theta, starts, peak, share, offset, p.length, BT=tokens, BH=heads, **kernel_constants(p, kind)
            )
        return out

    def backward(
        self, x: Tensor | None, theta: Tensor, start: TokenPositions, grad: Tensor, p: LrpeSpec, needs: NeedsGradient
    ) -> Gradients:
        """Return dX and dTheta; theta's gradient is a second pass, summed in float64 without atomics."""
        grad, theta = grad.contiguous(), theta.contiguous()
        x = grad if x is None else x.contiguous()
        dx = torch.empty(p.shape, dtype=grad.dtype, device=grad.device) if needs[0] else None
        if not x.numel():
            return dx, torch.zeros_like(theta) if needs[1] else None
        starts, offset, kind = kernel_start_arguments(theta, start)
        peak, share = softmax_statistics(x, p)
        reads = (x, grad, theta, starts, peak, share, offset)
        if dx is not None:
            dot = softmax_grad_column_sums(reads, p, kind) if p.is_activation_over_sequence else peak
            tokens, heads = tokens_and_heads_per_program(p)
            grid = (triton.cdiv(p.length, tokens), triton.cdiv(p.heads, heads), p.batch)
            kernels.backward_kernel[grid](
                x,
                grad,
                dx,
                theta,
                starts,
                peak,
                share,
                dot,
                offset,
                p.length,
                BT=tokens,
                BH=heads,
                **kernel_constants(p, kind),
            )
        return dx, _theta_slope(reads, p, kind) if needs[1] else None


KernelInputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, int]


def softmax_statistics(x: Tensor, p: LrpeSpec) -> tuple[Tensor, Tensor]:
    """Return the columns' maximum and 1 / sum, float32 (B, H, D), for a softmax along the sequence; else x, x."""
    if not p.is_activation_over_sequence:
        return x, x
    shape, columns = (p.batch, p.heads, p.width), p.heads * p.width
    peak = torch.empty(shape, dtype=torch.float32, device=x.device)
    share = torch.empty_like(peak)
    block = min(next_power_of_two(columns), 4096 if INTERPRETED else 128)
    grid = (triton.cdiv(columns, block), p.batch)
    kernels.column_softmax_statistics_kernel[grid](x, peak, share, p.length, COLUMNS=columns, BT=16, BC=block)
    return peak, share


def softmax_grad_column_sums(reads: KernelInputs, p: LrpeSpec, kind: str) -> Tensor:
    """Return the columns' sums of softmax times its gradient, float32 (B, H, D)."""
    x, grad, theta, starts, peak, share, offset = reads
    parts = torch.empty((SPLITS, p.batch, p.heads, p.width), dtype=torch.float32, device=x.device)
    rest = (theta, starts, peak, share, offset, p.length, p.batch, SPLITS)
    kernels.gradient_sums_kernel[(p.heads, SPLITS, p.batch)](
        x, grad, parts, parts, *rest, DOTS=True, BT=_tokens_of(p), **kernel_constants(p, kind)
    )
    return parts.sum(0)


def _theta_slope(reads: KernelInputs, p: LrpeSpec, kind: str) -> Tensor:
    """Return theta's gradient (1 | H, 1 | P) in theta's type."""
    x, grad, theta, starts, peak, share, offset = reads
    parts = torch.empty((SPLITS, p.heads, p.pairs), dtype=torch.float64, device=x.device)
    rest = (theta, starts, peak, share, offset, p.length, p.batch, SPLITS)
    kernels.gradient_sums_kernel[(p.heads, SPLITS, 1)](
        x, grad, parts, parts, *rest, DOTS=False, BT=_tokens_of(p), **kernel_constants(p, kind)
    )
    return parts.sum(0).sum_to_size(p.theta_shape).to(theta.dtype)


def _tokens_of(p: LrpeSpec) -> int:
    """Return how many tokens of one head a summing program takes at a time."""
    return max(1, min(128 if INTERPRETED else 32, TILE // next_power_of_two(p.pairs)))


TRITON = TritonBackend()
