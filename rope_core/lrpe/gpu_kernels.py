"""The GPU kernels, in Triton: activation and rotation in one pass, the angle from a fixed-point phase, no tables.

Length and offset are run-time arguments that Triton does not specialise on, so decoding compiles once. Sizes of
the model (heads, widths, slice) and the choice of activation are compile-time.
"""

# The compilers infer these functions' types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

# 1 / (2 pi) as the sum of two float64, and the first of them as two halves whose products are exact, by Veltkamp's
# constant.
_PER_TURN, _SPLIT = 0.15915494309189535, 2.0**27 + 1.0
_WIDE = _SPLIT * _PER_TURN
HIGH = tl.constexpr(_PER_TURN)
LOW = tl.constexpr(-9.839338337591243e-18)
SPLITTER = tl.constexpr(_SPLIT)
HIGH_A = tl.constexpr(_WIDE - (_WIDE - _PER_TURN))
HIGH_B = tl.constexpr(_PER_TURN - (_WIDE - (_WIDE - _PER_TURN)))
TWO_63 = tl.constexpr(2.0**63)
RAD = tl.constexpr(2.0 * 3.141592653589793 / 2.0**32)
MAX_THETA = tl.constexpr(2.0**20)
# sin r = r + r^3 S(r^2) and cos r = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4: minimax, relative error below 4e-9.
S0, S1, S2 = (tl.constexpr(v) for v in (-0.1666665453663391, 0.008332156054061877, -0.0001951463192609432))
C0, C1, C2 = (tl.constexpr(v) for v in (0.04166664555446971, -0.0013887309866660526, 2.4432412988277995e-05))
ROOT_HALF = tl.constexpr(0.5**0.5)
PDF_PEAK = tl.constexpr((2.0 * 3.141592653589793) ** -0.5)

# Arguments that change from call to call: neither their value nor its divisibility may select another binary.
RUN_TIME = ["offset", "length"]


@triton.jit
def phase_steps(theta):
    """Return round(theta / 2 pi * 2**63) * 2 mod 2**64, int64, from float64 theta of at most 2**20 in magnitude.

    The product is exact to 2**-63 turns per token, so that a position's phase errs by less than 2e-9 rad below 2**31.
    """
    wide = theta * SPLITTER
    a = wide - (wide - theta)
    b = theta - a
    turns = theta * HIGH
    low = (((a * HIGH_A - turns) + a * HIGH_B + b * HIGH_A) + b * HIGH_B) + theta * LOW
    part = turns - tl.floor(turns + 0.5)
    return 2 * ((part * TWO_63).to(tl.int64) + (low * TWO_63).to(tl.int64))


@triton.jit
def angles(theta_at, position, h, i, heads_ok, PAIRS: tl.constexpr, PER_HEAD: tl.constexpr, PER_PAIR: tl.constexpr):
    """cos and sin, float32 (T, H, P) with sizes of 1 where theta does not differ; NaN where theta is unusable."""
    where = tl.zeros_like(h + i)
    ok = where == 0
    if PER_HEAD:
        where += h * (PAIRS if PER_PAIR else 1)
        ok &= heads_ok
    if PER_PAIR:
        where += i
        ok &= i < PAIRS
    theta = tl.load(theta_at + where, mask=ok, other=0.0).to(tl.float64)
    usable = tl.abs(theta) <= MAX_THETA
    step = phase_steps(tl.where(usable, theta, 0.0))
    phase = ((position * step) >> 32).to(tl.int32)
    quarter = (phase + (1 << 29)) >> 30
    r = (phase - (quarter << 30)).to(tl.float32) * RAD
    t = r * r
    s = r + r * t * (S0 + t * (S1 + t * S2))
    c = 1.0 - 0.5 * t + t * t * (C0 + t * (C1 + t * C2))
    odd = (quarter & 1) != 0
    cos = tl.where(odd, s, c)
    sin = tl.where(odd, c, s)
    cos = tl.where(((quarter + 1) & 2) != 0, -cos, cos)
    sin = tl.where((quarter & 2) != 0, -sin, sin)
    return tl.where(usable, cos, float("nan")), tl.where(usable, sin, float("nan"))


@triton.jit
def kernel_positions(starts, offset, b, n, n_ok, length, WHERE: tl.constexpr):
    """Return positions (T, 1, 1): offset + n, starts[b] + n, or read from a table of one row or one per sequence."""
    if WHERE == "offset":
        place = n + offset
    elif WHERE == "starts":
        place = n + tl.load(starts + b)
    elif WHERE == "table":
        place = tl.load(starts + n, mask=n_ok, other=0)
    else:
        place = tl.load(starts + b * length + n, mask=n_ok, other=0)
    return place


