"""The first picture of the page: two words change places, and what attention then hands to a third."""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.encodings.compare import (
    attention_outputs,
    encoding_logits,
    random_encoding_weights,
    token_vectors,
)
from rope_core.theory.softmax import softmax
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings import moved as moving
from ui.figures.encodings.moved import DIM, FIRST, LAST, READER, WORDS
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, VALUE_COLOUR
from ui.film.composite_marks import TILE, drag_hint, mark_angle_from_clock, text_lines, verdict_marks, word_tile
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, field_control, scene_in_beats
from ui.text.words import PageTexts

SAME = 1e-9
SENTENCE, KEYS = 1.95, 1.06
"""Where the sentence stands above the other order, and its keys' arrows between them."""
LOWER = {True: 0.0, False: -0.55}
"""Where the other order stands on a wide and on a narrow screen."""
ENCODED = {"nope": ("plain_attention", "cannot_tell"), "rope": ("turned_attention", "order_shows")}


class ExchangeOutputs:
    """What attention hands to the reader in both orders, (2, 16), the last word's share of it, how many differ, and by
    how much the least.
    """

    def __init__(self, base: float) -> None:
        head = random_encoding_weights(DIM, base)
        other = list(WORDS)
        other[FIRST], other[LAST] = other[LAST], other[FIRST]
        self.numbers = {
            name: np.array([attention_outputs(name, order, head)[READER] for order in (WORDS, other)])
            for name in ENCODED
        }
        order = np.arange(len(WORDS))
        scores = {
            name: [encoding_logits(name, token_vectors(each, DIM), order, head)[READER] for each in (WORDS, other)]
            for name in ENCODED
        }
        self.shares = {name: (softmax(here)[LAST], softmax(there)[FIRST]) for name, (here, there) in scores.items()}
        self.differ = {name: int((np.abs(a - b) > SAME).sum()) for name, (a, b) in self.numbers.items()}
        self.least = {name: float(np.abs(a - b).min()) for name, (a, b) in self.numbers.items()}


@cached_figure
def word_exchange_film(base: float, moved: tuple[int, ...], t: PageTexts) -> Film:
    """Return two words that change places, then the whole sentence moved by ``moved``, positions added or turned."""
    handed = ExchangeOutputs(base)
    order = Control("order", t("field.order"), (0.0, 1.0), (t("own_order"), t("other_order")))
    shift = field_control(t, "shift", moved, play_seconds=4.0)
    attended = moving.AttentionShares(base, moved)
    tokens = t("sentence").split()
    same, differ = (_share(count, t) for count in (DIM - handed.differ["nope"], handed.differ["rope"]))
    here, there = (f"{100 * share:.0f}" for share in handed.shares["rope"])
    places = {"first": FIRST, "last": LAST, "here": here, "there": there}
    given = {"same": same, "differ": differ, "count": DIM} | places
    rope = rc.Rope(DIM, base)
    panels = [
        *(_words(tokens, rope, order, t, wide=wide) for wide in (True, False)),
        *(_bars(name, handed, order, t, wide=wide) for name in ENCODED for wide in (True, False)),
    ]
    scene = scene_in_beats(
        t,
        "swapping",
        (order, panels, order.texts(t(f"{key}_finding", **given) for key in ("both_orders", "exchanged"))),
        (
            shift,
            moving.moved_sentence_attention_panels(attended, shift, t),
            moving.article_attention_finding(attended, shift, t),
        ),
    )
    return Film(
        "swapping",
        scene,
        lambda: {
            f"{name}, {which}": numbers[k]
            for name, numbers in handed.numbers.items()
            for k, which in enumerate(("this order", "exchanged"))
        },
        f"""
        import numpy as np
        from rope_core.theory.encodings.compare import attention_outputs, random_encoding_weights
        head = random_encoding_weights({DIM}, {base!r})
        this, exchanged = "the cat sat on the mat".split(), "the mat sat on the cat".split()
        for name in {tuple(ENCODED)}:
            a, b = (attention_outputs(name, tokens, head)[{READER}] for tokens in (this, exchanged))
            print(name, int((abs(a - b) > {SAME}).sum()), "of", len(a), "differ")
        from rope_core.theory.encodings.compare import encoding_logits, token_vectors
        from rope_core.theory.softmax import softmax
        x, stand = token_vectors(this, {DIM}), np.arange(len(this))
        for tokens, place in ((this, {LAST}), (exchanged, {FIRST})):
            print(place, softmax(encoding_logits("rope", token_vectors(tokens, {DIM}), stand, head)[{READER}])[place])
        for by in (0, shift):
            print(by, softmax(encoding_logits("sinusoidal", x, stand + by, head)[{READER}]))
        """,
    )


