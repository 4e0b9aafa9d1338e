"""One unit of attention shared by ever more words, and what YaRN's factor on the scores leaves of it."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory.softmax import expected_attention, factor_scale
from ui.film import marks
from ui.film.colours import GREEN, GREY, PURPLE
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack, sentence_parts
from ui.text.words import Words

STANDS = 6.0
"""By how much the score of the one word that matters exceeds the others' mean, in their standard deviations."""
OCTAVES = np.arange(-2.0, 6.01, 0.25)
"""Lengths of the text, in powers of two of the trained length."""


def lengths(train_len: int, own: int | None) -> tuple[int, ...]:
    """Return the words of the texts to drag to, from a quarter of the trained length to 64 times, and ``own``."""
    spread = np.maximum(np.rint(train_len * 2**OCTAVES), 2).astype(int).tolist()
    return tuple(sorted({*spread, *([] if own is None else [own])}))


def shares(keys: tuple[int, ...], train_len: int) -> tuple[Array, Array, Array]:
    """Return YaRN's factor on the scores at each length, and the word's attention (%) without it and with it, (n,)."""
    squares = np.array([factor_scale(n / train_len) for n in keys])
    plain, sharp = (100 * expected_attention(keys, scale, STANDS)[1] for scale in (1.0, squares))
    return squares, plain, sharp


def texts_of(keys: Control, squares: Array, plain: Array, sharp: Array, t: Words) -> TextOrTrack:
    """Return the sentence about the word's attention at every length."""
    columns = {"plain": plain, "square": squares, "lead": STANDS * squares, "sharp": sharp}
    return sentence_parts(
        lambda **slots: t("spread_finding", stands=f"{STANDS:g}", **slots),
        keys=TextTrack((keys,), keys.stop_labels),
        **{name: TextTrack((keys,), tuple(f"{value:.3g}" for value in column)) for name, column in columns.items()},
    )


def panels(keys: Control, train_len: int, plain: Array, sharp: Array, t: Words) -> tuple[Panel, Panel]:
    """Return the unit of attention as two bars, and the word's share of it over the length of the text."""
    looks = ((plain, GREY, "unsharpened"), (sharp, PURPLE, "sharpened"))
    bars: list[Mark] = []
    for k, (share, colour, name) in enumerate(looks):
        at, percent = k - 0.5, TextTrack((keys,), tuple(f"{value:.2g} %" for value in share))
        bars += [
            marks.rect(at - 0.35, at + 0.35, 0.0, 100.0, GREY, opacity=0.15),
            marks.rect(at - 0.35, at + 0.35, 0.0, NumberTrack((keys,), share[:, None]), colour),
            marks.text(at, NumberTrack((keys,), share[:, None] + 5), percent, colour, bold=True),
            marks.text(at, -9.0, t(f"short.{name}"), colour, font_size=13),
        ]
    where = np.log2(np.array(keys.stops) / train_len)
    here = NumberTrack((keys,), where[:, None])
    top = 1.15 * float(max(plain.max(), sharp.max()))
    marked = NumberTrack((keys,), np.stack([where, where], axis=1))
    lines: list[Mark] = [marks.line((0.0, 0.0), (0.0, top), GREEN, 3)]
    names = [marks.text(0.0, top, t("trained_here"), GREEN, anchor="start", dx=6, dy=12, bold=True)]
    # Up to the trained length the two are one.
    for (share, colour, name), drawn in zip(looks, (where >= where[0], where >= 0), strict=True):
        lines += [
            marks.line(where[drawn], share[drawn], colour, 4),
            marks.dot(here, NumberTrack((keys,), np.where(drawn, share, np.nan)[:, None]), colour, 7),
        ]
        names.append(marks.text(where[-1], share[-1], t(f"line.{name}"), colour, anchor="end", dy=-16, bold=True))
    lines.append(
        marks.drag_handle(
            keys, here, 0.0, "ink", t("grab_keys"), [marks.line(marked, (0.0, top), "ink", 3)], radius_px=0
        )
    )
    ticks = tuple((float(y), str(y)) for y in (0, 10, 20) if y < top)
    steps = range(int(where[0]), int(where[-1]) + 1, 2)
    return (
        Panel(
            Axis(-1.0, 1.0),
            Axis(-12.0, 102.0),
            bars,
            t("unit_title"),
            min_width=110,
            width_share=0.5,
            height=230,
            first_beat=3,
        ),
        Panel(
            Axis(where[0], where[-1], tuple((float(p), f"{2.0**p:g}×") for p in steps), t("length_axis")),
            Axis(-0.04 * top, top, ticks, t("share_axis"), grid=False),
            [*lines, *names],
            min_width=210,
            height=190,
            first_beat=3,
        ),
    )
