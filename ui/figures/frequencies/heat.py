"""The film that leads the page: all pairs by position, what a larger base does to them, and which base fits."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.frequencies import bases as larger
from ui.figures.frequencies import stripes
from ui.film.scene import field_control, scene_in_beats
from ui.text.words import PageTexts

ROWS = 32


def pair_stops(dim: int, pair: int) -> tuple[int, ...]:
    """Return the pairs to drag to, at most ``ROWS`` spread evenly, the last and a given one.

    >>> pair_stops(12, 3), pair_stops(128, 3)[:4], pair_stops(128, 2)[-2:]
    ((0, 1, 2, 3, 4, 5), (0, 2, 3, 4), (62, 63))
    """
    pairs = dim // 2
    return tuple(
        sorted({*frequency_demo.sampled_positions(pairs, ROWS).tolist(), min(pair, pairs - 1), max(pairs - 1, 1)})
    )


@cached_figure
def frequency_film(
    rope: rc.Rope, shown: tuple[int, ...], bases: tuple[float, ...], lengths: tuple[int, ...], t: PageTexts
) -> Film:
    """Return every pair at every position, then the same beside another base, then turns by pair and base.

    ``shown``: the pairs to drag to; ``bases``: of the second step; ``lengths``: trained lengths of the third.
    """
    at_pair = field_control(t, "pair", shown, play_seconds=8.0)
    at_base = field_control(t, "compared", bases, play_seconds=8.0)
    at_length = field_control(t, "context", lengths, play_seconds=8.0)
    ropes = [rc.Rope(rope.dim, base, rope.train_len) for base in bases]
    scene = scene_in_beats(
        t,
        "heat",
        (at_pair, stripes.pair_stripe_panels(rope, at_pair, t), stripes.pair_in_training_finding(rope, at_pair, t)),
        (
            at_base,
            larger.larger_base_panels(ropes, rope, at_base, t),
            larger.larger_base_finding(ropes, rope, at_base, t),
        ),
        (at_length, larger.base_fit_panels(at_length, t), larger.base_fit_finding(at_length, t)),
    )
    return Film(
        "heat",
        scene,
        lambda: (
            {"pair": np.arange(rope.pairs), "wavelength": rope.wavelength}
            | {f"wavelength_at_base_{each.base:g}": each.wavelength for each in ropes}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        for base in {(rope.base, *bases)!r}:
            rope = rc.Rope({rope.dim}, base, {rope.train_len})
            print(base, rope.wavelength[-1], int(frequency_demo.incomplete_pair_mask(rope).sum()), "of", rope.pairs)
        own, other = (rc.Rope({rope.dim}, base, {rope.train_len}) for base in ({rope.base!r}, compared))
        print("pair", pair, own.turns[pair], "turns", 360 * own.turns[pair], "degrees")
        print("middle pair", own.theta[own.pairs // 2] / other.theta[own.pairs // 2], "times slower")
        for rope in (own, other, rc.Rope(128, 1e4, context), rc.Rope(128, 1e6, context)):
            print(rope.base, int(frequency_demo.incomplete_pair_mask(rope).sum()), "of", rope.pairs)
        """,
    )
