"""What breaks when positions or pairs are changed under the model: each head's attention, and the byte to come next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rope_core.lab import inside
from rope_core.lab.inside import Positions
from ui.figures.colours import AMOUNT, GREY, ORANGE
from ui.figures.drawing import Film
from ui.figures.inside.reading import shown
from ui.film.scene import Axis, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import boxes, image, label
from ui.text.words import Words

NEXT = 6
FULL = 127


def breaking(name: str, text: bytes, positions: Positions, kind: str, t: Words) -> Film:
    """Return how far each head leaves what it does as trained, and the next byte, over pairs that do not turn."""
    shape = inside.load(name).shape
    count = control(t, "still", range(shape.rope.pairs + 1), seconds=8.0)
    before = inside.reading(name, text, Positions())
    settings = [replace(positions, still=inside.stilled(kind, int(stop), shape.rope.pairs)) for stop in count.stops]
    after = [inside.reading(name, text, each) for each in settings]
    moved = np.stack([inside.moved(before, each) for each in after])
    chances = np.stack([each.following() for each in after])
    trained = before.following()
    likely = inside.likeliest([trained, *chances], NEXT)
    layers, heads = moved.shape[1:]
    worst = [np.unravel_index(each.argmax(), each.shape) for each in moved]
    grid = Panel(
        Axis(0.0, heads, tuple((head + 0.5, str(head + 1)) for head in range(heads)), t("head_axis")),
        Axis(0.0, layers, tuple((layers - layer - 0.5, str(layer + 1)) for layer in range(layers)), t("layer_axis")),
        [
            image(
                Track((count,), np.rint((2 * moved - 1) * FULL).astype(np.int8)), AMOUNT, (0.0, heads), (layers, 0.0)
            ),
            *(
                label(
                    head + 0.5,
                    layers - layer - 0.5,
                    Texts((count,), tuple(f"{100 * share:.0f}" for share in moved[:, layer, head])),
                    size=16,
                    bold=True,
                    anchor="middle",
                )
                for layer in range(layers)
                for head in range(heads)
            ),
        ],
        t("grid_title"),
        width=330,
        height=240,
    )
    rows = np.arange(NEXT)
    bars = Panel(
        Axis(-0.6, NEXT - 0.4, tuple((float(at), shown(byte)) for at, byte in enumerate(likely)), t("next_axis")),
        Axis(0.0, 1.0, ((0.0, "0"), (0.5, "50 %"), (1.0, "100 %")), t("chance_axis")),
        [
            boxes(rows - 0.4, rows, 0.0, trained[likely], GREY),
            boxes(rows, rows + 0.4, 0.0, Track((count,), chances[:, likely]), ORANGE),
            label(NEXT - 0.5, 0.97, t("as_trained"), GREY, anchor="end", bold=True, size=15),
            label(NEXT - 0.5, 0.97, t("as_set"), ORANGE, anchor="end", bold=True, size=15, dy=20),
        ],
        t("next_title"),
        width=330,
        height=240,
    )
    best = likely[int(np.argmax(trained[likely]))]
    finding = sentence(
        lambda **slots: t(f"breaking_finding.{kind}", byte=shown(best), before=_percent(trained[best]), **slots),
        count=Texts((count,), count.texts),
        layer=Texts((count,), tuple(str(int(at[0]) + 1) for at in worst)),
        head=Texts((count,), tuple(str(int(at[1]) + 1) for at in worst)),
        share=Texts((count,), tuple(_percent(each.max()) for each in moved)),
        after=Texts((count,), tuple(_percent(each[best]) for each in chances)),
    )
    places = np.indices(moved.shape).reshape(3, -1)
    return Film(
        "breaking",
        Scene((grid, bars), (count,), finding),
        lambda: dict(zip(("still", "layer", "head"), places, strict=True)) | {"moved": moved.ravel()},
        f"""
        from rope_core.lab import inside
        before = inside.reading({name!r}, {text!r}, inside.Positions())
        after = inside.reading({name!r}, {text!r}, inside.{settings[-1]!r})
        print(inside.moved(before, after), after.following().argmax())
        """,
    )


def _percent(share: float) -> str:
    """Return a share as a percentage that never rounds up to all or down to none.

    >>> _percent(0.0), _percent(0.0004), _percent(0.34), _percent(0.9996)
    ('0', '<0.1', '34', '>99.9')
    """
    if 0 < share < 0.001:
        return "<0.1"
    if 0.999 < share < 1:
        return ">99.9"
    return f"{100 * share:.0f}" if 0.1 <= share <= 0.9 or share in (0, 1) else f"{100 * share:.1f}"
