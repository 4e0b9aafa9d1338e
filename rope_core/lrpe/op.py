"""The public ops: they check a call, choose its backend and hand it over."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.lrpe import arguments, reference
from rope_core.lrpe.arguments import is_tensor
from rope_core.rope import Array

# Where each backend's rotate(x, theta, start, plan) lives, for torch tensors.
MODULES = {"eager": "rope_core.lrpe.eager", "triton": "rope_core.lrpe.gpu"}
BACKENDS = ("numpy", *MODULES)

MAX_THETA = 2.0**20


def lrpe_rotate(
    x: Any,
    theta: Any,
    *,
    offset: Any = 0,
    act: str = "none",
    dim: int | None = None,
    rotary_dim: int | slice | None = None,
    backend: str | None = None,
) -> Any:
    """Return O = R(offset + n) f(X): an activation, then each pair (i, i + P) turned by its position times theta.

    Args:
        x: (B, N, H, D) or (B, N, D), numpy or torch; float16 and bfloat16 are computed in float32, rounded once.
        theta: rad/token, (H, P), (P,) or (H,) with P pairs that turn; of equal lengths (P,) is meant, (H, 1) never is.
            At most 2**20 in magnitude.
        offset: the first token's position: an int, integers (B,), or every token's position (1, N) or (B, N).
        act: "none", "relu", "sigmoid", "silu", "gelu" (by erf), "softmax", "1+elu" or "relu2".
        dim: softmax's axis, -1 (all D of a head) or 1 (the sequence); the others act element by element.
        rotary_dim: how many first dimensions turn, or a slice of them; the others pass, after the activation.
        backend: "numpy" (float64), "eager" (torch's own operations) or "triton"; None takes "numpy" for an array,
            "triton" for a CUDA tensor and "eager" for any other.

    Returns:
        Like x; float64 from "numpy". Torch backends carry gradients to x and theta, recomputed from x and theta.

    Raises:
        ValueError: naming the argument, the rule and the value. Not for values of x that are not finite, which
            propagate; nor for such values of theta on a CUDA device, which propagate too, because looking would wait.

    Source: xopes, lrpe rotate 1d,
    https://github.com/Doraemonzzz/xopes/blob/1dfa3df/xopes/ops/lrpe/rotate/_1d/README.md

    >>> quarter = np.array([np.pi / 2])
    >>> lrpe_rotate(np.array([[[1.0, 0.0]]]), quarter, offset=1).round(12).tolist()
    [[[0.0, 1.0]]]
    """
    chosen = _choose_backend(x, backend)
    _check_pair("theta", x, theta)
    _check_offset_device(offset, x)
    p = arguments.make_lrpe_spec(tuple(x.shape), tuple(np.shape(theta)), act, dim, rotary_dim)
    start = arguments.start_positions(offset, p.batch, p.length)
    if chosen == "numpy":
        values = reference.checked_float64("x", x).reshape(p.shape)
        where = arguments.token_position_table(start, p.length)
        out = reference.lrpe_forward(values, checked_theta(theta).reshape(p.theta_shape), where, p)
        return out.reshape(x.shape)
    _check_floating(x, theta)
    rotate = importlib.import_module(MODULES[chosen]).rotate
    return rotate(x.reshape(p.shape), theta.reshape(p.theta_shape), start, p).reshape(x.shape)


def lrpe_rotate_backward(
    x: Any,
    theta: Any,
    grad: Any,
    *,
    offset: Any = 0,
    act: str = "none",
    dim: int | None = None,
    rotary_dim: int | slice | None = None,
) -> tuple[Array, Array]:
    """Return the gradients at x and theta from the gradient at O, float64 numpy, the reference of every backward.

    ``grad`` is shaped like x; the other arguments, and what raises ValueError, are lrpe_rotate's.

    >>> dx, dtheta = lrpe_rotate_backward([[[1.0, 0.0]]], [0.0], [[[0.0, 2.0]]], offset=3)
    >>> dx.tolist(), dtheta.tolist()
    ([[[0.0, 2.0]]], [6.0])
    """
    values, frequency, upstream = (
        reference.checked_float64("x", x),
        checked_theta(theta),
        reference.checked_float64("grad", grad),
    )
    if upstream.shape != values.shape:
        raise argument_error("grad", "shape_of", upstream.shape, other="x", shape=str(values.shape))
    p = arguments.make_lrpe_spec(values.shape, frequency.shape, act, dim, rotary_dim)
    where = arguments.token_position_table(arguments.start_positions(offset, p.batch, p.length), p.length)
    grid = frequency.reshape(p.theta_shape)
    dx, dtheta = reference.lrpe_backward(values.reshape(p.shape), grid, where, upstream.reshape(p.shape), p)
    return dx.reshape(values.shape), dtheta.reshape(frequency.shape)


def _choose_backend(x: Any, backend: object) -> str:
    """Return the backend that a call runs on, or raise ValueError when x cannot run on ``backend``."""
    if backend is not None and backend not in BACKENDS:
        raise argument_error("backend", "none_or_one_of", backend, names=BACKENDS)
    if not is_tensor(x):
        if not isinstance(x, np.ndarray):
            raise argument_error("x", "array_or_tensor", x)
        if backend not in (None, "numpy"):
            raise argument_error("x", "tensor_for_backend", type(x).__name__, backend=backend)
        return "numpy"
    if backend == "numpy":
        raise argument_error("x", "array_for_numpy", type(x).__name__)
    if backend is not None:
        return str(backend)
    return "triton" if x.device.type == "cuda" else "eager"


def _check_pair(name: str, x: Any, other: Any) -> None:
    """Raise ValueError unless ``other`` is of x's library and on x's device."""
    if is_tensor(x):
        if not is_tensor(other):
            raise argument_error(name, "tensor_like_x", type(other).__name__)
        if other.device != x.device:
            raise argument_error(name, "device_of", str(other.device), other="x", device=x.device)
    elif is_tensor(other):
        raise argument_error(name, "array_like_x", type(other).__name__)
    elif not isinstance(x, np.ndarray):
        raise argument_error("x", "array_or_tensor", x)


def _check_offset_device(offset: Any, x: Any) -> None:
    """Raise ValueError when ``offset`` is a tensor that is neither on the CPU nor on x's device."""
    if is_tensor(offset) and offset.device.type != "cpu" and (not is_tensor(x) or offset.device != x.device):
        raise argument_error("offset", "cpu_or_device_of_x", str(offset.device))


def _check_floating(x: Any, theta: Any) -> None:
    """Raise ValueError unless x and theta are of floating types, and theta's values usable where looking is free."""
    for name, value in (("x", x), ("theta", theta)):
        if not value.is_floating_point():
            raise argument_error(name, "floating_type", str(value.dtype))
    if theta.device.type == "cpu":
        checked_theta(theta.detach().double().numpy())


def checked_theta(theta: Any) -> Array:
    """Return theta as float64, or raise ValueError unless every value is finite and at most 2**20 in magnitude."""
    values = reference.checked_float64("theta", theta)
    if not np.all(np.abs(values) <= MAX_THETA):
        raise argument_error("theta", "theta_size", values)
    return values
