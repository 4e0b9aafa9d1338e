"""RMSNorm with the rotation of one block of pairs as LLVM instructions, beside lanes.py; also lines that are moved."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from rope_core.kernels.lanes import (
    BYTES,
    I16,
    I32,
    I64,
    KINDS,
    LINE,
    WIDTH,
    Builder,
    Value,
    join_words,
    load,
    narrow,
    places,
    prefetch,
    quiet,
    split_words,
    store,
    turn_by,
    widen,
)

FLOAT = ir.FloatType()
# The processor may fuse a product with its sum.
FUSE = ("contract",)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def sum_squares(_: Any, tag: Any, lanes: Any, at: Any) -> Any:
    """Return the sum of the squares of ``lanes`` stored values in the compute type."""
    kind, compute = KINDS[tag]
    count = lanes.literal_value

    size = BYTES[kind]

    def emit(_: Any, b: Builder, __: Any, args: Any) -> Value:
        for line in range(0, count * size, LINE):
            prefetch(b, b.add(args[2], I64(line)))
        parts: tuple[Value, ...]
        if kind is I16 and count > 1:
            parts = split_words(b, load(b, I32, args[2], count // 2), count // 2)
        else:
            parts = (widen(b, kind, load(b, kind, args[2], count), count),)
        total, left = b.fmul(parts[0], parts[0]), count // len(parts)
        if len(parts) > 1:
            total = b.fadd(b.fmul(parts[1], parts[1], flags=FUSE), total, flags=FUSE)
        while left > 1:
            left //= 2
            halves = (places(list(range(first, first + left))) for first in (0, left))
            total = b.fadd(*(b.shuffle_vector(total, total, half) for half in halves))
        return b.extract_element(total, I32(0))

    number = types.float64 if isinstance(compute, ir.DoubleType) else types.float32
    return number(tag, lanes, types.int64), emit


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def turn_normed(
    _: Any, tag: Any, half: Any, lanes: Any, heads: Any, stream: Any,
    x: Any, y: Any, gain_x: Any, gain_y: Any, cos: Any, sin: Any, to_x: Any, to_y: Any, scales: Any,
    apart: Any, to_apart: Any,
) -> Any:  # fmt: skip
    """Scale ``lanes`` pairs of each of ``heads`` heads by the head's scale and the gains, and turn them.

    The gains are multiplied into the tables once for all heads. In the interleaved layout x and to_x begin the run of
    both members, gain_x that of their gains; y, gain_y and to_y are not read.
    """
    kind, compute = KINDS[tag]
    count, apart_runs, streamed = lanes.literal_value, half.literal_value, stream.literal_value
    by_words = kind is I16 and (not apart_runs or count > WIDTH)
    evens, odds = (places(list(range(first, 2 * count, 2))) for first in (0, 1))
    weave = places([i // 2 + count * (i % 2) for i in range(2 * count)])

    def emit(context: Any, b: Builder, _: Any, args: Any) -> Value:
        at_x, at_y, at_gx, at_gy, at_c, at_s, put_x, put_y, at_scale, step, to_step = args[5:]
        c, s = load(b, compute, at_c, count), load(b, compute, at_s, count)
        if apart_runs:
            gx, gy = load(b, compute, at_gx, count), load(b, compute, at_gy, count)
        else:
            gains = load(b, compute, at_gx, 2 * count)
            gx, gy = b.shuffle_vector(gains, gains, evens), b.shuffle_vector(gains, gains, odds)
        table = [b.fmul(gx, c), b.fmul(gy, s), b.fmul(gx, s), b.fmul(gy, c)]
        if by_words:
            table = [quiet(b, part, count) for part in table]
        split = [table]
        if by_words and apart_runs:
            half_of = (places(list(range(first, count, 2))) for first in (0, 1))
            split = [[b.shuffle_vector(part, part, which) for part in table] for which in half_of]
        for head in range(heads.literal_value):
            if head:
                at_x, put_x = b.add(at_x, step), b.add(put_x, to_step)
                at_y, put_y = b.add(at_y, step), b.add(put_y, to_step)
                at_scale = b.add(at_scale, ir.Constant(at_scale.type, 8 if isinstance(compute, ir.DoubleType) else 4))
            scale = load(b, compute, at_scale, 1)
            if not by_words:
                if apart_runs:
                    first = widen(b, kind, load(b, kind, at_x, count), count)
                    second = widen(b, kind, load(b, kind, at_y, count), count)
                else:
                    both = load(b, kind, at_x, 2 * count)
                    first, second = (widen(b, kind, b.shuffle_vector(both, both, p), count) for p in (evens, odds))
                turned = [narrow(b, kind, v, count) for v in turn_by(b, first, second, split[0], scale, count)]
                if apart_runs:
                    store(b, kind, turned[0], put_x, count, streamed)
                    store(b, kind, turned[1], put_y, count, streamed)
                else:
                    store(b, kind, b.shuffle_vector(turned[0], turned[1], weave), put_x, 2 * count, streamed)
            elif apart_runs:
                words = count // 2
                x_parts = split_words(b, load(b, I32, at_x, words), words)
                y_parts = split_words(b, load(b, I32, at_y, words), words)
                done = [turn_by(b, x_parts[i], y_parts[i], split[i], scale, words) for i in (0, 1)]
                store(b, I32, join_words(b, done[0][0], done[1][0], words), put_x, words, streamed)
                store(b, I32, join_words(b, done[0][1], done[1][1], words), put_y, words, streamed)
            else:
                members = split_words(b, load(b, I32, at_x, count), count)
                new_x, new_y = turn_by(b, members[0], members[1], table, scale, count)
                store(b, I32, join_words(b, new_x, new_y, count), put_x, count, streamed)
        return context.get_dummy_value()

    return types.void(tag, half, lanes, heads, stream, *[types.int64] * 11), emit


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def move_line(_: Any, stream: Any, source: Any, target: Any) -> Any:
    """Copy LINE bytes; ``stream`` bypasses the cache and asks for a target at a line's start."""

    def emit(context: Any, b: Builder, _: Any, args: Any) -> Value:
        prefetch(b, args[1])
        store(b, FLOAT, load(b, FLOAT, args[1], LINE // 4), args[2], LINE // 4, stream.literal_value)
        return context.get_dummy_value()

    return types.void(stream, types.int64, types.int64), emit
