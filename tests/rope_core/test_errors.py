"""Every error names the argument, the rule and the value."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from rope_core.errors import ConfigError, finite, reject, show, whole


def test_the_house_form() -> None:
    assert str(reject("base", "a finite number > 1", 0.5)) == "base must be a finite number > 1, got 0.5"
    assert isinstance(reject("base", "x", 1), ValueError)
    assert issubclass(ConfigError, ValueError)


def test_a_long_value_is_cut_not_dropped() -> None:
    assert show([1, 2]) == "[1, 2]"
    cut = show("a" * 500)
    assert len(cut) == 80
    assert cut.startswith("'aaa")
    assert cut.endswith("…")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None, 1j, Decimal(1), 10**400, [1.0]])
def test_finite_refuses(value: object) -> None:
    with pytest.raises(ValueError, match=r"^x must be a finite number, got "):
        finite("x", value)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int8(1), Fraction(1)])
def test_finite_takes_every_real_number(value: object) -> None:
    assert finite("x", value) == 1.0
    assert type(finite("x", value)) is float


@pytest.mark.parametrize("value", [1.5, math.nan, math.inf, True, "3", None, 0, 11, 10**400, Fraction(10**400), 2j])
def test_whole_refuses(value: object) -> None:
    with pytest.raises(ValueError, match=r"^x must be an integer in \[1, 10\], got "):
        whole("x", value, 1, 10)


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3), Fraction(3)])
def test_whole_takes_every_whole_number(value: object) -> None:
    assert whole("x", value, 3, 3) == 3
    assert type(whole("x", value, 3, 3)) is int
