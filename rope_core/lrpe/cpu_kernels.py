"""The CPU kernels: activation and rotation in one pass over memory, float32, compiled by numba on first use.

One file on purpose: numba's cache notices changes in the file of the compiled function only. An activation is a number
at run time, so nothing is compiled again for another one, nor for another length, offset or theta shape.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from rope_core.lrpe.arguments import ACTIVATIONS

F = np.float32
I32 = np.int32
I64 = np.int64

NONE, RELU, SIGMOID, SILU, GELU, SOFTMAX, ONE_ELU, RELU2 = range(len(ACTIVATIONS))
ALONG_SEQUENCE = len(ACTIVATIONS)

# Only multiply-add is contracted: sums keep their order where it matters, and NaN and infinity their meaning.
STRICT: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy", "nogil": True}
FREE_SUM: dict[str, Any] = {**STRICT, "fastmath": {"contract", "reassoc"}}

INF = F(np.inf)
ZERO, ONE, HALF = F(0), F(1), F(0.5)
LOG2E = F(np.log2(np.e))
ROUNDER = F(1.5 * 2**23)
LN2_HIGH = F(0.693359375)
LN2_LOW = F(np.log(2.0) - 0.693359375)
# Minimax fits of relative error below 5e-8: (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2; (sin r - r) / r^3 and
# (cos r - 1 + r^2 / 2) / r^4 in r^2 for |r| <= pi / 4; erfc(z) e^(z^2) / t in t = 1 / (1 + z / 2) for z >= 0.
E0, E1, E2, E3, E4 = F(0.4999999341248518), F(0.1666652010778294), F(0.04166839421430691), F(0.008368780414552184), F(
    0.0013814466887924104
)
S0, S1, S2 = F(-0.1666665453663391), F(0.008332156054061877), F(-0.0001951463192609432)
C0, C1, C2 = F(0.04166664555446971), F(-0.0013887309866660526), F(2.4432412988277995e-05)
G0, G1, G2, G3 = F(0.28208447111921464), F(0.282409600673385), F(0.24285355536654604), F(0.20367872940903706)
G4, G5, G6, G7 = F(-0.02897256092000631), F(0.28147605408302284), F(-0.4901802874635877), F(0.28601429773671816)
G8 = F(-0.059363904086773424)
ROOT_HALF = F(np.sqrt(0.5))
PDF_PEAK = F(1.0 / np.sqrt(2.0 * np.pi))
RAD = F(2.0 * np.pi / 2.0**64)
QUARTER_BITS = I64(62)
EIGHTH = I64(2**61)


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(_context: Any, value: Any) -> Any:
    """Reinterpret a float32 as int32."""
    return types.int32(types.float32), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(32))


@intrinsic  # type: ignore[untyped-decorator]
def float_of(_context: Any, value: Any) -> Any:
    """Reinterpret an int32 as float32."""
    return types.float32(types.int32), lambda _c, b, _s, args: b.bitcast(args[0], ir.FloatType())


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def exp32(x):  # type: ignore[no-untyped-def]
    """e^x within 2 ulp; 0 below -86.5, infinity above 88.73, NaN for NaN."""
    z = x * LOG2E + ROUNDER
    n = z - ROUNDER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = (((E4 * r + E3) * r + E2) * r + E1) * r + E0
    p = p * r * r + r + ONE
    half_scale = float_of((bits_of(z) + I32(126)) << I32(23))
    y = p * half_scale * F(2)
    y = ZERO if x < F(-86.5) else y
    return INF if x > F(88.73) else y


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def sigmoid32(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e^-x)."""
    return ONE / (ONE + exp32(-x))


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def normal32(x):  # type: ignore[no-untyped-def]
    """The standard normal's share below x, and e^(-x^2 / 2)."""
    t = ONE / (ONE + HALF * ROOT_HALF * abs(x))
    bell = exp32(-HALF * x * x)
    g = (((((((G8 * t + G7) * t + G6) * t + G5) * t + G4) * t + G3) * t + G2) * t + G1) * t + G0
    tail = HALF * bell * g * t
    return (tail if x < ZERO else ONE - tail), bell


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def fill_turns(step, position, cos, sin):  # type: ignore[no-untyped-def]
    """Write cos and sin (P,) of one position; a single step serves all pairs."""
    for i in range(step.size):
        phase = position * step[i]
        quarter = (phase + EIGHTH) >> QUARTER_BITS
        r = F(phase - (quarter << QUARTER_BITS)) * RAD
        t = r * r
        s = r + r * t * (S0 + t * (S1 + t * S2))
        c = ONE - HALF * t + t * t * (C0 + t * (C1 + t * C2))
        q = I32(quarter)
        odd = (q & I32(1)) != I32(0)
        big, small = (s if odd else c), (c if odd else s)
        cos[i] = -big if ((q + I32(1)) & I32(2)) != I32(0) else big
        sin[i] = -small if (q & I32(2)) != I32(0) else small
    if step.size == 1:
        cos[1:] = cos[0]
        sin[1:] = sin[0]


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def row_max(row):  # type: ignore[no-untyped-def]
    """The largest value, through integers that order as the floats do: such a maximum runs on vectors."""
    best = I32(-(2**31))
    for i in range(row.size):
        b = bits_of(row[i])
        key = b ^ ((b >> I32(31)) & I32(0x7FFFFFFF))
        best = key if key > best else best
    return float_of(best ^ ((best >> I32(31)) & I32(0x7FFFFFFF)))


