"""What a cache keeps and what is never rotated: keys after rotation, values as they are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Array
from rope_core.theory.encodings.rotary import position_angles, rotate_rows
from rope_core.theory.softmax import softmax


def _heads(q: npt.ArrayLike, k: npt.ArrayLike) -> tuple[Array, Array]:
    query, key = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    if query.ndim != 2 or query.shape != key.shape:
        raise argument_error("q and k", "two matrices (n, dim) of one shape", (query.shape, key.shape))
    return query, key


def decode_logits(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    inv_freq: npt.ArrayLike,
    cached_inv_freq: npt.ArrayLike | None = None,
    positions: npt.ArrayLike | None = None,
) -> Array:
    """Return the last query's logits against a cache of rotated keys, float64 (n,), divided by sqrt(dim).

    Args:
        q, k: (n, dim), one row a token.
        inv_freq: what the new query and its own key turn by, rad/token (dim/2,).
        cached_inv_freq: what the earlier keys were turned by when they were cached; None for the same.
        positions: the positions of the rows, (n,); None for row t at position t.

    Raises:
        ValueError: when the shapes do not fit.
    """
    query, key = _heads(q, k)
    places = np.arange(query.shape[0]) if positions is None else np.asarray(positions)
    now = position_angles(places, inv_freq)
    before = now if cached_inv_freq is None else position_angles(places, cached_inv_freq)
    cache = np.concatenate([rotate_rows(key, before)[:-1], rotate_rows(key, now)[-1:]])
    return np.asarray(cache @ rotate_rows(query, now)[-1] / math.sqrt(query.shape[1]))


def attention_output(
    q: npt.ArrayLike, k: npt.ArrayLike, v: npt.ArrayLike, inv_freq: npt.ArrayLike, start: int, rotate_v: bool
) -> Array:
    """Return softmax(rotated scores) v, float64 (n, dim), no mask; row t of q, k and v is at start + t.

    Args:
        q, k, v: (n, dim).
        inv_freq: rad/token (dim/2,).
        start: position of the first row, 0..2**31.
        rotate_v: turn v too.
    """
    query, key = _heads(q, k)
    value = _heads(k, v)[1]
    first = checked_int("start", start, 0, 2**31)
    angle = position_angles(np.arange(first, first + query.shape[0]), inv_freq)
    weights = softmax(rotate_rows(query, angle) @ rotate_rows(key, angle).T / math.sqrt(query.shape[1]))
    return np.asarray(weights @ (rotate_rows(value, angle) if rotate_v else value))
