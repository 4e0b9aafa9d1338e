"""RoPE as a number system: the digits of a position in base beta, and what context extension does to them."""

from __future__ import annotations

import math

import numpy as np

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.rope import Array, Rope

MAX_DIGITS = 4096


def beta_digits(position: float, beta: float, digits: int) -> Array:
    """Return the digits of ``position`` in base ``beta``, lowest first, float64 (digits,).

    Digit m is floor(position / beta**m) mod beta, m = 0, 1, ... The base may be no integer: RoPE's is
    ``rope.base ** (2 / dim)``; a digit is then a number in [0, beta), and the digits no longer spell the position.

    Raises ValueError on a negative position, beta <= 1, or fewer than one digit.

    Source: source document 004; Su Jianlin, https://kexue.fm/archives/9675.

    >>> beta_digits(123456, 10, 6).tolist()
    [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    """
    return np.mod(np.floor(digit_phases(position, beta, digits)), float(beta))


def digit_phases(position: float, beta: float, digits: int) -> Array:
    """Return position / beta**m for m = 0, 1, ..., digits - 1, float64 (digits,), rad: what RoPE takes cos and sin of.

    Raises ValueError as ``beta_digits`` does.

    >>> digit_phases(100, 10, 3).tolist()
    [100.0, 10.0, 1.0]
    """
    where = checked_finite("position", position, "finite_least", low=0)
    if where < 0:
        raise argument_error("position", "finite_least", position, low=0)
    base = checked_finite("beta", beta, "finite_above", low=1)
    if base <= 1:
        raise argument_error("beta", "finite_above", beta, low=1)
    count = checked_int("digits", digits, 1, MAX_DIGITS)
    return np.asarray(where / base ** np.arange(count, dtype=np.float64), dtype=np.float64)


def rope_beta(rope: Rope) -> float:
    """Return the base of RoPE's number system, base**(2/dim): one pair's frequency over the next one's.

    >>> round(rope_beta(Rope(4, 100.0)), 9)
    10.0
    """
    return float(rope.base ** (2.0 / rope.dim))


def ntk_number_base(rope: Rope, factor: float) -> float:
    """Return NTK's base of the number system, beta * factor**(2/(dim-2)).

    The fastest digit keeps its phase and the slowest is slowed by exactly ``factor``. Raises ValueError for dim < 4.

    >>> round(ntk_number_base(Rope(4, 100.0), 3.0), 9)  # one step between two pairs: the whole factor
    30.0
    """
    if rope.dim < 4:
        raise argument_error("dim", "base_pairs", rope.dim)
    stretch = checked_finite("factor", factor, "finite_above", low=0)
    if stretch <= 0:
        raise argument_error("factor", "finite_above", factor, low=0)
    return rope_beta(rope) * math.pow(stretch, 2.0 / (rope.dim - 2))
