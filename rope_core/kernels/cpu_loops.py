"""The CPU backend's loops over rows of one head vector or of GROUP heads of a token, parallel over chunks of rows.

Everything is addressed in bytes from a base pointer, so that any strides cost nothing; lanes.py holds the arithmetic.
"""

# The compiler infers these functions' types.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from numba import prange

from rope_core.kernels.jit import cached_njit
from rope_core.kernels.lanes import (
    WIDTH,
    drain,
    move_one,
    read_index,
    rotate_half_block,
    rotate_interleaved_block,
    size_of,
    table_size_of,
)

# So many heads are turned at once, their tables read once, where the number of heads is a multiple of it.
GROUP = 4
# So many pairs of 16-bit numbers fill a line's worth of words in either half.
BROAD = 2 * WIDTH
# A task is one row of integers: what q and k share, then each one's own.
COMMON = 14
EACH = 10
# Where the first token's position is in it.
START = 7


@cached_njit()
def _halves_run(
    tag, x, x_step, x_head, out, out_step, out_head, cos, sin, table_step, count, grouped, pairs, back, stream
):  # fmt: skip
    """Turn the whole blocks of ``count`` rows in the half layout; return the pairs done.

    Turning (x, y) back is turning (y, x) forward, so ``back`` only exchanges the two runs.
    """
    size, entry = size_of(tag), table_size_of(tag)
    first = pairs * size if back else 0
    second = pairs * size - first
    blocks = pairs - pairs % WIDTH
    broad = size == 2 and pairs % BROAD == 0
    for row in range(count):
        at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
        xa, xb, ta, tb = at + first, at + second, to + first, to + second
        if broad and grouped and stream:
            for i in range(0, blocks, BROAD):
                a, e = i * size, i * entry
                rotate_half_block(
                    tag, BROAD, GROUP, True, xa + a, xb + a, c + e, s + e, ta + a, tb + a, x_head, out_head
                )
        elif broad and grouped:
            for i in range(0, blocks, BROAD):
                a, e = i * size, i * entry
                rotate_half_block(
                    tag, BROAD, GROUP, False, xa + a, xb + a, c + e, s + e, ta + a, tb + a, x_head, out_head
                )
        elif broad and stream:
            for i in range(0, blocks, BROAD):
                a, e = i * size, i * entry
                rotate_half_block(tag, BROAD, 1, True, xa + a, xb + a, c + e, s + e, ta + a, tb + a, 0, 0)
        elif broad:
            for i in range(0, blocks, BROAD):
                a, e = i * size, i * entry
                rotate_half_block(tag, BROAD, 1, False, xa + a, xb + a, c + e, s + e, ta + a, tb + a, 0, 0)
        elif grouped and stream:
            for i in range(0, blocks, WIDTH):
                a, e = i * size, i * entry
                rotate_half_block(
                    tag, WIDTH, GROUP, True, xa + a, xb + a, c + e, s + e, ta + a, tb + a, x_head, out_head
                )
        elif grouped:
            for i in range(0, blocks, WIDTH):
                a, e = i * size, i * entry
                rotate_half_block(
                    tag, WIDTH, GROUP, False, xa + a, xb + a, c + e, s + e, ta + a, tb + a, x_head, out_head
                )
        elif stream:
            for i in range(0, blocks, WIDTH):
                a, e = i * size, i * entry
                rotate_half_block(tag, WIDTH, 1, True, xa + a, xb + a, c + e, s + e, ta + a, tb + a, 0, 0)
        else:
            for i in range(0, blocks, WIDTH):
                a, e = i * size, i * entry
                rotate_half_block(tag, WIDTH, 1, False, xa + a, xb + a, c + e, s + e, ta + a, tb + a, 0, 0)
    return blocks


@cached_njit()
def _neighbours_run(
    tag, x, x_step, x_head, out, out_step, out_head, cos, sin, table_step, count, grouped, pairs, back, stream
):  # fmt: skip
    """Turn the whole blocks of ``count`` rows in the interleaved layout; return the pairs done."""
    size, entry = size_of(tag), table_size_of(tag)
    blocks = pairs - pairs % WIDTH
    for row in range(count):
        at, to, c, s = x + row * x_step, out + row * out_step, cos + row * table_step, sin + row * table_step
        for i in range(0, blocks, WIDTH):
            a, e = 2 * i * size, i * entry
            if grouped and back and stream:
                rotate_interleaved_block(tag, GROUP, True, True, at + a, c + e, s + e, to + a, x_head, out_head)
            elif grouped and back:
                rotate_interleaved_block(tag, GROUP, False, True, at + a, c + e, s + e, to + a, x_head, out_head)
            elif grouped and stream:
                rotate_interleaved_block(tag, GROUP, True, False, at + a, c + e, s + e, to + a, x_head, out_head)
            elif grouped:
                rotate_interleaved_block(tag, GROUP, False, False, at + a, c + e, s + e, to + a, x_head, out_head)
            elif back and stream:
                rotate_interleaved_block(tag, 1, True, True, at + a, c + e, s + e, to + a, 0, 0)
            elif back:
                rotate_interleaved_block(tag, 1, False, True, at + a, c + e, s + e, to + a, 0, 0)
            elif stream:
                rotate_interleaved_block(tag, 1, True, False, at + a, c + e, s + e, to + a, 0, 0)
            else:
                rotate_interleaved_block(tag, 1, False, False, at + a, c + e, s + e, to + a, 0, 0)
    return blocks


