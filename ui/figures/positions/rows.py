"""Words in a row and the attention that the last one gives: texts that share the row, and a cache that drops words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.packing import boundaries, packed
from rope_core.theory.position_demo import WAYS, cached_reads, last_reads, shares
from ui.film import marks
from ui.film.colours import BLUE, ORANGE, PURPLE, RED, SKY, text_colour_on
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack, sentence_parts
from ui.text.words import Words

PACKED, CACHED, MOST = 8, 8, 5
"""Words of the row that two texts share, keys that the cache held, and how many of them it drops at most."""
LATEST = PACKED - 2
"""How many words of the row the first text has at most."""
ROW, AROUND = 26, 1.7
"""Height of a row, px; and the rows of a band beside its highest bar: a title, and the distances below."""
HEAD = -0.15
"""Where the heading of a row ends."""


def packing(rope: rc.Rope, cut: Control, t: Words) -> Panel:
    """Return two texts whose positions begin anew, and the last word's attention: texts kept apart, and mixed."""
    cuts = list(map(int, cut.stops))
    apart, mixed, alone, both = _packed(rope, cuts)
    foreign = np.isnan(apart)
    first, second = t("words_first").split(), t("words_second").split()
    ids = [packed(boundaries([at, PACKED - at])).tolist() for at in cuts]
    edge, tall, last = np.array(cuts, dtype=float), 1.9, float(PACKED - 1)
    floor = 2 * (tall + AROUND)
    low, high = floor + 1.1, floor + 2.0
    top = max(float(alone.max()), float(both.max()))
    parts = (~foreign, RED), (foreign, ORANGE)
    bands = (
        _band(floor / 2, tall, t("apart"), cut, apart, [(alone / top, RED)], t),
        _band(0.0, tall, t("mixed"), cut, mixed, [(both / top * part, colour) for part, colour in parts], t),
    )
    line = marks.line(NumberTrack((cut,), np.stack([edge, edge], axis=1)), [floor + 0.1, high], "ink", 4)
    shapes = [
        marks.rect(0.0, NumberTrack((cut,), edge[:, None]), low, high, PURPLE, opacity=0.35),
        marks.rect(NumberTrack((cut,), edge[:, None]), last, low, high, SKY, opacity=0.35),
        marks.rect(last, last + 1, low, high, BLUE),
        *_words([[*first[:at], *second[: PACKED - at]] for at in cuts], cut, (low + high) / 2),
        *_numbers(t("position_head"), floor + 0.55, cut, ids),
        *(shape for band in bands for shape in band),
        marks.drag_handle(cut, NumberTrack((cut,), edge[:, None]), floor + 0.55, "ink", t("grab_boundary"), [line]),
    ]
    return _panel(shapes, PACKED, high, 2)


def cache(rope: rc.Rope, dropped: Control, t: Words) -> Panel:
    """Return the keys that a cache keeps, and a new word's attention to them in each way of numbering."""
    gone = list(map(int, dropped.stops))
    reads, weights = _cached(rope, gone)
    top = max(float(each.max()) for each in weights.values())
    tall, edge = 1.2, np.array(gone, dtype=float)
    floor = len(WAYS) * (tall + AROUND)
    low, high = floor + 1.9, floor + 2.8
    left = NumberTrack((dropped,), edge[:, None])
    line = marks.line(NumberTrack((dropped,), np.stack([edge, edge], axis=1)), [floor + 0.1, high], "ink", 4)
    box = marks.rect(left, float(CACHED), low, high, RED, opacity=0.3)
    renumbered = [[k - away if k >= away else None for k in range(CACHED + 1)] for away in gone]
    shapes = [
        marks.rect(float(CACHED), CACHED + 1.0, low, high, BLUE),
        *_numbers(t("position_head"), floor + 1.4, dropped, [list(range(CACHED + 1))] * len(gone)),
        *_numbers(t("renumbered_head"), floor + 0.55, dropped, renumbered),
        marks.drag_handle(dropped, left, floor + 0.98, "ink", t("grab_cache"), [box, line]),
        *_words([t("words_cached").split()[: CACHED + 1]] * len(gone), dropped, (low + high) / 2),
    ]
    for row, way in enumerate(reversed(WAYS)):
        colour = ORANGE if way == "renumbered" else RED
        bars = [(weights[way] / top, colour)]
        shapes += _band(row * (tall + AROUND), tall, t(f"way.{way}"), dropped, reads[way], bars, t)
    return _panel(shapes, CACHED + 1, high, 3)


def _packed(rope: rc.Rope, cuts: Sequence[int]) -> tuple[Array, Array, Array, Array]:
    """Return the distances that the last word reads and its attention: (cuts, PACKED), each way, apart and mixed."""
    apart, mixed = (np.array(way) for way in zip(*(last_reads((at, PACKED - at)) for at in cuts), strict=True))
    alone, both = (np.array([shares(rope, row) for row in way]) for way in (apart, mixed))
    return apart, mixed, alone, both


