"""A head in both orders, whose arrows are the same, and by the position what the wrong order makes of them."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import layout_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.layouts import threads
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

PAIRS = (PURPLE, SKY, YELLOW, GREEN, GREY, BLUE)
"""A colour for each pair; red and amber mean other things."""
BOW = np.linspace(0.0, np.pi, 17)
HALF, BAR = 0.42, 0.2
"""Half a tile's width and half its bar's, in seats."""
ARC, DEEP = -1.15, 1.0
"""Where the arcs that join partners begin, and how deep they are, in heights of half a tile."""


@cached_figure
def permutation(rope: rc.Rope, width: int, positions: tuple[int, ...], t: Words) -> Film:
    """Return a head's numbers in both orders with their arrows, then what the wrong order makes of them by position."""
    given = Control("given", t("field.given"), (0.0, 1.0), (t("own_code"), t("other_code")), last_beat=1)
    at = field_control(t, "position", positions, play_seconds=12.0, first_beat=2)
    drawn = threads.Drawn(rope)
    both = layout_demo.two_orders(rc.Rope(width, rope.base).theta, positions)
    off = 100 * np.linalg.norm(both.misread - both.interleaved, axis=1) / np.linalg.norm(both.interleaved, axis=1)
    errors = TextTrack((at,), tuple(f"{x:.0f}" for x in off))
    last = sentence_parts(lambda **slots: t("misread_finding", **slots), m=TextTrack((at,), at.stop_labels), off=errors)
    dials = [_dial(pair, at, both, t) for pair in range(width // 2)]
    return Film(
        "permutation",
        Scene(
            (*threads.panels(drawn, given, t), _mispaired(at, both, t), *dials),
            (given, at),
            last,
            beats=beats_from_labels(
                t,
                "permutation",
                threads.finding(drawn, given, t),
                last,
                hint_controls=("given", "position"),
                control_values=({}, {"position": 3}),
            ),
        ),
        lambda: (
            {"place": np.arange(drawn.query.order.size), "interleaved_dimension": drawn.query.order}
            | drawn.columns()
            | {"position": np.array(positions), "misread_error_percent": off}
        ),
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import layout_demo
        theta, rng = {drawn.theta.tolist()!r}, np.random.default_rng({threads.SEED})
        q = layout_demo.two_orders(theta, [0, {threads.QUERY_POSITION}], rng)
        k = layout_demo.two_orders(theta, [0, {threads.KEY_POSITION}], rng)
        print(q.order, q.interleaved[0])
        print(q.interleaved[1] @ k.interleaved[1], q.half[1] @ k.half[1], q.mixed[1] @ k.mixed[1])
        both = layout_demo.two_orders(rc.Rope({width}, {rope.base!r}).theta, {positions!r})
        print(both.interleaved[0], both.misread[0])
        """,
    )


def _mispaired(at: Control, both: layout_demo.TwoOrders, t: Words) -> Panel:
    """Return the numbers as the paper stores them, joined as code that expects the other order pairs them."""
    width = both.order.size
    half = width // 2
    shapes = [marks.line(*_bow(float(dim), float(dim + half)), ORANGE, 4) for dim in range(half)]
    for dim in range(width):
        shapes += _tile(dim, at, both)
    x, y = Axis(-0.6, width - 0.4), Axis(-2.35, 1.1)
    return Panel(x, y, shapes, t("row_misread"), min_width=2000, height=130, first_beat=2)


def _bow(left: float, right: float) -> tuple[Array, Array]:
    """Return the arc below two tiles that joins them."""
    return (left + right) / 2 - (right - left) / 2 * np.cos(BOW), ARC - DEEP * np.sin(BOW)


def _tile(dim: int, at: Control, both: layout_demo.TwoOrders) -> list[Mark]:
    """Return a number as a tile, and in it its value as a bar."""
    value, colour = NumberTrack((at,), 0.9 * both.interleaved[:, dim : dim + 1]), PAIRS[dim // 2]
    return [
        marks.rect(dim - HALF, dim + HALF, -1.0, 1.0, colour, opacity=0.25),
        marks.rect(dim - BAR, dim + BAR, 0.0, value, colour),
        marks.text(dim - HALF, 0.72, str(dim), anchor="start", bold=True, dx=4, dy=4, font_size=14),
    ]


def _dial(pair: int, at: Control, both: layout_demo.TwoOrders, t: Words) -> Panel:
    """Return one pair as an arrow; beside it what the wrong order makes of its numbers."""

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
            marks.vector(0.0, 0.0, wrong, wrong_angle, ORANGE, 4, has_head=True),
            marks.turn_handle(at, 0.0, 0.0, long, angle, PAIRS[pair], t("grab_arrow", i=pair), [arrow], radius_px=0),
        ],
        t("dial_title", a=2 * pair, b=2 * pair + 1),
        min_width=70,
        height=120,
        equal_aspect=True,
        first_beat=2,
    )
