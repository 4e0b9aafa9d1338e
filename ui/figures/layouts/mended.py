"""Step 2 of the page: a permutation before and after the turn makes one code's matrix the other's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import rope_core as rc
from rope_core.layout import convert
from rope_core.rope import Array
from rope_core.theory.layout_demo import mixed_layout_score_error
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import bracketed_matrix, drag_hint
from ui.film.marks import NumbersOrTrack
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, TextOrTrack, TextTrack
from ui.text.words import PageTexts

COLOURS = ("#0b7c8c", "#a8307e", "#8a5a2b", "#51607a")
"""A colour for each pair; none has another meaning."""
SIZE, WORDS, FARTHEST = 8, 4, 12
"""Numbers in the drawn head, how far its two words are apart, and the greatest distance of the curve."""
OWN, OTHER = np.repeat(np.arange(4), 2), np.tile(np.arange(4), 2)
"""The pair of each number in Meta's order and in Hugging Face's."""
WIDE = ((0.0, 0.0), (10.5, 0.0), (21.0, 0.0), (32.5, 0.0))
NARROW = ((0.0, 0.0), (10.5, 0.0), (0.0, -11.5), (10.5, -11.5))
AWAY = 1.2
"""How far the two permutations are from their places before they are put there, in cells."""


class LayoutMatrices:
    """The matrices of Meta's code and of Hugging Face's, ``WORDS`` apart, and the permutation between them.

    Attributes:
        permutation: P, float64 (8, 8): takes Meta's order to Hugging Face's.
        turn, wanted: R and R', float64 (8, 8).
        difference: of P R P^T from R', the largest.
        errors: of the scores without P at distances 0 to 12, shares of their size, float64 (13,).
    """

    def __init__(self, theta: Array) -> None:
        self.permutation: Array = np.eye(SIZE)[convert(SIZE, "interleaved", "half")]
        self.turn, self.wanted = (rc.rotation_matrix(WORDS, theta, layout) for layout in ("interleaved", "half"))
        self.difference = float(np.abs(self.permutation @ self.turn @ self.permutation.T - self.wanted).max())
        self.errors: Array = mixed_layout_score_error(theta, np.arange(FARTHEST + 1))


def permuted_scores_finding(product: LayoutMatrices, at: Control, t: PageTexts) -> TextTrack:
    """Return what the scores are without and with the permutation."""
    error = f"{100 * product.errors[WORDS]:.0f}"
    return at.texts(
        (t("unmended_finding", error=error, words=WORDS), t("mended_finding", difference=f"{product.difference:.1g}"))
    )


def permuted_matrix_panels(product: LayoutMatrices, at: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the product of the three matrices beside the wanted one, wide and narrow, and the error by distance."""
    return _product(product, at, t, WIDE, "wide"), _product(product, at, t, NARROW, "narrow"), _errors(product, at, t)


def _letters(values: Array) -> list[list[TextOrTrack]]:
    """Return the entries of a rotation as c, s and −s, or of a permutation as 1; nothing for a zero."""
    diagonal = np.eye(SIZE, dtype=bool)
    name = np.where(diagonal, "c", np.where(values < 0, "−s", "s"))
    whole = np.isin(values, (0.0, 1.0)).all()
    return [[("1" if whole else str(name[i, j])) if values[i, j] else "" for j in range(SIZE)] for i in range(SIZE)]


def _either(at: Control, label: str, t: PageTexts) -> TextTrack:
    """Return the words without and with the permutation."""
    return at.texts((t(f"{label}_0"), t(f"{label}_1")))


def _moved(drawn: Sequence[Mark], at: Control, by: float) -> list[Mark]:
    """Return marks that are ``by`` away from their places until the control is at its second stop."""

    def track(value: object) -> NumberTrack:
        x = np.atleast_1d(np.asarray(value, dtype=float))
        return at.numbers(np.stack([x + by, x]))

    return [mark | {key: track(mark[key]) for key in ("x", "x0", "x1") if key in mark} for mark in drawn]


