"""Document 001's slips: wrong as printed, right as corrected, with answers worked out by complex numbers."""

import numpy as np
import pytest

from rope_core.lrpe.errata import WIDTH, Erratum, drawn, errata
from rope_core.theory.demo import drawn_vectors

KEYS = ["row", "halves", "from_o", "derivative", "theta"]


def by_key(base: float, position: int) -> dict[str, Erratum]:
    return {row.key: row for row in errata(base, position)}


@pytest.mark.parametrize("base, position", [(1e4, 1), (30.0, 7), (1.5, 64)])
def test_as_printed_is_wrong_and_as_corrected_right(base: float, position: int) -> None:
    rows = errata(base, position)
    assert [row.key for row in rows] == KEYS
    for row in rows:
        assert row.printed > 0.05, row.key
        assert row.corrected < 1e-14, row.key


def test_the_row_form_is_off_by_twice_the_sine() -> None:
    x, theta = drawn(50.0)
    z = x[: WIDTH // 2] + 1j * x[WIDTH // 2 :]
    apart = z * (np.exp(-3j * theta) - np.exp(3j * theta))
    exact = np.abs(np.concatenate([apart.real, apart.imag])).max()
    assert by_key(50.0, 3)["row"].printed == pytest.approx(exact, abs=1e-12)


def test_from_o_gives_x_instead_of_the_gradient() -> None:
    x, theta = drawn(50.0)
    do = drawn_vectors(WIDTH, 1, seed=3)[0]
    half = WIDTH // 2
    back = (do[:half] + 1j * do[half:]) * np.exp(-3j * theta)
    exact = np.abs(x - np.concatenate([back.real, back.imag])).max()
    assert by_key(50.0, 3)["from_o"].printed == pytest.approx(exact, abs=1e-12)


def test_the_slope_without_x_is_the_slope_at_the_gradient() -> None:
    x, theta = drawn(50.0)
    do = drawn_vectors(WIDTH, 1, seed=3)[0]
    back = (do[: WIDTH // 2] + 1j * do[WIDTH // 2 :]) * np.exp(-3j * theta)
    d_bar = np.concatenate([back.real, back.imag])

    def slope(z: np.ndarray) -> np.ndarray:
        s = 1 / (1 + np.exp(-z))
        return np.asarray(s + z * s * (1 - s))

    exact = np.abs(slope(d_bar) - slope(x) * d_bar).max()
    assert by_key(50.0, 3)["derivative"].printed == pytest.approx(exact, abs=1e-12)


def test_position_0_hides_every_slip_and_is_refused() -> None:
    with pytest.raises(ValueError, match=r"position must be an integer in \[1, 2147483647\], got 0"):
        errata(1e4, 0)
