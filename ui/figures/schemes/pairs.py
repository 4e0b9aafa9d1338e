"""The pictures of a comparison by pair: slow-downs and shares of the circle, then what follows, then every position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from rope_core.comparisons import curves, margins
from rope_core.comparisons.cells import check_sign
from rope_core.comparisons.evaluate import DISTANCES
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn, runs_of
from rope_core.comparisons.sentences import speed_text
from rope_core.rope import Array
from ui.figures.clock.schemes import position_tick_text
from ui.figures.drawing import Film
from ui.figures.plot import scaled_int8
from ui.film import marks
from ui.film.colours import (
    ACTION_COLOUR,
    BLUE,
    DIVERGING_SCALE,
    MUTED_COLOUR,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    TRAINED_COLOUR,
    UNSEEN_COLOUR,
)
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    Panel,
    Paragraph,
    field_control,
    scene_in_beats,
    text_panel,
)
from ui.text.words import PageTexts, exponent_text, number_text

COLOURS = ("ink", BLUE, PURPLE, SKY)
DASHES = ("", "7 4", "2 3", "12 4")
STROKES = ("—", "- -", "···", "– –")
LOW, HIGH = -1.0, 12.0
"""The least and the greatest exponent of two that the axis of slow-downs shows."""


@dataclass(frozen=True, eq=False)
class SchemeComparison:
    """Columns of one geometry, the first of them in question.

    Attributes:
        columns: at most four.
        names: how a reader knows each.
        reference: which column the others are compared with.
        check: the key of the check whose pairs are marked.
        python: each column as Python hands it to rc.compare.
        before: Python lines that come before, where a column needs some.
    """

    columns: tuple[ComparedColumn, ...]
    names: tuple[str, ...]
    reference: int
    check: str
    python: tuple[str, ...]
    before: str = ""

    @property
    def examined_column(self) -> ComparedColumn:
        """The column in question."""
        return self.columns[0]

    @cached_property
    def unscaled_frequencies(self) -> Array:
        """Frequencies without a scheme."""
        return self.examined_column.setting.rope.theta

    @property
    def trained_length(self) -> int:
        """Tokens that training covered."""
        return self.examined_column.setting.trained

    def check_row(self, key: str) -> ColumnCheck:
        """Return a check of the column in question; one without a margin where it cannot be tried."""
        return next(
            (each for each in self.examined_column.rows if each.key == key),
            ColumnCheck(key, None),
        )


def percentage_text(share: float) -> str:
    """Return a share in per cent.

    >>> percentage_text(0.0753), percentage_text(1.0)
    ('7.53 %', '100 %')
    """
    return f"{three_digit_text(100 * share)} %"


def three_digit_text(value: float) -> str:
    """Return a number with three digits, a minus as type sets it.

    >>> three_digit_text(-0.01234), three_digit_text(12345.6), three_digit_text(float("inf"))
    ('−0.0123', '12,300', '∞')
    """
    if not np.isfinite(value):
        return "?" if value != value else "∞" if value > 0 else "−∞"
    return exponent_text(f"{float(f'{value:.3g}'):,g}").replace("-", "−")


def log2_slowdowns(slowdown: Array) -> Array:
    """Return log2 of slow-downs within the axis; nan for what turns back or is no number."""
    with np.errstate(all="ignore"):
        return np.where(slowdown > 0, np.clip(np.log2(slowdown), LOW, HIGH), np.nan)


def pair_axis(pairs: int, t: PageTexts) -> Axis:
    """Return the axis of pairs, 0 and the last among its ticks."""
    step = max(1, 2 ** int(np.log2(max(pairs, 8) / 4)))
    ticks = sorted({*range(0, pairs, step), pairs - 1})
    ticks = [a for a, b in pairwise([*ticks, 2 * pairs]) if b - a > step / 3]
    return Axis(-1.0, float(pairs), tuple((float(k), str(k)) for k in ticks), t("axis.pair"), grid=False)


def position_axis(length: int, t: PageTexts, title: str) -> Axis:
    """Return a logarithmic axis of positions or distances from 1 to a length."""
    decades = [10.0**k for k in range(int(np.log10(length)) + 1)]
    return Axis(
        0.0, float(np.log10(length)), tuple((float(np.log10(x)), position_tick_text(int(x))) for x in decades), title
    )


class ComparisonPanels:
    """The panels of a comparison, with one pair marked in all of them."""

    def __init__(self, given: SchemeComparison, at: Control, t: PageTexts) -> None:
        self.given, self.at, self.t = given, at, t
        self.pairs = given.unscaled_frequencies.size
        self.index = np.arange(self.pairs, dtype=float)
        self.stops = np.minimum(np.array(at.stops, dtype=int), self.pairs - 1)
        self.length = given.examined_column.setting.length

    def marked_pair_marks(self, low: float, high: float, *, grip: bool = False) -> list[Mark]:
        """Return the line at the marked pair, with a grip where it is to be dragged."""
        x = self.at.numbers(self.stops[:, None].repeat(2, axis=1).astype(float))
        upright = marks.line(x, [low, high], ACTION_COLOUR, 2)
        if not grip:
            return [upright]
        at = self.at.numbers(self.stops.astype(float))
        below_title = high - 0.09 * (high - low)
        return [marks.drag_handle(self.at, at, below_title, ACTION_COLOUR, self.t("grab_pair"), [upright])]

    def _marked_rows(self) -> Iterator[tuple[ColumnCheck, Array, str, float, Callable[[str, Mark], Mark]]]:
        """Yield each check that is some pair's: the pairs, colour and radius of their dots, how they are shown."""
        for row in self.given.examined_column.rows:
            if not row.marked_pairs:
                continue
            is_chosen = row.key == self.given.check
            colour = TRAINED_COLOUR if row.holds else RED if row.broken else ORANGE
            show = marks.link_symbol if row.broken or is_chosen else marks.shown_when_pointed_at
            yield row, np.array(row.marked_pairs, dtype=int), colour, 5.0 if is_chosen else 3.5, show

    def checked_pair_marks(self, values: Array, low: float, high: float) -> list[Mark]:
        """Return the pairs of each check at the column in question, under the check's name.

        Red dots where one is required and does not hold; the chosen one's larger; others while they are pointed at.
        """
        drawn: list[Mark] = []
        named = 0
        for row, pairs, colour, radius, show in self._marked_rows():
            is_chosen = row.key == self.given.check
            drawn.append(show(row.key, marks.dot(pairs.astype(float), values[pairs], colour, radius)))
            # Names stand over the dots or under them, clear of each other.
            at_left = pairs[0] < self.pairs / 2
            heights_of = np.nan_to_num(values[pairs], nan=low)
            step = named if row.broken or is_chosen else 0
            rise = (heights_of.mean() - low) / (high - low) < 0.5
            y = float(heights_of.max() if rise else heights_of.min())
            key = "mark" if pairs.size == 1 else "marks"
            text = self.t(
                key, title=row.text("title" if row.holds else "fault", self.t.lang), pairs=runs_of(pairs.tolist())
            )
            text = f"{check_sign(row)} {text}"
            name = marks.text(
                float(pairs[0]),
                y,
                text,
                colour,
                anchor="start" if at_left else "end",
                bold=True,
                font_size=13,
                dx=8 if at_left else -8,
                dy=(-10 - 17 * step) if rise else (20 + 17 * step),
            )
            named += row.broken or is_chosen
            drawn.append(show(row.key, name))
        return drawn

    def column_lines(self, x: Array, each: Sequence[Array], width: float = 2.5) -> list[Mark]:
        """Return a line for each column, the one in question on top."""
        drawn = [
            marks.line(x, y, colour, width + (k == 0), dash)
            for k, (y, colour, dash) in enumerate(zip(each, COLOURS, DASHES, strict=False))
        ]
        return drawn[::-1]

    def slowdown_panel(self) -> Panel:
        """Return slow-downs on a logarithmic axis, with the field in which an angle leaves what training showed."""
        given, t = self.given, self.t
        values = [log2_slowdowns(each.slowdown) for each in given.columns]
        needed = float(np.log2(max(self.length / given.trained_length, 1.0)))
        top = min(HIGH, max(2.0, needed, *(np.nanmax(y, initial=0.0) for y in values)) + 1.0)
        low = max(LOW, min(-1.0, *(np.nanmin(y, initial=0.0) for y in values)))
        # Where the check of the trained arc fails: its limit is a little above the arc itself.
        edge = needed - float(np.log2(given.examined_column.setting.allowed["inside_arc"]))
        first = curves.first_unfinished(given.unscaled_frequencies, given.trained_length) - 0.5
        last = self.pairs - 0.5
        drawn: list[Mark] = [marks.rect(-1.0, float(self.pairs), low, 0.0, RED, opacity=0.07)]
        if edge > 0 and first < last:
            drawn += [
                marks.rect(first, last, low, edge, UNSEEN_COLOUR, opacity=0.55, fill_pattern="hatch"),
                *marks.in_wide_panel(
                    420,
                    marks.text(
                        last,
                        0.45 * needed,
                        t("leaves_arc"),
                        UNSEEN_COLOUR,
                        anchor="end",
                        bold=True,
                        dx=-4,
                        font_size=13,
                    ),
                ),
            ]
        odd = [np.flatnonzero(np.isnan(y)) for y in values]
        crosses = [
            marks.text(float(k), low, "×", colour, bold=True, font_size=18)
            for pairs, colour in zip(odd, COLOURS, strict=False)
            for k in pairs[:: max(1, pairs.size // 16)]
        ]
        faster = marks.text(first - 1.0, 0.75 * low, t("faster"), RED, anchor="end", dy=5, font_size=13)
        ticks = tuple(
            (float(k), number_text(2.0**k)) for k in range(int(np.ceil(low)), int(top) + 1, 1 if top < 7 else 2)
        )
        drawn += [*marks.in_wide_panel(420, faster), *self.column_lines(self.index, values), *crosses]
        for k, (name, colour, stroke) in enumerate(zip(given.names, COLOURS, STROKES, strict=False)):
            x, look = (0.05 + 0.48 * (k % 2)) * self.pairs, {"anchor": "start", "bold": True, "font_size": 14}
            drawn.append(marks.text(x, top, f"{stroke} {name}", colour, dy=13 + 18 * (k // 2), **look))
        drawn += [*self.marked_pair_marks(low, top, grip=True), *self.checked_pair_marks(values[0], low, top)]
        across = pair_axis(self.pairs, t)
        return Panel(across, Axis(low, top, ticks, t("slowdown_axis")), drawn, t("slowdowns_title"), 300, 1.6, 190)

    def circle_share_panel(self) -> Panel:
        """Return the share of its circle that each pair passed in training, and that it passes up to the target."""
        given, t = self.given, self.t
        seen = curves.share(given.unscaled_frequencies, given.trained_length)
        used = [curves.share(each.inv_freq, self.length) for each in given.columns]
        index = self.index
        bars = marks.rect(index - 0.5, index + 0.5, 0.0, seen, TRAINED_COLOUR, opacity=0.3)
        drawn = [
            bars,
            *self.column_lines(index, used),
            *self.marked_pair_marks(0.0, 1.05),
            *self.checked_pair_marks(used[0], 0.0, 1.05),
        ]
        name = marks.text(
            0.0,
            0.12,
            t("trained_share", length=f"{given.trained_length:,}"),
            TRAINED_COLOUR,
            anchor="start",
            font_size=13,
        )
        ticks = ((0.0, "0"), (0.5, "½"), (1.0, "1"))
        title = t("shares_title", length=f"{self.length:,}")
        return Panel(
            pair_axis(self.pairs, t), Axis(0.0, 1.05, ticks, t("share_axis")), [*drawn, name], title, 300, 1.6, 120
        )

    def marked_pair_values_panel(self) -> Panel:
        """Return the marked pair's numbers, column by column, which is the legend as well."""
        given, t = self.given, self.t
        seen = curves.share(given.unscaled_frequencies, given.trained_length)

        def head(k: int) -> str:
            return t(
                "pair_head",
                i=k,
                seen=percentage_text(seen[k]),
                wave=three_digit_text(2 * np.pi / given.unscaled_frequencies[k]),
            )

        rows = [Paragraph(self.at.texts(head(k) for k in self.stops.tolist()), font_size=15, bold=True)]
        for each, name, colour, stroke in zip(given.columns, given.names, COLOURS, STROKES, strict=False):
            used = curves.share(each.inv_freq, self.length)
            texts = [
                t(
                    "pair_line",
                    name=f"{stroke} {name}",
                    speed=speed_text(1.0 / each.slowdown[k], t.lang),
                    used=percentage_text(used[k]),
                    f=three_digit_text(each.inv_freq[k]),
                )
                for k in self.stops.tolist()
            ]
            rows.append(Paragraph(self.at.texts(texts), colour, 15))
        return text_panel(*rows, min_width=300, width_share=1.0)

    def slowdown_difference_panel(self) -> Panel:
        """Return by how much each column's pairs are slower than those of the chosen one."""
        given, t = self.given, self.t
        base = log2_slowdowns(given.columns[given.reference].slowdown)
        values = [np.clip(log2_slowdowns(each.slowdown) - base, -4.0, 4.0) for each in given.columns]
        most = max(0.25, *(float(np.nanmax(np.abs(y), initial=0.0)) for y in values)) * 1.1
        step = next(step for step in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0) if most / step <= 4)
        places = np.arange(-int(most / step), int(most / step) + 1) * step
        ticks = tuple((float(y), f"×{three_digit_text(2.0**y)}") for y in places)
        drawn = [*self.column_lines(self.index, values), *self.marked_pair_marks(-most, most, grip=True)]
        drawn += self.checked_pair_marks(values[0], -most, most)
        title = t("difference_title", name=given.names[given.reference])
        axis = Axis(-most, most, ticks, t("difference_axis"))
        return Panel(pair_axis(self.pairs, t), axis, drawn, title, 300, 1.0, 230)

    def neighbour_step_panel(self) -> Panel:
        """Return how far apart each pair puts neighbouring tokens, over training's."""
        given, t = self.given, self.t
        values = [
            np.clip(curves.neighbour_steps(each.inv_freq, given.unscaled_frequencies), 0.0, 2.0)
            for each in given.columns
        ]
        top = max(1.1, *(1.05 * float(np.nanmax(y, initial=0.0)) for y in values))
        drawn = [*self.column_lines(self.index, values), *self.marked_pair_marks(0.0, top)]
        drawn = [mark if mark["kind"] != "line" else marks.link_symbol("resolution", mark) for mark in drawn]
        ticks = tuple((y, text) for y, text in ((0.0, "0"), (0.5, "½"), (1.0, "1"), (1.5, "1½"), (2.0, "2")) if y < top)
        return Panel(
            pair_axis(self.pairs, t), Axis(0.0, top, ticks, t("steps_axis")), drawn, t("steps_title"), 300, 1.0, 150
        )

    def vector_agreement_panel(self) -> Panel:
        """Return how far equal vectors agree at a few distances, column by column."""
        given, t = self.given, self.t
        columns = zip(given.names, [curves.usable(each.inv_freq) for each in given.columns], COLOURS, strict=False)
        lines = [(t("in_training"), given.unscaled_frequencies, "ink"), *columns]
        rows = [Paragraph(t("agreement_head"), font_size=15, bold=True)]
        for name, f, colour in lines:
            near = {f"at_{n}": three_digit_text(margins.agreement(f, n)) for n in DISTANCES}
            rows.append(Paragraph(t("agreement_line", name=name, **near), colour, 15))
        return text_panel(*rows, min_width=300, width_share=1.0)

    def score_by_distance_panel(self) -> Panel:
        """Return the score of equal vectors by distance, raw and smooth, and the marked pair's part in it."""
        given, t = self.given, self.t
        at = curves.distances(self.length)
        x = np.log10(at)
        drawn: list[Mark] = []
        for k, each in enumerate(given.columns):
            raw, smooth = (
                curves.score(each.inv_freq, at, each.attention_factor, smooth=flag) for flag in (False, True)
            )
            drawn += [
                marks.line(x, raw, COLOURS[k], 1) | {"opacity": 0.35},
                marks.line(x, smooth, COLOURS[k], 3, DASHES[k]),
            ]
            if each.attention_factor != 1.0 and k == 0:
                plain = curves.score(each.inv_freq, at, smooth=True)
                drawn.append(marks.line(x, plain, MUTED_COLOUR, 2, "2 3"))
        top = max(1.1, *(1.05 * each.attention_factor**2 for each in given.columns))
        alone = curves.sampled_wave(given.examined_column.inv_freq[self.stops], at)
        drawn.insert(0, marks.line(x, self.at.numbers(alone), ACTION_COLOUR, 1) | {"opacity": 0.6})
        edge = float(np.log10(given.trained_length))
        drawn += [
            marks.line([edge, edge], [-1.0, top], TRAINED_COLOUR, 2),
            marks.text(
                edge,
                top,
                t("trained_edge", length=f"{given.trained_length:,}"),
                TRAINED_COLOUR,
                anchor="end",
                dx=-5,
                dy=14,
            ),
        ]
        drawn += [
            marks.text(0.05, -1.0, f"{stroke} {name}", colour, anchor="start", bold=True, dy=-8 - 17 * k)
            for k, (name, colour, stroke) in enumerate(zip(given.names, COLOURS, STROKES, strict=False))
        ]
        ticks = ((-1.0, "−1"), (0.0, "0"), (1.0, "1"))
        axis = position_axis(self.length, t, t("distance_axis"))
        return Panel(
            axis, Axis(-1.0, top, ticks, t("score_axis")), drawn, t("scores_title", own=given.names[0]), 300, 1.0, 230
        )

    def cosine_and_turn_map_panels(self) -> tuple[Panel, Panel]:
        """Return every pair at every position: the cosine, and by how many turns it is ahead of the chosen column."""
        given, t = self.given, self.t
        edges = curves.edges_of(self.length)
        cos = curves.bin_mean_cosines(given.examined_column.inv_freq, edges)
        ahead = curves.turns_apart(given.examined_column.inv_freq, given.columns[given.reference].inv_freq, edges)
        titles = (
            t("cosines_title", name=given.names[0]),
            t("ahead_title", own=given.names[0], name=given.names[given.reference]),
        )
        return self._map(cos, "cosine", titles[0]), self._map(ahead, "turn", titles[1])

    def _map(self, values: Array, kind: str, title: str) -> Panel:
        """Return a map of pairs by positions from −1 to 1, with the trained edge and the scale of colours."""
        given, t = self.given, self.t
        rows = curves.rows_of(self.pairs)
        last, end = float(self.pairs), float(np.log10(self.length))
        edge = float(np.log10(given.trained_length))
        at = self.at.numbers(np.repeat(self.stops[:, None] + 0.5, 2, axis=1))
        cells = scaled_int8(np.nan_to_num(values), 1.0)
        grip = self.at.numbers(self.stops + 0.5)
        drawn = [
            marks.heatmap(cells[::-1], DIVERGING_SCALE, (0.0, end), (last, 0.0)),
            marks.line([edge, edge], [0.0, last], TRAINED_COLOUR, 3),
            marks.drag_handle(
                self.at, end, grip, ACTION_COLOUR, t("grab_pair"), [marks.line([0.0, end], at, ACTION_COLOUR, 2)]
            ),
            marks.heatmap(
                np.linspace(-127, 127, 64).astype(np.int8)[None],
                DIVERGING_SCALE,
                (0.0, end / 3),
                (-0.16 * last, -0.1 * last),
            ),
            marks.text(0.0, -0.16 * last, t(f"scale.{kind}_low"), MUTED_COLOUR, anchor="start", font_size=13, dy=-8),
            *(
                show(row.key, marks.dot(np.zeros(pairs.size), pairs + 0.5, colour, radius))
                for row, pairs, colour, radius, show in self._marked_rows()
            ),
            marks.text(
                end / 3, -0.16 * last, t(f"scale.{kind}_high"), MUTED_COLOUR, anchor="start", font_size=13, dy=4, dx=6
            ),
        ]
        ticks = tuple((float(k) + 0.5, str(k)) for k in sorted({0, int(rows[rows.size // 2]), self.pairs - 1}))
        axis = position_axis(self.length, t, t("axis.position"))
        up = Axis(last, -0.2 * last, ticks, t("axis.pair"), grid=False)
        white = Paragraph(t(f"scale.{kind}_white"), MUTED_COLOUR, 14)
        return Panel(axis, up, drawn, title, 300, 1.0, 260, paragraphs=(white,))


def markable_pairs(pairs: int, marked: int) -> tuple[int, ...]:
    """Return the pairs that can be marked: at most a map's rows, and the marked one."""
    return tuple(sorted({min(marked, pairs - 1), *curves.rows_of(pairs).tolist()}))


@np.errstate(all="ignore")
def scheme_comparison_film(given: SchemeComparison, marked: int | None, t: PageTexts) -> Film:
    """Return the pictures of a comparison; ``marked``: the pair that is marked at first, by default the check's."""
    pairs, setting = given.unscaled_frequencies.size, given.examined_column.setting
    row = given.check_row(given.check)
    start = marked if marked is not None else row.pair if row.marked_pairs and row.pair is not None else 0
    stops = markable_pairs(pairs, start) if pairs > 1 else (0, 1)
    at = field_control(t, "pair", stops, start=float(start))
    drawn = ComparisonPanels(given, at, t)
    marked_pairs = {pair for row in given.examined_column.broken for pair in row.marked_pairs}
    slots: dict[str, Any] = {"own": given.names[0], "length": f"{setting.length:,}"}
    none = "no_dots_broken" if given.examined_column.broken else "no_dots"
    slots["dots"] = t("dots", count=len(marked_pairs), pairs=pairs) if marked_pairs else t(none)

    def finding(k: int) -> str:
        f = given.examined_column.inv_freq
        used, seen = curves.share(f, setting.length), curves.share(given.unscaled_frequencies, given.trained_length)
        text = t(
            "pair_finding",
            i=k,
            s=three_digit_text(given.examined_column.slowdown[k]),
            used=percentage_text(used[k]),
            seen=percentage_text(seen[k]),
            **slots,
        )
        breaks = [row.text("fault", t.lang) for row in given.examined_column.broken if k in row.marked_pairs]
        return text + (t("pair_breaks", checks=t("headline.and").join(breaks)) if breaks else "")

    sentences = at.texts(finding(k) for k in drawn.stops.tolist())
    near = {n: three_digit_text(margins.agreement(curves.usable(given.examined_column.inv_freq), n)) for n in DISTANCES}
    plain = {f"plain_{n}": three_digit_text(margins.agreement(given.unscaled_frequencies, n)) for n in DISTANCES}
    agree = t("agreement_finding", **{f"at_{n}": value for n, value in near.items()}, **plain, **slots)
    scene = scene_in_beats(
        t,
        "pairs",
        (
            at,
            (
                drawn.slowdown_panel(),
                drawn.circle_share_panel(),
                replace(drawn.marked_pair_values_panel(), last_beat=3),
            ),
            sentences,
        ),
        (
            at,
            (
                drawn.slowdown_difference_panel(),
                drawn.neighbour_step_panel(),
                drawn.score_by_distance_panel(),
                drawn.vector_agreement_panel(),
            ),
            agree,
        ),
        (at, drawn.cosine_and_turn_map_panels(), sentences),
        **slots,
    )
    return Film("by_pair", scene, lambda: pair_numbers_table(given), comparison_recipe(given) + _pair_recipe(given))


def pair_numbers_table(given: SchemeComparison) -> dict[str, Array]:
    """Return each column's numbers by pair."""
    columns: dict[str, Array] = {
        "pair": np.arange(given.unscaled_frequencies.size, dtype=float),
        "theta": given.unscaled_frequencies,
    }
    for each, name in zip(given.columns, given.names, strict=True):
        columns |= {f"{name}: inv_freq": each.inv_freq, f"{name}: slowdown": each.slowdown}
        columns |= {f"{name}: {row.key}": np.array(row.by_pair) for row in each.rows if len(row.by_pair) > 1}
    return columns


def _pair_recipe(given: SchemeComparison) -> str:
    """Return Python that makes the marked pair's numbers, after that of all columns."""
    rope, length = given.examined_column.setting.rope, given.examined_column.setting.length
    return f"""
import numpy as np
f, theta = columns[{given.columns.index(given.examined_column)}].inv_freq, rc.Rope({rope.dim}, {rope.base!r}).theta
for each, tokens in ((f, {length}), (theta, {given.trained_length})):
    print(tokens, "tokens,", 100 * np.minimum(each[pair] * tokens / (2 * np.pi), 1), "% of a turn")
for distance in (1, 10, 100, 1000):
    print(distance, np.cos(f * distance).mean(), np.cos(theta * distance).mean())
"""


def comparison_recipe(given: SchemeComparison) -> str:
    """Return Python that makes the numbers again."""
    setting = given.examined_column.setting
    rope, at = setting.rope, {"factor": setting.factor, "length": setting.length, "trained_to": setting.trained_to}
    return f"""{given.before}
import rope_core as rc
model = {{
    "model_type": "llama", "head_dim": {rope.dim}, "rope_theta": {rope.base!r},
    "max_position_embeddings": {rope.train_len},
}}
columns = rc.compare({", ".join(given.python)}, model=model, **{at!r})
for each in columns:
    print(each.column.name, each.attention_factor, each.slowdown)
    for row in each.rows:
        print(row.key, row.measured, row.limit, row.margin, row.pair, row.holds)
"""
