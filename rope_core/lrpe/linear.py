"""Linear attention with turned features: its scores, the running sum that replaces them, and how they fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rope_core.errors import checked_int
from rope_core.lrpe import explain
from rope_core.lrpe.activations import apply_activation
from rope_core.lrpe.demo import relative_max_error
from rope_core.lrpe.op import lrpe_rotate
from rope_core.rope import Array
from rope_core.theory.demo import random_vectors


@dataclass(frozen=True, eq=False)
class LinearAttention:
    """Causal linear attention computed twice, float64.

    Attributes:
        scores, plain: phi(q_m) R_m^T R_n phi(k_n) and phi(q_m) phi(k_n), (N, N), all pairs.
        by_scores: the output from the N x N scores, (N, Dv).
        by_state: the output from one running sum of D x Dv numbers, (N, Dv).
    """

    scores: Array
    plain: Array
    by_scores: Array
    by_state: Array

    @property
    def negative_score_count(self) -> int:
        """How many causal scores are below zero."""
        return int((np.tril(self.scores) < 0).sum())

    @property
    def undefined_token_count(self) -> int:
        """How many tokens have no feature in common with any before them: their output is undefined, NaN."""
        return int(np.isnan(self.by_scores).any(axis=1).sum())

    @property
    def residual(self) -> float:
        """The ``relative_max_error`` between the two outputs where they are defined."""
        there = ~np.isnan(self.by_scores).any(axis=1)
        return relative_max_error(self.by_state[there], self.by_scores[there])


def linear_attention(q: Array, k: Array, v: Array, theta: Array, act: str, offset: int = 0) -> LinearAttention:
    """Return causal linear attention with turned features above the fraction and plain ones below it.

    The sum below stays without rotation, so that it is a sum of non-negative numbers.

    Args:
        q, k, v: (N, D), (N, D), (N, Dv), one head.
        theta: rad/token, (D/2,).
        act: phi, a name in explain.NON_NEGATIVE.
        offset: the first token's position.

    Source: arXiv:2104.09864, equation 19, with the sums over n <= m.
    """
    scores = explain.linear_scores(q, k, theta, act=act, offset=offset)
    dim = -1 if act == "softmax" else None
    features_q, features_k = (apply_activation(f, act, dim) for f in (q, k))
    plain = features_q @ features_k.T
    turned_q, turned_k = (lrpe_rotate(f[None], theta, offset=offset)[0] for f in (features_q, features_k))
    state, sums = np.zeros((q.shape[1], v.shape[1])), np.cumsum(features_k, axis=0)
    above = np.empty_like(v)
    for m in range(q.shape[0]):
        state += np.outer(turned_k[m], v[m])
        above[m] = turned_q[m] @ state
    by_scores = np.tril(scores) @ v / nan_where_zero(np.tril(plain).sum(axis=1, keepdims=True))
    return LinearAttention(
        scores, plain, by_scores, above / nan_where_zero((features_q * sums).sum(axis=1, keepdims=True))
    )


def multiplication_counts(length: int, dim: int) -> tuple[int, int]:
    """Return the multiplications of one causal head over a text: by a table of scores, and by a running sum.

    By the table each pair of words costs 2 dim: its score, and its share of the value. By the running sum each word
    costs 2 dim**2: the outer product that is added, and the product that reads it. Projections, softmax and divisions
    are the same or smaller and are not counted.

    Args:
        length: words, at least 1.
        dim: width of the head, of queries, keys and values alike.

    Raises:
        ValueError: on numbers that are not whole or below 1.

    >>> multiplication_counts(255, 128), multiplication_counts(4096, 128)
    ((8355840, 8355840), (2148007936, 134217728))
    """
    words, width = checked_int("length", length, 1, 2**31 - 1), checked_int("dim", dim, 1, 2**20)
    return words * (words + 1) * width, 2 * words * width**2


def nan_where_zero(below: Array) -> Array:
    """Return ``below`` with NaN for 0, so that a quotient by it says that it is undefined."""
    return np.where(below == 0, np.nan, below)


def random_linear_attention(theta: Array, act: str, tokens: int) -> LinearAttention:
    """Return ``linear_attention`` of drawn q, k (tokens, D) and v (tokens, 4), theta (D/2,)."""
    q, k = random_vectors(2 * theta.size, 2 * tokens, seed=5).reshape(2, tokens, -1)
    return linear_attention(q, k, random_vectors(4, tokens, seed=6), theta, act)
