"""The layouts page's figures and the class's answers."""

import numpy as np

from rope_core.theory import layout_demo
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import tally
from ui.figures.layouts import drawn, seats
from ui.figures.layouts import weights as layouts
from ui.text.words import Words

HEADS = (ROPE, 2, 2)
ROWS = [
    Row("layouts", layouts.matrices, (6, 5, 77.0)),
    Row("layouts", layouts.errors, HEADS),
    Row("predict", tally.tally, ((3, 5), ("a", "b"), 1)),
]


def misread(t: Words) -> str:
    """Return the finding at position 9: how far numbers are off that turn with another partner, all angles by hand."""
    angles = 9 * 77.0 ** (-2 * np.arange(5) / 10)
    x = layout_demo.two_orders(10, [0], 77.0).interleaved[0]
    right = (x[0::2] + 1j * x[1::2]) * np.exp(1j * angles)
    wrong = (x[:5] + 1j * x[5:]) * np.exp(1j * angles)
    got = np.concatenate([wrong.real, wrong.imag])
    off = np.linalg.norm(got - np.stack([right.real, right.imag], axis=1).ravel()) / np.linalg.norm(x)
    return t("misread_finding", m="9", off=f"{100 * off:.0f}")


FILMS = [
    FilmRow(
        "layouts", seats.permutation, (10, 77.0, tuple(range(65))), {"order": 20, "position": 9, "beat": 3}, misread
    ),
    FilmRow("layouts", drawn.wrong, (77.0,), {}, to_draw),
]
