"""The arithmetic of one block of pairs as LLVM instructions, for the numba backend.

A numba loop over 16-bit floats or over two strided halves is left to the auto-vectoriser, which gives up on aliasing
(in place) and on bfloat16. These intrinsics emit the vector code themselves: load, widen to the compute type, turn,
round to nearest even, store. Addresses are plain integers; the storage type is chosen by the numba type of ``tag``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

WIDTH = 16
LINE = 64
AHEAD = 2048
PREFETCH = "llvm.prefetch.p0i8"

I64 = ir.IntType(64)
I32 = ir.IntType(32)
I16 = ir.IntType(16)

# numba type of the tag -> (storage type, compute type); 16-bit floats compute in float32.
KINDS = {
    types.float32: (ir.FloatType(), ir.FloatType()),
    types.float64: (ir.DoubleType(), ir.DoubleType()),
    types.int16: (ir.HalfType(), ir.FloatType()),
    types.int8: (I16, ir.FloatType()),
}
TAGS: dict[str, Any] = {
    "float32": np.float32(0),
    "float64": np.float64(0),
    "float16": np.int16(0),
    "bfloat16": np.int8(0),
}
BYTES = {ir.FloatType(): 4, ir.DoubleType(): 8, ir.HalfType(): 2, I16: 2, I32: 4}

IrValue = Any
IrBuilder = Any


def vector_type(kind: Any, lanes: int) -> Any:
    """Return the LLVM type of ``lanes`` values."""
    return kind if lanes == 1 else ir.VectorType(kind, lanes)


def _splat(kind: Any, value: int, lanes: int) -> Any:
    """Return an LLVM integer constant, repeated over the lanes."""
    return ir.Constant(kind, value) if lanes == 1 else ir.Constant(ir.VectorType(kind, lanes), [value] * lanes)


def load(b: IrBuilder, kind: Any, address: IrValue, lanes: int) -> IrValue:
    """Read ``lanes`` stored values."""
    pointer = b.inttoptr(address, vector_type(kind, lanes).as_pointer())
    return b.load(pointer, align=BYTES[kind])


def widen(b: IrBuilder, kind: Any, value: IrValue, lanes: int) -> IrValue:
    """Convert stored values to the compute type; exact."""
    if kind is I16:
        bits = b.shl(b.zext(value, vector_type(I32, lanes)), _splat(I32, 16, lanes))
        return b.bitcast(bits, vector_type(ir.FloatType(), lanes))
    if isinstance(kind, ir.HalfType):
        return b.fpext(value, vector_type(ir.FloatType(), lanes))
    return value


def narrow(b: IrBuilder, kind: Any, value: IrValue, lanes: int) -> IrValue:
    """Round the compute type to the storage type, to nearest even; a NaN stays a NaN."""
    if kind is I16:
        return b.trunc(b.lshr(_rounded_bits(b, value, lanes), _splat(I32, 16, lanes)), vector_type(I16, lanes))
    if isinstance(kind, ir.HalfType):
        return b.fptrunc(value, vector_type(kind, lanes))
    return value


def _rounded_bits(b: IrBuilder, value: IrValue, lanes: int) -> IrValue:
    """Return float32 bits whose upper half is the nearest bfloat16.

    A NaN is left as arithmetic made it: quiet, so its upper half is a NaN too.
    """
    bits = b.bitcast(value, vector_type(I32, lanes))
    return b.select(b.fcmp_ordered("ord", value, value), _rounded_up(b, bits, lanes), bits)


def _rounded_up(b: IrBuilder, bits: IrValue, lanes: int) -> IrValue:
    """Return float32 bits whose upper half is the nearest bfloat16; of a NaN only where its lower half is 0."""
    odd = b.and_(b.lshr(bits, _splat(I32, 16, lanes)), _splat(I32, 1, lanes))
    return b.add(bits, b.add(odd, _splat(I32, 0x7FFF, lanes)))


def clear_low_nan_bits(b: IrBuilder, value: IrValue, lanes: int) -> IrValue:
    """Return float32 values whose NaNs have a lower half of 0, as those of widened bfloat16 have."""
    bits = b.bitcast(value, vector_type(I32, lanes))
    kept = b.select(b.fcmp_ordered("ord", value, value), bits, _splat(I32, 0x7FC00000, lanes))
    return b.bitcast(kept, vector_type(ir.FloatType(), lanes))


def split_words(b: IrBuilder, words: IrValue, lanes: int) -> tuple[IrValue, IrValue]:
    """Read 2 * lanes bfloat16 as ``lanes`` 32-bit words: the even ones and the odd ones as float32."""
    even = b.shl(words, _splat(I32, 16, lanes))
    odd = b.and_(words, _splat(I32, 0xFFFF0000, lanes))
    return b.bitcast(even, vector_type(ir.FloatType(), lanes)), b.bitcast(odd, vector_type(ir.FloatType(), lanes))


def join_words(b: IrBuilder, even: IrValue, odd: IrValue, lanes: int) -> IrValue:
    """Round two float32 vectors to bfloat16 and put them side by side in 32-bit words.

    NaNs are as ``clear_low_nan_bits`` leaves them.
    """
    low, high = (_rounded_up(b, b.bitcast(v, vector_type(I32, lanes)), lanes) for v in (even, odd))
    return b.or_(b.lshr(low, _splat(I32, 16, lanes)), b.and_(high, _splat(I32, 0xFFFF0000, lanes)))


def prefetch(b: IrBuilder, address: IrValue) -> None:
    """Ask for the line AHEAD bytes on: what the hardware sees in several short runs it does not fetch by itself."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
    function = b.module.globals.get(PREFETCH) or ir.Function(b.module, kind, PREFETCH)
    # For reading, into every level of the cache, data.
    b.call(function, [b.inttoptr(b.add(address, I64(AHEAD)), byte), I32(0), I32(3), I32(1)])


