"""Softmax against length: entropy, sharpness, and the scales that models put on logits to hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import finite, reject, whole
from rope_core.rope import Array
from rope_core.schemes import temperature

MAX_KEYS = 2**20
QUADRATURE = 48


def softmax(logits: npt.ArrayLike, axis: int = -1) -> Array:
    """Return softmax over ``axis``, float64, same shape; -inf stands for a masked entry.

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    z = np.asarray(logits, dtype=np.float64)
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def entropy(weights: npt.ArrayLike) -> Array:
    """Return -sum p ln p over the last axis, nats; 0 ln 0 is 0.

    >>> entropy([0.5, 0.5]).round(6).item()
    0.693147
    """
    p = np.asarray(weights, dtype=np.float64)
    return np.asarray(-np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=-1))


@dataclass(frozen=True)
class Attention:
    """Means over the draws: entropy in nats, largest weight, and the weight on the one key that is meant."""

    entropy: float
    largest: float
    meant: float


@lru_cache(maxsize=512)
def attention_over(length: int, scale: float = 1.0, signal: float = 4.0, draws: int = 64, seed: int = 0) -> Attention:
    """Draw logits of ``length`` keys, N(0, 1) and one raised by ``signal``, scale them, and measure the softmax.

    Args:
        length: keys, 1..2**20.
        scale: multiplies every logit.
        signal: by how much the meant key's logit stands out.
        draws: independent queries to average over.
        seed: of the draws; the same logits for every scale.

    Raises:
        ValueError: on a length outside the range, or numbers that are not finite.
    """
    keys = whole("length", length, 1, MAX_KEYS)
    count = whole("draws", draws, 1, 4096)
    factor = finite("scale", scale)
    raised = finite("signal", signal)
    rng = np.random.default_rng(whole("seed", seed, 0, 2**31 - 1))
    totals = np.zeros(3)
    for _ in range(count):
        logits = rng.standard_normal(keys)
        logits[0] += raised
        weights = softmax(factor * logits)
        totals += float(entropy(weights)), float(weights.max()), float(weights[0])
    means = totals / count
    return Attention(float(means[0]), float(means[1]), float(means[2]))


def expected_attention(lengths: npt.ArrayLike, scales: npt.ArrayLike, signal: float = 4.0) -> tuple[Array, Array]:
    """Return what ``attention_over`` draws, in expectation: entropy in nats and weight on the meant key, (n,) each.

    Args:
        lengths: keys, numbers >= 2 (n,).
        scales: multiply every logit; (n,) or one number.
        signal: by how much the meant key's logit stands out.

    Raises:
        ValueError: on a length below 2, or numbers that are not finite.

    The other n - 1 keys enter by their expectations, E exp(c z) = exp(c**2 / 2) and c**2 for their mean logit, which
    many keys come close to while c**2 < 2 ln(n); the meant key's own z is averaged by Gauss-Hermite quadrature.

    >>> entropy_, meant = expected_attention([100], 0.0)
    >>> round(float(entropy_[0]), 6), round(float(meant[0]), 6)
    (4.60517, 0.01)
    """
    n = np.asarray(lengths, dtype=np.float64)
    if n.ndim != 1 or np.any(~(n >= 2)) or not np.all(np.isfinite(n)):
        raise reject("lengths", "a vector of numbers >= 2", lengths)
    c = np.broadcast_to(np.asarray(scales, dtype=np.float64), n.shape)
    if not np.all(np.isfinite(c)):
        raise reject("scales", "finite numbers", scales)
    z, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE)
    meant_logit = c[:, None] * (finite("signal", signal) + z)
    others = (np.log(n - 1) + c**2 / 2)[:, None]
    total = np.logaddexp(others, meant_logit)
    p = np.exp(meant_logit - total)
    spread = total - (1 - p) * (c**2)[:, None] - p * meant_logit
    share = weights / weights.sum()
    return spread @ share, p @ share


def factor_scale(factor: float, weight: float = 1.0) -> float:
    """Return what logits get when cos and sin carry 0.1 * weight * ln(factor) + 1: its square, 1/t.

    DeepSeek multiplies its softmax scale by the same square instead (weight = mscale_all_dim).

    Source: YaRN, arXiv:2309.00071, equations 21 and 22.

    >>> round(factor_scale(40.0), 4)
    1.8739
    """
    return temperature(factor, weight) ** 2


def log_length_scale(lengths: npt.ArrayLike, train_len: int) -> Array:
    """Return ln(n) / ln(train_len) where n > train_len, else 1, float64 (n,): Qwen's use_logn_attn.

    Source: https://github.com/QwenLM/Qwen, modeling_qwen.py (logn_tensor); Su Jianlin, https://kexue.fm/archives/8823.

    >>> log_length_scale([100, 10_000], 100).tolist()
    [1.0, 2.0]
    """
    trained = whole("train_len", train_len, 2, 2**31 - 1)
    n = np.asarray(lengths, dtype=np.float64)
    if np.any(~(n >= 1)):
        raise reject("lengths", "numbers >= 1", lengths)
    return np.asarray(np.maximum(np.log(n) / math.log(trained), 1.0))


def floor_log_scale(positions: npt.ArrayLike, floor_scale: int = 8192, weight: float = 0.1) -> Array:
    """Return weight * ln(floor((position + 1) / floor_scale) + 1) + 1, float64 (n,): Llama 4's, in layers without RoPE.

    It multiplies queries, so logits get it once.

    Source: transformers 5.23 models/llama4/modeling_llama4.py (attn_temperature_tuning).

    >>> floor_log_scale([0, 8191]).round(4).tolist()
    [1.0, 1.0693]
    """
    step = whole("floor_scale", floor_scale, 1, 2**31 - 1)
    where = np.asarray(positions, dtype=np.float64)
    if np.any(~(where >= 0)):
        raise reject("positions", "numbers >= 0", positions)
    return np.asarray(finite("weight", weight) * np.log(np.floor((where + 1) / step) + 1.0) + 1.0)