@triton.jit
def activate(x, ACT: tl.constexpr):
    """f(x) for the activations of one element."""
    if ACT == "relu":
        x = tl.where(x <= 0.0, 0.0, x)
    elif ACT == "sigmoid":
        x = 1.0 / (1.0 + tl.exp(-x))
    elif ACT == "silu":
        x = x / (1.0 + tl.exp(-x))
    elif ACT == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * ROOT_HALF))
    elif ACT == "1+elu":
        x = tl.where(x > 0.0, x + 1.0, tl.exp(tl.minimum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)))
    elif ACT == "relu2":
        x = tl.where(x <= 0.0, 0.0, x * x)
    return x


@triton.jit
def activation_gradient(x, g, ACT: tl.constexpr):
    """Return the gradient at x from g, the gradient at f(x), for the activations of one element."""
    if ACT == "relu":
        g = tl.where(x <= 0.0, 0.0, g)
    elif ACT == "sigmoid":
        s = 1.0 / (1.0 + tl.exp(-x))
        g = g * s * (1.0 - s)
    elif ACT == "silu":
        s = 1.0 / (1.0 + tl.exp(-x))
        g = g * s * (1.0 + x * (1.0 - s))
    elif ACT == "gelu":
        g = g * (0.5 * (1.0 + tl.erf(x * ROOT_HALF)) + x * PDF_PEAK * tl.exp(-0.5 * x * x))
    elif ACT == "1+elu":
        g = g * tl.exp(tl.minimum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))
    elif ACT == "relu2":
        g = tl.where(x <= 0.0, 0.0, g * 2.0 * x)
    return g


@triton.jit
def parts_of(at, row, ia, ib, ic, ok, c_ok, OTHER: tl.constexpr, REST: tl.constexpr):
    """Return a head's three parts in float32: the pairs' first and second members and, if any, the rest."""
    a = tl.load(at + row + ia, mask=ok, other=OTHER).to(tl.float32)
    b = tl.load(at + row + ib, mask=ok, other=OTHER).to(tl.float32)
    c = a
    if REST > 0:
        c = tl.load(at + row + ic, mask=c_ok, other=OTHER).to(tl.float32)
    return a, b, c


@triton.jit
def row_sum(a, b, c, REST: tl.constexpr):
    """Return the sum over a head's three parts, (T, H, 1)."""
    total = tl.sum(a, 2, keep_dims=True) + tl.sum(b, 2, keep_dims=True)
    if REST > 0:
        total += tl.sum(c, 2, keep_dims=True)
    return total


@triton.jit
def row_max(a, b, c, REST: tl.constexpr):
    """Return the maximum over a head's three parts, (T, H, 1)."""
    top = tl.maximum(tl.max(a, 2, keep_dims=True), tl.max(b, 2, keep_dims=True))
    if REST > 0:
        top = tl.maximum(top, tl.max(c, 2, keep_dims=True))
    return top


@triton.jit
def activate_parts(a, b, c, peak, share, row, ia, ib, ic, ok, c_ok, ACT: tl.constexpr, REST: tl.constexpr):
    """f of a head's three parts; a softmax along the sequence by its columns' statistics, in rows of D."""
    if ACT == "softmax":
        top = row_max(a, b, c, REST)
        a, b, c = tl.exp(a - top), tl.exp(b - top), tl.exp(c - top)
        k = 1.0 / row_sum(a, b, c, REST)
        a, b, c = a * k, b * k, c * k
    elif ACT == "along sequence":
        top_a, top_b, top_c = parts_of(peak, row, ia, ib, ic, ok, c_ok, 0.0, REST)
        k_a, k_b, k_c = parts_of(share, row, ia, ib, ic, ok, c_ok, 0.0, REST)
        a, b, c = tl.exp(a - top_a) * k_a, tl.exp(b - top_b) * k_b, tl.exp(c - top_c) * k_c
    else:
        a, b, c = activate(a, ACT), activate(b, ACT), activate(c, ACT)
    return a, b, c


@triton.jit
def head_index_tiles(head, H: tl.constexpr, D: tl.constexpr, FIRST: tl.constexpr, PAIRS: tl.constexpr, BH: tl.constexpr,
            P: tl.constexpr, R: tl.constexpr):  # fmt: skip
    """Return a block of heads as index tiles: heads (1, H, 1), pairs and parts' dimensions (1, 1, .), and masks."""
    h = (head * BH + tl.arange(0, BH))[None, :, None]
    i = tl.arange(0, P)[None, None, :]
    j = tl.arange(0, R)[None, None, :]
    ic = tl.where(j < FIRST, j, j + 2 * PAIRS)
    return h, i, FIRST + i, FIRST + PAIRS + i, ic, (h < H) & (i < PAIRS), (h < H) & (j < D - 2 * PAIRS)


