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
from rope_core.lrpe.phase import COS_FIT, SIN_FIT

F = np.float32
I32 = np.int32
I64 = np.int64
U64 = np.uint64

NONE, RELU, SIGMOID, SILU, GELU, SOFTMAX, ONE_ELU, RELU2 = range(len(ACTIVATIONS))
ALONG_SEQUENCE = len(ACTIVATIONS)

# Only multiply-add is contracted: sums keep their order where it matters, and NaN and infinity their meaning.
STRICT: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy", "nogil": True}
FREE_SUM: dict[str, Any] = {**STRICT, "fastmath": {"contract", "reassoc"}}

INF = F(np.inf)
ZERO, ONE, HALF = F(0), F(1), F(0.5)
LEAST_SUM, MOST_SUM = F(1e-12), F(1e30)
LOG2E = F(np.log2(np.e))
ROUNDER = F(1.5 * 2**23)
LN2_HIGH = F(0.693359375)
LN2_LOW = F(np.log(2.0) - 0.693359375)
# Minimax fits of relative error below 1.1e-7: (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, and erfc(z) e^(z^2) / t in
# t = 1 / (1 + z / 2) for z >= 0.
E0, E1, E2, E3 = F(0.49999228825144926), F(0.16667116314090571), F(0.04189055002798697), F(0.008312477652081962)
S0, S1, S2 = map(F, SIN_FIT)
C0, C1, C2 = map(F, COS_FIT)
G0, G1, G2, G3 = F(0.28208447111921464), F(0.282409600673385), F(0.24285355536654604), F(0.20367872940903706)
G4, G5, G6, G7 = F(-0.02897256092000631), F(0.28147605408302284), F(-0.4901802874635877), F(0.28601429773671816)
G8 = F(-0.059363904086773424)
ROOT_HALF = F(np.sqrt(0.5))
PDF_PEAK = F(1.0 / np.sqrt(2.0 * np.pi))
RAD = F(2.0 * np.pi / 2.0**32)
EIGHTH = I32(2**29)


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(_context: Any, value: Any) -> Any:
    """Reinterpret a float32 as int32."""
    return types.int32(types.float32), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(32))


@intrinsic  # type: ignore[untyped-decorator]
def float_of(_context: Any, value: Any) -> Any:
    """Reinterpret an int32 as float32."""
    return types.float32(types.int32), lambda _c, b, _s, args: b.bitcast(args[0], ir.FloatType())


@intrinsic  # type: ignore[untyped-decorator]
def wide(_context: Any) -> Any:
    """Let the calling function's loops use 512-bit vectors, which LLVM by itself avoids on processors that have them."""

    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        # llvmlite checks attributes against a list of the plain ones; this one is a string pair.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def exp32(x):  # type: ignore[no-untyped-def]
    """e^x within 2 ulp; 0 below -87.7, infinity above 88.4, NaN for NaN."""
    x = F(-87.9) if x < F(-87.9) else x
    x = F(88.9) if x > F(88.9) else x
    z = x * LOG2E + ROUNDER
    n = z - ROUNDER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = ((((E3 * r + E2) * r + E1) * r + E0) * r + ONE) * r + ONE
    return p * float_of((bits_of(z) + I32(127)) << I32(23))


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


# The activations of one element; ``k`` is a row's factor, which only ``scaled`` reads.


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def same(x, k):  # type: ignore[no-untyped-def]
    """x itself."""
    return x


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def scaled(x, k):  # type: ignore[no-untyped-def]
    """x times the row's factor."""
    return x * k


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def relu(x, k):  # type: ignore[no-untyped-def]
    """x above zero, else 0; NaN stays NaN."""
    return ZERO if x <= ZERO else x


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def sigmoid(x, k):  # type: ignore[no-untyped-def]
    """1 / (1 + e^-x)."""
    return sigmoid32(x)


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def silu(x, k):  # type: ignore[no-untyped-def]
    """x / (1 + e^-x)."""
    return x * sigmoid32(x)


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def gelu(x, k):  # type: ignore[no-untyped-def]
    """x times the standard normal's share below x."""
    return x * normal32(x)[0]


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def one_elu(x, k):  # type: ignore[no-untyped-def]
    """x + 1 above zero, else e^x."""
    e = exp32(x)
    return x + ONE if x > ZERO else e


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def relu2(x, k):  # type: ignore[no-untyped-def]
    """The square of x above zero, else 0."""
    v = ZERO if x <= ZERO else x
    return v * v


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def fill_turns(step, position, cos, sin):  # type: ignore[no-untyped-def]
    """Write cos and sin of one position for all steps of one axis (n,)."""
    wide()
    for i in range(step.size):
        phase = I32((position * step[i]) >> I64(32))
        q = (phase + EIGHTH) >> I32(30)
        r = F(I32(phase - (q << I32(30)))) * RAD
        t = r * r
        s = r + r * t * (S0 + t * (S1 + t * S2))
        c = ONE - HALF * t + t * t * (C0 + t * (C1 + t * C2))
        odd = (q & I32(1)) != I32(0)
        big, small = (s if odd else c), (c if odd else s)
        cos[i] = -big if ((q + I32(1)) & I32(2)) != I32(0) else big
        sin[i] = -small if (q & I32(2)) != I32(0) else small


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def row_max(row):  # type: ignore[no-untyped-def]
    """The largest value, through integers that order as the floats do: such a maximum runs on vectors."""
    wide()
    best = I32(-(2**31))
    for i in range(row.size):
        b = bits_of(row[i])
        key = b ^ ((b >> I32(31)) & I32(0x7FFFFFFF))
        best = key if key > best else best
    return float_of(best ^ ((best >> I32(31)) & I32(0x7FFFFFFF)))


