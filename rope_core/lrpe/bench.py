"""LRPE's speed on a CPU beside a copy of the same bytes: ``python -m rope_core.lrpe.bench``.

Every round runs every variant once, in an order of its own; a ratio is of times in one round, so what else the machine
does touches both. The answer is checked against the float64 reference before anything is timed. Outputs are
preallocated where the variant lets them be; buffers take turns, more of them than the cache holds; glibc keeps freed
memory, so that page faults are not what is measured.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numba
import numpy as np
import torch
from torch import Tensor

from rope_core.bench.environment import cache_bytes, sets_of_buffers, with_allocator
from rope_core.errors import whole
from rope_core.kernels.task import available_memory
from rope_core.lrpe import arguments, reference
from rope_core.lrpe.arguments import Plan
from rope_core.lrpe.cpu import FUSED
from rope_core.lrpe.eager import EAGER, activate, formula

Buffers = tuple[Tensor, Tensor, Tensor]
Variant = Callable[[Tensor, Tensor, Tensor], Tensor]

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


@dataclass(frozen=True)
class Row:
    """One variant's times over one activation.

    Attributes:
        name, act, dim: what ran.
        ratio: median over rounds of its time by the copy's in the same round.
        best: its least time by the copy's least time.
        milliseconds: its median time.
        error: largest difference from the float64 reference before timing.
    """

    name: str
    act: str
    dim: int | None
    ratio: float
    best: float
    milliseconds: float
    error: float


def measure(
    shape: tuple[int, int, int, int] = (1, 2048, 32, 128),
    rounds: int = 15,
    threads: int = 2,
    cases: Sequence[tuple[str, int | None]] = CASES,
    peers: Sequence[str] = ("eager", "compiled"),
    theta_kind: str = "pair",
) -> list[Row]:
    """Return the times of LRPE's forward and backward, float32, as ratios to ``copy_`` of x, in interleaved rounds.

    Args:
        shape: (B, N, H, D).
        rounds: how many times each variant runs.
        threads: CPU threads for torch and numba, at most what numba was started with.
        cases: activations and their dims.
        peers: "eager" (torch, the formula) and "compiled" (torch.compile of the same) beside the fused kernel.
        theta_kind: theta's shape, "pair" (D/2,), "head" (H,) or "both" (H, D/2).

    Raises:
        ValueError: on counts out of range.
        AssertionError: when a variant's answer is wrong, before it is timed.
    """
    whole("rounds", rounds, 1, 10_000)
    before = torch.get_num_threads(), numba.get_num_threads()
    count = whole("threads", threads, 1, numba.config.NUMBA_NUM_THREADS)
    torch.set_num_threads(count)
    numba.set_num_threads(count)
    try:
        return [row for act, dim in cases for row in _measure_case(shape, act, dim, rounds, peers, theta_kind)]
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


def _measure_case(
    shape: tuple[int, int, int, int], act: str, dim: int | None, rounds: int, peers: Sequence[str], theta_kind: str
) -> list[Row]:
    """Return the rows of one activation; the copy is timed in each of its rounds."""
    theta_shape = {"pair": (shape[3] // 2,), "head": (shape[2],), "both": (shape[2], shape[3] // 2)}[theta_kind]
    p = arguments.plan(shape, theta_shape, act, dim)
    rng = np.random.default_rng(0)
    theta = torch.from_numpy(rng.uniform(0.0, 1.0, p.theta_shape))
    sets = []
    for _ in range(sets_of_buffers(3 * 4 * math.prod(shape), cache_bytes(), available_memory())):
        x, grad = (torch.from_numpy(rng.standard_normal(shape, np.float32)) for _ in range(2))
        sets.append((x, grad, torch.zeros_like(x)))
    variants = _variants_of(theta, p, peers)
    errors = {name: check(name, run, sets[0], theta, p) for name, run in variants.items()}
    times: dict[str, list[float]] = {"copy": [], **{name: [] for name in variants}}
    names: dict[str, Variant] = {"copy": lambda x, grad, out: out.copy_(x), **variants}
    shuffle, turns = random.Random(0), itertools.cycle(sets)
    for _ in range(rounds):
        # Drawn anew, so that no variant always follows the same one.
        for name in shuffle.sample(list(names), len(names)):
            buffers = next(turns)
            begin = time.perf_counter()
            names[name](*buffers)
            times[name].append(time.perf_counter() - begin)
    copies = times["copy"]
    return [
        Row(
            name,
            act,
            dim,
            statistics.median(t / c for t, c in zip(times[name], copies, strict=True)),
            min(times[name]) / min(copies),
            1e3 * statistics.median(times[name]),
            errors.get(name, 0.0),
        )
        for name in names
    ]


def _variants_of(theta: Tensor, p: Plan, peers: Sequence[str]) -> dict[str, Variant]:
    """Return what is timed, by name; each takes (x, grad, out) and returns its answer, O or dX."""
    where = arguments.position_table(0, p.length)

    def fused_forward(x: Tensor, grad: Tensor, out: Tensor) -> Tensor:
        FUSED.forward_into(x, theta, 0, p, out)
        return out

    def fused_backward(x: Tensor, grad: Tensor, out: Tensor) -> Tensor:
        FUSED.backward_into(x, theta, 0, grad, p, out, False)
        return out

    def eager_backward(x: Tensor, grad: Tensor, out: Tensor) -> Tensor:
        dx, _ = EAGER.backward(x, theta, 0, grad, p, True, False)
        assert dx is not None
        return dx

    chosen: dict[str, Variant] = {"fused": fused_forward, "fused backward": fused_backward}
    if "eager" in peers:
        chosen["eager"] = lambda x, grad, out: formula(x, theta, where, p)
        chosen["eager backward"] = eager_backward
    if "compiled" in peers:
        angle = torch.from_numpy(where)[:, :, None, None] * theta
        cos, sin = angle.cos().float(), angle.sin().float()
        # After eight graphs of one function torch would run it uncompiled, in silence.
        torch._dynamo.reset()
        compiled = torch.compile(_compiled_formula, dynamic=False, fullgraph=True)
        chosen["compiled"] = lambda x, grad, out: compiled(x, cos, sin, p.act, p.dim)
    return chosen


def _compiled_formula(x: Tensor, cos: Tensor, sin: Tensor, act: str, dim: int | None) -> Tensor:
    """Return the formula with its tables given, which is kinder to the compiler than building them in each call."""
    a, b = activate(x, act, dim).chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def check(name: str, run: Variant, buffers: Buffers, theta: Tensor, p: Plan) -> float:
    """Return a variant's largest error in the first two heads of the first sequence; AssertionError if wrong."""
    x, grad, _ = buffers
    part = (slice(0, 1), slice(None), slice(0, 2))
    got, values = run(*buffers)[part].numpy(), x[part].double().numpy()
    frequency = (theta[:2] if p.theta_shape[0] > 1 else theta).double().numpy()
    part_plan = replace(p, batch=1, heads=values.shape[2], theta_shape=(frequency.shape[0], frequency.shape[1]))
    where = arguments.position_table(0, p.length)
    if "backward" in name:
        wanted, _ = reference.backward(values, frequency, where, grad[part].double().numpy(), part_plan)
    else:
        wanted = reference.forward(values, frequency, where, part_plan)
    error = float(np.abs(got - wanted).max())
    # float32 rounding of values up to the largest one, a few operations deep.
    assert error <= 32 * np.finfo(np.float32).eps * max(1.0, float(np.abs(wanted).max())), (name, p.act, error)
    return error


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m rope_core.lrpe.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--shape", type=int, nargs=4, default=(1, 2048, 32, 128), metavar=("B", "N", "H", "D"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=min(2, numba.config.NUMBA_NUM_THREADS))
    parser.add_argument("--act", action="append", help="only this activation; may be given again")
    parser.add_argument("--peers", nargs="*", default=["eager", "compiled"], choices=["eager", "compiled"])
    parser.add_argument("--theta", default="pair", choices=["pair", "head", "both"])
    given = parser.parse_args(argv)
    cases = [case for case in CASES if given.act is None or case[0] in given.act]
    print(f"{'variant':16}{'act':10}{'dim':>5}{'x copy':>9}{'best':>8}{'ms':>9}{'error':>10}")
    for act, dim in cases:
        for row in measure(tuple(given.shape), given.rounds, given.threads, [(act, dim)], given.peers, given.theta):
            axis = "-" if row.dim is None else str(row.dim)
            times = f"{row.ratio:9.2f}{row.best:8.2f}{row.milliseconds:9.2f}{row.error:10.1e}"
            print(f"{row.name:16}{row.act:10}{axis:>5}{times}")
    return 0


if __name__ == "__main__":
    with_allocator("tuned", "rope_core.lrpe.bench", sys.argv[1:])
    raise SystemExit(main())
