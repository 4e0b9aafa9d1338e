"""The first picture of the page: every pair at every position, and one pair's row with its arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from ui.figures.plot import scaled_int8
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR, colour_scale
from ui.film.composite_marks import TOP, drag_hint, mark_angle_from_clock, text_lines
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, Paragraph, TextOrTrack, TextTrack, text_panel
from ui.text.words import PageTexts, number_text

ROWS, COLUMNS = 64, 360
"""At most so many rows, and the map's columns."""
LONGER = 16.0
"""How far the map goes, in trained lengths."""
START, GOAL = 24, 57
"""The pair at which the page opens, and the one to which its dashed arrow points, of 64."""
SHADES = colour_scale("ffffff 0c424c")
GRIP = -0.1
"""Where the marked row is grabbed, on the axis of positions (log10)."""
RIM = 36


class StripeMap:
    """The rows of one rope, far past its trained length, by log10 of the position; a row is 1 / rows high."""

    def __init__(self, rope: rc.Rope, at_pair: Control) -> None:
        self.rope, self.at_pair = rope, at_pair
        self.end, self.trained = np.log10(LONGER * rope.train_len), np.log10(rope.train_len)
        self.rows = frequency_demo.sampled_positions(rope.pairs, ROWS)
        self.which = np.minimum(np.array(at_pair.stops, dtype=int), rope.pairs - 1)
        self.cells = frequency_demo.cosine_stripes_and_contrast(rope, LONGER * rope.train_len, COLUMNS)
        self.unfinished = frequency_demo.incomplete_pair_mask(rope)
        self.never = int(self.unfinished.sum())

    def row_top(self, pair: npt.ArrayLike) -> Array:
        """Return the height of a pair's upper edge."""
        return np.asarray(-np.asarray(pair, dtype=float) / self.rope.pairs)

    def pair_number_track(self, values: Array) -> NumberTrack:
        """Return numbers of every pair to drag to."""
        return NumberTrack((self.at_pair,), values.reshape(len(self.which), -1))

    def pair_text_track(self, write: Any) -> TextTrack:
        """Return a text of every pair to drag to."""
        return TextTrack((self.at_pair,), tuple(write(int(pair)) for pair in self.which))

    def training_turns_text(self, pair: int, t: PageTexts) -> str:
        """Return how far a pair turns in training, in turns or in degrees of one."""
        if self.unfinished[pair]:
            return t("only_degrees", angle=f"{360 * self.rope.turns[pair]:.3g}")
        return t("in_turns", turns=_turns(self.rope, pair))


def _turns(rope: rc.Rope, pair: int) -> str:
    value = float(rope.turns[pair])
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def pair_in_training_finding(rope: rc.Rope, at_pair: Control, t: PageTexts) -> TextTrack:
    """Return what a pair did in training, and what that means past it."""
    drawn = StripeMap(rope, at_pair)

    def write(pair: int) -> str:
        if drawn.unfinished[pair]:
            return t("unfinished_finding", i=pair, angle=f"{360 * rope.turns[pair]:.3g}", count=drawn.never)
        return t("finished_finding", i=pair, turns=_turns(rope, pair))

    return drawn.pair_text_track(write)


