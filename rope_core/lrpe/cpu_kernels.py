"""The CPU kernels: activation and rotation in one pass over memory, float32, compiled by numba on first use.

An activation is a number at run time, so nothing is compiled again for another one, nor for another length, offset or
theta shape.
"""

# The compilers infer these functions' types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from rope_core.kernels.lanes import LINE, drain, send_line
from rope_core.kernels.tables import compiled
from rope_core.lrpe.cpu_math import (
    ALONG_SEQUENCE,
    FREE_SUM,
    GELU,
    INF,
    LEAST_SUM,
    MOST_SUM,
    NONE,
    ONE,
    ONE_ELU,
    PDF_PEAK,
    RELU,
    RELU2,
    SIGMOID,
    SILU,
    SOFTMAX,
    STRICT,
    U64,
    ZERO,
    F,
    exp32,
    fill_turns,
    gelu,
    normal32,
    one_elu,
    relu,
    relu2,
    row_dot,
    row_max,
    same,
    scaled,
    sigmoid,
    sigmoid32,
    silu,
    wide,
)

# The loops over one token (H, D): heads inside, because a call per head costs as much as a head's arithmetic.


def each_of(f: Any) -> Any:
    """Return the loop out = f(x, k) over (H, D), k (H,); a factory: a function passed at run time cannot be cached."""

    @nb.njit(**STRICT)
    def each(x, k, out):
        wide()
        for h in range(x.shape[0]):
            row, to, factor = x[h], out[h], k[h]
            for i in range(row.size):
                to[i] = f(row[i], factor)

    return each


def turn_of(f: Any) -> Any:
    """Return the loop that writes f(x, k) (H, D) turned by sign * angle.

    Its pairs run from ``start`` on; cos and sin are (1 | H, pairs), or (1 | H, 1) where one angle serves all pairs.
    """

    @nb.njit(**STRICT)
    def turn(x, k, cos, sin, start, pairs, sign, out):
        wide()
        # Unsigned, because an index that could be negative is checked for it, which keeps the loop scalar. The kinds
        # of loop stand side by side, not inside one loop over heads, where they cost four times as much.
        count, first = U64(pairs), U64(start)
        second, stop = first + count, first + count + count
        if cos.shape[1] == pairs:
            for h in range(x.shape[0]):
                factor, t = k[h], (h if cos.shape[0] > 1 else 0)
                for i in range(count):
                    a, b, c, s = f(x[h, first + i], factor), f(x[h, second + i], factor), cos[t, i], sign * sin[t, i]
                    out[h, first + i] = a * c - b * s
                    out[h, second + i] = a * s + b * c
        else:
            for h in range(x.shape[0]):
                factor, t = k[h], (h if cos.shape[0] > 1 else 0)
                c, s = cos[t, 0], sign * sin[t, 0]
                for i in range(count):
                    a, b = f(x[h, first + i], factor), f(x[h, second + i], factor)
                    out[h, first + i] = a * c - b * s
                    out[h, second + i] = a * s + b * c
        if count + count < x.shape[1]:
            for h in range(x.shape[0]):
                for i in range(first):
                    out[h, i] = f(x[h, i], k[h])
                for i in range(stop, U64(x.shape[1])):
                    out[h, i] = f(x[h, i], k[h])

    return turn


EVERY = (same, scaled, relu, sigmoid, silu, gelu, one_elu, relu2)
each_same, each_scaled, each_relu, each_sigmoid, each_silu, each_gelu, each_one_elu, each_relu2 = map(each_of, EVERY)
turn_same, turn_scaled, turn_relu, turn_sigmoid, turn_silu, turn_gelu, turn_one_elu, turn_relu2 = map(turn_of, EVERY)