@nb.njit(**FREE_SUM)  # type: ignore[untyped-decorator]
def row_dot(a, b):  # type: ignore[no-untyped-def]
    """The scalar product, in the order that suits the vectors."""
    wide()
    total = ZERO
    for i in range(a.size):
        total += a[i] * b[i]
    return total


# The loops over one token (H, D): heads inside, because a call per head costs as much as a head's arithmetic.


def each_of(f: Any) -> Any:
    """Return the loop out = f(x, k) over (H, D), k (H,); a factory: a function passed at run time cannot be cached."""

    @nb.njit(**STRICT)  # type: ignore[untyped-decorator]
    def each(x, k, out):  # type: ignore[no-untyped-def]
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

    @nb.njit(**STRICT)  # type: ignore[untyped-decorator]
    def turn(x, k, cos, sin, start, pairs, sign, out):  # type: ignore[no-untyped-def]
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


@nb.njit(**FREE_SUM)  # type: ignore[untyped-decorator]
def exp_rows(x, out, act, peak, scale, k):  # type: ignore[no-untyped-def]
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


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def activate(x, out, act, peak, scale, k):  # type: ignore[no-untyped-def]
    """Write f(x) (H, D); peak and scale (H, D) are the columns' maximum and 1 / sum for a softmax along the sequence."""
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


@nb.njit(**FREE_SUM)  # type: ignore[untyped-decorator]
def softmax_turn(x, bar, k, cos, sin, start, pairs, out):  # type: ignore[no-untyped-def]
    """Write softmax over each head (H, D), turned, head by head: one is stored while the next one's exponentials run."""
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
        for i in range(count):
            a, b, c, s = bar[h, first + i] * share, bar[h, second + i] * share, cos[t, i], sin[t, i]
            out[h, first + i] = a * c - b * s
            out[h, second + i] = a * s + b * c


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def activate_and_turn(x, out, act, peak, scale, k, bar, cos, sin, start, pairs):  # type: ignore[no-untyped-def]
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
        if act == SOFTMAX and cos.shape[1] == pairs and pairs + pairs == x.shape[1]:
            softmax_turn(x, bar, k, cos, sin, start, pairs, out)
            return
        exp_rows(x, bar, act, peak, scale, k)
        turn_scaled(bar, k, cos, sin, start, pairs, ONE, out)


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def slopes(x, bar, g, act, dot, out):  # type: ignore[no-untyped-def]
    """Write the gradient at x (H, D) from g, the gradient at bar = f(x); dot (H, D) holds the columns' sums of bar g."""
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


@nb.njit(**STRICT)  # type: ignore[untyped-decorator]
def add_cross(bar, g, position, start, pairs, slope):  # type: ignore[no-untyped-def]
    """Add position * (g2 bar1 - g1 bar2), theta's gradient, to slope (1 | H, P) float64."""
    wide()
    middle, stop, where = start + pairs, start + 2 * pairs, np.float64(position)
    for h in range(bar.shape[0]):
        a, b, c, d = bar[h, start:middle], bar[h, middle:stop], g[h, start:middle], g[h, middle:stop]
        into = slope[h if slope.shape[0] > 1 else 0]
        for i in range(pairs):
            into[i] += where * np.float64(d[i] * a[i] - c[i] * b[i])


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
        cos, sin = np.empty(step.shape, F), np.empty(step.shape, F)
        bar, k = np.empty((heads, width), F), np.ones(heads, F)
        for token in range(batch * length * chunk // chunks, batch * length * (chunk + 1) // chunks):
            b, n = token // length, token % length
            fill_turns(step.reshape(-1), place(base, table, b, n), cos.reshape(-1), sin.reshape(-1))
            stat = b if act == ALONG_SEQUENCE else 0
            activate_and_turn(
                x[b, n], out[b, n], act, peak[stat], scale[stat], k, bar, cos, sin, start, pairs
            )


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def backward(x, grad, dx, slope, step, base, table, start, pairs, act, peak, scale, dot, chunks):  # type: ignore[no-untyped-def]
    """Write dX (B, N, H, D) and, unless ``slope`` is empty, theta's gradient by chunk, float64 (chunks, 1 | H, P).

    ``x`` is not read where act is none and slope is empty.
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
                turn_same(grad[b, n], k, cos, sin, start, pairs, -ONE, dx[b, n])
                continue
            stat = b if act == ALONG_SEQUENCE else 0
            activate(x[b, n], bar, act, peak[stat], scale[stat], k)
            turn_same(grad[b, n], k, cos, sin, start, pairs, -ONE, g)
            slopes(x[b, n], bar, g, act, dot[stat], dx[b, n])
            if slope.size:
                add_cross(bar, g, position, start, pairs, slope[chunk])


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def column_stats(x, peak, total, block):  # type: ignore[no-untyped-def]
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


@nb.njit(parallel=True, cache=True, **STRICT)  # type: ignore[untyped-decorator]
def column_dots(x, grad, step, base, table, start, pairs, peak, scale, dot):  # type: ignore[no-untyped-def]
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
