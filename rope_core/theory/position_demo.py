"""What a wrong position does to attention: two texts in one row, and keys that stay in a cache while words are dropped.

All words here have the same vector, every entry 1, so that attention follows from the positions alone.
"""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array, Rope
from rope_core.theory.packing import PositionIds, cumulative_lengths, packed_positions, token_segment_ids
from rope_core.theory.softmax import softmax

WAYS = ("kept", "moved", "renumbered")
"""What may become of positions as words are dropped: all are kept; all are renumbered and the cached keys are turned
back by the difference; the new word alone is renumbered."""


def attention_by_distance(rope: Rope, distances: Array) -> Array:
    """Return the attention that a query gives to keys of its own vector, float64 (keys,), of 1 in all.

    Args:
        rope: its frequencies.
        distances: query minus key as their angles have it, (keys,); nan for a key that the query does not see.

    >>> attention_by_distance(Rope(16, 100.0, 64), np.array([np.nan, 1.0, 0.0])).round(3).tolist()
    [0.0, 0.415, 0.585]
    """
    scores = np.sqrt(rope.dim) * np.cos(distances[:, None] * rope.theta).mean(axis=1)
    return softmax(np.where(np.isnan(scores), -np.inf, scores))


def last_token_distances(lengths: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the distances that the last word of packed texts reads, (tokens,) each: texts kept apart, and mixed.

    Positions begin at 0 in every text. nan: a word of another text, which is not seen where they are kept apart.

    >>> [reads.tolist() for reads in last_token_distances((1, 2))]
    [[nan, 1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    cuts = cumulative_lengths(lengths)
    ids, texts = packed_positions(cuts), token_segment_ids(cuts)
    mixed = (ids[-1] - ids).astype(np.float64)
    return np.where(texts == texts[-1], mixed, np.nan), mixed


def stored_and_new_positions(count: int, fillers: int) -> tuple[PositionIds, int]:
    """Return the positions of stored words, (count,), and of the new word where ``fillers`` come before the text.

    Stored words are numbered by their places in the row, fillers counted in; the new word by the words before it.

    >>> [each if isinstance(each, int) else each.tolist() for each in stored_and_new_positions(3, 2)]
    [[2, 3, 4], 3]
    """
    return np.arange(fillers, fillers + count), count


def cached_key_distances_by_mode(count: int, dropped: int) -> dict[str, Array]:
    """Return the distances that a new word reads to the keys that a cache keeps, by WAYS, (count - dropped,) each.

    The cache held words 0 to ``count - 1``, each key turned by its own position, and drops the first ``dropped``.

    >>> {way: reads.tolist() for way, reads in cached_key_distances_by_mode(4, 2).items()}
    {'kept': [2.0, 1.0], 'moved': [2.0, 1.0], 'renumbered': [0.0, -1.0]}
    """
    stored = np.arange(dropped, count)
    turned: dict[str, tuple[int, PositionIds]] = {
        "kept": (count, stored),
        "moved": (count - dropped, stored - dropped),
        "renumbered": (count - dropped, stored),
    }
    return {way: (query - keys).astype(np.float64) for way, (query, keys) in turned.items()}
