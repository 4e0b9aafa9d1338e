"""The ledger page's film."""

import numpy as np

from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures import ledger
from ui.text.words import Words


def swapped(t: Words) -> str:
    """Return the finding at 120 degrees, the printed formula written out."""
    c, s = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    return t("swapped_wrong", angle="120", length=f"{np.hypot(0.8 * c - 0.8 * s, 0.6 * c + 0.6 * s):.2f}")


ROWS: list[Row] = []
FILMS = [FilmRow("ledger", ledger.swapped, (), {"angle": 120, "beat": 2}, swapped)]
