"""The arguments of LRPE, checked once for every backend, without importing torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import RuleText, argument_error, checked_int
from rope_core.spectrum import MAX_POSITION

ACTIVATIONS = ("none", "relu", "sigmoid", "silu", "gelu", "softmax", "1+elu", "relu2")

PositionIds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LrpeSpec:
    """A checked call: its sizes, what turns and what is done before.

    Attributes:
        batch, length, heads, width: B, N, H, D of x; H is 1 where x came as (B, N, D).
        act: a name in ACTIVATIONS.
        dim: None, -1 (the head) or 1 (the sequence); only softmax looks at it.
        start, pairs: dimensions start .. start + 2 * pairs - 1 turn, dimension i with i + pairs.
        theta_shape: (1 | H, 1 | pairs), theta's shape once its heads and pairs have their own axes.
    """

    batch: int
    length: int
    heads: int
    width: int
    act: str
    dim: int | None
    start: int
    pairs: int
    theta_shape: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The sizes (B, N, H, D)."""
        return self.batch, self.length, self.heads, self.width

    @property
    def rotary_end(self) -> int:
        """The first dimension after those that turn."""
        return self.start + 2 * self.pairs

    @property
    def is_activation_over_sequence(self) -> bool:
        """Whether the activation mixes positions."""
        return self.act == "softmax" and self.dim == 1


def is_tensor(value: object) -> bool:
    """Return whether ``value`` is a torch tensor, without importing torch."""
    return any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(value).__mro__)


def make_lrpe_spec(
    x_shape: tuple[int, ...],
    theta_shape: tuple[int, ...],
    act: object = "none",
    dim: object = None,
    rotary_dim: object = None,
) -> LrpeSpec:
    """Check a rotating call by its shapes.

    Args:
        x_shape: (B, N, H, D) or (B, N, D).
        theta_shape: with P pairs that turn: (H, P), (P,), (H,) or (H, 1); a 1-D theta that could be read both ways
            (H = P) is one value per pair.
        act, dim: the activation and the axis it looks along.
        rotary_dim: None for all of D, an even number of first dimensions, or a slice of step 1.

    Raises:
        ValueError: naming the argument, the rule and the value.

    >>> make_lrpe_spec((2, 5, 8, 64), (8,)).theta_shape, make_lrpe_spec((2, 5, 32, 64), (32,)).theta_shape
    ((8, 1), (1, 32))
    """
    batch, length, heads, width = shape_sizes(x_shape)
    if width < 2 or width % 2:
        raise argument_error("x", "even_last", tuple(x_shape))
    start, stop = rotary_bounds(rotary_dim, width)
    pairs = (stop - start) // 2
    grid = checked_theta_shape(theta_shape, heads, pairs)
    check_activation(act, dim, length)
    assert isinstance(act, str) and (dim is None or isinstance(dim, int))
    return LrpeSpec(batch, length, heads, width, act, dim, start, pairs, grid)


def shape_sizes(x_shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return B, N, H, D of a shape (B, N, H, D) or (B, N, D), where H is 1."""
    shape = tuple(int(size) for size in x_shape)
    if len(shape) == 3:
        return shape[0], shape[1], 1, shape[2]
    if len(shape) != 4:
        raise argument_error("x", "three_or_four_axes", shape)
    return shape[0], shape[1], shape[2], shape[3]


def checked_theta_shape(theta_shape: tuple[int, ...], heads: int, width: int) -> tuple[int, int]:
    """Return theta's shape as (1 | heads, 1 | width), or raise ValueError with the three shapes that fit."""
    shape = tuple(int(size) for size in theta_shape)
    if shape == (width,):
        return 1, width
    if shape in ((heads,), (heads, 1)):
        return heads, 1
    if shape == (heads, width):
        return heads, width
    raise argument_error("theta", "theta_per_pair", shape, heads=heads, width=width)


def rotary_bounds(rotary_dim: object, width: int) -> tuple[int, int]:
    """Return the first dimension that turns and the first one after them."""
    if rotary_dim is None:
        return 0, width
    if not isinstance(rotary_dim, slice):
        count = checked_int("rotary_dim", rotary_dim, 2, width)
        if count % 2:
            raise argument_error("rotary_dim", "even_dim", rotary_dim)
        return 0, count
    rule = RuleText("even_slice", {"last": width - 1})
    low = 0 if rotary_dim.start is None else rotary_dim.start
    high = width if rotary_dim.stop is None else rotary_dim.stop
    if rotary_dim.step not in (None, 1) or not isinstance(low, int) or not isinstance(high, int):
        raise argument_error("rotary_dim", rule, rotary_dim)
    low, high = (low + width if low < 0 else low), (high + width if high < 0 else high)
    if not 0 <= low < high <= width or (high - low) % 2:
        raise argument_error("rotary_dim", rule, rotary_dim)
    return low, high


def check_activation(act: object, dim: object, length: int) -> None:
    """Raise ValueError unless the activation exists and has the axis it needs."""
    if not isinstance(act, str) or act not in ACTIVATIONS:
        raise argument_error("act", "one_of", act, names=ACTIVATIONS)
    if isinstance(dim, bool) or not (dim is None or (isinstance(dim, int) and dim in (-1, 1))):
        raise argument_error("dim", "activation_axis", dim)
    if act != "softmax":
        return
    if dim is None:
        raise argument_error("dim", "softmax_axis", dim)
    if dim == 1 and length == 0:
        raise argument_error("x", "softmax_length", f"N = {length}")


def start_positions(offset: Any, batch: int, length: int) -> int | PositionIds:
    """Return the tokens' positions: an int start, int64 starts (B,), or int64 positions (1 | B, N).

    A vector is always one start per sequence of the batch; positions of single tokens take two axes. A torch tensor
    is read to the host to be checked, which waits for its device: an int never does.

    Raises:
        ValueError: on values that are no integers, a shape that fits neither, or positions outside [0, 2**31).

    >>> start_positions(3, 2, 4), start_positions([3, 5], 2, 4).tolist(), start_positions([[0, 1, 7, 8]], 2, 4).shape
    (3, [3, 5], (1, 4))
    """
    last = MAX_POSITION - max(length - 1, 0)
    if not is_tensor(offset) and np.ndim(offset) == 0:
        return checked_int("offset", np.asarray(offset).item(), 0, last)
    values = np.asarray(offset.detach().cpu() if is_tensor(offset) else offset)
    if values.size and values.dtype.kind not in "iu":
        raise argument_error("offset", "whole_numbers", offset)
    if values.ndim == 0:
        return checked_int("offset", values.item(), 0, last)
    if values.shape not in ((batch,), (batch, length), (1, length)):
        raise argument_error("offset", "offset_shape", f"shape {values.shape}", batch=batch, length=length)
    high = last if values.ndim == 1 else MAX_POSITION
    if values.size and (int(values.min()) < 0 or int(values.max()) > high):
        raise argument_error("offset", "offset_range", offset, high=high)
    return values.astype(np.int64)


def token_position_table(start: int | PositionIds, length: int) -> PositionIds:
    """Return the positions of all tokens, int64 (1 | B, N), from what ``start_positions`` returned.

    >>> token_position_table(3, 2).tolist(), token_position_table(np.array([3, 5]), 2).tolist()
    ([[3, 4]], [[3, 4], [5, 6]])
    """
    if isinstance(start, int):
        return start + np.arange(length, dtype=np.int64)[None, :]
    return start if start.ndim == 2 else start[:, None] + np.arange(length, dtype=np.int64)
