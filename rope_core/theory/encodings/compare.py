"""All encodings behind one signature: their scores, how relative each is, and what moving or reordering words does."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.layout import checked_even_dim
from rope_core.rope import Array, Rope
from rope_core.theory.encodings import additive, relative, rotary
from rope_core.theory.softmax import softmax

MAX_TOKENS = 1024
REACH = 8
TABLE = 2048
ALIBI_HEADS = 8


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """One attention head with random projections, and the tables that the encodings look up.

    Attributes:
        q, k, v: projections, float64 (dim, dim), standard deviation 1/sqrt(dim).
        learned: absolute table (2048, dim).
        relative_k, relative_v: Shaw's R^K and R^V by clipped distance, (17, dim).
        position_k, position_q: DeBERTa's projected relative embeddings, (16, dim).
        bias: T5's, one number per bucket, (32,).
    """

    rope: Rope
    q: Array
    k: Array
    v: Array
    learned: Array
    relative_k: Array
    relative_v: Array
    position_k: Array
    position_q: Array
    bias: Array


@lru_cache(maxsize=32)
def random_encoding_weights(dim: int = 32, base: float = 10_000.0, seed: int = 0) -> HeadWeights:
    """Draw a head's projections and tables; the same for the same arguments.

    Raises ValueError unless dim is a multiple of 4 (two-dimensional RoPE halves the pairs) and base > 1.
    """
    width = checked_even_dim("dim", dim)
    if width % 4:
        raise argument_error("dim", "multiple_of", dim, factor=4)
    rng = np.random.default_rng(checked_int("seed", seed, 0, 2**31 - 1))
    shapes = [(width, width)] * 3 + [(TABLE, width)] + [(2 * REACH + 1, width)] * 2 + [(2 * REACH, width)] * 2 + [(32,)]
    drawn = [rng.standard_normal(shape) for shape in shapes]
    projections = [matrix / math.sqrt(width) for matrix in drawn[:3]]
    return HeadWeights(Rope(width, base), *projections, *drawn[3:])


def token_vectors(tokens: Sequence[str], dim: int, seed: int = 0) -> Array:
    """Return one vector per token, the same for the same token, N(0, 1), float64 (n, dim).

    Raises ValueError on no tokens, more than 1024, or one that is no string.
    """
    if not 1 <= len(tokens) <= MAX_TOKENS or not all(isinstance(token, str) for token in tokens):
        raise argument_error("tokens", "some_tokens", tokens, limit=MAX_TOKENS)
    drawn = [np.random.default_rng([seed, zlib.crc32(token.encode())]).standard_normal(dim) for token in tokens]
    return np.stack(drawn)


LogitsFunction = Callable[[Array, Array, HeadWeights], Array]


@dataclass(frozen=True)
class Encoding:
    """How one encoding makes logits: a function of words (n, dim), positions (n, axes) and a head's weights.

    Attributes:
        kind: "none" | "added" | "score" | "turned": where position enters.
        source: the paper.
        axes: numbers per position: 1 in a line, 2 in an image, 3 in a video.
        values: the table R^V by clipped distance that is added to the values, where the encoding has one.
    """

    logits: LogitsFunction
    kind: str
    source: str
    axes: int = 1
    values: Callable[[HeadWeights], Array] | None = None


def _plain(x: Array, w: HeadWeights) -> tuple[Array, Array]:
    return x @ w.q.T, x @ w.k.T


def _scaled(q: Array, k: Array) -> Array:
    return np.asarray(q @ k.T / math.sqrt(q.shape[1]))


def _disentangled(x: Array, p: Array, w: HeadWeights) -> Array:
    terms = relative.disentangled_terms(*_plain(x, w), p[:, 0], w.position_k, w.position_q)
    return relative.disentangled_logits(terms, w.rope.dim)


def _fixed_table(w: HeadWeights) -> Array:
    return relative.nezha_table(REACH, w.rope.dim, w.rope.base)


def _partial(x: Array, p: Array, w: HeadWeights) -> Array:
    # A quarter of the head turns, GPT-NeoX's share.
    quarter = Rope(max(w.rope.dim // 4 // 2 * 2, 2), w.rope.base)
    return rotary.rope_logits(*_plain(x, w), rotary.position_angles(p[:, 0], quarter.theta))


def _video(x: Array, p: Array, w: HeadWeights) -> Array:
    # Sections for any width: half of the pairs follow time, a quarter each height and width.
    side = w.rope.pairs // 4 or 1
    axes = rotary.mrope_axes([w.rope.pairs - 2 * side, side, side])
    return rotary.rope_logits(*_plain(x, w), rotary.mrope_angles(p, w.rope.theta, axes))


def _added(vectors: Callable[[Array, HeadWeights], Array]) -> LogitsFunction:
    return lambda x, p, w: _scaled(*_plain(x + vectors(p[:, 0], w), w))


ENCODINGS: dict[str, Encoding] = {
    "nope": Encoding(lambda x, p, w: _scaled(*_plain(x, w)), "none", "arXiv:2305.19466"),
    "sinusoidal": Encoding(
        _added(lambda p, w: additive.sinusoidal_vectors(p, w.rope.dim, w.rope.base)), "added", "arXiv:1706.03762"
    ),
    "learned": Encoding(_added(lambda p, w: additive.learned_vectors(p, w.learned)), "added", "arXiv:1810.04805"),
    "shaw": Encoding(
        lambda x, p, w: relative.shaw_logits(*_plain(x, w), p[:, 0], w.relative_k),
        "score",
        "arXiv:1803.02155",
        values=lambda w: w.relative_v,
    ),
    "nezha": Encoding(
        lambda x, p, w: relative.shaw_logits(*_plain(x, w), p[:, 0], _fixed_table(w)),
        "score",
        "arXiv:1909.00204",
        values=_fixed_table,
    ),
    "deberta": Encoding(_disentangled, "score", "arXiv:2006.03654"),
    "t5": Encoding(lambda x, p, w: relative.t5_logits(*_plain(x, w), p[:, 0], w.bias), "score", "arXiv:1910.10683"),
    "alibi": Encoding(
        lambda x, p, w: relative.alibi_logits(*_plain(x, w), p[:, 0], relative.alibi_slopes(ALIBI_HEADS)[0]),
        "score",
        "arXiv:2108.12409",
    ),
    "rope": Encoding(
        lambda x, p, w: rotary.rope_logits(*_plain(x, w), rotary.position_angles(p[:, 0], w.rope.theta)),
        "turned",
        "arXiv:2104.09864",
    ),
    "partial": Encoding(_partial, "turned", "arXiv:2204.06745"),
    "xpos": Encoding(lambda x, p, w: rotary.xpos_logits(*_plain(x, w), p[:, 0], w.rope), "turned", "arXiv:2212.10554"),
    "rope2d": Encoding(
        lambda x, p, w: rotary.rope_logits(*_plain(x, w), rotary.axial_angles(p, w.rope.dim, w.rope.base)),
        "turned",
        "arXiv:2409.12191",
        2,
    ),
    "mrope": Encoding(_video, "turned", "arXiv:2409.12191", 3),
}


def encoding(name: str) -> Encoding:
    """Return the encoding called ``name``, or raise ValueError listing the known names."""
    if not isinstance(name, str) or name not in ENCODINGS:
        raise argument_error("encoding", "one_of", name, names=list(ENCODINGS))
    return ENCODINGS[name]


def as_points(name: str, positions: npt.ArrayLike) -> Array:
    """Return positions as (n, axes) for that encoding; one number per token is put on every axis."""
    axes = encoding(name).axes
    where = np.asarray(positions, dtype=np.float64)
    if where.ndim == 1:
        where = np.repeat(where[:, None], axes, axis=1)
    return rotary.checked_position_matrix(where, axes)


def encoding_logits(encoding_name: str, x: npt.ArrayLike, positions: npt.ArrayLike, weights: HeadWeights) -> Array:
    """Return the logits that softmax gets, float64 (n, n), rows the query.

    Args:
        name: a key of ENCODINGS.
        x: word vectors (n, dim).
        positions: (n,) or (n, axes).
        w: the head.

    Raises:
        ValueError: on an unknown name or shapes that do not fit.
    """
    values = np.asarray(x, dtype=np.float64)
    points = as_points(encoding_name, positions)
    if values.shape != (points.shape[0], weights.rope.dim):
        raise argument_error("x", f"({points.shape[0]}, {weights.rope.dim})", values.shape)
    return encoding(encoding_name).logits(values, points, weights)


def position_only_logits(encoding_name: str, positions: npt.ArrayLike, weights: HeadWeights) -> Array:
    """Return the logits of a text of one repeated word, float64 (n, n): what is left is position alone."""
    points = as_points(encoding_name, positions)
    word = np.random.default_rng(0).standard_normal(weights.rope.dim)
    return encoding_logits(encoding_name, np.tile(word, (points.shape[0], 1)), points, weights)


def relative_fit(scores: npt.ArrayLike, positions: npt.ArrayLike) -> Array:
    """Return the matrix nearest to ``scores`` that depends on position differences alone, float64 (n, n).

    In a line with consecutive positions this is the best Toeplitz fit: every diagonal's mean.

    >>> relative_fit([[1.0, 0.0], [0.0, 3.0]], [0, 1]).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    matrix = np.asarray(scores, dtype=np.float64)
    where = np.asarray(positions, dtype=np.float64)
    points = where[:, None] if where.ndim == 1 else where
    n = points.shape[0]
    if matrix.shape != (n, n):
        raise argument_error("scores", f"({n}, {n})", matrix.shape)
    gaps = (points[:, None, :] - points[None, :, :]).reshape(n * n, -1)
    _, group = np.unique(gaps, axis=0, return_inverse=True)
    group = group.reshape(-1)
    means = np.bincount(group, matrix.reshape(-1)) / np.bincount(group)
    return means[group].reshape(n, n)


