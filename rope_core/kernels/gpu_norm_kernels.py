"""RMSNorm and rotation in Triton, forward and backward; the sums are float32 (float64 for float64 tensors)."""
# Triton reads these functions' source: their annotations are its own and no types of Python's.
# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def read_pairs(source, stride, mask, lanes, rest, LANES: tl.constexpr, PAIRS: tl.constexpr, DIM: tl.constexpr,
               REST: tl.constexpr, HALF: tl.constexpr, TOKENS: tl.constexpr, HEADS: tl.constexpr,
               COMPUTE: tl.constexpr):  # fmt: skip
    """Return both members of the pairs and the dimensions that do not turn, (tokens, heads, ...), zero where masked."""
    lane = tl.arange(0, LANES)
    if HALF:
        at = mask & lanes[None, None, :]
        a = tl.load(source + lane[None, None, :] * stride, mask=at, other=0.0).to(COMPUTE)
        b = tl.load(source + (lane + PAIRS)[None, None, :] * stride, mask=at, other=0.0).to(COMPUTE)
    else:
        both = tl.arange(0, 2 * LANES)
        at = mask & (both < 2 * PAIRS)[None, None, :]
        pairs = tl.load(source + both[None, None, :] * stride, mask=at, other=0.0).to(COMPUTE)
        a, b = tl.split(tl.reshape(pairs, (TOKENS, HEADS, LANES, 2)))
    at = mask & (rest < DIM)[None, None, :]
    r = tl.load(source + rest[None, None, :] * stride, mask=at, other=0.0).to(COMPUTE)
    return a, b, r


@triton.jit
def write_pairs(target, stride, mask, lanes, rest, a, b, r, LANES: tl.constexpr, PAIRS: tl.constexpr,
                DIM: tl.constexpr, REST: tl.constexpr, HALF: tl.constexpr, TOKENS: tl.constexpr,
                HEADS: tl.constexpr):  # fmt: skip
    """Store what read_pairs reads."""
    kind = target.dtype.element_ty
    lane = tl.arange(0, LANES)
    if HALF:
        at = mask & lanes[None, None, :]
        tl.store(target + lane[None, None, :] * stride, a.to(kind), mask=at)
        tl.store(target + (lane + PAIRS)[None, None, :] * stride, b.to(kind), mask=at)
    else:
        both = tl.arange(0, 2 * LANES)
        at = mask & (both < 2 * PAIRS)[None, None, :]
        pairs = tl.reshape(tl.join(a, b), (TOKENS, HEADS, 2 * LANES))
        tl.store(target + both[None, None, :] * stride, pairs.to(kind), mask=at)
    if 2 * PAIRS < DIM:
        at = mask & (rest < DIM)[None, None, :]
        tl.store(target + rest[None, None, :] * stride, r.to(kind), mask=at)


@triton.jit
def sum_of_squares(a, b, r):
    """Return the sums of squares of head vectors, (tokens, heads)."""
    return tl.sum(a * a, 2) + tl.sum(b * b, 2) + tl.sum(r * r, 2)


@triton.jit
def mean_squares(x, x_h, x_d, tokens, lanes, rest, HEAD_COUNT: tl.constexpr, LANES: tl.constexpr, PAIRS: tl.constexpr,
                 DIM: tl.constexpr, REST: tl.constexpr, HALF: tl.constexpr, TOKENS: tl.constexpr, HEADS: tl.constexpr,
                 COMPUTE: tl.constexpr):  # fmt: skip
    """Return the mean square of all heads of each token, (tokens, 1)."""
    total = tl.zeros((TOKENS, 1), COMPUTE)
    for begin in range(0, HEAD_COUNT, HEADS):
        h = begin + tl.arange(0, HEADS)
        mask = tokens[:, None, None] & (h < HEAD_COUNT)[None, :, None]
        a, b, r = read_pairs(x + h.to(tl.int64)[None, :, None] * x_h, x_d, mask, lanes, rest, LANES, PAIRS, DIM, REST,
                             HALF, TOKENS, HEADS, COMPUTE)  # fmt: skip
        total += tl.sum(sum_of_squares(a, b, r), 1)[:, None]
    return total / (HEAD_COUNT * DIM)


