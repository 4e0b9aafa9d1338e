"""What happens to attention scores when weights of one layout run in the other, and when the conversion goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.layout import DimIndices, Layout, checked_even_dim, checked_layout, convert, convert_projection
from rope_core.rope import Array
from rope_core.rotation import rotate, rotation_matrix

IN_WIDTH = 32
TOKENS = 16


@dataclass(frozen=True)
class LayoutRotations:
    """One head vector rotated at n positions, in each layout by its own code and by the other's, float64 (n, dim) each.

    ``interleaved``, ``half``: by their own code; ``mixed``: the half-split vector rotated as if it were interleaved;
    ``order`` takes an interleaved vector to a half-split one.
    """

    interleaved: Array
    half: Array
    mixed: Array
    order: DimIndices


def rotations_in_both_layouts(
    inv_freq: npt.ArrayLike, positions: npt.ArrayLike, seed: int | np.random.Generator = 0
) -> LayoutRotations:
    """Rotate a drawn vector whose pairs have length 1 at ``positions``, in both layouts and by the other's code.

    >>> both = rotations_in_both_layouts([1.0, 0.01], [0, 3])
    >>> bool((both.interleaved[:, both.order] == both.half).all()), bool((both.mixed == both.half).all())
    (True, False)
    """
    theta = np.asarray(inv_freq, dtype=np.float64)
    pairs = np.random.default_rng(seed).standard_normal((theta.size, 2))
    x = (pairs / np.linalg.norm(pairs, axis=1, keepdims=True)).ravel()
    angle = np.asarray(positions, dtype=np.float64)[:, None] * theta
    order = convert(x.size, "interleaved", "half")

    def turned(vector: Array, layout: str) -> Array:
        tiled = np.tile(vector, (len(angle), 1, 1))
        return np.asarray(rotate(tiled, np.cos(angle), np.sin(angle), layout)[:, 0])

    return LayoutRotations(
        turned(x, "interleaved"),
        turned(x[order], "half"),
        turned(x[order], "interleaved"),
        order,
    )


def mixed_layout_score_error(inv_freq: npt.ArrayLike, distances: npt.ArrayLike) -> Array:
    """Return how wrong scores are where numbers of one layout are turned in the other's, float64 (distances,).

    The root mean square error over queries and keys of any direction, as a share of the right scores' root mean square:
    the Frobenius norm of the two rotations' difference over that of one. Unrelated scores would give sqrt(2).

    >>> mixed_layout_score_error([1.0, 0.1], [0, 3]).round(2).tolist()
    [0.0, 1.41]
    """
    theta = np.asarray(inv_freq, dtype=np.float64)
    both = [[rotation_matrix(d, theta, layout) for layout in ("interleaved", "half")] for d in np.asarray(distances)]
    errors = np.array([float(np.linalg.norm(neighbours - halves)) for neighbours, halves in both])
    return np.asarray(errors / np.sqrt(2 * theta.size))


@dataclass(frozen=True)
class HeadShapes:
    """The heads of a grouped-query attention: ``kv_heads`` key heads, ``group`` query heads on each, of one width."""

    head_dim: int
    kv_heads: int
    group: int

    def __post_init__(self) -> None:
        checked_even_dim("head_dim", self.head_dim)
        checked_int("kv_heads", self.kv_heads, 1, 1024)
        checked_int("group", self.group, 1, 1024)

    @property
    def heads(self) -> int:
        """Number of query heads."""
        return self.kv_heads * self.group


@dataclass(frozen=True)
class QueryKeyProjections:
    """A query and a key projection and the hidden states they act on.

    ``w_q`` (heads * head_dim, in), ``w_k`` (kv_heads * head_dim, in), ``x_q`` and ``x_k`` (tokens, in), float64.
    """

    w_q: Array
    w_k: Array
    x_q: Array
    x_k: Array


@lru_cache(maxsize=4)
def drawn_projections(shapes: HeadShapes, seed: int = 0) -> QueryKeyProjections:
    """Draw projections and hidden states whose queries and keys have entries of variance 1, the same for one seed."""
    rng = np.random.default_rng(seed)
    w_q = rng.standard_normal((shapes.heads * shapes.head_dim, IN_WIDTH)) / np.sqrt(IN_WIDTH)
    w_k = rng.standard_normal((shapes.kv_heads * shapes.head_dim, IN_WIDTH)) / np.sqrt(IN_WIDTH)
    return QueryKeyProjections(
        w_q, w_k, rng.standard_normal((TOKENS, IN_WIDTH)), rng.standard_normal((TOKENS, IN_WIDTH))
    )


def grouped_head_scores(
    projections: QueryKeyProjections,
    shapes: HeadShapes,
    distances: npt.ArrayLike,
    inv_freq: npt.ArrayLike,
    layout: str | Layout,
) -> Array:
    """Return the scores of every token pair and query head at each distance m - n, before the division by sqrt(dim).

    Args:
        p: projections of ``shapes``.
        distances: m - n in tokens, (n,).
        inv_freq: (head_dim/2,), rad/token.
        layout: the layout in which the model rotates.

    Returns:
        float64 (tokens, heads, n).
    """
    chosen = checked_layout(layout)
    theta = np.asarray(inv_freq, dtype=np.float64)
    q = (projections.x_q @ projections.w_q.T).reshape(
        len(projections.x_q), shapes.kv_heads, shapes.group, shapes.head_dim
    )
    k = (projections.x_k @ projections.w_k.T).reshape(len(projections.x_k), shapes.kv_heads, 1, shapes.head_dim)
    (qa, qb), (ka, kb) = chosen.split_pairs(q), chosen.split_pairs(k)
    angle = np.asarray(distances, dtype=np.float64)[:, None] * theta
    # Re(h e^{i angle}) as one real product: h = (qa + i qb)(ka - i kb)
    h = np.concatenate([qa * ka + qb * kb, qa * kb - qb * ka], axis=-1)
    turned = h.reshape(-1, shapes.head_dim) @ np.concatenate([np.cos(angle), np.sin(angle)], axis=1).T
    return np.asarray(turned.reshape(len(projections.x_q), shapes.heads, -1))


def rotated_scores(
    p: QueryKeyProjections, shapes: HeadShapes, distances: npt.ArrayLike, inv_freq: npt.ArrayLike, layout: str | Layout
) -> Array:
    """Return the last head's scores of the first token pair, each vector rotated at its own position, float64 (n,).

    The query is at the distance, the key at 0; unlike ``grouped_head_scores`` this turns vectors and takes the product.
    """
    at = np.asarray(distances, dtype=np.float64)
    angle = at[:, None] * np.asarray(inv_freq, dtype=np.float64)
    q, k = p.w_q[-shapes.head_dim :] @ p.x_q[0], p.w_k[-shapes.head_dim :] @ p.x_k[0]
    turned = rotate(np.tile(q, (at.size, 1, 1)), np.cos(angle), np.sin(angle), layout)
    return np.asarray(turned[:, 0] @ k)


# Into how many heads the rows of the query's and of the key's projection are cut to be reordered; None leaves them in
# the interleaved order. "both" is right; where "query_heads" divides the key's rows nothing warns.
CONVERSIONS: dict[str, Callable[[HeadShapes], tuple[int | None, int | None]]] = {
    "both": lambda shapes: (shapes.heads, shapes.kv_heads),
    "none": lambda shapes: (None, None),
    "query_only": lambda shapes: (shapes.heads, None),
    "query_heads": lambda shapes: (shapes.heads, shapes.heads),
}


def is_head_count_mistake_silent(shapes: HeadShapes) -> bool:
    """Whether the key's rows divide into even parts, one per query head, so that the wrong count goes unnoticed."""
    return shapes.head_dim % (2 * shapes.group) == 0


