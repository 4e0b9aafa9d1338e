"""The first picture of the page: a head that looks one letter back, with its fast pairs stopped, or its slow ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.lab import inside
from rope_core.rope import Array
from ui.figures.inside.reading import byte_letter, percentage_text
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, text_colour_on
from ui.film.composite_marks import angle_wedge, drag_hint, mark_angle_from_clock
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack, TextTrack
from ui.text.words import PageTexts

TEXT = b"the cat sat on the mat"
CHOSEN = 9
"""The letter that looks: the "a" of "sat"."""
RADIUS = 0.45
HINTED = 6
"""From so many pairs on the hint is left out: it would have no room."""
SPEED_COLUMNS, SPEED_RADIUS = 8, 0.33
"""Of the pairs' dials on a phone: how many stand in a row, and the radius where rows are 1 apart."""
STRIP_ENDS, STRIP_HEIGHTS = (2.2, 18.6), (1.3, 1.55)
"""Where the strip of pairs starts and ends, in letters, and its edges, in shares of attention."""


class StoppedPairs:
    """One head with the fastest or the slowest pairs stopped, as many as the control says.

    Attributes:
        layer, head: of the head that looks most at the letter before it, from 0.
        back: what every head gives to the letter before, mean over the letters (kinds, stops, layers, heads).
        weights: of the chosen letter in that head (kinds, stops, letters).
        steps: how far each pair turns from one letter to the next, rad (pairs).
    """

    def __init__(self, name: str) -> None:
        weights = inside.load_numpy_weights(name)
        self.steps = weights.shape.rope.theta
        pairs = self.steps.size
        readings = [
            [
                inside.trace_forward(
                    weights, TEXT, inside.TracePositions(still=inside.fastest_or_slowest_pairs(kind, k, pairs))
                )
                for k in range(pairs + 1)
            ]
            for kind in inside.KINDS
        ]
        self.back = np.array([[inside.previous_byte_attention(each) for each in row] for row in readings])
        whole = self.back[0, 0]
        self.layer, self.head = (int(at) for at in np.unravel_index(whole.argmax(), whole.shape))
        self.weights: Array = np.array(
            [[each.attention[self.layer, self.head, CHOSEN] for each in row] for row in readings]
        )


@lru_cache(maxsize=2)
def head_with_stopped_pairs(name: str) -> StoppedPairs:
    """Return a model's head with its pairs stopped; the text is the page's own."""
    return StoppedPairs(name)


def previous_letter_attention_finding(of: StoppedPairs, count: Control, t: PageTexts) -> TextTrack:
    """Return what the chosen letter still gives to the letter before; with no pair stopped, the letters' mean too."""

    def write(k: int) -> str:
        fast, slow = (percentage_text(float(each[k, CHOSEN - 1])) for each in of.weights)
        mean = percentage_text(float(of.back[0, k, of.layer, of.head]))
        return t("stopping_finding" if k else "turning_finding", count=k, fast=fast, slow=slow, mean=mean)

    return count.texts(write(int(k)) for k in count.stops)


