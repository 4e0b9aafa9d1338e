"""The front page's film."""

import numpy as np

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import home
from ui.text.words import Words


def dials(t: Words) -> str:
    """Return the finding by the base's powers."""
    waves = [2 * np.pi * ROPE.base ** (2 * i / ROPE.dim) for i in (0, ROPE.pairs - 1)]
    given = {"often": f"{70 / waves[0]:.3g}"}
    given |= {"seldom": f"{70 / waves[1]:.3g}"}
    return t("dials_finding", position="70", pairs=8, **given)


ROWS: list[Row] = []
FILMS = [
    FilmRow("home", home.dials, (ROPE, (0, 5, 70, 4095), ("a", "b", "c")), {"position": 70}, dials),
    FilmRow("home", home.finished, (ROPE,), {}, to_draw),
]
