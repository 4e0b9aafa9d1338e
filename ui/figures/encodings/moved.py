"""Step 2 of the page: the whole sentence moves, and what a word attends to with an added vector and with RoPE."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory.encodings.compare import encoding_logits, random_encoding_weights, token_vectors
from rope_core.theory.softmax import softmax
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint, word_row, word_tile
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextTrack
from ui.text.words import PageTexts

WORDS = ("the", "cat", "sat", "on", "the", "mat")
"""What is computed in every language: a word's vector is drawn by its letters."""
FIRST, READER, SECOND_THE, LAST = 1, 2, 4, 5
"""Where the two words that change places are, the word whose attention is drawn, and the one that findings name."""
DIM = 16
KINDS = ("sinusoidal", "rope")
NEAR, FAR = 5, 1000
"""The most words in front that are written out, and how many there are at the last stop."""
STILL = 1e-9
COLOURS = {FIRST: KEY_COLOUR, LAST: QUERY_COLOUR, READER: "ink"}


def shift_stops(value: int) -> tuple[int, ...]:
    """Return how many words can be put in front: none to 5, a thousand, and a value in force.

    >>> shift_stops(3), shift_stops(40)
    ((0, 1, 2, 3, 4, 5, 1000), (0, 1, 2, 3, 4, 5, 40, 1000))
    """
    return tuple(sorted({*range(NEAR + 1), value, FAR}))


class AttentionShares:
    """What the reader attends to by encoding, shares of its attention, float64 (stops, 6)."""

    def __init__(self, base: float, moved: tuple[int, ...]) -> None:
        x, head, stand = token_vectors(WORDS, DIM), random_encoding_weights(DIM, base), np.arange(len(WORDS))
        self.shares: dict[str, Array] = {
            kind: np.stack([softmax(encoding_logits(kind, x, stand + by, head)[READER]) for by in moved])
            for kind in KINDS
        }

    def is_shift_invariant(self, kind: str) -> bool:
        """Whether no share changes as the sentence moves."""
        return bool(np.abs(self.shares[kind] - self.shares[kind][0]).max() < STILL)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def article_attention_finding(attended: AttentionShares, shift: Control, t: PageTexts) -> TextTrack:
    """Return what the reader gives the second article now and before, with an added vector."""
    shares = attended.shares["sinusoidal"][:, SECOND_THE]
    before = _percent(shares[0])
    written = [
        t("moved_finding", words=label, now=_percent(now), before=before) if stop else t("not_moved")
        for stop, label, now in zip(shift.stops, shift.stop_labels, shares.tolist(), strict=True)
    ]
    return shift.texts(written)


def moved_sentence_attention_panels(attended: AttentionShares, shift: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the sentence with words in front, and the attention by both encodings."""
    return _sentence(shift, t), *(_bars(kind, attended, shift, t) for kind in KINDS)


def _sentence(shift: Control, t: PageTexts) -> Panel:
    moved = np.array(shift.stops)
    ahead = np.minimum(moved, NEAR)
    earlier, tokens = t("words_before").split()[-NEAR:], t("sentence").split()
    whole: list[Mark] = []
    for k, token in enumerate(tokens):
        whole += word_tile(shift.numbers(k + ahead), 1.0, token, COLOURS.get(k, ""))
    both = list(zip(moved.tolist(), ahead.astype(int).tolist(), strict=True))

    def in_front(k: int, by: float, n: int) -> str:
        return "…" if by > NEAR else earlier[NEAR - n + k] if k < n else ""

    front = [shift.texts(in_front(k, by, n) for by, n in both) for k in range(NEAR)]
    places = [shift.numbers_where(k < ahead, float(k)) for k in range(NEAR)]
    slots = len(tokens) + NEAR
    written = [shift.texts(f"{k + by - n:,.0f}" for by, n in both) for k in range(slots)]
    numbers = [marks.text(float(k), 0.08, text, MUTED_COLOUR, font_size=14) for k, text in enumerate(written)]
    hint = shift.numbers_where(moved == 0, len(tokens) - 0.3)
    grip = shift.numbers(READER + ahead)
    shown = [
        *word_row(front, places, 1.0),
        *numbers,
        *marks.in_wide_panel(600, drag_hint(hint, 1.0, t("drag_sentence"), dy=6)),
        marks.drag_handle(shift, grip, 1.0, "ink", t("grab"), whole, radius_px=0),
    ]
    return Panel(Axis(-0.55, slots - 0.45), Axis(-0.3, 1.6), shown, t("attention_title"), min_width=2000, height=84)


def _bars(kind: str, attended: AttentionShares, shift: Control, t: PageTexts) -> Panel:
    """Return the shares as bars, in outline those before the move, and whether they change."""
    shares, at = attended.shares[kind], np.arange(len(WORDS))
    top = 1.25 * max(float(each.max()) for each in attended.shares.values())
    tokens = t("sentence").split()
    changes = not attended.is_shift_invariant(kind)
    drawn: list[Mark] = []
    for k in at.tolist():
        now = shift.numbers(shares[:, k : k + 1])
        high = shift.numbers(np.maximum(shares[:, k : k + 1], shares[0, k]))
        before = _percent(shares[0, k])
        written = tuple(
            f"{before} → {_percent(value)}" if changes and stop else before
            for stop, value in zip(shift.stops, shares[:, k].tolist(), strict=True)
        )
        drawn += [
            marks.rect(k + 0.2, k + 0.8, 0.0, now, COLOURS.get(k, GREY), opacity=0.45),
            marks.rect(k + 0.2, k + 0.8, 0.0, shares[0, k], "none", outline="ink", stroke_width=2),
            marks.text(k + 0.5, high, shift.texts(written), bold=True, font_size=14, dy=-6),
        ]
    verdict = ("✗ ", UNSEEN_COLOUR) if changes else ("✓ ", TRAINED_COLOUR)
    across = Axis(
        -0.05, len(WORDS) + 0.05, tuple((k + 0.5, tokens[k]) for k in at.tolist()), t("attends_axis"), grid=False
    )
    paragraphs = (
        Paragraph(verdict[0] + t("attention_changes" if changes else "attention_stays"), verdict[1], 17, bold=True),
        Paragraph(t(f"{kind}_why"), MUTED_COLOUR, 15),
    )
    return Panel(across, Axis(0.0, top), drawn, t(f"{kind}_way"), min_width=300, height=140, paragraphs=paragraphs)
