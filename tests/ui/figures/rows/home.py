"""The front page's film."""

import numpy as np

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import home
from ui.text.words import Words


def dials(t: Words) -> str:
    """Return the finding by the base's powers."""
    often, seldom = (70 * ROPE.base ** (-2 * i / ROPE.dim) / (2 * np.pi) for i in (0, ROPE.pairs - 1))
    slow = t("turned", count=f"{seldom:.2g}") if seldom >= 0.01 else t("hardly")
    return t("dials_finding", position="70", often=f"{often:.3g}", seldom=slow)


ROWS: list[Row] = []
FILMS = [
    FilmRow("home", home.dials, (ROPE, (0, 5, 70, 4095), ("a", "b", "c")), {"position": 70, "beat": 2}, dials),
    FilmRow("home", home.finished, (ROPE,), {}, to_draw),
]
