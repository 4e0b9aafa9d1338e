"""Encodings that add a vector to the word: sinusoidal and learned, the shift map, cross terms and the Hessian term."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.layout import checked_even_dim
from rope_core.rope import Array, Rope
from rope_core.theory.attention import checked_vector


def sinusoidal_vectors(positions: npt.ArrayLike, dim: int, base: float = 10_000.0) -> Array:
    """Return p[i, 2j] = sin(i / base**(2j/dim)) and p[i, 2j+1] = cos of the same, float64 (n, dim).

    Raises ValueError on an odd dim, base <= 1, or positions that are not finite.

    Source: Attention Is All You Need, arXiv:1706.03762, section 3.5.

    >>> sinusoidal_vectors([0], 4).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    angle = checked_vector("positions", positions)[:, None] * Rope(dim, base).theta
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(angle.shape[0], -1)


def cos_sin_vectors(positions: npt.ArrayLike, dim: int, base: float = 10_000.0) -> Array:
    """Return (cos, sin) per pair instead of (sin, cos), float64 (n, dim): p_m of the Taylor argument.

    Source: Su Jianlin, https://kexue.fm/archives/8231.

    >>> cos_sin_vectors([0], 4).tolist()
    [[1.0, 0.0, 1.0, 0.0]]
    """
    pairs = sinusoidal_vectors(positions, dim, base).reshape(-1, Rope(dim, base).pairs, 2)
    return np.asarray(pairs[..., ::-1]).reshape(pairs.shape[0], -1)


def learned_vectors(positions: npt.ArrayLike, table: npt.ArrayLike) -> Array:
    """Return the rows of a learned table (max_len, dim) at whole positions, float64 (n, dim).

    Raises ValueError at a position the table does not hold: a learned encoding has nothing past its length.

    >>> learned_vectors([1], [[1.0], [2.0]]).tolist()
    [[2.0]]
    """
    rows = np.asarray(table, dtype=np.float64)
    where = checked_vector("positions", positions)
    if rows.ndim != 2:
        raise argument_error("table", "a matrix (max_len, dim)", rows.shape)
    if np.any(where != np.floor(where)) or where.min() < 0 or where.max() >= rows.shape[0]:
        raise argument_error("positions", f"integers in [0, {rows.shape[0]})", positions)
    return rows[where.astype(np.int64)]


def sinusoidal_shift_matrix(shift: float, dim: int, base: float = 10_000.0) -> Array:
    """Return M with p_{i+delta} = M p_i for the sinusoidal p, whatever i is, float64 (dim, dim).

    Its blocks are [[cos, sin], [-sin, cos]] on (sin, cos): in that plane they turn by -delta * omega_j.

    >>> bool(np.allclose(sinusoidal_shift_matrix(3, 4) @ sinusoidal_vectors([5], 4)[0], sinusoidal_vectors([8], 4)[0]))
    True
    """
    rope = Rope(dim, base)
    angle = checked_finite("delta", shift) * rope.theta
    matrix = np.zeros((dim, dim))
    first = 2 * np.arange(rope.pairs)
    matrix[first, first] = matrix[first + 1, first + 1] = np.cos(angle)
    matrix[first, first + 1] = np.sin(angle)
    matrix[first + 1, first] = -np.sin(angle)
    return matrix


def sinusoidal_shift_residual(shift: float, positions: npt.ArrayLike, dim: int, base: float = 10_000.0) -> float:
    """Return max |p_{i+delta} - M p_i| over the positions."""
    where = checked_vector("positions", positions)
    moved = sinusoidal_vectors(where, dim, base) @ sinusoidal_shift_matrix(shift, dim, base).T
    return float(np.abs(moved - sinusoidal_vectors(where + shift, dim, base)).max())


def additive_score_terms(
    words: npt.ArrayLike, vectors: npt.ArrayLike, w_q: npt.ArrayLike, w_k: npt.ArrayLike
) -> dict[str, Array]:
    """Split the score of (word + position) vectors into its four terms, each float64 (n, n), rows the query.

    Args:
        words: v_x (n, dim).
        vectors: PE (n, dim).
        w_q, w_k: projections (head_dim, dim).

    Returns:
        "word_word", "word_position", "position_word", "position_position"; their sum is the score before the scale.

    Raises:
        ValueError: when the shapes do not fit.
    """
    x, p = np.asarray(words, dtype=np.float64), np.asarray(vectors, dtype=np.float64)
    wq, wk = np.asarray(w_q, dtype=np.float64), np.asarray(w_k, dtype=np.float64)
    if x.shape != p.shape or x.ndim != 2:
        raise argument_error("words and vectors", "two matrices (n, dim) of one shape", (x.shape, p.shape))
    if wq.ndim != 2 or wq.shape != wk.shape or wq.shape[1] != x.shape[1]:
        raise argument_error("w_q and w_k", f"two matrices (head_dim, {x.shape[1]})", (wq.shape, wk.shape))
    qx, qp, kx, kp = x @ wq.T, p @ wq.T, x @ wk.T, p @ wk.T
    return {
        "word_word": qx @ kx.T,
        "word_position": qx @ kp.T,
        "position_word": qp @ kx.T,
        "position_position": qp @ kp.T,
    }


def hessian_term(hessian: npt.ArrayLike, vectors: npt.ArrayLike) -> Array:
    """Return p_m^T H p_n for all m and n, float64 (n, n).

    With (sin, cos) pairs it depends on m - n alone when every 2 x 2 block of H between one frequency's dimensions is
    a I + b J (J the quarter turn) and all other blocks vanish; a diagonal H that differs within a pair leaves a term
    in m + n.

    Source: Su Jianlin, https://kexue.fm/archives/8231, equation 3.
    """
    p, h = np.asarray(vectors, dtype=np.float64), np.asarray(hessian, dtype=np.float64)
    if p.ndim != 2 or h.shape != (p.shape[1], p.shape[1]):
        raise argument_error("hessian", f"a matrix ({p.shape[-1]}, {p.shape[-1]})", h.shape)
    return np.asarray(p @ h @ p.T)


def random_hessian(dim: int, off_diagonal: float, pair_gap: float) -> Array:
    """Draw H: a positive diagonal equal within pairs, spread by ``pair_gap`` within them, plus noise off the diagonal.

    ``off_diagonal`` is the standard deviation of the other entries; the diagonal is in [0.5, 1.5].
    """
    width = checked_even_dim("dim", dim)
    rng = np.random.default_rng(0)
    diagonal = np.repeat(0.5 + rng.random(width // 2), 2)
    gap = np.tile([1.0, -1.0], width // 2) * checked_finite("pair_gap", pair_gap) / 2
    noise = checked_finite("off_diagonal", off_diagonal) * rng.standard_normal((width, width))
    np.fill_diagonal(noise, 0.0)
    return np.asarray(np.diag(diagonal + gap) + noise)
