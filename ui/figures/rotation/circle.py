"""A query and a key under the hand: one pair on the circle, the share of every pair, and their sum, the score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import demo
from rope_core.theory.attention import pair_contributions, score_curve
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import predicted
from ui.figures.rotation import score
from ui.film import marks
from ui.film.colours import BLUE, GREY, RED
from ui.film.composite_marks import TOP
from ui.film.scene import (
    WINDOW,
    Axis,
    Control,
    ControlDifference,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

RADIUS = 1.1
"""Of the picture of a circle of radius 1."""
LEFT = -1.6
"""Where its labels begin, in radii."""
QUERY, KEY = ("q", BLUE, 1.0, 6), ("k", RED, 0.8, 28)
"""The name, colour, length and place of the label of an arrow.

The lengths of a pair differ by chance, and a short arrow is hard to grab: only directions are the pair's own.
"""


@cached_figure
def turning(rope: rc.Rope, pair: int, m: tuple[int, ...], n: tuple[int, ...], shift: tuple[int, ...], t: Words) -> Film:
    """Return the score's matrices while a sentence moves, then a pair's two arrows, then the score of all pairs."""
    pair = min(pair, rope.pairs - 1)
    q, k = demo.drawn_vectors(rope.dim)
    before = field_control(t, "before", range(score.MOST_BEFORE + 1), play_seconds=6.0, last_beat=1)
    at_m, at_n = field_control(t, "m", m, first_beat=2), field_control(t, "n", n, first_beat=2)
    along = field_control(t, "shift", shift, play_seconds=8.0, first_beat=2)
    apart = ControlDifference(at_m, at_n)
    distances = np.array(apart.stops)
    shares = pair_contributions(rc.Spectrum.of(rope.theta), distances, q, k)
    scores = shares.sum(axis=1)
    starts = [float(np.arctan2(v[2 * pair + 1], v[2 * pair])) for v in (q, k)]
    between = np.angle(np.exp(1j * (starts[0] - starts[1] + distances * rope.theta[pair])))
    at_start = abs(np.degrees(np.angle(np.exp(1j * (starts[0] - starts[1])))))
    place: dict[str, str | TextTrack] = {"m": _written(at_m, along), "n": _written(at_n, along)}
    distance = TextTrack((apart,), tuple(f"{d:.0f}".replace("-", "−") for d in distances))
    angle = TextTrack((apart,), tuple(_degrees(abs(a)) for a in np.degrees(between)))
    total, share = (
        TextTrack((apart,), tuple(f"{value:.3g}".replace("-", "−") for value in column))
        for column in (scores, shares[:, pair])
    )
    findings = (
        score.finding(before, t),
        sentence_parts(partial(t, "between_finding", start=_degrees(at_start)), angle=angle, d=distance, **place),
        sentence_parts(partial(t, "circle_finding", pairs=rope.pairs), d=distance, score=total, share=share, **place),
    )
    at_first = {"m": at_m.stops[12], "n": at_n.stops[5], "shift": along.stops[0]}
    return Film(
        "circle",
        Scene(
            (
                *score.panels(rope, before, t),
                _circle(rope, pair, starts, (at_m, at_n, along), t),
                _curve(at_m, apart, scores, t),
                _line(at_m, at_n, along, distance, t),
            ),
            (before, at_m, at_n, along),
            findings[-1],
            beats=beats_from_labels(
                t,
                "circle",
                *findings,
                hint_controls=("before", "shift"),
                control_values=({}, *[at_first] * 2),
                pairs=str(rope.pairs),
            ),
        ),
        lambda: {"distance": distances, "score": scores} | {f"pair_{i}": shares[:, i] for i in range(rope.pairs)},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        from rope_core.theory.attention import pair_contributions
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.drawn_vectors(rope.dim)
        print(pair_contributions(rc.Spectrum.of(rope.theta), [{m[0]} - {n[0]}, 0, 7], q, k))
        """,
    )


