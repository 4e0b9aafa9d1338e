"""A curve that the reader draws before the true one is shown: what such films of all pages have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.rope import Array
from ui.figures.drawing import Film, TableColumns
from ui.film import marks
from ui.film.colours import PURPLE
from ui.film.scene import Panel, Scene
from ui.film.sketch import Sketch, sketch_between
from ui.text.words import PageTexts

CLOSE, MOSTLY = 0.1, 0.5
"""The share of a panel's height within which a curve is close, and of a gap that lies on one side."""


def sketch_film(
    name: str,
    panel: Panel,
    curve: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    columns: Mapping[str, float],
    t: PageTexts,
    table: Callable[[], TableColumns],
    recipe: str,
    digits: int = 2,
    **slots: str,
) -> Film:
    """Return a panel in which the reader draws, over its whole height, what ``curve`` then shows.

    Args:
        name: of the film and of the page's field; ``<name>_ask`` and ``<name>_label`` are its words.
        panel: the axes, and what is seen from the start.
        curve: x and y of the true curve.
        columns: where heights are drawn, by how the place is written, and the true curve is compared.
        t: the page's words.
        table, recipe: as a film has them.
        digits: of a height as it is written.
        slots: of the two words.
    """
    low, high = panel.y.low, panel.y.high
    true = np.interp(list(columns.values()), *curve)
    drawn = sketch_between(name, t(f"{name}_label", **slots), list(columns.values()), list(columns), low, high, digits)
    drawn_marks = [*panel.marks, marks.sketch_input(drawn, *curve, PURPLE)]
    question = replace(panel, marks=drawn_marks, title=t(f"{name}_ask", **slots))

    def gap(heights: npt.NDArray[np.float64]) -> str:
        return sketch_feedback(drawn, heights, true, lambda height: f"{height:.{digits}f}", t)

    return Film(name, Scene((question,), (), t("film.draw_then"), drawn), table, recipe, gap=gap)


def sketch_feedback(
    drawn: Sketch, heights: Array, true_heights: Array, write: Callable[[float], str], t: PageTexts
) -> str:
    """Return what is wrong with a drawn curve, and where it is farthest from the true one.

    Args:
        drawn: what was drawn, with its columns' texts.
        heights, true: at each column, float64 (columns,).
        write: how a height is written.
        t: the page's words.
    """
    off = heights - true_heights
    worst = int(np.abs(off).argmax())
    gap = t("film.gap", at=drawn.column_texts[worst], drawn=write(heights[worst]), true=write(true_heights[worst]))
    return f"{t(f'film.drawn.{sketch_mistake_word(heights, true_heights, drawn.levels[-1] - drawn.levels[0])}')} {gap}"


def sketch_mistake_word(heights: Array, true_heights: Array, height_range: float) -> str:
    """Return the word for what is wrong with ``heights``, (columns,); "close" within little of ``height_range``.

    >>> rising = np.linspace(1.0, 4.0, 9)
    >>> wrong = {"close": rising + 0.5, "reversed": rising[::-1], "twice": 2 * rising, "half": rising / 2}
    >>> wrong |= {"high": rising + 3, "low": rising - 3, "moves": 0 * rising, "crossed": 2.5 + 3 * (rising - 2.5)}
    >>> [word for word, curve in wrong.items() if sketch_mistake_word(curve, rising, 7.0) != word]
    []
    """
    off, near = heights - true_heights, CLOSE * height_range
    if np.abs(off).max() <= near:
        return "close"
    moves, level = np.ptp(heights) > near, np.ptp(true_heights) <= near
    if moves == level:
        return "level" if level else "moves"
    if moves and np.corrcoef(heights, true_heights)[0, 1] < -MOSTLY:
        return "reversed"
    for word, times in (("twice", 2.0), ("half", 0.5)):
        if true_heights.min() >= 0 and np.abs(heights - times * true_heights).max() <= near:
            return word
    share = float(off.sum() / np.abs(off).sum())
    return "high" if share > MOSTLY else "low" if share < -MOSTLY else "crossed"