def stopped_pairs_panels(of: StoppedPairs, count: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return three rows, all pairs, the fastest stopped, the slowest stopped: the pairs, and where the letter looks."""
    pairs, stops = of.steps.size, np.array(count.stops)
    numbers = np.arange(pairs)
    rows = (
        ("all_turn", np.zeros((stops.size, pairs), bool), of.weights[0, :1].repeat(stops.size, 0), of.back[0, :1]),
        ("fastest_stop", numbers < stops[:, None], of.weights[0], of.back[0]),
        ("slowest_stop", numbers >= pairs - stops[:, None], of.weights[1], of.back[1]),
    )
    desk, phone = [], [_pair_speeds(of, t)]
    for label, still, weights, back in rows:
        title = count.texts(t(label, count=k) for k in count.stop_labels)
        shares = np.broadcast_to(back[:, of.layer, of.head], stops.size)
        mean = count.texts(t("mean_back", share=percentage_text(float(each))) for each in shares)
        desk += [_pairs(of, count, title, label, still, t), _looks(count, weights, mean, t)]
        # A phone has room for the two rows that are compared.
        if label != "all_turn":
            title = count.texts(t(f"{label}_short", count=k) for k in count.stop_labels)
            phone.append(_strip_and_looks(of, count, title, label, still, weights, mean, t))
    return (*desk, *phone)


def _pair_speeds(of: StoppedPairs, t: PageTexts) -> Panel:
    """Return, for a phone, how far every pair turns from one letter to the next, from the fastest on."""
    across, up = np.arange(of.steps.size) % SPEED_COLUMNS, -(np.arange(of.steps.size) // SPEED_COLUMNS)
    drawn: list[Mark] = [
        marks.circle(across, up, SPEED_RADIUS, GREY, 1.5, length_unit="y"),
        *(mark | {"length_unit": "y"} for mark in angle_wedge(across, up, SPEED_RADIUS, 0.0, of.steps, QUERY_COLOUR)),
        marks.vector(across, up, SPEED_RADIUS, mark_angle_from_clock(of.steps), QUERY_COLOUR, 2.5, length_unit="y"),
    ]
    for x, y, step in zip(across.tolist(), up.tolist(), np.degrees(of.steps).tolist(), strict=True):
        text = f"{step:.0f}°" if step >= 9.5 else f"{step:.1g}°"
        drawn.append(marks.text(x, y - SPEED_RADIUS, text, MUTED_COLOUR, font_size=13, dy=13))
    return Panel(
        Axis(-0.5, SPEED_COLUMNS - 0.5),
        Axis(float(up.min()) - 0.66, 0.36),
        drawn,
        t("pair_speeds", pairs=of.steps.size),
        min_width=330,
        height=104,
        screen="narrow",
    )


def _strip_and_looks(
    of: StoppedPairs,
    count: Control,
    title: TextOrTrack,
    label: str,
    still: npt.NDArray[np.bool_],
    weights: Array,
    mean: TextOrTrack,
    t: PageTexts,
) -> Panel:
    """Return, for a phone, the pairs as a strip whose stopped end is dragged, over where the letter then looks."""
    looks, pairs = _looks(count, weights, mean, t, phone=True), of.steps.size
    first, last = STRIP_ENDS
    width, low, high = (last - first) / pairs, *STRIP_HEIGHTS
    left = first + width * np.arange(pairs)
    names = (t("fast"), first - 0.3, "end"), (t("slow"), last + 0.3, "start")
    from_left = label == "fastest_stop"
    stopped = width * np.array(count.stops)[:, None]
    edge = first + stopped if from_left else last - stopped
    strip: list[Mark] = [
        marks.rect(
            left + 0.08,
            left + width - 0.08,
            low,
            high,
            [f"color-mix(in srgb, {GREY} 35%, transparent)", QUERY_COLOUR],
            colour_index=count.numbers((~still).astype(np.uint8)),
            corner_px=2,
        ),
        *(marks.text(x, low, text, MUTED_COLOUR, anchor=anchor, font_size=13, dy=-2) for text, x, anchor in names),
        marks.drag_handle(
            count,
            count.numbers(edge),
            (low + high) / 2,
            ACTION_COLOUR,
            t("grab_still"),
            [marks.line(count.numbers(edge.repeat(2, axis=1)), [low - 0.1, high + 0.1], ACTION_COLOUR, 3.5)],
        ),
    ]
    if from_left:
        hinted = count.numbers_where(np.array(count.stops) < HINTED, looks.x.low)
        strip.append(drag_hint(hinted, low, t("drag_stop"), font_size=14, dy=19))
    else:
        all_turn = float(of.weights[0, 0, CHOSEN - 1]), float(of.back[0, 0, of.layer, of.head])
        whole = t("none_stopped", **dict(zip(("share", "mean"), map(percentage_text, all_turn), strict=True)))
        strip.append(marks.text(looks.x.high, low, whole, MUTED_COLOUR, font_size=13, anchor="end", dy=18))
    return replace(
        looks,
        y=Axis(looks.y.low, high + 0.12),
        marks=[*looks.marks, *strip],
        title=title,
        height=127,
        screen="narrow",
    )


def _pairs(
    of: StoppedPairs,
    count: Control,
    title: TextOrTrack,
    label: str,
    still: npt.NDArray[np.bool_],
    t: PageTexts,
) -> Panel:
    """Return the pairs in a row with their turn from one letter to the next; a stopped one is crossed out."""
    numbers, pairs = np.arange(of.steps.size, dtype=float), of.steps.size
    turning = count.numbers(np.where(still, np.nan, numbers))
    cross = np.array([-0.2, 0.2, np.nan, -0.2, 0.2, np.nan])
    crosses = np.where(still[:, :, None], numbers[:, None] + cross, np.nan).reshape(len(still), -1)
    drawn: list[Mark] = [
        marks.circle(numbers, 0.0, RADIUS, GREY, 1.5),
        marks.circle(count.numbers(np.where(still, numbers, np.nan)), 0.0, 0.75 * RADIUS, GREY, 7, opacity=0.25),
        *angle_wedge(turning, 0.0, RADIUS, 0.0, of.steps, QUERY_COLOUR),
        marks.vector(
            numbers,
            0.0,
            count.numbers(np.where(still, 0.0, RADIUS)),
            mark_angle_from_clock(of.steps),
            QUERY_COLOUR,
            2.5,
        ),
        marks.line(count.numbers(crosses), np.tile([-0.2, 0.2, np.nan, 0.2, -0.2, np.nan], pairs), MUTED_COLOUR, 2.5),
    ]
    if label != "fastest_stop":
        fast, slow = (
            t("fast_step", step=f"{np.degrees(of.steps[0]):.0f}"),
            t("slow_step", step=f"{np.degrees(of.steps[-1]):.1g}"),
        )
        for text, pair, x, colour, look in ((fast, 0, -0.5, QUERY_COLOUR, LEFT), (slow, -1, pairs - 0.5, "ink", RIGHT)):
            turning_text = count.texts("" if stopped else text for stopped in still[:, pair].tolist())
            drawn.append(marks.text(x, -0.55, turning_text, colour, **look))
    else:
        edge = np.array(count.stops)[:, None] - 0.5
        cut = count.numbers(edge.repeat(2, axis=1))
        hint = count.numbers(np.where(edge < HINTED, edge + 0.6, np.nan))
        drawn += [
            drag_hint(hint, -1.0, t("drag_stop"), dy=6),
            marks.drag_handle(
                count,
                count.numbers(edge),
                -1.0,
                ACTION_COLOUR,
                t("grab_still"),
                [marks.line(cut, [-1.0, 0.6], ACTION_COLOUR, 3.5)],
            ),
        ]
    return Panel(Axis(-0.6, pairs - 0.4), Axis(-1.4, 0.6), drawn, title, min_width=330, height=92, screen="wide")


def _looks(count: Control, weights: Array, mean: TextOrTrack, t: PageTexts, *, phone: bool = False) -> Panel:
    """Return the text, how much of its attention the chosen letter gives each, and how much the one before gets."""
    right, high, low = CHOSEN + 0.7, *((0.6, 0.33) if phone else (0.42, 0.1))
    letters = [byte_letter(byte) for byte in TEXT]
    keys, before = np.arange(CHOSEN + 1), CHOSEN - 1
    shares = weights[:, : CHOSEN + 1].astype(float)
    share = count.texts(f"{percentage_text(float(each))} %" for each in shares[:, before])
    scattered = count.numbers(np.where(shares[:, [before]] < 0.5, 2.0, np.nan))
    colours = [QUERY_COLOUR if at == CHOSEN else "ink" if at < CHOSEN else GREY for at in range(len(letters))]
    picture = [
        marks.line([-0.6, len(letters) - 0.4], [0.0, 0.0], GREY, 1),
        marks.rect(CHOSEN - 0.46, CHOSEN + 0.46, -0.38, -0.03, QUERY_COLOUR, corner_px=4),
        marks.rect(before - 0.46, before + 0.46, -0.38, -0.03, "none", outline=KEY_COLOUR, stroke_width=2, corner_px=4),
        marks.rect(
            keys - 0.36,
            keys + 0.36,
            0.0,
            count.numbers(shares),
            [GREY, KEY_COLOUR],
            colour_index=(keys == before).astype(np.uint8),
        ),
        *(
            marks.text(
                float(at),
                -0.2,
                letter,
                text_colour_on(QUERY_COLOUR) if at == CHOSEN else colours[at],
                bold=at <= CHOSEN,
                font_size=16,
                dy=5,
                halo=False,
            )
            for at, letter in enumerate(letters)
        ),
        marks.text(scattered, high + 0.04 if phone else 0.8, t("scattered"), MUTED_COLOUR, bold=True, font_size=15),
        marks.text(right, high, share, KEY_COLOUR, bold=True, font_size=26, anchor="start"),
        marks.text(right, low, t("on_before"), KEY_COLOUR, bold=True, font_size=15, anchor="start"),
        marks.text(right, 0.08, mean, MUTED_COLOUR, font_size=13, anchor="start")
        if phone
        else marks.text(len(letters) - 0.5, 0.95, mean, MUTED_COLOUR, font_size=14, anchor="end"),
    ]
    x = Axis(-0.6, len(letters) - 0.4)
    return Panel(
        x,
        Axis(-0.4, 1.05),
        picture,
        t("looks_here"),
        min_width=330,
        width_share=1.15,
        height=92,
        screen="wide",
    )


LEFT = {"bold": True, "font_size": 15, "anchor": "start", "dy": 14}
RIGHT = {"bold": True, "font_size": 15, "anchor": "end", "dy": 14}
