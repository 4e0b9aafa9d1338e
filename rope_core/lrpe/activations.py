"""The activations in front of the rotation, and their Jacobians: float64 numpy, the formulas as they are written."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory.block.activation import ACTIVATIONS, Activation
from rope_core.theory.softmax import softmax


def _elu_slope(x: Array) -> Array:
    return np.asarray(np.exp(np.minimum(x, 0.0)))


# Those that see one element at a time.
ELEMENTWISE = {
    "none": ACTIVATIONS["identity"],
    **{name: ACTIVATIONS[name] for name in ("relu", "sigmoid", "silu", "gelu", "relu2")},
    "1+elu": Activation(lambda x: np.where(x > 0, x + 1.0, _elu_slope(x)), _elu_slope, "arXiv:2006.16236"),
}


def apply_activation(x: Array, act: str, dim: int | None) -> Array:
    """Return f(x), float64 like x (B, N, H, D); softmax runs along ``dim``: -1 the head, 1 the sequence.

    >>> apply_activation(np.array([[-1.0, 3.0]]), "relu2", None).tolist()
    [[0.0, 9.0]]
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        if act == "softmax":
            assert dim is not None
            return softmax(x, dim)
        return np.asarray(ELEMENTWISE[act].value(x))


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
        return np.asarray(ELEMENTWISE[act].slope(x) * grad)
