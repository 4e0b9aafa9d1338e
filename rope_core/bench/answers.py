"""Whether a contestant's answer is right: fresh inputs, several positions, poisoned memory, float64 beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import BASE, Implementation, RotationInputs, TensorPair
from rope_core.kernels.torch_ops import rotate_eager
from rope_core.rope import Rope
from rope_core.spectrum import Request, cos_sin, spectrum

# Errors are compared with what rounding every product to the tensors' own type would do.
SLACK = 4.0
CHECK_STARTS = (1, 77, 3001)
SPOTS = 63


def random_inputs(case: BenchmarkCase, first_position: int, requires_grad: bool, seed: int) -> RotationInputs:
    """Draw q and k in the case's memory order, tables of positions start, start + 1, ..., and NaN where results go."""
    generator = torch.Generator(case.device).manual_seed(seed)
    dtype = getattr(torch, case.dtype)

    def tensor(heads: int) -> Tensor:
        shape = (case.batch, case.seq, heads, case.dim)
        if case.memory == "bhsd":
            shape = (case.batch, heads, case.seq, case.dim)
        x = torch.randn(shape, generator=generator, device=case.device, dtype=torch.float32).to(dtype)
        return x.transpose(1, 2) if case.memory == "bhsd" else x

    q, k = tensor(case.q_heads), tensor(case.k_heads)
    cos, sin = float32_cos_sin(case, first_position)
    cos, sin = cos.to(case.device), sin.to(case.device)
    out = torch.full_like(q, torch.nan), torch.full_like(k, torch.nan)
    return RotationInputs(
        q.requires_grad_(requires_grad), k.requires_grad_(requires_grad), cos, sin, out, start=first_position
    )


def float32_cos_sin(case: BenchmarkCase, start: int) -> TensorPair:
    """Return float32 cos and sin of ``seq`` positions from ``start``, (seq, rotary_dim/2)."""
    s = spectrum(Request(Rope(case.rotary_dim, BASE)))
    cos, sin = cos_sin(s, torch.arange(start, start + case.seq).numpy())
    return torch.from_numpy(cos), torch.from_numpy(sin)


def rotate_in_float64(x: Tensor, cos: Tensor, sin: Tensor, case: BenchmarkCase, back: bool) -> Tensor:
    """Turn x in float64 by torch's own operations."""
    s = -sin.double() if back else sin.double()
    return rotate_eager(x.detach().double(), cos.double()[None], s[None], case.layout == "half")


def relative_error_limit(case: BenchmarkCase) -> float:
    """Return the error that is still put down to rounding, as a share of the largest input."""
    return SLACK * float(torch.finfo(getattr(torch, case.dtype)).eps)


def poison(case: BenchmarkCase) -> None:
    """Leave NaN in memory that the allocator is about to hand out again: all bits set is a NaN in every type."""
    per_head = case.tensor_bytes // (case.q_heads + case.k_heads)
    sizes = [heads * per_head for heads in (case.q_heads, case.k_heads) for _ in range(2)]
    junk = [torch.full((size,), 255, dtype=torch.uint8, device=case.device) for size in sizes]
    del junk


def largest_error_and_first_seconds(implementation: Implementation, case: BenchmarkCase) -> tuple[float, float]:
    """Return the largest error over several positions and fresh inputs, and the seconds until the first answer.

    Raises ValueError when an answer is wrong.
    """
    worst, first = 0.0, 0.0
    small = replace(case, seq=min(case.seq, 512), batch=min(case.batch, 2))
    for seed, start in enumerate(CHECK_STARTS):
        inputs = _prepared(implementation, small, start, small.direction != "forward", 100 + seed)
        begun = time.perf_counter()
        for name, got, wanted, scale in _answers(implementation, small, inputs):
            first = first or time.perf_counter() - begun
            if got.shape != wanted.shape:
                raise ValueError(f"{name} has the shape {tuple(got.shape)}, wanted {tuple(wanted.shape)}")
            error = (got.double() - wanted).abs().max().item() if got.numel() else 0.0
            if not error <= relative_error_limit(case) * scale:
                raise ValueError(
                    f"{name} errs by {error:.3g} at position {start}, allowed {relative_error_limit(case) * scale:.3g}"
                )
            worst = max(worst, error)
    return worst, first


def _prepared(contestant: Implementation, case: BenchmarkCase, start: int, grad: bool, seed: int) -> RotationInputs:
    inputs = random_inputs(case, start, grad and contestant.raw_backward is None, seed)
    return replace(inputs, extra=contestant.prepare(inputs, case))


def _answers(
    contestant: Implementation, case: BenchmarkCase, inputs: RotationInputs
) -> Iterator[tuple[str, Tensor, Tensor, float]]:
    """Run once on poisoned memory; yield name, answer, float64 answer and the inputs' largest magnitude."""
    q, k = inputs.q.detach().clone(), inputs.k.detach().clone()
    scale = max(float(q.abs().max()), float(k.abs().max()))
    wanted = [rotate_in_float64(x, inputs.cos, inputs.sin, case, False) for x in (q, k)]
    poison(case)
    done = call_implementation(contestant, inputs, case)
    if case.direction != "backward" or contestant.raw_backward is None:
        for name, got, want in zip(("q", "k"), done, wanted, strict=True):
            yield name, got.detach().clone(), want, scale
    if case.direction == "forward":
        return
    grads = random_inputs(case, 0, False, 7)
    wanted = [rotate_in_float64(g, inputs.cos, inputs.sin, case, True) for g in (grads.q, grads.k)]
    poison(case)
    if contestant.raw_backward is not None:
        back = contestant.raw_backward(inputs, (grads.q, grads.k), case)
    else:
        back = _gradients(done, (inputs.q, inputs.k), (grads.q.clone(), grads.k.clone()))
    for name, got, want in zip(("the gradient of q", "the gradient of k"), back, wanted, strict=True):
        yield name, got, want, scale


def call_implementation(implementation: Implementation, inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
    """Call a contestant; with gradients, a contestant that overwrites its inputs gets copies."""
    if implementation.overwrites and inputs.q.requires_grad:
        inputs = replace(inputs, q=inputs.q * 1, k=inputs.k * 1)
    return implementation.call(inputs, case)


def _gradients(done: TensorPair, leaves: TensorPair, grads: TensorPair) -> TensorPair:
    dq, dk = torch.autograd.grad(done, leaves, grads)
    return dq, dk


def check_full_size(implementation: Implementation, case: BenchmarkCase, inputs: RotationInputs) -> None:
    """Run once at the case's full size and compare drawn tokens, the last one among them; ValueError when wrong.

    Addresses that overflow do so only here.
    """
    drawn = torch.randint(0, case.seq, (SPOTS,), generator=torch.Generator().manual_seed(case.seq))
    spots = torch.cat([drawn, torch.tensor([case.seq - 1])]).to(inputs.q.device)
    rows = [case.batch - 1, 0]
    before = [x[rows][:, spots].clone() for x in (inputs.q, inputs.k)]
    done = implementation.call(inputs, case)
    cos, sin = inputs.cos[spots], inputs.sin[spots]
    for name, got, was in zip(("q", "k"), done, before, strict=True):
        error = (
            (got.detach()[rows][:, spots].double() - rotate_in_float64(was, cos, sin, case, False)).abs().max().item()
        )
        allowed = relative_error_limit(case) * float(was.abs().max())
        if not error <= allowed:
            raise ValueError(f"{name} errs by {error:.3g} at full size, allowed {allowed:.3g}")