def _product(
    product: LayoutMatrices, at: Control, t: PageTexts, corners: tuple[tuple[float, float], ...], screen: str
) -> Panel:
    wide = screen == "wide"
    font_size = 13 if wide else 12
    faint = at.numbers(np.stack([np.zeros(SIZE * SIZE), np.ones(SIZE * SIZE)]))
    rows = [[COLOURS[pair] for pair in order] for order in (OTHER, OWN)]
    matrices: tuple[tuple[Array, NumbersOrTrack, list[str], str, str], ...] = (
        (product.permutation, faint, rows[0], "P", "back"),
        (product.turn, np.abs(product.turn).ravel(), rows[1], "R", "turned"),
        (product.permutation.T, faint, rows[1], "Pᵀ", "into"),
        (product.wanted, np.abs(product.wanted).ravel(), rows[0], "R′", "needed"),
    )
    drawn: list[Mark] = []
    pulled: list[Mark] = []
    for k, ((values, sizes, colours, name, label), (x, y)) in enumerate(zip(matrices, corners, strict=True)):
        head = [
            marks.text(x, y + 0.25, name, anchor="start", bold=True, font_size=19, dy=-6),
            marks.text(x + 1.9, y + 0.25, _either(at, label, t), MUTED_COLOUR, anchor="start", dy=-7),
        ]
        cells = bracketed_matrix(_letters(values), sizes, x, y, colours, font_size=font_size)
        whole = [*head, *cells]
        if k in (0, 2):
            whole = _moved(whole, at, -AWAY if k == 0 else AWAY if wide else -AWAY)
        if k == 0:
            pulled = whole
        else:
            drawn += whole
    low, end = corners[2][1] - SIZE, corners[3][0] + SIZE
    between, level = (corners[3][0] + corners[2][0] + SIZE) / 2, corners[3][1] - 4.0
    right, wrong = (at.numbers_where(np.arange(2) == stop, between) for stop in (1, 0))
    hint = at.numbers(np.array([[0.0], [np.nan]]))
    grip = at.numbers(np.array([[4.0 - AWAY], [4.0]]))
    return Panel(
        Axis(-AWAY - 0.4, end + 0.4),
        Axis(low - 1.6, 1.5),
        [
            *drawn,
            marks.text(right, level, "=", TRAINED_COLOUR, bold=True, font_size=28, dy=8),
            marks.text(right, level, "✓", TRAINED_COLOUR, bold=True, font_size=20, dy=34),
            marks.text(wrong, level, "≠", UNSEEN_COLOUR, bold=True, font_size=28, dy=8),
            marks.text(wrong, level, "✗", UNSEEN_COLOUR, bold=True, font_size=20, dy=34),
            drag_hint(hint, low - 0.5, t("drag_permutation"), dy=12),
            *([marks.text(end, low - 0.5, t("cos_sin"), MUTED_COLOUR, anchor="end", dy=12)] if wide else []),
            marks.link_symbol(
                "P", marks.drag_handle(at, grip, -4.0, "ink", t("grab_permutation"), pulled, radius_px=0)
            ),
        ],
        min_width=2000 if wide else 300,
        height=260 if wide else 400,
        equal_aspect=True,
        screen=screen,
    )


def _errors(product: LayoutMatrices, at: Control, t: PageTexts) -> Panel:
    """Return the error of the scores by distance: a curve without the permutation, 0 everywhere with it."""
    x, errors = np.arange(FARTHEST + 1), 100 * product.errors
    mended = at.numbers(np.stack([np.full(x.size, np.nan), np.zeros(x.size)]))
    here = at.numbers(np.array([[errors[WORDS]], [0.0]]))
    words = at.texts((f"✗ {errors[WORDS]:.0f} %", ""))
    across = Axis(0.0, FARTHEST + 0.5, tuple((float(d), str(d)) for d in range(0, FARTHEST + 1, 4)), t("words_axis"))
    up = Axis(0.0, 150.0, ((0.0, "0 %"), (100.0, "100 %")), t("mixed_axis"))
    shown = [
        marks.line(x, errors, GREY, 3, stroke_dash="6 5"),
        marks.line(x, at.numbers(np.stack([errors, np.full(x.size, np.nan)])), "ink", 4),
        marks.line(x, mended, TRAINED_COLOUR, 5),
        marks.dot([0.0], [0.0], TRAINED_COLOUR, 7),
        marks.dot([float(WORDS)], here, "ink", 7),
        marks.text(float(WORDS), here, words, UNSEEN_COLOUR, anchor="start", bold=True, dx=10, dy=18),
        marks.text(0.3, 0.0, _either(at, "right", t), TRAINED_COLOUR, anchor="start", bold=True, dx=8, dy=-8),
    ]
    return Panel(across, up, shown, min_width=2000, height=70)
