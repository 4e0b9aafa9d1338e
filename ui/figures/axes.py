"""A patch under the hand: where in an image a query scores high, for four ways to place two axes on the pairs."""

from __future__ import annotations

import math

import numpy as np

from rope_core.rope import Array
from rope_core.theory.axes import (
    axial_frequencies,
    axial_frequencies_turned_by,
    golden_gate_frequencies,
    mean_cosine_map,
    mrope_frequencies,
)
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import DIVERGING_SCALE, GREEN, RED
from ui.film.scene import Axis, NumberTrack, Panel, Scene, TextTrack, field_control, sentence_parts
from ui.text.words import PageTexts

# Patches along an edge; pairs of a head of 64; slowest and fastest frequency, rad per patch, as with base 100.
GRID, PAIRS, LOW, HIGH = 14, 32, 0.01, 1.0
LAST = GRID - 1
MIXED_ANGLE = math.radians(30.0)
SECTIONS, QWEN_BASE = (24, 20, 20), 5e6
# The patch that is looked at: (row, column).
KEY = (3, 10)
FULL = 127


def axial_frequencies_by_name() -> dict[str, Array]:
    """Return frequencies (pairs, 2) as (y, x) by name; M-RoPE within one frame, where time does not move."""
    return {
        "axial": axial_frequencies(PAIRS, LOW, HIGH),
        "mixed": axial_frequencies_turned_by(PAIRS, LOW, HIGH, MIXED_ANGLE),
        "golden": golden_gate_frequencies(PAIRS, LOW, HIGH),
        "qwen": mrope_frequencies(SECTIONS, QWEN_BASE, interleaved=True)[:, 1:],
    }


def least_score_along_direction(frequencies: Array, angle: float) -> float:
    """Return the least score from 6 to 13 patches away in a direction, ``angle`` rad from a row."""
    steps = np.linspace(6.0, GRID - 1.0, 200)[:, None] * [math.sin(angle), math.cos(angle)]
    return float(mean_cosine_map(frequencies, steps).min())


@cached_figure
def axial_score_map_film(t: PageTexts) -> Film:
    """Return the score maps of the dragged patch, side by side, and what the marked patch scores in each."""
    column, row = (field_control(t, name, range(GRID)) for name in ("patch_x", "patch_y"))
    places = np.stack(np.meshgrid(np.arange(GRID), np.arange(GRID), indexing="ij"), axis=-1)
    offsets = places[None, None] - places[:, :, None, None]
    scores = {name: mean_cosine_map(frequencies, offsets) for name, frequencies in axial_frequencies_by_name().items()}
    x, y = column.numbers(np.arange(GRID)[:, None] + 0.5), row.numbers(np.arange(GRID)[:, None] + 0.5)
    at_key = {
        name: TextTrack((row, column), tuple(f"{value:.2f}" for value in score[:, :, KEY[0], KEY[1]].ravel().tolist()))
        for name, score in scores.items()
    }
    edge = Axis(0.0, GRID, (), "")
    panels = []
    for place, (name, score) in enumerate(scores.items()):
        cells = NumberTrack((row, column), np.rint(score * FULL).astype(np.int8))
        grips = [
            marks.drag_handle(column, x, 0.0, RED, t("grab_column"), radius_px=10),
            marks.drag_handle(row, 0.0, y, RED, t("grab_row"), radius_px=10),
        ]
        up = Axis(GRID, 0.0, (), "")
        drawn = [
            marks.heatmap(cells, DIVERGING_SCALE, (0.0, GRID), (0.0, GRID)),
            marks.line(column.numbers(np.arange(GRID)[:, None].repeat(2, 1) + 0.5), [0.0, GRID], RED, 1, "2 4"),
            marks.line([0.0, GRID], row.numbers(np.arange(GRID)[:, None].repeat(2, 1) + 0.5), RED, 1, "2 4"),
            marks.circle(KEY[1] + 0.5, KEY[0] + 0.5, 0.5, GREEN, 3),
            marks.text(
                KEY[1] + 0.5, KEY[0] + 0.5, at_key[name], "ink", bold=True, font_size=15, anchor="middle", dy=-16
            ),
            *(grips if place == 0 else []),
        ]
        panels.append(Panel(edge, up, drawn, t(f"way.{name}"), min_width=190, height=200, equal_aspect=True))
    slots = {
        f"row_{name}": f"{least_score_along_direction(score, 0.0):.2f}"
        for name, score in axial_frequencies_by_name().items()
    }
    slots |= {
        f"slant_{name}": f"{least_score_along_direction(score, math.pi / 4):.2f}"
        for name, score in axial_frequencies_by_name().items()
    }
    return Film(
        "maps",
        Scene(
            panels,
            (column, row),
            sentence_parts(
                lambda **more: t("maps_finding", last=LAST, **slots, **more), **{name: at_key[name] for name in scores}
            ),
        ),
        lambda: {
            "query_row": places[..., 0].ravel(),
            "query_column": places[..., 1].ravel(),
            **{name: score[:, :, KEY[0], KEY[1]].ravel() for name, score in scores.items()},
        },
        f"""
        import numpy as np
        from rope_core.theory.axes import axial_frequencies, golden_gate_frequencies, mean_cosine_map
        from rope_core.theory.axes import mrope_frequencies, axial_frequencies_turned_by
        offset = np.array({KEY}) - np.array([patch_y, patch_x])
        steps = np.linspace(6.0, {LAST}, 200)[:, None]
        for found in (
            axial_frequencies({PAIRS}, {LOW}, {HIGH}),
            axial_frequencies_turned_by({PAIRS}, {LOW}, {HIGH}, {MIXED_ANGLE!r}),
            golden_gate_frequencies({PAIRS}, {LOW}, {HIGH}),
            mrope_frequencies({SECTIONS}, {QWEN_BASE}, interleaved=True)[:, 1:],
        ):
            least = [mean_cosine_map(found, steps * way).min() for way in ([0.0, 1.0], [0.5**0.5, 0.5**0.5])]
            print(mean_cosine_map(found, offset), "least from 6 to", {LAST}, "away", least)
        """,
    )
