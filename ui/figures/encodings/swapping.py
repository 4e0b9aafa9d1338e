"""One sentence becomes another, two neighbours at a time, and what attention makes of every order on the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from rope_core.theory.encodings.compare import pooled, weights
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings.moving import along, attended, kept_by
from ui.figures.encodings.scores import WIDTH, Sentences, attention_rows
from ui.film import marks
from ui.film.colours import BLUE, GREY, SERIES_COLOURS
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextOrTrack,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

MOST, SHOWN = 12, 16
"""The most orders on the way that are stops, and how many of the output's dimensions are drawn."""
ROUNDING = 1e-6
"""Per cent below which a change is rounding."""
ADDED = ("sinusoidal", "rope")
ENCODED = {"nope": ("without_position", GREY), "rope": ("with_rope", BLUE)}


def orders(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the orders of the first sentence's tokens on the way to the second, each two neighbours from the last.

    >>> orders("ab", "ba"), orders("aba", "aab")
    ([(0, 1), (1, 0)], [(0, 1, 2), (0, 2, 1)])
    """
    left = {token: [k for k, other in enumerate(second) if other == token] for token in second}
    goal = [left[token].pop(0) for token in first]
    now, way = list(range(len(first))), [tuple(range(len(first)))]
    while any(goal[a] > goal[b] for a, b in pairwise(now)):
        at = next(k for k in range(len(now) - 1) if goal[now[k]] > goal[now[k + 1]])
        now[at], now[at + 1] = now[at + 1], now[at]
        way.append(tuple(now))
    return way


@cached_figure
def swapping(sentences: Sentences, base: float, causal: bool, moved: tuple[int, ...], t: Words) -> Film:
    """Return the first sentence on its way to the second, and the mean output of attention without and with RoPE.

    ``causal``: each word sees itself and earlier words only, in one telling. Else the last beat moves the sentence
    as a whole by ``moved``, with positions added and with RoPE.
    """
    first, second = sentences
    way = orders(first, second)
    steps = len(way) - 1
    at = sorted({round(share * steps) for share in np.linspace(0.0, 1.0, MOST)}) if steps else [0, 0]
    texts = tuple(t("swap_of", k=k, steps=steps) for k in at)
    swapped = Control(
        "swapped",
        t("field.swapped"),
        tuple(np.linspace(0.0, 1.0, len(at)).tolist()),
        texts,
        play_seconds=4.0,
        last_beat=2,
    )
    read = [[first[k] for k in way[each]] for each in at]
    head = weights(WIDTH, base)
    out = {name: np.array([pooled(name, order, head, causal) for order in read]) for name in ENCODED}
    change = {
        name: 100 * np.linalg.norm(each - each[0], axis=1) / np.linalg.norm(each[0]) for name, each in out.items()
    }
    shares = {name: TextTrack((swapped,), tuple(map(_share, each.tolist()))) for name, each in change.items()}
    word = first[_farthest(way)]
    keys = ("swapping_causal",) if causal else ("swapping_finding_1", "swapping_finding_2")
    findings: list[TextOrTrack] = [sentence_parts(partial(t, key), **shares) for key in keys]
    panels = [_words(first, [way[each] for each in at], swapped, t)]
    top = 1.1 * max(float(np.abs(each[:, :SHOWN]).max()) for each in out.values())
    panels += [
        _output(out[name][:, :SHOWN], swapped, top, *look, t, first_beat=1 if causal else beat)
        for beat, (name, look) in enumerate(ENCODED.items(), 1)
    ]
    scene = Scene(panels, (swapped,), findings[-1])
    if not causal:
        shift = field_control(t, "shift", moved, play_seconds=4.0, first_beat=3)
        rows = {name: attention_rows(name, first, base, np.array(moved)) for name in ADDED}
        panels += [along((first,), shift, t, 3), *attended(rows, shift, t, 3, first)]
        findings.append(kept_by(rows, shift, t))
        starts: list[dict[str, float]] = [{}, {"swapped": 0}, {"shift": 0}]
        led = beats_from_labels(
            t, "swapping", *findings, hint_controls=("swapped", "", "shift"), control_values=starts, word=word
        )
        scene = Scene(panels, (swapped, shift), findings[-1], beats=led)
    return Film(
        "masked" if causal else "swapping",
        scene,
        lambda: (
            {"order": [" ".join(order) for order in read]} | {f"change, {name}": each for name, each in change.items()}
        ),
        f"""
        from rope_core.theory.encodings.compare import pooled, weights
        head = weights({WIDTH}, {base!r})
        for name in {tuple(ENCODED)}:
            before, after = (pooled(name, each, head, {causal}) for each in ({first!r}, {second!r}))
            print(name, abs(after - before).max())
        """,
    )


def _words(first: Sequence[str], way: Sequence[tuple[int, ...]], swapped: Control, t: Words) -> Panel:
    """Return both rows of words: the first sentence, and the one that is on its way."""
    count = len(first)
    colours = {token: SERIES_COLOURS[k % len(SERIES_COLOURS)] for k, token in enumerate(sorted(set(first)))}
    seats = np.array([[order.index(k) for k in range(count)] for order in way], dtype=float)
    shapes: list[Mark] = []
    for k, token in enumerate(first):
        x = seats[:, [k]]
        moving = NumberTrack((swapped,), x + 0.04), NumberTrack((swapped,), x + 0.96)
        shapes += [
            marks.rect(k + 0.04, k + 0.96, 1.2, 1.9, GREY, opacity=0.15),
            marks.text(k + 0.5, 1.55, token, font_size=15, dy=5),
        ]
        middle = NumberTrack((swapped,), x + 0.5)
        tile = [
            marks.rect(*moving, 0.05, 0.95, colours[token], opacity=0.35),
            marks.text(middle, 0.5, token, font_size=16, dy=5),
        ]
        goes = seats[-1, k] != seats[0, k]
        name = t("swap_grab", word=token)
        shapes += [marks.drag_handle(swapped, middle, 0.5, BLUE, name, tile, radius_px=0)] if goes else tile
    return Panel(Axis(0.0, count), Axis(0.0, 1.95), shapes, min_width=700, height=100, last_beat=2)


def _farthest(way: Sequence[tuple[int, ...]]) -> int:
    """Return which word of the first sentence goes farthest on the way to the second."""
    return int(np.abs(np.argsort(way[-1]) - np.arange(len(way[-1]))).argmax())


def _share(percent: float) -> str:
    """Write a change as a share of the output; what rounding leaves is 0."""
    return "0" if percent < ROUNDING else f"{percent:.2g}" if percent < 99.5 else f"{percent:.0f}"


def _output(
    values: np.ndarray, swapped: Control, top: float, name: str, colour: str, t: Words, first_beat: int
) -> Panel:
    """Return the first dimensions of an output as bars, with the first sentence's as a line."""
    at = np.arange(values.shape[1])
    edges = np.repeat(np.arange(values.shape[1] + 1), 2)[1:-1].astype(float)
    track = NumberTrack((swapped,), values)
    zero = np.zeros_like(values)
    return Panel(
        Axis(-0.1, values.shape[1] + 0.1, title=t("at_first")),
        Axis(-top, top, ((0.0, "0"),), t("output_axis")),
        [
            marks.rect(at + 0.12, at + 0.88, NumberTrack((swapped,), zero), track, colour),
            marks.line([0.0, float(values.shape[1])], [0.0, 0.0], "ink", 1),
            marks.line(edges, np.repeat(values[0], 2), "ink", 2),
        ],
        t(name),
        min_width=140,
        height=120,
        first_beat=first_beat,
        last_beat=2,
    )
