"""The first picture of the page: a position that a number format cannot hold, and where its arrow points instead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory import precision
from ui.figures import home
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import angle_wedge, dial_marks, drag_hint, ghost_tile, mark_angle_from_clock, word_tile
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack
from ui.text.words import PageTexts

FIRST, LAST = 1015, 1031
"""The positions of the red word to drag over: both sides of 1,024, where bfloat16's gaps double."""
START, GOAL = 1017, 1027
"""Where the red word is at first, and where its dashed tile stands: bfloat16 turns its arrow almost about there."""
WORDS, CAT = 6, 1
"""How many words the sentence has, and the index of the red one."""
LEFT, RIGHT = FIRST - CAT, LAST + WORDS - 1 - CAT
"""The first position that a word can have, and the last."""
FOLDED_PX = 240
"""The width of a dial's panel below which long names of an arrow are in two lines."""
SPREAD = 1.95
"""How far apart a phone has the sentence's words, in positions: they have no room over their own."""
NAMED = 4
"""Every so many positions have their number."""


class PositionRounding:
    """The positions of a sentence, what a format stores of them, and how far the red word's arrows are off.

    Attributes:
        positions, held: exact and stored positions of the red word, int64 (positions).
        sentence, sentence_held: the same of every word, int64 (positions, words).
        off, slowest_off: of the fastest and the slowest pair, rad (positions), without their sign.
    """

    def __init__(self, spectrum: rc.Spectrum, dtype: str) -> None:
        self.positions = np.arange(FIRST, LAST + 1)
        self.sentence = self.positions[:, None] + np.arange(WORDS) - CAT
        self.sentence_held = np.rint(precision.round_to_dtype(self.sentence.astype(float), dtype)).astype(np.int64)
        self.held = self.sentence_held[:, CAT]
        behind = np.abs(self.positions - self.held)
        self.step = float(spectrum.inv_freq[0])
        self.off, self.slowest_off = behind * self.step, behind * float(spectrum.inv_freq[-1])

    def words_stored_together(self, words: Sequence[str], t: PageTexts) -> list[list[str]]:
        """Return, at every position, all words stored where a word is, if it is the first of them, and "" if not."""
        return [
            [
                ""
                if each in held[:k]
                else reduce(
                    lambda before, word: t("beside", words=before, word=word),
                    (word for word, at in zip(words, held, strict=True) if at == each),
                )
                for k, each in enumerate(held)
            ]
            for held in self.sentence_held.tolist()
        ]

    def with_cat(self, words: Sequence[str], t: PageTexts) -> list[str]:
        """Return, at every position, all words stored where the red one is."""
        firsts = (held.index(held[CAT]) for held in self.sentence_held.tolist())
        return [row[first] for row, first in zip(self.words_stored_together(words, t), firsts, strict=True)]


def red_word_control(t: PageTexts) -> Control:
    """Return the position of the red word."""
    stops = tuple(map(float, range(FIRST, LAST + 1)))
    return Control("near", t("field.near"), stops, tuple(f"{at:,.0f}" for at in stops), play_seconds=10.0)


whole_degrees = partial(home.degrees_text, whole_from=1.0, below=".1g")


def position_rounding_finding(rounding: PositionRounding, near: Control, dtype: str, t: PageTexts) -> TextTrack:
    """Return what is stored of the position, where the fastest arrow points, and which words are now at one place."""
    together = rounding.with_cat(t("sentence").split(), t)
    rows = zip(rounding.positions.tolist(), rounding.held.tolist(), rounding.off.tolist(), together, strict=True)
    texts = []
    for at, held, off, words in rows:
        given = {"dtype": dtype, "at": f"{at:,}", "held": f"{held:,}", "off": whole_degrees(off)}
        alone = words == t("key_word")
        one_place = "" if alone else t("one_place", words=words)
        texts.append(t("held_finding" if at == held else "snapped_finding", **given) + one_place)
    return near.texts(texts)


def position_rounding_panels(spectrum: rc.Spectrum, near: Control, dtype: str, t: PageTexts) -> tuple[Panel, ...]:
    """Return the exact and the rounded arrows then the digits, and the positions that the format holds."""
    rounding = PositionRounding(spectrum, dtype)
    words = t("sentence").split()
    exact = near.numbers(rounding.positions * rounding.step)
    held = near.numbers(rounding.held * rounding.step)
    return (
        _arrow(
            [
                *_word_arrows(near, rounding.sentence * rounding.step, [words] * len(near.stops), 1.4),
                *dial_marks(0.0, 0.0, 1.0, exact, KEY_COLOUR),
            ],
            "exact_at",
            near,
            rounding.positions,
            t,
        ),
        _arrow(
            [
                *_word_arrows(
                    near,
                    rounding.sentence_held * rounding.step,
                    rounding.words_stored_together(words, t),
                    1.56,
                    phone=True,
                ),
                *(mark | {"opacity": 0.3} for mark in angle_wedge(0.0, 0.0, 0.85, held, exact, KEY_COLOUR)),
                marks.vector(0.0, 0.0, 0.95, mark_angle_from_clock(exact), KEY_COLOUR, 3, True, stroke_dash="5 4"),
                *dial_marks(0.0, 0.0, 1.0, held),
            ],
            "stored_at",
            near,
            rounding.held,
            t,
            dtype,
        ),
        _digits(spectrum, rounding, near, dtype, t),
        *(_ruler(rounding, near, dtype, t, wide=wide) for wide in (True, False)),
    )