@nb.njit(**FREE_SUM)
def exp_rows(x, out, act, peak, scale, k):
    """Write a softmax's rows (H, D) up to the factors k (H,); along the sequence by the columns' statistics (H, D)."""
    wide()
    if act == ALONG_SEQUENCE:
        for h in range(x.shape[0]):
            for i in range(x.shape[1]):
                out[h, i] = exp32(x[h, i] - peak[h, i]) * scale[h, i]
            k[h] = ONE
        return
    # Looking for the maximum costs as much as the exponentials do. It is needed only where the plain sum overflows, or
    # is so small that terms that matter could have underflowed.
    for h in range(x.shape[0]):
        total = ZERO
        for i in range(x.shape[1]):
            e = exp32(x[h, i])
            out[h, i] = e
            total += e
        k[h] = ONE / total
    for h in range(x.shape[0]):
        if not ONE / MOST_SUM < k[h] < ONE / LEAST_SUM:
            top, total = row_max(x[h]), ZERO
            for i in range(x.shape[1]):
                e = exp32(x[h, i] - top)
                out[h, i] = e
                total += e
            k[h] = ONE / total


@nb.njit(**STRICT)
def activate(x, out, act, peak, scale, k):
    """Write f(x) (H, D); peak and scale (H, D) are the columns' maximum and 1 / sum along the sequence."""
    if act == RELU:
        each_relu(x, k, out)
    elif act == SIGMOID:
        each_sigmoid(x, k, out)
    elif act == SILU:
        each_silu(x, k, out)
    elif act == GELU:
        each_gelu(x, k, out)
    elif act == ONE_ELU:
        each_one_elu(x, k, out)
    elif act == RELU2:
        each_relu2(x, k, out)
    elif act == NONE:
        each_same(x, k, out)
    else:
        exp_rows(x, out, act, peak, scale, k)
        each_scaled(out, k, out)


@nb.njit(**FREE_SUM)
def softmax_turn(x, bar, cos, sin, start, pairs, out):
    """Write softmax over each head (H, D), turned: one head is stored while the next one's exponentials run."""
    wide()
    count, first = U64(pairs), U64(start)
    second = first + count
    for h in range(x.shape[0]):
        total = ZERO
        for i in range(x.shape[1]):
            e = exp32(x[h, i])
            bar[h, i] = e
            total += e
        if not LEAST_SUM < total < MOST_SUM:
            top, total = row_max(x[h]), ZERO
            for i in range(x.shape[1]):
                e = exp32(x[h, i] - top)
                bar[h, i] = e
                total += e
        share, t = ONE / total, (h if cos.shape[0] > 1 else 0)
        if cos.shape[1] == pairs:
            for i in range(count):
                a, b, c, s = bar[h, first + i] * share, bar[h, second + i] * share, cos[t, i], sin[t, i]
                out[h, first + i] = a * c - b * s
                out[h, second + i] = a * s + b * c
        else:
            c, s = cos[t, 0], sin[t, 0]
            for i in range(count):
                a, b = bar[h, first + i] * share, bar[h, second + i] * share
                out[h, first + i] = a * c - b * s
                out[h, second + i] = a * s + b * c


@nb.njit(**STRICT)
def activate_and_turn(x, out, act, peak, scale, k, bar, cos, sin, start, pairs):
    """Write O (H, D) of one token: activation and rotation in one loop; a softmax goes through ``bar`` (H, D)."""
    if act == RELU:
        turn_relu(x, k, cos, sin, start, pairs, ONE, out)
    elif act == SIGMOID:
        turn_sigmoid(x, k, cos, sin, start, pairs, ONE, out)
    elif act == SILU:
        turn_silu(x, k, cos, sin, start, pairs, ONE, out)
    elif act == GELU:
        turn_gelu(x, k, cos, sin, start, pairs, ONE, out)
    elif act == ONE_ELU:
        turn_one_elu(x, k, cos, sin, start, pairs, ONE, out)
    elif act == RELU2:
        turn_relu2(x, k, cos, sin, start, pairs, ONE, out)
    elif act == NONE:
        turn_same(x, k, cos, sin, start, pairs, ONE, out)
    else:
        if act == SOFTMAX and pairs + pairs == x.shape[1]:
            softmax_turn(x, bar, cos, sin, start, pairs, out)
            return
        exp_rows(x, bar, act, peak, scale, k)
        turn_scaled(bar, k, cos, sin, start, pairs, ONE, out)


