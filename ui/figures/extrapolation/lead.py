"""The film that leads the page: three ways past the trained length, and when forgetting costs something."""

from __future__ import annotations

from collections.abc import Mapping

import rope_core as rc
from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.extrapolation import copied
from ui.figures.extrapolation import past as three
from ui.film.scene import field_control, scene_in_beats
from ui.text.words import PageTexts

LENGTH = 2048
"""Bytes of the text, for which every scheme is set."""


@cached_figure
def perplexity_film(
    curves: Mapping[str, tuple[Array, Array]],
    rope: rc.Rope,
    at: tuple[int, ...],
    copies: Mapping[str, tuple[Array, Array]],
    t: PageTexts,
) -> Film:
    """Return three ways past the trained length, then a passage that occurs twice.

    Args:
        curves: position and the logarithm of perplexity, to base 10, by line.
        rope: of the model, whose trained length counts bytes.
        at: bytes to drag to.
        copies: distance and perplexity of the second copy, by `copied.LINES`.
        t: the page's words.
    """
    byte = field_control(t, "byte", at)
    distances = next(iter(copies.values()))[0].astype(int).tolist()
    back = field_control(t, "back", distances)
    past = three.PastWindowReading(rope, LENGTH, at, curves)
    scene = scene_in_beats(
        t,
        "hesitates",
        (byte, three.past_training_panels(past, byte, t), three.angle_and_perplexity_finding(past, byte, t)),
        (
            back,
            copied.copy_perplexity_panels(copies, rope.train_len, back, t),
            copied.copy_perplexity_finding(copies, rope.train_len, back, t),
        ),
    )
    return Film(
        "hesitates",
        scene,
        lambda: (
            {"byte": at, **{line: 10 ** past.log10_perplexities(line) for line in three.WAYS}}
            | {f"{line}_rad": past.angles_to_first_in_view(line) for line in three.WAYS}
            | {"window_start": past.first_bytes_in_view(three.WINDOW), "bytes_back": distances}
            | {f"copy_{name}": perplexity for name, (_, perplexity) in copies.items()}
        ),
        """
        from rope_core.lab import records, view
        for name in ("recall", "recall-window"):
            for cell in view.copy_cells(records.shipped_record(name).results):
                print(cell.weights, cell.line, cell.curve.position, cell.curve.value)
        """
        + past.angle_recipe(),
    )
