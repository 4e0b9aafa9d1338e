"""The copying task: a stretch of text that occurs a second time, far behind its first occurrence.

The simplest form of what long-context benchmarks call copying or recall (HELMET, arXiv:2410.02694): whoever still sees
the first occurrence can predict the second one byte for byte, whoever reads the last bytes only cannot. The heads that
do it are induction heads (Olsson et al., arXiv:2209.11895).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int

SPAN = 64
"""Bytes of the stretch."""
ByteArray = npt.NDArray[np.uint8]


def copy_example(text: npt.NDArray[Any], length: int, distance: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Return ``length`` bytes of text, uint8 (length,), whose last SPAN repeat those that begin ``distance`` earlier.

    Args:
        text: uint8 (n,); the filler and the stretch are drawn from it. Token ids of another integer type do as well.
        length: bytes in all.
        distance: bytes from the start of the first occurrence to the start of the second.
        rng: draws the filler and the stretch.

    Raises ValueError when the two occurrences overlap or do not fit, or the text is shorter than the length.

    >>> made = copy_example(np.arange(256, dtype=np.uint8), 200, 100, np.random.default_rng(0))
    >>> bool((made[-SPAN:] == made[-SPAN - 100 : -100]).all()), made.shape
    (True, (200,))
    """
    checked_int("length", length, 2 * SPAN, 2**20)
    checked_int("distance", distance, SPAN, length - SPAN)
    if len(text) < length:
        raise argument_error("text", f"at least {length} bytes", len(text))
    start, other = (int(rng.integers(0, len(text) - size + 1)) for size in (length, SPAN))
    copy = text[start : start + length].copy()
    copy[-SPAN:] = copy[length - SPAN - distance : length - distance] = text[other : other + SPAN]
    return copy


def copy_examples(text: ByteArray, count: int, length: int, rng: np.random.Generator, distance: int) -> ByteArray:
    """Return ``count`` examples at one distance, uint8 (count, length)."""
    return np.stack([copy_example(text, length, distance, rng) for _ in range(count)])


def copy_training_windows(text: ByteArray, count: int, length: int, rng: np.random.Generator) -> ByteArray:
    """Return windows to learn copying from, uint8 (count, length): every second one says one stretch again and again.

    The stretch is of text, 16 bytes to half a window long, short ones as often as long ones on a logarithmic scale.
    """
    starts = rng.integers(0, len(text) - length + 1, count)
    periods = np.exp(rng.uniform(np.log(16), np.log(length // 2), count)).astype(int)
    rows = [text[start : start + length] for start in starts]
    return np.stack(
        [
            np.resize(row[:period], length) if i % 2 else row
            for i, (row, period) in enumerate(zip(rows, periods, strict=True))
        ]
    )
