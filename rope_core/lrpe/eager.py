"""LRPE in plain torch: any device, any floating type, and the formula that a compiler can be given."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from rope_core.lrpe.arguments import LrpeSpec, PositionIds, token_position_table
from rope_core.lrpe.autograd import Gradients, NeedsGradient, TokenPositions, run_backend


def rotate(x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
    """Return O of checked arguments, (B, N, H, D), differentiable in x and theta."""
    return run_backend(EAGER, x, theta, start, p)


def at_least_float32(x: Tensor) -> Tensor:
    """Return x in the type it is computed in: float32 at least."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def angles(theta: Tensor, where: PositionIds) -> Tensor:
    """Return position times theta, float64 (1 | B, N, 1 | H, 1 | P), rad, on theta's device."""
    return torch.from_numpy(where).to(theta.device)[:, :, None, None] * theta.double()


def apply_activation(x: Tensor, act: str, dim: int | None) -> Tensor:
    """Return f(x), by torch's own functions."""
    match act:
        case "none":
            return x
        case "relu":
            return F.relu(x)
        case "sigmoid":
            return torch.sigmoid(x)
        case "silu":
            return F.silu(x)
        case "gelu":
            return F.gelu(x)
        case "softmax":
            assert dim is not None
            return torch.softmax(x, dim)
        case "1+elu":
            return 1.0 + F.elu(x)
        case "relu2":
            return F.relu(x).square()
    raise ValueError(act)


def activate_backward(x: Tensor, grad: Tensor, act: str, dim: int | None) -> Tensor:
    """Return the gradient at x from the gradient at f(x), with f recomputed."""
    match act:
        case "none":
            return grad
        case "relu":
            return torch.where(x <= 0, 0.0, grad)
        case "sigmoid":
            s = torch.sigmoid(x)
            return grad * s * (1.0 - s)
        case "silu":
            s = torch.sigmoid(x)
            return grad * s * (1.0 + x * (1.0 - s))
        case "gelu":
            density = torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
            return grad * (0.5 * torch.erfc(-x / math.sqrt(2.0)) + x * density)
        case "softmax":
            assert dim is not None
            o = torch.softmax(x, dim)
            return o * (grad - (o * grad).sum(dim, keepdim=True))
        case "1+elu":
            return grad * torch.exp(x.clamp(max=0.0))
        case "relu2":
            return grad * 2.0 * F.relu(x)
    raise ValueError(act)


def turn(x: Tensor, angle: Tensor, p: LrpeSpec) -> Tensor:
    """Rotate dimensions (start + i, start + pairs + i) of x (B, N, H, D) by ``angle``; the others pass."""
    cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    before, a, b, after = torch.split(x, [p.start, p.pairs, p.pairs, p.width - p.rotary_end], -1)
    return torch.cat([before, a * cos - b * sin, a * sin + b * cos, after], -1)


def lrpe_formula(x: Tensor, theta: Tensor, where: PositionIds, p: LrpeSpec) -> Tensor:
    """Return O as one differentiable expression, what autograd and torch.compile are measured on."""
    return turn(apply_activation(at_least_float32(x), p.act, p.dim), angles(theta, where), p).to(x.dtype)


class EagerBackend:
    """The plain torch backend, with the backward that is derived by hand."""

    def forward(self, x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
        """Return O, shaped like x."""
        return lrpe_formula(x, theta, token_position_table(start, p.length), p)

    def backward(
        self, x: Tensor | None, theta: Tensor, start: TokenPositions, grad: Tensor, p: LrpeSpec, needs: NeedsGradient
    ) -> Gradients:
        """Return dX and dTheta: dO turned by -theta, then the activation's Jacobian; see the reference's backward."""
        where = token_position_table(start, p.length)
        inner = turn(at_least_float32(grad), -angles(theta, where), p)
        if x is None:
            return inner.to(grad.dtype), None
        wide = at_least_float32(x)
        dx = activate_backward(wide, inner, p.act, p.dim).to(x.dtype) if needs[0] else None
        if not needs[1]:
            return dx, None
        middle = p.start + p.pairs
        bar = apply_activation(wide, p.act, p.dim)
        cross = inner[..., middle : p.rotary_end] * bar[..., p.start : middle]
        cross = cross - inner[..., p.start : middle] * bar[..., middle : p.rotary_end]
        slope = (torch.from_numpy(where).to(x.device)[:, :, None, None] * cross.double()).sum((0, 1))
        return dx, slope.sum_to_size(p.theta_shape).to(theta.dtype)


EAGER = EagerBackend()
