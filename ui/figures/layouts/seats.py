"""Seats that change: the dimensions of a head vector go from the paper's order to LLaMA's, and turn in both."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory import layout_demo
from ui.figures.colours import COLOURS, GREY, on
from ui.figures.drawing import Film, kept
from ui.film.scene import Axis, Control, Panel, Scene, Shape, Texts, Track, control, sentence
from ui.film.shapes import boxes, dots, handle, label, named, path
from ui.text.words import Words

STEPS = 20
TOP, BOTTOM = 0.0, -4.1
# Of a row, in lengths of a pair: half a cell's height, its number below the middle, where arcs begin below that.
CELL, NUMBER, ARC = 1.1, 1.55, 0.42
RADIUS = 13
BOW = np.linspace(0.0, np.pi, 17)


@kept
def permutation(width: int, base: float, positions: tuple[int, ...], t: Words) -> Film:
    """Return a head vector in the paper's order above, and below it the same on its way to the half-split order.

    A cell is a dimension, its bar the value at the position in force, its colour the pair's; arcs join partners.
    """
    share = (1 - np.cos(np.linspace(0.0, np.pi, STEPS + 1)))[:, None] / 2
    names = (t("paper_order"), *(f"{each:.0%}" for each in share[1:-1, 0]), t("half_order"))
    going = Control("order", t("field.order"), tuple(map(float, range(STEPS + 1))), names, seconds=3.0)
    at = control(t, "position", positions, seconds=12.0)
    both = layout_demo.two_orders(width, positions, base)
    dims, pairs = np.arange(width), width // 2
    x = (1 - share) * dims + share * both.place
    lines = []
    for pair in range(pairs):
        # From a number above to its cell below, twice, with a gap after each.
        ends = np.full((STEPS + 1, 6), np.nan)
        for k, dim in enumerate((2 * pair, 2 * pair + 1)):
            ends[:, 3 * k], ends[:, 3 * k + 1] = dim, x[:, dim]
        down = np.array([TOP - NUMBER, BOTTOM + CELL, np.nan] * 2)
        lines.append(named("P", path(Track((going,), ends), down, COLOURS[pair], 2, "2 5")))
    grab = handle(going, Track((going,), x[:, 1:2]), BOTTOM - NUMBER, COLOURS[0], t("grab_seat"), r=RADIUS + 3)
    below = (t("row_paper"), *[""] * (STEPS - 1), t("row_half"))
    seats = Panel(
        Axis(-0.6, width - 0.4),
        Axis(BOTTOM - NUMBER - 2.0, TOP + CELL + 0.75),
        [
            *lines,
            *_row(going, np.tile(dims, (STEPS + 1, 1)), TOP, at, both.interleaved, 0 * share),
            *_row(going, x, BOTTOM, at, both.half[:, both.place], share, grab),
            label(-0.45, TOP + CELL + 0.2, t("row_paper"), anchor="start", bold=True, size=16),
            label(-0.45, BOTTOM - NUMBER - 1.85, Texts((going,), below), anchor="start", bold=True, size=16),
        ],
        height=360,
    )
    finding = sentence(
        lambda **slots: t("permutation_finding", pairs=pairs, seat=int(both.place[1]), **slots),
        m=Texts((at,), at.texts),
        difference=Texts((at,), tuple(f"{value:.2g}" for value in both.difference)),
    )
    return Film(
        "permutation",
        Scene((seats,), (going, at), finding),
        lambda: (
            {"half_split_place": dims, "interleaved_dimension": both.order}
            | {f"interleaved_at_{m}": both.interleaved[k] for k, m in enumerate(positions)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory import layout_demo
        print(rc.convert({width}, "interleaved", "half"))
        both = layout_demo.two_orders({width}, {positions!r}, {base!r})
        print(both.interleaved[0], both.half[0], both.difference.max())
        """,
    )


def _row(going: Control, x: Array, y: float, at: Control, values: Array, share: Array, *grab: Shape) -> list[Shape]:
    """Return a vector's cells, bars, numbers and arcs about the height ``y``.

    ``x`` (steps, width) has where each dimension is on its way; ``values`` (positions, width); ``share`` (steps, 1)
    of the way, by which arcs deepen; ``grab`` lies under the numbers.
    """
    width = x.shape[1]
    colours = [COLOURS[dim // 2] for dim in range(width)]

    def by(frames: Array) -> Track:
        return Track((going,), frames)

    arcs = []
    for pair in range(width // 2):
        left, right = x[:, 2 * pair : 2 * pair + 1], x[:, 2 * pair + 1 : 2 * pair + 2]
        along = (left + right) / 2 - (right - left) / 2 * np.cos(BOW)
        height = by(y - NUMBER - ARC - (0.3 + 0.6 * share) * np.sin(BOW))
        arcs.append(named("R", path(by(along), height, COLOURS[pair], 3)))
    numbers = [
        label(by(x[:, dim : dim + 1]), y - NUMBER, str(dim), on(colours[dim]), bold=True, dy=5, plain=True)
        for dim in range(width)
    ]
    cells = by(x - 0.42), by(x + 0.42), y - CELL, y + CELL
    return [
        *arcs,
        boxes(*cells, "paper"),
        boxes(*cells, colours, opacity=0.16),
        named("x", boxes(by(x - 0.27), by(x + 0.27), y, Track((at,), y + values), colours)),
        path((-0.42, width - 0.58), (y, y), GREY, 1),
        dots(by(x), y - NUMBER, colours, RADIUS),
        *grab,
        *numbers,
    ]
