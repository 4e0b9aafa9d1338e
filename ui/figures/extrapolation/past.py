"""The first picture of the page: three ways past the trained length, with curve, arrow and what stays in view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import rope_core as rc
from rope_core.lab.lines import get_line, scheme_lines, window_start
from rope_core.rope import Array
from rope_core.schemes import KINDS, UNSCALED
from rope_core.theory.extension import TURN, trained_angles, untrained_angle_mask
from ui.figures import home
from ui.figures.extrapolation.curves import LEAST, TICKS, line_colour
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR, YELLOW
from ui.film.composite_marks import TOP, dial_marks, drag_hint, mark_angle_from_clock, verdict_where
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack
from ui.text.words import PageTexts

WINDOW = next(each.key for each in scheme_lines() if each.sliding)
YARN = KINDS[-1]
WAYS = (UNSCALED, YARN, WINDOW)
LOW, HIGH = 0.3, 1.66
"""The axis of perplexity, powers of ten."""
HINTED, HINT_HEIGHT = 700, 0.76
"""The byte up to which the hint to drag is shown, and where on the axis."""
FEW = (3, 10, 30)
"""Its ticks on a phone."""
FOOT, HEAD = 0.02, 1.92
"""How far down and up the chart goes on a phone: below the curves is the knob, above them what each part is."""
STRIPS = {YARN: 0.0, WINDOW: -0.26}
"""Where the strips of what is in view stand on the same axis."""
NAME_AT = 100
"""The byte of a name, marked in the strips: the page's question asks which way has it in view."""


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

    @property
    def yarn_slowdown(self) -> float:
        """How many times slower YaRN turns that pair."""
        return float(
            self.rope.theta[self.fastest_unfinished_pair] / self._spectrum(YARN).inv_freq[self.fastest_unfinished_pair]
        )

    def first_bytes_in_view(self, key: str) -> list[int]:
        """Return the first byte that is in view."""
        return [window_start(m, self.rope.train_len) if key == WINDOW else 0 for m in self.at]

    @property
    def window_length(self) -> int:
        """How many bytes the window has in view at most."""
        return int(self._window_lengths().max())

    @property
    def least_window_length(self) -> int:
        """How many bytes the window has in view at least, once it has left the first bytes."""
        lengths = self._window_lengths()
        return int(lengths[np.array(self.first_bytes_in_view(WINDOW)) > 0].min())

    def _window_lengths(self) -> Array:
        return np.array(self.at) - self.first_bytes_in_view(WINDOW)

    @property
    def width(self) -> int:
        """How many bytes a point of the curves is the mean of."""
        return round(float(np.diff(self.curves[UNSCALED][0][:2])[0]))

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

    def is_window_best(self) -> list[bool]:
        """Return whether the window's perplexity is the lowest of the three about each byte."""
        others = np.minimum(self.log10_perplexities(UNSCALED), self.log10_perplexities(YARN))
        lowest: list[bool] = (self.log10_perplexities(WINDOW) < others).tolist()
        return lowest

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
    """Return the arrow's angle and among how many bytes each of the three ways guesses."""
    texts = []
    for k, m in enumerate(past.at):
        values = {key: past.perplexity_texts(key)[k] for key in WAYS}
        values |= {f"{key}_angle": degrees(past.angles_to_first_in_view(key)[k]) for key in WAYS}
        beyond = "past_finding" if past.is_window_best()[k] else "behind_finding"
        label = beyond if past.has_unseen_angle(UNSCALED)[k] else "within_finding"
        texts.append(t(label, at=f"{m:,}", start=f"{past.first_bytes_in_view(WINDOW)[k]:,}", **values))
    return byte.texts(texts)


