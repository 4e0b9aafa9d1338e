"""A place to draw the score of two words while their sentence moves, where positions are added to the words."""

from __future__ import annotations

import numpy as np

from rope_core.theory.encodings.compare import encoding_logits, random_encoding_weights, token_vectors
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings.scores import WIDTH
from ui.figures.predicted import sketch_film
from ui.film import marks
from ui.film.colours import BLUE, PURPLE
from ui.film.scene import Axis, Panel
from ui.text.words import PageTexts

REACH = 48
EACH = 6
KEY = 1
"""The word whose score with the last one is drawn; the first is 0."""


@cached_figure
def added_score_sketch(tokens: tuple[str, ...], base: float, t: PageTexts) -> Film:
    """Return a place to draw the last word's score with word ``KEY`` while the sentence moves, and the true curve.

    The true curve is that of sinusoidal positions added to the words; RoPE is shown beside it then.
    """
    x, head, stand = token_vectors(tokens, WIDTH), random_encoding_weights(WIDTH, base), np.arange(len(tokens))
    moved = np.arange(REACH + 1)
    sinusoidal, rope = (
        np.array([encoding_logits(name, x, stand + shift, head)[-1, KEY] for shift in moved.tolist()])
        for name in ("sinusoidal", "rope")
    )
    both = np.concatenate([sinusoidal, rope])
    room = 0.25 * float(np.ptp(both))
    low, high = float(both.min()) - room, float(both.max()) + room
    columns = moved[::EACH]
    across = Axis(0.0, float(REACH), tuple((float(k), str(k)) for k in columns[::2].tolist()), t("added_moved"))
    drawn = [
        marks.dot([0.0], [sinusoidal[0]], PURPLE, 7),
        marks.after_reveal(marks.line(moved, rope, BLUE, 4)),
        marks.after_reveal(
            marks.text(float(REACH), float(rope[-1]), t("encoding.rope"), BLUE, anchor="end", bold=True, dy=-8)
        ),
        marks.after_reveal(
            marks.text(
                float(REACH),
                float(sinusoidal[-1]),
                t("encoding.sinusoidal"),
                PURPLE,
                anchor="end",
                bold=True,
                dy=-8 if sinusoidal[-1] > rope[-1] else 20,
            )
        ),
    ]
    panel = Panel(across, Axis(low, high, ((0.0, "0"),) if low < 0 < high else (), t("added_axis")), drawn, height=180)
    return sketch_film(
        "added",
        panel,
        (moved, sinusoidal),
        {str(k): float(k) for k in columns.tolist()},
        t,
        lambda: {"moved_by": moved, "sinusoidal": sinusoidal, "rope": rope},
        f"""
        import numpy as np
        from rope_core.theory.encodings.compare import encoding_logits, random_encoding_weights, token_vectors
        x, head = token_vectors({tokens!r}, {WIDTH}), random_encoding_weights({WIDTH}, {base!r})
        for name in ("sinusoidal", "rope"):
            print(name, [encoding_logits(name, x, np.arange({len(tokens)}) + k, head)[-1, {KEY}] for k in (0, 6, 12)])
        """,
    )
