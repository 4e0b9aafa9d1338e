"""The block page's first figure: a word's query, key and value, the cache of keys, and the sum of values."""

from __future__ import annotations

import rope_core as rc
from ui.figures.block import key_cache, value_sum, vectors
from ui.figures.drawing import Film, cached_figure
from ui.figures.home import single_drawn_pair
from ui.film.scene import field_control, scene_in_beats
from ui.text.words import PageTexts


@cached_figure
def word_vectors_film(rope: rc.Rope, t: PageTexts) -> Film:
    """Return a word's three vectors, then stored keys and a later query, then the output with words in front."""
    token = field_control(t, "token", range(vectors.FIRST, vectors.LAST + 1), play_seconds=6.0)
    later = field_control(t, "later", range(1, key_cache.LATER + 1), play_seconds=8.0)
    moved = field_control(t, "moved", range(value_sum.FRONT + 1), play_seconds=6.0)
    positions = [vectors.CAT, *map(int, token.stops)]
    theta, pair = float(rope.theta[single_drawn_pair(rope)]), single_drawn_pair(rope)
    scene = scene_in_beats(
        t,
        "word_vectors",
        (token, vectors.query_key_value_panels(rope, token, t), vectors.rotation_angles_finding(rope, token, t)),
        (later, key_cache.key_cache_panels(rope, later, t), key_cache.stored_key_finding(rope, later, t)),
        (moved, value_sum.rotated_value_sum_panels(rope, moved, t), value_sum.value_sum_finding(rope, moved, t)),
        control_values=({}, {"later": key_cache.FIRST_LATER}, {"moved": value_sum.FIRST_FRONT}),
    )
    return Film(
        "word_vectors",
        scene,
        lambda: {"position": positions, "angle_rad": [position * theta for position in positions]},
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory.block.demo import attention_output_partial_sums
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for position in {positions}:
            print(position, np.degrees(position * rope.theta[{pair}]))
        words = later + {key_cache.MAT - vectors.CAT}
        print(words, np.degrees(words * rope.theta[{pair}]) % 360)
        for start in range({value_sum.FRONT + 1}):
            for rotate_v in (False, True):
                turning = (rope.theta[{pair}], start, rotate_v)
                print(attention_output_partial_sums({value_sum.TOKENS}, rope.base, *turning)[-1])
        """,
    )
