"""How an error speaks: the argument, the rule, the value."""

from __future__ import annotations

import math
from numbers import Integral, Real


class ConfigError(ValueError):
    """A model config that cannot be read; the message is one sentence."""


def show(value: object, limit: int = 80) -> str:
    """Return ``repr(value)`` cut to ``limit`` characters, so that no message drowns in its value."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def reject(argument: str, rule: str, value: object) -> ValueError:
    """Build the error every door of this package raises.

    >>> str(reject("dim", "an even integer >= 2", 7))
    'dim must be an even integer >= 2, got 7'
    """
    return ValueError(f"{argument} must be {rule}, got {show(value)}")


def finite(argument: str, value: object, rule: str = "a finite number") -> float:
    """Return ``value`` as float, or raise ValueError when it is no finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise reject(argument, rule, value)
    try:
        number = float(value)
    except OverflowError:
        raise reject(argument, rule, value) from None
    if not math.isfinite(number):
        raise reject(argument, rule, value)
    return number


def whole(argument: str, value: object, low: int, high: int) -> int:
    """Return ``value`` as int, or raise ValueError when it is no integer in [low, high]."""
    rule = f"an integer in [{low}, {high}]"
    if isinstance(value, bool):
        raise reject(argument, rule, value)
    if isinstance(value, Integral):
        number = int(value)
    else:
        given = finite(argument, value, rule)
        if not given.is_integer():
            raise reject(argument, rule, value)
        number = int(given)
    if not low <= number <= high:
        raise reject(argument, rule, value)
    return number