def _circle(
    rope: rc.Rope, pair: int, starts: Sequence[float], controls: tuple[Control, Control, Control], t: Words
) -> Panel:
    """Return one pair of a query and a key as arrows, and the angle between them."""
    at_m, at_n, along = controls
    theta = float(rope.theta[pair])
    of_query, query = _arrow(QUERY, (at_m, along), starts[0], theta, t)
    of_key, key = _arrow(KEY, (at_n, along), starts[1], theta, t)
    return Panel(
        Axis(LEFT * RADIUS, RADIUS),
        Axis(-RADIUS, RADIUS),
        [
            marks.link_symbol("θ", marks.arc(0.0, 0.0, 0.4, of_key, of_query, "ink", 6, shorter_way=True)),
            *query,
            *key,
            *marks.up_to_beat(2, marks.text(LEFT * RADIUS, -RADIUS, t("starts"), anchor="start", font_size=14)),
        ],
        t("pair_title", i=pair, last=rope.pairs - 1, angle=_degrees(np.degrees(theta))),
        min_width=140,
        height=180,
        equal_aspect=True,
        first_beat=2,
    )


def _arrow(
    look: tuple[str, str, float, int], by: tuple[Control, ...], start: float, theta: float, t: Words
) -> tuple[NumberTrack, list[Mark]]:
    """Return the angle of a query's or key's arrow, and the arrow, which turns from its start as its word moves."""
    name, colour, length, dy = look
    angle = NumberTrack(by, TOP - (start + _places(*by) * theta)[..., None])
    grip = marks.turn_handle(by[0], 0.0, 0.0, length, angle, colour, t(f"grab_{name}"), [], radius_px=0)
    arrow = marks.link_symbol(name, marks.vector(0.0, 0.0, length, angle, colour, 7, has_head=True))
    return angle, [
        marks.circle(0.0, 0.0, length, colour, 1, stroke_dash="3 4"),
        marks.line([0.0, length * np.sin(start)], [0.0, length * np.cos(start)], colour, 2, stroke_dash="2 5"),
        marks.link_symbol(by[0].name, grip | {"grab_marks": [arrow]}),
        marks.text(
            LEFT * RADIUS, RADIUS, [t(f"{name}_at"), " ", _summed(*by)], colour, anchor="start", bold=True, dy=dy
        ),
    ]


def _curve(at_m: Control, apart: ControlDifference, scores: Array, t: Words) -> Panel:
    """Return the score over the distance, and where it is."""
    distances = np.array(apart.stops)
    low, high = float(scores.min()), float(scores.max())
    room, step = 0.08 * (high - low), 10.0 ** np.floor(np.log10(high - low))
    ends = (distances[0], 0.0, distances[-1])
    here, value = NumberTrack((apart,), distances[:, None]), NumberTrack((apart,), scores[:, None])
    ticks = tuple((v, f"{v:g}".replace("-", "−")) for v in np.arange(np.ceil(low / step), high / step) * step + 0.0)
    return Panel(
        Axis(distances[0], distances[-1], tuple((d, f"{d:.0f}".replace("-", "−")) for d in ends), t("distance_axis")),
        Axis(low - room, high + room, ticks, t("score_axis")),
        [
            marks.line(distances, scores, GREY, 3),
            marks.drag_handle(at_m, here, value, "ink", t("grab_score"), radius_px=9),
        ],
        t("score_title"),
        min_width=190,
        height=110,
        first_beat=3,
    )


