"""The score of every query place with every key place: one along each diagonal with RoPE, not with an added vector."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rope_core.rope import Array
from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights
from ui.film import marks
from ui.film.colours import DISTANCE_COLOUR, DIVERGING_SCALE, GREY, MUTED_COLOUR
from ui.film.composite_marks import drag_hint
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextTrack, sentence_parts
from ui.text.words import PageTexts

PLACES, WIDTH = 40, 128
"""Places of one repeated word, and the width of the drawn head."""
KINDS = ("rope", "sinusoidal")
MOST_APART = PLACES - 1
HALF = 0.75
"""Half the width of a marked diagonal, in places."""


def scores_by_encoding(base: float) -> dict[str, Array]:
    """Return the scores of all query places (rows) with all key places, float64 (40, 40), by kind."""
    head = random_encoding_weights(WIDTH, base)
    return {kind: position_only_logits(kind, np.arange(PLACES), head) for kind in KINDS}


def _written(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _ends(scores: Array) -> Array:
    """Return the least and the greatest score at each distance, the query at or after the key, float64 (40, 2)."""
    diagonals = [np.diagonal(scores, -d) for d in range(PLACES)]
    return np.array([[each.min(), each.max()] for each in diagonals])


def _range(apart: Control, ends: Array) -> dict[str, TextTrack]:
    return {name: apart.texts(_written(ends[int(d), k]) for d in apart.stops) for k, name in enumerate(("low", "high"))}


def score_by_distance_finding(scores: dict[str, Array], apart: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return the score at a distance with RoPE, and the scores with an added vector."""
    rope, added = (_ends(scores[kind]) for kind in KINDS)
    slots = _range(apart, added) | {"score": _range(apart, rope)["low"]}
    return sentence_parts(partial(t, "places_finding"), d=apart.stop_text, **slots)


def score_map_panels(scores: dict[str, Array], apart: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return both maps, each with its scores by distance beside it."""
    limit = max(float(np.abs(each).max()) for each in scores.values())
    return tuple(
        panel
        for kind in KINDS
        for panel in (_map(kind, scores[kind], limit, apart, t), _by_distance(kind, scores[kind], limit, apart, t))
    )


def _diagonal(apart: Control) -> Mark:
    """Return the outline of all places so far apart."""
    d = np.array(apart.stops)[:, None]
    last = PLACES - 1
    x = np.concatenate([0 * d - HALF, 0 * d + HALF, last - d + HALF, last - d - HALF, 0 * d - HALF], axis=1)
    y = -np.concatenate([d + HALF, d - HALF, 0 * d + last - HALF, 0 * d + last + HALF, d + HALF], axis=1)
    x, y = np.where(np.arange(5) == 0, x, x), y
    return marks.line(apart.numbers(x), apart.numbers(y), DISTANCE_COLOUR, 3)


def _map(kind: str, scores: Array, limit: float, apart: Control, t: PageTexts) -> Panel:
    cells = np.rint(127 * scores / limit).astype(np.int8)
    middle = apart.numbers((PLACES - 1 - np.array(apart.stops))[:, None] / 2)
    down = apart.numbers(-(PLACES - 1 + np.array(apart.stops))[:, None] / 2)
    ticks = (0, 10, 20, 30, PLACES - 1)
    hint = apart.numbers_where(np.array(apart.stops) <= 8, 1.0)
    ground = [hint + by for by in (-0.5, 30.0)]
    dragged = [
        marks.rect(ground[0], ground[1], -37.5, -32.0, "paper", opacity=0.85, corner_px=4),
        drag_hint(hint, -35.8, t("drag_diagonal")),
    ]
    return Panel(
        Axis(-0.5, PLACES - 0.5, tuple((float(k), str(k)) for k in ticks), t("key_place"), grid=False),
        Axis(0.5 - PLACES, 0.5, tuple((-float(k), str(k)) for k in ticks), t("query_place"), grid=False),
        [
            marks.heatmap(cells, DIVERGING_SCALE, (-0.5, PLACES - 0.5), (0.5, 0.5 - PLACES)),
            *(marks.in_wide_panel(230, *dragged) if kind == KINDS[0] else ()),
            marks.drag_handle(
                apart, middle, down, DISTANCE_COLOUR, t("grab_diagonal"), [_diagonal(apart)], radius_px=0
            ),
        ],
        t(f"map_{kind}"),
        min_width=180,
        width_share=1.2,
        height=225,
        equal_aspect=True,
        paragraphs=(Paragraph(t(f"map_{kind}_colour"), MUTED_COLOUR, 15),),
    )


def _by_distance(kind: str, scores: Array, limit: float, apart: Control, t: PageTexts) -> Panel:
    """Return the scores over the distance: a line where the distance decides, else their range at each."""
    ends, at = _ends(scores), np.arange(PLACES)
    here = [apart.numbers(ends[np.array(apart.stops).astype(int)][:, k : k + 1]) for k in (0, 1)]
    x = apart.stop_number
    wide: dict[str, Any] = {"opacity": 0.7}
    if kind == KINDS[0]:
        drawn = [marks.line(at, ends[:, 0], "ink", 2.5), marks.dot(x, here[0], DISTANCE_COLOUR, 7)]
    else:
        left, right = (x + by for by in (-0.6, 0.6))
        drawn = [
            marks.rect(at - 0.3, at + 0.3, ends[:, 0], ends[:, 1], GREY, **wide),
            marks.rect(left, right, here[0], here[1], DISTANCE_COLOUR),
        ]
    slots = _range(apart, ends)
    words = {"d": apart.stop_text}
    top = float(np.floor(limit))
    across = Axis(
        -0.8, PLACES - 0.2, tuple((float(k), str(k)) for k in (0, 20, PLACES - 1)), t("apart_axis"), grid=False
    )
    up = Axis(-limit, limit, tuple((v, f"{v:g}".replace("-", "−")) for v in (-top, 0.0, top)), t("score_axis"))
    paragraphs = (
        Paragraph(sentence_parts(partial(t, f"verdict_{kind}"), **slots), DISTANCE_COLOUR, 19, bold=True),
        Paragraph(sentence_parts(partial(t, f"verdict_{kind}_why"), **words), font_size=15),
        Paragraph(t(f"verdict_{kind}_note", places=PLACES, pairs=WIDTH // 2), MUTED_COLOUR, 15),
    )
    return Panel(across, up, drawn, min_width=130, width_share=0.75, height=120, paragraphs=paragraphs)
