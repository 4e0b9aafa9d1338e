"""One sentence becomes another, two neighbours at a time, and what attention makes of every order on the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from rope_core.theory.encodings.compare import mean_attention_output, random_encoding_weights
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings.scores import WIDTH, SentencePair
from ui.film import marks
from ui.film.colours import BLUE, GREY, SERIES_COLOURS
from ui.film.scene import Axis, Control, Mark, Panel, Scene, sentence_parts
from ui.text.words import PageTexts

MOST, SHOWN = 12, 16
"""The most orders on the way that are stops, and how many of the output's dimensions are drawn."""
ROUNDING = 1e-6
"""Per cent below which a change is rounding."""
ENCODED = {"nope": ("without_position", GREY), "rope": ("with_rope", BLUE)}


def neighbour_swap_orders(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the orders of the first sentence's tokens on the way to the second, each two neighbours from the last.

    >>> neighbour_swap_orders("ab", "ba"), neighbour_swap_orders("aba", "aab")
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
def sentence_reordering_film(sentences: SentencePair, base: float, causal: bool, t: PageTexts) -> Film:
    """Return the first sentence on its way to the second, and the mean output of attention without and with RoPE.

    ``causal``: each word sees itself and earlier words only.
    """
    first, second = sentences
    way = neighbour_swap_orders(first, second)
    steps = len(way) - 1
    at = sorted({round(share * steps) for share in np.linspace(0.0, 1.0, MOST)}) if steps else [0, 0]
    texts = tuple(t("swap_of", k=k, steps=steps) for k in at)
    swapped = Control(
        "swapped", t("field.swapped"), tuple(np.linspace(0.0, 1.0, len(at)).tolist()), texts, play_seconds=4.0
    )
    read = [[first[k] for k in way[each]] for each in at]
    head = random_encoding_weights(WIDTH, base)
    out = {name: np.array([mean_attention_output(name, order, head, causal) for order in read]) for name in ENCODED}
    change = {
        name: 100 * np.linalg.norm(each - each[0], axis=1) / np.linalg.norm(each[0]) for name, each in out.items()
    }
    shares = {name: swapped.texts(map(_share, each.tolist())) for name, each in change.items()}
    finding = sentence_parts(partial(t, "masked_finding" if causal else "reordered_finding"), **shares)
    top = 1.1 * max(float(np.abs(each[:, :SHOWN]).max()) for each in out.values())
    panels = [
        _words(first, [way[each] for each in at], swapped, t),
        *(_output(out[name][:, :SHOWN], swapped, top, *look, t) for name, look in ENCODED.items()),
    ]
    return Film(
        "masked" if causal else "reordered",
        Scene(panels, (swapped,), finding),
        lambda: (
            {"order": [" ".join(order) for order in read]} | {f"change, {name}": each for name, each in change.items()}
        ),
        f"""
        import numpy as np
        from rope_core.theory.encodings.compare import mean_attention_output, random_encoding_weights
        head, orders = random_encoding_weights({WIDTH}, {base!r}), {read!r}
        order = orders[round(swapped * {len(at) - 1})]
        for name in {tuple(ENCODED)}:
            before, after = (mean_attention_output(name, each, head, {causal}) for each in (orders[0], order))
            print(name, 100 * np.linalg.norm(after - before) / np.linalg.norm(before), "%")
        """,
    )


def _words(first: Sequence[str], way: Sequence[tuple[int, ...]], swapped: Control, t: PageTexts) -> Panel:
    """Return both rows of words: the first sentence, and the one that is on its way."""
    count = len(first)
    colours = {token: SERIES_COLOURS[k % len(SERIES_COLOURS)] for k, token in enumerate(sorted(set(first)))}
    seats = np.array([[order.index(k) for k in range(count)] for order in way], dtype=float)
    shapes: list[Mark] = []
    for k, token in enumerate(first):
        x = seats[:, [k]]
        moving = swapped.numbers(x + 0.04), swapped.numbers(x + 0.96)
        shapes += [
            marks.rect(k + 0.04, k + 0.96, 1.2, 1.9, GREY, opacity=0.15),
            marks.text(k + 0.5, 1.55, token, font_size=15, dy=5),
        ]
        middle = swapped.numbers(x + 0.5)
        tile = [
            marks.rect(*moving, 0.05, 0.95, colours[token], opacity=0.35),
            marks.text(middle, 0.5, token, font_size=16, dy=5),
        ]
        goes = seats[-1, k] != seats[0, k]
        name = t("swap_grab", word=token)
        shapes += [marks.drag_handle(swapped, middle, 0.5, BLUE, name, tile, radius_px=0)] if goes else tile
    return Panel(Axis(0.0, count), Axis(0.0, 1.95), shapes, min_width=700, height=100)


def _share(percent: float) -> str:
    """Write a change as a share of the output; what rounding leaves is 0."""
    return "0" if percent < ROUNDING else f"{percent:.2g}" if percent < 99.5 else f"{percent:.0f}"


def _output(values: np.ndarray, swapped: Control, top: float, name: str, colour: str, t: PageTexts) -> Panel:
    """Return the first dimensions of an output as bars, with the first sentence's as a line."""
    at = np.arange(values.shape[1])
    edges = np.repeat(np.arange(values.shape[1] + 1), 2)[1:-1].astype(float)
    track = swapped.numbers(values)
    zero = np.zeros_like(values)
    across = Axis(-0.1, values.shape[1] + 0.1, title=t("at_first"))
    drawn = [
        marks.rect(at + 0.12, at + 0.88, swapped.numbers(zero), track, colour),
        marks.line([0.0, float(values.shape[1])], [0.0, 0.0], "ink", 1),
        marks.line(edges, np.repeat(values[0], 2), "ink", 2),
    ]
    return Panel(across, Axis(-top, top, ((0.0, "0"),), t("output_axis")), drawn, t(name), min_width=140, height=120)