def _line(at_m: Control, at_n: Control, along: Control, distance: TextTrack, t: Words) -> Panel:
    """Return the text as a line with both words on it, and the bracket between them, which moves both."""
    low = min(at_m.stops[0], at_n.stops[0]) + along.stops[0]
    high = max(at_m.stops[-1], at_n.stops[-1]) + along.stops[-1]
    half = (high - low) / 90
    query, key = (NumberTrack((at, along), _places(at, along)[..., None]) for at in (at_m, at_n))

    def about(place: NumberTrack, reach: float) -> tuple[NumberTrack, NumberTrack]:
        return NumberTrack(place.drivers, place.keyframes - reach), NumberTrack(place.drivers, place.keyframes + reach)

    def word(at: Control, place: NumberTrack, colour: str, name: str) -> Mark:
        return marks.drag_handle(
            at, place, 0.5, colour, t(f"grab_{name}"), [marks.rect(*about(place, half), 0.0, 1.0, colour)], radius_px=0
        )

    bracket = [marks.rect(key, query, 1.5, 1.95, "ink")]
    bracket += [marks.rect(*about(place, half / 8), 1.0, 1.95, "ink") for place in (key, query)]
    ends = zip((low, high), ("start", "end"), strict=True)
    return Panel(
        Axis(low - 2 * half, high + 2 * half),
        Axis(-1.1, 3.0),
        [
            marks.line([low - half, high + half], [0.0, 0.0], GREY, 2),
            *(marks.text(end, 0.0, f"{end:,.0f}", anchor=anchor, font_size=13, dy=17) for end, anchor in ends),
            marks.text((low + high) / 2, 0.0, t("text_axis"), font_size=14, dy=17),
            marks.text(low, 2.3, [t("distance_is"), " ", distance], anchor="start", bold=True),
            marks.drag_handle(along, key, 1.7, "ink", t("grab_both"), bracket, radius_px=0),
            word(at_n, key, RED, "k"),
            word(at_m, query, BLUE, "q"),
        ],
        min_width=2000,
        height=68,
        first_beat=2,
    )


def _places(*by: Control) -> Array:
    """Return the sum of some controls at all their stops."""
    return reduce(np.add.outer, (np.array(control.stops) for control in by))


def _written(*by: Control) -> TextTrack:
    """Return where a token is, as text."""
    return TextTrack(by, tuple(f"{position:,.0f}" for position in _places(*by).ravel()))


def _summed(at: Control, *along: Control) -> TextTrack:
    """Return where a token is, as the sum that the sliders make of it."""
    if not along:
        return _written(at)
    sums = (f"{m:,.0f} + {by:,.0f} = {m + by:,.0f}" if by else f"{m:,.0f}" for m in at.stops for by in along[0].stops)
    return TextTrack((at, *along), tuple(sums))


def _degrees(angle: float) -> str:
    """Write an angle with three digits, whole from 100 degrees on."""
    return f"{angle:,.0f}" if angle >= 100 else f"{angle:.3g}"


@cached_figure
def shifted(rope: rc.Rope, m: int, n: int, t: Words) -> Film:
    """Return a place to draw the score of a query at m and a key at n while both move along, and the true line.

    From the start one pair's share is seen as it would be, were the query alone to move.
    """
    q, k = demo.drawn_vectors(rope.dim)
    along = np.arange(WINDOW + 1)
    scores = demo.scores_under_shift(q, k, m, n, along, rope.theta, "interleaved")
    alone = score_curve(rc.Spectrum.of(rope.theta), m - n + along, q, k)
    reach = 1.1 * float(np.abs(np.concatenate([scores, alone])).max())
    columns = np.arange(0, WINDOW + 1, WINDOW // 8)
    panel = Panel(
        Axis(0.0, float(WINDOW), tuple((float(s), str(s)) for s in columns[::2].tolist()), t("shift_axis")),
        Axis(-reach, reach, ((0.0, "0"),), t("score_axis")),
        [
            marks.line(along, alone, GREY, 2),
            marks.text(float(WINDOW), -reach, t("query_alone"), GREY, anchor="end", dx=-4, dy=-16),
            marks.dot([0.0], [scores[0]], "ink", 7),
        ],
        height=200,
    )
    return predicted(
        "shifted",
        panel,
        (along, scores),
        {str(s): float(s) for s in columns.tolist()},
        scores[columns],
        t,
        lambda: {"shift": along, "both move": scores, "query alone moves": alone},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.drawn_vectors(rope.dim)
        print(demo.scores_under_shift(q, k, {m}, {n}, range(0, 65, 8), rope.theta, "interleaved"))
        """,
    )
