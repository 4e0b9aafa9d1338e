"""The first picture of the page: three ways past the trained length, with curve, arrow and what stays in view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.lab.lines import get_line, scheme_lines, window_start
from rope_core.rope import Array
from rope_core.schemes import KINDS, UNSCALED
from rope_core.theory.extension import TURN, trained_angles, untrained_angle_mask
from ui.figures import home
from ui.figures.extrapolation.curves import LEAST, TICKS, line_colour
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR, YELLOW
from ui.film.composite_marks import TOP, dial_marks, drag_hint, mark_angle_from_clock, text_lines, verdict_where
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack
from ui.text.words import PageTexts

WINDOW = next(each.key for each in scheme_lines() if each.sliding)
YARN = KINDS[-1]
WAYS = (UNSCALED, YARN, WINDOW)
LOW, HIGH = 0.3, 1.72
"""The axis of perplexity, powers of ten."""
HINTED, HINT_HEIGHT = 900, 0.17
"""The byte up to which the hint to drag is shown, and where on the axis."""
FEW = (3, 10, 30)
"""Its ticks on a phone."""
STRIPS, BOTTOM = {YARN: 0.0, WINDOW: -0.21}, -0.31
"""Where the strips of what is in view stand on the same axis, and its end."""
NAME_AT = 100
"""The byte of a name, marked in the strips."""
LEFT: dict[str, Any] = {"anchor": "start"}
CARDS = {UNSCALED: (0.0, 164.0), YARN: (174.0, 94.0), WINDOW: (278.0, 94.0)}
"""Each card's top and height, px."""
PLOT_PX = 330
"""How high the chart is beside them."""


def film_line_colour(key: str) -> str:
    """Return a line's colour; the unscaled model's and the window's are no scheme's."""
    return {UNSCALED: "ink", WINDOW: YELLOW}.get(key, line_colour(key))


@dataclass(frozen=True)
class PastWindowReading:
    """Three ways to read one text, at every byte to drag to.

    Attributes:
        rope: of the model.
        length: bytes of the text, for which YaRN is set.
        at: bytes to drag to.
        curves: position and the logarithm of perplexity, to base 10, by line.
    """

    rope: rc.Rope
    length: int
    at: tuple[int, ...]
    curves: Mapping[str, tuple[Array, Array]]

    @property
    def fastest_unfinished_pair(self) -> int:
        """The fastest pair that does not come round in the text."""
        return int(np.argmax(self.rope.theta * self.length < TURN))

    @property
    def greatest_trained_angle(self) -> float:
        """The greatest angle of that pair in training, rad."""
        return float(trained_angles(self.rope)[self.fastest_unfinished_pair])

    def first_bytes_in_view(self, key: str) -> list[int]:
        """Return the first byte that is in view."""
        return [window_start(m, self.rope.train_len) if key == WINDOW else 0 for m in self.at]

    def angles_to_first_in_view(self, key: str) -> Array:
        """Return the angle between a byte and the first in view on that pair, rad."""
        return np.asarray(
            (np.array(self.at) - self.first_bytes_in_view(key))
            * self._spectrum(key).inv_freq[self.fastest_unfinished_pair]
        )

    def has_unseen_angle(self, key: str) -> list[bool]:
        """Return whether training never showed that angle."""
        distances = (np.array(self.at) - self.first_bytes_in_view(key)).tolist()
        unseen: list[bool] = untrained_angle_mask(self.rope, self._spectrum(key), distances)[
            :, self.fastest_unfinished_pair
        ].tolist()
        return unseen

    def log10_perplexities(self, key: str) -> Array:
        """Return the logarithm of perplexity about each byte, to base 10."""
        return np.asarray(np.interp(self.at, *self.curves[key]))

    def perplexity_texts(self, key: str) -> list[str]:
        """Return perplexity about each byte, as text."""
        return [f"{10**height:.3g}" for height in self.log10_perplexities(key).tolist()]

    def angle_recipe(self) -> str:
        """Return Python that prints the angles of the arrow and the first byte in view."""
        return f"""
        import numpy as np
        import rope_core as rc
        from rope_core.lab.lines import get_line, window_start
        rope = rc.{self.rope!r}
        for key, start in (("{UNSCALED}", 0), ("{YARN}", 0), ("{UNSCALED}", window_start(byte, rope.train_len))):
            s = rc.spectrum(get_line(key).request_for_rope(rope, {self.length}))
            print(key, start, np.degrees((byte - start) * s.inv_freq[{self.fastest_unfinished_pair}]))
        for cell in view.cells_at_length(view.read_cells(records.shipped_record("sweep").results), {self.length}):
            if cell.line in {WAYS}:
                curve = view.coarsen_curve(cell.curve, {LEAST})
                print(cell.line, 10 ** np.interp(byte, curve.position, np.log10(curve.value)))
        """

    def _spectrum(self, key: str) -> rc.Spectrum:
        return rc.spectrum(get_line(UNSCALED if key == WINDOW else key).request_for_rope(self.rope, self.length))


