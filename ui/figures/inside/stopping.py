"""The first picture of the page: a head that looks one letter back, with its fast pairs stopped, or its slow ones."""

from __future__ import annotations

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
    """Return what the chosen letter and the letters' mean still give to the letter before."""

    def write(k: int) -> str:
        fast, slow = (percentage_text(float(each[k, CHOSEN - 1])) for each in of.weights)
        fast_mean, slow_mean = (percentage_text(float(each[k, of.layer, of.head])) for each in of.back)
        label = "stopping_finding" if k else "turning_finding"
        return t(label, count=k, fast=fast, slow=slow, fast_mean=fast_mean, slow_mean=slow_mean)

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
    drawn = []
    for label, still, weights, back in rows:
        title = count.texts(t(label, count=k) for k in count.stop_labels)
        shares = np.broadcast_to(back[:, of.layer, of.head], stops.size)
        mean = count.texts(t("mean_back", share=percentage_text(float(each))) for each in shares)
        # A phone has room for the two rows that are compared.
        screen = "wide" if label == "all_turn" else ""
        all_turn = float(of.weights[0, 0, CHOSEN - 1]), float(of.back[0, 0, of.layer, of.head])
        whole = t("none_stopped", **dict(zip(("share", "mean"), map(percentage_text, all_turn), strict=True)))
        drawn += [_pairs(of, count, title, label, still, screen, t), _looks(count, weights, mean, whole, screen, t)]
    return tuple(drawn)


def _pairs(
    of: StoppedPairs,
    count: Control,
    title: TextOrTrack,
    label: str,
    still: npt.NDArray[np.bool_],
    screen: str,
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
    return Panel(
        Axis(-0.6, pairs - 0.4), Axis(-1.4, 0.6), drawn, title, min_width=330, height=92, screen=screen, phone_height=70
    )


def _looks(count: Control, weights: Array, mean: TextOrTrack, whole: str, screen: str, t: PageTexts) -> Panel:
    """Return the text, how much of its attention the chosen letter gives each, and how much the one before gets."""
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
        marks.text(scattered, 0.8, t("scattered"), MUTED_COLOUR, bold=True, font_size=15),
        marks.text(CHOSEN + 0.7, 0.42, share, KEY_COLOUR, bold=True, font_size=26, anchor="start"),
        marks.text(CHOSEN + 0.7, 0.1, t("on_before"), KEY_COLOUR, bold=True, font_size=15, anchor="start"),
        *marks.in_wide_panel(400, marks.text(len(letters) - 0.5, 0.95, mean, MUTED_COLOUR, font_size=14, anchor="end")),
        *marks.in_narrow_panel(
            400, marks.text(len(letters) - 0.5, 0.95, whole, MUTED_COLOUR, font_size=13, anchor="end")
        ),
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
        screen=screen,
        phone_height=70,
    )


LEFT = {"bold": True, "font_size": 15, "anchor": "start", "dy": 14}
RIGHT = {"bold": True, "font_size": 15, "anchor": "end", "dy": 14}