@cached_njit()
def _rest(tag, x, lane, out, out_lane, cos, sin, done, pairs, dim, half, back):
    """Turn the pairs from ``done`` on of one head vector one by one, and copy the dimensions that do not turn."""
    entry = table_size_of(tag)
    step = 1 if half else 2
    gap = pairs if half else 1
    first = gap if back else 0
    second = gap - first
    for i in range(done, pairs):
        a, b = step * i + first, step * i + second
        c, s = cos + i * entry, sin + i * entry
        rotate_half_block(
            tag, 1, 1, False, x + a * lane, x + b * lane, c, s, out + a * out_lane, out + b * out_lane, 0, 0
        )
    if out != x:
        for i in range(2 * pairs, dim):
            move_one(tag, x + i * lane, out + i * out_lane)


@cached_njit()
def _run(
    tag, x, x_step, x_head, lane, out, out_step, out_head, out_lane, cos, sin, table_step, count, together, pairs, dim,
    half, back, stream
):  # fmt: skip
    """Turn ``count`` rows of ``together`` head vectors each, x_step and x_head bytes apart.

    Lanes are byte distances between neighbouring dimensions.
    """
    done, grouped = 0, together == GROUP
    if lane == size_of(tag) and out_lane == lane:
        if half:
            done = _halves_run(
                tag, x, x_step, x_head, out, out_step, out_head, cos, sin, table_step, count, grouped, pairs, back,
                stream,
            )  # fmt: skip
        else:
            done = _neighbours_run(
                tag, x, x_step, x_head, out, out_step, out_head, cos, sin, table_step, count, grouped, pairs, back,
                stream,
            )  # fmt: skip
    if done < pairs or 2 * pairs < dim:
        for row in range(count):
            c, s = cos + row * table_step, sin + row * table_step
            for head in range(together):
                at, to = x + row * x_step + head * x_head, out + row * out_step + head * out_head
                _rest(tag, at, lane, to, out_lane, c, s, done, pairs, dim, half, back)


@cached_njit()
def _together(heads):
    """Return how many heads make one row."""
    return GROUP if heads % GROUP == 0 else 1


@cached_njit()
def rotate_row_range(tag, task, base, x, out, low, high):
    """Turn rows low..high of the tensor whose fields begin at task[base], the nearer axis of memory innermost.

    A row is one head of one token, or GROUP heads of it where the heads make whole groups.
    """
    size, entry = size_of(tag), table_size_of(tag)
    xb, xs, xh, xd = task[base], task[base + 1], task[base + 2], task[base + 3]
    ob, os, oh, od = task[base + 4], task[base + 5], task[base + 6], task[base + 7]
    heads, stream = task[base + 8], task[base + 9] != 0
    cos, sin, tb, ts, where, pb, ps, start = task[0], task[1], task[2], task[3], task[4], task[5], task[6], task[7]
    pairs, half, back, seq, dim = task[8], task[9] != 0, task[10] != 0, task[12], task[13]
    together = _together(heads)
    units = heads // together
    tokens_inside = units == 1 or (seq > 1 and xs < xh)
    xb, xs, xh, xd = xb * size, xs * size, xh * size, xd * size
    ob, os, oh, od = ob * size, os * size, oh * size, od * size
    tb, ts = tb * entry, ts * entry
    inside, around = (seq, units) if tokens_inside else (units, seq)
    x_step, out_step, table_step = (xs, os, ts) if tokens_inside else (together * xh, together * oh, 0)
    row = low
    while row < high:
        outer = row // inside
        first = row - outer * inside
        count = 1 if where != 0 and tokens_inside else min(inside - first, high - row)
        b = outer // around
        other = outer - b * around
        s, h = (first, other) if tokens_inside else (other, first)
        place = read_index(where + 8 * (b * pb + s * ps)) * ts if where != 0 else b * tb + (start + s) * ts
        at, to = x + b * xb + s * xs + h * together * xh, out + b * ob + s * os + h * together * oh
        c, d = cos + place, sin + place
        _run(
            tag, at, x_step, xh, xd, to, out_step, oh, od, c, d, table_step, count, together, pairs, dim, half, back,
            stream,
        )  # fmt: skip
        row += count
    if stream:
        drain()


@cached_njit()
def row_count(task, base):
    """Return the number of rows of the tensor whose fields begin at task[base]."""
    heads = task[base + 8]
    return task[11] * task[12] * (heads // _together(heads))


@cached_njit(parallel=True)
def rotate_parallel(tag, task, places, chunks):
    """Turn q and k, each thread a chunk of the rows of either at a time."""
    for chunk in prange(chunks):
        for i, base in ((0, COMMON), (2, COMMON + EACH)):
            count = row_count(task, base)
            rotate_row_range(
                tag, task, base, places[i], places[i + 1], count * chunk // chunks, count * (chunk + 1) // chunks
            )
