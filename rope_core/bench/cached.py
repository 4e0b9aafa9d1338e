"""QK norm, rotation and the write into the cache beside writing the same bytes: ``python -m rope_core.bench.cached``.

Every round runs every variant once, in an order drawn anew; a ratio is of times in one round. Answers are checked
against float64 before anything is timed. With ``--threads 1`` processor time is counted, which other work on the
machine hardly touches; else wall time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence

import numba
import numpy as np
import torch
from torch import Tensor

from rope_core.bench.answers import SLACK
from rope_core.bench.environment import cache_bytes, sets_of_buffers, with_allocator
from rope_core.bench.statistics import summary
from rope_core.errors import whole
from rope_core.kernels.cached import apply_normed_cached
from rope_core.kernels.entry import apply
from rope_core.kernels.norm import apply_normed
from rope_core.kernels.task import available_memory
from rope_core.rope import Rope
from rope_core.spectrum import Request, cos_sin, spectrum

DTYPES = ("float32", "bfloat16", "float16")
# Where decoding begins in every measured call, and the base: no position is 0.
START, BASE = 77, 1e6
EPS = 1e-6
ROUNDS = 25

Buffers = dict[str, Tensor]
Variant = Callable[[Buffers, str], None]


def one_pass(b: Buffers, layout: str) -> None:
    """Do everything in one pass over q, k and v."""
    apply_normed_cached(
        b["q"], b["k"], b["v"], b["weight"], b["weight"], b["cos"], b["sin"], b["k_cache"], b["v_cache"], b["slots"],
        layout=layout, positions=START, out=b["out"], backend="numba",
    )  # fmt: skip


def norm_and_turn_then_write(b: Buffers, layout: str) -> None:
    """Normalise and turn in one pass, then write k and v."""
    q, k = apply_normed(
        b["q"], b["k"], b["weight"], b["weight"], b["cos"], b["sin"], layout=layout, eps=EPS, positions=START
    )
    b["out"] = q
    _write(b, k)


def three_steps(b: Buffers, layout: str) -> None:
    """Normalise with torch, turn in place with numba, write with torch: each step at its best."""
    q, k = (torch.nn.functional.rms_norm(b[name], b["weight"].shape, b["weight"], EPS) for name in ("q", "k"))
    apply(q, k, b["cos"], b["sin"], layout=layout, positions=START, inplace=True)
    b["out"] = q
    _write(b, k)


def eager(b: Buffers, layout: str) -> None:
    """Do each step by torch's own operations."""
    apply_normed_cached(
        b["q"], b["k"], b["v"], b["weight"], b["weight"], b["cos"], b["sin"], b["k_cache"], b["v_cache"], b["slots"],
        layout=layout, positions=START, out=b["out"], backend="eager",
    )  # fmt: skip


def _write(b: Buffers, k: Tensor) -> None:
    b["k_cache"].index_copy_(0, b["slots"], k)
    b["v_cache"].index_copy_(0, b["slots"], b["v"])


def floor(b: Buffers, layout: str) -> None:
    """Write the bytes of q, k and v, and nothing else."""
    b["out"].copy_(b["q"])
    b["k_cache"].copy_(b["k"])
    b["v_cache"].copy_(b["v"])


VARIANTS: dict[str, Variant] = {
    "one pass": one_pass,
    "norm and rotation, then write": norm_and_turn_then_write,
    "norm, rotation, write": three_steps,
    "torch's own operations": eager,
}


