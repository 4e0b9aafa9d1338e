"""RMSNorm of q and k, their rotation and the write of k and v into a cache, token by token in numba."""

# The compiler infers these functions' types.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from numba import prange
from torch import Tensor

from rope_core.kernels.cpu import SERIAL_BYTES, STREAM_BYTES
from rope_core.kernels.cpu_loops import BROAD, GROUP
from rope_core.kernels.cpu_norm import NAMES, _members
from rope_core.kernels.lanes import (
    LINE,
    TAGS,
    WIDTH,
    drain,
    move_one,
    read_index,
    read_one,
    size_of,
    table_size_of,
    write_one,
)
from rope_core.kernels.norm_lanes import move_line, sum_squares, turn_normed
from rope_core.kernels.tables import ONE_AT_A_TIME, compiled

CHUNKS_PER_THREAD = 4


@compiled(error_model="numpy")
def _scale(tag, at, lane, dim, eps, share):
    """Return 1 / sqrt(mean square + eps) of one head vector; ``share`` is 1 / dim."""
    size, total, done = size_of(tag), eps * 0, 0
    if lane == size:
        if dim == 128:
            return 1 / np.sqrt(sum_squares(tag, 128, at) * share + eps)
        done = dim - dim % WIDTH
        broad = dim - dim % 64
        for i in range(0, broad, 64):
            total += sum_squares(tag, 64, at + i * size)
        for i in range(broad, done, WIDTH):
            total += sum_squares(tag, WIDTH, at + i * size)
    for i in range(done, dim):
        value = read_one(tag, at + i * lane)
        total += value * value
    return 1 / np.sqrt(total * share + eps)


@compiled()
def _runs(tag, x, x_head, out, out_head, gain, cos, sin, scales, grouped, pairs, half, stream):
    """Scale and turn the whole blocks of one row of heads whose dimensions lie side by side; return the pairs done."""
    size, entry = size_of(tag), table_size_of(tag)
    y, gy, to_y = x + pairs * size, gain + pairs * entry, out + pairs * size
    if not half:
        for i in range(0, pairs - pairs % WIDTH, WIDTH):
            a, e = 2 * i * size, i * entry
            c, s, g = cos + e, sin + e, gain + 2 * e
            if grouped and stream:
                turn_normed(tag, False, WIDTH, GROUP, True, x + a, 0, g, 0, c, s, out + a, 0, scales, x_head, out_head)
            elif grouped:
                turn_normed(tag, False, WIDTH, GROUP, False, x + a, 0, g, 0, c, s, out + a, 0, scales, x_head, out_head)
            else:
                turn_normed(tag, False, WIDTH, 1, False, x + a, 0, g, 0, c, s, out + a, 0, scales, 0, 0)
        return pairs - pairs % WIDTH
    if size == 2 and pairs % BROAD == 0:
        for i in range(0, pairs, BROAD):
            a, e = i * size, i * entry
            b, c, s, g, f, to = y + a, cos + e, sin + e, gain + e, gy + e, to_y + a
            if grouped and stream:
                turn_normed(tag, True, BROAD, GROUP, True, x + a, b, g, f, c, s, out + a, to, scales, x_head, out_head)
            elif grouped:
                turn_normed(tag, True, BROAD, GROUP, False, x + a, b, g, f, c, s, out + a, to, scales, x_head, out_head)
            else:
                turn_normed(tag, True, BROAD, 1, False, x + a, b, g, f, c, s, out + a, to, scales, 0, 0)
        return pairs
    for i in range(0, pairs - pairs % WIDTH, WIDTH):
        a, e = i * size, i * entry
        b, c, s, g, f, to = y + a, cos + e, sin + e, gain + e, gy + e, to_y + a
        if grouped and stream:
            turn_normed(tag, True, WIDTH, GROUP, True, x + a, b, g, f, c, s, out + a, to, scales, x_head, out_head)
        elif grouped:
            turn_normed(tag, True, WIDTH, GROUP, False, x + a, b, g, f, c, s, out + a, to, scales, x_head, out_head)
        else:
            turn_normed(tag, True, WIDTH, 1, False, x + a, b, g, f, c, s, out + a, to, scales, 0, 0)
    return pairs - pairs % WIDTH


