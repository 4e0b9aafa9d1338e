"""What several documents' checks share: drawn vectors, printed matrices written out, gradients by difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rope_core.rope import Array, Rope

DIM = 8
ROPE = Rope(DIM, 10_000.0)
M, N = 7, 19


def random_normal(seed: int, *shape: int) -> Array:
    """Return N(0, 1) numbers, the same for the same seed, float64."""
    return np.random.default_rng(seed).standard_normal(shape)


def rotation_block_matrix(position: float, theta: Array, signs: tuple[int, int, int, int] = (1, -1, 1, 1)) -> Array:
    """Write out the block matrix with (+-cos, +-sin; +-sin, +-cos) on adjacent pairs, entry by entry, (dim, dim)."""
    matrix = np.zeros((2 * len(theta), 2 * len(theta)))
    for j, t in enumerate(theta):
        c, s = np.cos(position * t), np.sin(position * t)
        matrix[2 * j, 2 * j], matrix[2 * j, 2 * j + 1] = signs[0] * c, signs[1] * s
        matrix[2 * j + 1, 2 * j], matrix[2 * j + 1, 2 * j + 1] = signs[2] * s, signs[3] * c
    return matrix


def elementwise_rotation(x: Array, swapped: Array, position: float, theta: Array) -> Array:
    """Return x * cos + swapped * sin with every frequency written to two neighbours, (dim,)."""
    angle = np.repeat(position * theta, 2)
    return np.asarray(x * np.cos(angle) + swapped * np.sin(angle))


def rotate_every_two(x: Array) -> Array:
    """Return (-x1, x0, -x3, x2, ...), written out index by index."""
    return np.array([-x[i + 1] if i % 2 == 0 else x[i - 1] for i in range(len(x))])


def negate_even_dims(x: Array) -> Array:
    """Return (-x0, x1, -x2, x3, ...), as a source prints it in the place of `rotate_every_two`."""
    return np.asarray(np.tile([-1.0, 1.0], len(x) // 2) * x)


def rotate_half(x: Array) -> Array:
    """Return (-x_{d/2}, ..., -x_{d-1}, x_0, ..., x_{d/2-1}), written out index by index."""
    half = len(x) // 2
    return np.array([-x[i + half] if i < half else x[i - half] for i in range(len(x))])


def to_complex_pairs(x: Array) -> np.ndarray:
    """Return x0 + i x1, x2 + i x3, ..., complex (dim/2,)."""
    return np.asarray(x[0::2] + 1j * x[1::2])


def from_complex_pairs(z: np.ndarray) -> Array:
    """Return the real vector of complex pairs, (dim,)."""
    return np.stack([z.real, z.imag], axis=-1).reshape(-1)


def numerical_gradient(function: Callable[[Array], float], x: Array, step: float = 1e-6) -> Array:
    """Return the gradient of a scalar function by central differences, same shape as x."""
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        ahead, back = x.copy(), x.copy()
        ahead[index] += step
        back[index] -= step
        out[index] = (function(ahead) - function(back)) / (2 * step)
    return out


def distance_from_full_turn(angle: float) -> float:
    """Return an angle's distance from 0 modulo a full turn, rad, in [0, pi]."""
    return float(abs((angle + np.pi) % (2 * np.pi) - np.pi))
