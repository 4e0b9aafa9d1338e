"""The CPU kernels' arithmetic of single values and rows: exponential, normal share, sine and cosine in float32.

Written so that loops over it run on vectors. Numba's cache looks at the file of the kernel only: after a change here,
cpu_kernels.py has to be touched, or rope_core/lrpe/__pycache__ cleared.
"""

# The compilers infer these functions' types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
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


@intrinsic
def bits_of(_context: Any, value: Any) -> Any:
    """Reinterpret a float32 as int32."""
    return types.int32(types.float32), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(32))


@intrinsic
def float_of(_context: Any, value: Any) -> Any:
    """Reinterpret an int32 as float32."""
    return types.float32(types.int32), lambda _c, b, _s, args: b.bitcast(args[0], ir.FloatType())


@intrinsic
def wide(_context: Any) -> Any:
    """Let the calling function's loops use 512-bit vectors, which LLVM avoids by default."""

    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        # llvmlite checks attributes against a list of the plain ones; this one is a string pair.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


@nb.njit(**STRICT)
def exp32(x):
    """e^x within 2 ulp; 0 below -87.7, infinity above 88.4, NaN for NaN."""
    x = F(-87.9) if x < F(-87.9) else x
    x = F(88.9) if x > F(88.9) else x
    z = x * LOG2E + ROUNDER
    n = z - ROUNDER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = ((((E3 * r + E2) * r + E1) * r + E0) * r + ONE) * r + ONE
    return p * float_of((bits_of(z) + I32(127)) << I32(23))


@nb.njit(**STRICT)
def sigmoid32(x):
    """1 / (1 + e^-x)."""
    return ONE / (ONE + exp32(-x))


@nb.njit(**STRICT)
def normal32(x):
    """Return the standard normal's share below x, and e^(-x^2 / 2)."""
    t = ONE / (ONE + HALF * ROOT_HALF * abs(x))
    bell = exp32(-HALF * x * x)
    g = (((((((G8 * t + G7) * t + G6) * t + G5) * t + G4) * t + G3) * t + G2) * t + G1) * t + G0
    tail = HALF * bell * g * t
    return (tail if x < ZERO else ONE - tail), bell


# The activations of one element; ``k`` is a row's factor, which only ``scaled`` reads.


@nb.njit(**STRICT)
def same(x, k):
    """x itself."""
    return x


@nb.njit(**STRICT)
def scaled(x, k):
    """x times the row's factor."""
    return x * k


@nb.njit(**STRICT)
def relu(x, k):
    """x above zero, else 0; NaN stays NaN."""
    return ZERO if x <= ZERO else x


@nb.njit(**STRICT)
def sigmoid(x, k):
    """1 / (1 + e^-x)."""
    return sigmoid32(x)


@nb.njit(**STRICT)
def silu(x, k):
    """x / (1 + e^-x)."""
    return x * sigmoid32(x)


@nb.njit(**STRICT)
def gelu(x, k):
    """x times the standard normal's share below x."""
    return x * normal32(x)[0]


@nb.njit(**STRICT)
def one_elu(x, k):
    """x + 1 above zero, else e^x."""
    e = exp32(x)
    return x + ONE if x > ZERO else e


@nb.njit(**STRICT)
def relu2(x, k):
    """Return the square of x above zero, else 0."""
    v = ZERO if x <= ZERO else x
    return v * v


@nb.njit(**STRICT)
def fill_turns(step, position, cos, sin):
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


@nb.njit(**STRICT)
def row_max(row):
    """Return the largest value, through integers that order as the floats do: such a maximum runs on vectors."""
    wide()
    best = I32(-(2**31))
    for i in range(row.size):
        b = bits_of(row[i])
        key = b ^ ((b >> I32(31)) & I32(0x7FFFFFFF))
        best = key if key > best else best
    return float_of(best ^ ((best >> I32(31)) & I32(0x7FFFFFFF)))


@nb.njit(**FREE_SUM)
def row_dot(a, b):
    """Return the scalar product, in the order that suits the vectors."""
    wide()
    total = ZERO
    for i in range(a.size):
        total += a[i] * b[i]
    return total