def past_training_panels(past: PastWindowReading, byte: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the curves over the strips of what is in view, and a card for each way."""
    return tuple(part(past, byte, t, wide) for wide in (True, False) for part in (_curves, _cards))


def _curves(past: PastWindowReading, byte: Control, t: PageTexts, wide: bool) -> Panel:
    """Return perplexity over the position, drawn up to the byte that is dragged, and what is in view there."""
    length, trained = float(past.length), float(past.rope.train_len)
    mark = np.array(past.at, dtype=float)[:, None]
    here, bottom = byte.numbers(mark), min(STRIPS.values()) - 0.12
    low, high, name, grip = (LOW, HIGH, 0.95, LOW) if wide else (FOOT, HEAD, HIGH, FOOT + 0.15)
    part: dict[str, Any] = {"bold": True, "font_size": 14}
    drawn: list[Mark] = [
        marks.rect(0.0, trained, low, high, TRAINED_COLOUR, opacity=0.12),
        marks.rect(trained, length, low, high, UNSEEN_COLOUR, opacity=0.1),
        marks.text(trained / 2, high, t("trained_part"), TRAINED_COLOUR, dy=16, **part)
        if wide
        else marks.text(0.0, name, t("trained_part"), TRAINED_COLOUR, anchor="start", dy=-3, **part),
        marks.text(length, name, t("past_training"), UNSEEN_COLOUR, anchor="end", dx=-6, dy=0 if wide else -3, **part),
    ]
    for key in WAYS:
        x, y = past.curves[key]
        height = past.log10_perplexities(key)
        done = np.where(x[None] <= mark, y[None], height[:, None])
        along = np.where(x[None] <= mark, x[None], mark)
        solid = byte.numbers(along), byte.numbers(done)
        drawn += [
            marks.line(x, y, film_line_colour(key), 2, stroke_dash="2 5", opacity=0.7),
            marks.line(solid[0], solid[1], film_line_colour(key), 4),
            marks.dot(here, byte.numbers(height), film_line_colour(key), 6),
        ]
    for key, dy in zip(WAYS, (-10, -10, 21), strict=True) if wide else ():
        text = byte.texts(past.perplexity_texts(key))
        place = byte.numbers(past.log10_perplexities(key))
        drawn.append(
            marks.text(here, place, text, film_line_colour(key), anchor="end", bold=True, font_size=17, dx=-9, dy=dy)
        )
    for key, foot in STRIPS.items() if wide else ():
        first = byte.numbers(np.array(past.first_bytes_in_view(key), dtype=float))
        label = marks.text(
            0.0, foot + 0.05, _in_view(past, byte, key, t), film_line_colour(key), anchor="start", bold=True, dy=-4
        )
        drawn += [
            marks.rect(0.0, length, foot - 0.05, foot + 0.05, GREY, opacity=0.13, corner_px=4),
            marks.rect(first, here, foot - 0.05, foot + 0.05, film_line_colour(key), opacity=0.75, corner_px=4),
            marks.dot([float(NAME_AT)], [foot], "ink", 4.5),
            *marks.in_wide_panel(430, label),
        ]
    bar = marks.line(
        byte.numbers(np.repeat(mark, 2, axis=1)), (bottom, HIGH) if wide else (grip, HIGH - 0.05), "ink", 3
    )
    hinted = byte.numbers(np.where(mark < HINTED, mark, np.nan))
    drawn += [
        marks.drag_handle(byte, here, grip, "ink", t("grab_byte"), [bar], radius_px=9),
        drag_hint(hinted, HINT_HEIGHT if wide else grip, t("drag_text"), dx=14, dy=0 if wide else 5),
    ]
    ticks = tuple((float(x), f"{x:,}") for x in (past.rope.train_len, *range(512, past.length + 1, 512)))
    rungs = tuple((float(np.log10(v)), f"{v:g}") for v in (TICKS if wide else FEW) if LOW < np.log10(v) < HIGH)
    return Panel(
        Axis(0.0, length * 1.01, ticks, t("position_axis"), grid=False),
        Axis(
            bottom if wide else low, high, rungs, t("hesitates_axis", width=past.width) if wide else t("guesses_axis")
        ),
        drawn,
        min_width=330,
        width_share=1.3,
        height=330 if wide else 138,
        screen="wide" if wide else "narrow",
    )


def _in_view(past: PastWindowReading, byte: Control, key: str, t: PageTexts) -> TextTrack:
    """Return what a way has in view, and whether the name is among it."""

    def label(at: int, start: int) -> str:
        if at < NAME_AT:
            return "before"
        return "within" if key == WINDOW and start <= NAME_AT else key

    return byte.texts(
        t(f"past_strip.{label(at, start)}", name=NAME_AT)
        for at, start in zip(past.at, past.first_bytes_in_view(key), strict=True)
    )


def _cards(past: PastWindowReading, byte: Control, t: PageTexts, wide: bool) -> Panel:
    """Return a card for each way: its slow arrow, what it does, and what that leaves in view."""
    drawn: list[Mark] = []
    numbers = {"factor": f"{past.yarn_slowdown:.3g}", "least": past.least_window_length, "most": past.window_length}
    for k, key in enumerate(WAYS):
        x, y, half = (0.0, -2.36 * k, 1.24) if wide else (3.5 * k, 0.0, 1.7)
        right, low, high = (5.7, y - 1.12, y + 1.12) if wide else (x + half, -3.0, 2.4)
        angle, unseen = past.angles_to_first_in_view(key), past.has_unseen_angle(key)
        beyond = byte.numbers(np.maximum(angle, past.greatest_trained_angle))
        written = [degrees(each) for each in angle.tolist()]
        labels = ("seen_angle", "unseen_angle") if wide else ("seen_short", "unseen_short")
        trained = [not each for each in unseen]
        good, bad = ([t(label, angle=each) for each in written] for label in labels)
        states = zip(past.first_bytes_in_view(key), past.has_unseen_angle(UNSCALED), past.is_window_best(), strict=True)
        seen = [
            t(f"past_{('view' if best else 'behind') if beyond else 'inside'}.{key}", start=f"{start:,}")
            for start, beyond, best in states
        ]
        drawn += [
            marks.rect(x - half, right, low, high, "none", outline=film_line_colour(key), stroke_width=2, corner_px=8),
            marks.wedge(
                x, y, 0.82, TOP - past.greatest_trained_angle, mark_angle_from_clock(beyond), UNSEEN_COLOUR, opacity=0.3
            ),
            *dial_marks(x, y, 1.0, byte.numbers(angle), trained_angle=past.greatest_trained_angle, stroke_width=5),
        ]
        if wide:
            look: dict[str, Any] = {"anchor": "start", "font_size": 15}
            drawn += [
                marks.text(
                    1.25,
                    y,
                    t(f"past_way.{key}"),
                    film_line_colour(key),
                    **look | {"bold": True, "font_size": 17},
                    dy=-28,
                ),
                marks.text(1.25, y, t(f"past_how.{key}", **numbers), **look, dy=-6),
                *verdict_where(byte, trained, 1.25, y, good, bad, font_size=15, dy=16),
                marks.text(1.25, y, byte.texts(seen), **look, dy=38),
            ]
        else:
            guesses = byte.texts(t("guesses_short", perplexity=each) for each in past.perplexity_texts(key))
            starts = past.first_bytes_in_view(key)
            kept = [t("lost_short", start=f"{start:,}") if start else t("kept_short") for start in starts]
            small: dict[str, Any] = {"font_size": 13, "anchor": "middle"}
            drawn += [
                marks.text(x, 1.0, t(f"past_short.{key}"), film_line_colour(key), bold=True, dy=-26),
                marks.text(x, 1.0, t(f"past_how_short.{key}", **numbers), MUTED_COLOUR, dy=-9, **small),
                *verdict_where(byte, trained, x, -1.0, good, bad, dy=19, **small),
                marks.text(x, -1.0, guesses, film_line_colour(key), dy=37, bold=True, **small),
                *verdict_where(
                    byte, [not each for each in starts], x, -1.0, kept, kept, dy=55, **small | {"bold": False}
                ),
            ]
    return Panel(
        Axis(-1.3, 5.8) if wide else Axis(-1.75, 8.75),
        Axis(-5.95, 1.2) if wide else Axis(-3.05, 2.45),
        drawn,
        t("cards_title"),
        min_width=320,
        height=370 if wide else 176,
        equal_aspect=True,
        screen="wide" if wide else "narrow",
    )
