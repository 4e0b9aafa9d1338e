"""A curve that the reader draws before the true one is shown: a height at each of some columns.

Source: Kim, Reinecke and Hullman, "Explaining the Gap: Visualizing One's Predictions Improves Recall and Comprehension
of Data", CHI 2017, doi:10.1145/3025453.3025592.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MOST_LETTERS = 200
"""So long may a value be in an address."""


@dataclass(frozen=True)
class Sketch:
    """What is drawn by hand; the field ``name``, of kind "text", holds the level at each column, "" for none shown.

    Attributes:
        name: of the page's field.
        label: what is drawn and over what, for who does not see it.
        columns: where heights are taken, rising, in the units of the panel's x.
        column_texts: how each column is written.
        levels: the heights that can be drawn, rising, in the units of the panel's y.
        level_texts: how each height is written.
    """

    name: str
    label: str
    columns: tuple[float, ...]
    column_texts: tuple[str, ...]
    levels: tuple[float, ...]
    level_texts: tuple[str, ...]

    def __post_init__(self) -> None:
        longest = len(self.columns) * (len(str(len(self.levels) - 1)) + 1)
        if len(self.columns) < 2 or longest > MOST_LETTERS:
            raise ValueError(f"columns must be 2 to as many as {MOST_LETTERS} letters write, got {len(self.columns)}")

    def drawn_heights(self, text: object) -> npt.NDArray[np.float64] | None:
        """Return the height drawn at each column, float64 (columns,); None where the text is no whole curve.

        >>> Sketch("f", "", (0.0, 1.0), ("0", "1"), (0.0, 0.5, 1.0), ("0", "½", "1")).drawn_heights("2.1").tolist()
        [1.0, 0.5]
        """
        parts = text.split(".") if isinstance(text, str) else []
        if len(parts) != len(self.columns) or not all(part.isascii() and part.isdecimal() for part in parts):
            return None
        places = [int(part) for part in parts]
        return np.asarray(self.levels)[places] if max(places) < len(self.levels) else None


def sketch_between(
    name: str,
    label: str,
    columns: Sequence[float],
    column_texts: Sequence[str],
    low: float,
    high: float,
    digits: int = 2,
) -> Sketch:
    """Return a sketch with 101 heights at equal steps from ``low`` to ``high``, each written with ``digits``."""
    levels = np.linspace(low, high, 101).tolist()
    return Sketch(
        name,
        label,
        tuple(map(float, columns)),
        tuple(column_texts),
        tuple(levels),
        tuple(f"{level:.{digits}f}" for level in levels),
    )