@compiled()
def _one_head(tag, x, lane, out, out_lane, gain, cos, sin, scale, done, tail, pairs, dim, half):
    """Scale and turn the pairs from ``done`` on one by one, and scale the dimensions from ``tail`` on.

    ``scale`` has the type in which tables and gains are stored, and names it where they are read.
    """
    entry = table_size_of(tag)
    for i in range(done, pairs):
        p, q = _members(i, pairs, half)
        a = read_one(scale, gain + p * entry) * scale * read_one(tag, x + p * lane)
        b = read_one(scale, gain + q * entry) * scale * read_one(tag, x + q * lane)
        c, s = read_one(scale, cos + i * entry), read_one(scale, sin + i * entry)
        write_one(tag, out + p * out_lane, a * c - b * s)
        write_one(tag, out + q * out_lane, a * s + b * c)
    for i in range(tail, dim):
        value = read_one(scale, gain + i * entry) * scale * read_one(tag, x + i * lane)
        write_one(tag, out + i * out_lane, value)


@compiled()
def _token(
    tag, x, strides, heads, out, out_strides, gain, plain, cos, sin, scales, room, pairs, dim, half, eps, share, stream
):  # fmt: skip
    """Normalise, weight and turn all heads of one token; strides are (head, dimension) in bytes."""
    size, entry = size_of(tag), table_size_of(tag)
    x_head, lane = strides
    out_head, out_lane = out_strides
    grouped = heads % GROUP == 0
    together = GROUP if grouped else 1
    for first in range(0, heads, together):
        at, to = x + first * x_head, out + first * out_head
        for h in range(together):
            scales[h] = _scale(tag, at + h * x_head, lane, dim, eps, share)
        done, tail = 0, 2 * pairs
        if lane == size and out_lane == size:
            done = _runs(tag, at, x_head, to, out_head, gain, cos, sin, room, grouped, pairs, half, stream)
            if (dim - tail) % (2 * WIDTH) == 0:
                # What does not turn is turned by nothing.
                rest = (dim - tail) // 2
                ones, zeros = plain, plain + dim * entry
                from_here, to_here, its = at + tail * size, to + tail * size, gain + tail * entry
                _runs(tag, from_here, x_head, to_here, out_head, its, ones, zeros, room, grouped, rest, True, stream)
                tail = dim
        if done < pairs or tail < dim:
            for h in range(together):
                here, there = at + h * x_head, to + h * out_head
                _one_head(tag, here, lane, there, out_lane, gain, cos, sin, scales[h], done, tail, pairs, dim, half)