@dataclass(frozen=True)
class ConversionScores:
    """Scores of a converted model against the interleaved original's.

    ``right`` and ``got``: float64 (n,), one head of one token pair, by rotating vectors; ``relative``: float64 (n,),
    root mean square of the difference over all heads and token pairs, over the root mean square of the right scores.
    """

    right: Array
    got: Array
    relative: Array

    @property
    def largest(self) -> float:
        """Largest difference between the two scores of the one head, over all distances."""
        return float(np.abs(self.got - self.right).max())


def conversion_scores(
    shapes: HeadShapes, conversion: str, distances: npt.ArrayLike, inv_freq: npt.ArrayLike, seed: int = 0
) -> ConversionScores:
    """Run interleaved weights in half-split code after ``conversion`` and compare all scores with the original's.

    Args:
        shapes: heads and head width.
        conversion: "both" (right), "none", "query_only" or "query_heads" (the key reordered by the query head count).
        distances: m - n in tokens, (n,).
        inv_freq: (head_dim/2,), rad/token.

    Raises:
        ValueError: on an unknown conversion, or one that the shapes refuse.
    """
    if conversion not in CONVERSIONS:
        raise argument_error("conversion", "one_of", conversion, names=list(CONVERSIONS))
    original = drawn_projections(shapes, seed)
    w_q, w_k = (
        weight if heads is None else convert_projection(weight, heads, "interleaved", "half")
        for weight, heads in zip((original.w_q, original.w_k), CONVERSIONS[conversion](shapes), strict=True)
    )
    converted = QueryKeyProjections(w_q, w_k, original.x_q, original.x_k)
    want = grouped_head_scores(original, shapes, distances, inv_freq, "interleaved")
    off = grouped_head_scores(converted, shapes, distances, inv_freq, "half") - want
    relative = np.sqrt(np.mean(off**2, axis=(0, 1)) / np.mean(want**2, axis=(0, 1)))
    right = rotated_scores(original, shapes, distances, inv_freq, "interleaved")
    return ConversionScores(right, rotated_scores(converted, shapes, distances, inv_freq, "half"), relative)
