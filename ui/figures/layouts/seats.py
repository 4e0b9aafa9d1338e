"""Seats that change: a head's numbers go from one order to the other, and the arrows of their pairs stay."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory import layout_demo
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

STEPS = 20
PAIRS = (PURPLE, SKY, YELLOW, GREEN, GREY, BLUE)
"""A colour for each pair; red and amber mean other things."""
BOW = np.linspace(0.0, np.pi, 17)
HALF, BAR = 0.42, 0.2
"""Half a tile's width and half its bar's, in seats."""
ARC, DEEP = -1.15, 0.5
"""Where the arcs that join partners begin, and how deep those of neighbours are, in heights of half a tile."""


@cached_figure
def permutation(width: int, base: float, positions: tuple[int, ...], t: Words) -> Film:
    """Return a head's numbers in one order and in the other, and below them each pair as an arrow, turned in both."""
    share = (1 - np.cos(np.linspace(0.0, np.pi, STEPS + 1)))[:, None] / 2
    names = (t("paper_order"), *(f"{each:.0%}" for each in share[1:-1, 0]), t("half_order"))
    going = Control(
        "order",
        t("field.order"),
        tuple(map(float, range(STEPS + 1))),
        names,
        play_seconds=3.0,
        first_beat=2,
        last_beat=2,
    )
    at = field_control(t, "position", positions, play_seconds=12.0)
    both = layout_demo.two_orders(width, positions, base)
    pairs = width // 2
    off = 100 * np.linalg.norm(both.misread - both.interleaved, axis=1) / np.linalg.norm(both.interleaved, axis=1)
    m = TextTrack((at,), at.stop_labels)
    findings = (
        sentence_parts(lambda **slots: t("pairs_finding", pairs=pairs, **slots), m=m),
        sentence_parts(
            lambda **slots: t("permutation_finding", **slots),
            seat=TextTrack(
                (going,), (t("seat", i=1), *[t("row_between")] * (STEPS - 1), t("seat", i=int(both.place[1])))
            ),
            difference=TextTrack((at,), tuple("0" if value == 0 else f"{value:.1g}" for value in both.difference)),
        ),
        sentence_parts(
            lambda **slots: t("misread_finding", **slots), m=m, off=TextTrack((at,), tuple(f"{x:.0f}" for x in off))
        ),
    )
    dials = [_dial(pair, at, both, t) for pair in range(pairs)]
    return Film(
        "permutation",
        Scene(
            (_tiles(going, at, both, share, t), _mispaired(at, both, t), *dials),
            (going, at),
            findings[-1],
            beats=beats_from_labels(
                t,
                "permutation",
                *findings,
                hint_controls=("position", "order"),
                control_values=({}, {"order": 0}, {"order": 0, "position": 3}),
            ),
        ),
        lambda: (
            {"half_split_place": np.arange(width), "interleaved_dimension": both.order}
            | {f"interleaved_at_{m}": both.interleaved[k] for k, m in enumerate(positions)}
            | {f"misread_at_{m}": both.misread[k] for k, m in enumerate(positions)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory import layout_demo
        print(rc.convert({width}, "interleaved", "half"))
        both = layout_demo.two_orders({width}, {positions!r}, {base!r})
        print(both.interleaved[0], both.half[0], both.misread[0], both.difference.max())
        """,
    )


def _tiles(going: Control, at: Control, both: layout_demo.TwoOrders, share: Array, t: Words) -> Panel:
    """Return the numbers as tiles on their way between the orders; arcs join the two of a pair."""
    width = both.order.size
    x = (1 - share) * np.arange(width) + share * both.place

    def by(frames: Array) -> NumberTrack:
        return NumberTrack((going,), frames)

    shapes: list[Mark] = []
    for pair in range(width // 2):
        along, deep = _bow(x[:, 2 * pair : 2 * pair + 1], x[:, 2 * pair + 1 : 2 * pair + 2], DEEP * (1 + share))
        shapes.append(marks.link_symbol("R", marks.line(by(along), by(deep), PAIRS[pair], 4)))
    for dim in range(width):
        here = x[:, dim : dim + 1]
        tile = _tile(dim, at, both, by(here - HALF), by(here + HALF), by(here - BAR), by(here + BAR))
        shapes += tile
        # A tile that keeps its seat in both orders cannot be dragged; beat 1 is about the arrows.
        if both.place[dim] != dim:
            name, whole = t("grab_seat", i=dim), [tile[1] | {"opacity": 0}]
            shapes += marks.from_beat(
                2, marks.drag_handle(going, by(here), 0.0, PAIRS[dim // 2], name, whole, radius_px=0)
            )
    names = TextTrack((going,), (t("row_paper"), *[t("row_between")] * (STEPS - 1), t("row_half")))
    return _row(width, shapes, names, last_beat=2)


def _mispaired(at: Control, both: layout_demo.TwoOrders, t: Words) -> Panel:
    """Return the numbers as the paper stores them, joined as code that expects the other order pairs them."""
    width = both.order.size
    half = width // 2
    shapes = [marks.line(*_bow(float(dim), float(dim + half), 2 * DEEP), ORANGE, 4) for dim in range(half)]
    for dim in range(width):
        shapes += _tile(dim, at, both, dim - HALF, dim + HALF, dim - BAR, dim + BAR)
    return _row(width, shapes, t("row_misread"), first_beat=3)


def _row(width: int, shapes: list[Mark], title: str | TextTrack, first_beat: int = 1, last_beat: int = 0) -> Panel:
    x, y = Axis(-0.6, width - 0.4), Axis(-2.35, 1.1)
    return Panel(x, y, shapes, title, min_width=2000, height=130, first_beat=first_beat, last_beat=last_beat)


def _bow(left: Array | float, right: Array | float, deep: Array | float) -> tuple[Array, Array]:
    """Return the arc below two tiles that joins them."""
    middle, half = (np.add(left, right) / 2, np.subtract(right, left) / 2)
    return middle - half * np.cos(BOW), ARC - deep * np.sin(BOW)


def _tile(dim: int, at: Control, both: layout_demo.TwoOrders, *edges: NumberTrack | float) -> list[Mark]:
    """Return a number as a tile between two edges, and in it its value as a bar between two more."""
    left, right, low, high = edges
    value, colour = NumberTrack((at,), 0.9 * both.interleaved[:, dim : dim + 1]), PAIRS[dim // 2]
    return [
        marks.rect(left, right, -1.0, 1.0, "paper"),
        marks.rect(left, right, -1.0, 1.0, colour, opacity=0.25),
        marks.link_symbol("x", marks.rect(low, high, 0.0, value, colour)),
        marks.text(left, 0.72, str(dim), anchor="start", bold=True, dx=4, dy=4, font_size=14),
    ]


def _dial(pair: int, at: Control, both: layout_demo.TwoOrders, t: Words) -> Panel:
    """Return one pair as an arrow; in the last beat beside it what the wrong order makes of its numbers."""

    def drawn(vectors: Array) -> tuple[NumberTrack, NumberTrack]:
        z = vectors[:, 2 * pair] + 1j * vectors[:, 2 * pair + 1]
        return NumberTrack((at,), np.abs(z)[:, None]), NumberTrack((at,), np.unwrap(np.angle(z))[:, None])

    (long, angle), (wrong, wrong_angle) = drawn(both.interleaved), drawn(both.misread)
    arrow = marks.vector(0.0, 0.0, long, angle, PAIRS[pair], 6, has_head=True)
    return Panel(
        Axis(-1.5, 1.5),
        Axis(-1.5, 1.5),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
            *marks.from_beat(3, marks.vector(0.0, 0.0, wrong, wrong_angle, ORANGE, 4, has_head=True)),
            marks.turn_handle(at, 0.0, 0.0, long, angle, PAIRS[pair], t("grab_arrow", i=pair), [arrow], radius_px=0),
        ],
        t("dial_title", a=2 * pair, b=2 * pair + 1),
        min_width=70,
        height=120,
        equal_aspect=True,
    )