degrees = partial(home.degrees_text, whole_from=9.5, below=".1f")


def angle_and_perplexity_finding(past: PastWindowReading, byte: Control, t: PageTexts) -> TextTrack:
    """Return among how many bytes each of the three ways guesses, and why."""
    texts = []
    for k, m in enumerate(past.at):
        values = {key: past.perplexity_texts(key)[k] for key in WAYS}
        label = "past_finding" if past.has_unseen_angle(UNSCALED)[k] else "within_finding"
        texts.append(t(label, at=f"{m:,}", start=f"{past.first_bytes_in_view(WINDOW)[k]:,}", **values))
    return byte.texts(texts)


def past_training_panels(past: PastWindowReading, byte: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the curves over the strips of what is in view, and a card for each way."""
    wide, narrow = (_curves(past, byte, t, wide) for wide in (True, False))
    return wide, _cards(past, byte, t), narrow, _small_cards(past, byte, t)


def _curves(past: PastWindowReading, byte: Control, t: PageTexts, wide: bool) -> Panel:
    """Return perplexity over the position, drawn up to the byte that is dragged, and what is in view there."""
    length, trained = float(past.length), float(past.rope.train_len)
    mark = np.array(past.at, dtype=float)[:, None]
    here = byte.numbers(mark)
    part: dict[str, Any] = {"bold": True, "font_size": 15 if wide else 14}
    beyond = trained, length, LOW, HIGH, UNSEEN_COLOUR
    drawn: list[Mark] = [
        marks.rect(0.0, trained, LOW, HIGH, TRAINED_COLOUR, opacity=0.14),
        marks.rect(*beyond, opacity=0.08),
        marks.rect(*beyond, fill_pattern="hatch", opacity=0.2),
        marks.text(0.0, HIGH, t("trained_part"), TRAINED_COLOUR, dx=4, dy=17, **LEFT, **part),
    ]
    for key in WAYS:
        x, y = past.curves[key]
        height = past.log10_perplexities(key)
        done = np.where(x[None] <= mark, y[None], height[:, None])
        along = np.where(x[None] <= mark, x[None], mark)
        drawn += [
            marks.line(x, y, film_line_colour(key), 2, stroke_dash="2 5", opacity=0.7),
            marks.line(byte.numbers(along), byte.numbers(done), film_line_colour(key), 4),
            marks.dot(here, byte.numbers(height), film_line_colour(key), 6),
        ]
    label = t("past_training").split("|")
    drawn += text_lines(1500.0 if wide else 1440.0, 1.04 if wide else 1.1, label, UNSEEN_COLOUR, **part)
    for key, dy in zip(WAYS, (-10, -10, 21), strict=True):
        place, text = byte.numbers(past.log10_perplexities(key)), byte.texts(past.perplexity_texts(key))
        look = {"anchor": "end", "bold": True, "font_size": 17 if wide else 15}
        drawn.append(marks.text(here, place, text, film_line_colour(key), dx=-10 if wide else -15, dy=dy, **look))
    drawn.append(marks.text(0.0, 0.17, t("in_view"), MUTED_COLOUR, anchor="end", dx=-6, dy=4, font_size=13))
    for key in STRIPS:
        drawn += _strip(past, byte, key, t, wide)
    bar = marks.line(byte.numbers(np.repeat(mark, 2, axis=1)), (BOTTOM, HIGH), "ink", 3)
    hinted = byte.numbers_where(np.array(past.at) < HINTED, np.array(past.at))
    drawn += [
        marks.drag_handle(byte, here, LOW, "ink", t("grab_byte"), [bar], radius_px=9),
        drag_hint(hinted, HINT_HEIGHT, t("drag_text"), dx=14, dy=5),
    ]
    ticks = tuple((float(x), f"{x:,}") for x in (past.rope.train_len, *range(512, past.length + 1, 512)))
    rungs = tuple((float(np.log10(v)), f"{v:g}") for v in (TICKS if wide else FEW) if LOW < np.log10(v) < HIGH)
    return Panel(
        Axis(0.0, length * 1.01, ticks, t("position_axis"), grid=False),
        Axis(BOTTOM, HIGH, rungs, t("hesitates_axis")),
        drawn,
        min_width=330,
        width_share=1.2,
        height=PLOT_PX if wide else 165,
        screen="wide" if wide else "narrow",
    )


def _strip(past: PastWindowReading, byte: Control, key: str, t: PageTexts, wide: bool) -> list[Mark]:
    """Return what a way has in view of the text: the name is white in it, and struck out where it is forgotten."""
    y, colour, at = STRIPS[key], film_line_colour(key), np.array(past.at)
    half, room = (0.065, 500) if wide else (0.09, 900)
    first = np.array(past.first_bytes_in_view(key))
    kept, lost = (first <= NAME_AT) & (at > NAME_AT), first > NAME_AT
    look: dict[str, Any] = {"bold": True, "font_size": 14, "halo": False, "dy": 5}

    def name(there: npt.NDArray[np.bool_], ink: str) -> Mark:
        return marks.text(byte.numbers_where(there, NAME_AT), y, t("name"), ink, **look)

    struck = byte.numbers(np.where(lost[:, None], np.array([NAME_AT - 80, NAME_AT + 80]), np.nan))
    if key == WINDOW:
        end, word, ink = byte.numbers_where(first > room, first), "forgotten", MUTED_COLOUR
    else:
        end, word, ink = byte.numbers_where(at > room, at), "everything", "white"
    return [
        marks.text(0.0, y, t(f"past_short.{key}"), colour, **look | {"anchor": "end", "dx": -6}),
        marks.rect(0.0, float(past.length), y - half, y + half, GREY, opacity=0.15, corner_px=4),
        marks.rect(byte.numbers(first), byte.numbers(at), y - half, y + half, colour, corner_px=4),
        *marks.in_wide_panel(
            430 if wide else 0, marks.text(end, y, t(word), ink, **look | {"anchor": "end", "dx": -8})
        ),
        name(kept, "white"),
        name(~kept, MUTED_COLOUR),
        marks.line(struck, (y, y), UNSEEN_COLOUR, 3),
    ]


def _dial(past: PastWindowReading, byte: Control, key: str, x: float, y: float, radius: float) -> list[Mark]:
    """Return a way's slow arrow, hatched what it turned through that training never showed; lengths are those of y."""
    angle, trained = past.angles_to_first_in_view(key), past.greatest_trained_angle
    unit: dict[str, Any] = {"length_unit": "y"}
    beyond = mark_angle_from_clock(byte.numbers(np.maximum(angle, trained)))
    unseen = (x, y, 0.82 * radius, TOP - trained, beyond, UNSEEN_COLOUR)
    return [
        marks.wedge(*unseen, opacity=0.15, **unit),
        marks.wedge(*unseen, fill_pattern="hatch", **unit),
        *dial_marks(x, y, radius, byte.numbers(angle), trained_angle=trained, stroke_width=5, **unit),
    ]


def _verdict_texts(past: PastWindowReading, byte: Control, key: str, t: PageTexts, short: bool) -> dict[str, Any]:
    """Return whether a way's angle was seen in training at every byte, and both verdicts with the angle."""
    written = [degrees(each) for each in past.angles_to_first_in_view(key).tolist()]
    seen, unseen = ("seen_short", "unseen_short") if short else ("seen_angle", "unseen_angle")
    return {
        "control": byte,
        "is_right": [not each for each in past.has_unseen_angle(key)],
        "right": [t(seen, angle=each) for each in written],
        "wrong": [t(unseen, angle=each) for each in written],
    }


def _outcome(past: PastWindowReading, byte: Control, label: str, key: str, t: PageTexts) -> TextTrack:
    """Return what a way's angle and view bring: another sentence up to the trained length."""
    beyond = past.has_unseen_angle(UNSCALED)
    return byte.texts(t(f"{label}.{key}") if each else t(f"past_inside.{key}") for each in beyond)


def _cards(past: PastWindowReading, byte: Control, t: PageTexts) -> Panel:
    """Return a card for each way, tied to its curve: its slow arrow, what it does, and what that brings; y is in px."""
    width, bottom = 430.0, 372.0
    drawn: list[Mark] = []
    for key, (top, high) in CARDS.items():
        colour, middle, large = film_line_colour(key), top + high / 2, key == UNSCALED
        radius = 0.4 * high
        left = 2 * radius + 46
        look: dict[str, Any] = LEFT | {"font_size": 15}
        first = middle - (33 if large else 26)
        verdict = _verdict_texts(past, byte, key, t, short=False)
        drawn += [
            marks.rect(0.0, width, top, top + high, "none", outline=colour, stroke_width=2, corner_px=8),
            *_dial(past, byte, key, radius + (24 if large else 20), middle, radius),
            marks.text(left, first, t(f"past_way.{key}"), colour, **look | {"bold": True, "font_size": 18}),
            marks.text(left, first + 22, t(f"past_how.{key}"), **look),
            *verdict_where(**verdict, x=left, y=first + 44, font_size=16 if large else 15),
            marks.text(
                left, first + (68 if large else 64), _outcome(past, byte, "past_view", key, t), bold=True, **look
            ),
        ]
        # Only beside the chart: where the cards have a row of their own they are wider.
        height = PLOT_PX * (past.curves[key][1][-1] - BOTTOM) / (HIGH - BOTTOM)
        ease = np.linspace(0.0, 1.0, 24)
        end = bottom + 8 - 54 - height
        path = end + (middle - end) * ease * ease * (3 - 2 * ease)
        drawn += marks.in_narrow_panel(560, marks.line(-30 + 30 * ease, path, colour, 2))
    return Panel(
        Axis(0.0, width), Axis(bottom, 0.0), drawn, t("cards_title"), min_width=350, height=round(bottom), screen="wide"
    )


def _small_cards(past: PastWindowReading, byte: Control, t: PageTexts) -> Panel:
    """Return the same on a phone, beside each other; y is in px."""
    width, high = 350.0, 126.0
    drawn: list[Mark] = []
    small: dict[str, Any] = {"font_size": 13, "anchor": "middle"}
    for k, key in enumerate(WAYS):
        left, right = k * 119.0, k * 119.0 + 112
        middle = (left + right) / 2
        drawn += [
            marks.rect(left, right, 0.0, high, "none", outline=film_line_colour(key), stroke_width=2, corner_px=8),
            *_dial(past, byte, key, middle, 57.0, 30.0),
            marks.text(middle, 19, t(f"past_short.{key}"), film_line_colour(key), bold=True),
            *verdict_where(**_verdict_texts(past, byte, key, t, short=True), x=middle, y=104, **small),
            marks.text(middle, 120, _outcome(past, byte, "past_view_short", key, t), **small),
        ]
    return Panel(
        Axis(0.0, width), Axis(high, 0.0), drawn, t("cards_title"), min_width=330, height=round(high), screen="narrow"
    )