@triton.jit
def normed_forward_kernel(x, out, weight, cos, sin, seq, x_b, x_s, x_h, x_d, o_b, o_s, o_h, o_d, table_b, shift, eps,
                   HEAD_COUNT: tl.constexpr, PAIRS: tl.constexpr, LANES: tl.constexpr, DIM: tl.constexpr,
                   REST: tl.constexpr, HALF: tl.constexpr, WHOLE: tl.constexpr, COMPUTE: tl.constexpr,
                   TOKENS: tl.constexpr, HEADS: tl.constexpr):  # fmt: skip
    """One program: TOKENS tokens of one batch row, all heads, HEADS at a time."""
    tiles = (seq + TOKENS - 1) // TOKENS
    b = (tl.program_id(0) // tiles).to(tl.int64)
    t = (tl.program_id(0) % tiles) * TOKENS + tl.arange(0, TOKENS)
    tokens = t < seq
    lane = tl.arange(0, LANES)
    lanes = lane < PAIRS
    rest = 2 * PAIRS + tl.arange(0, REST)
    t64 = t.to(tl.int64)[:, None, None]
    place = b * table_b + t.to(tl.int64)[:, None] * PAIRS + lane[None, :]
    c = tl.load(cos + place, mask=tokens[:, None] & lanes[None, :], other=0.0)[:, None, :]
    s = tl.load(sin + place, mask=tokens[:, None] & lanes[None, :], other=0.0)[:, None, :]
    source = x + b * x_b + t64 * x_s
    target = out + b * o_b + t64 * o_s
    if WHOLE:
        mean = mean_squares(source, x_h, x_d, tokens, lanes, rest, HEAD_COUNT, LANES, PAIRS, DIM, REST, HALF, TOKENS,
                            HEADS, COMPUTE)  # fmt: skip
    for begin in range(0, HEAD_COUNT, HEADS):
        h = begin + tl.arange(0, HEADS)
        present = h < HEAD_COUNT
        mask = tokens[:, None, None] & present[None, :, None]
        h64 = h.to(tl.int64)[None, :, None]
        a, p, r = read_pairs(source + h64 * x_h, x_d, mask, lanes, rest, LANES, PAIRS, DIM, REST, HALF, TOKENS, HEADS,
                             COMPUTE)  # fmt: skip
        if not WHOLE:
            mean = sum_of_squares(a, p, r) / DIM
        scale = (1.0 / tl.sqrt(mean + eps))[:, :, None]
        own = weight + (h64 * DIM if WHOLE else h64 * 0)
        wa, wp, wr = read_pairs(own, 1, present[None, :, None], lanes, rest, LANES, PAIRS, DIM, REST, HALF, 1, HEADS,
                                COMPUTE)  # fmt: skip
        a = a * scale * (wa + shift)
        p = p * scale * (wp + shift)
        write_pairs(target + h64 * o_h, o_d, mask, lanes, rest, a * c - p * s, a * s + p * c, r * scale * (wr + shift),
                    LANES, PAIRS, DIM, REST, HALF, TOKENS, HEADS)  # fmt: skip


@triton.jit
def normed_backward_kernel(x, grad, out, weight, shares, cos, sin, batch, seq, x_b, x_s, x_h, x_d, g_b, g_s, g_h, g_d,
                    o_b, o_s, o_h, o_d, table_b, shift, eps,
                    HEAD_COUNT: tl.constexpr, PAIRS: tl.constexpr, LANES: tl.constexpr, DIM: tl.constexpr,
                    REST: tl.constexpr, HALF: tl.constexpr, WHOLE: tl.constexpr, COMPUTE: tl.constexpr,
                    TOKENS: tl.constexpr, HEADS: tl.constexpr):  # fmt: skip
    """Gradients of x, and this program's share of the weight's in its own row of ``shares`` (programs, weights).

    A program takes every programs-th tile of tokens, so that the rows are few and their sum does not depend on luck.
    """
    tiles = (seq + TOKENS - 1) // TOKENS
    lane = tl.arange(0, LANES)
    lanes = lane < PAIRS
    rest = 2 * PAIRS + tl.arange(0, REST)
    mine = shares + tl.program_id(0).to(tl.int64) * (HEAD_COUNT * DIM if WHOLE else DIM)
    for tile in range(tl.program_id(0), batch * tiles, tl.num_programs(0)):
        b = (tile // tiles).to(tl.int64)
        t = (tile % tiles) * TOKENS + tl.arange(0, TOKENS)
        tokens = t < seq
        t64 = t.to(tl.int64)[:, None, None]
        place = b * table_b + t.to(tl.int64)[:, None] * PAIRS + lane[None, :]
        c = tl.load(cos + place, mask=tokens[:, None] & lanes[None, :], other=0.0)[:, None, :]
        s = tl.load(sin + place, mask=tokens[:, None] & lanes[None, :], other=0.0)[:, None, :]
        source = x + b * x_b + t64 * x_s
        came = grad + b * g_b + t64 * g_s
        target = out + b * o_b + t64 * o_s
        if WHOLE:
            mean = mean_squares(source, x_h, x_d, tokens, lanes, rest, HEAD_COUNT, LANES, PAIRS, DIM, REST, HALF,
                                TOKENS, HEADS, COMPUTE)  # fmt: skip
            total = tl.zeros((TOKENS, 1), COMPUTE)
            for begin in range(0, HEAD_COUNT, HEADS):
                h = begin + tl.arange(0, HEADS)
                present = h < HEAD_COUNT
                mask = tokens[:, None, None] & present[None, :, None]
                h64 = h.to(tl.int64)[None, :, None]
                a, p, r = read_pairs(source + h64 * x_h, x_d, mask, lanes, rest, LANES, PAIRS, DIM, REST, HALF, TOKENS,
                                     HEADS, COMPUTE)  # fmt: skip
                ga, gp, gr = read_pairs(came + h64 * g_h, g_d, mask, lanes, rest, LANES, PAIRS, DIM, REST, HALF,
                                        TOKENS, HEADS, COMPUTE)  # fmt: skip
                wa, wp, wr = read_pairs(weight + h64 * DIM, 1, present[None, :, None], lanes, rest, LANES, PAIRS, DIM,
                                        REST, HALF, 1, HEADS, COMPUTE)  # fmt: skip
                na = (ga * c + gp * s) * (wa + shift)
                np = (gp * c - ga * s) * (wp + shift)
                dots = tl.sum(na * a, 2) + tl.sum(np * p, 2) + tl.sum(gr * (wr + shift) * r, 2)
                total += tl.sum(dots, 1)[:, None]
        for begin in range(0, HEAD_COUNT, HEADS):
            h = begin + tl.arange(0, HEADS)
            present = h < HEAD_COUNT
            mask = tokens[:, None, None] & present[None, :, None]
            h64 = h.to(tl.int64)[None, :, None]
            a, p, r = read_pairs(source + h64 * x_h, x_d, mask, lanes, rest, LANES, PAIRS, DIM, REST, HALF, TOKENS,
                                 HEADS, COMPUTE)  # fmt: skip
            ga, gp, gr = read_pairs(came + h64 * g_h, g_d, mask, lanes, rest, LANES, PAIRS, DIM, REST, HALF, TOKENS,
                                    HEADS, COMPUTE)  # fmt: skip
            ba = ga * c + gp * s
            bp = gp * c - ga * s
            own = weight + (h64 * DIM if WHOLE else h64 * 0)
            wa, wp, wr = read_pairs(own, 1, present[None, :, None], lanes, rest, LANES, PAIRS, DIM, REST, HALF, 1,
                                    HEADS, COMPUTE)  # fmt: skip
            na = ba * (wa + shift)
            np = bp * (wp + shift)
            nr = gr * (wr + shift)
            if not WHOLE:
                mean = sum_of_squares(a, p, r) / DIM
                total = tl.sum(na * a, 2) + tl.sum(np * p, 2) + tl.sum(nr * r, 2)
            scale = 1.0 / tl.sqrt(mean + eps)
            pull = (total * scale * scale / (HEAD_COUNT * DIM if WHOLE else DIM))[:, :, None]
            scale = scale[:, :, None]
            write_pairs(target + h64 * o_h, o_d, mask, lanes, rest, scale * (na - a * pull), scale * (np - p * pull),
                        scale * (nr - r * pull), LANES, PAIRS, DIM, REST, HALF, TOKENS, HEADS)  # fmt: skip
            # Tokens, and heads that share a weight, add up; the row is this program's alone.
            da = tl.sum(ba * a * scale, 0)[None, :, :]
            dp = tl.sum(bp * p * scale, 0)[None, :, :]
            dr = tl.sum(gr * r * scale, 0)[None, :, :]
            if WHOLE:
                row = mine + h64 * DIM
                held = present[None, :, None]
                oa, op, orest = read_pairs(row, 1, held, lanes, rest, LANES, PAIRS, DIM, REST, HALF, 1, HEADS, COMPUTE)
                write_pairs(row, 1, held, lanes, rest, oa + da, op + dp, orest + dr, LANES, PAIRS, DIM, REST, HALF, 1,
                            HEADS)  # fmt: skip
            else:
                row = mine + tl.zeros((1, 1, 1), tl.int64)
                held = tl.full((1, 1, 1), True, tl.int1)
                oa, op, orest = read_pairs(row, 1, held, lanes, rest, LANES, PAIRS, DIM, REST, HALF, 1, 1, COMPUTE)
                write_pairs(row, 1, held, lanes, rest, oa + tl.sum(da, 1)[:, None, :], op + tl.sum(dp, 1)[:, None, :],
                            orest + tl.sum(dr, 1)[:, None, :], LANES, PAIRS, DIM, REST, HALF, 1, 1)  # fmt: skip
