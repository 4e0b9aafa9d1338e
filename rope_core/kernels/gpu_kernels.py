"""The Triton kernels: q and k in one launch, any strides, both layouts, float32 arithmetic, 64-bit addresses.

With TRITON_INTERPRET=1 in the environment before this module is imported they run on CPU tensors.
"""
# Triton reads these functions' source: their annotations are its own and no types of Python's.
# mypy: ignore-errors

import triton
import triton.language as tl

# How a token's position is found.
COUNT = tl.constexpr(0)
GIVEN = tl.constexpr(1)
PACKED = tl.constexpr(2)
OFFSET = tl.constexpr(3)
PER_TOKEN = tl.constexpr(4)

# Taylor series of sine and cosine in quarter turns: on [-1/2, 1/2] the first term left out is below 2e-9.
S0 = tl.constexpr(1.5707963267948966)
S1 = tl.constexpr(-0.6459640975062462)
S2 = tl.constexpr(0.07969262624616703)
S3 = tl.constexpr(-0.004681754135318687)
S4 = tl.constexpr(0.00016044118478735982)
C1 = tl.constexpr(-1.2337005501361697)
C2 = tl.constexpr(0.25366950790104796)
C3 = tl.constexpr(-0.020863480763352963)
C4 = tl.constexpr(0.0009192602748394264)
C5 = tl.constexpr(-2.5202042373060602e-05)


@triton.jit
def find_positions(t, b, tokens, positions, position_b, position_s, borders, sequences, steps_of_search, offsets, start,
                   WHERE: tl.constexpr, SHIFTED: tl.constexpr):  # fmt: skip
    """Return the positions of tokens ``t`` of batch row ``b``, int64; -1 for a token that belongs to no sequence."""
    if WHERE == GIVEN:
        return tl.load(positions + b * position_b + t.to(tl.int64) * position_s, mask=tokens, other=0).to(tl.int64)
    if WHERE == PACKED:
        # The last border that is not above t: empty sequences share a border, and the last of them wins.
        low = t * 0
        high = low + sequences
        for _ in range(steps_of_search):
            middle = (low + high + 1) // 2
            below = tl.load(borders + middle, mask=tokens, other=0).to(tl.int64) <= t
            low = tl.where(below, middle, low)
            high = tl.where(below, high, middle - 1)
        position = t.to(tl.int64) - tl.load(borders + low, mask=tokens, other=0).to(tl.int64)
        inside = low < sequences
        if SHIFTED:
            position += tl.load(offsets + low, mask=tokens & inside, other=0).to(tl.int64)
        return tl.where(inside, position, -1)
    if WHERE == OFFSET:
        return t.to(tl.int64) + tl.load(offsets + b).to(tl.int64)
    return t.to(tl.int64) + start


@triton.jit
def make_angles(position, steps, lane, lanes, scale, COMPUTE: tl.constexpr):
    """Return cos and sin of positions (tokens,) times steps (pairs,), from the 64-bit phase; NaN below position 0."""
    step = tl.load(steps + lane, mask=lanes, other=0, eviction_policy="evict_last")
    phase = position[:, None] * step[None, :]
    quadrant = (phase + (1 << 61)) >> 62
    rest = phase - (quadrant << 62)
    if tl.float64 == COMPUTE:
        x = rest.to(tl.float64) * (1.5707963267948966 / 4611686018427387904.0)
        s = tl.sin(x)
        c = tl.cos(x)
    else:
        x = rest.to(tl.float32) * (1.0 / 4611686018427387904.0)
        z = x * x
        s = x * (S0 + z * (S1 + z * (S2 + z * (S3 + z * S4))))
        c = 1.0 + z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * C5))))
    odd = (quadrant & 1) != 0
    cos = tl.where(odd, s, c)
    sin = tl.where(odd, c, s)
    cos = tl.where(((quadrant + 1) & 2) != 0, -cos, cos) * scale
    sin = tl.where((quadrant & 2) != 0, -sin, sin) * scale
    outside = (position < 0)[:, None]
    return tl.where(outside, float("nan"), cos).to(COMPUTE), tl.where(outside, float("nan"), sin).to(COMPUTE)


@triton.jit
def read_tables(cos, sin, b, t, tokens, position, rows, table_b, table_s, lane, lanes,
                WHERE: tl.constexpr, COMPUTE: tl.constexpr):  # fmt: skip
    """Return cos and sin (tokens, pairs) from tables; NaN where a position is outside them."""
    if WHERE == PER_TOKEN:
        place = b * table_b + t.to(tl.int64) * table_s
        inside = tokens
    else:
        place = position * table_s
        inside = tokens & (position >= 0) & (position < rows)
    mask = inside[:, None] & lanes[None, :]
    at = place[:, None] + lane[None, :]
    c = tl.load(cos + at, mask=mask, other=float("nan"), eviction_policy="evict_last")
    s = tl.load(sin + at, mask=mask, other=float("nan"), eviction_policy="evict_last")
    return c.to(COMPUTE), s.to(COMPUTE)


