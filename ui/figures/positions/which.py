"""Which position a word has, under the hand: fillers, two texts in one row, and a cache that drops words."""

from __future__ import annotations

import rope_core as rc
from rope_core.theory.position_demo import WAYS, cached_key_distances_by_mode, stored_and_new_positions
from ui.figures.drawing import Film, cached_figure
from ui.figures.home import single_drawn_pair
from ui.figures.positions import fillers, moved_keys, packing
from ui.film.scene import field_control, scene_in_beats
from ui.text.words import PageTexts


@cached_figure
def padding_and_packing_film(rope: rc.Rope, t: PageTexts) -> Film:
    """Return the three beats: fillers, a boundary between texts, and words that a cache drops."""
    padding = field_control(t, "fillers", range(fillers.MOST + 1), play_seconds=4.0)
    cut = field_control(t, "cut", packing.CUTS, play_seconds=4.0)
    dropped = field_control(t, "dropped", range(moved_keys.MOST + 1), play_seconds=4.0)
    scene = scene_in_beats(
        t,
        "which",
        (padding, fillers.filler_position_panels(rope, padding, t), fillers.filler_distance_finding(padding, t)),
        (cut, packing.packed_text_panels(rope, cut, t), packing.packed_text_attention_finding(rope, cut, t)),
        (
            dropped,
            moved_keys.dropped_word_panels(rope, dropped, t),
            moved_keys.dropped_word_distance_finding(rope, dropped, t),
        ),
    )
    return Film(
        "which",
        scene,
        lambda: (
            {f"stored, {k} fillers": stored_and_new_positions(fillers.STORED, k)[0] for k in range(fillers.MOST + 1)}
            | {
                f"other text, first of {k}": packing.packed_text_attention(rope, [k])[1][0, :k].sum()
                for k in packing.CUTS
            }
            | {
                f"{way}, dropped {k}": cached_key_distances_by_mode(moved_keys.CACHED, k)[way]
                for way in WAYS
                for k in range(moved_keys.MOST + 1)
            }
        ),
        f"""
        import rope_core as rc
        import numpy as np
        from rope_core.theory.position_demo import attention_by_distance, cached_key_distances_by_mode
        from rope_core.theory.position_demo import last_token_distances, stored_and_new_positions
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for k in range({fillers.MOST + 1}):
            stored, new = stored_and_new_positions({fillers.STORED}, k)
            print(stored, new, np.degrees((new - stored[{fillers.CAT}]) * rope.theta[{single_drawn_pair(rope)}]))
        for cut in {list(packing.CUTS)}:
            print(cut, attention_by_distance(rope, last_token_distances((cut, {packing.PACKED} - cut))[1])[:cut].sum())
        for dropped in range({moved_keys.MOST + 1}):
            print(cached_key_distances_by_mode({moved_keys.CACHED}, dropped))
        """,
    )
