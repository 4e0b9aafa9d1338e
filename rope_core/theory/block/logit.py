"""What models do to logits and keys: z-loss, soft-capping, QK-norm, rotated keys in the cache, MLA's split."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import finite, reject, whole
from rope_core.rope import Array
from rope_core.theory.block.norm import rms_norm
from rope_core.theory.encodings.rotary import turn
from rope_core.theory.softmax import softmax


def log_partition(logits: npt.ArrayLike) -> Array:
    """Return ln Z = ln sum exp(logits) over the last axis, float64, without overflow.

    >>> log_partition([1000.0, 1000.0]).round(4).item()
    1000.6931
    """
    z = np.asarray(logits, dtype=np.float64)
    top = z.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(z - top).sum(axis=-1)))


def z_loss(logits: npt.ArrayLike, coefficient: float = 1e-4) -> tuple[Array, Array]:
    """Return (coefficient * (ln Z)**2, its gradient 2 coefficient ln Z softmax), shapes (...,) and (..., n).

    It pulls ln Z to 0; the cross entropy alone does not change when every logit moves by one number.

    Source: PaLM, arXiv:2204.02311, section 5.
    """
    weight = finite("coefficient", coefficient)
    log_z = log_partition(logits)
    return np.asarray(weight * log_z**2), np.asarray(2.0 * weight * log_z[..., None] * softmax(logits))


def soft_cap(logits: npt.ArrayLike, cap: float) -> tuple[Array, Array]:
    """Return (cap tanh(logits / cap), its derivative 1 - tanh**2), float64, same shape.

    Source: Gemma 2, arXiv:2408.00118, section 2 (cap 50 in attention, 30 at the output).

    >>> soft_cap([0.0], 50.0)[1].tolist()
    [1.0]
    """
    limit = finite("cap", cap, "finite_above", low=0)
    if limit <= 0:
        raise reject("cap", "finite_above", cap, low=0)
    t = np.tanh(np.asarray(logits, dtype=np.float64) / limit)
    return np.asarray(limit * t), np.asarray(1.0 - t**2)


def qk_norm_logits(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    angle: npt.ArrayLike,
    gamma_q: npt.ArrayLike | None = None,
    gamma_k: npt.ArrayLike | None = None,
    norm_first: bool = True,
) -> Array:
    """Return logits of normalised and rotated heads, float64 (n, n), divided by sqrt(dim).

    ``norm_first`` is the order of Qwen 3, OLMo 2 and Gemma 3 (norm, then RoPE); the other order differs unless each
    gamma is equal within every pair.

    Source: QK-norm, arXiv:2010.04245.
    """
    dim = np.asarray(q).shape[-1]

    def head(x: npt.ArrayLike, gamma: npt.ArrayLike | None) -> Array:
        if norm_first:
            return turn(rms_norm(x, gamma), angle)
        return rms_norm(turn(x, angle), gamma)

    return np.asarray(head(q, gamma_q) @ head(k, gamma_k).T / math.sqrt(dim))


def qk_norm_bound(dim: int, gamma_q: float = 1.0, gamma_k: float = 1.0) -> float:
    """Return the largest |logit| after QK-norm: sqrt(dim) times the largest entries of both gammas.

    >>> qk_norm_bound(64)
    8.0
    """
    return math.sqrt(whole("dim", dim, 1, 65_536)) * abs(finite("gamma_q", gamma_q) * finite("gamma_k", gamma_k))


@dataclass(frozen=True, eq=False)
class MlaHead:
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
    def draw(cls, dim: int = 64, nope: int = 32, rope: int = 16, rank: int = 12, seed: int = 0) -> MlaHead:
        """Draw a head with entries of standard deviation 1/sqrt(columns)."""
        rng = np.random.default_rng(seed)
        shapes = ((nope, dim), (nope, rank), (rope, dim), (rope, dim), (rank, dim))
        return cls(*(rng.standard_normal(shape) / math.sqrt(shape[1]) for shape in shapes))


def mla_scores(x: npt.ArrayLike, angle: npt.ArrayLike, head: MlaHead, absorbed: bool) -> Array:
    """Return MLA's scores before the scale, float64 (n, n): content part plus rotated part.

    ``absorbed`` multiplies W_UK into the query once and scores against the cached latent; the answer is the same,
    because nothing that depends on a position is between the two.

    Source: DeepSeek-V2, arXiv:2405.04434, section 2.1.
    """
    values = np.asarray(x, dtype=np.float64)
    query, latent = values @ head.w_q.T, values @ head.w_dkv.T
    content = (query @ head.w_uk) @ latent.T if absorbed else query @ (latent @ head.w_uk.T).T
    return np.asarray(content + turn(values @ head.w_qr.T, angle) @ turn(values @ head.w_kr.T, angle).T)


def mla_rope_in_content(x: npt.ArrayLike, angle: npt.ArrayLike, head: MlaHead) -> float:
    """Return how wrong absorption would be if the content part were rotated too, max |difference| of scores.

    R_m^T R_n is then between W_Q and W_UK, so no one matrix serves every pair of positions: MLA splits.
    """
    values = np.asarray(x, dtype=np.float64)
    query, latent = values @ head.w_q.T, values @ head.w_dkv.T
    rotated = turn(query, angle) @ turn(latent @ head.w_uk.T, angle).T
    return float(np.abs(rotated - (query @ head.w_uk) @ latent.T).max())


def mla_cache(rank: int, rope: int, heads: int, head_dim: int) -> tuple[int, int]:
    """Return (numbers per token and layer that MLA caches, that plain attention would): rank + rope, 2 heads head_dim.

    >>> mla_cache(512, 64, 128, 128)
    (576, 32768)
    """
    r, p = whole("rank", rank, 1, 2**20), whole("rope", rope, 1, 2**20)
    return r + p, 2 * whole("heads", heads, 1, 2**16) * whole("head_dim", head_dim, 1, 2**16)
