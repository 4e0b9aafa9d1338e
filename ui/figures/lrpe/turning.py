"""Linear attention under the hand: what it saves, one pair that is activated and turned, and the op over all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rope_core.lrpe.demo import TOKENS, Case
from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.lrpe import order
from ui.figures.lrpe.op import cells, limit, recipe
from ui.figures.plot import as_bytes
from ui.film import marks
from ui.film.colours import BLUE, DIVERGING_SCALE, GREY, PURPLE
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

EVERY, FAR = 64, (128, 256, 512, 1024, 2048, 4096)
LENGTHS = 64
"""The longest text whose table of scores is drawn."""
ASIDE, ROOM = 30, 14
"""How far right of the table's corner the running sum is drawn, and the room for the newest word's number, in cells."""
HALF, GAP = 0.5, 0.06


def offsets(value: int) -> tuple[int, ...]:
    """Return the offsets to drag to: every one at first, then doublings, and ``value``."""
    return tuple(sorted({value, *range(EVERY + 1), *FAR}))


@cached_figure
def stages(case: Case, head: int, wanted: int, starts: tuple[int, ...], t: Words) -> Film:
    """Return a sum of keys in two orders, what is stored over the length, one pair's way through the op, and all's.

    Args:
        case: the call; its own offset does not count.
        head: which of four.
        wanted: the pair that is shown, or the last one that turns.
        starts: offsets to drag to.
        t: the page's words.
    """
    cat = field_control(t, "cat", (order.FIRST, order.LAST), play_seconds=3.0, last_beat=1)
    length = field_control(t, "length", range(1, LENGTHS + 1), first_beat=2, last_beat=2)
    offset = field_control(t, "offset", starts, play_seconds=8.0, first_beat=3)
    token = field_control(t, "token", range(TOKENS), first_beat=4)
    at = [replace(case, offset=start) for start in starts]
    x, bar = (part[0, :, head] for part in (case.stages.x, case.stages.activated))
    out = np.stack([each.stages.out[0, :, head] for each in at])
    pair, *dims = case.pair_at(wanted)
    both = offset, token
    positions = np.add.outer(np.array(starts), np.arange(TOKENS))
    phase = positions * float(case.theta_grid[head, pair])
    where = TextTrack(both, tuple(f"{m:,}" for m in positions.ravel().tolist()))
    long = np.hypot(*bar[:, dims].T)
    # Another row than the offset's own, with an arrow that is seen.
    framed = 1 + int(long[1:].argmax())
    turn = sentence_parts(
        lambda **slots: t("turn_finding", act=t(f"act.{case.act}"), **slots),
        m=where,
        x=TextTrack((token,), tuple(couple(row[dims]) for row in x)),
        f=TextTrack((token,), tuple(couple(row[dims]) for row in bar)),
        rest=TextTrack(
            both,
            tuple(_rest(angle, float(length), t) for row in phase for angle, length in zip(row, long, strict=True)),
        ),
    )
    call = sentence_parts(
        lambda **slots: t("call_finding", width=case.width, **slots),
        m=where,
        offset=TextTrack((offset,), offset.stop_labels),
        token=TextTrack((token,), token.stop_labels),
    )
    counted = sentence_parts(
        lambda **slots: t("cost_finding", width=case.width, sum=f"{case.width**2:,}", **slots),
        n=TextTrack((length,), length.stop_labels),
        scores=_scores(length),
    )
    maps = [
        _cells(values, t(f"map_{name}"), top, dims, token, name, t)
        for name, values, top in (("x", x, limit(x)), ("o", NumberTrack((offset,), out), limit(out)))
    ]
    circle_of = _circle(
        x[:, dims],
        bar[:, dims],
        phase,
        offset,
        token,
        sentence_parts(lambda **slots: t("pair_title", i=pair, **slots), m=where),
        t,
    )
    findings = order.finding(cat, t), counted, turn, call
    return Film(
        "stages",
        Scene(
            (*order.panels(cat, t), _cost(case.width, length, t), maps[0], circle_of, maps[1]),
            (cat, length, offset, token),
            call,
            beats=beats_from_labels(
                t,
                "stages",
                *findings,
                hint_controls=("cat", "length", "offset", "token"),
                control_values=({}, {}, {}, {"token": framed}),
            ),
        ),
        lambda: (
            {"sum as they are": order.sums(False).ravel(), "sum turned": order.sums(True).ravel()}
            | dict(cells(case, X=x, f_of_X=bar, cos_then_sin=case.turn_table(head), O=case.stages.out[0, :, head]))
        ),
        recipe(case, *order.RECIPE, "print(lrpe_rotate(case.x, case.theta, **case.options)[0, :, " + f"{head}])"),
    )


def _rest(angle: float, length: float, t: Words) -> str:
    """Return by how much an activated pair turns; nothing is left to turn where both numbers are 0."""
    return t("turn_keeps", angle=f"{np.degrees(angle):,.0f}", long=f"{length:.3g}") if length else t("turn_nothing")


def couple(values: Array) -> str:
    """Return two numbers as a reader writes a point."""
    return f"({values[0]:.3g}, {values[1]:.3g})".replace("-", "−")


def _scores(length: Control) -> TextTrack:
    """Return how many scores a text of each length has: every word with itself and all before it."""
    return TextTrack((length,), tuple(f"{np.tri(int(n)).sum():,.0f}" for n in length.stops))


def _cost(width: int, length: Control, t: Words) -> Panel:
    """Return the table of scores, a row for each word, and beside it the running sum, a cell for each number."""
    count, left = np.array(length.stops)[:, None], float(ASIDE + width)
    right, low = max(LENGTHS + ROOM, left + width), float(max(LENGTHS, width))
    # Down the staircase, and back to its left edge.
    steps = np.minimum(np.repeat(np.arange(LENGTHS + 1.0), 2), count)
    table = (
        NumberTrack((length,), np.hstack([steps[:, 1:], 0 * count])),
        NumberTrack((length,), -np.hstack([steps[:, :-1], count])),
    )
    left_of, right_of = (
        NumberTrack((length,), np.minimum(np.arange(LENGTHS) + side, count)) for side in (GAP, 1 - GAP)
    )
    top, bottom = (NumberTrack((length,), -count + side) for side in (1.0, 0.0))
    middle = NumberTrack((length,), HALF - count)
    across, down = np.arange(float(right)), -np.arange(low + 1)
    numbers = t("sum_numbers", width=width, count=f"{width**2:,}")
    return Panel(
        Axis(-1.0, right),
        Axis(-low - 1.0, 7.0),
        [
            marks.line(*table, "none", 0, fill=GREY),
            marks.rect(left, left + width, -float(width), 0.0, PURPLE),
            marks.line(*_broken(across, np.full_like(across, -low), 0.0), "paper", 0.8),
            marks.line(*_broken(down, np.full_like(down, right), 0.0)[::-1], "paper", 0.8),
            marks.drag_handle(
                length,
                1.0,
                middle,
                BLUE,
                t("grab_length"),
                [marks.rect(left_of, right_of, bottom, top, BLUE)],
                radius_px=0,
            ),
            marks.text(
                0.0,
                2.0,
                sentence_parts(lambda **slots: t("table_size", **slots), scores=_scores(length)),
                anchor="start",
                bold=True,
            ),
            marks.text(left, -width - 5.0, t("sum_size"), PURPLE, anchor="start", bold=True),
            marks.text(
                left,
                -width - 10.0,
                numbers,
                PURPLE,
                anchor="start",
                bold=True,
            ),
            marks.text(
                NumberTrack((length,), count),
                middle,
                sentence_parts(lambda **slots: t("word", **slots), n=TextTrack((length,), length.stop_labels)),
                BLUE,
                anchor="start",
                dx=6,
                dy=5,
            ),
        ],
        height=290,
        equal_aspect=True,
        first_beat=2,
        last_beat=2,
    )


def _broken(at: Array, first: Array, second: float) -> tuple[Array, Array]:
    """Return lines at ``at`` from ``first`` to ``second``, as one broken path."""
    gap = np.full_like(at, np.nan)
    return np.repeat(at, 3), np.column_stack([first, np.full_like(at, second), gap]).ravel()


def _cells(
    values: Array | NumberTrack, title: str, top: float, dims: list[int], token: Control, symbol: str, t: Words
) -> Panel:
    """Return a panel of signed values, a row for each token, the framed token's pair marked in its row."""
    frames = values.keyframes if isinstance(values, NumberTrack) else values
    width = frames.shape[-1]
    shown = as_bytes(frames[..., ::-1, :], top)
    row = TOKENS - np.arange(TOKENS, dtype=float)[:, None]

    def frame(first: float, last: float, stroke: float) -> Mark:
        sides = np.array([first, last, last, first, first])
        return marks.line(sides, NumberTrack((token,), np.hstack([row, row, row - 1, row - 1, row])), "ink", stroke)

    whole = NumberTrack(values.drivers, shown) if isinstance(values, NumberTrack) else shown
    return Panel(
        Axis(-HALF, width - HALF),
        Axis(0.0, float(TOKENS)),
        [
            marks.heatmap(whole, DIVERGING_SCALE, (-HALF, width - HALF), (0.0, float(TOKENS))),
            *(marks.link_symbol(symbol, frame(k - HALF, k + HALF, 3)) for k in dims),
            marks.drag_handle(
                token,
                width / 2 - HALF,
                NumberTrack((token,), row - HALF),
                "ink",
                t("grab_token"),
                [frame(-HALF, width - HALF, 1.5)],
                radius_px=0,
            ),
        ],
        title,
        min_width=80,
        height=200,
        first_beat=3,
    )


