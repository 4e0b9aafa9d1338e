"""The CPU backend: numba loops over rows of one head vector each, parallel over chunks of rows.

Everything is addressed in bytes from a base pointer, so that any strides cost nothing; lanes.py holds the arithmetic.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from rope_core.errors import whole
from rope_core.kernels import lanes, tables
from rope_core.kernels.lanes import LINE, TAGS, WIDTH, drain, move_one, read_index, size_of, table_size_of, turn_one
from rope_core.kernels.tables import _ONE_AT_A_TIME as ONE_AT_A_TIME
from rope_core.kernels.tables import compiled
from rope_core.kernels.task import Turn, token_positions, token_tables

halves, halves_stream = lanes.turn_halves, lanes.turn_halves_stream
halves_wide, halves_wide_stream = lanes.turn_halves_wide, lanes.turn_halves_wide_stream
neighbours, neighbours_stream = lanes.turn_neighbours, lanes.turn_neighbours_stream
neighbours_back, neighbours_back_stream = lanes.turn_neighbours_back, lanes.turn_neighbours_back_stream

# Fewer bytes than this are turned on the calling thread: waking the others takes longer.
SERIAL_BYTES = 2**17
# From this many bytes on, results bypass the cache: they would not stay in it, and not reading them first saves a third
# of the traffic.
STREAM_BYTES = 2**24
CHUNKS_PER_THREAD = 4

# A task is one row of integers: what q and k share, then each one's own.
COMMON = 14
EACH = 10
# Where the first token's position is in it.
START = 7
TASK = struct.Struct(f"{COMMON + 2 * EACH}q")
# Where q, its result, k and its result lie.
PLACES = struct.Struct("4q")


@compiled()
def _halves_run(tag, x, x_step, out, out_step, cos, sin, table_step, count, pairs, back, stream):  # type: ignore[no-untyped-def]
    """Turn the whole blocks of ``count`` contiguous head vectors in the half layout; return the pairs done.

    Turning (x, y) back is turning (y, x) forward, so ``back`` only exchanges the two runs.
    """
    size, entry = size_of(tag), table_size_of(tag)
    first = pairs * size if back else 0
    second = pairs * size - first
    blocks = pairs - pairs % WIDTH
    if size == 2 and pairs % (2 * WIDTH) == 0:
        if stream:
            for row in range(count):
                at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
                for i in range(0, blocks, 2 * WIDTH):
                    a, b, e = first + i * size, second + i * size, i * entry
                    halves_wide_stream(tag, at + a, at + b, c + e, s + e, to + a, to + b)
            return blocks
        for row in range(count):
            at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
            for i in range(0, blocks, 2 * WIDTH):
                a, b, e = first + i * size, second + i * size, i * entry
                halves_wide(tag, at + a, at + b, c + e, s + e, to + a, to + b)
        return blocks
    if stream:
        for row in range(count):
            at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
            for i in range(0, blocks, WIDTH):
                a, b, e = first + i * size, second + i * size, i * entry
                halves_stream(tag, at + a, at + b, c + e, s + e, to + a, to + b)
        return blocks
    for row in range(count):
        at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
        for i in range(0, blocks, WIDTH):
            a, b, e = first + i * size, second + i * size, i * entry
            halves(tag, at + a, at + b, c + e, s + e, to + a, to + b)
    return blocks


@compiled()
def _neighbours_run(tag, x, x_step, out, out_step, cos, sin, table_step, count, pairs, back, stream):  # type: ignore[no-untyped-def]
    """Turn the whole blocks of ``count`` contiguous head vectors in the interleaved layout; return the pairs done."""
    size, entry = size_of(tag), table_size_of(tag)
    blocks = pairs - pairs % WIDTH
    for row in range(count):
        at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
        if back and stream:
            for i in range(0, blocks, WIDTH):
                neighbours_back_stream(tag, at + 2 * i * size, c + i * entry, s + i * entry, to + 2 * i * size)
        elif back:
            for i in range(0, blocks, WIDTH):
                neighbours_back(tag, at + 2 * i * size, c + i * entry, s + i * entry, to + 2 * i * size)
        elif stream:
            for i in range(0, blocks, WIDTH):
                neighbours_stream(tag, at + 2 * i * size, c + i * entry, s + i * entry, to + 2 * i * size)
        else:
            for i in range(0, blocks, WIDTH):
                neighbours(tag, at + 2 * i * size, c + i * entry, s + i * entry, to + 2 * i * size)
    return blocks


@compiled()
def _rest(tag, x, lane, out, out_lane, cos, sin, done, pairs, dim, half, back):  # type: ignore[no-untyped-def]
    """Turn the pairs from ``done`` on of one head vector one by one, and copy the dimensions that do not turn."""
    entry = table_size_of(tag)
    step = 1 if half else 2
    gap = pairs if half else 1
    first = gap if back else 0
    second = gap - first
    for i in range(done, pairs):
        a, b = step * i + first, step * i + second
        turn_one(
            tag, x + a * lane, x + b * lane, cos + i * entry, sin + i * entry, out + a * out_lane, out + b * out_lane
        )
    if out != x:
        for i in range(2 * pairs, dim):
            move_one(tag, x + i * lane, out + i * out_lane)


@compiled()
def _run(tag, x, x_step, lane, out, out_step, out_lane, cos, sin, table_step, count, pairs, dim, half, back, stream):  # type: ignore[no-untyped-def]
    """Turn ``count`` head vectors, ``x_step`` bytes apart; lanes are byte distances between neighbouring dimensions."""
    done = 0
    if lane == size_of(tag) and out_lane == lane:
        if half:
            done = _halves_run(tag, x, x_step, out, out_step, cos, sin, table_step, count, pairs, back, stream)
        else:
            done = _neighbours_run(tag, x, x_step, out, out_step, cos, sin, table_step, count, pairs, back, stream)
    if done < pairs or 2 * pairs < dim:
        for row in range(count):
            c, s = cos + row * table_step, sin + row * table_step
            _rest(tag, x + row * x_step, lane, out + row * out_step, out_lane, c, s, done, pairs, dim, half, back)


@compiled()
def _rows(tag, task, base, x, out, low, high):  # type: ignore[no-untyped-def]
    """Turn rows low..high of the tensor whose fields begin at task[base], the nearer axis of memory innermost."""
    size, entry = size_of(tag), table_size_of(tag)
    xb, xs, xh, xd = task[base], task[base + 1], task[base + 2], task[base + 3]
    ob, os, oh, od = task[base + 4], task[base + 5], task[base + 6], task[base + 7]
    heads, stream = task[base + 8], task[base + 9] != 0
    cos, sin, tb, ts, where, pb, ps, start = task[0], task[1], task[2], task[3], task[4], task[5], task[6], task[7]
    pairs, half, back, seq, dim = task[8], task[9] != 0, task[10] != 0, task[12], task[13]
    tokens_inside = heads == 1 or (seq > 1 and xs < xh)
    xb, xs, xh, xd = xb * size, xs * size, xh * size, xd * size
    ob, os, oh, od = ob * size, os * size, oh * size, od * size
    tb, ts = tb * entry, ts * entry
    inside, around = (seq, heads) if tokens_inside else (heads, seq)
    x_step, out_step, table_step = (xs, os, ts) if tokens_inside else (xh, oh, 0)
    row = low
    while row < high:
        outer = row // inside
        first = row - outer * inside
        count = 1 if where != 0 and tokens_inside else min(inside - first, high - row)
        b = outer // around
        other = outer - b * around
        s, h = (first, other) if tokens_inside else (other, first)
        place = read_index(where + 8 * (b * pb + s * ps)) * ts if where != 0 else b * tb + (start + s) * ts
        at, to = x + b * xb + s * xs + h * xh, out + b * ob + s * os + h * oh
        c, d = cos + place, sin + place
        _run(tag, at, x_step, xd, to, out_step, od, c, d, table_step, count, pairs, dim, half, back, stream)
        row += count
    if stream:
        drain()


@compiled(parallel=True)
def _parallel(tag, task, places, chunks):  # type: ignore[no-untyped-def]
    tokens = task[11] * task[12]
    for chunk in prange(chunks):
        for i, base in ((0, COMMON), (2, COMMON + EACH)):
            rows = tokens * task[base + 8]
            _rows(tag, task, base, places[i], places[i + 1], rows * chunk // chunks, rows * (chunk + 1) // chunks)


Call = Callable[[Any, bytes], None]


@functools.cache
def _serial(dtype: torch.dtype) -> Call:
    """Return the loops on the calling thread as a C function of a packed task and its packed PLACES.

    Calling it takes under a microsecond.
    """
    tag = TAGS[_NAMES[dtype]]

    def serial(packed, where):  # type: ignore[no-untyped-def]
        task = numba.carray(packed, (COMMON + 2 * EACH,), np.int64)
        places = numba.carray(where, (4,), np.int64)
        tokens = task[11] * task[12]
        for i, base in ((0, COMMON), (2, COMMON + EACH)):
            _rows(tag, task, base, places[i], places[i + 1], 0, tokens * task[base + 8])

    signature = numba.types.void(numba.types.voidptr, numba.types.voidptr)
    try:
        function = numba.cfunc(signature, cache=True)(serial)
    except RuntimeError:
        function = numba.cfunc(signature)(serial)
    # The address is good for as long as the compiled function lives.
    _KEPT.append(function)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(function.address)


_KEPT: list[Any] = []


def run_numba(tensors: tuple[Tensor, ...], turn: Turn, out: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    """Turn one or two tensors (B, S, heads, D) of any strides into ``out``, which may be the tensors themselves."""
    done = tuple([torch.empty_like(t) for t in tensors]) if out is None else out
    call, task, _ = _plan(tensors, turn, done)
    call(task, PLACES.pack(tensors[0].data_ptr(), done[0].data_ptr(), tensors[-1].data_ptr(), done[-1].data_ptr()))
    return done


def bind(
    tensors: tuple[Tensor, ...], turn: Turn, out: tuple[Tensor, ...], last: int, done: tuple[Tensor, Tensor]
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Return a call of run_numba on fixed memory by the first token's position, 0..last, that returns ``done``.

    Addresses, shapes and strides are read once: the tensors' values may change between calls, their memory may not.
    """
    call, packed, keep = _plan(tensors, turn, out)
    owners = (tensors, out, turn, keep)
    places = PLACES.pack(tensors[0].data_ptr(), out[0].data_ptr(), tensors[-1].data_ptr(), out[-1].data_ptr())
    task = (ctypes.c_int64 * (COMMON + 2 * EACH)).from_buffer_copy(packed)

    def again(position: int = 0, *, _owners: Any = owners) -> tuple[Tensor, Tensor]:
        if type(position) is not int or not 0 <= position <= last:
            position = whole("position", position, 0, last)
        task[START] = position
        call(task, places)
        return done

    return again


