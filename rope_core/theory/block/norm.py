"""LayerNorm and RMSNorm: the numbers, what they cost, and where RoPE passes through them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.layout import Layout
from rope_core.rope import Array
from rope_core.theory.encodings.rotary import rotate_rows

EPS = 1e-6


def _scaled(values: Array, gamma: npt.ArrayLike | None, beta: npt.ArrayLike | None = None) -> Array:
    for name, given in (("gamma", gamma), ("beta", beta)):
        if given is not None and np.shape(given) != values.shape[-1:]:
            raise argument_error(name, f"of shape ({values.shape[-1]},)", np.shape(given))
    out = values if gamma is None else values * np.asarray(gamma, dtype=np.float64)
    return out if beta is None else out + np.asarray(beta, dtype=np.float64)


def layer_norm(
    x: npt.ArrayLike, gamma: npt.ArrayLike | None = None, beta: npt.ArrayLike | None = None, eps: float = EPS
) -> Array:
    """Return gamma (x - mean) / sqrt(variance + eps) + beta over the last axis, float64, same shape.

    Raises ValueError when gamma or beta do not fit the last axis.

    Source: arXiv:1607.06450.

    >>> layer_norm([1.0, 3.0], eps=0.0).tolist()
    [-1.0, 1.0]
    """
    values = np.asarray(x, dtype=np.float64)
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    return _scaled(centred / np.sqrt(variance + eps), gamma, beta)


def rms_norm(x: npt.ArrayLike, gamma: npt.ArrayLike | None = None, eps: float = EPS) -> Array:
    """Return gamma x / sqrt(mean(x**2) + eps) over the last axis, float64, same shape.

    Raises ValueError when gamma does not fit the last axis.

    Source: arXiv:1910.07467.

    >>> rms_norm([3.0, 4.0], eps=0.0).round(6).tolist()
    [0.848528, 1.131371]
    """
    values = np.asarray(x, dtype=np.float64)
    return _scaled(values / np.sqrt(np.mean(values**2, axis=-1, keepdims=True) + eps), gamma)


@dataclass(frozen=True)
class NormCost:
    """What one norm over n elements takes.

    Attributes:
        reads, writes: passes over the n elements in memory.
        reductions: sums over the last axis.
        operations: additions and multiplications per element.
        parameters: learned numbers per feature.
    """

    reads: int
    writes: int
    reductions: int
    operations: int
    parameters: int


def norm_cost(kind: str, fused: bool) -> NormCost:
    """Count the passes of "layer" or "rms", one pass per reduction and one to normalise, or fused into one.

    LayerNorm: sum; subtract, square, sum; subtract, scale, gamma, beta. RMSNorm: square, sum; scale, gamma. Fused, a
    row stays in registers and both read once and write once: then the difference is arithmetic alone.

    >>> norm_cost("layer", fused=False)
    NormCost(reads=3, writes=1, reductions=2, operations=8, parameters=2)
    >>> norm_cost("rms", fused=False)
    NormCost(reads=2, writes=1, reductions=1, operations=4, parameters=1)
    """
    costs = {"layer": NormCost(3, 1, 2, 8, 2), "rms": NormCost(2, 1, 1, 4, 1)}
    if kind not in costs:
        raise argument_error("kind", "layer or rms", kind)
    cost = costs[kind]
    return NormCost(1, 1, cost.reductions, cost.operations, cost.parameters) if fused else cost


def norm_rotation_error(
    x: npt.ArrayLike,
    angle: npt.ArrayLike,
    kind: str = "rms",
    gamma: npt.ArrayLike | None = None,
    attention_factor: float = 1.0,
    layout: str | Layout = "interleaved",
) -> float:
    """Return max |norm(f R x) - f R norm(x)|: 0 where the norm and RoPE commute.

    RMSNorm commutes with a rotation when gamma is equal within each pair and the factor f is 1: it sees only the
    length, which a rotation keeps. LayerNorm does not, because the mean turns.

    Args:
        x: (n, dim).
        angle: rad, (n, dim/2).
        kind: "rms" | "layer".
        gamma: (dim,) or None for ones.
        attention_factor: f, multiplies cos and sin.
        layout: the order of the pairs.

    Raises:
        ValueError: on an unknown kind or shapes that do not fit.
    """
    if kind not in ("rms", "layer"):
        raise argument_error("kind", "layer or rms", kind)
    f = checked_finite("attention_factor", attention_factor)

    def norm(values: Array) -> Array:
        return rms_norm(values, gamma, 0.0) if kind == "rms" else layer_norm(values, gamma, None, 0.0)

    values = np.asarray(x, dtype=np.float64)
    before = norm(f * rotate_rows(values, angle, layout))
    after = f * rotate_rows(norm(values), angle, layout)
    return float(np.abs(before - after).max())
