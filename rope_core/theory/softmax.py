"""Softmax against length: entropy, sharpness, and the scales that models put on logits to hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.rope import Array
from rope_core.schemes import yarn_attention_factor

MAX_KEYS = 2**20
# Step of the sums over z and over ln t, and where z ends.
STEP, TAIL = 0.2, 9.0


def softmax(logits: npt.ArrayLike, axis: int = -1) -> Array:
    """Return softmax over ``axis``, float64, same shape; -inf is a masked entry.

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
class AttentionMeans:
    """Means over the draws: entropy in nats, largest weight, and the weight on the one key that is meant."""

    entropy: float
    largest: float
    meant: float


@lru_cache(maxsize=512)
def random_attention_means(length: int, scale: float = 1.0, signal: float = 4.0, draws: int = 64) -> AttentionMeans:
    """Draw logits of ``length`` keys, N(0, 1) and one raised by ``signal``, scale them, and measure the softmax.

    Args:
        length: keys, 1..2**20.
        scale: multiplies every logit.
        signal: by how much the meant key's logit exceeds the others.
        draws: independent queries to average over; the same logits for every scale.

    Raises:
        ValueError: on a length outside the range, or numbers that are not finite.
    """
    keys = checked_int("length", length, 1, MAX_KEYS)
    count = checked_int("draws", draws, 1, 4096)
    factor = checked_finite("scale", scale)
    raised = checked_finite("signal", signal)
    rng = np.random.default_rng(0)
    totals = np.zeros(3)
    for _ in range(count):
        logits = rng.standard_normal(keys)
        logits[0] += raised
        weights = softmax(factor * logits)
        totals += float(entropy(weights)), float(weights.max()), float(weights[0])
    means = totals / count
    return AttentionMeans(float(means[0]), float(means[1]), float(means[2]))


def expected_entropy_and_weight(
    lengths: npt.ArrayLike, scales: npt.ArrayLike, signal: float = 4.0
) -> tuple[Array, Array]:
    """Return what ``random_attention_means`` draws, in expectation: entropy, nats, and weight of the meant key, (n,).

    Args:
        lengths: keys, numbers >= 2 (n,).
        scales: multiply every logit; (n,) or one number.
        signal: by how much the meant key's logit exceeds the others.

    Raises:
        ValueError: on a length below 2, or numbers that are not finite.

    With a = exp(c (signal + z_0)) for the meant key, y = exp(c z) for each other one and T their sum, 1 / T and ln T
    are integrals of exp(-t T) over t, under which the expectation is a product over the keys:

        E[a / T] = int E[a exp(-t a)] E[exp(-t y)]**(n - 1) dt,
        E[ln T] = int (exp(-t) - E[exp(-t a)] E[exp(-t y)]**(n - 1)) dt / t,

    and likewise E[p ln a] for the entropy, which is ln T less the mean logit. The integrals over ln t and over z are
    sums in even steps, which converge exponentially: halving the steps changes nothing at 1e-9.

    >>> entropy_, meant = expected_entropy_and_weight([100], 0.0)
    >>> round(float(entropy_[0]), 6), round(float(meant[0]), 6)
    (4.60517, 0.01)
    """
    n = np.asarray(lengths, dtype=np.float64)
    if n.ndim != 1 or np.any(~(n >= 2)) or not np.all(np.isfinite(n)):
        raise argument_error("lengths", "numbers_least", lengths, low=2)
    c = np.broadcast_to(np.asarray(scales, dtype=np.float64), n.shape)
    if not np.all(np.isfinite(c)):
        raise argument_error("scales", "finite_vector", scales)
    raised = checked_finite("signal", signal)
    pairs = [_expected(float(keys), float(scale), raised) for keys, scale in zip(n, c, strict=True)]
    return np.array([entropy for entropy, _ in pairs]), np.array([meant for _, meant in pairs])


def random_score_ranges(lengths: npt.ArrayLike, bins: int, seed: int = 0) -> Array:
    """Return the least and greatest of a text's scores in each of ``bins`` equal parts, (n, bins, 2).

    Scores are independent and standard normal. Of each part the greatest is drawn from its own law, then the least
    given it, from the same two uniform numbers at every length, so that neighbouring lengths look alike.

    Args:
        lengths: words of the texts, numbers >= 1 (n,); a part of one word or less has one score.
        bins: parts of a text, at least 1.
        seed: of the uniform numbers.

    Raises:
        ValueError: on lengths below 1, or no bins.

    >>> low, high = random_score_ranges([1e6], 4)[0].T
    >>> bool((low < -4).all()), bool((high > 4).all())
    (True, True)
    """
    n = np.asarray(lengths, dtype=np.float64)
    if n.ndim != 1 or np.any(~(n >= 1)) or not np.all(np.isfinite(n)):
        raise argument_error("lengths", "numbers_least", lengths, low=1)
    first, second = np.random.default_rng(seed).uniform(size=(2, checked_int("bins", bins, 1, 4096)))
    of_part = np.maximum(n / bins, 1.0)[:, None]
    above = -np.expm1(np.log(first) / of_part)  # the chance that a score exceeds the greatest
    others = np.maximum(of_part - 1, 1e-9)
    below = (1 - above) * -np.expm1(np.log1p(-second) / others)
    quantile = np.vectorize(NormalDist().inv_cdf, otypes=[float])
    high = -quantile(np.clip(above, 1e-300, 1 - 2.0**-53))
    low = quantile(np.clip(below, 1e-300, 1 - 2.0**-53))
    return np.stack([np.where(of_part > 1, np.minimum(low, high), high), high], axis=-1)


