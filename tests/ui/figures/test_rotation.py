"""The rotation page's figures against rotations written out by hand."""

import re
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory import demo
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, to_draw
from ui.figures.home import single
from ui.figures.rotation import circle, score
from ui.figures.rotation import matrix as figures
from ui.film.scene import integer_window, text_at
from ui.text.words import Words

T = Words("en", "rotation")


def turned(x: np.ndarray, angle: float) -> np.ndarray:
    return np.array([x[0] * np.cos(angle) - x[1] * np.sin(angle), x[0] * np.sin(angle) + x[1] * np.cos(angle)])


@pytest.mark.parametrize("dim, base, pair, m, n, shift", [(8, 50.0, 2, 7, 3, 11), (128, 5e5, 40, 4000, 12, 90_000)])
def test_arrows_shares_and_scores_at_every_stop(dim: int, base: float, pair: int, m: int, n: int, shift: int) -> None:
    rope = rc.Rope(dim, base)
    q, k = demo.drawn_vectors(dim)
    windows = integer_window(m), integer_window(n), integer_window(shift)
    scene = unwrap(circle.turning)(rope, pair, *windows, T).scene
    turn, curve, line = (panel for panel in scene.panels if panel.first_beat > 1)
    arrows = [arrow for grip in turn.marks if grip["kind"] == "drag_handle" for arrow in grip["grab_marks"]]
    index = {"m": windows[0].index(m), "n": windows[1].index(n), "shift": windows[2].index(shift)}
    tips = []
    for arrow, vector, position in zip(arrows, (q, k), (m + shift, n + shift), strict=True):
        angle = arrow["angle"].at(index)[0]
        tip = turned(vector[2 * pair : 2 * pair + 2], position * rope.theta[pair])
        tips.append(tip / np.hypot(*tip))
        np.testing.assert_allclose([np.sin(angle), np.cos(angle)], tips[-1], atol=1e-9)
    apart = f"{np.degrees(np.arccos(tips[0] @ tips[1])):.3g}"
    first = [vector[2 * pair : 2 * pair + 2] / np.hypot(*vector[2 * pair : 2 * pair + 2]) for vector in (q, k)]
    start = f"{np.degrees(np.arccos(first[0] @ first[1])):.3g}"
    assert text_at(scene.beats[1].finding, index) == T(
        "between_finding", m=f"{m + shift:,}", n=f"{n + shift:,}", angle=apart, start=start, d=str(m - n)
    )
    both, key, query = (shape for shape in line.marks if shape["kind"] == "drag_handle")
    assert [key["x"].at(index)[0], query["x"].at(index)[0]] == [n + shift, m + shift]
    assert [both["grab_marks"][0][side].at(index)[0] for side in ("x0", "x1")] == [n + shift, m + shift]
    grip = curve.marks[-1]
    for j, at in enumerate(windows[1]):
        by_hand = sum(
            turned(q[2 * i : 2 * i + 2], (m - at) * rope.theta[i]) @ k[2 * i : 2 * i + 2] for i in range(dim // 2)
        )
        here = index | {"n": j}
        np.testing.assert_allclose(grip["y"].at(here), [by_hand], atol=1e-9)
        assert grip["x"].at(here).tolist() == [m - at]


def test_a_hand_goes_its_way_without_a_jump() -> None:
    """Angles are unwrapped: between neighbouring stops a hand turns by its own angle, whichever side of a half turn."""
    scene = unwrap(circle.turning)(rc.Rope(8, 50.0), 0, *[integer_window(0)] * 3, T).scene
    arcs = [mark for panel in scene.panels for mark in panel.marks if mark.get("shorter_way")]
    angles = arcs[0]["end_angle"].keyframes[..., 0]
    np.testing.assert_allclose(np.diff(angles, axis=0), -1.0)
    np.testing.assert_allclose(np.diff(angles, axis=1), -1.0)


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4), rc.Rope(24, 7.0)])
def test_the_matrices_of_the_score_are_those_of_the_positions(rope: rc.Rope) -> None:
    scene = unwrap(circle.turning)(rope, 0, *[integer_window(0)] * 3, T).scene
    theta = rope.theta[[single(rope)]]
    product, left = (panel for panel in scene.panels if any(mark.get("content") == "q" for mark in panel.marks))
    for before in range(score.MOST_BEFORE + 1):
        index = {"before": before}
        back, on, rest = (rc.rotation_matrix(at, theta, "half") for at in (1 + before, 5 + before, 4))
        np.testing.assert_allclose(back.T @ on, rest, atol=1e-12)
        for panel, wanted in ((product, [*back.T.ravel(), *on.ravel()]), (left, rest.ravel())):
            numbers = [text_at(mark["content"], index) for mark in panel.marks if mark["kind"] == "text"]
            entries = [text for text in numbers if re.fullmatch(r"−?(\.\d\d|[01])", text)]
            assert entries == [score.entry(value) for value in wanted]
        shown_text = scene.finding_at({"before": before, "m": 0, "n": 0, "shift": 0, "beat": 1})
        assert f"back by {1 + before} " in shown_text and f"on by {5 + before}." in shown_text


