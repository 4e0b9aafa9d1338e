"""A frequency as turns per token in 64-bit fixed point, so that a position's phase is one wrapping product."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from rope_core.rope import Array

# 1 / (2 pi) rounded to 2**-160, and as the sum of two float64.
PER_TURN = Fraction(232605209918111709774537830547806037080859518310, 2**160)
PER_TURN_HIGH = float(PER_TURN)
PER_TURN_LOW = float(PER_TURN - Fraction(PER_TURN_HIGH))

# Veltkamp's constant: it splits a float64 into two halves whose products are exact.
SPLIT = 2.0**27 + 1.0


def halves(value: Array | float) -> tuple[Array, Array]:
    """Return (high, low) of at most 26 significant bits each with value = high + low, float64 like value."""
    wide = SPLIT * np.asarray(value, dtype=np.float64)
    high = wide - (wide - value)
    return high, value - high


def phase_steps(theta: Array) -> npt.NDArray[np.int64]:
    """Return round(theta / 2 pi * 2**63) * 2 mod 2**64 as int64, shaped like theta (float64, rad/token).

    Theta is at most 2**20 in magnitude. ``position * step`` in wrapping int64 is the phase in units of 2**-64 turns, in
    [-half a turn, half a turn). The error is below 2**-63 turns per token: below 2e-9 rad at every position < 2**31.

    >>> (phase_steps(np.array([2 * np.pi / 4])) / 2.0**64).round(12).tolist()
    [0.25]
    """
    turns = theta * PER_TURN_HIGH
    (a, b), (c, d) = halves(theta), halves(PER_TURN_HIGH)
    low = (((a * c - turns) + a * d + b * c) + b * d) + theta * PER_TURN_LOW
    part = turns - np.rint(turns)
    steps = np.rint(part * 2.0**63).astype(np.int64) + np.rint(low * 2.0**63).astype(np.int64)
    return np.asarray(2 * steps)


# sin r = r + r^3 S(r^2) and cos r = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4: minimax, relative error below 4e-9.
SIN_FIT = (-0.1666665453663391, 0.008332156054061877, -0.0001951463192609432)
COS_FIT = (0.04166664555446971, -0.0013887309866660526, 2.4432412988277995e-05)
