"""What a number format costs: phase error against position, positions a dtype can tell apart, effect on attention."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Array
from rope_core.spectrum import MAX_POSITION, Spectrum, checked_positions, position_angles
from rope_core.theory.attention import pair_score_coefficients

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
        raise argument_error("dtype", "one_of", dtype, names=list(DTYPES))
    return dtype


def round_to_dtype(x: npt.ArrayLike, dtype: str) -> Array:
    """Round to the values that ``dtype`` holds, half to even, subnormals included; float64, same shape as x.

    Past the largest finite value (plus half a step) the result is infinite, as in the format itself.

    >>> round_to_dtype([257.0, 259.0, 1e-3], "bfloat16").tolist()
    [256.0, 260.0, 0.00099945068359375]
    >>> round_to_dtype(65520.0, "float16").item()
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


def wrapped_angle(angle: npt.ArrayLike) -> Array:
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

    >>> phase_error(Spectrum.from_inv_freq([1.0]), [257], "position", "bfloat16").tolist()
    [[-1.0]]
    """
    where = checked_positions(positions).astype(np.float64)[:, None]
    if stage not in STAGES:
        raise argument_error("stage", "one_of", stage, names=list(STAGES))
    f = s.inv_freq
    if stage == "inv_freq":
        return np.asarray(where * (round_to_dtype(f, dtype) - f))
    if stage == "position":
        with np.errstate(invalid="ignore"):
            return np.asarray((round_to_dtype(where, dtype) - where) * f)
    if stage == "angle":
        return np.asarray(round_to_dtype(where * f, dtype) - where * f)
    exact = position_angles(s, positions)
    with np.errstate(invalid="ignore"):
        taken = (
            exact
            if stage == "table"
            else round_to_dtype(round_to_dtype(where, dtype) * round_to_dtype(f, dtype), dtype)
        )
        cos, sin = round_to_dtype(np.cos(taken), dtype), round_to_dtype(np.sin(taken), dtype)
    return wrapped_angle(np.arctan2(sin, cos) - exact)


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


def exact_and_distinct_position_counts(length: int, dtype: str) -> tuple[int, int]:
    """Return (positions of 0..length-1 that ``dtype`` holds exactly, distinct values after rounding).

    >>> exact_and_distinct_position_counts(4096, "bfloat16")
    (768, 769)
    """
    count = checked_int("length", length, 1, 2**24)
    given = np.arange(count, dtype=np.float64)
    held = round_to_dtype(given, dtype)
    return int(np.count_nonzero(held == given)), int(np.unique(held).size)


def first_rounded_position(dtype: str) -> int:
    """Return the smallest position that rounds to another integer in ``dtype``: 2**bits + 1.

    >>> first_rounded_position("bfloat16"), first_rounded_position("float16"), first_rounded_position("float32")
    (257, 2049, 16777217)
    """
    return int(2 ** DTYPES[dtype_name(dtype)][0] + 1)


def score_under_rounding(
    s: Spectrum, positions: npt.ArrayLike, distance: int, stage: str, dtype: str, q: npt.ArrayLike, k: npt.ArrayLike
) -> Array:
    """Return the score of q at p + distance and k at p for each p, with one stage in ``dtype``, float64 (n,).

    In exact arithmetic it is the same for every p; rounding makes it depend on the positions.

    Args:
        s: frequencies; attention_factor enters squared.
        positions: integers p in [0, 2**31 - distance), (n,).
        distance: tokens, >= 0.
        stage, dtype: as in ``phase_error``.
        q, k: interleaved head vectors (dim,).

    Raises ValueError as ``phase_error`` and ``pair_score_coefficients`` do; past a format's largest value it is nan.

    >>> q = k = [1.0, 0.0]
    >>> score_under_rounding(Spectrum.from_inv_freq([1.0]), [0, 256], 1, "position", "bfloat16", q, k).round(4).tolist()
    [0.5403, 1.0]
    """
    where, apart = checked_positions(positions), checked_int("distance", distance, 0, MAX_POSITION)
    h = pair_score_coefficients(q, k, "interleaved")
    near, far = (phase_error(s, at, stage, dtype) for at in (where, where + apart))
    with np.errstate(invalid="ignore"):
        phase = position_angles(s, [apart]) + far - near
        return np.asarray((np.exp(1j * phase) * h).real.sum(axis=1) * s.attention_factor**2)


@dataclass(frozen=True)
class TableError:
    """One way to make a cos and sin table in float32.

    Attributes:
        error: largest error of an entry against float64 of the exactly reduced phase.
        over_floor: time over the time of a copy of as many bytes, measured in the same interleaved rounds.
        stored: numbers that the way keeps.
    """

    error: float
    over_floor: float
    stored: int


CosSin = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def way_float32(s: Spectrum, positions: npt.NDArray[np.int64]) -> CosSin:
    """Return cos and sin of float32 angles, (n, dim/2): what most code does."""
    angle = positions.astype(np.float32)[:, None] * s.inv_freq.astype(np.float32)
    return np.cos(angle), np.sin(angle)


def way_float64(s: Spectrum, positions: npt.NDArray[np.int64]) -> CosSin:
    """Return cos and sin of float64 angles, rounded once, (n, dim/2)."""
    angle = positions.astype(np.float64)[:, None] * s.inv_freq
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def way_fixed_point(s: Spectrum, positions: npt.NDArray[np.int64]) -> CosSin:
    """Return cos and sin of the phase reduced in 64-bit fixed point, (n, dim/2): integers only up to the last step."""
    angle = position_angles(s, positions).astype(np.float32)
    return np.cos(angle), np.sin(angle)


def way_split(s: Spectrum, positions: npt.NDArray[np.int64]) -> CosSin:
    """Return cos and sin from two small tables, (n, dim/2): e^{i(coarse + fine)} = e^{i coarse} e^{i fine}."""
    low, high = int(positions.min()), int(positions.max())
    first = low - low % SPLIT
    coarse_angle, fine_angle = (
        position_angles(s, np.arange(first, high + 1, SPLIT)),
        position_angles(s, np.arange(SPLIT)),
    )
    coarse = np.exp(1j * coarse_angle).astype(np.complex64)
    fine = np.exp(1j * fine_angle).astype(np.complex64)
    at = positions - first
    table = coarse[at // SPLIT] * fine[at % SPLIT]
    return table.real, table.imag


SPLIT = 512
WAYS = {
    "float32": way_float32,
    "float64": way_float64,
    "fixed_point": way_fixed_point,
    "split_table": way_split,
}


def compare_table_methods(s: Spectrum, start: int, length: int, rounds: int = 5) -> dict[str, TableError]:
    """Build the tables of positions start.. in each way, check each answer, and time it beside a plain copy.

    Args:
        s: frequencies.
        start, length: consecutive positions, length 2..2**18.
        rounds: interleaved rounds; each way's best time counts.

    Raises:
        ValueError: on positions outside [0, 2**31).
    """
    n, count = checked_int("length", length, 2, 2**18), checked_int("rounds", rounds, 1, 100)
    first = checked_int("start", start, 0, 2**31 - n)
    positions = np.arange(first, first + n)
    exact = position_angles(s, positions)
    truth = np.cos(exact), np.sin(exact)
    source = np.ones((2, n, s.inv_freq.size), dtype=np.float32)
    target = np.empty_like(source)
    best = dict.fromkeys((*WAYS, "copy"), math.inf)
    answers: dict[str, CosSin] = {}
    for _ in range(count):
        for name, way in WAYS.items():
            began = time.perf_counter()
            answers[name] = way(s, positions)
            best[name] = min(best[name], time.perf_counter() - began)
        began = time.perf_counter()
        np.copyto(target, source)
        best["copy"] = min(best["copy"], time.perf_counter() - began)
    stored = dict.fromkeys(WAYS, 2 * n * s.inv_freq.size)
    stored["split_table"] = 2 * (SPLIT + -(-(n + first % SPLIT) // SPLIT)) * s.inv_freq.size
    stored["fixed_point"] = s.inv_freq.size
    return {
        name: TableError(
            max(float(np.abs(mine - right).max()) for mine, right in zip(answers[name], truth, strict=True)),
            best[name] / best["copy"],
            stored[name],
        )
        for name in WAYS
    }
