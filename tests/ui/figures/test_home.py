"""The front page's film: every stop against rotations by matrices."""

from inspect import unwrap

import mpmath
import numpy as np
import pytest

import rope_core as rc
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import home as figures
from ui.figures.drawing import Film
from ui.page.fields import stops
from ui.page.menu import PATH
from ui.text.words import LANGUAGES, Words

T = Words("en", "home")


def film(rope: rc.Rope, positions: tuple[int, ...]) -> Film:
    built: Film = unwrap(figures.dials)(rope, positions, figures.words_of("", T), T)
    return built


@pytest.mark.parametrize("dim, base", [(128, 1e4), (6, 700.0), (2, 3.0)])
def test_hands_and_score_at_every_stop(dim: int, base: float) -> None:
    rope, positions = rc.Rope(dim, base), (0, 1, 2, 19, 500, 4095)
    arrow, _, line, *dials = film(rope, positions).scene.panels
    even = np.full(dim, dim**-0.5)
    other = rc.rotation_matrix(1, rope.theta, "interleaved") @ even
    curve, here = (shape for shape in line.marks if shape["kind"] == "dot")
    zero, single_one = (place for place, _ in line.y.ticks)
    assert len(dials) == min(4, dim // 2)
    alone = (
        next(shape for shape in arrow.marks if shape["kind"] == "drag_handle" and "angle" in shape),
        figures.single(rope),
    )
    for k, position in enumerate(positions):
        turned = rc.rotation_matrix(position, rope.theta, "interleaved") @ even
        assert (here["y"].at({"position": k})[0] - zero) / (single_one - zero) == pytest.approx(
            turned @ other, abs=1e-9
        )
        assert curve["y"][k] == here["y"].at({"position": k})[0]
        grips = [
            (panel.marks[-1], pair, panel.marks[1]) for panel, pair in zip(dials, figures.shown(rope), strict=True)
        ]
        for grip, pair, rests in [*grips, (*alone, None)]:
            drawn = [(grip["angle"].at({"position": k})[0], position), *([(rests["angle"], 1)] if rests else [])]
            for angle, at in drawn:
                # From the top, against the clock as every rotation of a pair.
                exact = at * mpmath.mpf(base) ** (mpmath.mpf(-2 * pair) / dim)
                assert np.sin(angle) == pytest.approx(float(mpmath.cos(exact)), abs=1e-9)
                assert np.cos(angle) == pytest.approx(-float(mpmath.sin(exact)), abs=1e-9)


def test_a_hand_turns_without_a_jump() -> None:
    """Angles are unwrapped: from stop to stop a hand turns by theta for each token."""
    rope, positions = rc.Rope(8, 100.0), (0, 3, 10, 400)
    for panel, pair in zip(film(rope, positions).scene.panels[3:], figures.shown(rope), strict=True):
        angle = next(shape for shape in panel.marks if shape["kind"] == "drag_handle")["angle"].keyframes[:, 0]
        np.testing.assert_allclose(np.diff(angle), np.diff(positions) * rope.theta[pair])


def test_places_are_the_words_and_then_logarithmic() -> None:
    at = figures.places(np.array([0, 3, 6, 6 * 26, 6 * 26 * 26, 4095]), 6)
    assert at[:3].tolist() == [0, 3, 6] and at[-1] == pytest.approx(6 * (1 + figures.REST))
    assert at[4] - at[3] == pytest.approx(at[3] - at[2])


def test_every_position_of_a_link_is_a_stop() -> None:
    from pages.learn.home import POSITION

    for value in (0, 20, 63, 64, 777, 4095):
        assert value in stops(POSITION, value)
    assert stops(POSITION, 20)[:65] == tuple(range(65)) and stops(POSITION, 20)[-1] == POSITION.high
    assert len(stops(POSITION, 777)) == len(stops(POSITION, 20)) + 1


def test_a_sentence_is_words_or_letters_and_never_too_few_or_too_many() -> None:
    own = tuple(T("sentence").split())
    assert figures.words_of("", T) == figures.words_of("two words", T) == figures.words_of("ab", T) == own
    assert figures.words_of("to be or not", T) == ("to", "be", "or", "not")
    assert figures.words_of("床前明月光", T) == ("床", "前", "明", "月", "光")
    assert figures.words_of("x" * 99 + " y" * 9, T) == ("x" * 10, *"y" * 7)


def test_the_path_is_the_menus() -> None:
    for lang in LANGUAGES:
        assert Words(lang, "home")("path").split()[: len(PATH) - 1] == list(PATH[1:])


def dials(t: Words) -> str:
    """Return the finding by the base's powers."""
    often, seldom = (70 * ROPE.base ** (-2 * i / ROPE.dim) / (2 * np.pi) for i in (0, ROPE.pairs - 1))
    slow = t("turned", count=f"{seldom:.2g}") if seldom >= 0.01 else t("hardly")
    return t("dials_finding", position="70", often=f"{often:.3g}", seldom=slow)


ROWS: list[Row] = []
FILMS = [
    FilmRow("home", figures.dials, (ROPE, (0, 5, 70, 4095), ("a", "b", "c")), {"position": 70, "beat": 2}, dials),
    FilmRow("home", figures.finished, (ROPE,), {}, to_draw),
]
