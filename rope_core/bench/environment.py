"""Where a record was made: versions and hardware, nothing that names the machine or its owner."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PACKAGES = (
    "torch",
    "numba",
    "triton",
    "numpy",
    "transformers",
    "liger-kernel",
    "flash-attn",
    "flashinfer-python",
    "sglang",
    "tileops",
)
ALLOCATOR = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
TUNED = dict.fromkeys(ALLOCATOR, "4294967296")
CHILD = "ROPE_LAB_BENCH_CHILD"
MAX_SETS = 16


def environment_record() -> dict[str, Any]:
    """Return versions, processor, threads, caches, allocator setting, load and graphics card as plain values."""
    import torch

    from rope_core.version import __version__

    card: dict[str, Any] = {}
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        card = {"gpu": properties.name, "gpu_memory": properties.total_memory, "gpu_cache": properties.L2_cache_size}
        card["cuda"] = torch.version.cuda
    return {
        "rope_core": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "cpu": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cache_bytes": cache_bytes(),
        "allocator": "tuned" if all(os.environ.get(n) == v for n, v in TUNED.items()) else "default",
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "resolution": clock_resolution(),
        **card,
    }


def restart_with_allocator(kind: str, module: str, arguments: Sequence[str]) -> None:
    """Go on as ``python -m module`` with the allocator "tuned", or as it comes ("default"); return where it is so.

    glibc reads the setting once, at the start of a process. Replacing this one keeps its parent, limits and signals.
    """
    wanted = dict.fromkeys(TUNED, "") | (TUNED if kind == "tuned" else {})
    if CHILD in os.environ or all(os.environ.get(name, "") == value for name, value in wanted.items()):
        return
    kept = {name: value for name, value in os.environ.items() if name not in TUNED}
    changed = kept | {name: value for name, value in wanted.items() if value} | {CHILD: "1"}
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], changed)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor_name() -> str:
    """Return the processor's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def buffer_set_count(set_bytes: int, cache_size: int, free_bytes: int) -> int:
    """Return how many sets of buffers take turns: more than the cache holds, within a quarter of the free memory.

    >>> buffer_set_count(2**20, 2**22, 2**30), buffer_set_count(1, 2**22, 2**30), buffer_set_count(2**29, 2**22, 2**30)
    (8, 16, 1)
    """
    return max(1, min(MAX_SETS, -(-2 * cache_size // set_bytes), free_bytes // (4 * set_bytes)))


def cache_bytes() -> int:
    """Return the size of the last-level cache, or 32 MiB where the system does not say."""
    sizes = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = file.read_text(encoding="ascii").strip()
        unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
        sizes.append(int(text.rstrip("KM")) * unit)
    return max(sizes, default=2**25)


def clock_resolution() -> float:
    """Return the smallest step by which the clock was seen to move, in seconds."""
    steps = []
    for _ in range(20):
        start = time.perf_counter_ns()
        while (now := time.perf_counter_ns()) == start:
            pass
        steps.append(now - start)
    return min(steps) * 1e-9