def _word_arrows(
    near: Control, angles: npt.NDArray[Any], names: Sequence[Sequence[str]], reach: float, *, phone: bool = False
) -> list[Mark]:
    """Return a thin arrow at each angle (positions, words), rad the clock's way from the top, named at its tip.

    ``reach``: how far at the side the names are; long ones need more. ``phone``: whether they are in two lines there.
    """
    x, y = reach * np.sin(angles), 1.22 * np.cos(angles)
    arrows = marks.vector(0.0, 0.0, 0.97, mark_angle_from_clock(near.numbers(angles)), GREY, 2, has_head=True)
    letters = [
        marks.text(
            near.numbers(x[:, k]),
            near.numbers(y[:, k]),
            near.texts(row[k] for row in names),
            KEY_COLOUR if k == CAT else "ink",
            bold=k == CAT,
            font_size=14,
            dy=5,
        )
        for k in range(WORDS)
    ]
    if not phone:
        return [arrows, *letters]
    folded = [[_two_lines(each) for each in row] for row in names]
    wide = np.array([[max(map(_width, lines)) for lines in row] for row in folded])
    x, y = (1.12 + wide / 2) * np.sin(angles), 1.3 * np.cos(angles)
    lines = [
        marks.text(
            near.numbers(x[:, k]), near.numbers(y[:, k]), near.texts(row[k][j] for row in folded), font_size=13, dy=dy
        )
        for k in range(WORDS)
        for j, dy in enumerate((-3, 11))
    ]
    return [arrows, *marks.in_wide_panel(FOLDED_PX, *letters), *marks.in_narrow_panel(FOLDED_PX, *lines)]