def relative_residual(scores: npt.ArrayLike, positions: npt.ArrayLike) -> float:
    """Return |scores - relative_fit| / |scores| in the Frobenius norm: 0 for a relative encoding."""
    matrix = np.asarray(scores, dtype=np.float64)
    size = float(np.linalg.norm(matrix))
    return float(np.linalg.norm(matrix - relative_fit(matrix, positions))) / size if size else 0.0


def attention_outputs(encoding_name: str, tokens: Sequence[str], weights: HeadWeights, causal: bool = False) -> Array:
    """Return what one attention layer gives each token, float64 (n, dim); ``causal``: none sees later ones.

    >>> w = random_encoding_weights(8, 100.0)
    >>> pairs = [[attention_outputs(name, text, w)[0] for text in ("abc", "acb")] for name in ("nope", "rope")]
    >>> [bool(np.allclose(*both)) for both in pairs]
    [True, False]
    """
    x = token_vectors(tokens, weights.rope.dim)
    positions = np.arange(len(tokens))
    scores = encoding_logits(encoding_name, x, positions, weights)
    attention = softmax(np.where(np.tri(len(tokens), dtype=bool), scores, -np.inf) if causal else scores)
    values = x @ weights.v.T
    table = encoding(encoding_name).values
    if table is None:
        return np.asarray(attention @ values)
    return np.asarray(relative.shaw_output(attention, values, positions, table(weights)))


def mean_attention_output(
    encoding_name: str, tokens: Sequence[str], weights: HeadWeights, causal: bool = False
) -> Array:
    """Return the mean over the tokens of what one attention layer gives them, float64 (dim,).

    >>> w = random_encoding_weights(8, 100.0)
    >>> outputs = [[mean_attention_output("nope", text, w, each) for text in ("ab", "ba")] for each in (False, True)]
    >>> [bool(np.allclose(*both)) for both in outputs]
    [True, False]
    """
    return np.asarray(attention_outputs(encoding_name, tokens, weights, causal).mean(axis=0))


def word_order_difference(
    encoding_name: str, first: Sequence[str], second: Sequence[str], weights: HeadWeights
) -> float:
    """Return how far apart one layer puts two sentences of the same tokens in another order, max |difference|.

    Without positions it is 0 up to rounding: attention sees a set.

    Raises ValueError unless the second is a reordering of the first.
    """
    if sorted(first) != sorted(second):
        raise argument_error("second", "same_tokens", second)
    return float(
        np.abs(
            mean_attention_output(encoding_name, first, weights) - mean_attention_output(encoding_name, second, weights)
        ).max()
    )
