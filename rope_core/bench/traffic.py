"""What implementations of the rotation move through memory, on paper: a list of kernels, each with reads and writes.

Counts are in units of N, the bytes of q and k together; tables are small against them and left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from rope_core.bench.cases import BenchmarkCase
from rope_core.errors import argument_error, checked_finite


@dataclass(frozen=True)
class KernelTraffic:
    """One kernel: ``name`` as an expression, ``reads`` and ``writes`` in units of N."""

    name: str
    reads: float
    writes: float

    @property
    def moved(self) -> float:
        """Reads and writes together."""
        return self.reads + self.writes


# transformers 5.24, models/llama/modeling_llama.py, apply_rotary_pos_emb and rotate_half: one kernel per operation.
# FLA bc3b101, fla/modules/rotary.py: torch.zeros_like(x) before the kernel that fills it.
# Liger ead96b6, src/liger_kernel/ops/rope.py: .contiguous() first where q lies as (B, H, S, D).
TURN = KernelTraffic("x cos + x' sin", 1, 1)
PATHS: dict[str, tuple[KernelTraffic, ...]] = {
    "transformers": (
        KernelTraffic("x * cos", 1, 1),
        KernelTraffic("-x2", 0.5, 0.5),
        KernelTraffic("cat(-x2, x1)", 1, 1),
        KernelTraffic("cat * sin", 1, 1),
        KernelTraffic("sum", 2, 1),
    ),
    "Liger": (KernelTraffic("contiguous()", 1, 1), TURN),
    "FLA": (KernelTraffic("zeros_like", 0, 1), TURN),
    "ours": (TURN,),
}
# Which path a measured contestant takes; torch.compile makes one kernel of the expression.
MEASURED = {
    "transformers": "transformers",
    "Liger": "Liger",
    "FLA": "FLA",
    "numba": "ours",
    "triton": "ours",
}


def traffic_per_element(implementation: str) -> float:
    """Return how many times N an implementation moves; ValueError on an unknown one.

    >>> traffic_per_element("transformers"), traffic_per_element("FLA"), traffic_per_element("ours")
    (10.0, 3.0, 2.0)
    """
    if implementation not in PATHS:
        raise argument_error("path", "one_of", implementation, names=PATHS)
    return float(sum(step.moved for step in PATHS[implementation]))


def time_over_copy(implementation: str) -> float:
    """Return the time on paper as a multiple of a copy, which reads N and writes N.

    >>> time_over_copy("transformers"), time_over_copy("ours")
    (5.0, 1.0)
    """
    return traffic_per_element(implementation) / 2.0


def memory_bound_seconds(case: BenchmarkCase, implementation: str, bytes_per_second: float) -> float:
    """Return the time of one forward pass that only memory limits; ValueError unless the bandwidth is positive."""
    if checked_finite("bytes_per_second", bytes_per_second, "finite_above", low=0) <= 0:
        raise argument_error("bytes_per_second", "finite_above", bytes_per_second, low=0)
    return traffic_per_element(implementation) * case.tensor_bytes / bytes_per_second