def _two_lines(words: str) -> tuple[str, str]:
    """Return words in two lines at the space nearest to their middle; one word is alone in the second."""
    spaces = [k for k, letter in enumerate(words) if letter == " "]
    cut = min(spaces, key=lambda k: abs(k - len(words) / 2), default=len(words) // 2 if len(words) > 3 else 0)
    return words[:cut].strip(), words[cut:].strip()


def _width(line: str) -> float:
    """Return about how wide a line of a phone's dial is, in the dial's radii."""
    return sum(0.17 if letter.isascii() else 0.34 for letter in line)


def _arrow(drawn: list[Mark], label: str, near: Control, at: np.ndarray, t: PageTexts, dtype: str = "") -> Panel:
    """Return a dial under a title that names the position."""
    title = near.texts(t(label, at=f"{each:,}", dtype=dtype) for each in at.tolist())
    return Panel(
        Axis(-2.05, 2.05),
        Axis(-1.35, 1.4),
        drawn,
        title,
        min_width=150,
        height=188,
        phone_height=112,
        equal_aspect=True,
    )


def _digits(spectrum: rc.Spectrum, rounding: PositionRounding, near: Control, dtype: str, t: PageTexts) -> Panel:
    """Return how far the arrow is off, and the position's binary digits: those that fit, and those that are lost."""
    bits = precision.DTYPES[dtype][0]
    rows = {"exact": rounding.positions.tolist(), "stored": rounding.held.tolist()}
    off = near.texts(t("off_by", off=whole_degrees(each)) for each in rounding.off.tolist())
    slow = near.texts(t("slowest_off", off=whole_degrees(each)) for each in rounding.slowest_off.tolist())
    fastest = t("fastest_arrow", step=whole_degrees(rounding.step), pairs=spectrum.inv_freq.size)
    drawn = [
        marks.text(0.5, 0.95, fastest, bold=True),
        marks.text(0.5, 0.74, off, UNSEEN_COLOUR, bold=True, font_size=25),
        marks.text(0.5, 0.6, slow, MUTED_COLOUR),
    ]
    for y, (name, values) in zip((0.4, 0.26), rows.items(), strict=True):
        words = [f"{value:b}" for value in values]
        colour = KEY_COLOUR if name == "exact" else "ink"
        kept, lost = (tuple(part) for part in zip(*((word[:bits], word[bits:]) for word in words), strict=True))
        number = near.texts(f"{value:,} =" for value in values)
        drawn += [
            marks.text(0.3, y, number, colour, anchor="end", bold=True),
            marks.text(0.68, y, near.texts(kept), anchor="end", bold=True, font_size=19),
            marks.text(0.7, y, near.texts(lost), UNSEEN_COLOUR, anchor="start", font_size=19),
        ]
    fits = t("digits_fit", bits=bits, dtype=dtype)
    drawn.append(marks.text(0.5, 0.08, fits, MUTED_COLOUR, bold=True))
    return Panel(Axis(0.0, 1.0), Axis(0.0, 1.0), drawn, min_width=230, width_share=1.3, height=210, phone_height=130)


def _ruler(rounding: PositionRounding, near: Control, dtype: str, t: PageTexts, *, wide: bool) -> Panel:
    """Return the positions, thick where the format holds them, the sentence that is dragged, and where it snaps to.

    On a phone, whose positions are too narrow for words, a line leads from each word to its position and on.
    """
    along = np.arange(LEFT, RIGHT + 1)
    exact = along[precision.round_to_dtype(along.astype(float), dtype) == along]
    words, shared = t("sentence").split(), rounding.words_stored_together(t("sentence").split(), t)
    stored = [near.numbers(rounding.sentence_held[:, k].astype(float)) for k in range(WORDS)]
    here = near.numbers(rounding.positions.astype(float))
    ticks = tuple((float(each), f"{each:,}") for each in along.tolist() if each % (NAMED if wide else 2 * NAMED) == 0)
    gaps = np.diff(exact)
    title = t("held_axis" if wide else "held_short", dtype=dtype, first=gaps[0], last=gaps[-1])
    x = Axis(LEFT - 0.8, RIGHT + 0.8, ticks, title, grid=False)
    shown = [
        marks.line([LEFT - 0.8, RIGHT + 0.8], [0.0, 0.0], GREY, 1.5),
        marks.rect(along - 0.03, along + 0.03, -0.25, 0.25, GREY),
        marks.rect(exact - 0.08, exact + 0.08, -0.55, 0.55, "ink"),
    ]
    first = np.interp(rounding.positions, (FIRST, LAST), (LEFT, RIGHT - (WORDS - 1) * SPREAD))
    spread = rounding.sentence if wide else first[:, None] + SPREAD * np.arange(WORDS)
    for k in range(WORDS):
        ends = np.stack([spread[:, k], rounding.sentence[:, k], rounding.sentence_held[:, k]], axis=1).astype(float)
        colour = KEY_COLOUR if k == CAT else GREY
        heights = [0.95, 0.95, 0.0] if wide else [1.2, 0.6, 0.0]
        shown.append(marks.line(near.numbers(ends), heights, colour, 2.5 if k == CAT else 1.5))
    rows = [marks.text(x, -1.1, near.texts(row[k] for row in shared), bold=True) for k, x in enumerate(stored)]
    cat = word_tile(here, 1.5, t("key_word"), KEY_COLOUR)
    others = [
        mark for k in range(WORDS) if k != CAT for mark in word_tile(here + float(k - CAT), 1.5, words[k], font_size=14)
    ]
    if wide:
        goal = near.numbers_where(rounding.positions <= GOAL - WORDS, float(GOAL))
        hint = near.numbers_where(rounding.positions <= GOAL - WORDS, GOAL + 0.65)
        shown += [*ghost_tile(goal, 1.5, t("key_word")), drag_hint(hint, 1.5, t("drag_cat"), dy=6), *rows]
    else:
        here = near.numbers(spread[:, CAT])
        cat = word_tile(here, 1.6, t("key_word"), KEY_COLOUR)
        cat[0] |= {"x0": here - 0.95, "x1": here + 0.95}
        shown += [
            marks.text(near.numbers(spread[:, k]), 1.6, words[k], font_size=14, dy=5) for k in range(WORDS) if k != CAT
        ]
        hint = near.numbers_where(rounding.positions <= START, first + SPREAD * (WORDS - 0.4))
        shown.append(drag_hint(hint, 1.6, t("drag_short"), font_size=15, dy=5))
        together = near.texts(rounding.with_cat(words, t))
        shown.append(marks.text(stored[CAT], -1.1, together, KEY_COLOUR, bold=True))
    shown += [
        marks.dot(stored[CAT], 0.0, KEY_COLOUR, 7),
        marks.drag_handle(
            near, here, 1.5 if wide else 1.6, KEY_COLOUR, t("grab_cat"), [*others, *cat] if wide else cat, radius_px=0
        ),
    ]
    return Panel(
        x,
        Axis(-1.4, 2.05),
        shown,
        min_width=2000 if wide else 300,
        height=116 if wide else 100,
        screen="wide" if wide else "narrow",
    )
