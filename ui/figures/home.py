"""The one picture of the front page: a token goes along a text, and the hands of its pairs turn."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from rope_core.theory.attention import aligned, score_curve
from ui.figures.drawing import Film, cached_figure
from ui.figures.predicted import predicted
from ui.film import marks
from ui.film.colours import BLUE, GREY, RED, text_colour_on
from ui.film.scene import (
    Axis,
    Control,
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

DIALS = 4
LAST, WHOLE, GROWING = 4095, 64, 140
DOUBLINGS = 12
"""Powers of two of the last position that a drawn curve goes to."""
ROUND = (100, 200, 500, 1000, 2000, 3000, 4000)
UP = np.pi / 2
FEWEST, MOST, LETTERS = 3, 8, 10
"""How many words a sentence has, and how many letters of a word are drawn."""
REST = 0.6
"""How wide the rest of the text is, over the sentence: a phone needs the room for the words."""
ONE = 8
"""The share of the pairs, from the fastest, at which the pair lies that is shown alone: it turns 18 degrees a word."""
HARDLY = 0.01
"""Turns below which an arrow is said to have hardly moved."""
TILE = 0.46
"""Half a word's width, in places."""
HIGH, MIDDLE, LONG = 4.4, 2.8, 1.4
"""The text's panels' height, an arrow's foot and its length, over the height of a word."""
PARTNER = 1
"""The place in the sentence of the token that the moved one is compared with."""
POSITIONS = tuple(sorted({*range(WHOLE), *ROUND, *np.rint(np.geomspace(WHOLE, LAST, GROWING)).astype(int).tolist()}))
"""Every position at first, then in growing steps, so that a play shows the slow hands too."""


def shown(rope: rc.Rope) -> list[int]:
    """Return pairs spread from the fastest to the slowest, the one that is shown alone among them; at most DIALS."""
    spread = np.linspace(single(rope), rope.pairs - 1, DIALS - 1).round().astype(int).tolist()
    return sorted({0, *spread})


def single(rope: rc.Rope) -> int:
    """Return the pair that is shown alone."""
    return rope.pairs // ONE


def places(positions: Array, count: int) -> Array:
    """Return where positions are along the line: the sentence's ``count`` one apart, the rest logarithmic."""
    beyond = REST * count * np.log(np.maximum(positions, count) / count) / np.log(LAST / count)
    return np.asarray(np.minimum(positions, count) + beyond)


def tokens(wavelength: float) -> str:
    """Return a wavelength as it is written on the page."""
    return f"{wavelength:,.1f}" if wavelength < 100 else f"{wavelength:,.0f}"


def turns(positions: Array, wavelength: float) -> tuple[str, ...]:
    """Return how often a hand has turned at each position, as text."""
    return tuple(f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in (positions / wavelength).tolist())


def words_of(sentence: str, t: Words) -> tuple[str, ...]:
    """Return the words of a visitor's sentence, MOST at most; the page's own sentence where it has too few.

    A text without spaces is read letter by letter, as Chinese is.
    """
    words = sentence.split() if len(sentence.split()) > 1 else list(sentence.strip())
    shown_words = tuple(word[:LETTERS] for word in words[:MOST])
    return shown_words if len(shown_words) >= FEWEST else tuple(t("sentence").split())