def _share(count: int, t: PageTexts) -> str:
    """Return how many of the numbers a sentence is about, in words where it is all of them."""
    return t("every") if count == DIM else t("some", count=count)


def _places(order: Control, k: int) -> Array:
    """Return a word's place in this order and exchanged, (stops, 1)."""
    return np.array([[k], [{FIRST: LAST, LAST: FIRST}.get(k, k)]], dtype=float)


def _turned_key(x: NumberTrack, places: Array, rope: rc.Rope, order: Control, *, wide: bool) -> list[Mark]:
    """Return the arrow of one pair of a key, turned by the place of its word, below its tile."""
    angles = places * rope.theta[single_drawn_pair(rope)]
    at = x + (-0.18 if wide else 0.0)
    look: dict[str, Any] = {"length_unit": "y"}
    written = marks.text(x + 0.08, KEYS, order.texts(map(degrees_text, angles[:, 0].tolist())), anchor="start", dy=5)
    return [
        marks.circle(at, KEYS, 0.34, GREY, 1.5, **look),
        marks.vector(at, KEYS, 0.33, mark_angle_from_clock(order.numbers(angles)), "ink", 3, True, **look),
        *([written] if wide else []),
    ]


def _words(tokens: list[str], rope: rc.Rope, order: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return the sentence, whose two words change places, its keys, and in outline the order that it is not in."""
    colours = {FIRST: KEY_COLOUR, LAST: QUERY_COLOUR, READER: "#1c2733"}
    upper: list[Mark] = []
    lower: list[Mark] = []
    low = LOWER[wide]
    for k, token in enumerate(tokens):
        here = order.numbers(_places(order, k))
        there = order.numbers(_places(order, k)[::-1])
        tile = word_tile(here, SENTENCE, token, colours.get(k, ""), 0.42)
        upper += _turned_key(here, _places(order, k), rope, order, wide=wide)
        name = t("grab_word", word=token)
        moves = k in (FIRST, LAST)
        upper += [marks.drag_handle(order, here, SENTENCE, colours[k], name, tile, radius_px=0)] if moves else tile
        edge: dict[str, Any] = {"outline": colours[k] if moves else MUTED_COLOUR, "stroke_width": 2, "corner_px": 5}
        left, right = (there + by for by in (-TILE, TILE))
        lower += [
            marks.rect(left, right, low - 0.38, low + 0.38, "none", **edge),
            marks.text(there, low, token, colours[k] if moves else "ink", dy=5, font_size=15, bold=moves),
        ]
    way = np.linspace(float(FIRST), float(LAST), 24)
    high = SENTENCE + 0.47 + 0.3 * np.sin(np.pi * (way - FIRST) / (LAST - FIRST))
    shown = order.numbers(np.stack([high, np.full_like(high, np.nan)]))
    hint = order.numbers(np.array([[5.65 if wide else 3.0], [np.nan]]))
    words: list[Mark] = [marks.line(way, shown, "ink", 2, "5 4")] if wide else []
    swatch, filled, outlined = (-2.45, SENTENCE, low) if wide else (-0.46, SENTENCE + 0.72, low - 0.72)
    words += [
        marks.rect(swatch, swatch + 0.26, filled - 0.12, filled + 0.12, VALUE_COLOUR, opacity=0.55),
        marks.rect(swatch, swatch + 0.26, outlined - 0.12, outlined + 0.12, "none", outline="ink", stroke_width=2),
    ]
    if wide:
        other = order.texts((t("other_one"), t("one_before")))
        words += [
            marks.text(-0.65, SENTENCE, t("this_one"), anchor="end", bold=True, dy=5),
            *text_lines(-0.65, KEYS, t("turned_keys").split("|"), anchor="end", dy=-4),
            marks.text(5.65, KEYS, t("one_pair", pairs=rope.pairs), MUTED_COLOUR, anchor="start", dy=5),
            marks.text(-0.65, 0.0, other, anchor="end", bold=True, dy=5),
            drag_hint(hint, SENTENCE, t("drag_word"), dy=-2),
            marks.text(hint, SENTENCE, t("they_change"), anchor="start", dx=22, dy=18),
        ]
    else:
        look: dict[str, Any] = {"font_size": 14, "dy": 5}
        words += [
            drag_hint(hint, filled + 0.52, t("drag_word_short"), anchor="middle"),
            marks.text(2.5, KEYS - 0.66, t("turned_keys").replace("|", ""), MUTED_COLOUR, **look),
            marks.text(-0.1, filled, t("filled_bars"), anchor="start", **look),
            marks.text(-0.1, outlined, t("outlined_bars"), anchor="start", **look),
        ]
    x = Axis(-2.56, 7.9) if wide else Axis(-0.5, 5.5)
    y = Axis(-0.45, SENTENCE + 0.85) if wide else Axis(-1.45, SENTENCE + 1.4)
    picture = [*lower, *upper, *words]
    return Panel(
        x, y, picture, min_width=2000 if wide else 300, height=150 if wide else 196, screen="wide" if wide else "narrow"
    )


def _bars(name: str, handed: ExchangeOutputs, order: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return the numbers as bars, and in outline those of the order that the sentence is not in."""
    key, meaning = ENCODED[name]
    numbers, count = handed.numbers[name], handed.differ[name]
    at = np.arange(DIM)
    top = 1.02 * max(float(np.abs(each).max()) for each in handed.numbers.values())
    level, outline = (order.numbers(each) for each in (numbers, numbers[::-1]))
    same = t("all_same", count=DIM - count, of=DIM) if count < DIM else ""
    differ = t("all_differ", count=count, of=DIM) if count else ""
    # Rounding alone differs without positions: then all are the same.
    verdicts = ("", f"✗ {same}") if name == "nope" else (f"✓ {differ}", "")
    drawn = [
        marks.rect(at + 0.12, at + 0.88, 0.0, level, VALUE_COLOUR, opacity=0.55),
        marks.line([0.0, float(DIM)], [0.0, 0.0], MUTED_COLOUR, 1),
        marks.rect(at + 0.12, at + 0.88, 0.0, outline, "none", outline="ink", stroke_width=2),
    ]
    here, there = (f"{100 * share:.0f}" for share in handed.shares[name])
    shares = [t(meaning, here=a, there=b).split("|") for a, b in ((here, there), (there, here))]
    if wide:
        lines = t(key).split("|")
        drawn += [
            marks.text(-0.5, 0.0, line, anchor="end", bold=True, font_size=17, dy=22 * k - 4)
            for k, line in enumerate(lines)
        ]
        drawn += verdict_marks(16.6, 0.0, *verdicts, font_size=19, dy=-22)
        if count:
            least = t("least", least=f"{handed.least[name]:.1g}")
            drawn.append(marks.text(16.6, 0.0, least, MUTED_COLOUR, anchor="start", dy=40))
        drawn += text_lines(16.6, 0.0, [order.texts(each) for each in zip(*shares, strict=True)], anchor="start", dy=2)
    else:
        joined = order.texts(map("".join, shares))
        drawn.append(marks.text(DIM / 2, -top, joined, font_size=14, dy=16))
    title = t("handed") if name == "nope" else ""
    return Panel(
        Axis(-5.5, 22.4) if wide else Axis(-0.1, DIM + 0.1),
        Axis(-top if wide else -1.45 * top, top),
        drawn,
        title if wide else [t(key).replace("|", ""), " ", *verdicts],
        min_width=2000 if wide else 300,
        height=92 if wide else 88,
        screen="wide" if wide else "narrow",
    )
