"""Two sentences of the same tokens, moved under the hand, and what the last token attends to by each encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings.scores import WIDTH, Sentences, attention_rows
from ui.film import marks
from ui.film.colours import BLUE, GREY, RED, SERIES_COLOURS
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, Scene, TextTrack, field_control
from ui.text.words import Words

SHOWN = ("nope", "sinusoidal", "t5", "alibi", "rope")
REACH = 6
STILL = 1e-9


def shifts(value: int) -> tuple[int, ...]:
    """Return how far the sentences can be moved: 0 to REACH, or as far about a value beyond."""
    first = 0 if value <= REACH else value - REACH // 2
    return tuple(sorted({0, *range(first, first + REACH + 1)}))


def along(sentences: Sequence[Sequence[str]], shift: Control, t: Words, since: int = 1) -> Panel:
    """Return sentences below each other along the positions, moved together under the hand."""
    count, moved = len(sentences[0]), [int(stop) for stop in shift.stops]
    low, last = (moved[1] - 1 if moved[1] > 1 else 0), moved[-1] + count
    colours = {token: SERIES_COLOURS[k % len(SERIES_COLOURS)] for k, token in enumerate(sorted(set(sentences[0])))}
    places = np.add.outer(np.array(moved, dtype=float), np.arange(count))
    tiles: list[Mark] = []
    for row, tokens in enumerate(reversed(sentences)):
        for j, token in enumerate(tokens):
            x = places[:, [j]]
            sides = NumberTrack((shift,), x + 0.04), NumberTrack((shift,), x + 0.96)
            tiles.append(marks.rect(*sides, row + 0.18, row + 0.86, colours[token], opacity=0.28))
            tiles.append(marks.text(NumberTrack((shift,), x + 0.5), row + 0.5, token, font_size=14, dy=5))
    grip = marks.drag_handle(
        shift,
        NumberTrack((shift,), places[:, [0]] + count / 2),
        len(sentences) / 2,
        BLUE,
        t("grab"),
        tiles,
        radius_px=0,
    )
    return Panel(
        Axis(low, last, tuple((k + 0.5, f"{k:,}") for k in range(low, last, 2)), t("position")),
        Axis(-0.05, len(sentences) + 0.05),
        [grip],
        min_width=2000,
        height=52 * len(sentences),
        first_beat=since,
    )


def attended(
    rows: Mapping[str, Array], shift: Control, t: Words, since: int = 1, tokens: Sequence[str] = ()
) -> list[Panel]:
    """Return the last token's attention by encoding; a line is the unmoved sentence's, ``tokens`` are below."""
    ticks = tuple((k + 0.5, token) for k, token in enumerate(tokens))
    top = 1.15 * max(float(each.max()) for each in rows.values())
    panels = []
    for name, each in rows.items():
        at = np.arange(each.shape[1])
        colour = GREY if name == "nope" else BLUE if _change(each).max() <= STILL else RED
        shapes = [
            marks.rect(at + 0.1, at + 0.9, 0.0, NumberTrack((shift,), each), colour),
            marks.line(np.repeat(np.arange(at.size + 1), 2)[1:-1].astype(float), np.repeat(each[0], 2), "ink", 2),
        ]
        x = Axis(-0.05, at.size + 0.05, ticks, t("attention_axis") if ticks else "", grid=False)
        y = Axis(0.0, top, ((0.0, "0"),))
        panels.append(Panel(x, y, shapes, t(f"encoding.{name}"), min_width=140, height=120, first_beat=since))
    return panels


def _change(rows: Array) -> Array:
    """Return the largest change of a weight at each shift."""
    return np.asarray(np.abs(rows - rows[0]).max(axis=1))


def kept_by(rows: Mapping[str, Array], shift: Control, t: Words) -> TextTrack:
    """Return which encodings' attention stays and how far sinusoidal positions change it, as a sentence."""
    still = [t(f"encoding.{name}") for name, each in rows.items() if name != "nope" and _change(each).max() <= STILL]
    moved = zip(shift.stops, shift.stop_labels, 100 * _change(rows["sinusoidal"]), strict=True)
    return TextTrack(
        (shift,),
        tuple(
            t("moving_finding", relative=t("comma").join(still), k=k, weight=f"{change:.2g}")
            if stop
            else t("not_moved")
            for stop, k, change in moved
        ),
    )


@cached_figure
def moving(sentences: Sentences, base: float, moved: tuple[int, ...], t: Words) -> Film:
    """Return the sentences along the positions, and the last token's attention to the first one's, at every shift."""
    shift = field_control(t, "shift", moved, play_seconds=4.0)
    first, count = sentences[0], len(sentences[0])
    rows = {name: attention_rows(name, first, base, np.array(moved)) for name in SHOWN}
    return Film(
        "moving",
        Scene((along(sentences, shift, t), *attended(rows, shift, t)), (shift,), kept_by(rows, shift, t)),
        lambda: (
            {"moved_by": np.repeat(moved, count), "token": list(first) * len(moved)}
            | {name: each.ravel() for name, each in rows.items()}
        ),
        f"""
        import numpy as np
        from rope_core.theory.encodings.compare import logits, weights, words
        from rope_core.theory.softmax import softmax
        x, head = words({first!r}, {WIDTH}), weights({WIDTH}, {base!r})
        for name in {SHOWN}:
            print(name, softmax(logits(name, x, np.arange({count}) + 5, head)[-1]))
        """,
    )
