"""The activations in front of the rotation, and their Jacobians: float64 numpy, the formulas as they are written."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rope_core.rope import Array

_erfc = np.frompyfunc(math.erfc, 1, 1)


def normal_cdf(x: Array) -> Array:
    """Return the share of a standard normal below x, float64 like x: erfc(-x / sqrt 2) / 2."""
    return 0.5 * np.asarray(_erfc(-x / math.sqrt(2.0)), dtype=np.float64)


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x), float64 like x, without overflow on either side."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, small, 1.0) / (1.0 + small))


def softmax(x: Array, axis: int) -> Array:
    """Return e^x over its sum along ``axis``, float64 like x."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def relu(x: Array) -> Array:
    """Return x where it is above zero, else 0; NaN stays NaN."""
    return np.asarray(np.where(x <= 0, 0.0, x))


def _relu_slope(x: Array) -> Array:
    """Return 1 above zero and 0 up to and at zero, the subgradient that torch takes."""
    return np.asarray(np.where(x <= 0, 0.0, 1.0))


def _silu_slope(x: Array) -> Array:
    """Return s (1 + x (1 - s)) with s = sigmoid(x)."""
    s = sigmoid(x)
    return np.asarray(s * (1.0 + x * (1.0 - s)))


def _gelu_slope(x: Array) -> Array:
    """Return cdf(x) + x pdf(x) of the standard normal."""
    return np.asarray(normal_cdf(x) + x * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi))


# name: (f, f') for the activations that see one element at a time
ELEMENTWISE: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "none": (lambda x: x, np.ones_like),
    "relu": (relu, _relu_slope),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
    "silu": (lambda x: x * sigmoid(x), _silu_slope),
    "gelu": (lambda x: x * normal_cdf(x), _gelu_slope),
    "1+elu": (lambda x: np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0))), lambda x: np.exp(np.minimum(x, 0.0))),
    "relu2": (lambda x: relu(x) * relu(x), lambda x: 2.0 * relu(x)),
}


def activate(x: Array, act: str, dim: int | None) -> Array:
    """Return f(x), float64 like x (B, N, H, D); softmax runs along ``dim``: -1 the head, 1 the sequence.

    >>> activate(np.array([[-1.0, 3.0]]), "relu2", None).tolist()
    [[0.0, 9.0]]
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        if act == "softmax":
            assert dim is not None
            return softmax(x, dim)
        return ELEMENTWISE[act][0](x)


def activate_backward(x: Array, grad: Array, act: str, dim: int | None) -> Array:
    """Return the gradient at x from the gradient at f(x): f'(x) grad, or o (grad - sum of o grad) for softmax.

    >>> activate_backward(np.array([[0.0, 0.0]]), np.array([[1.0, 3.0]]), "softmax", -1).tolist()
    [[-0.5, 0.5]]
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        if act == "softmax":
            assert dim is not None
            o = softmax(x, dim)
            return np.asarray(o * (grad - (o * grad).sum(axis=dim, keepdims=True)))
        return np.asarray(ELEMENTWISE[act][1](x) * grad)
