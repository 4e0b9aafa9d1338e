"""What models do to logits and keys: z-loss, soft-capping, QK-norm, rotated keys in the cache, MLA's split."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.rope import Array
from rope_core.theory.encodings.rotary import rotate_rows


@dataclass(frozen=True, eq=False)
class MlaHeadWeights:
    """One head of multi-head latent attention.

    Attributes:
        w_q: content query from x, (nope, dim); w_uk: key from the latent, (nope, rank).
        w_qr, w_kr: rotated query and the key that all heads share, (rope, dim).
        w_dkv: the latent from x, (rank, dim).
    """

    w_q: Array
    w_uk: Array
    w_qr: Array
    w_kr: Array
    w_dkv: Array

    @classmethod
    def draw(cls, dim: int = 64, nope: int = 32, rope: int = 16, rank: int = 12, seed: int = 0) -> MlaHeadWeights:
        """Draw a head with entries of standard deviation 1/sqrt(columns)."""
        rng = np.random.default_rng(seed)
        shapes = ((nope, dim), (nope, rank), (rope, dim), (rope, dim), (rank, dim))
        return cls(*(rng.standard_normal(shape) / math.sqrt(shape[1]) for shape in shapes))


def mla_scores(x: npt.ArrayLike, angle: npt.ArrayLike, head: MlaHeadWeights, absorbed: bool) -> Array:
    """Return MLA's scores before the scale, float64 (n, n): content part plus rotated part.

    ``absorbed`` multiplies W_UK into the query once and scores against the cached latent; the answer is the same,
    because nothing that depends on a position is between the two.

    Source: DeepSeek-V2, arXiv:2405.04434, section 2.1.
    """
    values = np.asarray(x, dtype=np.float64)
    query, latent = values @ head.w_q.T, values @ head.w_dkv.T
    content = (query @ head.w_uk) @ latent.T if absorbed else query @ (latent @ head.w_uk.T).T
    return np.asarray(content + rotate_rows(values @ head.w_qr.T, angle) @ rotate_rows(values @ head.w_kr.T, angle).T)


def mla_absorption_error(x: npt.ArrayLike, angle: npt.ArrayLike, head: MlaHeadWeights) -> float:
    """Return how wrong absorption would be if the content part were rotated too, max |difference| of scores.

    R_m^T R_n is then between W_Q and W_UK, so no one matrix serves every pair of positions: MLA splits.
    """
    values = np.asarray(x, dtype=np.float64)
    query, latent = values @ head.w_q.T, values @ head.w_dkv.T
    rotated = rotate_rows(query, angle) @ rotate_rows(latent @ head.w_uk.T, angle).T
    return float(np.abs(rotated - (query @ head.w_uk) @ latent.T).max())


def mla_cache_sizes(rank: int, rope: int, heads: int, head_dim: int) -> tuple[int, int]:
    """Return (numbers per token and layer that MLA caches, that plain attention would): rank + rope, 2 heads head_dim.

    >>> mla_cache_sizes(512, 64, 128, 128)
    (576, 32768)
    """
    r, p = checked_int("rank", rank, 1, 2**20), checked_int("rope", rope, 1, 2**20)
    return r + p, 2 * checked_int("heads", heads, 1, 2**16) * checked_int("head_dim", head_dim, 1, 2**16)
