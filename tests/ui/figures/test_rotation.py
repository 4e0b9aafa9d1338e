"""The rotation page's figures against rotations written out by hand."""

import re
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory.encodings.additive import sinusoidal_vectors
from rope_core.theory.encodings.compare import position_only_logits, random_encoding_weights
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, texts_at, to_draw
from ui.figures.home import single_drawn_pair
from ui.figures.layouts.threads import LayoutVectors
from ui.figures.rotation import drawn, matrix, places, score
from ui.figures.rotation.names import matrix_entry_text
from ui.film.scene import integer_window
from ui.text.words import PageTexts

T = PageTexts("en", "rotation")


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4), rc.Rope(24, 7.0)])
def test_the_matrices_of_the_score_are_those_of_the_positions(rope: rc.Rope) -> None:
    scene = unwrap(score.rotation_score_film)(rope, WINDOW, T).scene
    theta = rope.theta[[single_drawn_pair(rope)]]
    first = [panel for panel in scene.panels if panel.last_beat == 1]
    product, left = (panel for panel in first if any(mark.get("content") == "q" for mark in panel.marks))
    for before in range(score.MOST_BEFORE + 1):
        index = {"before": before}
        back, on, rest = (rc.rotation_matrix(at, theta, "half") for at in (1 + before, 5 + before, 4))
        np.testing.assert_allclose(back.T @ on, rest, atol=1e-12)
        for panel, wanted in ((product, [*back.T.ravel(), *on.ravel()]), (left, rest.ravel())):
            numbers = texts_at([mark for mark in panel.marks if "max_panel_px" not in mark], index)
            entries = [text for text in numbers if re.fullmatch(r"−?(0\.\d\d|[01])", text)]
            assert entries == [matrix_entry_text(value) for value in wanted]
        shown_text = scene.finding_at({"before": before, "m": 0, "apart": 0, "beat": 1})
        assert f"back by {1 + before}:" in shown_text and f"on by {5 + before};" in shown_text


@pytest.mark.parametrize("rope, first", [(ROPE, 0), (rc.Rope(128, 5e5), 0), (rc.Rope(24, 7.0), 90_000)])
def test_a_whole_vector_is_turned_pair_by_pair(rope: rc.Rope, first: int) -> None:
    """Against complex numbers by hand: the entries, the turned query, and what is written of them."""
    positions = tuple(range(first, first + 9))
    scene = unwrap(score.rotation_score_film)(rope, positions, T).scene
    _, product, *_ = (panel for panel in scene.panels if panel.first_beat == 2)
    theta, at = rope.theta[rope.pairs * np.array([2, 3, 4, 5]) // 16], 7
    z = LayoutVectors(rope).query.interleaved[0].reshape(4, 2) @ [1, 1j]
    spun = z * np.exp(1j * positions[at] * theta)
    blocks = [[w.real, -w.imag, w.imag, w.real] for w in np.exp(1j * positions[at] * theta)]
    wanted = [*np.ravel(blocks), *np.stack([z.real, z.imag], -1).ravel(), *np.stack([spun.real, spun.imag], -1).ravel()]
    texts = texts_at(product.marks, {"m": at})
    assert [text for text in texts if re.fullmatch(r"−?(0\.\d\d|[01])", text)] == [
        matrix_entry_text(value) for value in wanted
    ]
    turns = matrix.RotationMatrices(rope, tuple(map(float, positions)))
    assert np.count_nonzero(turns.matrices[at]) == 16 and turns.difference < 1e-9 and turns.relative < 1e-9


def test_one_diagonal_has_one_score_with_rope_and_many_with_an_added_vector() -> None:
    """Against the head's own projections, each word turned, or added to, alone."""
    base, head = 500.0, random_encoding_weights(128, 500.0)
    word = np.random.default_rng(0).standard_normal(128)
    added = [word + sinusoidal_vectors([n], 128, base)[0] for n in range(40)]
    turn = [rc.rotation_matrix(n, rc.Rope(128, base).theta, "interleaved") for n in range(40)]
    sides = {
        "rope": [[at @ projection @ word for at in turn] for projection in (head.q, head.k)],
        "sinusoidal": [[projection @ each for each in added] for projection in (head.q, head.k)],
    }
    maps = places.scores_by_encoding(base)
    for kind, (queries, keys) in sides.items():
        for m, n in ((7, 3), (0, 39), (33, 30)):
            assert maps[kind][m, n] == pytest.approx(queries[m] @ keys[n] / np.sqrt(128), abs=1e-9)
    spread = [max(np.ptp(np.diagonal(maps[kind], -d)) for d in range(40)) for kind in maps]
    assert spread[0] < 1e-12 and spread[1] > 0.5
    scene = unwrap(score.rotation_score_film)(rc.Rope(8, base), WINDOW, T).scene
    (image, _, other, _) = (panel for panel in scene.panels if panel.first_beat == 3)
    assert np.array_equal(np.diagonal(image.marks[0]["cells"], -6), np.full(34, image.marks[0]["cells"][6, 0]))
    assert np.unique(np.diagonal(other.marks[0]["cells"], -6)).size > 5


def test_backward_is_the_opposite_turn() -> None:
    values = [
        np.asarray(column, dtype=float) for column in matrix.rotated_gradient_chart(8, 9, 77.0, T).table().values()
    ][-2:]
    np.testing.assert_allclose(values[0], values[1], atol=1e-12)


def turning(t: PageTexts) -> str:
    word, head = np.random.default_rng(0).standard_normal(128), random_encoding_weights(128, ROPE.base)
    k = head.k @ word
    q = rc.rotation_matrix(7, rc.Rope(128, ROPE.base).theta, "interleaved") @ head.q @ word
    ends = [np.diagonal(position_only_logits("sinusoidal", np.arange(40), head), -7)]
    low, high, exact = (
        f"{value:.2f}".replace("-", "−") for value in (np.min(ends), np.max(ends), q @ k / np.sqrt(128))
    )
    return t("places_finding", d=7, score=exact, low=low, high=high)


WINDOW = integer_window(0)
ROWS = [Row("rotation", matrix.rotated_gradient_chart, (10, 7, 33.0))]
FILMS = [
    FilmRow(
        "rotation", score.rotation_score_film, (ROPE, WINDOW), {"before": 0, "m": 9, "apart": 7, "beat": 3}, turning
    ),
    FilmRow("rotation", drawn.shifted_score_sketch, (ROPE, 9, 5), {}, to_draw),
]
