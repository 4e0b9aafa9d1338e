"""The geometry of rotary position embedding: a width, a base and a trained length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite, checked_int

MAX_DIM = 65_536
MAX_LEN = 2**31 - 1

Array = npt.NDArray[np.float64]


def read_only_array(values: npt.ArrayLike) -> Array:
    """Return a read-only float64 copy of ``values``."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Rope:
    """Rotary position embedding before any context extension.

    Args:
        dim: rotary width d, even, 2..65536; pair i turns in the plane of its two dimensions.
        base: the number whose powers are the wavelengths, > 1 (``rope_theta`` in configs).
        train_len: trained context in tokens, 1..2**31 - 1.

    Raises:
        ValueError: on an odd dim, base <= 1, or a value that is not finite.

    Source: RoFormer, arXiv:2104.09864, section 3.2.2: theta_i = base**(-2i/d), i = 0..d/2-1.

    >>> Rope(dim=4, base=100.0).theta.tolist()
    [1.0, 0.1]
    """

    dim: int
    base: float = 10_000.0
    train_len: int = 4096

    def __post_init__(self) -> None:
        dim = checked_int("dim", self.dim, 2, MAX_DIM)
        if dim % 2:
            raise argument_error("dim", "even_dim", self.dim)
        base = checked_finite("base", self.base, "finite_above", low=1)
        if base <= 1.0:
            raise argument_error("base", "finite_above", self.base, low=1)
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "train_len", checked_int("train_len", self.train_len, 1, MAX_LEN))

    @property
    def pairs(self) -> int:
        """Number of rotating pairs, dim / 2."""
        return self.dim // 2

    @cached_property
    def theta(self) -> Array:
        """Angle per token of each pair, float64 (dim/2,), rad/token."""
        return read_only_array(self.base ** (-2.0 * np.arange(self.pairs) / self.dim))

    @cached_property
    def wavelength(self) -> Array:
        """Tokens that one full turn of each pair takes, float64 (dim/2,)."""
        return read_only_array(2.0 * np.pi / self.theta)

    @cached_property
    def turns(self) -> Array:
        """Turns of each pair within the trained context, float64 (dim/2,)."""
        return read_only_array(self.train_len / self.wavelength)

    def pair_at(self, turns: float) -> float:
        """Return the pair, as a fractional index, that turns ``turns`` times within the trained context.

        Raises ValueError unless ``turns`` is a finite number > 0.

        >>> rope = Rope(8, 10_000.0, 4096)
        >>> round(rope.pair_at(rope.turns[3].item()), 12)
        3.0
        """
        if checked_finite("turns", turns, "finite_above", low=0) <= 0:
            raise argument_error("turns", "finite_above", turns, low=0)
        return self.dim * math.log(self.train_len / (2 * math.pi * turns)) / (2 * math.log(self.base))
