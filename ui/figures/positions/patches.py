"""An image among words, a patch of it under the hand: three numbers instead of one, and the pairs that each turns."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.theory.encodings.rotary import AXES, mrope_axes
from rope_core.theory.packing import PositionIds
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import GREY, PURPLE, SKY, YELLOW
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, Scene, TextOrTrack, sentence_parts
from ui.text.words import PageTexts

HIGH, WIDE, BEFORE, BEHIND = 3, 6, 2, 2
"""Patches in a column and in a row of the image, words before it and words after it."""
SECTIONS = (16, 24, 24)
"""Pairs that follow time, height and width in Qwen2-VL."""
CONFIG: dict[str, Any] = {"model_type": "qwen2_vl", "vision_config": {"spatial_merge_size": 1}}
GRID = [[1, HIGH, WIDE]]
LAST, AFTER = HIGH * WIDE - 1, BEFORE + HIGH * WIDE
"""The last patch, as the hand goes over them, and the first word after the image, counted token by token."""
AXIS_COLOURS = (PURPLE, SKY, YELLOW)
LEFT, GAP, TILE = BEFORE + 0.5, 0.3, 0.04
"""Where the image begins, and what is left free beside it and beside each tile, in tiles."""


def token_types() -> list[int]:
    """Return what each token is: 0 a word, 1 a patch."""
    return [0] * BEFORE + [1] * (HIGH * WIDE) + [0] * BEHIND


def token_position_ids() -> PositionIds:
    """Return time, height and width of each token, (3, tokens)."""
    return rc.multimodal_positions(CONFIG, token_types(), image_grid_thw=GRID)


def patch_drag_order() -> list[tuple[int, int]]:
    """Return the patches, (row, column), as the hand goes over them: each is beside the last.

    >>> patch_drag_order()[5:8]
    [(0, 5), (1, 5), (1, 4)]
    """
    return [(row, column if row % 2 == 0 else WIDE - 1 - column) for row in range(HIGH) for column in range(WIDE)]


def patch_token_indices() -> list[int]:
    """Return each patch's token, as the hand goes over them."""
    return [BEFORE + row * WIDE + column for row, column in patch_drag_order()]


def _panels(patch: Control, t: PageTexts) -> list[Panel]:
    """Return an image between words, and the pairs that follow each of a patch's three numbers."""
    ids, where = token_position_ids(), np.array(patch_drag_order(), dtype=float)
    corner = ids[:, BEFORE]
    words = t("words_image").split()
    right = LEFT + WIDE + GAP
    shapes: list[Mark] = []
    for k, word in enumerate(words):
        token = k if k < BEFORE else k + HIGH * WIDE
        x = float(k if k < BEFORE else right + k - BEFORE)
        shapes.append(marks.rect(x + TILE, x + 1 - TILE, 1.1, 1.9, GREY, opacity=0.25))
        shapes.append(marks.text(x + 0.5, 1.5, word, font_size=14, bold=True, dy=5))
        shapes.append(marks.text(x + 0.5, 0.85, _triple(ids[:, token].tolist()), font_size=13, dy=5))
    left, low = LEFT + where[:, 1], HIGH - 1 - where[:, 0]
    shapes.append(marks.rect(left + TILE, left + 1 - TILE, low + TILE, low + 1 - TILE, GREY, opacity=0.25))
    shapes.append(marks.text(LEFT + WIDE / 2, 0.0, t("one_image", count=HIGH * WIDE), font_size=13, dy=14))
    shapes += [
        *(
            marks.text(LEFT, HIGH - 0.5 - k, str(corner[1] + k), SKY, anchor="end", bold=True, dx=-4, dy=5)
            for k in range(HIGH)
        ),
        *(marks.text(LEFT + k + 0.5, float(HIGH), str(corner[2] + k), YELLOW, bold=True, dy=-5) for k in range(WIDE)),
    ]
    across, down = LEFT + where[:, [1]], HIGH - 1 - where[:, [0]]

    def at(edge: Any, side: float) -> NumberTrack:
        return patch.numbers(edge + side)

    given = patch.texts(map(_triple, ids[:, patch_token_indices()].T.tolist()))
    tile = [
        marks.rect(at(across, TILE), at(across, 1 - TILE), at(down, TILE), at(down, 1 - TILE), "ink"),
        marks.text(at(across, 0.5), at(down, 0.5), given, "paper", font_size=15, bold=True, dy=5, halo=False),
    ]
    shapes.append(marks.drag_handle(patch, at(across, 0.5), at(down, 0.5), "ink", t("grab_patch"), tile, radius_px=0))
    picture = Panel(Axis(-0.1, right + BEHIND + 0.1), Axis(-0.4, HIGH + 0.5), shapes, min_width=1000, height=180)
    return [picture, _pairs(patch, ids, t)]


def _triple(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))


def _pairs(patch: Control, ids: PositionIds, t: PageTexts) -> Panel:
    """Return all pairs, coloured by the number that turns them, with that number of the patch."""
    axes, shapes = mrope_axes(SECTIONS), []
    for k, (name, colour) in enumerate(zip(AXES, AXIS_COLOURS, strict=True)):
        own = np.flatnonzero(axes == k)
        number = patch.texts(map(str, ids[k, patch_token_indices()].tolist()))
        shapes.append(marks.rect(own + 0.1, own + 0.9, 0.0, 1.0, colour))
        look: dict[str, Any] = {"anchor": "start", "bold": True}
        shapes.append(marks.text(float(own[0]), 1.0, [t(f"axis_name.{name}"), " ", number], colour, dy=-7, **look))
        shapes.append(marks.text(float(own[0]), 0.0, t("pairs", count=own.size), colour, dy=17, **look))
    x = Axis(-0.3, len(axes) + 0.3)
    return Panel(x, Axis(-1.0, 2.0), shapes, t("turned_by"), min_width=1000, height=75)


def patch_position_finding(patch: Control, t: PageTexts) -> TextOrTrack:
    """Return a patch's three numbers, and the next word's."""
    ids = token_position_ids()
    return sentence_parts(
        lambda **given: t("patch_finding", after=int(ids[0, AFTER]), plain=AFTER, **given),
        where=patch.stop_text,
        **{f"n{k}": patch.texts(map(str, row.tolist())) for k, row in enumerate(ids[:, patch_token_indices()])},
    )


@cached_figure
def image_text_film(t: PageTexts) -> Film:
    """Return an image among words whose patches have three positions each."""
    # Rows and columns have the numbers that are written beside them: their positions.
    ids = token_position_ids()
    _, *at = ids[:, patch_token_indices()].tolist()
    places = tuple(t("patch_at", row=row, column=column) for row, column in zip(*at, strict=True))
    patch = Control("patch", t("field.patch"), tuple(map(float, range(len(places)))), places, play_seconds=6.0)
    return Film(
        "image",
        Scene(_panels(patch, t), (patch,), patch_position_finding(patch, t)),
        lambda: (
            {axis: ids[k] for k, axis in enumerate(("time", "height", "width"))}
            | {"axis of each pair": mrope_axes(SECTIONS)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.encodings.rotary import mrope_axes
        print(rc.multimodal_positions({CONFIG}, {token_types()}, image_grid_thw={GRID}))
        print("one by one", len({token_types()}) - 2)
        print(mrope_axes({SECTIONS}))
        """,
    )