def _moments(log_t: Array, x: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return E[1 - exp(-t Y)], E[t Y exp(-t Y)] and E[t Y exp(-t Y) x] for Y = exp(x), (len(log_t),) each."""
    product = np.exp(log_t[:, None] + x)
    falling = np.exp(-product)
    return -np.expm1(-product) @ weights, (product * falling) @ weights, (product * falling) @ (weights * x)


@lru_cache(maxsize=4096)
def _expected(keys: float, scale: float, signal: float) -> tuple[float, float]:
    """Return entropy and meant weight in expectation; see ``expected_entropy_and_weight``."""
    z = np.arange(-TAIL, TAIL + STEP / 2, STEP)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()
    # Below, exp(-t T) is 1 for all T that matter, to 1e-13; above, it is 0 for the smallest of them.
    low = -(math.log(keys) + scale**2 / 2 + abs(scale * signal)) - 30
    log_t = np.arange(low, abs(scale) * (TAIL + abs(signal)) + 4, STEP)
    below, _, first_x = _moments(log_t, scale * z, weights)
    meant_below, meant_first, meant_x = _moments(log_t, scale * (signal + z), weights)
    log_other = np.log1p(-np.minimum(below, 1 - 2.0**-53))
    others, but_one = np.exp((keys - 1) * log_other), np.exp((keys - 2) * log_other)
    log_sum = np.sum(np.exp(-np.exp(log_t)) - (1 - meant_below) * others)
    mean_logit = np.sum(meant_x * others) + (keys - 1) * np.sum(first_x * (1 - meant_below) * but_one)
    return float(STEP * (log_sum - mean_logit)), float(STEP * np.sum(meant_first * others))


def yarn_logit_scale(factor: float, weight: float = 1.0) -> float:
    """Return what logits get when cos and sin carry 0.1 * weight * ln(factor) + 1: its square, 1/t.

    DeepSeek multiplies its softmax scale by the same square instead (weight = mscale_all_dim).

    Source: YaRN, arXiv:2309.00071, equations 21 and 22.

    >>> round(yarn_logit_scale(40.0), 4)
    1.8739
    """
    return yarn_attention_factor(factor, weight) ** 2


def log_length_scale(lengths: npt.ArrayLike, train_len: int) -> Array:
    """Return ln(n) / ln(train_len) where n > train_len, else 1, float64 (n,): Qwen's use_logn_attn.

    Source: https://github.com/QwenLM/Qwen, modeling_qwen.py (logn_tensor); Su Jianlin, https://kexue.fm/archives/8823.

    >>> log_length_scale([100, 10_000], 100).tolist()
    [1.0, 2.0]
    """
    trained = checked_int("train_len", train_len, 2, 2**31 - 1)
    n = np.asarray(lengths, dtype=np.float64)
    if np.any(~(n >= 1)):
        raise argument_error("lengths", "numbers_least", lengths, low=1)
    return np.asarray(np.maximum(np.log(n) / math.log(trained), 1.0))


def llama4_query_scale(positions: npt.ArrayLike, floor_scale: int = 8192, weight: float = 0.1) -> Array:
    """Return weight * ln(floor((position + 1) / floor_scale) + 1) + 1, float64 (n,): Llama 4's, in layers without RoPE.

    It multiplies queries, so logits get it once.

    Source: transformers 5.24 models/llama4/modeling_llama4.py (attn_temperature_tuning).

    >>> llama4_query_scale([0, 8191]).round(4).tolist()
    [1.0, 1.0693]
    """
    step = checked_int("floor_scale", floor_scale, 1, 2**31 - 1)
    where = np.asarray(positions, dtype=np.float64)
    if np.any(~(where >= 0)):
        raise argument_error("positions", "numbers_least", positions, low=0)
    return np.asarray(checked_finite("weight", weight) * np.log(np.floor((where + 1) / step) + 1.0) + 1.0)
