"""Two tasks that need what is far back: a pass key, and a stretch of text that occurs twice.

They are the simplest forms of what two long-context benchmarks ask: RULER's single needle, whose first variant is the
pass key (arXiv:2404.06654, table 2), and HELMET's recall (arXiv:2410.02694, section 2.1). They are not these
benchmarks: no instruction, the visitor's text as filler, and the true answer is read whatever was predicted.
"""

from __future__ import annotations

import numpy as np

from rope_core.errors import argument_error
from rope_core.evaluate.texts import TextTokenizer, TokenIds
from rope_core.lab import copying, passkey

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def hidden_number_example(
    tokenizer: TextTokenizer, filler: TokenIds, length: int, depth: float, rng: np.random.Generator
) -> tuple[TokenIds, int]:
    """Return ``length`` tokens that hide a number at a depth and end in it, and how many tokens the answer takes.

    Args:
        coder: of the model.
        filler: int64 (n,), the text around it; a stretch of it is drawn.
        length: tokens in all.
        depth: 0 at the start, 1 just before the question.
        rng: draws the number and the stretch.

    Raises ValueError where the length does not hold the number's lines, or the filler is too short.
    """
    key = bytes(rng.integers(ord("0"), ord("9") + 1, passkey.DIGITS, dtype=np.uint8))
    line = tokenizer.encode(passkey.HIDE % (key, key))
    ask, whole = tokenizer.encode(passkey.ASK), tokenizer.encode(passkey.ASK + key)
    # A tokenizer may join the space before the number to it: the answer is what the whole has beyond the question.
    same = next((i for i, (a, b) in enumerate(zip(ask, whole, strict=False)) if a != b), min(len(ask), len(whole)))
    fill = length - len(tokenizer.begin) - len(line) - len(whole)
    if fill < 1:
        raise argument_error("length", "at_least", length, low=length - fill + 1)
    if len(filler) < fill:
        raise argument_error("--text", "eval_text", f"{len(filler):,}", low=fill, length=length)
    start = int(rng.integers(0, len(filler) - fill + 1))
    around, cut = filler[start : start + fill].tolist(), round(depth * fill)
    ids = [*tokenizer.begin, *around[:cut], *line, *around[cut:], *whole]
    return np.asarray(ids, dtype=np.int64), len(whole) - same


def min_passkey_length(tokenizer: TextTokenizer) -> int:
    """Return the length in tokens from which a pass key can be hidden, with a little text around it."""
    key = b"0" * passkey.DIGITS
    return (
        len(tokenizer.begin)
        + len(tokenizer.encode(passkey.HIDE % (key, key)))
        + len(tokenizer.encode(passkey.ASK + key))
        + 16
    )


def passkey_examples(
    tokenizer: TextTokenizer, filler: TokenIds, length: int, depth: float, trials: int, seed: int
) -> list[tuple[TokenIds, int]]:
    """Return ``trials`` examples of one length and depth, the same for every line."""
    rng = np.random.default_rng((seed, length, round(depth * 1e6)))
    return [hidden_number_example(tokenizer, filler, length, depth, rng) for _ in range(trials)]


def copy_examples(
    tokenizer: TextTokenizer, filler: TokenIds, length: int, distance: int, trials: int, seed: int
) -> TokenIds:
    """Return examples, int64 (trials, length + 1), whose last tokens repeat those that begin ``distance`` earlier."""
    size = length + 1 - len(tokenizer.begin)
    if len(filler) < size:
        raise argument_error("--text", "eval_text", f"{len(filler):,}", low=size, length=length)
    rng = np.random.default_rng((seed, length, distance))
    examples = np.stack([copying.copy_example(filler, size, distance, rng) for _ in range(trials)])
    return np.concatenate([np.tile(np.asarray(tokenizer.begin, dtype=np.int64), (trials, 1)), examples], 1)


def copy_distances(length: int, trained_length: int) -> tuple[int, ...]:
    """Return distances for copying: from within the trained length to nearly the whole window, by doubling.

    >>> copy_distances(2048, 256)
    (96, 192, 384, 768, 1536)
    """
    far, at = [], max(copying.SPAN + 1, 3 * trained_length // 8)
    while at <= length - copying.SPAN - 1:
        far.append(at)
        at *= 2
    return tuple(far)
