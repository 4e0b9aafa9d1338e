"""The score of a best match over the distance at four bases, and a text whose end is moved along it."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import attention
from ui.figures.attention.bins import distance_bins
from ui.film import marks
from ui.film.colours import GREY, QUERY_COLOUR, RED
from ui.film.composite_marks import drag_hint, verdict_where, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack
from ui.text.words import PageTexts

BASES = (1_000.0, 10_000.0, 100_000.0, 500_000.0)
FAR = 2**17
"""The greatest distance of the picture, and the longest text."""
ROW = 1.5
"""From a row's zero to the next row's, in scores."""
FIRST_LENGTH = 1_024
"""The text that the step begins with, in words; `GOAL_LENGTH`: the one to drag to."""
GOAL_LENGTH = 8_192


def text_length_stops(own: int) -> tuple[int, ...]:
    """Return the words of the texts to drag to, from 64 to `FAR`, four an octave, and ``own``."""
    return tuple(sorted({own, *np.rint(2 ** np.arange(6.0, 17.1, 0.25)).astype(int).tolist()}))


def four_bases_with_own(own: float) -> tuple[float, ...]:
    """Return four bases in rising order, of which the nearest to ``own`` is replaced by it.

    >>> four_bases_with_own(1e6)
    (1000.0, 10000.0, 100000.0, 1000000.0)
    """
    nearest = min(BASES, key=lambda base: abs(np.log(base / own)))
    return tuple(sorted(own if base == nearest else base for base in BASES))


def _row(rope: rc.Rope, base: float, y: float) -> list[Mark]:
    """Return one base's curve over its zero at ``y``."""
    d, middle, fold = distance_bins(FAR)
    ones = np.ones(rope.dim) / np.sqrt(rope.dim)
    spectrum = rc.Spectrum.from_inv_freq(rc.Rope(rope.dim, base, rope.train_len).theta)
    mean, least, most = fold(attention.score_curve(spectrum, d, ones, ones))
    there_and_back = np.log10(np.concatenate([middle, middle[::-1]]))
    edge = float(np.log10(FAR))
    filled = np.concatenate([mean, np.zeros_like(mean)])
    return [
        marks.line(there_and_back, y + filled, QUERY_COLOUR, 0, fill=QUERY_COLOUR) | {"opacity": 0.2},
        marks.line(there_and_back, y + np.concatenate([least, most[::-1]]), QUERY_COLOUR, 1, fill=QUERY_COLOUR),
        marks.line([0.0, edge], [y, y], GREY, 1),
    ]


def _crossing(first: int, y: float, text: Control) -> list[Mark]:
    """Return where a base's curve first falls below 0, and the part below it inside the text."""
    start, ends = float(np.log10(first)), np.log10(text.stops)
    below = text.numbers_where(ends > start, ends)
    marked, quiet = (text.numbers_where(inside, start) for inside in (ends > start, ends <= start))
    return [
        marks.rect(start, below, y - 0.3, y + 0.12, RED, opacity=0.2),
        marks.dot(quiet, y, GREY, 6),
        marks.dot(marked, y, RED, 7),
        marks.text(quiet, y, f"{first:,}", GREY, dy=-24, font_size=14),
        marks.text(marked, y, f"{first:,}", RED, bold=True, dy=24, font_size=15),
    ]


def first_negative_distances(rope: rc.Rope, bases: tuple[float, ...]) -> list[int | None]:
    """Return the first distance at which each base's best match scores below 0; None for none up to `FAR`."""
    return [attention.first_negative_score_distance(rope.dim, base, FAR) for base in bases]


def best_match_score_panel(rope: rc.Rope, text: Control, bases: tuple[float, ...], t: PageTexts) -> Panel:
    """Return the four curves, one above the other, and the end of the text."""
    edge, ends = float(np.log10(FAR)), np.log10(text.stops)
    foot = -ROW * len(bases) + 0.9
    drawn: list[Mark] = []
    crossings: list[Mark] = []
    names: list[Mark] = []
    for k, (base, first) in enumerate(zip(bases, first_negative_distances(rope, bases), strict=True)):
        y = -ROW * k
        drawn += _row(rope, base, y)
        crossings += [] if first is None else _crossing(first, y, text)
        good = [first is None or stop <= first for stop in text.stops]
        names += [
            marks.text(0.0, y, t("base", base=f"{base:,.10g}"), anchor="start", dx=8, dy=-8, bold=True, font_size=16),
            *verdict_where(text, good, edge, y + 0.72, t("above_zero"), t("below_zero"), anchor="end", dx=-4),
        ]
    end = text.numbers(ends)
    beyond = marks.rect(end, edge + 0.1, foot, 1.1, "paper", opacity=0.7)
    whole = marks.line(text.numbers(np.stack([ends, ends], axis=1)), (foot, 1.05), "ink", 3)
    goal = x_hidden_past_stop(text, GOAL_LENGTH / 2, edge)
    x = Axis(0.0, edge, tuple((float(e), f"{10**e:,}") for e in range(6) if e <= edge), t("words_apart"))
    shown = [
        *drawn,
        beyond,
        *crossings,
        *names,
        marks.drag_handle(text, end, foot, "ink", t("grab_text"), [whole], radius_px=9),
        *marks.in_wide_panel(
            400, drag_hint(goal, foot, t("drag_end", words=f"{GOAL_LENGTH:,}"), anchor="end", dx=-4, dy=-4)
        ),
    ]
    return Panel(x, Axis(foot, 1.1), shown, t("bases_title"), min_width=330, height=350)


def largest_too_small_base_finding(rope: rc.Rope, text: Control, bases: tuple[float, ...], t: PageTexts) -> TextOrTrack:
    """Return what the end of the text shows: the largest base that is too small for it, and the next one's reach."""
    first = first_negative_distances(rope, bases)

    def sentence(length: float, label: str) -> str:
        small = [k for k, each in enumerate(first) if each is not None and each < length]
        if not small:
            return t("bases_none", words=label)
        slots = {"words": label, "base": f"{bases[small[-1]]:,.10g}", "first": f"{first[small[-1]]:,}"}
        if small[-1] + 1 == len(bases):
            return t("bases_all", **slots)
        larger, then = bases[small[-1] + 1], first[small[-1] + 1]
        reach = f"{FAR if then is None else then:,}"
        return t("bases_some", larger=f"{larger:,.10g}", reach=reach, **slots)

    return text.texts(sentence(*each) for each in zip(text.stops, text.stop_labels, strict=True))