def _plan(tensors: tuple[Tensor, ...], turn: Turn, done: tuple[Tensor, ...]) -> tuple[Call, bytes, Any]:
    """Return the call, its task, and what owns the memory that the task points into."""
    q, k, q_out, k_out = tensors[0], tensors[-1], done[0], done[-1]
    batch, seq, heads, dim = q.shape
    k_heads = k.shape[2] if len(tensors) > 1 else 0
    table, keep = _table(turn, q)
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
    with ONE_AT_A_TIME:
        chunks = CHUNKS_PER_THREAD * numba.get_num_threads()
        _parallel(TAGS[_NAMES[dtype]], np.frombuffer(task, np.int64), np.frombuffer(places, np.int64), chunks)


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


def _table(turn: Turn, x: Tensor) -> tuple[tuple[int, ...], Any]:
    """Return what both tensors share, in the order in which _rows reads it, and the owners of its memory.

    cos, sin, entries per batch row and per row, positions (address, entries per batch row and per token; 0 for none),
    first row, pairs, layout, direction.
    """
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    where, start = None, turn.start
    if turn.positions is not None or turn.cu_seqlens is not None or turn.offsets is not None:
        where = token_positions(turn, x.shape[0], x.shape[1], x.device)
    if turn.steps is None:
        cos, sin = turn.cos, turn.sin
        assert cos is not None and sin is not None
        if cos.dtype != kind or cos.stride(-1) != 1 or cos.stride() != sin.stride():
            cos, sin = cos.to(kind).contiguous(), sin.to(kind).contiguous()
    else:
        cos, sin = _tables_from_steps(turn, where, x.shape[0], x.shape[1], kind)
        where, start = None, 0
    rows = cos.stride()
    per_batch = rows[0] if len(rows) == 3 and cos.shape[0] > 1 else 0
    at, per_row, per_token = 0, 0, 0
    if where is not None:
        at, per_token = where.data_ptr(), where.stride(1)
        per_row = where.stride(0) if where.shape[0] > 1 else 0
    pairs, half, back = cos.shape[-1], turn.half, turn.back
    common = (cos.data_ptr(), sin.data_ptr(), per_batch, rows[-2], at, per_row, per_token, start, pairs, half, back)
    return common, (cos, sin, where)


def _tables_from_steps(
    turn: Turn, where: Tensor | None, batch: int, seq: int, kind: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return cos and sin of every token from the phase, (1 or B, S, pairs)."""
    assert turn.steps is not None
    if kind == torch.float64:
        return token_tables(turn, batch, seq, turn.steps.device, kind)
    count = 1 if where is None else where.shape[0]
    shape = (count, seq, turn.pairs)
    cos, sin = torch.empty(shape), torch.empty(shape)
    flat = count * seq, turn.pairs
    steps = np.ascontiguousarray(turn.steps.numpy()).view(np.uint64)
    into = cos.numpy().reshape(flat), sin.numpy().reshape(flat)
    with ONE_AT_A_TIME:
        if where is None:
            tables._fill_consecutive(turn.start, steps, *into)
        else:
            tables._fill_any(np.ascontiguousarray(where.numpy()).reshape(-1), steps, *into)
    if turn.scale != 1.0:
        cos, sin = cos.mul_(turn.scale), sin.mul_(turn.scale)
    return cos, sin