def test_matrix_shows_the_blocks() -> None:
    drawing = figures.matrix(6, 5, 100.0, T)
    z = np.asarray(chart(drawing).data[0].z)
    angle = 5 * 100.0 ** (-2 / 6)
    np.testing.assert_allclose(z[2:4, 2:4], [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    layout = chart(drawing).layout
    assert np.count_nonzero(np.abs(z) > 1e-15) == 12
    boxes = [(box.x0, box.x1, box.y0, box.y1) for box in layout.shapes]
    assert boxes == [(low, low + 2, low, low + 2) for low in (-0.5, 1.5, 3.5)]
    # Row 0 is at the top, as a matrix is written, and cells are square.
    assert (layout.yaxis.autorange, layout.yaxis.scaleanchor, layout.yaxis.dtick) == ("reversed", "x", 1)
    assert (layout.xaxis.dtick, layout.xaxis.autorange) == (1, None)


@pytest.mark.parametrize("width", range(2, 17, 2))
def test_numbers_stand_in_their_cells_or_not_at_all(width: int) -> None:
    """Five characters such as −0.99 take 2.6 letter sizes; the matrix of a phone is 280 pixels wide."""
    heat = chart(figures.matrix(width, 5, 100.0, T)).data[0]
    shown = heat.texttemplate == "%{text}"
    assert shown == (width <= 12)
    assert not shown or 2.6 * heat.textfont["size"] * width <= 285


def test_three_forms_coincide_and_backward_is_the_opposite_turn() -> None:
    for drawing in (figures.three_forms(8, 9, 77.0, T), figures.backward(8, 9, 77.0, T)):
        values = [np.asarray(column, dtype=float) for column in drawing.table().values()][-2:]
        np.testing.assert_allclose(values[0], values[1], atol=1e-12)


def test_a_pair_beyond_the_width_shows_the_last_one() -> None:
    film = unwrap(circle.turning)(rc.Rope(8), 40, *[integer_window(0)] * 3, T)
    titles = [panel.title for panel in film.scene.panels]
    assert T("pair_title", i=3, last=3, angle="0.0573") in titles


def test_a_matrix_entry_never_reads_as_a_signed_zero() -> None:
    assert [figures.entry(v) for v in (0.0, -0.003, 0.0049, -0.9899, 1.0)] == ["", "≈0", "≈0", "−0.99", "1.00"]


def turning(t: Words) -> str:
    q, k = demo.drawn_vectors(16)
    shares = [turned_pair(q, k, 9, 5, slice(2 * i, 2 * i + 2)) for i in range(8)]
    exact = demo.score(q, k, 9, 5, ROPE.theta, "interleaved")
    assert abs(sum(shares) - exact) < 1e-12
    return t(
        "circle_finding", m=29, n=25, d=4, pairs=8, score=f"{exact:.3g}", share=f"{shares[3]:.3g}".replace("-", "−")
    )


def turned_pair(q: np.ndarray, k: np.ndarray, m: int, n: int, part: slice = slice(None)) -> float:
    """q at m and k at n, each by its own matrix; of their product the part of some dimensions."""
    turns = [rc.rotation_matrix(at, ROPE.theta, "interleaved") for at in (m, n)]
    return float((turns[0] @ q)[part] @ (turns[1] @ k)[part])


ROWS = [
    Row("rotation", figures.matrix, (10, 7, 33.0)),
    Row("rotation", figures.three_forms, (10, 7, 33.0)),
    Row("rotation", figures.backward, (10, 7, 33.0)),
]
WINDOW = integer_window(0)
FILMS = [
    FilmRow(
        "rotation",
        circle.turning,
        (ROPE, 3, WINDOW, WINDOW, WINDOW),
        {"before": 0, "m": 9, "n": 5, "shift": 20, "beat": 3},
        turning,
    ),
    FilmRow("rotation", circle.shifted, (ROPE, 9, 5), {}, to_draw),
]
