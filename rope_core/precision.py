"""What a number format costs: phase error against position, positions a dtype can tell apart, effect on attention."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.errors import reject, whole
from rope_core.rope import Array
from rope_core.spectrum import Spectrum, angles, as_positions

# Bits of the significand, the hidden one included, and the largest finite value.
DTYPES: dict[str, tuple[int, float]] = {
    "float64": (53, float(np.finfo(np.float64).max)),
    "float32": (24, float(np.finfo(np.float32).max)),
    "bfloat16": (8, 2.0**127 * (2 - 2.0**-7)),
    "float16": (11, 65504.0),
}
# The smallest normal exponent: below it float16 loses bits, which RoPE's slow pairs do reach.
SMALLEST = {"float64": -1022, "float32": -126, "bfloat16": -126, "float16": -14}
STAGES = ("inv_freq", "position", "angle", "table", "all")


def dtype_name(dtype: str) -> str:
    """Return ``dtype`` when it is one of DTYPES, or raise ValueError."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise reject("dtype", f"one of {', '.join(DTYPES)}", dtype)
    return dtype


def round_to(x: npt.ArrayLike, dtype: str) -> Array:
    """Round to the values that ``dtype`` holds, half to even, subnormals included; float64, same shape as x.

    Past the largest finite value (plus half a step) the result is infinite, as in the format itself.

    >>> round_to([257.0, 259.0, 1e-3], "bfloat16").tolist()
    [256.0, 260.0, 0.00099945068359375]
    >>> round_to(65520.0, "float16").item()
    inf
    """
    bits, largest = DTYPES[dtype_name(dtype)]
    values = np.asarray(x, dtype=np.float64)
    if dtype == "float64":
        return values
    exponent = np.maximum(np.frexp(values)[1] - 1, SMALLEST[dtype])
    step = np.ldexp(1.0, exponent - (bits - 1))
    rounded = np.rint(values / step) * step
    return np.where(np.abs(rounded) > largest, np.copysign(np.inf, values), rounded)


def wrap(angle: npt.ArrayLike) -> Array:
    """Return the angles reduced to [-pi, pi), rad, same shape."""
    given = np.asarray(angle, dtype=np.float64)
    return np.asarray(given - 2 * np.pi * np.floor((given + np.pi) / (2 * np.pi)))


def phase_error(s: Spectrum, positions: npt.ArrayLike, stage: str, dtype: str) -> Array:
    """Return the phase error when one stage is kept in ``dtype`` and the rest is exact, float64 (n, dim/2), rad.

    Args:
        s: frequencies, taken as exact.
        positions: integers in [0, 2**31), (n,).
        stage: "inv_freq" | "position" | "angle" (rounded position * inv_freq) | "table" (rounded cos and sin, error
            of the phase they spell) | "all" (every stage rounded in turn, as code that runs in one dtype does).
        dtype: a name in DTYPES.

    The error is not reduced by full turns, except for "table" and "all", whose tables know the phase only in
    (-pi, pi]; a position that overflows the format gives an infinite or undefined error.

    Raises ValueError on an unknown stage or dtype, or positions outside the range.

    >>> phase_error(Spectrum.of([1.0]), [257], "position", "bfloat16").tolist()
    [[-1.0]]
    """
    where = as_positions(positions).astype(np.float64)[:, None]
    if stage not in STAGES:
        raise reject("stage", f"one of {', '.join(STAGES)}", stage)
    f = s.inv_freq
    if stage == "inv_freq":
        return np.asarray(where * (round_to(f, dtype) - f))
    if stage == "position":
        return np.asarray((round_to(where, dtype) - where) * f)
    if stage == "angle":
        return np.asarray(round_to(where * f, dtype) - where * f)
    exact = angles(s, positions)
    taken = exact if stage == "table" else round_to(round_to(where, dtype) * round_to(f, dtype), dtype)
    with np.errstate(invalid="ignore"):
        cos, sin = round_to(np.cos(taken), dtype), round_to(np.sin(taken), dtype)
    return wrap(np.arctan2(sin, cos) - exact)


def phase_error_curve(s: Spectrum, positions: npt.ArrayLike, stage: str, dtype: str) -> Array:
    """Return the worst phase error over the pairs at each position, float64 (n,), rad, >= 0.

    Raises ValueError as ``phase_error`` does.

    >>> from rope_core.rope import Rope
    >>> from rope_core.spectrum import Request, spectrum
    >>> curve = phase_error_curve(spectrum(Request(Rope(128))), [0, 4096], "inv_freq", "bfloat16")
    >>> curve.round(1).tolist()
    [0.0, 5.0]
    """
    return np.asarray(np.abs(phase_error(s, positions, stage, dtype)).max(axis=1))


def table_error_curve(s: Spectrum, positions: npt.ArrayLike, stage: str, dtype: str) -> Array:
    """Return the worst error of cos and sin over the pairs at each position, float64 (n,), dimensionless.

    Stages as in ``phase_error``; all but the named one are exact.
    """
    exact = angles(s, positions)
    if stage == "table":
        cos, sin = round_to(np.cos(exact), dtype), round_to(np.sin(exact), dtype)
    else:
        taken = exact + phase_error(s, positions, stage, dtype)
        cos, sin = np.cos(taken), np.sin(taken)
    return np.asarray(np.maximum(np.abs(cos - np.cos(exact)), np.abs(sin - np.sin(exact))).max(axis=1))


def distinct_positions(length: int, dtype: str) -> tuple[int, int]:
    """Return (positions of 0..length-1 that ``dtype`` holds exactly, distinct values after rounding).

    >>> distinct_positions(4096, "bfloat16")
    (768, 769)
    """
    count = whole("length", length, 1, 2**24)
    given = np.arange(count, dtype=np.float64)
    held = round_to(given, dtype)
    return int(np.count_nonzero(held == given)), int(np.unique(held).size)


def first_collision(dtype: str) -> int:
    """Return the smallest position that rounds to another integer in ``dtype``: 2**bits + 1.

    >>> first_collision("bfloat16"), first_collision("float16"), first_collision("float32")
    (257, 2049, 16777217)
    """
    return int(2 ** DTYPES[dtype_name(dtype)][0] + 1)