def buffers(tokens: int, q_heads: int, k_heads: int, dim: int, dtype: torch.dtype, seed: int) -> Buffers:
    """Draw q, k and v (tokens, heads, dim), a weight, tables, a cache of as many slots, and an order of slots."""
    torch.manual_seed(seed)
    tables = cos_sin(spectrum(Request(Rope(dim, BASE))), np.arange(START + tokens))
    heads = {"q": q_heads, "k": k_heads, "v": k_heads, "out": q_heads, "k_cache": k_heads, "v_cache": k_heads}
    drawn = {name: torch.randn(tokens, count, dim).to(dtype) for name, count in heads.items()}
    # As an engine has it: blocks of 16 slots in any order.
    blocks = torch.randperm(-(-tokens // 16))[:, None] * 16 + torch.arange(16)
    slots = blocks.flatten()[blocks.flatten() < tokens]
    weight = (torch.rand(dim) + 0.5).to(dtype)
    return drawn | {
        "slots": slots, "weight": weight, "cos": torch.from_numpy(tables[0]), "sin": torch.from_numpy(tables[1]),
    }  # fmt: skip


def check(variant: Variant, b: Buffers, layout: str) -> float:
    """Return the largest error against float64; ValueError where it is more than rounding."""
    b = {name: x.clone() for name, x in b.items()}
    wide = {name: x.clone() if name == "slots" else x.double() for name, x in b.items()}
    eager(wide, layout)
    variant(b, layout)
    worst = 0.0
    for name in ("out", "k_cache", "v_cache"):
        error = (b[name].double() - wide[name]).abs().max().item()
        # RMSNorm alone rounds once more where it is a step of its own.
        allowed = SLACK * torch.finfo(b["q"].dtype).eps * wide[name].abs().max().item()
        if not error <= allowed:
            raise ValueError(f"{name} errs by {error:.3g}, allowed {allowed:.3g}")
        worst = max(worst, error)
    return worst


def measure(
    shape: tuple[int, int, int, int], dtype: str, layout: str, rounds: int, clock: Callable[[], int]
) -> dict[str, tuple[float, float, float, float]]:
    """Return each variant's median ratio to the floor, its interval, and the largest error."""
    kind = getattr(torch, dtype)
    tokens, q_heads, k_heads, dim = shape
    per_set = 2 * tokens * (q_heads + 2 * k_heads) * dim * kind.itemsize
    count = sets_of_buffers(per_set, cache_bytes(), available_memory())
    sets = [buffers(*shape, kind, seed) for seed in range(count)]
    errors = {name: check(variant, sets[0], layout) for name, variant in VARIANTS.items()}
    times: dict[str, list[int]] = {name: [] for name in ("floor", *VARIANTS)}
    everybody = VARIANTS | {"floor": floor}
    for variant in everybody.values():
        variant(dict(sets[0]), layout)
    order = random.Random(0)
    for turn in range(rounds):
        for name in order.sample(list(everybody), len(everybody)):
            b = dict(sets[turn % count])
            begun = clock()
            everybody[name](b, layout)
            times[name].append(clock() - begun)
    answer = {}
    for name in VARIANTS:
        ratio = summary([a / b for a, b in zip(times[name], times["floor"], strict=True)])
        answer[name] = ratio.median, ratio.low, ratio.high, errors[name]
    return answer


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m rope_core.bench.cached", description=__doc__)
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="repeat; float32 and bfloat16 by default")
    for name, value in (("tokens", 2048), ("heads", 32), ("kv-heads", 8), ("dim", 128), ("rounds", ROUNDS)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args(arguments)
    with_allocator("tuned", "rope_core.bench.cached", arguments)
    if options.threads is not None:
        threads = whole("threads", options.threads, 1, numba.config.NUMBA_NUM_THREADS)
        torch.set_num_threads(threads)
        numba.set_num_threads(threads)
    clock = time.thread_time_ns if options.threads == 1 else time.perf_counter_ns
    shape = options.tokens, options.heads, options.kv_heads, options.dim
    print("times over writing q, k and v, median [95 %], largest error")
    for dtype in options.dtype or DTYPES[:2]:
        for layout in ("half", "interleaved"):
            for name, row in measure(shape, dtype, layout, whole("rounds", options.rounds, 5, 1000), clock).items():
                ratio, low, high, error = row
                print(f"{dtype:9} {layout:12} {name:30} {ratio:5.2f} [{low:.2f}, {high:.2f}]  {error:.1e}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