@nb.njit(**STRICT)
def slopes(x, bar, g, act, dot, out):
    """Write the gradient at x (H, D) from g, the gradient at bar = f(x); dot (H, D) has the columns' sums of bar g."""
    wide()
    for h in range(x.shape[0]):
        row, y, up, to = x[h], bar[h], g[h], out[h]
        if act == RELU:
            for i in range(row.size):
                to[i] = ZERO if row[i] <= ZERO else up[i]
        elif act == SIGMOID:
            for i in range(row.size):
                to[i] = up[i] * y[i] * sigmoid32(-row[i])
        elif act == SILU:
            for i in range(row.size):
                s = sigmoid32(row[i])
                to[i] = up[i] * s * (ONE + row[i] * (ONE - s))
        elif act == GELU:
            for i in range(row.size):
                share, bell = normal32(row[i])
                to[i] = up[i] * (share + row[i] * (PDF_PEAK * bell))
        elif act == SOFTMAX:
            mean = row_dot(y, up)
            for i in range(row.size):
                to[i] = y[i] * (up[i] - mean)
        elif act == ONE_ELU:
            for i in range(row.size):
                e = exp32(row[i])
                to[i] = up[i] if row[i] > ZERO else up[i] * e
        elif act == RELU2:
            for i in range(row.size):
                to[i] = up[i] * (F(2) * (ZERO if row[i] <= ZERO else row[i]))
        elif act == ALONG_SEQUENCE:
            total = dot[h]
            for i in range(row.size):
                to[i] = y[i] * (up[i] - total[i])
        else:
            for i in range(row.size):
                to[i] = up[i]


@nb.njit(**STRICT)
def add_cross(bar, g, position, start, pairs, slope):
    """Add position * (g2 bar1 - g1 bar2), theta's gradient, to slope (1 | H, P) float64."""
    wide()
    middle, stop, where = start + pairs, start + 2 * pairs, np.float64(position)
    for h in range(bar.shape[0]):
        a, b, c, d = bar[h, start:middle], bar[h, middle:stop], g[h, start:middle], g[h, middle:stop]
        into = slope[h if slope.shape[0] > 1 else 0]
        for i in range(pairs):
            into[i] += where * np.float64(d[i] * a[i] - c[i] * b[i])


@nb.njit(**STRICT)
def place(base, table, b, n):
    """Return token n of sequence b's position: from the table (1 | B, N) unless it is empty, else base (B,) + n."""
    if table.size == 0:
        return base[b] + n
    return table[b if table.shape[0] > 1 else 0, n]


@nb.njit(**STRICT)
def send(room, out):
    """Write what lies in ``room`` (H, D) to ``out`` (H, D) past the cache, which then need not read it first."""
    source, target = room.ctypes.data, out.ctypes.data
    for at in range(0, room.size * room.itemsize, LINE):
        send_line(source + at, target + at)