@cached_figure
def dials(rope: rc.Rope, positions: tuple[int, ...], words: tuple[str, ...], t: Words) -> Film:
    """Return a word that is dragged along a text: one of its pairs as an arrow, then several, then a similarity."""
    at = field_control(t, "position", positions, play_seconds=24.0)
    moved = np.array(at.stops)
    scores = score_curve(rc.spectrum(rc.Request(rope)), moved - PARTNER)
    alone = single(rope)
    position = TextTrack((at,), at.stop_labels)
    findings = (
        sentence_parts(
            lambda **slots: t("arrow_finding", **slots),
            position=position,
            turns=TextTrack((at,), turns(moved, rope.wavelength[alone])),
        ),
        sentence_parts(
            lambda **slots: t("dials_finding", **slots),
            position=position,
            often=TextTrack((at,), turns(moved, rope.wavelength[0])),
            seldom=TextTrack((at,), tuple(slowly(turned, t) for turned in (moved / rope.wavelength[-1]).tolist())),
        ),
        sentence_parts(
            lambda **slots: t("alike_finding", pairs=rope.pairs, **slots),
            distance=TextTrack((at,), tuple(f"{abs(place - PARTNER):,.0f}" for place in moved.tolist())),
            near=TextTrack((at,), tuple(map(str, aligned(rope, moved - PARTNER).tolist()))),
            score=TextTrack((at,), tuple(f"{score:.2f}".replace("-", "−") for score in scores)),
        ),
    )
    slots = {"pairs": str(rope.pairs), "word": words[-1], "other": words[PARTNER]}
    return Film(
        "dials",
        Scene(
            (
                arrow(rope, alone, at, words, t),
                row(at, words, t),
                alike(at, scores, words, t),
                *(dial(rope, pair, at, t) for pair in shown(rope)),
            ),
            (at,),
            findings[-1],
            beats=beats_from_labels(
                t, "dials", *findings, hint_controls=("position",), control_values=({}, {}, {"position": 3}), **slots
            ),
        ),
        lambda: (
            {"position": moved, "score": scores} | {f"angle of pair {p}": moved * rope.theta[p] for p in shown(rope)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.attention import score_curve
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        s = rc.spectrum(rc.Request(rope))
        for position in (0, 20, 4000):
            print(position, position * rope.theta[{[alone, *shown(rope)]}], score_curve(s, [position - {PARTNER}]))
        """,
    )


def slowly(often: float, t: Words) -> str:
    """Return how far the slowest arrow has turned, in words where the number would say little."""
    return t("hardly") if often < HARDLY else t("turned", count=f"{often:.2g}")


def tiles(at: Control, words: tuple[str, ...], t: Words) -> tuple[Axis, list[Mark], Mark]:
    """Return the text's axis, its resting words, and the word that is dragged along it, whole."""
    count = len(words)
    along = places(np.array(at.stops), count)
    ticks = [(float(k), str(k)) for k in range(count)]
    ticks += [(float(places(np.array(p), count)), f"{p:,}") for p in (10, 100, 1000, LAST)]
    rest = np.arange(count - 1)
    here = NumberTrack((at,), along[:, None])
    left, right = (NumberTrack((at,), along[:, None] + side) for side in (-TILE, TILE))
    still = [
        marks.rect(rest - TILE, rest + TILE, 0.0, 1.0, GREY, opacity=0.2),
        *(marks.text(float(k), 0.5, word, font_size=14, dy=5) for k, word in enumerate(words[:-1])),
        marks.text(count + 0.3, 0.5, "…", font_size=18, dy=3),
    ]
    word = [
        marks.rect(left, right, 0.0, 1.0, BLUE),
        marks.text(here, 0.5, words[-1], text_colour_on(BLUE), bold=True, font_size=15, dy=5, halo=False),
    ]
    grip = marks.drag_handle(at, here, 0.5, BLUE, t("grab_token", word=words[-1]), word, radius_px=0)
    return Axis(-0.6, (1 + REST) * count + 0.2, tuple(ticks), t("position_axis"), grid=False), still, grip


def arrow(rope: rc.Rope, pair: int, at: Control, words: tuple[str, ...], t: Words) -> Panel:
    """Return the text, and above the dragged word one pair of its numbers as an arrow that turns."""
    x, still, grip = tiles(at, words, t)
    moved = np.array(at.stops)
    here = NumberTrack((at,), places(moved, len(words))[:, None])
    angle = NumberTrack((at,), (UP + moved * rope.theta[pair])[:, None])
    return Panel(
        x,
        Axis(0.0, HIGH, ()),
        [
            *still,
            grip,
            marks.circle(here, MIDDLE, LONG, GREY, 1.5, length_unit="y"),
            marks.turn_handle(
                at,
                here,
                MIDDLE,
                LONG,
                angle,
                BLUE,
                t("grab_hand", i=pair),
                [marks.vector(here, MIDDLE, LONG, angle, BLUE, 6, has_head=True, length_unit="y")],
                radius_px=0,
                length_unit="y",
            ),
        ],
        t("one_turn", wave=tokens(rope.wavelength[pair])),
        min_width=2000,
        height=190,
        last_beat=1,
    )


def row(at: Control, words: tuple[str, ...], t: Words) -> Panel:
    """Return the text alone, with its dragged word."""
    x, still, grip = tiles(at, words, t)
    return Panel(x, Axis(0.0, 1.0), [*still, grip], min_width=2000, height=44, first_beat=2, last_beat=2)


def alike(at: Control, scores: Array, words: tuple[str, ...], t: Words) -> Panel:
    """Return the text, and above it how alike the dragged word and another are, by the dragged word's place."""
    x, still, grip = tiles(at, words, t)
    along = places(np.array(at.stops), len(words))
    low, high = 1.5, HIGH - 0.4
    foot = min(0.0, float(scores.min()))
    y = low + (scores - foot) / (1.0 - foot) * (high - low)
    zero = low - foot / (1.0 - foot) * (high - low)
    here, level = NumberTrack((at,), along[:, None]), NumberTrack((at,), y[:, None])
    stem = NumberTrack((at,), np.stack([np.full_like(y, 1.0), y], axis=1))
    return Panel(
        x,
        Axis(0.0, HIGH, ((zero, "0"), (high, "1")), t("score_axis", word=words[PARTNER])),
        [
            marks.rect(np.array([PARTNER - TILE]), np.array([PARTNER + TILE]), 0.0, 1.0, RED, opacity=0.35),
            *still,
            marks.dot(along, y, GREY, 2),
            marks.line(NumberTrack((at,), np.stack([along, along], axis=1)), stem, BLUE, 2, stroke_dash="3 4"),
            marks.dot(here, level, BLUE, 7),
            grip,
        ],
        min_width=2000,
        height=155,
        first_beat=3,
    )


def dial(rope: rc.Rope, pair: int, at: Control, t: Words) -> Panel:
    """Return one pair's arrows: the moved word's, and the other word's, which rests."""
    moved = np.array(at.stops)
    angle = NumberTrack((at,), (UP + moved * rope.theta[pair])[:, None])
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.12, 1.12),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 2),
            *marks.from_beat(3, marks.vector(0.0, 0.0, 0.86, UP + PARTNER * rope.theta[pair], RED, 5, has_head=True)),
            marks.turn_handle(
                at,
                0.0,
                0.0,
                1.0,
                angle,
                BLUE,
                t("grab_hand", i=pair),
                [marks.vector(0.0, 0.0, 1.0, angle, BLUE, 5, has_head=True)],
                radius_px=0,
            ),
        ],
        t("one_turn", wave=tokens(rope.wavelength[pair])),
        min_width=70,
        height=100,
        equal_aspect=True,
        first_beat=2,
    )


@cached_figure
def finished(rope: rc.Rope, t: Words) -> Film:
    """Return a place to draw how many pairs have turned once, over the position, and the true curve."""
    x = np.linspace(0.0, DOUBLINGS, 10 * DOUBLINGS + 1)
    positions = np.rint(2**x).astype(int)
    left = [frequency_demo.incomplete(rc.Rope(rope.dim, rope.base, at)).sum() for at in positions.tolist()]
    counts = rope.pairs - np.array(left)
    columns = {f"{2**k:,}": float(k) for k in range(DOUBLINGS + 1)}
    ticks = tuple((place, text) for text, place in columns.items() if place % 3 == 0)
    panel = Panel(
        Axis(0.0, float(DOUBLINGS), ticks, t("position_axis")),
        Axis(0.0, float(rope.pairs), tuple((float(n), str(n)) for n in (0, rope.pairs)), t("finished_axis")),
        [],
        height=180,
    )
    return predicted(
        "finished",
        panel,
        (x, counts),
        columns,
        counts[::10].astype(float),
        t,
        lambda: {"position": positions, "pairs_turned_once": counts},
        f"""
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for position in (1, 64, 4096):
            print(position, int((rope.wavelength <= position).sum()))
        """,
        digits=0,
    )
