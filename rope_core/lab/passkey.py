"""The passkey task: a number hidden in text, and a question for it at the end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int

DIGITS = 5
HIDE = b"\n# The pass key is %s. Remember it: %s.\n"
ASK = b"\n# What is the pass key? The pass key is "
FRAME = len(HIDE) + 2 * (DIGITS - 2) + len(ASK) + DIGITS


def passkey_example(
    text: npt.NDArray[np.uint8], length: int, depth: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.uint8], bytes]:
    """Return ``length`` bytes that end in the answer, and the answer's five digits.

    Args:
        text: uint8 (n,), the filler; a stretch of it is drawn.
        length: bytes in all, the answer included.
        depth: where the key is: 0 at the start, 1 just before the question.
        rng: draws the key and the filler.

    Raises ValueError when the length cannot hold the two lines, or the text is shorter than the filler.
    """
    fill = checked_int("length", length, FRAME + 8, 2**20) - FRAME
    where = checked_finite("depth", depth)
    if not 0.0 <= where <= 1.0:
        raise argument_error("depth", "number_range", depth, low=0, high=1)
    if len(text) < fill:
        raise argument_error("text", "filler_bytes", len(text), low=fill)
    key = bytes(rng.integers(ord("0"), ord("9") + 1, DIGITS, dtype=np.uint8))
    start = int(rng.integers(0, len(text) - fill + 1))
    filler = text[start : start + fill].tobytes()
    cut = round(where * fill)
    filled = filler[:cut] + HIDE % (key, key) + filler[cut:] + ASK + key
    return np.frombuffer(filled, dtype=np.uint8), key


def passkey_examples(
    text: npt.NDArray[np.uint8], count: int, length: int, rng: np.random.Generator, depth: float | None = None
) -> npt.NDArray[np.uint8]:
    """Return ``count`` examples, uint8 (count, length), at one depth or drawn ones."""
    depths = [rng.uniform() if depth is None else depth for _ in range(count)]
    return np.stack([passkey_example(text, length, each, rng)[0] for each in depths])
