"""LRPE's speed beside a copy of the same bytes, on a CPU or a GPU: ``python -m rope_core.lrpe.bench``.

Every round runs every variant once, in an order of its own; a ratio is of times in one round, so what else the machine
does touches both. The answer is checked against the float64 reference before anything is timed. Buffers take turns,
more of them than the cache holds; glibc keeps freed memory, so that page faults are not what is measured.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from rope_core.bench.environment import buffer_set_count, restart_with_allocator
from rope_core.bench.harness import cache_and_free_bytes, device_timer
from rope_core.bench.statistics import SampleSummary, summarize_samples
from rope_core.errors import checked_int
from rope_core.lrpe import arguments, reference
from rope_core.lrpe.arguments import LrpeSpec
from rope_core.lrpe.autograd import LrpeBackend
from rope_core.lrpe.eager import EAGER, apply_activation, lrpe_formula

XGradOut = tuple[Tensor, Tensor, Tensor]
TimedFunction = Callable[[Tensor, Tensor, Tensor], Tensor]

CASES = (
    ("none", None),
    ("relu", None),
    ("relu2", None),
    ("sigmoid", None),
    ("silu", None),
    ("1+elu", None),
    ("gelu", None),
    ("softmax", -1),
    ("softmax", 1),
)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
THETAS = ("pair", "head", "both")


@dataclass(frozen=True)
class VariantTiming:
    """One variant's times over one activation.

    Attributes:
        name, act, dim: what ran.
        ratio: its time by the copy's in the same round, over the rounds.
        seconds: its time, over the rounds.
        error: largest difference from the float64 reference before timing.
    """

    name: str
    act: str
    dim: int | None
    ratio: SampleSummary
    seconds: SampleSummary
    error: float


def measure(
    shape: tuple[int, int, int, int],
    act: str,
    dim: int | None,
    rounds: int = 25,
    device: str = "cpu",
    dtype: str = "float32",
    theta_kind: str = "pair",
    compiled: bool = True,
) -> list[VariantTiming]:
    """Return the times of LRPE's forward and backward as ratios to ``copy_`` of x, in interleaved rounds.

    Args:
        shape: (B, N, H, D).
        act, dim: the activation.
        rounds: how many times each variant runs.
        device: "cpu", where torch's own operations are the op, or "cuda", where its Triton kernels are timed too.
        dtype: of x, a name in DTYPES.
        theta_kind: theta's shape, "pair" (D/2,), "head" (H,) or "both" (H, D/2).
        compiled: whether torch.compile of the formula takes part.

    Raises:
        ValueError: on counts out of range.
        AssertionError: when a variant's answer is wrong, before it is timed.
    """
    checked_int("rounds", rounds, 1, 10_000)
    theta_shape = {"pair": (shape[3] // 2,), "head": (shape[2],), "both": (shape[2], shape[3] // 2)}[theta_kind]
    p = arguments.make_lrpe_spec(shape, theta_shape, act, dim)
    draw = torch.Generator().manual_seed(0)
    theta = torch.rand(p.theta_shape, generator=draw, dtype=torch.float64).to(device)
    kind = DTYPES[dtype]
    sets = []
    for _ in range(buffer_set_count(3 * kind.itemsize * math.prod(shape), *cache_and_free_bytes(device))):
        x, grad = (torch.randn(shape, generator=draw).to(device, kind) for _ in range(2))
        sets.append((x, grad, torch.zeros_like(x)))
    variants = _variants_of(theta, p, compiled)
    errors = {name: check(name, run, sets[0], theta, p) for name, run in variants.items()}
    everybody: dict[str, TimedFunction] = {"copy": lambda x, grad, out: out.copy_(x), **variants}
    times: dict[str, list[float]] = {name: [] for name in everybody}
    shuffle, clock = random.Random(0), device_timer(device)
    for turn in range(rounds):
        # Drawn anew, so that no variant always follows the same one.
        for name in shuffle.sample(list(everybody), len(everybody)):
            step = everybody[name]
            times[name].append(clock.sample(lambda i, step=step: step(*sets[i]), [turn % len(sets)])[0])  # type: ignore[misc]
    return [
        VariantTiming(
            name,
            act,
            dim,
            summarize_samples([t / c for t, c in zip(times[name], times["copy"], strict=True)]),
            summarize_samples(times[name]),
            errors.get(name, 0.0),
        )
        for name in everybody
    ]


def _variants_of(theta: Tensor, p: LrpeSpec, compiled: bool) -> dict[str, TimedFunction]:
    """Return what is timed, by name; each takes (x, grad, out) and returns its answer, O or dX."""
    where = arguments.token_position_table(0, p.length)

    def backward_of(kernels: LrpeBackend) -> TimedFunction:
        def backward(x: Tensor, grad: Tensor, out: Tensor) -> Tensor:
            dx, _ = kernels.backward(x, theta, 0, grad, p, (True, False))
            assert dx is not None
            return dx

        return backward

    chosen: dict[str, TimedFunction] = {
        "eager": lambda x, grad, out: lrpe_formula(x, theta, where, p),
        "eager backward": backward_of(EAGER),
    }
    if theta.is_cuda:
        kernels = importlib.import_module("rope_core.lrpe.gpu").TRITON
        chosen["triton"] = lambda x, grad, out: kernels.forward(x, theta, 0, p)
        chosen["triton backward"] = backward_of(kernels)
    if compiled:
        angle = torch.from_numpy(where).to(theta.device)[:, :, None, None] * theta
        cos, sin = angle.cos().float(), angle.sin().float()
        # After eight graphs of one function torch would run it uncompiled, in silence.
        torch._dynamo.reset()
        result = torch.compile(_compiled_formula, dynamic=False, fullgraph=True)
        chosen["compiled"] = lambda x, grad, out: result(x, cos, sin, p.act, p.dim)
    return chosen


def _compiled_formula(x: Tensor, cos: Tensor, sin: Tensor, act: str, dim: int | None) -> Tensor:
    """Return the formula with its tables given, which is kinder to the compiler than building them in each call."""
    a, b = apply_activation(x.float(), act, dim).chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


def check(name: str, run: TimedFunction, buffers: XGradOut, theta: Tensor, p: LrpeSpec) -> float:
    """Return a variant's largest error in the first two heads of the first sequence; AssertionError if wrong."""
    x, grad, _ = buffers
    part = (slice(0, 1), slice(None), slice(0, 2))
    got, values = (t[part].double().cpu().numpy() for t in (run(*buffers), x))
    frequency = (theta[:2] if p.theta_shape[0] > 1 else theta).cpu().numpy()
    part_plan = replace(p, batch=1, heads=values.shape[2], theta_shape=(frequency.shape[0], frequency.shape[1]))
    where = arguments.token_position_table(0, p.length)
    if "backward" in name:
        upstream = grad[part].double().cpu().numpy()
        wanted, _ = reference.lrpe_backward(values, frequency, where, upstream, part_plan)
    else:
        wanted = reference.lrpe_forward(values, frequency, where, part_plan)
    error = float(np.abs(got - wanted).max())
    # float32 rounding of values up to the largest one, a few operations deep, and one rounding to x's type.
    share = 32 * torch.finfo(torch.float32).eps + torch.finfo(x.dtype).eps
    assert error <= share * max(1.0, float(np.abs(wanted).max())), (name, p.act, error)
    return error


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m rope_core.lrpe.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--shape", type=int, nargs=4, default=(1, 2048, 32, 128), metavar=("B", "N", "H", "D"))
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", default="float32", choices=list(DTYPES))
    parser.add_argument("--act", action="append", help="only this activation; may be given again")
    parser.add_argument("--theta", default="pair", choices=THETAS)
    parser.add_argument("--no-compile", dest="compiled", action="store_false", help="without torch.compile")
    given = parser.parse_args(argv)
    print(f"{'variant':16}{'act':10}{'dim':>5}{'x copy':>9}{'[95 %':>9}{']':>7}{'us':>11}{'error':>10}")
    for act, dim in CASES:
        if given.act is not None and act not in given.act:
            continue
        options = given.rounds, given.device, given.dtype, given.theta, given.compiled
        for row in measure(tuple(given.shape), act, dim, *options):
            axis, r = "-" if row.dim is None else str(row.dim), row.ratio
            times = f"{r.median:9.2f}{r.low:9.2f}{r.high:7.2f}{1e6 * row.seconds.median:11.1f}{row.error:10.1e}"
            print(f"{row.name:16}{row.act:10}{axis:>5}{times}", flush=True)
    return 0


if __name__ == "__main__":
    restart_with_allocator("tuned", "rope_core.lrpe.bench", sys.argv[1:])
    raise SystemExit(main())