@triton.jit(do_not_specialize=RUN_TIME)
def forward_kernel(x, out, theta, starts, peak, share, offset, length,
            H: tl.constexpr, D: tl.constexpr, FIRST: tl.constexpr, PAIRS: tl.constexpr, ACT: tl.constexpr,
            WHERE: tl.constexpr, PER_HEAD: tl.constexpr, PER_PAIR: tl.constexpr, REST: tl.constexpr,
            BT: tl.constexpr, BH: tl.constexpr, P: tl.constexpr, R: tl.constexpr):  # fmt: skip
    """Write O for BT tokens and BH heads of one sequence; all tensors contiguous (B, N, H, D)."""
    seq = tl.program_id(2).to(tl.int64)
    n = (tl.program_id(0).to(tl.int64) * BT + tl.arange(0, BT))[:, None, None]
    h, i, ia, ib, ic, heads, rests = head_index_tiles(tl.program_id(1), H, D, FIRST, PAIRS, BH, P, R)
    here = n < length
    row = ((seq * length + n) * H + h) * D
    a, b, c = parts_of(x, row, ia, ib, ic, here & heads, here & rests, float("-inf"), REST)
    a, b, c = activate_parts(a, b, c, peak, share, (seq * H + h) * D, ia, ib, ic, heads, rests, ACT, REST)
    position = kernel_positions(starts, offset, seq, n, here, length, WHERE)
    cos, sin = angles(theta, position, h, i, h < H, PAIRS, PER_HEAD, PER_PAIR)
    tl.store(out + row + ia, a * cos - b * sin, mask=here & heads)
    tl.store(out + row + ib, a * sin + b * cos, mask=here & heads)
    if REST > 0:
        tl.store(out + row + ic, c, mask=here & rests)


@triton.jit(do_not_specialize=RUN_TIME)
def backward_kernel(x, grad, dx, theta, starts, peak, share, dot, offset, length,
             H: tl.constexpr, D: tl.constexpr, FIRST: tl.constexpr, PAIRS: tl.constexpr, ACT: tl.constexpr,
             WHERE: tl.constexpr, PER_HEAD: tl.constexpr, PER_PAIR: tl.constexpr, REST: tl.constexpr,
             BT: tl.constexpr, BH: tl.constexpr, P: tl.constexpr, R: tl.constexpr):  # fmt: skip
    """Write dX for BT tokens and BH heads of one sequence: dO turned by -theta, then the activation's Jacobian."""
    seq = tl.program_id(2).to(tl.int64)
    n = (tl.program_id(0).to(tl.int64) * BT + tl.arange(0, BT))[:, None, None]
    h, i, ia, ib, ic, heads, rests = head_index_tiles(tl.program_id(1), H, D, FIRST, PAIRS, BH, P, R)
    here = n < length
    row = ((seq * length + n) * H + h) * D
    ua, ub, gc = parts_of(grad, row, ia, ib, ic, here & heads, here & rests, 0.0, REST)
    position = kernel_positions(starts, offset, seq, n, here, length, WHERE)
    cos, sin = angles(theta, position, h, i, h < H, PAIRS, PER_HEAD, PER_PAIR)
    ga, gb = ua * cos + ub * sin, ub * cos - ua * sin
    if ACT == "softmax" or ACT == "along sequence":
        a, b, c = parts_of(x, row, ia, ib, ic, here & heads, here & rests, float("-inf"), REST)
        stat = (seq * H + h) * D
        a, b, c = activate_parts(a, b, c, peak, share, stat, ia, ib, ic, heads, rests, ACT, REST)
        if ACT == "softmax":
            mean = row_sum(a * ga, b * gb, c * gc, REST)
            ga, gb, gc = a * (ga - mean), b * (gb - mean), c * (gc - mean)
        else:
            da, db, dc = parts_of(dot, stat, ia, ib, ic, heads, rests, 0.0, REST)
            ga, gb, gc = a * (ga - da), b * (gb - db), c * (gc - dc)
    elif ACT != "none":
        a, b, c = parts_of(x, row, ia, ib, ic, here & heads, here & rests, 0.0, REST)
        ga, gb, gc = activation_gradient(a, ga, ACT), activation_gradient(b, gb, ACT), activation_gradient(c, gc, ACT)
    tl.store(dx + row + ia, ga, mask=here & heads)
    tl.store(dx + row + ib, gb, mask=here & heads)
    if REST > 0:
        tl.store(dx + row + ic, gc, mask=here & rests)


