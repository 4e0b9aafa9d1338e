"""A curve that the reader draws before the true one is shown: what such films of all pages have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.rope import Array
from ui.figures.colours import ORANGE
from ui.figures.drawing import Film, Table
from ui.film.scene import Panel, Scene
from ui.film.shapes import sketch
from ui.film.sketch import over
from ui.text.words import Words


def predicted(
    name: str,
    panel: Panel,
    curve: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    columns: Mapping[str, float],
    true: Array,
    t: Words,
    table: Callable[[], Table],
    recipe: str,
    digits: int = 2,
    **slots: str,
) -> Film:
    """Return a panel in which the reader draws, over its whole height, what ``curve`` then shows.

    Args:
        name: of the film and of the page's field; ``<name>_ask`` and ``<name>_label`` are its words.
        panel: the axes, and what is seen from the start.
        curve: x and y of the true curve.
        columns: where heights are drawn, by how the place is written.
        true: the height at each column, float64 (columns,).
        t: the page's words.
        table, recipe: as a film has them.
        digits: of a height as it is written.
        slots: of the two words.
    """
    low, high = panel.y.low, panel.y.high
    drawn = over(name, t(f"{name}_label", **slots), list(columns.values()), list(columns), low, high, digits)
    places = list(columns)

    def gap(heights: npt.NDArray[np.float64]) -> str:
        off = np.abs(heights - true)
        worst = int(off.argmax())
        numbers = {"mean": off.mean(), "drawn": heights[worst], "true": true[worst]}
        return t("film.gap", at=places[worst], **{slot: f"{value:.{digits}f}" for slot, value in numbers.items()})

    shapes = [*panel.shapes, sketch(drawn, *curve, ORANGE)]
    question = replace(panel, shapes=shapes, title=t(f"{name}_ask", **slots))
    return Film(name, Scene((question,), (), t("film.draw_then"), drawn), table, recipe, gap=gap)
