"""The one picture of the front page: a token goes along a text, and the hands of its pairs turn."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from rope_core.theory.attention import score_curve
from ui.figures.colours import BLUE, GREY, RED
from ui.figures.drawing import Film, kept
from ui.figures.predicted import predicted
from ui.film.scene import Axis, Control, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import boxes, circle, dots, handle, hands, label, path, turned
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
PARTNER = 1
"""The place in the sentence of the token that the moved one is compared with."""
POSITIONS = tuple(sorted({*range(WHOLE), *ROUND, *np.rint(np.geomspace(WHOLE, LAST, GROWING)).astype(int).tolist()}))
"""Every position at first, then in growing steps, so that a play shows the slow hands too."""


def shown(rope: rc.Rope) -> list[int]:
    """Return pairs spread from the fastest to the slowest, at most DIALS of them."""
    return sorted(set(np.linspace(0, rope.pairs - 1, min(DIALS, rope.pairs)).round().astype(int).tolist()))


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


@kept
def dials(rope: rc.Rope, positions: tuple[int, ...], words: tuple[str, ...], t: Words) -> Film:
    """Return a token that is dragged along a text: its hands, and its score with another token of the same vector."""
    at = control(t, "position", positions, seconds=24.0)
    moved = np.array(at.stops)
    scores = score_curve(rc.spectrum(rc.Request(rope)), moved - PARTNER)
    finding = sentence(
        lambda **slots: t("dials_finding", pairs=rope.pairs, **slots),
        position=Texts((at,), at.texts),
        often=Texts((at,), turns(moved, rope.wavelength[0])),
        seldom=Texts((at,), turns(moved, rope.wavelength[-1])),
    )
    return Film(
        "dials",
        Scene((text(at, scores, words, t), *(dial(rope, pair, at, t) for pair in shown(rope))), (at,), finding),
        lambda: (
            {"position": moved, "score": scores} | {f"angle of pair {p}": moved * rope.theta[p] for p in shown(rope)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.attention import score_curve
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        s = rc.spectrum(rc.Request(rope))
        for position in (0, 20, 4000):
            print(position * rope.theta[{shown(rope)}], score_curve(s, [position - {PARTNER}]))
        """,
    )


def text(at: Control, scores: Array, words: tuple[str, ...], t: Words) -> Panel:
    """Return the sentence and the rest of the text as a line, the moved token above it at the height of its score."""
    count = len(words)
    moved = np.array(at.stops)
    along = places(moved, count)
    foot = min(0.0, float(scores.min())) - 0.12
    here, high = Track((at,), along[:, None]), Track((at,), scores[:, None])
    ticks = [(float(k), str(k)) for k in range(count)]
    ticks += [(float(places(np.array(p), count)), f"{p:,}") for p in (10, 100, 1000, LAST)]
    stand = np.arange(count)
    others = np.delete(stand, PARTNER)[:-1]
    marked = {PARTNER: RED, count - 1: BLUE}
    return Panel(
        Axis(-0.6, (1 + REST) * count + 0.2, tuple(ticks), t("position_axis")),
        Axis(foot - 0.4, 1.35, ((0.0, "0"), (1.0, "1")), t("score_axis", word=words[PARTNER])),
        [
            boxes(others - 0.46, others + 0.46, foot - 0.38, foot, GREY, opacity=0.2),
            *(
                boxes(np.array([k - 0.46]), np.array([k + 0.46]), foot - 0.38, foot, colour, opacity=0.3)
                for k, colour in marked.items()
            ),
            *(
                label(float(k), foot - 0.19, word, marked.get(k, "ink"), size=13, bold=k in marked, dy=5)
                for k, word in enumerate(words)
            ),
            label(count + 0.3, foot - 0.19, "…", size=18, dy=3),
            dots(along, scores, GREY, 2),
            path(
                Track((at,), np.stack([along, along], axis=1)),
                Track((at,), np.stack([np.full_like(scores, foot), scores], axis=1)),
                BLUE,
                2,
                dash="3 4",
            ),
            handle(at, here, high, BLUE, t("grab_token", word=words[-1]), r=12),
            label(
                here,
                high,
                Texts((at,), tuple(f"{words[-1]} {score:.2f}".replace("-", "−") for score in scores)),
                BLUE,
                bold=True,
                size=18,
                dy=-18,
            ),
        ],
        width=2000,
        height=138,
    )


def dial(rope: rc.Rope, pair: int, at: Control, t: Words) -> Panel:
    """Return one pair's hands: the moved token's, and the other token's, which rests."""
    moved = np.array(at.stops)
    angle = Track((at,), (UP - moved * rope.theta[pair])[:, None])
    wave = rope.wavelength[pair]
    count = Texts((at,), tuple(t("turned", count=text) for text in turns(moved, wave)))
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.12, 1.12),
        [
            circle(0.0, 0.0, 1.0, GREY, 2),
            hands(0.0, 0.0, 0.86, UP - PARTNER * rope.theta[pair], RED, 3),
            hands(0.0, 0.0, 1.0, angle, BLUE, 6),
            label(0.0, -0.52, count, bold=True, size=15),
            label(0.0, -0.76, t("pair", i=pair), size=13),
            turned(at, 0.0, 0.0, 1.0, angle, BLUE, t("grab_hand", i=pair), r=8),
        ],
        t("one_turn", wave=tokens(wave)),
        width=150,
        height=152,
        equal=True,
    )


@kept
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
