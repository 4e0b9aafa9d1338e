"""LRPE on float32 CPU tensors by the fused kernels: one read and one write of x, no tables, nothing stored but x."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rope_core.errors import reject
from rope_core.kernels.cpu import STREAM_BYTES
from rope_core.kernels.lanes import LINE
from rope_core.kernels.tables import ONE_AT_A_TIME
from rope_core.lrpe import cpu_kernels as kernels
from rope_core.lrpe.arguments import ACTIVATIONS, Plan
from rope_core.lrpe.autograd import Start, run
from rope_core.lrpe.cpu_math import ALONG_SEQUENCE
from rope_core.lrpe.phase import phase_steps

# Fixed, so that sums over chunks come out the same on any number of threads.
CHUNKS = 16
# Tokens that a softmax along the sequence looks at twice while they are in the cache.
BLOCK = 16

# Activations that take no longer than the memory does. The others hide behind it what a store through the cache costs.
CHEAP = ("none", "relu", "relu2")


Floats = npt.NDArray[np.float32]
Places = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], int, int]


def rotate(x: Tensor, theta: Tensor, start: Start, p: Plan) -> Tensor:
    """Return O of checked arguments, (B, N, H, D), differentiable in x and theta."""
    if x.device.type != "cpu" or x.dtype != torch.float32:
        raise reject("x", "float32_cpu", f"{x.dtype} on {x.device}")
    return run(FUSED, x, theta, start, p)


def places(theta: Tensor, start: Start, p: Plan) -> Places:
    """Return what the kernels take for angles: steps (1 | H, 1 | P), starts (B,), positions or none, and the slice."""
    step = phase_steps(theta.detach().double().numpy())
    none = np.empty((0, 0), np.int64)
    if isinstance(start, int):
        return step, np.full(p.batch, start, np.int64), none, p.start, p.pairs
    if start.ndim == 1:
        return step, start, none, p.start, p.pairs
    return step, np.zeros(p.batch, np.int64), start, p.start, p.pairs


def array(x: Tensor) -> Floats:
    """Return x's values as a C-contiguous array, a view where they already are."""
    return np.asarray(x.detach().contiguous().numpy())


class Fused:
    """The fused CPU backend."""

    def forward(self, x: Tensor, theta: Tensor, start: Start, p: Plan) -> Tensor:
        """Return O, shaped like x; rows that are not contiguous are copied first."""
        out = torch.empty(p.shape, dtype=torch.float32)
        self.forward_into(x, theta, start, p, out)
        return out

    def forward_into(self, x: Tensor, theta: Tensor, start: Start, p: Plan, out: Tensor) -> None:
        """Write O into a contiguous ``out`` (B, N, H, D)."""
        if not x.numel():
            return
        values, where = array(x), places(theta, start, p)
        with ONE_AT_A_TIME:
            stats = statistics(values, p)
            kernels.forward(values, out.numpy(), *where, code(p), *stats, chunks(p), past_cache(out, p))

    def backward(
        self, x: Tensor | None, theta: Tensor, start: Start, grad: Tensor, p: Plan, need_x: bool, need_theta: bool
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return dX and dTheta; theta's gradient is summed in float64."""
        dx = torch.empty(p.shape, dtype=torch.float32)
        dtheta = self.backward_into(x, theta, start, grad, p, dx, need_theta)
        return (dx if need_x else None), dtheta

    def backward_into(
        self, x: Tensor | None, theta: Tensor, start: Start, grad: Tensor, p: Plan, dx: Tensor, need_theta: bool
    ) -> Tensor | None:
        """Write dX into a contiguous ``dx`` (B, N, H, D) and return dTheta if it is needed."""
        slope = np.zeros((chunks(p) if need_theta else 0, p.theta_shape[0], p.pairs))
        if dx.numel():
            upstream, where = array(grad), places(theta, start, p)
            values = upstream if x is None else array(x)
            with ONE_AT_A_TIME:
                stats = statistics(values, p)
                dot = dots(values, upstream, where, stats, p)
                past = past_cache(dx, p)
                kernels.backward(values, upstream, dx.numpy(), slope, *where, code(p), *stats, dot, chunks(p), past)
        if not need_theta:
            return None
        return torch.from_numpy(slope.sum(axis=0)).sum_to_size(p.theta_shape).to(theta.dtype)


def code(p: Plan) -> int:
    """Return the kernels' number for the activation."""
    return ALONG_SEQUENCE if p.along_sequence else ACTIVATIONS.index(p.act)


def chunks(p: Plan) -> int:
    """Return into how many runs of tokens the work is cut."""
    return min(CHUNKS, p.batch * p.length)


def past_cache(out: Tensor, p: Plan) -> bool:
    """Return whether results bypass the cache: memory is what is waited for, and they would not stay in it.

    Every token has to be made of whole lines.
    """
    token = p.heads * p.width * out.element_size()
    whole = out.data_ptr() % LINE == 0 and token % LINE == 0
    return whole and out.nbytes >= STREAM_BYTES and (p.act in CHEAP or p.along_sequence)


def parts_of(p: Plan) -> int:
    """Return into how many parts each sequence is cut for sums along it."""
    return max(1, min(CHUNKS // p.batch, p.length // BLOCK))


def statistics(values: Floats, p: Plan) -> tuple[Floats, Floats]:
    """Return the columns' maximum and 1 / sum of e^(x - maximum), (B, H, D), for a softmax along the sequence."""
    if not p.along_sequence:
        blank = np.zeros((1, 1, p.width), np.float32)
        return blank, blank
    shape = (p.batch, parts_of(p), p.heads * p.width)
    peak, total = np.empty(shape, np.float32), np.empty(shape, np.float32)
    kernels.column_stats(values.reshape(p.batch, p.length, -1), peak, total, BLOCK)
    top = peak.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1.0 / (total * np.exp(peak.astype(np.float64) - top[:, None])).sum(axis=1)
    each = (p.batch, p.heads, p.width)
    return top.reshape(each), share.astype(np.float32).reshape(each)


def dots(values: Floats, upstream: Floats, where: Places, stats: tuple[Floats, Floats], p: Plan) -> Floats:
    """Return the columns' sums of softmax times its gradient, (B, H, D), where the softmax runs along the sequence."""
    if not p.along_sequence:
        return stats[0]
    partial = np.empty((p.batch, parts_of(p), p.heads, p.width), np.float32)
    kernels.column_dots(values, upstream, *where, *stats, partial)
    summed: Any = partial.sum(axis=1, dtype=np.float64)
    return np.asarray(summed, dtype=np.float32)


FUSED = Fused()
