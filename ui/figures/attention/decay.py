"""A score under the hand: the distance dragged along its curve; then four bases, and a text that grows."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import attention
from ui.figures.attention import bases, spread
from ui.figures.attention.bins import distance_bins
from ui.figures.attention.scores import FAR, STOPS, QueryAndKey, query_and_key_python
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, QUERY_COLOUR, SKY
from ui.film.composite_marks import TOP, drag_hint, mark_angle_from_clock, text_lines
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    TextOrTrack,
    field_control,
    scene_in_beats,
    sentence_parts,
)
from ui.text.words import PageTexts

MOST = 0.75
"""The share of arrows that point up above which most of them are said to."""
DECADES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def distance_stops(at: int, reach: int) -> tuple[int, ...]:
    """Return the distances to drag to: eight an octave and the round ones, up to ``reach`` or ``at``, and ``at``."""
    steps = {*STOPS, *np.rint(np.geomspace(1, FAR, 137)).astype(int).tolist()}
    return tuple(sorted({at, *(step for step in steps if step <= max(reach, at))}))


def _short_score(value: float) -> str:
    """Return a score with two digits, one near zero with three decimals."""
    return (f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}").replace("-", "−")


def _at_first(far: Control, beyond: float) -> NumberTrack:
    """Return the place right of a distance, on the logarithmic axis, until the word has been moved beyond it."""
    place = np.where(np.array(far.stops) < beyond, np.log10(beyond), np.nan)
    return far.numbers(place)


def _pairs(pairing: QueryAndKey) -> tuple[Array, Array]:
    """Return each pair's angle from the key to the query before any turn, and its weight in the score, at most 1."""
    q, k = (np.asarray(vector).reshape(-1, 2) @ [1, 1j] for vector in pairing)
    product = q * k.conj()
    return np.angle(product), np.abs(product) / np.abs(product).max()


def _turned(rope: rc.Rope, far: Control, pairing: QueryAndKey) -> Array:
    """Return each pair's angle from the key to the query at every distance, rad (stops, pairs)."""
    return np.asarray(_pairs(pairing)[0] + np.array(far.stops)[:, None] * rope.theta)


def _rosette(rope: rc.Rope, far: Control, pairing: QueryAndKey, t: PageTexts) -> Panel:
    """Return every pair's arrow of the query where the key's all point up, and how far up they point on average."""
    weights, turned = _pairs(pairing)[1], _turned(rope, far, pairing)
    mean = (weights * np.cos(turned)).sum(axis=1) / weights.sum()
    level = far.numbers(mean)
    written = far.texts(t("mean", value=_short_score(value)) for value in mean.tolist())
    across = far.numbers(np.stack([mean, mean], axis=1))
    query = marks.vector(0.0, 0.0, 0.98 * weights, mark_angle_from_clock(far.numbers(turned)), QUERY_COLOUR, 1.5, True)
    words = far.texts(t("turned_on", pairs=rope.pairs, words=label) for label in far.stop_labels)
    shown = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        query | {"opacity": 0.55},
        marks.vector(0.0, 0.0, 1.12, TOP, KEY_COLOUR, 3.5, has_head=True),
        marks.line([-0.22, 1.05], across, "ink", 2, "7 4"),
        marks.line([-0.2, 0.2], across, "ink", 5),
        marks.text(1.08, level, written, bold=True, anchor="start", font_size=16, dy=5),
        *text_lines(0.0, 1.4, t("upright", pairs=rope.pairs).split("|"), KEY_COLOUR, bold=True, dy=-4),
        marks.text(0.0, -1.2, words, QUERY_COLOUR, bold=True, dy=6),
    ]
    return Panel(
        Axis(-1.5, 1.5), Axis(-1.36, 1.6), shown, min_width=290, height=330, equal_aspect=True, phone_height=195
    )


SAMPLES = (100, 1000, 10_000)
"""Distances at which the curve has a small picture of the arrows."""


def _samples(
    rope: rc.Rope, reach: int, spectrum: rc.Spectrum, pairing: QueryAndKey, top: float, t: PageTexts
) -> list[Mark]:
    """Return small pictures of all arrows above the curve at some named distances, where the panel has room."""
    drawn: list[Mark] = []
    for distance in (each for each in SAMPLES if each <= reach):
        x, y = float(np.log10(distance)), float(attention.score_curve(spectrum, [distance], *pairing)[0]) + 0.38 * top
        angles = mark_angle_from_clock(distance * rope.theta)
        drawn += [
            marks.circle(x, y, 0.14 * top, GREY, 1, length_unit="y"),
            marks.vector(x, y, 0.13 * top, angles, QUERY_COLOUR, 1, length_unit="y") | {"opacity": 0.6},
            marks.text(x, y + 0.14 * top, t("sample", distance=f"{distance:,}"), QUERY_COLOUR, font_size=13, dy=-4),
        ]
    return marks.in_wide_panel(400, *drawn)


