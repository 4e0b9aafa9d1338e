"""Activations with their derivatives, and the gated family."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error
from rope_core.rope import Array

_erfc = np.frompyfunc(math.erfc, 1, 1)


def sigmoid(z: npt.ArrayLike) -> Array:
    """Return 1 / (1 + exp(-z)), float64, without overflow.

    >>> sigmoid([0.0, -1000.0]).tolist()
    [0.5, 0.0]
    """
    x = np.asarray(z, dtype=np.float64)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def normal_cdf(z: npt.ArrayLike) -> Array:
    """Return the standard normal distribution function, float64, to full precision on either side."""
    x = np.asarray(z, dtype=np.float64)
    return 0.5 * np.asarray(_erfc(-x / math.sqrt(2.0)), dtype=np.float64)


def _gelu(x: Array) -> Array:
    return x * normal_cdf(x)


def _gelu_slope(x: Array) -> Array:
    return normal_cdf(x) + x * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)


def _inner(x: Array) -> Array:
    return np.asarray(np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def _gelu_tanh_slope(x: Array) -> Array:
    t = _inner(x)
    rate = math.sqrt(2.0 / math.pi) * (1.0 + 3 * 0.044715 * x**2)
    return np.asarray(0.5 * (1.0 + t) + 0.5 * x * (1.0 - t**2) * rate)


def _silu_slope(x: Array) -> Array:
    s = sigmoid(x)
    return np.asarray(s * (1.0 + x * (1.0 - s)))


ArrayFunction = Callable[[Array], Array]


@dataclass(frozen=True)
class Activation:
    """A curve, its derivative and its source; ReLU's derivative at 0 is taken as 0."""

    value: ArrayFunction
    slope: ArrayFunction
    source: str


ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda x: x, np.ones_like, ""),
    "sigmoid": Activation(sigmoid, lambda x: sigmoid(x) * sigmoid(-x), ""),
    "tanh": Activation(np.tanh, lambda x: 1.0 - np.tanh(x) ** 2, ""),
    "relu": Activation(lambda x: np.maximum(x, 0.0), lambda x: np.where(x <= 0, 0.0, 1.0), "arXiv:1803.08375"),
    "relu2": Activation(lambda x: np.maximum(x, 0.0) ** 2, lambda x: 2.0 * np.maximum(x, 0.0), "arXiv:2109.08668"),
    "gelu": Activation(_gelu, _gelu_slope, "arXiv:1606.08415"),
    "gelu_tanh": Activation(lambda x: 0.5 * x * (1.0 + _inner(x)), _gelu_tanh_slope, "arXiv:1606.08415"),
    "silu": Activation(lambda x: x * sigmoid(x), _silu_slope, "arXiv:1702.03118"),
}
# Gate function of each gated unit, and how many matrices a feed-forward layer with it has.
GATES: dict[str, str] = {"glu": "sigmoid", "bilinear": "identity", "reglu": "relu", "geglu": "gelu", "swiglu": "silu"}


def activation(name: str) -> Activation:
    """Return the activation called ``name``, or raise ValueError listing the known names."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise argument_error("activation", "one_of", name, names=list(ACTIVATIONS))
    return ACTIVATIONS[name]


def activation_and_derivative(name: str, x: npt.ArrayLike) -> tuple[Array, Array]:
    """Return (value, derivative) at x, float64, same shape.

    >>> [part.tolist() for part in activation_and_derivative("relu2", [-1.0, 3.0])]
    [[0.0, 9.0], [0.0, 6.0]]
    """
    chosen = activation(name)
    values = np.asarray(x, dtype=np.float64)
    return np.asarray(chosen.value(values)), np.asarray(chosen.slope(values))


def gated_product(unit: str, gate: npt.ArrayLike, value: npt.ArrayLike) -> Array:
    """Return act(gate) * value for a unit in GATES, float64; gate = x W and value = x V.

    Source: GLU Variants Improve Transformer, arXiv:2002.05202.

    >>> gated_product("reglu", [2.0, -1.0], [3.0, 5.0]).tolist()
    [6.0, 0.0]
    """
    if unit not in GATES:
        raise argument_error("unit", "one_of", unit, names=list(GATES))
    return np.asarray(activation_and_derivative(GATES[unit], gate)[0] * np.asarray(value, dtype=np.float64))


def feed_forward(name: str, x: npt.ArrayLike, w_in: npt.ArrayLike, w_out: npt.ArrayLike, v: npt.ArrayLike) -> Array:
    """Return (act(x W) * (x V)) W2, float64 (n, dim); rows are tokens, as in the source documents."""
    values, w, w2, second = (np.asarray(a, dtype=np.float64) for a in (x, w_in, w_out, v))
    return np.asarray(gated_product(name, values @ w, values @ second) @ w2)
