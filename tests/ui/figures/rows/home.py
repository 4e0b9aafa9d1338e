"""The front page's film."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow
from ui.figures import home
from ui.text.words import Words


def dials(t: Words) -> str:
    """Return the finding by the base's powers and the score of equal entries turned to 70 and to 1 by two matrices."""
    waves = [2 * np.pi * ROPE.base ** (2 * i / ROPE.dim) for i in (0, ROPE.pairs - 1)]
    even = np.full(ROPE.dim, ROPE.dim**-0.5)
    at, other = (rc.rotation_matrix(position, ROPE.theta, "half") @ even for position in (70, 1))
    word = t("sentence").split()[1]
    given = {"fast": f"{waves[0]:.1f}", "slow": f"{waves[1]:,.0f}", "often": f"{70 / waves[0]:.3g}"}
    given |= {"seldom": f"{70 / waves[1]:.3g}", "score": f"{at @ other:.2f}".replace("-", "−")}
    return t("dials_finding", position="70", pairs=8, word=word, **given)


ROWS: list[Row] = []
FILMS = [FilmRow("home", home.dials, (ROPE, (0, 5, 70, 4095)), {"position": 70}, dials)]