@cached_figure
def score_decay_film(
    rope: rc.Rope,
    kind: str,
    pairing: QueryAndKey,
    reach: int,
    at: tuple[int, ...],
    texts: tuple[int, ...],
    words: tuple[int, ...],
    t: PageTexts,
) -> Film:
    """Return the score of a query and a key over the distance; then four bases, and attention as a text grows.

    ``texts`` and ``words``: lengths of the text that the second and the third beat stop at.
    """
    reach = max(reach, at[-1])
    far = field_control(t, "at", at, play_seconds=8.0)
    text = field_control(t, "context", texts, play_seconds=6.0)
    keys = field_control(t, "keys", words, start=4.0 * rope.train_len, play_seconds=6.0)
    drawn = bases.four_bases_with_own(rope.base)
    squares, plain, sharp = spread.yarn_factors_and_attention_shares(words, rope.train_len)
    panel, scores, finding = _curve(rope, far, kind, pairing, reach, t)
    spreading = spread.word_attention_finding(keys, rope.train_len, squares, plain, sharp, t)
    scene = scene_in_beats(
        t,
        "decay",
        (far, (_rosette(rope, far, pairing, t), panel), finding),
        (
            text,
            (bases.best_match_score_panel(rope, text, drawn, t),),
            bases.largest_too_small_base_finding(rope, text, drawn, t),
        ),
        (keys, spread.scores_and_attention_panels(keys, rope.train_len, squares, t), spreading),
        control_values=({}, {"context": bases.FIRST_LENGTH}, {"keys": 4.0 * rope.train_len}),
        fact=t(f"fact.{kind}", **({"pairs": rope.pairs} if kind == "equal" else {})),
    )
    recipe = f"""
        import rope_core as rc
        from rope_core.theory import attention
        from rope_core.theory.softmax import expected_entropy_and_weight, yarn_logit_scale
        {query_and_key_python(pairing)}
        print(attention.score_curve(rc.Spectrum.from_inv_freq(rc.Rope({rope.dim}, {rope.base!r}).theta), [0, at], q, k))
        times = keys / {rope.train_len}
        square = yarn_logit_scale(times)
        scales, counts = (1.0, square), [{rope.train_len}, keys]
        shares = [expected_entropy_and_weight(counts, scale, {spread.LEAD})[1] for scale in scales]
        print(times, square, *shares)
        for base in {list(drawn)}:
            print(base, attention.first_negative_score_distance({rope.dim}, base, {bases.FAR}))
        """
    return Film("decay", scene, lambda: scores, recipe)


def _curve(
    rope: rc.Rope, far: Control, kind: str, pairing: QueryAndKey, reach: int, t: PageTexts
) -> tuple[Panel, dict[str, Array], TextOrTrack]:
    """Return the score over the distance with a mark to drag along it, its numbers, and the sentence about the mark."""
    q, k = pairing
    spectrum = rc.Spectrum.from_inv_freq(rope.theta)
    d, middle, fold = distance_bins(reach)
    scores = attention.score_curve(spectrum, d, q, k)
    _, least, most = fold(scores)
    there_and_back = np.log10(np.concatenate([middle, middle[::-1]]))
    band = np.concatenate([least, most[::-1]])
    here = attention.score_curve(spectrum, far.stops, q, k)
    zero = float(attention.score_curve(spectrum, [0], q, k)[0])
    edge, places = np.log10(reach), np.log10(far.stops)
    mark, high = far.numbers(places), far.numbers(here)
    stem = far.numbers(np.stack([np.zeros_like(here), here], axis=1))
    low = min(-0.15, 1.1 * float(min(scores.min(), here.min())))
    top = max(1.05, 1.1 * float(max(scores.max(), here.max())))
    numbers = far.texts(map(_short_score, here.tolist()))
    x_axis = Axis(0.0, edge, tuple((np.log10(x), f"{x:,}") for x in DECADES if x <= reach), t("distance_log"))
    height = Axis(low, top, ((0.0, "0"), (zero, f"{zero:.2g}")) if abs(zero) > 0.1 else ((0.0, "0"),), t("score_axis"))
    note: dict[str, Any] = {"anchor": "start", "dx": 4, "dy": -8, "font_size": 13}
    picture = [
        marks.line([0.0, edge], [0.0, 0.0], "ink", 1),
        marks.line(there_and_back, band, SKY, 0, fill=SKY) | {"opacity": 0.3},
        *marks.in_wide_panel(400, marks.text(0.0, low, t("scores_band"), SKY, **note)),
        *marks.in_narrow_panel(400, marks.text(0.0, low, t("ripples"), SKY, **note)),
        marks.link_symbol("R", marks.line(there_and_back, band, SKY, 2)),
        marks.line(far.numbers(np.stack([places] * 2, axis=1)), stem, QUERY_COLOUR, 1.5, "2 4"),
        *(_samples(rope, reach, spectrum, pairing, top, t) if kind == "equal" else ()),
        marks.drag_handle(
            far, mark, high, QUERY_COLOUR, t("grab"), [marks.dot(mark, high, QUERY_COLOUR, 11)], radius_px=0
        ),
        marks.link_symbol("m", marks.text(mark, high, numbers, QUERY_COLOUR, bold=True, font_size=20, dy=-18)),
        *marks.in_wide_panel(400, drag_hint(_at_first(far, 8), 0.3 * low, t("drag_away"), dy=6)),
        *marks.in_narrow_panel(400, drag_hint(_at_first(far, 6), 0.13 * top, t("drag_short"), font_size=15)),
    ]
    panel = Panel(x_axis, height, picture, min_width=330, width_share=1.5, height=290, phone_height=150)
    up = (np.cos(_turned(rope, far, pairing)) > 0).mean(axis=1) > MOST
    how = far.texts(t("most_up" if most else "cancel") for most in up.tolist())
    finding = sentence_parts(lambda **more: t("decay_finding", **more), here=numbers, at=far.stop_text, how=how)
    return panel, {"distance": d.astype(float), "score": scores}, finding
