"""Start here: fill in the functions, then grade them on your own machine.

Angles are in radians; pair i is dimensions (i, i + dim/2) in the layout "half", (2i, 2i + 1) in "interleaved".
Copy this file, then run: rope grade mine.py --assignment examples/assignment.toml
"""

import numpy as np

Array = np.ndarray


def spectrum(dim: int, base: float) -> Array:
    """Return the frequencies, float64 (dim/2,): radians per token, the fastest first."""
    raise NotImplementedError("spectrum is yours to write")


def rotate(x: Array, positions: Array, inv_freq: Array, layout: str) -> Array:
    """Return x (n, dim) with each row turned by its position, in x's dtype."""
    raise NotImplementedError("rotate is yours to write")


def rotate_backward(grad: Array, positions: Array, inv_freq: Array, layout: str) -> Array:
    """Return the gradient of sum(grad * rotate(x, ...)) with respect to x, (n, dim)."""
    raise NotImplementedError("rotate_backward is yours to write")


def convert(x: Array, source: str, target: str) -> Array:
    """Return x (n, dim) reordered from the layout source to the layout target."""
    raise NotImplementedError("convert is yours to write")


def yarn(dim: int, base: float, train_len: int, factor: float) -> tuple[Array, float]:
    """Return YaRN's frequencies, float64 (dim/2,), and its attention factor (ramp between 32 turns and 1)."""
    raise NotImplementedError("yarn is yours to write")
