"""What every torch backend shares: one autograd node that keeps x and theta and recomputes the rest."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from rope_core.lrpe.arguments import LrpeSpec, PositionIds

TokenPositions = int | PositionIds
Gradients = tuple[Tensor | None, Tensor | None]
NeedsGradient = tuple[bool, bool]
"""Whether x and whether theta needs one."""


class LrpeBackend(Protocol):
    """A backend: LRPE forward and backward on (B, N, H, D) tensors without autograd."""

    def forward(self, x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
        """Return O, shaped like x."""

    def backward(
        self, x: Tensor | None, theta: Tensor, start: TokenPositions, grad: Tensor, p: LrpeSpec, needs: NeedsGradient
    ) -> Gradients:
        """Return dX like x and dTheta like theta from dO; ``needs`` says which, the other is None.

        x is None where nothing needs it.
        """


class LrpeFunction(torch.autograd.Function):
    """LRPE as an autograd node; it keeps theta, and x where the activation's slope or theta's gradient needs it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec, kernels: LrpeBackend) -> Tensor:
        keep_x = p.act != "none" or theta.requires_grad
        ctx.save_for_backward(theta, x if keep_x else None)
        ctx.call = start, p, kernels
        return kernels.forward(x, theta, start, p)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        if torch.is_grad_enabled():
            raise RuntimeError("lrpe_rotate is differentiable once; create_graph=True asks for a second derivative")
        theta, x = ctx.saved_tensors
        start, p, kernels = ctx.call
        dx, dtheta = kernels.backward(x, theta, start, grad, p, ctx.needs_input_grad[:2])
        return dx, dtheta, None, None, None


def run_backend(backend: LrpeBackend, x: Tensor, theta: Tensor, start: TokenPositions, p: LrpeSpec) -> Tensor:
    """Return O of checked arguments, differentiable once in x and theta."""
    out: Tensor = LrpeFunction.apply(x, theta, start, p, backend)  # type: ignore[no-untyped-call]
    return out
