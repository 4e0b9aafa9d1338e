"""What adding a vector leaves in a score: its four terms, and the one that knows both positions."""

from __future__ import annotations

from functools import partial

import numpy as np

from rope_core.rope import Array
from rope_core.theory.encodings.additive import (
    additive_score_terms,
    cos_sin_vectors,
    hessian_term,
    random_hessian,
    sinusoidal_vectors,
)
from rope_core.theory.encodings.compare import random_encoding_weights, relative_residual, token_vectors
from ui.figures.drawing import Film, cached_figure
from ui.figures.encodings.moved import DIM, WORDS
from ui.figures.plot import scaled_int8
from ui.film import marks
from ui.film.colours import DIVERGING_SCALE, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.scene import Axis, Control, Panel, Paragraph, Scene, field_control, sentence_parts
from ui.text.words import PageTexts

TERMS = ("word_word", "word_position", "position_word", "position_position")
STILL = 1e-9
PLACES, WIDTH = 40, 32
"""Of the second-order term: positions, and numbers of a vector."""
STRENGTHS = tuple(round(0.05 * k, 2) for k in range(9))
"""How large the entries of H off its diagonal are, where those on it are about 1."""


def score_terms(base: float, shift: int) -> dict[str, Array]:
    """Return the four terms of the scores of the sentence moved by ``shift``, float64 (6, 6), rows the query."""
    head = random_encoding_weights(DIM, base)
    vectors = sinusoidal_vectors(np.arange(len(WORDS)) + shift, DIM, base)
    return additive_score_terms(token_vectors(WORDS, DIM), vectors, head.q / np.sqrt(DIM), head.k)


@cached_figure
def score_terms_film(base: float, moved: tuple[int, ...], t: PageTexts) -> Film:
    """Return the four terms of every score of a sentence, while it moves by ``moved``."""
    shift = field_control(t, "shift", moved, play_seconds=4.0)
    parts = [score_terms(base, by) for by in moved]
    limit = max(float(np.abs(each[name]).max()) for each in parts for name in TERMS)
    changes = {name: np.array([np.abs(each[name] - parts[0][name]).max() for each in parts]) for name in TERMS}
    largest = shift.texts(f"{max(changes[name][k] for name in TERMS):.2f}" for k in range(len(moved)))
    words_moved = shift.stop_text
    return Film(
        "crossing",
        Scene(
            [_term(name, np.stack([each[name] for each in parts]), changes[name], limit, shift, t) for name in TERMS],
            (shift,),
            sentence_parts(partial(t, "crossing_finding"), k=words_moved, change=largest),
        ),
        lambda: {"moved_by": np.array(moved)} | {f"{name}_largest_change": each for name, each in changes.items()},
        f"""
        import numpy as np
        from rope_core.theory.encodings.additive import additive_score_terms, sinusoidal_vectors
        from rope_core.theory.encodings.compare import random_encoding_weights, token_vectors
        head, x = random_encoding_weights({DIM}, {base!r}), token_vectors({WORDS!r}, {DIM})
        still, moved = (
            additive_score_terms(x, sinusoidal_vectors(np.arange(6) + by, {DIM}, {base!r}), head.q / {DIM**0.5}, head.k)
            for by in (0, shift)
        )
        print({{name: float(np.abs(moved[name] - still[name]).max()) for name in still}})
        """,
    )


def _term(name: str, values: Array, changes: Array, limit: float, shift: Control, t: PageTexts) -> Panel:
    count, tokens = len(WORDS), t("sentence").split()
    ticks = tuple((k + 0.5, token) for k, token in enumerate(tokens))
    rows = tuple((-k - 0.5, token) for k, token in enumerate(tokens))
    cells = shift.numbers(scaled_int8(values, limit))
    still = bool(changes.max() < STILL)
    words_of = ("✓ ", "term_stays", TRAINED_COLOUR) if still else ("✗ ", "term_changes", UNSEEN_COLOUR)
    x = Axis(0.0, count, ticks, t("term_key"), grid=False)
    y = Axis(-float(count), 0.0, rows, t("term_query"), grid=False)
    drawn = [marks.heatmap(cells, DIVERGING_SCALE, (0.0, float(count)), (0.0, -float(count)))]
    beside = (Paragraph(words_of[0] + t(words_of[1]), words_of[2], 15, bold=True),)
    return Panel(x, y, drawn, t(f"term.{name}"), min_width=150, height=150, equal_aspect=True, paragraphs=beside)


@cached_figure
def hessian_term_film(base: float, t: PageTexts) -> Film:
    """Return H and p_m^T H p_n for all m and n, from a diagonal H to one with entries everywhere."""
    off = field_control(t, "off", STRENGTHS, play_seconds=5.0)
    where = np.arange(PLACES)
    vectors = cos_sin_vectors(where, WIDTH, base)
    each = [random_hessian(WIDTH, strength, 0.0) for strength in STRENGTHS]
    scores = [hessian_term(matrix, vectors) for matrix in each]
    missed = [relative_residual(score, where) for score in scores]
    written = off.texts("0" if value < STILL else f"{100 * value:.2g}" for value in missed)
    limits = [max(float(np.abs(matrix).max()) for matrix in group) for group in (each, scores)]
    verdict = [
        off.texts(t(key) if (value < STILL) == (key == "one_value") else "" for value in missed)
        for key in ("one_value", "many_values")
    ]
    return Film(
        "hessian",
        Scene(
            (
                _square(np.stack(each), limits[0], off, t("h_title"), (t("h_column"), t("h_row")), ()),
                _square(
                    np.stack(scores),
                    limits[1],
                    off,
                    t("term_title"),
                    (t("key"), t("query")),
                    (
                        Paragraph(verdict[0], TRAINED_COLOUR, 16, bold=True),
                        Paragraph(verdict[1], UNSEEN_COLOUR, 16, bold=True),
                    ),
                ),
            ),
            (off,),
            sentence_parts(partial(t, "hessian_finding"), off=off.stop_text, share=written),
        ),
        lambda: {"off_diagonal": np.array(STRENGTHS), "share_missed_by_a_function_of_m_minus_n": np.array(missed)},
        f"""
        import numpy as np
        from rope_core.theory.encodings.additive import cos_sin_vectors, hessian_term, random_hessian
        from rope_core.theory.encodings.compare import relative_residual
        where = np.arange({PLACES})
        p = cos_sin_vectors(where, {WIDTH}, {base!r})
        for off in {STRENGTHS!r}:
            print(off, relative_residual(hessian_term(random_hessian({WIDTH}, off, 0.0), p), where))
        """,
    )


def _square(
    values: Array, limit: float, off: Control, title: str, axes: tuple[str, str], paragraphs: tuple[Paragraph, ...]
) -> Panel:
    count = values.shape[1]
    cells = off.numbers(scaled_int8(values, limit))
    ends = (0, count // 2, count - 1)
    return Panel(
        Axis(-0.5, count - 0.5, tuple((float(k), str(k)) for k in ends), axes[0], grid=False),
        Axis(0.5 - count, 0.5, tuple((-float(k), str(k)) for k in ends), axes[1], grid=False),
        [marks.heatmap(cells, DIVERGING_SCALE, (-0.5, count - 0.5), (0.5, 0.5 - count))],
        title,
        min_width=240,
        height=220,
        equal_aspect=True,
        paragraphs=paragraphs or (Paragraph("", MUTED_COLOUR),),
    )
