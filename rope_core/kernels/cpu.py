"""The CPU backend: what a call asks of the loops in cpu_loops.py, packed as integers."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from rope_core.errors import checked_int
from rope_core.kernels import jit
from rope_core.kernels.cpu_loops import COMMON, EACH, START, rotate_parallel, rotate_row_range, row_count
from rope_core.kernels.lanes import LINE, TAGS, WIDTH
from rope_core.kernels.task import RotationSpec, token_cos_sin, token_positions

# Fewer bytes than this are turned on the calling thread: waking the others takes longer.
SERIAL_BYTES = 2**17
# From this many bytes on, results bypass the cache: they would not stay in it, and not reading them first saves a third
# of the traffic.
STREAM_BYTES = 2**24
CHUNKS_PER_THREAD = 4

TASK = struct.Struct(f"{COMMON + 2 * EACH}q")
# Where q, its result, k and its result lie.
PLACES = struct.Struct("4q")


CompiledCall = Callable[[Any, bytes], None]


@functools.cache
def _serial(dtype: torch.dtype) -> CompiledCall:
    """Return the loops on the calling thread as a C function of a packed task and its packed PLACES.

    Calling it takes under a microsecond.
    """
    tag = TAGS[_NAMES[dtype]]

    def serial(packed, where):  # type: ignore[no-untyped-def]
        task = numba.carray(packed, (COMMON + 2 * EACH,), np.int64)
        places = numba.carray(where, (4,), np.int64)
        for i, base in ((0, COMMON), (2, COMMON + EACH)):
            rotate_row_range(tag, task, base, places[i], places[i + 1], 0, row_count(task, base))

    signature = numba.types.void(numba.types.voidptr, numba.types.voidptr)
    try:
        function = numba.cfunc(signature, cache=True)(jit.name_with_source_hash(serial))
    except RuntimeError:
        function = numba.cfunc(signature)(serial)
    # The address is good for as long as the compiled function lives.
    _KEPT.append(function)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(function.address)


_KEPT: list[Any] = []


def run_numba(tensors: tuple[Tensor, ...], spec: RotationSpec, out: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    """Turn one or two tensors (B, S, heads, D) of any strides into ``out``, which may be the tensors themselves."""
    done = tuple([torch.empty_like(t) for t in tensors]) if out is None else out
    call, task, _ = _plan(tensors, spec, done)
    call(task, PLACES.pack(tensors[0].data_ptr(), done[0].data_ptr(), tensors[-1].data_ptr(), done[-1].data_ptr()))
    return done


def bind_numba(
    tensors: tuple[Tensor, ...],
    spec: RotationSpec,
    out: tuple[Tensor, ...],
    max_position: int,
    results: tuple[Tensor, Tensor],
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Return a call of run_numba on fixed memory by the first token's position, 0..last, that returns ``results``.

    Addresses, shapes and strides are read once: the tensors' values may change between calls, their memory may not.
    """
    call, packed, keep = _plan(tensors, spec, out)
    owners = (tensors, out, spec, keep)
    places = PLACES.pack(tensors[0].data_ptr(), out[0].data_ptr(), tensors[-1].data_ptr(), out[-1].data_ptr())
    task = (ctypes.c_int64 * (COMMON + 2 * EACH)).from_buffer_copy(packed)

    def again(position: int = 0, *, _owners: Any = owners) -> tuple[Tensor, Tensor]:
        if type(position) is not int or not 0 <= position <= max_position:
            position = checked_int("position", position, 0, max_position)
        task[START] = position
        call(task, places)
        return results

    return again


def _plan(tensors: tuple[Tensor, ...], spec: RotationSpec, done: tuple[Tensor, ...]) -> tuple[CompiledCall, bytes, Any]:
    """Return the call, its task, and what owns the memory that the task points into."""
    q, k, q_out, k_out = tensors[0], tensors[-1], done[0], done[-1]
    batch, seq, heads, dim = q.shape
    k_heads = k.shape[2] if len(tensors) > 1 else 0
    table, keep = _table(spec, q)
    total = batch * seq * (heads + k_heads) * dim * q.element_size()
    streams = (False, False) if total < STREAM_BYTES else (_streams(q, q_out, table[8]), _streams(k, k_out, table[8]))
    task = TASK.pack(
        *table, batch, seq, dim,
        *q.stride(), *q_out.stride(), heads, streams[0],
        *k.stride(), *k_out.stride(), k_heads, streams[1],
    )  # fmt: skip
    if total > SERIAL_BYTES:
        return functools.partial(_on_all_threads, q.dtype), task, keep
    return _serial(q.dtype), task, keep


def _on_all_threads(dtype: torch.dtype, task: Any, places: bytes) -> None:
    with jit.ONE_AT_A_TIME:
        chunks = CHUNKS_PER_THREAD * numba.get_num_threads()
        rotate_parallel(TAGS[_NAMES[dtype]], np.frombuffer(task, np.int64), np.frombuffer(places, np.int64), chunks)


_NAMES = {getattr(torch, name): name for name in TAGS}


def _streams(x: Tensor, out: Tensor, pairs: int) -> bool:
    """Return whether results may bypass the cache: out of place, and every run of members made of whole lines."""
    unit = LINE // out.element_size()
    return (
        x.data_ptr() != out.data_ptr()
        and out.stride(3) == 1
        and out.data_ptr() % LINE == 0
        and pairs % (2 * WIDTH) == 0
        and all(stride % unit == 0 for stride in out.stride()[:3])
    )


def _table(spec: RotationSpec, x: Tensor) -> tuple[tuple[int, ...], Any]:
    """Return what both tensors share, in the order in which ``rotate_row_range`` reads it, and its memory's owners.

    cos, sin, entries per batch row and per row, positions (address, entries per batch row and per token; 0 for none),
    first row, pairs, layout, direction.
    """
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    where, start, cos, sin = None, spec.start, spec.cos, spec.sin
    if cos is None or sin is None:
        start, (cos, sin) = 0, token_cos_sin(spec, x.shape[1], x.device, kind)
    elif spec.positions is not None or spec.cu_seqlens is not None or spec.offsets is not None:
        where = token_positions(spec, x.shape[1], x.device)
    if cos.dtype != kind or cos.stride(-1) != 1 or cos.stride() != sin.stride():
        cos, sin = cos.to(kind).contiguous(), sin.to(kind).contiguous()
    rows = cos.stride()
    per_batch = rows[0] if len(rows) == 3 and cos.shape[0] > 1 else 0
    at, per_row, per_token = 0, 0, 0
    if where is not None:
        at, per_token = where.data_ptr(), where.stride(1)
        per_row = where.stride(0) if where.shape[0] > 1 else 0
    pairs, half, back = cos.shape[-1], spec.half, spec.back
    common = (cos.data_ptr(), sin.data_ptr(), per_batch, rows[-2], at, per_row, per_token, start, pairs, half, back)
    return common, (cos, sin, where)