@nb.njit(**FREE_SUM)  # type: ignore[untyped-decorator]
def row_sum(row):  # type: ignore[no-untyped-def]
    """The sum, in the order that suits the vectors."""
    total = ZERO
    for i in range(row.size):
        total += row[i]
    return total


@nb.njit(**FREE_SUM)  # type: ignore[untyped-decorator]
def row_dot(a, b):  # type: ignore[no-untyped-def]
    """The scalar product, in the order that suits the vectors."""
    total = ZERO
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def activate_row(x, out, act, peak, scale):  # type: ignore[no-untyped-def]
    """Write f(x) (D,); peak and scale (D,) are the columns' maximum and 1 / sum for a softmax along the sequence."""
    if act == RELU:
        for i in range(x.size):
            out[i] = ZERO if x[i] <= ZERO else x[i]
    elif act == SIGMOID:
        for i in range(x.size):
            out[i] = sigmoid32(x[i])
    elif act == SILU:
        for i in range(x.size):
            out[i] = x[i] * sigmoid32(x[i])
    elif act == GELU:
        for i in range(x.size):
            out[i] = x[i] * normal32(x[i])[0]
    elif act == SOFTMAX:
        top = row_max(x)
        for i in range(x.size):
            out[i] = exp32(x[i] - top)
        share = ONE / row_sum(out)
        for i in range(x.size):
            out[i] *= share
    elif act == ONE_ELU:
        for i in range(x.size):
            e = exp32(x[i])
            out[i] = x[i] + ONE if x[i] > ZERO else e
    elif act == RELU2:
        for i in range(x.size):
            v = ZERO if x[i] <= ZERO else x[i]
            out[i] = v * v
    elif act == ALONG_SEQUENCE:
        for i in range(x.size):
            out[i] = exp32(x[i] - peak[i]) * scale[i]
    else:
        for i in range(x.size):
            out[i] = x[i]


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def slope_row(x, bar, g, act, dot, out):  # type: ignore[no-untyped-def]
    """Write the gradient at x (D,) from g, the gradient at bar = f(x); dot (D,) holds the columns' sums of bar g."""
    if act == RELU:
        for i in range(x.size):
            out[i] = ZERO if x[i] <= ZERO else g[i]
    elif act == SIGMOID:
        for i in range(x.size):
            out[i] = g[i] * bar[i] * sigmoid32(-x[i])
    elif act == SILU:
        for i in range(x.size):
            s = sigmoid32(x[i])
            out[i] = g[i] * s * (ONE + x[i] * (ONE - s))
    elif act == GELU:
        for i in range(x.size):
            share, bell = normal32(x[i])
            out[i] = g[i] * (share + x[i] * (PDF_PEAK * bell))
    elif act == SOFTMAX:
        mean = row_dot(bar, g)
        for i in range(x.size):
            out[i] = bar[i] * (g[i] - mean)
    elif act == ONE_ELU:
        for i in range(x.size):
            e = exp32(x[i])
            out[i] = g[i] if x[i] > ZERO else g[i] * e
    elif act == RELU2:
        for i in range(x.size):
            out[i] = g[i] * (F(2) * (ZERO if x[i] <= ZERO else x[i]))
    elif act == ALONG_SEQUENCE:
        for i in range(x.size):
            out[i] = bar[i] * (g[i] - dot[i])
    else:
        for i in range(x.size):
            out[i] = g[i]


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def turn_row(x, cos, sin, start, sign, out):  # type: ignore[no-untyped-def]
    """Write x (D,) with its P pairs from ``start`` on turned, by sign * angle; the other dimensions pass."""
    pairs = cos.size
    middle = start + pairs
    a, b = x[start:middle], x[middle : middle + pairs]
    first, second = out[start:middle], out[middle : middle + pairs]
    for i in range(pairs):
        first[i] = a[i] * cos[i] - b[i] * (sign * sin[i])
    for i in range(pairs):
        second[i] = a[i] * (sign * sin[i]) + b[i] * cos[i]
    for i in range(start):
        out[i] = x[i]
    for i in range(middle + pairs, x.size):
        out[i] = x[i]


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def place(base, table, b, n):  # type: ignore[no-untyped-def]
    """The position of token n of sequence b: from the table (1 | B, N) unless it is empty, else base (B,) + n."""
    if table.size == 0:
        return base[b] + n
    return table[b if table.shape[0] > 1 else 0, n]


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def forward(x, out, step, base, table, start, pairs, act, peak, scale, chunks):  # type: ignore[no-untyped-def]
    """Write O (B, N, H, D); step (1 | H, 1 | P); peak and scale (B, H, D) or (1, 1, D) where nothing reads them."""
    batch, length, heads, width = x.shape
    for chunk in nb.prange(chunks):
        cos, sin, bar = np.empty(pairs, F), np.empty(pairs, F), np.empty(width, F)
        for token in range(batch * length * chunk // chunks, batch * length * (chunk + 1) // chunks):
            b, n = token // length, token % length
            position = place(base, table, b, n)
            for h in range(heads):
                if h == 0 or step.shape[0] > 1:
                    fill_turns(step[h], position, cos, sin)
                pb, ph = (b, h) if act == ALONG_SEQUENCE else (0, 0)
                activate_row(x[b, n, h], bar, act, peak[pb, ph], scale[pb, ph])
                turn_row(bar, cos, sin, start, ONE, out[b, n, h])


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def backward(x, grad, dx, slope, step, base, table, start, pairs, act, peak, scale, dot, chunks):  # type: ignore[no-untyped-def]
    """Write dX (B, N, H, D) and, unless ``slope`` is empty, theta's gradient by chunk, float64 (chunks, 1 | H, P).

    ``x`` is not read where act is none and slope is empty.
    """
    batch, length, heads, width = grad.shape
    middle = start + pairs
    for chunk in nb.prange(chunks):
        cos, sin, bar, g = np.empty(pairs, F), np.empty(pairs, F), np.empty(width, F), np.empty(width, F)
        for token in range(batch * length * chunk // chunks, batch * length * (chunk + 1) // chunks):
            b, n = token // length, token % length
            position = place(base, table, b, n)
            for h in range(heads):
                if h == 0 or step.shape[0] > 1:
                    fill_turns(step[h], position, cos, sin)
                if act == NONE and slope.size == 0:
                    turn_row(grad[b, n, h], cos, sin, start, -ONE, dx[b, n, h])
                    continue
                pb, ph = (b, h) if act == ALONG_SEQUENCE else (0, 0)
                activate_row(x[b, n, h], bar, act, peak[pb, ph], scale[pb, ph])
                turn_row(grad[b, n, h], cos, sin, start, -ONE, g)
                slope_row(x[b, n, h], bar, g, act, dot[pb, ph], dx[b, n, h])
                if slope.size:
                    into = slope[chunk, h if step.shape[0] > 1 else 0]
                    for i in range(pairs):
                        cross = g[middle + i] * bar[start + i] - g[start + i] * bar[middle + i]
                        into[i] += np.float64(position) * np.float64(cross)


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def column_stats(x, peak, total, block):  # type: ignore[no-untyped-def]
    """Write each column's maximum and sum of e^(x - maximum) by parts of the sequence: (B, parts, H * D) each."""
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


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def column_dots(x, grad, step, base, table, start, pairs, peak, scale, dot):  # type: ignore[no-untyped-def]
    """Write each column's sum of softmax(x) times dO turned back, by parts of the sequence: (B, parts, H, D)."""
    batch, length, heads, width = x.shape
    parts = dot.shape[1]
    for job in nb.prange(batch * parts):
        b, part = job // parts, job % parts
        cos, sin, bar, g = np.empty(pairs, F), np.empty(pairs, F), np.empty(width, F), np.empty(width, F)
        dot[b, part] = ZERO
        for n in range(length * part // parts, length * (part + 1) // parts):
            position = place(base, table, b, n)
            for h in range(heads):
                if h == 0 or step.shape[0] > 1:
                    fill_turns(step[h], position, cos, sin)
                activate_row(x[b, n, h], bar, ALONG_SEQUENCE, peak[b, h], scale[b, h])
                turn_row(grad[b, n, h], cos, sin, start, -ONE, g)
                for i in range(width):
                    dot[b, part, h, i] += bar[i] * g[i]
