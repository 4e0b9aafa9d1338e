"""What it costs to move the bytes of q and k in other ways than torch's copy: memcpy, streamed, read, filled."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import torch
from torch import Tensor

from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import RotationInputs
from rope_core.kernels.jit import ONE_AT_A_TIME, cached_njit, name_with_source_hash
from rope_core.kernels.lanes import LINE, drain, stream_line

NAMES = ("memcpy", "streamed", "read", "fill")
"""libc's memcpy, a copy whose stores bypass the cache, the sum of q and k, and one number written over them."""
LEAST = 1 << 20
"""Bytes of q and k from which they are measured: below, starting threads is what would be."""


@cached_njit(parallel=True, nogil=True)
@name_with_source_hash
def _stream(source: int, target: int, lines: int, parts: int) -> None:
    each = -(-lines // parts)
    for part in numba.prange(parts):
        for line in range(part * each, min(lines, (part + 1) * each)):
            stream_line(source + line * LINE, target + line * LINE)
        drain()


def copy_steps(case: BenchmarkCase, buffer_sets: Sequence[RotationInputs]) -> dict[str, Callable[[int], Any]]:
    """Return a step for each of NAMES, on set i of the buffers, with torch's number of threads.

    Empty on a GPU, where libc has no part, for less than LEAST bytes, and where more than one pass is timed.
    """
    if case.device != "cpu" or case.tensor_bytes < LEAST or case.direction != "forward":
        return {}
    pairs = [[(_bytes(x), _bytes(out)) for x, out in zip((s.q, s.k), s.out, strict=True)] for s in buffer_sets]
    threads = torch.get_num_threads()
    pool, libc = _pool(threads), ctypes.CDLL(None)
    libc.memcpy.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

    def part(k: int, source: int, target: int, size: int) -> None:
        first, last = (at * (size // LINE) // threads * LINE for at in (k, k + 1))
        libc.memcpy(target + first, source + first, last - first)

    def memcpy(i: int) -> None:
        for x, out in pairs[i]:
            given = [(k, x.data_ptr(), out.data_ptr(), x.nbytes) for k in range(threads)]
            list(pool.map(lambda each: part(*each), given))

    def streamed(i: int) -> None:
        for x, out in pairs[i]:
            with ONE_AT_A_TIME:
                _stream(x.data_ptr(), out.data_ptr(), x.nbytes // LINE, threads)

    def read(i: int) -> None:
        for x, _ in pairs[i]:
            x.sum()

    def fill(i: int) -> None:
        for _, out in pairs[i]:
            out.fill_(1.0)

    return dict(zip(NAMES, (memcpy, streamed, read, fill), strict=True))


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def _bytes(x: Tensor) -> Tensor:
    """Return a tensor's memory in its own order, float32 (numbers,)."""
    return torch.as_strided(x.detach(), (x.numel(),), (1,)).view(torch.float32)