def _circle(
    given: Array, pairs: Array, phase: Array, offset: Control, token: Control, title: list[str | TextTrack], t: Words
) -> Panel:
    """Return one pair as it is, after the activation, and after the turn; a token's longest arrow has length 1."""
    both = offset, token
    size = np.maximum(np.hypot(*given.T), np.hypot(*pairs.T))

    def arrow(values: Array) -> tuple[NumberTrack, Array]:
        return NumberTrack((token,), (np.hypot(*values.T) / size)[:, None]), np.arctan2(values[:, 1], values[:, 0])

    (raw, from_), (reach, before) = arrow(given), arrow(pairs)
    start, after = NumberTrack((token,), before[:, None]), NumberTrack(both, (before + phase)[..., None])
    cross = np.array([-1.1, 1.1, np.nan, 0.0, 0.0])
    blue = marks.vector(0.0, 0.0, reach, after, BLUE, 6, has_head=True)
    return Panel(
        Axis(-1.4, 1.2),
        Axis(-1.2, 1.45),
        [
            marks.line(cross, cross[::-1], GREY, 1),
            marks.circle(0.0, 0.0, reach, GREY, 1, stroke_dash="3 4"),
            marks.link_symbol(
                "x", marks.vector(0.0, 0.0, raw, NumberTrack((token,), from_[:, None]), GREY, 4, has_head=True)
            ),
            marks.link_symbol("R", marks.arc(0.0, 0.0, 0.3, start, after, BLUE, 3)),
            marks.link_symbol("f", marks.vector(0.0, 0.0, reach, start, PURPLE, 5, has_head=True)),
            marks.link_symbol(
                "o", marks.turn_handle(offset, 0.0, 0.0, reach, after, BLUE, t("grab_turned"), [blue], radius_px=0)
            ),
            *(
                marks.text(-1.35, 1.3 - 0.24 * k, t(f"arrow_{name}"), colour, anchor="start", bold=True)
                for k, (name, colour) in enumerate((("x", GREY), ("f", PURPLE), ("o", BLUE)))
            ),
        ],
        title,
        min_width=145,
        height=260,
        equal_aspect=True,
        first_beat=2,
    )