@triton.jit
def turn_heads(x, x_s, x_h, x_d, out, out_s, out_h, out_d, t, tokens, cos, sin, first, last, lane, lanes,
               PAIRS: tl.constexpr, LANES: tl.constexpr, DIM: tl.constexpr, REST: tl.constexpr, HALF: tl.constexpr,
               COPY: tl.constexpr, COMPUTE: tl.constexpr, HEADS: tl.constexpr, ALIGN: tl.constexpr):  # fmt: skip
    """Turn heads first..last - 1 of the tokens ``t``, HEADS at a time; strides come in units of ALIGN elements."""
    t64 = t.to(tl.int64)[:, None, None]
    c = cos[:, None, :]
    s = sin[:, None, :]
    for begin in range(first, last, HEADS):
        h = begin + tl.arange(0, HEADS)
        there = tokens[:, None, None] & (h < last)[None, :, None]
        h64 = h.to(tl.int64)[None, :, None]
        source = x + (t64 * x_s + h64 * x_h) * ALIGN
        target = out + (t64 * out_s + h64 * out_h) * ALIGN
        if HALF:
            mask = there & lanes[None, None, :]
            i = lane[None, None, :]
            a = tl.load(source + i * x_d, mask=mask, other=0.0, eviction_policy="evict_first").to(COMPUTE)
            b = tl.load(source + (i + PAIRS) * x_d, mask=mask, other=0.0, eviction_policy="evict_first").to(COMPUTE)
            kind = out.dtype.element_ty
            tl.store(target + i * out_d, (a * c - b * s).to(kind), mask=mask, eviction_policy="evict_first")
            tl.store(target + (i + PAIRS) * out_d, (a * s + b * c).to(kind), mask=mask, eviction_policy="evict_first")
        else:
            both = tl.arange(0, 2 * LANES)
            mask = there & (both < 2 * PAIRS)[None, None, :]
            i = both[None, None, :]
            pairs = tl.load(source + i * x_d, mask=mask, other=0.0, eviction_policy="evict_first").to(COMPUTE)
            a, b = tl.split(tl.reshape(pairs, (t.shape[0], HEADS, LANES, 2)))
            turned = tl.reshape(tl.join(a * c - b * s, a * s + b * c), (t.shape[0], HEADS, 2 * LANES))
            tl.store(target + i * out_d, turned.to(out.dtype.element_ty), mask=mask, eviction_policy="evict_first")
        if COPY and REST > 0:
            beyond = 2 * PAIRS + tl.arange(0, REST)
            mask = there & (beyond < DIM)[None, None, :]
            i = beyond[None, None, :]
            same = tl.load(source + i * x_d, mask=mask, eviction_policy="evict_first")
            tl.store(target + i * out_d, same, mask=mask, eviction_policy="evict_first")


@triton.jit
def rotate_kernel(q, k, q_out, k_out, cos, sin, steps, positions, borders, offsets, seq, rows, start, scale,
                q_b, q_s, q_h, q_d, k_b, k_s, k_h, k_d, qo_b, qo_s, qo_h, qo_d, ko_b, ko_s, ko_h, ko_d,
                table_b, table_s, position_b, position_s, sequences, steps_of_search,
                Q_HEADS: tl.constexpr, K_HEADS: tl.constexpr, PAIRS: tl.constexpr, LANES: tl.constexpr,
                DIM: tl.constexpr, REST: tl.constexpr, HALF: tl.constexpr, BACK: tl.constexpr, COPY: tl.constexpr,
                WHERE: tl.constexpr, SHIFTED: tl.constexpr, ANGLES: tl.constexpr, COMPUTE: tl.constexpr,
                TOKENS: tl.constexpr, HEADS: tl.constexpr, GROUPS: tl.constexpr,
                ALIGN: tl.constexpr):  # fmt: skip
    """One program: TOKENS tokens of one batch row, a GROUPS-th of the heads of q and of k, cos and sin read once.

    Strides of batch rows, tokens and heads come in units of ALIGN elements: Triton notices by itself only divisibility
    by 16, and without any it would read and write element by element.
    """
    program = tl.program_id(0)
    group = program % GROUPS
    tiles = (seq + TOKENS - 1) // TOKENS
    tile = (program // GROUPS) % tiles
    b = (program // GROUPS // tiles).to(tl.int64)
    t = tile * TOKENS + tl.arange(0, TOKENS)
    tokens = t < seq
    lane = tl.arange(0, LANES)
    lanes = lane < PAIRS
    position = find_positions(
        t, b, tokens, positions, position_b, position_s, borders, sequences, steps_of_search, offsets, start,
        WHERE, SHIFTED,
    )  # fmt: skip
    if ANGLES:
        c, s = make_angles(position, steps, lane, lanes, scale, COMPUTE)
    else:
        c, s = read_tables(cos, sin, b, t, tokens, position, rows, table_b, table_s, lane, lanes, WHERE, COMPUTE)
    if BACK:
        s = -s
    Q_EACH: tl.constexpr = (Q_HEADS + GROUPS - 1) // GROUPS
    first = group * Q_EACH
    turn_heads(
        q + b * q_b * ALIGN, q_s, q_h, q_d, q_out + b * qo_b * ALIGN, qo_s, qo_h, qo_d, t, tokens, c, s,
        first, tl.minimum(first + Q_EACH, Q_HEADS), lane, lanes,
        PAIRS, LANES, DIM, REST, HALF, COPY, COMPUTE, HEADS, ALIGN,
    )  # fmt: skip
    if K_HEADS > 0:
        K_EACH: tl.constexpr = (K_HEADS + GROUPS - 1) // GROUPS
        first = group * K_EACH
        turn_heads(
            k + b * k_b * ALIGN, k_s, k_h, k_d, k_out + b * ko_b * ALIGN, ko_s, ko_h, ko_d, t, tokens, c, s,
            first, tl.minimum(first + K_EACH, K_HEADS), lane, lanes,
            PAIRS, LANES, DIM, REST, HALF, COPY, COMPUTE, HEADS, ALIGN,
        )  # fmt: skip
