"""Encodings that put the distance into the score: Shaw and NeZha, DeBERTa, T5's buckets, ALiBi."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Array
from rope_core.theory.attention import checked_vector
from rope_core.theory.encodings.additive import sinusoidal_vectors

IntArray = npt.NDArray[np.int64]


def position_differences(positions: npt.ArrayLike) -> IntArray:
    """Return key position minus query position, int64 (n, n), rows the query; positions must be whole."""
    where = checked_vector("positions", positions)
    if np.any(where != np.floor(where)):
        raise argument_error("positions", "whole numbers", positions)
    line = where.astype(np.int64)
    return np.asarray(line[None, :] - line[:, None])


def clipped_difference_rows(positions: npt.ArrayLike, reach: int) -> IntArray:
    """Return the row of a (2 reach + 1)-row table for each pair: clip(j - i, -reach, reach) + reach, int64 (n, n).

    >>> clipped_difference_rows([0, 1, 2], 1).tolist()
    [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    """
    limit = checked_int("reach", reach, 0, 2**20)
    return np.clip(position_differences(positions), -limit, limit) + limit


def nezha_table(reach: int, dim: int, base: float = 10_000.0) -> Array:
    """Return NeZha's fixed relative vectors, sinusoidal in j - i, float64 (2 reach + 1, dim).

    Source: NeZha, arXiv:1909.00204, equations 5 and 6.

    >>> nezha_table(1, 2)[1].tolist()
    [0.0, 1.0]
    """
    limit = checked_int("reach", reach, 0, 2**20)
    return sinusoidal_vectors(np.arange(-limit, limit + 1), dim, base)


def shaw_logits(q: npt.ArrayLike, k: npt.ArrayLike, positions: npt.ArrayLike, table_k: npt.ArrayLike) -> Array:
    """Return q_i (k_j + R^K_ij) / sqrt(dim), float64 (n, n), rows the query.

    Args:
        q, k: (n, dim).
        positions: whole numbers (n,).
        table_k: R^K by clipped j - i, (2 reach + 1, dim).

    Source: Shaw et al., arXiv:1803.02155, equation 4; NeZha uses the same form with ``nezha_table``.
    """
    query, key, table = checked_matrices(q, k, table_k)
    relative = table[clipped_difference_rows(positions, table.shape[0] // 2)]
    return np.asarray((query @ key.T + np.einsum("id,ijd->ij", query, relative)) / math.sqrt(query.shape[1]))


def shaw_output(weights: npt.ArrayLike, v: npt.ArrayLike, positions: npt.ArrayLike, table_v: npt.ArrayLike) -> Array:
    """Return sum_j a_ij (v_j + R^V_ij), float64 (n, dim); ``weights`` is softmax's answer (n, n).

    Source: Shaw et al., arXiv:1803.02155, equation 3.
    """
    a, value, table = np.asarray(weights, dtype=np.float64), *checked_matrices(v, v, table_v)[1:]
    relative = table[clipped_difference_rows(positions, table.shape[0] // 2)]
    return np.asarray(a @ value + np.einsum("ij,ijd->id", a, relative))


def checked_matrices(q: npt.ArrayLike, k: npt.ArrayLike, table: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Return the three as float64 matrices of one width, or raise ValueError."""
    query, key, rows = (np.asarray(value, dtype=np.float64) for value in (q, k, table))
    if not query.ndim == key.ndim == rows.ndim == 2 or not query.shape[1] == key.shape[1] == rows.shape[1]:
        rule = "matrices of one width"
        raise argument_error("q, k and the table", rule, (query.shape, key.shape, rows.shape))
    return query, key, rows


def disentangled_terms(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    positions: npt.ArrayLike,
    position_k: npt.ArrayLike,
    position_q: npt.ArrayLike,
    as_printed: bool = False,
) -> dict[str, Array]:
    """Return DeBERTa's "c2c", "c2p" and "p2c" before the scale 1/sqrt(3 dim), each float64 (n, n), rows the query.

    Args:
        q, k: content projections (n, dim).
        positions: whole numbers (n,).
        position_k, position_q: projected relative embeddings (2 span, dim), row delta(i, j) = clip(i - j + span).
        as_printed: take p2c's row at delta(j, i), as the paper prints it; the released code takes delta(i, j).

    Source: DeBERTa, arXiv:2006.03654, equations 2 to 4; transformers 5.24 models/deberta/modeling_deberta.py.
    """
    query, key, pos_k = checked_matrices(q, k, position_k)
    pos_q = checked_matrices(q, k, position_q)[2]
    if pos_k.shape != pos_q.shape or pos_k.shape[0] % 2 or not pos_k.shape[0]:
        raise argument_error("position_k and position_q", "two tables of 2 * span rows", (pos_k.shape, pos_q.shape))
    span = pos_k.shape[0] // 2
    delta = np.clip(span - position_differences(positions), 0, 2 * span - 1)
    back = delta.T if as_printed else delta
    return {
        "c2c": query @ key.T,
        "c2p": np.einsum("id,ijd->ij", query, pos_k[delta]),
        "p2c": np.einsum("jd,ijd->ij", key, pos_q[back]),
    }


def disentangled_logits(terms: dict[str, Array], dim: int) -> Array:
    """Return (c2c + c2p + p2c) / sqrt(3 dim), float64 (n, n)."""
    return np.asarray(sum(terms.values()) / math.sqrt(len(terms) * dim))


def t5_buckets(difference: npt.ArrayLike, bidirectional: bool = True, buckets: int = 32, reach: int = 128) -> IntArray:
    """Return T5's bucket of key position minus query position, int64, same shape.

    Half of a side's buckets hold one distance each, the rest grow geometrically up to ``reach``, and everything past
    it shares the last. Bidirectional keeps half of the buckets for keys ahead; otherwise keys ahead share bucket 0.

    Source: T5, arXiv:1910.10683; transformers 5.24 models/t5/modeling_t5.py, _relative_position_bucket.

    >>> t5_buckets([0, -1, 1, -7, -8, -200, 200]).tolist()
    [0, 1, 17, 7, 8, 15, 31]
    """
    given = np.asarray(difference, dtype=np.int64)
    count = checked_int("buckets", buckets, 4, 2**16)
    side = count // 2 if bidirectional else count
    limit = checked_int("reach", reach, side // 2 + 1, 2**20)
    distance = np.abs(given) if bidirectional else np.maximum(-given, 0)
    exact = side // 2
    # float32 as in the released code: in float64 a distance on a bucket's edge can fall on the other side.
    ratio = np.log(np.maximum(distance, 1).astype(np.float32) / np.float32(exact))
    grown = exact + (ratio / np.float32(math.log(limit / exact)) * np.float32(side - exact)).astype(np.int64)
    bucket = np.where(distance < exact, distance, np.minimum(grown, side - 1))
    return np.asarray(bucket + (side * (given > 0) if bidirectional else 0), dtype=np.int64)


def t5_logits(q: npt.ArrayLike, k: npt.ArrayLike, positions: npt.ArrayLike, bias: npt.ArrayLike) -> Array:
    """Return q_i k_j + b[bucket(j - i)], float64 (n, n), rows the query; T5 does not divide by sqrt(dim).

    ``bias`` has one number per bucket.
    """
    query, key = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    b = np.asarray(bias, dtype=np.float64)
    return np.asarray(query @ key.T + b[t5_buckets(position_differences(positions), buckets=b.size)])


def alibi_slopes(heads: int) -> Array:
    """Return ALiBi's slope of each head, float64 (heads,).

    For a power of two they are 2**(-8/heads), its square, and so on; otherwise the next lower power's slopes, then
    every other one of the next higher power's.

    Source: ALiBi, arXiv:2108.12409, section 3;
    https://github.com/ofirpress/attention_with_linear_biases/blob/a35aaca144e0eb6b789dfcb46784c4b8e31b7983/fairseq/models/transformer.py#L742

    >>> alibi_slopes(4).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625]
    """
    count = checked_int("heads", heads, 1, 4096)
    lower = 2 ** (count.bit_length() - 1)
    slopes = 2.0 ** (-8.0 / lower * np.arange(1, lower + 1))
    rest = 2.0 ** (-4.0 / lower * np.arange(1, 2 * (count - lower), 2))
    return np.concatenate([slopes, rest])


def alibi_logits(q: npt.ArrayLike, k: npt.ArrayLike, positions: npt.ArrayLike, slope: float) -> Array:
    """Return q_i k_j / sqrt(dim) - slope |i - j|, float64 (n, n), rows the query.

    The paper is causal (j <= i); the absolute value extends it to keys ahead.
    """
    query, key = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return np.asarray(query @ key.T / math.sqrt(query.shape[1]) - slope * np.abs(position_differences(positions)))
