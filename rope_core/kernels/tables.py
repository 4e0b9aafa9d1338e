"""cos and sin tables on all CPU threads, at about the speed at which memory takes them.

Consecutive positions are split as coarse + fine, and a row is the complex product of a coarse row and a fine row, both
built in float64 from the 64-bit fixed-point phase; other positions are built from the phase one by one.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from rope_core.spectrum import MAX_POSITION, Spectrum, Tables, as_positions, refuse_huge, table_dtype, tables
from rope_core.spectrum import cos_sin as plain_cos_sin

FINE = 128

# Taylor series in quarter turns: on [-1/2, 1/2] the first term left out is below 1e-11.
SIN = tuple((-1) ** k * (math.pi / 2) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(6))
COS = tuple((-1) ** k * (math.pi / 2) ** (2 * k) / math.factorial(2 * k) for k in range(7))
S0, S1, S2, S3, S4, S5 = SIN
C0, C1, C2, C3, C4, C5, C6 = COS


class _OneAtATime:
    """A lock around every parallel kernel: OpenMP's pool in numba's fallback layer ends the process on two callers.

    The first launch starts numba's pool, which gives OpenMP the number of numba's threads and so overrides
    torch.set_num_threads; torch's number is put back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = False

    def __enter__(self) -> None:
        self._lock.acquire()
        torch = sys.modules.get("torch")
        self._threads = None if self._started or torch is None else torch.get_num_threads()

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            sys.modules["torch"].set_num_threads(self._threads)
        self._started = True
        self._lock.release()


ONE_AT_A_TIME = _OneAtATime()


@functools.cache
def _sources(folder: Path) -> str:
    """Return a digest of the Python files beside a compiled function."""
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


def stamped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Name a function after its room's sources too, and return it.

    numba keeps compiled code under that name until the function's own file changes, whatever it imports.
    """
    function.__qualname__ += f"_{_sources(Path(function.__code__.co_filename).parent)}"
    return function


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return numba's decorator with its disk cache, or without it and with a warning where no cache can be written."""

    chosen = {"nogil": True} | options

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        stamped(function)
        try:
            return numba.njit(cache=True, **chosen)(function)  # type: ignore[no-any-return]
        except RuntimeError as error:
            warnings.warn(f"numba compiles anew in every process: {error}; set NUMBA_CACHE_DIR", stacklevel=2)
            return numba.njit(**chosen)(function)  # type: ignore[no-any-return]

    return decorate


@compiled(fastmath={"contract"})
def _write_row(position: Any, steps: Any, cos: Any, sin: Any) -> None:
    """Write cos and sin of one position's phases into two rows, from series in float64 and the phase's quadrant."""
    for j in range(steps.size):
        phase = np.int64(np.uint64(position) * steps[j])
        quadrant = (phase + (np.int64(1) << np.int64(61))) >> np.int64(62)
        x = np.float64(phase - (quadrant << np.int64(62))) * 2.0**-62
        z = x * x
        s = x * (S0 + z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * S5)))))
        c = C0 + z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
        odd = (quadrant & 1) != 0
        a = s if odd else c
        b = c if odd else s
        cos[j] = -a if ((quadrant + 1) & 2) != 0 else a
        sin[j] = -b if (quadrant & 2) != 0 else b


@compiled(parallel=True, fastmath={"contract"})
def _fill_consecutive(start: Any, steps: Any, cos: Any, sin: Any) -> None:
    rows, pairs = cos.shape
    fine_cos = np.empty((FINE, pairs), np.float32)
    fine_sin = np.empty((FINE, pairs), np.float32)
    for k in range(min(FINE, rows)):
        _write_row(k, steps, fine_cos[k], fine_sin[k])
    for block in numba.prange((rows + FINE - 1) // FINE):
        low = block * FINE
        c = np.empty(pairs, np.float32)
        d = np.empty(pairs, np.float32)
        _write_row(start + low, steps, c, d)
        for k in range(min(FINE, rows - low)):
            fc, fs, to_cos, to_sin = fine_cos[k], fine_sin[k], cos[low + k], sin[low + k]
            for j in range(pairs):
                to_cos[j] = fc[j] * c[j] - fs[j] * d[j]
            for j in range(pairs):
                to_sin[j] = fs[j] * c[j] + fc[j] * d[j]


@compiled(parallel=True)
def _fill_any(positions: Any, steps: Any, cos: Any, sin: Any) -> None:
    for i in numba.prange(positions.size):
        _write_row(positions[i], steps, cos[i], sin[i])


@compiled()
def _is_run(positions: Any) -> bool:
    """Return whether positions are start, start + 1, ..."""
    gaps = 0
    for i in range(positions.size):
        gaps |= positions[i] - positions[0] - i
    return gaps == 0


def cos_sin(
    s: Spectrum, positions: npt.ArrayLike, dtype: npt.DTypeLike = "float32", out: Tables | None = None
) -> Tables:
    """Return what rope_core.cos_sin returns, on numba's threads; only float32 has a fast path.

    Args:
        s: a Spectrum (dim/2 frequencies).
        positions: integers in [0, 2**31), (n,), any order.
        dtype: "float32"; "float64" and "float16" are handed to rope_core.cos_sin.
        out: two preallocated C-contiguous (n, dim/2) arrays of ``dtype`` to write into; without them most of the time
            goes into the system's page faults.

    Raises:
        ValueError: on positions outside the range, or an ``out`` of another shape or dtype.

    The float32 error is at most 2e-7 against exact arithmetic with inv_freq taken as exact, at every position.

    >>> from rope_core import Request, Rope, spectrum
    >>> c, s_ = cos_sin(spectrum(Request(Rope(2, 10.0))), [0, 1])
    >>> c.round(6).tolist() == np.float32([[1.0], [0.540302]]).tolist(), s_.shape
    (True, (2, 1))
    """
    if table_dtype(dtype) != np.dtype("float32"):
        return plain_cos_sin(s, positions, dtype, out)
    refuse_huge(s, positions)
    where, run = _checked(positions)
    cos, sin = tables(s, where.size, np.dtype("float32"), out)
    with ONE_AT_A_TIME:
        if run:
            _fill_consecutive(where[0], s.phase_step, cos, sin)
        else:
            _fill_any(where, s.phase_step, cos, sin)
    return cos, sin


def _checked(positions: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], bool]:
    """Return positions as int64 and whether they are a run; of a run only the ends need their range checked."""
    if (
        isinstance(positions, np.ndarray)
        and positions.dtype == np.int64
        and positions.ndim == 1
        and 0 < positions.size <= MAX_POSITION
        and _is_run(positions)
    ):
        as_positions(positions[[0, -1]])
        return positions, True
    where = as_positions(positions)
    return where, bool(where.size) and _is_run(where)
