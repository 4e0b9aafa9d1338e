"""The CPU backend: numba loops over rows of one head vector each, parallel over chunks of rows.

Everything is addressed in bytes from a base pointer, so that any strides cost nothing; lanes.py holds the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from rope_core.kernels import lanes, tables
from rope_core.kernels.lanes import TAGS, WIDTH, drain, move_one, size_of, table_size_of, turn_one
from rope_core.kernels.tables import _ONE_AT_A_TIME as ONE_AT_A_TIME
from rope_core.kernels.tables import compiled
from rope_core.kernels.task import Turn, compute_dtype, token_positions, token_tables

halves, halves_stream = lanes.turn_halves, lanes.turn_halves_stream
halves_wide, halves_wide_stream = lanes.turn_halves_wide, lanes.turn_halves_wide_stream
neighbours, neighbours_stream = lanes.turn_neighbours, lanes.turn_neighbours_stream
neighbours_back, neighbours_back_stream = lanes.turn_neighbours_back, lanes.turn_neighbours_back_stream

# numba's cache keeps what it compiled while this file is unchanged; this line changes with lanes.py (a test holds it).
LANES_DIGEST = "b3788a6dab72"

# Fewer bytes than this are turned on the calling thread: waking the others takes longer.
SERIAL_BYTES = 2**17
# From this many bytes on, results bypass the cache: they would not stay in it, and not reading them first saves a third
# of the traffic.
STREAM_BYTES = 2**24
LINE = 64
CHUNKS_PER_THREAD = 4

NO_POSITIONS = np.zeros((0, 0), np.int64)


@compiled()
def _halves_run(tag, x, x_step, out, out_step, cos, sin, table_step, count, pairs, back, stream):  # type: ignore[no-untyped-def]
    """Turn the whole blocks of ``count`` contiguous head vectors in the half layout; return the pairs done.

    Turning (x, y) back is turning (y, x) forward, so ``back`` only exchanges the two runs.
    """
    size, entry = size_of(tag), table_size_of(tag)
    one = pairs * size if back else 0
    two = pairs * size - one
    blocks = pairs - pairs % WIDTH
    if size == 2 and pairs % (2 * WIDTH) == 0:
        if stream:
            for row in range(count):
                at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
                for i in range(0, blocks, 2 * WIDTH):
                    a, b, e = one + i * size, two + i * size, i * entry
                    halves_wide_stream(tag, at + a, at + b, c + e, s + e, to + a, to + b)
            return blocks
        for row in range(count):
            at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
            for i in range(0, blocks, 2 * WIDTH):
                a, b, e = one + i * size, two + i * size, i * entry
                halves_wide(tag, at + a, at + b, c + e, s + e, to + a, to + b)
        return blocks
    if stream:
        for row in range(count):
            at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
            for i in range(0, blocks, WIDTH):
                a, b, e = one + i * size, two + i * size, i * entry
                halves_stream(tag, at + a, at + b, c + e, s + e, to + a, to + b)
        return blocks
    for row in range(count):
        at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
        for i in range(0, blocks, WIDTH):
            a, b, e = one + i * size, two + i * size, i * entry
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
    one = gap if back else 0
    two = gap - one
    for i in range(done, pairs):
        a, b = step * i + one, step * i + two
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
def _rows(tag, tensor, table, positions, half, back, low, high):  # type: ignore[no-untyped-def]
    """Turn rows low..high of one tensor, the nearer axis of memory innermost."""
    x, xb, xs, xh, xd, out, ob, os, oh, od, seq, heads, pairs, dim, stream, tokens_inside = tensor
    cos, sin, tb, ts = table
    gather = positions.size > 0
    inside, around = (seq, heads) if tokens_inside else (heads, seq)
    x_step, out_step, table_step = (xs, os, ts) if tokens_inside else (xh, oh, 0)
    row = low
    while row < high:
        outer = row // inside
        first = row - outer * inside
        count = 1 if gather and tokens_inside else min(inside - first, high - row)
        b = outer // around
        other = outer - b * around
        s, h = (first, other) if tokens_inside else (other, first)
        place = positions[b, s] * ts if gather else b * tb + s * ts
        at, to = x + b * xb + s * xs + h * xh, out + b * ob + s * os + h * oh
        c, d = cos + place, sin + place
        _run(tag, at, x_step, xd, to, out_step, od, c, d, table_step, count, pairs, dim, half, back, stream)
        row += count
    if stream:
        drain()


@compiled()
def _serial(tag, q, k, table, positions, half, back, q_rows, k_rows):  # type: ignore[no-untyped-def]
    _rows(tag, q, table, positions, half, back, 0, q_rows)
    _rows(tag, k, table, positions, half, back, 0, k_rows)


@compiled(parallel=True)
def _parallel(tag, q, k, table, positions, half, back, q_rows, k_rows, chunks):  # type: ignore[no-untyped-def]
    for chunk in prange(chunks):
        _rows(tag, q, table, positions, half, back, q_rows * chunk // chunks, q_rows * (chunk + 1) // chunks)
        _rows(tag, k, table, positions, half, back, k_rows * chunk // chunks, k_rows * (chunk + 1) // chunks)


def run_numba(tensors: tuple[Tensor, ...], turn: Turn, out: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    """Turn one or two tensors (B, S, heads, D) of any strides into ``out``, which may be the tensors themselves."""
    x = tensors[0]
    done = tuple(torch.empty_like(t) for t in tensors) if out is None else out
    if not x.shape[0] * x.shape[1]:
        return done
    table, positions, keep = _table(turn, x)
    # The tables own the memory that ``table`` points into until the loops have returned.
    total = sum(t.numel() for t in tensors) * x.element_size()
    rows = [t.shape[0] * t.shape[1] * t.shape[2] for t in tensors]
    metas = [_meta(t, o, turn.pairs, total) for t, o in zip(tensors, done, strict=True)]
    if len(metas) == 1:
        metas, rows = metas * 2, [rows[0], 0]
    tag = TAGS[_NAMES[x.dtype]]
    if total <= SERIAL_BYTES:
        _serial(tag, metas[0], metas[1], table, positions, turn.half, turn.back, rows[0], rows[1])
    else:
        chunks = CHUNKS_PER_THREAD * numba.get_num_threads()
        with ONE_AT_A_TIME:
            _parallel(tag, metas[0], metas[1], table, positions, turn.half, turn.back, rows[0], rows[1], chunks)
    del keep
    return done


_NAMES = {getattr(torch, name): name for name in TAGS}


def _meta(x: Tensor, out: Tensor, pairs: int, total: int) -> tuple[Any, ...]:
    """Return what _rows needs of one tensor: addresses, byte strides, sizes, whether to stream, the nearer axis."""
    size = x.element_size()
    b, s, h, d = x.stride()
    ob, os, oh, od = out.stride()
    at, to = x.data_ptr(), out.data_ptr()
    _, seq, heads, dim = x.shape
    stream = at != to and total >= STREAM_BYTES and _on_lines(to, size, out.stride(), pairs)
    inside = s * size, h * size, d * size, to, ob * size, os * size, oh * size, od * size
    return (at, b * size, *inside, seq, heads, pairs, dim, stream, heads == 1 or (seq > 1 and s < h))


def _on_lines(address: int, size: int, strides: tuple[int, ...], pairs: int) -> bool:
    """Say whether every vector that a streaming store writes begins at its own size, which the processor insists on."""
    steps = [stride * size for stride in strides[:3]]
    return strides[3] == 1 and not (
        address % (2 * LINE) or pairs % (2 * WIDTH) or any(step % (2 * LINE) for step in steps)
    )


def _table(turn: Turn, x: Tensor) -> tuple[tuple[int, int, int, int], Any, Any]:
    """Return (cos address, sin address, bytes per batch row, bytes per row), positions or none, and their owners."""
    batch, seq = x.shape[0], x.shape[1]
    kind = compute_dtype(x.dtype)
    start = turn.start
    positions = NO_POSITIONS
    if turn.cu_seqlens is not None or turn.offsets is not None or turn.positions is not None:
        where = token_positions(turn, batch, seq, x.device).expand(batch, seq)
        positions = where.numpy()
    if turn.steps is not None:
        cos, sin = _tables_from_steps(turn, positions, batch, seq, kind)
        positions, start = NO_POSITIONS, 0
    else:
        assert turn.cos is not None and turn.sin is not None
        cos, sin = turn.cos, turn.sin
        if cos.dtype != kind or cos.stride(-1) != 1 or cos.stride() != sin.stride():
            cos, sin = cos.to(kind).contiguous(), sin.to(kind).contiguous()
    size = cos.element_size()
    row = cos.stride(-2) * size
    per_batch = cos.stride(0) * size if cos.dim() == 3 and cos.shape[0] > 1 else 0
    shift = start * row
    return (cos.data_ptr() + shift, sin.data_ptr() + shift, per_batch, row), positions, (cos, sin)


def _tables_from_steps(turn: Turn, positions: Any, batch: int, seq: int, kind: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return cos and sin of every token from the phase, (1 or B, S, pairs)."""
    assert turn.steps is not None
    if kind == torch.float64:
        return token_tables(turn, batch, seq, turn.steps.device, kind)
    count = batch if positions.size else 1
    shape = (count, seq, turn.pairs)
    cos, sin = torch.empty(shape), torch.empty(shape)
    flat = count * seq, turn.pairs
    steps = np.ascontiguousarray(turn.steps.numpy()).view(np.uint64)
    into = cos.numpy().reshape(flat), sin.numpy().reshape(flat)
    with ONE_AT_A_TIME:
        if positions.size:
            tables._fill_any(np.ascontiguousarray(positions).reshape(-1), steps, *into)
        else:
            tables._fill_consecutive(turn.start, steps, *into)
    if turn.scale != 1.0:
        cos, sin = cos.mul_(turn.scale), sin.mul_(turn.scale)
    return cos, sin