@triton.jit(do_not_specialize=["length"])
def column_softmax_statistics_kernel(x, peak, share, length, COLUMNS: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    """Write the maximum and 1 / sum of e^(x - maximum) of BC columns of one sequence, float32 (B, H * D)."""
    seq = tl.program_id(1).to(tl.int64)
    column = (tl.program_id(0) * BC + tl.arange(0, BC))[None, :]
    top = tl.full((1, BC), float("-inf"), tl.float32)
    total = tl.zeros((1, BC), tl.float32)
    for low in range(0, length, BT):
        n = low + tl.arange(0, BT)[:, None]
        at = (seq * length + n) * COLUMNS + column
        v = tl.load(x + at, mask=(n < length) & (column < COLUMNS), other=float("-inf")).to(tl.float32)
        fresh = tl.maximum(top, tl.max(v, 0, keep_dims=True))
        shift = tl.where(fresh == float("-inf"), 0.0, fresh)
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(v - shift), 0, keep_dims=True)
        top = fresh
    # A column that is -infinity throughout has no softmax.
    k = tl.where(top == float("-inf"), float("nan"), 1.0 / total)
    tl.store(peak + seq * COLUMNS + column, top, mask=column < COLUMNS)
    tl.store(share + seq * COLUMNS + column, k, mask=column < COLUMNS)


@triton.jit(do_not_specialize=[*RUN_TIME, "batch", "splits"])
def gradient_sums_kernel(x, grad, dot, slopes, theta, starts, peak, share, offset, length, batch, splits,
         H: tl.constexpr, D: tl.constexpr, FIRST: tl.constexpr, PAIRS: tl.constexpr, ACT: tl.constexpr,
         WHERE: tl.constexpr, PER_HEAD: tl.constexpr, PER_PAIR: tl.constexpr, REST: tl.constexpr,
         DOTS: tl.constexpr, BT: tl.constexpr, P: tl.constexpr, R: tl.constexpr):  # fmt: skip
    """Sum over the tokens of one head what the gradients need, each program its share of the blocks of BT tokens.

    With DOTS, each column's softmax times its gradient, float32 dot (splits, B, H, D), for sequence program_id(2);
    else theta's gradient, position * (g2 f(x)1 - g1 f(x)2), float64 slopes (splits, H, PAIRS), over all sequences.
    """
    split = tl.program_id(1)
    h, i, ia, ib, ic, heads, rests = head_index_tiles(tl.program_id(0), H, D, FIRST, PAIRS, 1, P, R)
    over_a, over_b = tl.zeros((1, 1, P), tl.float32), tl.zeros((1, 1, P), tl.float32)
    over_c, over_theta = tl.zeros((1, 1, R), tl.float32), tl.zeros((1, 1, P), tl.float64)
    blocks = (length + BT - 1) // BT
    for job in range(split, blocks if DOTS else blocks * batch, splits):
        seq = (tl.program_id(2) if DOTS else job // blocks).to(tl.int64)
        n = ((job % blocks).to(tl.int64) * BT + tl.arange(0, BT))[:, None, None]
        here = n < length
        row = ((seq * length + n) * H + h) * D
        a, b, c = parts_of(x, row, ia, ib, ic, here & heads, here & rests, float("-inf"), REST)
        a, b, c = activate_parts(a, b, c, peak, share, (seq * H + h) * D, ia, ib, ic, heads, rests, ACT, REST)
        ua, ub, gc = parts_of(grad, row, ia, ib, ic, here & heads, here & rests, 0.0, REST)
        position = kernel_positions(starts, offset, seq, n, here, length, WHERE)
        cos, sin = angles(theta, position, h, i, h < H, PAIRS, PER_HEAD, PER_PAIR)
        ga, gb = ua * cos + ub * sin, ub * cos - ua * sin
        if DOTS:
            over_a += tl.sum(tl.where(here & heads, a * ga, 0.0), 0, keep_dims=True)
            over_b += tl.sum(tl.where(here & heads, b * gb, 0.0), 0, keep_dims=True)
            if REST > 0:
                over_c += tl.sum(tl.where(here & rests, c * gc, 0.0), 0, keep_dims=True)
        else:
            cross = tl.where(here & heads, gb * a - ga * b, 0.0).to(tl.float64)
            over_theta += tl.sum(position.to(tl.float64) * cross, 0, keep_dims=True)
    if DOTS:
        at = dot + ((split * batch + tl.program_id(2)) * H + h) * D
        tl.store(at + ia, over_a, mask=heads)
        tl.store(at + ib, over_b, mask=heads)
        if REST > 0:
            tl.store(at + ic, over_c, mask=rests)
    else:
        tl.store(slopes + (split * H + h) * PAIRS + i, over_theta, mask=heads)
