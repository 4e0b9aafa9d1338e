"""A query and a key under the hand: one pair on the circle, the share of every pair, and their sum, the score."""

from __future__ import annotations

from functools import partial

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import demo
from ui.figures.colours import BLUE, GREY, ORANGE, RED
from ui.figures.drawing import Film, kept
from ui.figures.predicted import predicted
from ui.film.scene import WINDOW, Axis, Control, Difference, Panel, Scene, Shape, Texts, Track, beats, control, sentence
from ui.film.shapes import arc, boxes, circle, dots, handle, hands, label, named, path, since, turned
from ui.text.words import Words

RADIUS = 1.1
"""Of the picture of a circle of radius 1."""


@kept
def turning(rope: rc.Rope, pair: int, m: tuple[int, ...], n: tuple[int, ...], shift: tuple[int, ...], t: Words) -> Film:
    """Return one pair's arrow that its position turns, then the key's beside it, then the score of all pairs."""
    pair = min(pair, rope.pairs - 1)
    q, k = demo.drawn_vectors(rope.dim)
    at_m, at_n = control(t, "m", m), control(t, "n", n, since=2)
    along = control(t, "shift", shift, seconds=8.0, since=2)
    apart = Difference(at_m, at_n)
    distances = np.array(apart.stops)
    shares = demo.shares(q, k, distances, rope.theta)
    scores = shares.sum(axis=1)
    degrees = np.degrees(rope.theta[pair])
    place: dict[str, str | Texts] = {"m": _moved(at_m, along), "n": _moved(at_n, along), "pair": str(pair)}
    distance = Texts((apart,), tuple(f"{abs(d):.0f}" for d in distances))
    angle = Texts((apart,), tuple(_degrees(abs(d) * degrees) for d in distances))
    total = Texts((apart,), tuple(f"{value:.3g}".replace("-", "−") for value in scores))
    turned_by = np.add.outer(at_m.stops, along.stops).ravel() * degrees
    findings = (
        sentence(partial(t, "turn_finding"), angle=Texts((at_m, along), tuple(map(_degrees, turned_by))), **place),
        sentence(partial(t, "between_finding"), d=distance, angle=angle, **place),
        sentence(partial(t, "circle_finding", pairs=rope.pairs), d=distance, score=total, **place),
    )
    return Film(
        "circle",
        Scene(
            (
                _circle(rope, pair, (q, k), (at_m, at_n, along), t),
                _curve(at_m, apart, scores, t),
                _line(at_m, at_n, along, distance, t),
            ),
            (at_m, at_n, along),
            findings[-1],
            beats=beats(t, "circle", *findings, hints=("m", "shift"), pairs=str(rope.pairs)),
        ),
        lambda: {"distance": distances, "score": scores} | {f"pair_{i}": shares[:, i] for i in range(rope.pairs)},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.drawn_vectors(rope.dim)
        print(demo.shares(q, k, [{m[0]} - {n[0]}, 0, 7], rope.theta))
        """,
    )


def _circle(
    rope: rc.Rope, pair: int, vectors: tuple[Array, Array], controls: tuple[Control, Control, Control], t: Words
) -> Panel:
    """Return one pair of a query and a key as arrows, and the angle between them."""
    at_m, at_n, along = controls
    shapes: dict[str, list[Shape]] = {}
    angles = {}
    # Directions of the pair: their lengths differ by chance, and a short arrow is hard to grab.
    looks = (("q", vectors[0], at_m, BLUE, 1.0, 6), ("k", vectors[1], at_n, RED, 0.8, 28))
    for name, vector, at, colour, length, dy in looks:
        first, second = vector[2 * pair : 2 * pair + 2]
        positions = np.add.outer(np.array(at.stops), np.array(along.stops))
        angle = Track((at, along), (np.arctan2(second, first) + positions * rope.theta[pair])[..., None])
        angles[name] = angle
        arrow = named(name, hands(0.0, 0.0, length, angle, colour, 7, head=True))
        shapes[name] = [
            circle(0.0, 0.0, length, colour, 1, dash="3 4"),
            named(at.name, turned(at, 0.0, 0.0, length, angle, colour, t(f"grab_{name}"), [arrow], r=0)),
            label(
                -1.6 * RADIUS,
                RADIUS,
                [t(f"{name}_at"), " ", _moved(at, along)],
                colour,
                anchor="start",
                bold=True,
                dy=dy,
            ),
        ]
    return Panel(
        Axis(-1.6 * RADIUS, RADIUS),
        Axis(-RADIUS, RADIUS),
        [
            *since(2, named("θ", arc(0.0, 0.0, 0.4, angles["k"], angles["q"], ORANGE, 6))),
            *shapes["q"],
            *since(2, *shapes["k"]),
        ],
        t("pair_title", i=pair),
        width=300,
        height=220,
        equal=True,
    )


def _curve(at_m: Control, apart: Difference, scores: Array, t: Words) -> Panel:
    """Return the score over the distance, and where it is."""
    distances = np.array(apart.stops)
    low, high = float(scores.min()), float(scores.max())
    room = 0.08 * (high - low)
    ends = (distances[0], 0.0, distances[-1])
    here, value = Track((apart,), distances[:, None]), Track((apart,), scores[:, None])
    ticks = tuple((v, f"{v:.1f}".replace("-", "−")) for v in (low, high))
    return Panel(
        Axis(distances[0], distances[-1], tuple((d, f"{d:.0f}".replace("-", "−")) for d in ends), t("distance_axis")),
        Axis(low - room, high + room, ticks, t("score_axis")),
        [path(distances, scores, GREY, 3), handle(at_m, here, value, ORANGE, t("grab_score"), r=9)],
        t("score_title"),
        width=300,
        height=150,
        since=3,
    )


def _line(at_m: Control, at_n: Control, along: Control, distance: Texts, t: Words) -> Panel:
    """Return the text as a line with both words on it, and the bracket between them, which moves both."""
    low = min(at_m.stops[0], at_n.stops[0]) + along.stops[0]
    high = max(at_m.stops[-1], at_n.stops[-1]) + along.stops[-1]
    half = (high - low) / 90

    def places(at: Control) -> Array:
        return np.asarray(np.add.outer(np.array(at.stops), np.array(along.stops)))

    def word(at: Control, colour: str, name: str) -> Shape:
        x = places(at)[..., None]
        tile = boxes(Track((at, along), x - half), Track((at, along), x + half), 0.0, 1.0, colour)
        return handle(at, Track((at, along), x), 0.5, colour, t(f"grab_{name}"), [tile], r=0)

    here = {at.name: Track((at, along), places(at)[..., None]) for at in (at_m, at_n)}
    bracket = [boxes(here[at_n.name], here[at_m.name], 1.5, 1.85, "ink")]
    for at in (at_m, at_n):
        x = places(at)[..., None]
        bracket.append(boxes(Track((at, along), x - half / 8), Track((at, along), x + half / 8), 1.0, 1.85, "ink"))
    return Panel(
        Axis(low - 2 * half, high + 2 * half, _ends(low, high), t("text_axis"), grid=False),
        Axis(0.0, 2.4),
        [
            handle(along, here[at_n.name], 1.7, "ink", t("grab_both"), bracket, r=9),
            word(at_n, RED, "k"),
            word(at_m, BLUE, "q"),
        ],
        [t("distance_is"), " ", distance],
        width=2000,
        height=46,
        since=2,
    )


def _ends(low: float, high: float) -> tuple[tuple[float, str], ...]:
    return tuple((end, f"{end:,.0f}") for end in (low, high))


def _degrees(angle: float) -> str:
    """Write an angle with three digits, whole from 100 degrees on."""
    return f"{angle:,.0f}" if angle >= 100 else f"{angle:.3g}"


@kept
def shifted(rope: rc.Rope, m: int, n: int, t: Words) -> Film:
    """Return a place to draw the score of a query at m and a key at n while both move along, and the true line.

    From the start one pair's share is seen as it would be, were the query alone to move.
    """
    q, k = demo.drawn_vectors(rope.dim)
    along = np.arange(WINDOW + 1)
    scores = demo.scores_under_shift(q, k, m, n, along, rope.theta, "interleaved")
    alone = demo.shares(q, k, m - n + along, rope.theta).sum(axis=1)
    reach = 1.1 * float(np.abs(np.concatenate([scores, alone])).max())
    columns = np.arange(0, WINDOW + 1, WINDOW // 8)
    panel = Panel(
        Axis(0.0, float(WINDOW), tuple((float(s), str(s)) for s in columns[::2].tolist()), t("shift_axis")),
        Axis(-reach, reach, ((0.0, "0"),), t("score_axis")),
        [
            path(along, alone, GREY, 2),
            label(float(WINDOW), -reach, t("query_alone"), GREY, anchor="end", dx=-4, dy=-16),
            dots([0.0], [scores[0]], ORANGE, 7),
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


def _moved(at: Control, along: Control) -> Texts:
    """Return where a token is that moves along with the other one."""
    positions = np.add.outer(at.stops, along.stops)
    return Texts((at, along), tuple(f"{position:,.0f}" for position in positions.ravel()))