def _cached(rope: rc.Rope, gone: Sequence[int]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return what is read of each key that a cache held, nan of a dropped one, and the attention, (gone, CACHED)."""
    each = [cached_reads(CACHED, away) for away in gone]
    reads = {
        way: np.array([np.r_[np.full(away, np.nan), row[way]] for away, row in zip(gone, each, strict=True)])
        for way in WAYS
    }
    return reads, {way: np.array([shares(rope, row) for row in table]) for way, table in reads.items()}


def _panel(shapes: Sequence[Mark], columns: int, high: float, beat: int) -> Panel:
    return Panel(
        Axis(-0.16 * columns, columns + 0.05),
        Axis(-0.1, high + 0.05),
        shapes,
        min_width=1000,
        height=round((high + 0.15) * ROW),
        first_beat=beat,
        last_beat=beat,
    )


def _words(rows: Sequence[Sequence[str]], by: Control, y: float) -> list[Mark]:
    """Return the words of each stop in their tiles, the last one on the query's."""
    columns = [*zip(*rows, strict=True)]
    last = len(columns) - 1
    return [
        marks.text(
            k + 0.5,
            y,
            TextTrack((by,), column),
            text_colour_on(BLUE) if k == last else "ink",
            font_size=13,
            dy=4,
            halo=False,
        )
        for k, column in enumerate(columns)
    ]


def _numbers(head: str, y: float, by: Control, rows: Sequence[Sequence[object]]) -> list[Mark]:
    """Return a row of numbers under its heading, for each stop; None is left out."""
    columns = [tuple("" if each is None else str(each) for each in column) for column in zip(*rows, strict=True)]
    texts = [marks.text(k + 0.5, y, TextTrack((by,), column), font_size=13, dy=4) for k, column in enumerate(columns)]
    return [marks.text(HEAD, y, head, font_size=12, anchor="end", dy=4), *texts]


def _band(
    y: float, tall: float, title: str, by: Control, reads: Array, parts: Sequence[tuple[Array, str]], t: Words
) -> list[Mark]:
    """Return a title, bars as shares of the height ``tall``, (stops, columns) a colour, and the distances read."""
    at, foot = np.arange(reads.shape[1]), y + 0.75
    bars = [
        marks.rect(at + 0.2, at + 0.8, foot, NumberTrack((by,), foot + tall * each), colour) for each, colour in parts
    ]
    rows = [[*map(_signed, row)] for row in reads.tolist()]
    ground = marks.line([0.0, float(at.size)], [foot, foot], "ink", 1)
    return [
        marks.text(0.0, foot + tall, title, font_size=13, anchor="start", bold=True, dy=-8),
        marks.text(HEAD, foot + tall / 2, t("attention_head"), font_size=12, anchor="end", dy=4),
        *bars,
        ground,
        *_numbers(t("distance_head"), y + 0.3, by, rows),
    ]


def packing_finding(rope: rc.Rope, cut: Control, t: Words) -> TextOrTrack:
    """Return how much attention the last word gives to the other text where the texts are mixed."""
    cuts = list(map(int, cut.stops))
    apart, mixed, _, both = _packed(rope, cuts)
    share = 100 * (both * np.isnan(apart)).sum(axis=1)
    before = [row[at - 1] for at, row in zip(cuts, mixed.tolist(), strict=True)]
    return sentence_parts(
        lambda **slots: t("packing_finding", **slots),
        last=TextTrack((cut,), tuple(str(PACKED - at - 1) for at in cuts)),
        share=TextTrack((cut,), tuple(f"{each:.0f}" for each in share.tolist())),
        apart=TextTrack((cut,), tuple(str(PACKED - at) for at in cuts)),
        read=TextTrack((cut,), tuple(map(_signed, before))),
    )


def cache_finding(rope: rc.Rope, dropped: Control, t: Words) -> TextOrTrack:
    """Return which of the kept words gets most attention in each way."""
    gone = list(map(int, dropped.stops))
    reads, weights = _cached(rope, gone)
    most = {way: [str(CACHED - int(row.argmax())) for row in each] for way, each in weights.items()}
    return sentence_parts(
        lambda **slots: t("cache_finding", **slots),
        dropped=TextTrack((dropped,), dropped.stop_labels),
        right=TextTrack((dropped,), tuple(most["moved"])),
        wrong=TextTrack((dropped,), tuple(most["renumbered"])),
        read=TextTrack((dropped,), tuple(map(_signed, reads["renumbered"][:, -1].tolist()))),
    )


def _signed(distance: float) -> str:
    return "–" if np.isnan(distance) else f"{distance:.0f}".replace("-", "−")
