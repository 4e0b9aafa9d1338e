"""The front page's film against rotations by matrices, at every stop."""

from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import home as figures
from ui.figures.drawing import Film
from ui.film.scene import text_at
from ui.text.words import PageTexts

T = PageTexts("en", "home")


def film(rope: rc.Rope, distances: tuple[int, ...] = (1, 24, 600)) -> Film:
    built: Film = unwrap(figures.angle_of_distance_film)(rope, figures.START, distances, T)
    return built


@pytest.mark.parametrize("dim, base", [(128, 1e4), (6, 700.0), (16, 3.0)])
def test_the_drawn_angle_is_that_of_two_vectors_turned_by_matrices(dim: int, base: float) -> None:
    rope = rc.Rope(dim, base)
    pair = figures.single_drawn_pair(rope)
    start = np.zeros(dim)
    start[2 * pair] = 1.0
    _, circle, wide, narrow, *_ = film(rope).scene.panels
    key = next(mark for mark in circle.marks if mark["kind"] == "vector")["angle"]
    query = next(mark for mark in circle.marks if mark["kind"] == "drag_handle")["angle"]
    k = rc.rotation_matrix(figures.KEY_POSITION, rope.theta, "interleaved") @ start
    for at, position in enumerate(range(figures.FIRST, figures.LAST + 1)):
        q = rc.rotation_matrix(position, rope.theta, "interleaved") @ start
        # The clock's way: what the matrices turn counter-clockwise is drawn mirrored.
        drawn = key - query.numbers_at({"position": at})[0]
        assert drawn == pytest.approx((position - figures.KEY_POSITION) * rope.theta[pair])
        assert np.cos(drawn) == pytest.approx(q @ k, abs=1e-12)
        product = f" = {q @ k:.2f}.".replace("-", "−")
        for meanings, line in ((wide, 2), (narrow, 1)):
            assert text_at(meanings.paragraphs[line].content, {"position": at}).endswith(product)


def test_what_has_gone_round_is_pale_and_counted() -> None:
    rope, distances = rc.Rope(128, 5e3), (1, 24, 27_000)
    scene = film(rope, distances).scene
    *_, grid, _ = scene.panels
    pale = [mark for mark in grid.marks if mark["kind"] == "vector"][-1]["colour_index"]
    for at, distance in enumerate(distances):
        gone = distance * rope.theta >= 2 * np.pi
        assert pale.numbers_at({"distance": at}).tolist() == gone.tolist()
        shown_text = scene.finding_at({"position": 5, "distance": distance, "beat": 2})
        assert (
            f" {gone.sum()} of the 64 arrows" in shown_text
            and figures.degrees_text(distance * rope.theta[-1]) in shown_text
        )


def test_every_row_of_words_reads_up_to_its_last_word() -> None:
    for lang in LANGUAGES:
        rows = [row.split() for row in PageTexts(lang, "home")("rows").split("|")]
        assert [len(row) - 1 for row in rows] == list(range(figures.FIRST, figures.LAST + 1))
        assert len({(row[figures.KEY_POSITION], row[-1]) for row in rows}) == 1


def angle(t: PageTexts) -> str:
    """Return the finding by the pair's frequency, written anew."""
    turned = 4 * ROPE.base ** (-2 * (ROPE.pairs // 8) / ROPE.dim) * 180 / np.pi
    return t("angle_finding", words="4", angle=f"{turned:.3g}°")


ROWS: list[Row] = []
FILMS = [
    FilmRow(
        "home", figures.angle_of_distance_film, (ROPE, 5, (1, 24)), {"position": 5, "beat": 1, "distance": 1}, angle
    ),
    FilmRow("home", figures.finished_pairs_sketch, (ROPE,), {}, to_draw),
]