def pair_stripe_panels(rope: rc.Rope, at_pair: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the marked pair's arrow, the map, and what its parts are."""
    drawn = StripeMap(rope, at_pair)
    return (
        _dial(drawn, t, wide=True),
        _dial(drawn, t, wide=False),
        _map(drawn, t),
        _notes(drawn, t),
        _short_note(drawn, t),
    )


def _dial(drawn: StripeMap, t: PageTexts, *, wide: bool) -> Panel:
    """Return the marked pair's arrow at the end of training, in a ring that is shaded as the rows are."""
    rim = np.linspace(0.0, 2 * np.pi, RIM + 1)
    shades = marks.scale_colours(SHADES)
    ring = [
        marks.wedge(0.0, 0.0, 1.18, TOP - a, TOP - b - 0.02, f"rgb({','.join(map(str, shade))})", inner_radius=1.0)
        for a, b, shade in zip(
            rim[:-1], rim[1:], shades[scaled_int8(np.cos((rim[:-1] + rim[1:]) / 2), 1.0) + 127].tolist(), strict=True
        )
    ]
    angles = 2 * np.pi * drawn.rope.turns[drawn.which]
    shown = np.unwrap(np.where(angles < 2 * np.pi, angles, np.mod(angles, 2 * np.pi)))
    swept = mark_angle_from_clock(drawn.pair_number_track(np.minimum(angles, 2 * np.pi)))
    notes: tuple[tuple[TextOrTrack, str, int, int], ...] = (
        ([t("one_turn_in")], "ink", 16, 0),
        (
            [drawn.pair_text_track(lambda pair: number_text(float(drawn.rope.wavelength[pair]), 3)), t("tokens")],
            "ink",
            19,
            24,
        ),
        ([t("arrow_at", length=f"{drawn.rope.train_len:,}")], MUTED_COLOUR, 15, 52),
        ([drawn.pair_text_track(lambda pair: drawn.training_turns_text(pair, t))], TRAINED_COLOUR, 17, 76),
    )
    x, y = (0.0, -1.65) if wide else (1.6, 0.75)
    words = [
        marks.text(
            x, y, text, colour, font_size=size, dy=dy, bold=colour != MUTED_COLOUR, anchor="middle" if wide else "start"
        )
        for text, colour, size, dy in notes
    ]
    hint = np.where(drawn.which < max(1, drawn.rope.pairs * GOAL // 64), 1.25, np.nan)
    words += [drag_hint(drawn.pair_number_track(hint), -3.05, t("drag_row"), anchor="end")] if wide else []
    return Panel(
        Axis(-1.25, 1.25 if wide else 6.0),
        Axis(-3.7 if wide else -1.2, 1.2),
        [
            *ring,
            marks.wedge(0.0, 0.0, 0.98, TOP, swept, TRAINED_COLOUR, opacity=0.3),
            marks.circle(0.0, 0.0, 1.0, GREY, 1),
            marks.circle(0.0, 0.0, 1.18, GREY, 1),
            marks.vector(
                0.0, 0.0, 0.94, mark_angle_from_clock(drawn.pair_number_track(shown)), "ink", 6, has_head=True
            ),
            marks.dot([0.0], [0.0], "ink", 5),
            *words,
        ],
        min_width=200 if wide else 320,
        width_share=0.4,
        height=390 if wide else 96,
        equal_aspect=True,
        screen="wide" if wide else "narrow",
    )


def _map(drawn: StripeMap, t: PageTexts) -> Panel:
    """Return all pairs by position, dark where the arrow points up, where each has turned once, and the marked row."""
    rope, end, trained = drawn.rope, drawn.end, drawn.trained
    upper, lower = drawn.row_top(drawn.which), drawn.row_top(drawn.which + 1)
    middle = drawn.pair_number_track((upper + lower) / 2)
    thin = 0.008
    frame = [
        marks.rect(
            0.0,
            end,
            drawn.pair_number_track(lower - 3 * thin),
            drawn.pair_number_track(upper + 3 * thin),
            "ink",
            opacity=0.0,
        ),
        *(
            marks.rect(
                -0.02,
                end + 0.02,
                drawn.pair_number_track(lower - thin),
                drawn.pair_number_track(upper + thin),
                "none",
                outline=colour,
                stroke_width=width,
            )
            for colour, width in (("paper", 5), ("ink", 2.5))
        ),
        marks.dot(GRIP, middle, "ink", 8),
    ]
    goal = float(drawn.row_top(rope.pairs * GOAL // 64))
    before = drawn.which < max(1, rope.pairs * GOAL // 64)
    path = np.stack([np.where(before, lower - 0.04, np.nan), np.where(before, goal, np.nan)], axis=1)
    shown = [
        *stripe_map_marks(scaled_int8(drawn.cells[drawn.rows], 1.0), rope.wavelength, trained, end),
        marks.text(trained, 0.025, t("trained", length=f"{rope.train_len:,}"), TRAINED_COLOUR, bold=True, dy=-2),
        marks.text(np.log10(rope.wavelength[0]), 0.025, t("once_round"), bold=True, anchor="start"),
    ]
    gone = float(np.log10(rope.wavelength[rope.pairs // 8]) + trained) / 2
    seen: dict[str, Any] = {"bold": True, "font_size": 15}
    on_dark: dict[str, Any] = seen | {"anchor": "start", "halo": False}
    shown.append(marks.text(0.15, -0.72, t("first_turn"), "#ffffff", **on_dark))
    top = float(drawn.row_top(rope.pairs // 8))
    shown += marks.in_wide_panel(400, *text_lines(gone, top, t("gone_round").split("|"), TRAINED_COLOUR, **seen))
    shown += marks.in_narrow_panel(
        400,
        *text_lines(gone, top, t("gone_round_short").split("|"), TRAINED_COLOUR, **seen | {"font_size": 14}),
        marks.text(0.06, 0.0, t("fast"), "#ffffff", dy=18, **on_dark),
        marks.text(0.06, -1.0, t("slow"), "#ffffff", dy=-7, **on_dark),
        drag_hint(0.15, drawn.pair_number_track(np.where(before, lower, np.nan)), t("drag_row"), dy=20),
    )
    if drawn.never:
        shown.append(marks.text(trained, -0.985, t("new_angles"), UNSEEN_COLOUR, anchor="start", dx=6, **seen))
    shown += [
        *marks.in_wide_panel(400, marks.line([GRIP] * 2, drawn.pair_number_track(path), "ink", 2, "4 4")),
        marks.drag_handle(drawn.at_pair, GRIP, middle, "ink", t("grab_row"), frame, radius_px=0),
    ]
    return Panel(
        Axis(-0.2, end + 0.05, position_decade_ticks(end), t("token_axis"), grid=False),
        Axis(-1.0, 0.08),
        shown,
        t("map_key"),
        min_width=330,
        width_share=2.4,
        height=335,
        phone_height=240,
    )


def stripe_map_marks(cells: Any, waves: Any, trained_length: float, end: float) -> list[Mark]:
    """Return the map of a rope's rows by log10 of the position: the trained edge, new angles hatched, each first turn.

    ``cells``: bytes (rows, columns); ``waves``: tokens that a turn takes (pairs,); each may be a track.
    """
    moving = isinstance(waves, NumberTrack)
    lengths = np.log10(waves.keyframes if moving else np.asarray(waves)).clip(0.0, end)
    far, once = ((NumberTrack(waves.drivers, v) if moving else v) for v in (lengths.clip(trained_length), lengths))
    pairs = lengths.shape[-1]
    edges, middles = -np.arange(pairs + 1) / pairs, -(np.arange(pairs) + 0.5) / pairs
    return [
        marks.heatmap(cells, SHADES, (0.0, end), (0.0, -1.0)),
        marks.rect(trained_length, far, edges[1:], edges[:-1], UNSEEN_COLOUR, fill_pattern="hatch"),
        *(marks.line(once, middles, colour, width) for colour, width in (("paper", 5), ("ink", 2.5))),
        marks.line([trained_length, trained_length], [0.0, -1.02], TRAINED_COLOUR, 4),
    ]


def position_decade_ticks(end: float) -> tuple[tuple[float, str], ...]:
    """Return the ticks of an axis of positions, in log10, up to ``end``."""
    return tuple((float(power), f"{10**power:,}") for power in range(int(end) + 1))


def _row_ratio(rope: rc.Rope) -> str:
    """Return how many times the tokens of a row the next one takes."""
    return f"{rope.base ** (2 / rope.dim):.4g}"


def _short_note(drawn: StripeMap, t: PageTexts) -> Panel:
    """Return how fast the pairs turn and how many never finish, for a phone."""
    rope = drawn.rope
    waves = {"first": number_text(rope.wavelength[0], 3), "last": number_text(rope.wavelength[-1], 3)}
    note = Paragraph(
        t("short_note", count=drawn.never, pairs=rope.pairs, **waves),
        UNSEEN_COLOUR,
        15,
        bold=True,
    )
    return text_panel(note, min_width=320, screen="narrow")


def _notes(drawn: StripeMap, t: PageTexts) -> Panel:
    """Return what the map's parts are, each beside its rows."""
    rope = drawn.rope
    last, first = number_text(rope.wavelength[-1], 3), number_text(rope.wavelength[0], 3)
    blocks: list[tuple[float, str, str, int]] = [
        (0.0, t("fast_note", first=first), MUTED_COLOUR, 10),
        (-0.27, t("row_note", ratio=_row_ratio(rope), base=number_text(rope.base), pairs=rope.pairs), MUTED_COLOUR, 0),
        (-0.66, t("never_note", count=drawn.never, pairs=rope.pairs), UNSEEN_COLOUR, 0),
        (-0.98, t("slow_note", last=last, i=rope.pairs - 1), MUTED_COLOUR, 0),
    ]
    lines: list[Mark] = []
    for y, text, colour, dy in blocks:
        look: dict[str, Any] = {"anchor": "start", "font_size": 15, "bold": colour == UNSEEN_COLOUR}
        lines += text_lines(0.0, y, text.split("|"), colour, dy=dy, **look)
    return Panel(Axis(0.0, 1.0), Axis(-1.1, 0.08), lines, min_width=170, width_share=0.3, height=390, screen="wide")
