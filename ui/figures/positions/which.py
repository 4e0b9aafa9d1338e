"""Which position a token has, under the hand: fillers, two texts in one row, a cache that drops words, an image."""

from __future__ import annotations

import rope_core as rc
from rope_core.theory.encodings.rotary import mrope_axes
from rope_core.theory.position_demo import WAYS, cached_reads, padded_positions
from ui.figures.drawing import Film, cached_figure
from ui.figures.home import single
from ui.figures.positions import fillers, patches, rows
from ui.film.scene import Control, Scene, beats_from_labels, field_control
from ui.text.words import Words


@cached_figure
def which(rope: rc.Rope, t: Words) -> Film:
    """Return the four beats: fillers, a boundary between texts, a cache's left edge, and a patch of an image."""
    padding = field_control(t, "fillers", range(fillers.MOST + 1), play_seconds=4.0, last_beat=1)
    cut = field_control(t, "cut", range(1, rows.LATEST + 1), play_seconds=4.0, first_beat=2, last_beat=2)
    dropped = field_control(t, "dropped", range(rows.MOST + 1), play_seconds=4.0, first_beat=3, last_beat=3)
    # Rows and columns have the numbers that are written beside them: their positions.
    _, *at = patches.positions()[:, patches.tokens()].tolist()
    places = tuple(t("patch_at", row=row, column=column) for row, column in zip(*at, strict=True))
    patch = Control(
        "patch", t("field.patch"), tuple(map(float, range(len(places)))), places, play_seconds=6.0, first_beat=4
    )
    panels = [
        *fillers.panels(rope, padding, t),
        rows.packing(rope, cut, t),
        rows.cache(rope, dropped, t),
        *patches.image(patch, t),
    ]
    findings = [
        fillers.finding(padding, t),
        rows.packing_finding(rope, cut, t),
        rows.cache_finding(rope, dropped, t),
        patches.finding(patch, t),
    ]
    scene = Scene(
        panels,
        (padding, cut, dropped, patch),
        findings[-1],
        beats=beats_from_labels(t, "which", *findings, hint_controls=("fillers", "cut", "dropped", "patch")),
    )
    ids = patches.positions()
    return Film(
        "which",
        scene,
        lambda: (
            {f"stored, {k} fillers": padded_positions(fillers.STORED, k)[0] for k in range(fillers.MOST + 1)}
            | {f"{way}, dropped {k}": cached_reads(rows.CACHED, k)[way] for way in WAYS for k in range(rows.MOST + 1)}
            | {axis: ids[k] for k, axis in enumerate(("time", "height", "width"))}
            | {"axis of each pair": mrope_axes(patches.SECTIONS)}
        ),
        f"""
        import rope_core as rc
        import numpy as np
        from rope_core.theory.position_demo import cached_reads, last_reads, padded_positions, shares
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for k in range({fillers.MOST + 1}):
            stored, new = padded_positions({fillers.STORED}, k)
            print(stored, new, np.degrees((new - stored[{fillers.CAT}]) * rope.theta[{single(rope)}]))
        for reads in (*last_reads((4, {rows.PACKED - 4})), *cached_reads({rows.CACHED}, 3).values()):
            print(reads, shares(rope, reads))
        print(rc.multimodal_positions({patches.CONFIG}, {patches.types()}, image_grid_thw={patches.GRID}))
        """,
    )