@compiled()
def _copy(tag, x, strides, heads, out, out_strides, dim, stream):
    """Copy the heads of one token."""
    size = size_of(tag)
    x_head, lane = strides
    out_head, out_lane = out_strides
    whole = lane == size and out_lane == size
    for h in range(heads):
        at, to, done = x + h * x_head, out + h * out_head, 0
        if whole:
            for byte in range(0, dim * size - dim * size % LINE, LINE):
                if stream:
                    move_line(True, at + byte, to + byte)
                else:
                    move_line(False, at + byte, to + byte)
            done = dim - dim % (LINE // size)
        for i in range(done, dim):
            move_one(tag, at + i * lane, to + i * out_lane)


@compiled()
def _span(
    tag, q, out, k, v, k_cache, v_cache, gains, plain, tables, indices, shape, half, eps, share, stream, low, high
):  # fmt: skip
    """Do tokens low..high; each tensor is (address, bytes from token to token, from head to head, in a head)."""
    q_heads, k_heads, dim, v_dim, pairs = shape
    cos, sin, row = tables
    where, where_step, slots, slot_step, start = indices
    scales = np.full(GROUP, eps)
    room = scales.ctypes.data
    for t in range(low, high):
        place = read_index(where + t * where_step) if where != 0 else start + t
        c, s = cos + place * row, sin + place * row
        _token(
            tag, q[0] + t * q[1], q[2:], q_heads, out[0] + t * out[1], out[2:], gains[0], plain, c, s, scales, room,
            pairs, dim, half, eps, share, stream,
        )  # fmt: skip
        slot = read_index(slots + t * slot_step)
        if slot < 0:
            continue
        _token(
            tag, k[0] + t * k[1], k[2:], k_heads, k_cache[0] + slot * k_cache[1], k_cache[2:], gains[1], plain, c, s,
            scales, room, pairs, dim, half, eps, share, stream,
        )  # fmt: skip
        _copy(tag, v[0] + t * v[1], v[2:], k_heads, v_cache[0] + slot * v_cache[1], v_cache[2:], v_dim, stream)
    if stream:
        drain()


@compiled(parallel=True)
def _all(
    tag, q, out, k, v, k_cache, v_cache, gains, plain, tables, indices, shape, half, eps, share, stream, count, chunks
):  # fmt: skip
    for chunk in prange(chunks):
        low, high = count * chunk // chunks, count * (chunk + 1) // chunks
        _span(
            tag, q, out, k, v, k_cache, v_cache, gains, plain, tables, indices, shape, half, eps, share, stream, low,
            high,
        )  # fmt: skip


def forward(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, caches: tuple[Tensor, Tensor], gains: tuple[Tensor, Tensor],
    tables: tuple[Tensor, Tensor], where: Tensor | None, start: int, slots: Tensor, half: bool, eps: float,
) -> None:  # fmt: skip
    """Write q (T, Hq, D) turned into ``out``, k turned and v (T, Hk, Dv) into the rows of ``caches`` that slots name.

    gains (D,) and tables (rows, pairs) are contiguous and in the compute type; where (T,) and slots (T,) are int64.
    """
    tag, compute = TAGS[NAMES[q.dtype]], gains[0].dtype
    count, q_heads, dim = q.shape
    pairs = tables[0].shape[1]
    plain = torch.cat([torch.ones(dim, dtype=compute), torch.zeros(dim, dtype=compute)])
    total = q.nbytes + k.nbytes + v.nbytes
    stream = total >= STREAM_BYTES and all(_whole_lines(t) for t in (out, *caches)) and pairs % BROAD == 0
    indices = (
        0 if where is None else where.data_ptr(), 0 if where is None else 8 * where.stride(0),
        slots.data_ptr(), 8 * slots.stride(0), start,
    )  # fmt: skip
    arguments = (
        tag, *(_place(t) for t in (q, out, k, v, *caches)), (gains[0].data_ptr(), gains[1].data_ptr()),
        plain.data_ptr(), (tables[0].data_ptr(), tables[1].data_ptr(), tables[0].nbytes // len(tables[0])), indices,
        (q_heads, k.shape[1], dim, v.shape[2], pairs), half, KIND[compute](eps), KIND[compute](1 / dim), stream,
    )  # fmt: skip
    if total <= SERIAL_BYTES:
        _span(*arguments, 0, count)
        return
    with ONE_AT_A_TIME:
        _all(*arguments, count, min(count, CHUNKS_PER_THREAD * numba.get_num_threads()))


KIND: dict[torch.dtype, Any] = {torch.float32: np.float32, torch.float64: np.float64}


def _place(x: Tensor) -> tuple[int, ...]:
    """Return the address and the strides in bytes."""
    return x.data_ptr(), *(step * x.element_size() for step in x.stride())


def _whole_lines(x: Tensor) -> bool:
    """Return whether every head of a tensor (n, heads, D) is made of whole lines, each half of it too."""
    unit = LINE // x.element_size()
    starts = all(step % unit == 0 for step in x.stride()[:2])
    return x.data_ptr() % LINE == 0 and x.stride(2) == 1 and starts and x.shape[2] % (2 * unit) == 0