@compiled(parallel=True, **STRICT)
def forward(x, out, step, base, table, start, pairs, act, peak, scale, chunks, past):
    """Write O (B, N, H, D); step (1 | H, 1 | P); peak and scale (B, H, D) or (1, 1, D) where nothing reads them.

    ``past``: whether O goes past the cache, token by token; each token then has to be made of whole lines.
    """
    batch, length, heads, width = x.shape
    for chunk in nb.prange(chunks):
        cos, sin = np.empty(step.shape, F), np.empty(step.shape, F)
        bar, k = np.empty((heads, width), F), np.ones(heads, F)
        room = np.empty((heads, width), F)
        for token in range(batch * length * chunk // chunks, batch * length * (chunk + 1) // chunks):
            b, n = token // length, token % length
            fill_turns(step.reshape(-1), place(base, table, b, n), cos.reshape(-1), sin.reshape(-1))
            stat = b if act == ALONG_SEQUENCE else 0
            to = room if past else out[b, n]
            activate_and_turn(x[b, n], to, act, peak[stat], scale[stat], k, bar, cos, sin, start, pairs)
            if past:
                send(room, out[b, n])
        if past:
            drain()


@compiled(parallel=True, **STRICT)
def backward(x, grad, dx, slope, step, base, table, start, pairs, act, peak, scale, dot, chunks, past):
    """Write dX (B, N, H, D) and, unless ``slope`` is empty, theta's gradient by chunk, float64 (chunks, 1 | H, P).

    ``x`` is not read where act is none and slope is empty; that alone writes ``past`` the cache as forward does.
    """
    batch, length, heads, width = grad.shape
    for chunk in nb.prange(chunks):
        cos, sin = np.empty(step.shape, F), np.empty(step.shape, F)
        bar, g, k = np.empty((heads, width), F), np.empty((heads, width), F), np.ones(heads, F)
        for token in range(batch * length * chunk // chunks, batch * length * (chunk + 1) // chunks):
            b, n = token // length, token % length
            position = place(base, table, b, n)
            fill_turns(step.reshape(-1), position, cos.reshape(-1), sin.reshape(-1))
            if act == NONE and slope.size == 0:
                turn_same(grad[b, n], k, cos, sin, start, pairs, -ONE, bar if past else dx[b, n])
                if past:
                    send(bar, dx[b, n])
                continue
            stat = b if act == ALONG_SEQUENCE else 0
            activate(x[b, n], bar, act, peak[stat], scale[stat], k)
            turn_same(grad[b, n], k, cos, sin, start, pairs, -ONE, g)
            slopes(x[b, n], bar, g, act, dot[stat], dx[b, n])
            if slope.size:
                add_cross(bar, g, position, start, pairs, slope[chunk])
        if past:
            drain()


@compiled(parallel=True, **STRICT)
def column_stats(x, peak, total, block):
    """Write each column's maximum and sum of e^(x - maximum) by parts of the sequence: (B, parts, H * D) each."""
    wide()
    batch, length, columns = x.shape
    parts = peak.shape[1]
    for job in nb.prange(batch * parts):
        b, part = job // parts, job % parts
        top, sums, shift = peak[b, part], total[b, part], np.empty(columns, F)
        top[:] = -INF
        sums[:] = ZERO
        stop = length * (part + 1) // parts
        for low in range(length * part // parts, stop, block):
            high = min(low + block, stop)
            shift[:] = top
            for n in range(low, high):
                for c in range(columns):
                    shift[c] = x[b, n, c] if x[b, n, c] > shift[c] else shift[c]
            for c in range(columns):
                fresh = shift[c]
                shift[c] = fresh if fresh > -INF else ZERO
                sums[c] *= exp32(top[c] - shift[c])
                top[c] = fresh
            for n in range(low, high):
                for c in range(columns):
                    sums[c] += exp32(x[b, n, c] - shift[c])


@compiled(parallel=True, **STRICT)
def column_dots(x, grad, step, base, table, start, pairs, peak, scale, dot):
    """Write each column's sum of softmax(x) times dO turned back, by parts of the sequence: (B, parts, H, D)."""
    batch, length, heads, width = x.shape
    parts = dot.shape[1]
    for job in nb.prange(batch * parts):
        b, part = job // parts, job % parts
        cos, sin = np.empty(step.shape, F), np.empty(step.shape, F)
        bar, g, k = np.empty((heads, width), F), np.empty((heads, width), F), np.ones(heads, F)
        into = dot[b, part]
        into[:] = ZERO
        for n in range(length * part // parts, length * (part + 1) // parts):
            fill_turns(step.reshape(-1), place(base, table, b, n), cos.reshape(-1), sin.reshape(-1))
            activate(x[b, n], bar, ALONG_SEQUENCE, peak[b], scale[b], k)
            turn_same(grad[b, n], k, cos, sin, start, pairs, -ONE, g)
            for h in range(heads):
                for i in range(width):
                    into[h, i] += bar[h, i] * g[h, i]
