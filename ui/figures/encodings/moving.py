"""Two sentences of the same tokens, moved under the hand, and what the last token attends to by each encoding."""

from __future__ import annotations

import numpy as np

from ui.figures.colours import BLUE, COLOURS, GREY, RED
from ui.figures.drawing import Film, kept
from ui.figures.encodings.scores import WIDTH, Sentences, attention_rows
from ui.film.scene import Axis, Panel, Scene, Shape, Texts, Track, control, sentence
from ui.film.shapes import boxes, handle, label, path
from ui.text.words import Words

SHOWN = ("nope", "sinusoidal", "t5", "alibi", "rope")
REACH = 6
STILL = 1e-9


def shifts(value: int) -> tuple[int, ...]:
    """Return how far the sentences can be moved: 0 to REACH, or as far about a value beyond."""
    first = 0 if value <= REACH else value - REACH // 2
    return tuple(sorted({0, *range(first, first + REACH + 1)}))


@kept
def moving(sentences: Sentences, base: float, moved: tuple[int, ...], t: Words) -> Film:
    """Return the sentences along the positions, and the last token's attention to the first one's, at every shift."""
    shift = control(t, "shift", moved, seconds=4.0)
    first, second = sentences
    count, far = len(first), moved[-1]
    low = moved[1] - 1 if moved[1] > 1 else 0
    tokens = sorted(set(first))
    colours = {token: COLOURS[k % len(COLOURS)] for k, token in enumerate(tokens)}
    places = np.add.outer(np.array(moved, dtype=float), np.arange(count))
    last = far + count
    shapes: list[Shape] = []
    for row, words in ((1.0, first), (0.0, second)):
        for j, token in enumerate(words):
            x = places[:, [j]]
            sides = Track((shift,), x + 0.04), Track((shift,), x + 0.96)
            shapes.append(boxes(*sides, row + 0.18, row + 0.86, colours[token], opacity=0.28))
            shapes.append(label(Track((shift,), x + 0.5), row + 0.5, token, size=14, dy=5))
    shapes.append(handle(shift, Track((shift,), places[:, [0]] + count / 2), 1.0, BLUE, t("grab")))
    line = Panel(
        Axis(low, last, tuple((k + 0.5, f"{k:,}") for k in range(low, last, 2)), t("position")),
        Axis(-0.05, 2.05),
        shapes,
        width=700,
        height=104,
    )
    rows = {name: attention_rows(name, first, base, np.array(moved)) for name in SHOWN}
    change = {name: float(np.abs(each - each[0]).max()) for name, each in rows.items()}
    top = 1.15 * max(float(each.max()) for each in rows.values())
    at = np.arange(count)
    panels = []
    for name, each in rows.items():
        still = change[name] <= STILL
        colour = GREY if name == "nope" else BLUE if still else RED
        steps = np.repeat(np.arange(count + 1), 2)[1:-1].astype(float)
        panels.append(
            Panel(
                Axis(-0.05, count + 0.05),
                Axis(0.0, top, ((0.0, "0"),)),
                [
                    boxes(at + 0.1, at + 0.9, 0.0, Track((shift,), each), colour),
                    path(steps, np.repeat(each[0], 2), "ink", 2),
                ],
                t(f"encoding.{name}"),
                width=140,
                height=120,
            )
        )
    relative = [name for name in SHOWN if change[name] <= STILL and name != "nope"]
    listed = {"relative": t("comma").join(t(f"encoding.{name}") for name in relative)}
    weights = np.abs(rows["sinusoidal"] - rows["sinusoidal"][0]).max(axis=1)
    finding = sentence(
        lambda **slots: t("moving_finding", **listed, **slots),
        k=Texts((shift,), shift.texts),
        weight=Texts((shift,), tuple(f"{value:.2g}" for value in weights.tolist())),
    )
    return Film(
        "moving",
        Scene((line, *panels), (shift,), finding),
        lambda: (
            {"moved_by": np.repeat(moved, count), "token": list(first) * len(moved)}
            | {name: each.ravel() for name, each in rows.items()}
        ),
        f"""
        import numpy as np
        from rope_core.theory.encodings import logits, weights, words
        from rope_core.theory.softmax import softmax
        x, head = words({first!r}, {WIDTH}), weights({WIDTH}, {base!r})
        for name in {SHOWN}:
            print(name, softmax(logits(name, x, np.arange({count}) + 5, head)[-1]))
        """,
    )
