"""RMSNorm of q and k fused with their rotation, forward and backward, as Qwen3, Gemma 3 and OLMo 2 need it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from rope_core.errors import argument_error, checked_finite
from rope_core.kernels.backends import choose_backend
from rope_core.kernels.task import (
    RotationSpec,
    check_index_values,
    check_tensors,
    compute_dtype,
    make_rotation_spec,
    token_cos_sin,
)
from rope_core.kernels.torch_ops import rotate_eager
from rope_core.layout import Layout

BACKENDS = ("eager", "triton")
OVER = ("head", "token")


def apply_normed(
    q: Tensor,
    k: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    cos: Tensor | None,
    sin: Tensor | None,
    *,
    layout: str | Layout,
    eps: float = 1e-6,
    unit_offset: bool = False,
    over: str = "head",
    positions: Tensor | int | None = None,
    cu_seqlens: Tensor | None = None,
    offsets: Tensor | None = None,
    phase_step: Tensor | None = None,
    attention_factor: float = 1.0,
    backend: str | None = None,
    check: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return rotate(x / sqrt(mean(x**2) + eps) * weight) of q and k, computed in float32 and rounded once.

    Args:
        q, k, cos, sin, layout, positions, cu_seqlens, offsets, phase_step, attention_factor, check: as for ``apply``.
        q_weight, k_weight: (D,), or (heads * D,) where the mean is over a token.
        eps: added to the mean square.
        unit_offset: multiply by 1 + weight (Gemma) instead of weight.
        over: "head", each head by itself (Qwen3, Gemma 3), or "token", all heads of a token at once (OLMo 2).
        backend: "eager", torch's own operations, or "triton", one pass; None is eager on the CPU and triton on a GPU.

    Returns:
        (q, k) of the inputs' shapes and types; gradients flow to q, k and the weights.

    Raises:
        ValueError: as ``apply`` does, and on weights that do not fit or eps that is not positive.

    Source: q_norm and k_norm before apply_rotary_pos_emb in transformers 5.24, models qwen3, gemma3 and olmo2.

    >>> x = torch.tensor([[[[3.0, 4.0]]]])
    >>> c, s = torch.zeros(1, 1), torch.ones(1, 1)
    >>> one = torch.ones(2)
    >>> apply_normed(x, x, one, one, c, s, layout="half", backend="eager")[0].mul(12.5**0.5).round().tolist()
    [[[[-4.0, 3.0]]]]
    """
    q4, k4 = check_tensors(q, k)
    turn = make_rotation_spec(
        q4, q.dim() == 3, cos, sin, phase_step, attention_factor, layout, positions, cu_seqlens, offsets
    )
    if over not in OVER:
        raise argument_error("over", " or ".join(OVER), over)
    small = checked_finite("eps", eps, "a positive number")
    if small <= 0:
        raise argument_error("eps", "a positive number", eps)
    for name, x, weight in (("q_weight", q4, q_weight), ("k_weight", k4, k_weight)):
        wanted = x.shape[3] * (x.shape[2] if over == "token" else 1)
        if not isinstance(weight, Tensor) or not weight.is_floating_point() or weight.shape != (wanted,):
            raise argument_error(name, f"a floating-point tensor ({wanted},)", getattr(weight, "shape", weight))
        if weight.device != q.device:
            raise argument_error(name, f"on q's device {q.device}", weight.device)
    chosen = choose_backend("eager" if backend is None and q.device.type == "cpu" else backend, q.device).name
    if chosen not in BACKENDS:
        raise argument_error("backend", "one_of", backend, names=BACKENDS)
    if q.device.type == "cpu" or check:
        check_index_values(turn, q4.shape[1])
    kind = compute_dtype(q.dtype)
    c, s = token_cos_sin(turn, q4.shape[1], q.device, kind)
    tables = replace(turn, cos=c.contiguous(), sin=s.contiguous(), steps=None, positions=None, cu_seqlens=None,
                     offsets=None, start=0)  # fmt: skip
    shift, whole = float(unit_offset), over == "token"
    done = [
        _eager(x, w, tables, small, shift, whole) if chosen == "eager" else _fused(x, w, tables, small, shift, whole)
        for x, w in ((q4, q_weight), (k4, k_weight))
    ]
    return (done[0], done[1]) if q.dim() == 4 else (done[0][0], done[1][0])


def _eager(x: Tensor, weight: Tensor, turn: RotationSpec, eps: float, shift: float, whole: bool) -> Tensor:
    """Normalise and turn x (B, S, heads, D) by torch's own operations, rounded once; the other backends' measure."""
    assert turn.cos is not None and turn.sin is not None
    wide = x.to(turn.cos.dtype)
    mean = wide.square().mean((-2, -1) if whole else -1, keepdim=True)
    gain = weight.to(wide.dtype) + shift
    if whole:
        gain = gain.view(x.shape[2], x.shape[3])
    return rotate_eager(wide * torch.rsqrt(mean + eps) * gain, turn.cos, turn.sin, turn.half).to(x.dtype)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _fused(x: Tensor, weight: Tensor, turn: RotationSpec, eps: float, shift: float, whole: bool) -> Tensor:
    """Run the Triton kernels; torch.compile leaves the graph here."""
    done: Tensor = _Normed.apply(x, weight, turn, eps, shift, whole)  # type: ignore[no-untyped-call]
    return done


class _Normed(torch.autograd.Function):
    """(x, weight, turn, eps, shift, whole) -> x normalised, weighted and turned; keeps x, not its norm."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, turn: RotationSpec, eps: float, shift: float, whole: bool
    ) -> Tensor:
        from rope_core.kernels import gpu_norm

        ctx.save_for_backward(x, weight, turn.cos, turn.sin)
        ctx.options = turn.half, eps, shift, whole
        wide = weight.detach().to(compute_dtype(x.dtype)).contiguous()
        assert turn.cos is not None and turn.sin is not None
        return gpu_norm.normed_rotation_forward(x.detach(), wide, turn.cos, turn.sin, *ctx.options)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        from rope_core.kernels import gpu_norm

        x, weight, cos, sin = ctx.saved_tensors
        wide = weight.detach().to(compute_dtype(x.dtype)).contiguous()
        dx, dw = gpu_norm.normed_rotation_backward(x.detach(), grad, wide, cos, sin, *ctx.options)
        return dx, dw.to(weight.dtype), None, None, None, None