def store(b: IrBuilder, kind: Any, value: IrValue, address: IrValue, lanes: int, stream: bool) -> None:
    """Write stored values; ``stream`` bypasses the cache, line by line, and asks for an address at a line's start."""
    if not stream:
        b.store(value, b.inttoptr(address, vector_type(kind, lanes).as_pointer()), align=BYTES[kind])
        return
    count = min(lanes, LINE // BYTES[kind])
    pointer = b.inttoptr(address, vector_type(kind, count).as_pointer())
    for first in range(0, lanes, count):
        line = (
            value if count == lanes else b.shuffle_vector(value, value, shuffle_mask(list(range(first, first + count))))
        )
        written = b.store(line, b.gep(pointer, [I32(first // count)]), align=BYTES[kind] * count)
        written.set_metadata("nontemporal", b.module.add_metadata([ir.Constant(I32, 1)]))


def turn(b: IrBuilder, x: IrValue, y: IrValue, cos: IrValue, sin: IrValue) -> tuple[IrValue, IrValue]:
    """Return (x cos - y sin, x sin + y cos); the processor may fuse a product with its sum."""
    fuse = ("contract",)
    return (
        b.fsub(b.fmul(x, cos, flags=fuse), b.fmul(y, sin, flags=fuse), flags=fuse),
        b.fadd(b.fmul(x, sin, flags=fuse), b.fmul(y, cos, flags=fuse), flags=fuse),
    )


def shuffle_mask(indices: list[int]) -> Any:
    """Return a shuffle mask."""
    return ir.Constant(ir.VectorType(I32, len(indices)), indices)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def rotate_half_block(
    _: Any, tag: Any, lanes: Any, heads: Any, stream: Any,
    x: Any, y: Any, cos: Any, sin: Any, to_x: Any, to_y: Any, apart: Any, to_apart: Any,
) -> Any:  # fmt: skip
    """Turn ``lanes`` pairs, whose members lie in two runs of memory, of each of ``heads`` heads.

    The heads lie ``apart`` bytes from one another, their results ``to_apart``; the tables are read once for all.
    """
    kind, compute = KINDS[tag]
    wide_by = lanes.literal_value
    by_words = kind is I16 and wide_by > WIDTH

    def emit(context: Any, b: IrBuilder, _: Any, args: Any) -> IrValue:
        at_x, at_y, at_c, at_s, put_x, put_y, step, to_step = args[4:]
        table = load(b, compute, at_c, wide_by), load(b, compute, at_s, wide_by)
        if by_words:
            table = _table_by_words(b, *table, wide_by // 2)
        for head in range(heads.literal_value):
            if head:
                at_x, at_y = b.add(at_x, step), b.add(at_y, step)
                put_x, put_y = b.add(put_x, to_step), b.add(put_y, to_step)
            if wide_by > 1:
                prefetch(b, at_x)
                prefetch(b, at_y)
            if by_words:
                new_x, new_y = _halves_by_words(b, at_x, at_y, table, wide_by // 2)
                store(b, I32, new_x, put_x, wide_by // 2, stream.literal_value)
                store(b, I32, new_y, put_y, wide_by // 2, stream.literal_value)
                continue
            first = widen(b, kind, load(b, kind, at_x, wide_by), wide_by)
            second = widen(b, kind, load(b, kind, at_y, wide_by), wide_by)
            new_x, new_y = turn(b, first, second, *table)
            store(b, kind, narrow(b, kind, new_x, wide_by), put_x, wide_by, stream.literal_value)
            store(b, kind, narrow(b, kind, new_y, wide_by), put_y, wide_by, stream.literal_value)
        return context.get_dummy_value()

    return types.void(tag, lanes, heads, stream, *[types.int64] * 8), emit


def _table_by_words(b: IrBuilder, cos: IrValue, sin: IrValue, words: int) -> tuple[IrValue, ...]:
    """Return the even entries of cos and sin, then the odd ones."""
    clean = [clear_low_nan_bits(b, table, 2 * words) for table in (cos, sin)]
    picked = (shuffle_mask(list(range(first, 2 * words, 2))) for first in (0, 1))
    return tuple(b.shuffle_vector(table, table, which) for which in picked for table in clean)


def _halves_by_words(
    b: IrBuilder, at_x: IrValue, at_y: IrValue, table: tuple[IrValue, ...], words: int
) -> tuple[IrValue, IrValue]:
    """Turn bfloat16 pairs two to a word, so that neither widening nor narrowing crosses lanes."""
    x_even, x_odd = split_words(b, load(b, I32, at_x, words), words)
    y_even, y_odd = split_words(b, load(b, I32, at_y, words), words)
    one_even, two_even = turn(b, x_even, y_even, *table[:2])
    one_odd, two_odd = turn(b, x_odd, y_odd, *table[2:])
    return join_words(b, one_even, one_odd, words), join_words(b, two_even, two_odd, words)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def rotate_interleaved_block(
    _: Any, tag: Any, heads: Any, stream: Any, back: Any,
    x: Any, cos: Any, sin: Any, to: Any, apart: Any, to_apart: Any,
) -> Any:  # fmt: skip
    """Turn WIDTH pairs, whose members alternate in one run of memory, of each of ``heads`` heads, as turn_halves does.

    Turning (x, y) back is turning (y, x) forward, so ``back`` only exchanges the two members.
    """
    kind, compute = KINDS[tag]
    first, second = (1, 0) if back.literal_value else (0, 1)
    pick = [shuffle_mask([2 * i + member for i in range(WIDTH)]) for member in (first, second)]
    weave = shuffle_mask([i // 2 + WIDTH * ((i + first) % 2) for i in range(2 * WIDTH)])

    def emit(context: Any, b: IrBuilder, _: Any, args: Any) -> IrValue:
        at_x, at_c, at_s, put, step, to_step = args[4:]
        c, s = load(b, compute, at_c, WIDTH), load(b, compute, at_s, WIDTH)
        if kind is I16:
            c, s = clear_low_nan_bits(b, c, WIDTH), clear_low_nan_bits(b, s, WIDTH)
        for head in range(heads.literal_value):
            if head:
                at_x, put = b.add(at_x, step), b.add(put, to_step)
            prefetch(b, at_x)
            if kind is I16:
                members = split_words(b, load(b, I32, at_x, WIDTH), WIDTH)
                turned = turn(b, members[first], members[second], c, s)
                done = join_words(b, turned[first], turned[second], WIDTH)
                store(b, I32, done, put, WIDTH, stream.literal_value)
                continue
            pairs = load(b, kind, at_x, 2 * WIDTH)
            x0, y0 = (widen(b, kind, b.shuffle_vector(pairs, pairs, p), WIDTH) for p in pick)
            new_x, new_y = turn(b, x0, y0, c, s)
            done = b.shuffle_vector(narrow(b, kind, new_x, WIDTH), narrow(b, kind, new_y, WIDTH), weave)
            store(b, kind, done, put, 2 * WIDTH, stream.literal_value)
        return context.get_dummy_value()

    return types.void(tag, heads, stream, back, *[types.int64] * 6), emit


def _move_one(_: Any, tag: Any, source: Any, target: Any) -> Any:
    """Copy one stored value from an address to another."""
    kind, _compute = KINDS[tag]

    def emit(context: Any, b: IrBuilder, _: Any, args: Any) -> IrValue:
        store(b, kind, load(b, kind, args[1], 1), args[2], 1, False)
        return context.get_dummy_value()

    return types.void(tag, types.int64, types.int64), emit


def _size_of(_: Any, tag: Any) -> Any:
    """Return the bytes of one stored value."""
    kind, _compute = KINDS[tag]

    def emit(_: Any, __: IrBuilder, ___: Any, ____: Any) -> IrValue:
        return ir.Constant(I64, BYTES[kind])

    return types.int64(tag), emit


def _table_size_of(_: Any, tag: Any) -> Any:
    """Return the bytes of one table entry, which has the compute type."""
    compute = KINDS[tag][1]

    def emit(_: Any, __: IrBuilder, ___: Any, ____: Any) -> IrValue:
        return ir.Constant(I64, BYTES[compute])

    return types.int64(tag), emit


def _read_index(_: Any, address: Any) -> Any:
    """Return the int64 at an address."""

    def emit(_: Any, b: IrBuilder, __: Any, args: Any) -> IrValue:
        return b.load(b.inttoptr(args[0], I64.as_pointer()), align=8)

    return types.int64(types.int64), emit


def _stream_line(_: Any, __: Any, ___: Any) -> Any:
    """Copy a cache line from an address to another at a line's start, past the cache."""

    def emit(context: Any, b: IrBuilder, _: Any, args: Any) -> IrValue:
        lanes = LINE // BYTES[I32]
        value = b.load(b.inttoptr(args[0], vector_type(I32, lanes).as_pointer()), align=BYTES[I32])
        store(b, I32, value, args[1], lanes, True)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _drain(_: Any) -> Any:
    """Wait until streaming stores are visible to the other cores."""

    def emit(context: Any, b: IrBuilder, _: Any, __: Any) -> IrValue:
        b.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), emit


move_one = intrinsic(_move_one)
size_of = intrinsic(_size_of)
table_size_of = intrinsic(_table_size_of)
read_index = intrinsic(_read_index)
drain = intrinsic(_drain)
stream_line = intrinsic(_stream_line)
