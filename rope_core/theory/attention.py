"""What rotation does to attention scores: decay, the base a context needs, contributions per pair."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import RuleText, argument_error, checked_int
from rope_core.layout import Layout, checked_layout
from rope_core.rope import Array, Rope, read_only_array
from rope_core.spectrum import Spectrum

MAX_CONTEXT = 2**21
CHUNK = 65_536
FINE = 512


def checked_vector(argument: str, value: npt.ArrayLike, size: int | None = None) -> Array:
    """Return ``value`` as a finite float64 vector, of ``size`` elements where one is given, or raise ValueError."""
    rule = RuleText("finite_vector") if size is None else RuleText("sized_vector", {"size": size})
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise argument_error(argument, rule, value) from None
    fits = vector.ndim == 1 and vector.size and size in (None, vector.size)
    if not fits or not np.all(np.isfinite(vector)):
        raise argument_error(argument, rule, value)
    return vector


def cycled_vector(values: npt.ArrayLike, size: int) -> Array:
    """Return ``values`` one after the other, from the first again until there are ``size`` numbers, float64 (size,).

    Raises ValueError unless values is a non-empty vector of at most ``size`` finite numbers.

    >>> cycled_vector([1.0, 0.5], 4).tolist()
    [1.0, 0.5, 1.0, 0.5]
    """
    given = checked_vector("values", values)
    if given.size > size:
        raise argument_error("values", "at_most_numbers", given.size, limit=size)
    return np.resize(given, size)


def pair_score_coefficients(q: npt.ArrayLike, k: npt.ArrayLike, layout: str | Layout) -> npt.NDArray[np.complex128]:
    """Return h_i = (q_a + i q_b)(k_a - i k_b) of each pair (a, b), complex128 (dim/2,); RoFormer's h.

    >>> pair_score_coefficients([1.0, 0.0], [0.0, 1.0], "interleaved").tolist()
    [-1j]
    """
    query = checked_vector("q", q)
    key = checked_vector("k", k, query.size)
    if query.size % 2:
        raise argument_error("q", "even_size", query.size)
    chosen = checked_layout(layout)
    (qa, qb), (ka, kb) = chosen.split_pairs(query), chosen.split_pairs(key)
    return np.asarray((qa + 1j * qb) * (ka - 1j * kb))


def pair_contributions(
    s: Spectrum,
    distances: npt.ArrayLike,
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    layout: str | Layout = "interleaved",
) -> Array:
    """Return what each pair adds to the score of q at m and k at n, float64 (n, dim/2), for distances m - n.

    Args:
        s: frequencies; its attention_factor enters squared, once from q and once from k.
        distances: m - n in tokens, any finite numbers (n,).
        q, k: head vectors before rotation (dim,).
        layout: the order of pairs in q and k.

    Returns:
        Re[h_i exp(i (m - n) inv_freq_i)] * attention_factor**2, before the division by sqrt(dim); rows sum to
        the score, and cumulative sums over a row show which pairs make it.

    Raises:
        ValueError: when q or k do not fit the spectrum, or a distance is not finite.

    >>> from rope_core.spectrum import Spectrum
    >>> pair_contributions(Spectrum.from_inv_freq([np.pi]), [0, 1], [1.0, 0.0], [1.0, 0.0]).round(9).tolist()
    [[1.0], [-1.0]]
    """
    where = checked_vector("distances", distances)
    h = pair_score_coefficients(q, k, layout)
    if h.size != s.inv_freq.size:
        raise argument_error("q", "spectrum_size", 2 * h.size, size=2 * s.inv_freq.size)
    turned = np.exp(1j * where[:, None] * s.inv_freq) * h
    return np.asarray(turned.real * s.attention_factor**2)


def score_curve(
    s: Spectrum,
    distances: npt.ArrayLike,
    q: npt.ArrayLike | None = None,
    k: npt.ArrayLike | None = None,
    layout: str | Layout = "interleaved",
) -> Array:
    """Return the attention score before 1/sqrt(dim) at each distance m - n, float64 (n,).

    Without q and k every pair gets the weight 2/dim: the mean of cos((m - n) inv_freq_i), which is the score of
    a vector of unit length, spread evenly over the pairs, with itself. The square of attention_factor is included.

    Raises ValueError as ``pair_contributions`` does, or when only one of q and k is given.

    >>> from rope_core.rope import Rope
    >>> from rope_core.spectrum import Request, spectrum
    >>> score_curve(spectrum(Request(Rope(128))), [0, 1, 100]).round(4).tolist()
    [1.0, 0.9702, 0.4772]
    """
    if (q is None) != (k is None):
        raise argument_error("q and k", "given together or not at all", "one of them")
    if q is None or k is None:
        where = checked_vector("distances", distances)
        mean = np.cos(where[:, None] * s.inv_freq).mean(axis=1)
        return np.asarray(mean * s.attention_factor**2)
    return np.asarray(pair_contributions(s, distances, q, k, layout).sum(axis=1))


def partial_phasor_sums(s: Spectrum, distances: npt.ArrayLike) -> npt.NDArray[np.complex128]:
    """Return S_j = sum over i < j of exp(i (m - n) inv_freq_i) for j = 1..dim/2, complex128 (n, dim/2)."""
    where = checked_vector("distances", distances)
    return np.asarray(np.cumsum(np.exp(1j * where[:, None] * s.inv_freq), axis=1))


def decay_bound(s: Spectrum, distances: npt.ArrayLike) -> Array:
    """Return RoFormer's mean of |S_j| over j = 1..dim/2 at each distance, float64 (n,), dimensionless.

    It is the part of the bound that does not depend on q and k: |score| <= max|h_{i+1} - h_i| * dim/2 * this.

    Source: RoFormer, arXiv:2104.09864, section 3.4.3, equations 36 and 37.

    >>> from rope_core.rope import Rope
    >>> from rope_core.spectrum import Request, spectrum
    >>> decay_bound(spectrum(Request(Rope(4, 100.0))), [0]).tolist()
    [1.5]
    """
    return np.asarray(np.abs(partial_phasor_sums(s, distances)).mean(axis=1))


def cosine_sums(theta: npt.ArrayLike, start: int, count: int) -> Array:
    """Return sum_i cos(m theta_i) at the distances m = start, start + 1, ..., float64 (count,).

    cos(a + b) = cos a cos b - sin a sin b makes it two matrix products over coarse and fine steps, an order of
    magnitude faster than one cosine for each distance and pair.

    >>> cosine_sums([np.pi], 0, 3).round(9).tolist()
    [1.0, -1.0, 1.0]
    """
    speeds = checked_vector("theta", theta)
    fine = np.arange(min(FINE, count), dtype=np.float64)[:, None] * speeds
    coarse = np.arange(start, start + count, FINE, dtype=np.float64)[:, None] * speeds
    sums = np.cos(coarse) @ np.cos(fine).T - np.sin(coarse) @ np.sin(fine).T
    return np.asarray(sums.ravel()[:count])


@lru_cache(maxsize=4096)
def first_negative_score_distance(dim: int, base: float, context: int) -> int | None:
    """Return the first distance in 0..context-1 at which sum_i cos(m theta_i) is negative, or None.

    Up to there, q = k + noise scores above a random key on average: the model can still tell them apart.

    Source: Base of RoPE Bounds Context Length, arXiv:2405.14591, theorem 1.

    >>> first_negative_score_distance(128, 10_000.0, 4096)
    1707
    """
    theta = Rope(dim, base).theta
    length = checked_int("context", context, 1, MAX_CONTEXT)
    low, size = 0, FINE
    while low < length:
        below = np.nonzero(cosine_sums(theta, low, min(size, length - low)) < 0)[0]
        if below.size:
            return low + int(below[0])
        low, size = low + size, min(2 * size, CHUNK)
    return None


@lru_cache(maxsize=32)
def bases_and_served_contexts(dim: int, per_decade: int = 24, limit: int = 2**17) -> tuple[Array, Array]:
    """Return bases rising from 10 in even steps of the logarithm, and the context that each serves, float64 (n,) each.

    A base serves the distances 0..context-1 where sum_i cos(m theta_i) stays >= 0. The last base is the first one that
    serves ``limit`` tokens, or 1e15; its context is then ``limit``.

    Raises ValueError on a bad dim, or steps and limits that are no positive integers.

    >>> bases, contexts = bases_and_served_contexts(128, 2, 4096)
    >>> bases.round(1).tolist()[:3], contexts.tolist()[-1]
    ([10.0, 31.6, 100.0], 4096.0)
    """
    steps = checked_int("per_decade", per_decade, 1, 1000)
    length = checked_int("limit", limit, 2, MAX_CONTEXT)
    bases, contexts = [], []
    for k in range(14 * steps + 1):
        base = 10.0 ** (1 + k / steps)
        first = first_negative_score_distance(dim, base, length)
        bases.append(base)
        contexts.append(float(length if first is None else first))
        if first is None:
            break
    return read_only_array(bases), read_only_array(contexts)
