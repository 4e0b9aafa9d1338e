"""A query and a key under the hand: one pair on the circle, the share of every pair, and their sum, the score."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import demo
from ui.figures.colours import BLUE, GREY, ORANGE, RED
from ui.figures.drawing import Film, kept
from ui.figures.predicted import predicted
from ui.film.scene import WINDOW, Axis, Control, Difference, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import arc, boxes, circle, dots, hands, label, named, path, turned
from ui.text.words import Words


@kept
def turning(rope: rc.Rope, pair: int, m: tuple[int, ...], n: tuple[int, ...], shift: tuple[int, ...], t: Words) -> Film:
    """Return the arrows of one pair at positions m + shift and n + shift, all pairs' shares of the score, the score."""
    pair = min(pair, rope.pairs - 1)
    q, k = demo.drawn_vectors(rope.dim)
    at_m, at_n = control(t, "m", m), control(t, "n", n)
    along = control(t, "shift", shift, seconds=8.0)
    apart = Difference(at_m, at_n)
    distances = np.array(apart.stops)
    shares = demo.shares(q, k, distances, rope.theta)
    scores = shares.sum(axis=1)
    total = Texts((apart,), tuple(f"{value:.3g}".replace("-", "−") for value in scores))

    # Directions of the pair: their lengths differ by chance, and a short arrow is hard to grab.
    arrows = {}
    for name, vector, moved, colour in (("q", q, at_m, BLUE), ("k", k, at_n, RED)):
        first, second = vector[2 * pair : 2 * pair + 2]
        positions = np.add.outer(np.array(moved.stops), np.array(along.stops))
        angle = Track((moved, along), (np.arctan2(second, first) + positions * rope.theta[pair])[..., None])
        arrows[name] = moved, 1.0 if name == "q" else 0.8, angle, colour
    radius = 1.15
    angle_q, angle_k = arrows["q"][2], arrows["k"][2]
    between = 0.4
    turn = Panel(
        Axis(-radius, radius),
        Axis(-radius, radius),
        [
            *(circle(0.0, 0.0, length, colour, 1, dash="3 4") for _, length, _, colour in arrows.values()),
            named("θ", arc(0.0, 0.0, between, angle_k, angle_q, ORANGE, 5)),
            *(
                named(name, hands(0.0, 0.0, length, angle, colour, 6, head=True))
                for name, (_, length, angle, colour) in arrows.items()
            ),
            *(
                named(moved.name, turned(moved, 0.0, 0.0, length, angle, colour, t(f"grab_{name}"), r=11))
                for name, (moved, length, angle, colour) in arrows.items()
            ),
            named("m", label(-radius, radius, t("query_at"), BLUE, anchor="start", bold=True, size=16, dy=6)),
            named("n", label(-radius, radius, t("key_at"), RED, anchor="start", bold=True, size=16, dy=28)),
        ],
        t("pair_title", i=pair),
        width=290,
        share=0.9,
        equal=True,
    )
    reach = 1.1 * float(np.abs(shares).max())
    others = np.delete(np.arange(rope.pairs), pair)
    bars = Panel(
        Axis(-0.7, rope.pairs - 0.3, _ticks(0, pair, rope.pairs - 1), t("axis.pair")),
        Axis(-reach, reach, ((0.0, "0"),), t("share_axis")),
        [
            boxes(others - 0.4, others + 0.4, 0.0, Track((apart,), shares[:, others]), GREY),
            named("i", boxes(pair - 0.4, pair + 0.4, 0.0, Track((apart,), shares[:, pair : pair + 1]), ORANGE)),
        ],
        [t("shares_title"), " ", total],
        width=250,
        height=250,
    )
    low, high = float(scores.min()), float(scores.max())
    room = 0.08 * (high - low)
    ends = (distances[0], 0.0, distances[-1])
    curve = Panel(
        Axis(distances[0], distances[-1], tuple((d, f"{d:.0f}".replace("-", "−")) for d in ends), t("distance_axis")),
        Axis(low - room, high + room, tuple((v, f"{v:.1f}".replace("-", "−")) for v in (low, high)), t("score_axis")),
        [
            path(distances, scores, GREY, 3),
            dots(Track((apart,), distances[:, None]), Track((apart,), scores[:, None]), ORANGE, 9),
        ],
        t("score_title"),
        width=250,
        height=250,
    )
    finding = sentence(
        lambda **slots: t("circle_finding", pairs=rope.pairs, **slots),
        m=_moved(at_m, along),
        n=_moved(at_n, along),
        d=Texts((apart,), tuple(f"{d:.0f}".replace("-", "−") for d in distances)),
        score=total,
    )
    return Film(
        "circle",
        Scene((turn, bars, curve), (at_m, at_n, along), finding),
        lambda: {"distance": distances, "score": scores} | {f"pair_{i}": shares[:, i] for i in range(rope.pairs)},
        f"""
        import rope_core as rc
        from rope_core.theory import demo
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        q, k = demo.drawn_vectors(rope.dim)
        print(demo.shares(q, k, [{m[0]} - {n[0]}, 0, 7], rope.theta))
        """,
    )


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
    """Return where a token stands that is moved along with the other one."""
    positions = np.add.outer(at.stops, along.stops)
    return Texts((at, along), tuple(f"{position:,.0f}" for position in positions.ravel()))


def _ticks(*pairs: int) -> tuple[tuple[float, str], ...]:
    return tuple((float(pair), str(pair)) for pair in sorted(set(pairs)))
