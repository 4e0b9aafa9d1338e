"""One unit of attention shared by ever more words, and what YaRN's factor on the scores leaves of it."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory.softmax import expected_entropy_and_weight, random_score_ranges, yarn_logit_scale
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, PURPLE
from ui.film.composite_marks import drag_hint, verdict_where, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack, sentence_parts
from ui.text.words import PageTexts

LEAD = 6.0
"""By how much the score of the one word that matters exceeds the others' mean, in their standard deviations."""
OCTAVES = np.arange(0.0, 6.01, 0.25)
"""Lengths of the text, in powers of two of the trained length."""
GOAL_FACTOR = 16
"""The length to drag to, in trained lengths; the step begins with a quarter of it."""
BINS, SEED = 96, 1
PITCH, HEAD, BAR = 28.0, 15.5, 9.0
"""From a row's zero to the next row's, to its heading and to a bar's upper edge, in scores."""


def text_length_stops(train_len: int, own: int | None) -> tuple[int, ...]:
    """Return the words of the texts to drag to, from the trained length to 64 times it, and ``own`` if it is longer."""
    longer = np.maximum(np.rint(train_len * 2**OCTAVES), 2).astype(int).tolist()
    return tuple(sorted({*longer, *([] if own is None or own <= train_len else [own])}))


def yarn_factors_and_attention_shares(keys: tuple[int, ...], train_len: int) -> tuple[Array, Array, Array]:
    """Return YaRN's factor on the scores at each length, and the word's attention (%) without it and with it, (n,)."""
    squares = np.array([yarn_logit_scale(n / train_len) for n in keys])
    plain, sharp = (100 * expected_entropy_and_weight(keys, scale, LEAD)[1] for scale in (1.0, squares))
    return squares, plain, sharp


def _short_percent(value: float) -> str:
    """Return a percentage with two digits, from 9.5 on with one decimal."""
    return f"{value:.2g}" if value < 9.5 else f"{value:.1f}"


def word_attention_finding(
    keys: Control, train_len: int, squares: Array, plain: Array, sharp: Array, t: PageTexts
) -> TextOrTrack:
    """Return the sentence about the word's attention at every length."""
    columns = {"plain": plain, "sharp": sharp}
    return sentence_parts(
        lambda **slots: t("spread_finding", before=f"{plain[0]:.2g}", **slots),
        times=keys.texts(f"{n / train_len:.3g}" for n in keys.stops),
        **{name: keys.texts(map(_short_percent, column)) for name, column in columns.items()},
        square=keys.texts(f"{value:.2f}" for value in squares),
    )


def scores_and_attention_panels(keys: Control, train_len: int, squares: Array, t: PageTexts) -> tuple[Panel, Panel]:
    """Return the drawn scores of a text at the trained length and longer, and the word's share of attention in each."""
    _, plain, sharp = yarn_factors_and_attention_shares(tuple(map(int, keys.stops)), train_len)
    ones, count = np.ones(len(keys.stops)), np.array(keys.stops)
    ranges = random_score_ranges(keys.stops, BINS, SEED)
    widths = (train_len / count, ones, ones)
    scales = (ones, ones, squares)
    texts = keys.texts(t("times_longer", times=f"{n / train_len:.3g}") for n in keys.stops)
    words = keys.texts(t("so_many", words=label) for label in keys.stop_labels)
    factor = keys.texts(t("multiplied", square=f"{square:.2f}") for square in squares)
    heads: tuple[tuple[TextOrTrack, TextOrTrack], ...] = (
        (t("at_trained"), t("so_many", words=f"{train_len:,}")),
        (texts, words),
        ([texts, t("with_yarn")], factor),
    )
    top = 1.25 * max(float(sharp.max()), float(plain[0]))
    left: list[Mark] = []
    right: list[Mark] = []
    for k, (width, scale, (head, small)) in enumerate(zip(widths, scales, heads, strict=True)):
        y = -PITCH * k
        places = np.linspace(0.0, 1.0, BINS)
        x = width[:, None] * np.concatenate([places, places[::-1]])
        of_row = ranges[:1] if k == 0 else ranges
        low, high = scale[:, None] * of_row[..., 0], scale[:, None] * of_row[..., 1]
        band = keys.numbers(y + np.concatenate([low, high[:, ::-1]], axis=1))
        match = keys.numbers(y + np.stack([0 * scale, LEAD * scale], axis=1))
        cat = 0.012 + 0.03 * width
        above = keys.texts(t("match", lead=f"{LEAD * each:.2g}") for each in scale)
        left += [
            marks.line(keys.numbers(x), band, GREY, 1, fill=GREY) | {"opacity": 0.45},
            marks.line(keys.numbers(np.stack([0 * width, width], axis=1)), [y, y], GREY, 1),
            marks.line(keys.numbers(np.stack([cat, cat], axis=1)), match, KEY_COLOUR, 5),
            marks.text(
                keys.numbers(cat),
                keys.numbers(y + LEAD * scale[:, None]),
                above,
                KEY_COLOUR,
                anchor="start",
                dx=8,
                dy=4,
                font_size=14,
            ),
            marks.text(0.0, y + HEAD, head, anchor="start", bold=True, dy=4),
            marks.text(1.0, y + HEAD, small, PURPLE if k == 2 else "ink", anchor="end", bold=k == 2, dy=4),
        ]
        share = (np.full(len(keys.stops), plain[0]), plain, sharp)[k]
        percent = keys.texts(f"{_short_percent(value)} %" for value in share)
        good = [float(value) >= float(plain[0]) * (1 - 1e-9) for value in share]
        right += [
            marks.rect(0.0, top, y, y + BAR, GREY, opacity=0.12),
            marks.rect(0.0, keys.numbers(share), y, y + BAR, KEY_COLOUR),
            marks.text(keys.numbers(share), y + BAR / 2, percent, KEY_COLOUR, bold=True)
            | {"anchor": "start", "dx": 6, "dy": 6, "font_size": 19},
            marks.line([plain[0], plain[0]], [y - 2, y + BAR + 2], "ink", 2, "4 3"),
        ]
        if k:
            right += verdict_where(keys, good, 0.0, y - 5, t("share_kept"), t("share_lost"), dy=4, font_size=15)
        else:
            right.append(marks.text(0.0, y - 5, t("share_rest"), anchor="start", dy=4, font_size=14))
    bottom, ceiling = -2 * PITCH - 11, HEAD + 3
    goal = x_hidden_past_stop(keys, GOAL_FACTOR * train_len / 2, 1.0)
    left.append(marks.drag_handle(keys, keys.numbers(widths[0]), 0.0, "ink", t("grab_keys"), radius_px=9))
    left += marks.in_wide_panel(330, drag_hint(goal, -1, t("drag_share"), anchor="end", dy=6))
    return (
        Panel(
            Axis(0.0, 1.0), Axis(bottom, ceiling), left, t("scores_title"), min_width=330, width_share=1.25, height=350
        ),
        Panel(Axis(0.0, top), Axis(bottom, ceiling), right, t("share_title"), min_width=250, height=350),
    )
