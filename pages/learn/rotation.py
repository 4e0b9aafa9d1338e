"""What RoPE does to a query and a key, and why the score depends on their distance only."""

from rope_core.theory import attention, challenges, demo
from ui.figures.rotation import circle as figures
from ui.figures.rotation import matrix as matrices
from ui.figures.rotation import score
from ui.film.scene import integer_window
from ui.page.fields import BASE, GEOMETRY, beats, last_pair
from ui.page.frame import Frame
from ui.page.state import Field
from ui.page.tasks import Challenge, Drawn, Question

BEFORE = Field("before", "int", 0, 0, score.MOST_BEFORE)
M = Field("m", "int", 12, 0, 4095)
N = Field("n", "int", 5, 0, 4095)
SHIFT = Field("shift", "int", 0, 0, 100_000)
PAIR = Field("pair", "int", 4, 0, 511)
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 3, 0, 4095)

FIRST = Field("first", "int", None, 0, 4095, optional=True)
SECOND = Field("second", "int", None, 0, 4095, optional=True)
NEAR = 0.02
"""How near two angles must be to pass for the same, rad."""

CLAIM_IN_FILM = True
BEATS = beats(3)
LEFT = Question("left", "c", ((BEATS, 1), (BEFORE, 6)))
OPPOSITE = Question("opposite", "b", ((BEATS, 3), (M, 5), (N, 22), (SHIFT, 0), (PAIR, 0)))
SHIFTED = Drawn("shifted")
TWINS = Challenge("twins", (FIRST, SECOND), challenges.twins)
TASKS = (LEFT, OPPOSITE, SHIFTED, TWINS)

FIELDS = (BEATS, BEFORE, M, N, SHIFT, PAIR, WIDTH, POSITION, *GEOMETRY)


def circle(page: Frame) -> None:
    """Two vectors turn under the hand; the score depends on their distance."""
    rope = page.store.rope()
    windows = (integer_window(page.get(M)), integer_window(page.get(N)), integer_window(page.get(SHIFT)))
    drawing = figures.turning(rope, page.get(PAIR), *windows, page.t)
    page.show(drawing, figures.turning, attention.pair_contributions, demo.score, ask=LEFT)
    page.controls.slider(last_pair(PAIR, rope))


def tasks(page: Frame) -> None:
    """Have the reader draw the score while both move, and find two positions that the first pair cannot tell apart."""
    page.predict(OPPOSITE)
    left, right = page.columns(1, 1)
    with left:
        film = figures.shifted(page.store.rope(), page.get(M), page.get(N), page.t)
        page.show(film, figures.shifted, demo.scores_under_shift)
    with right:
        page.challenge(TWINS, page.store.rope(), 0, NEAR)


def matrix(page: Frame) -> None:
    """Draw the same rotation as a matrix, element by element and as complex numbers."""
    page.controls.beside(WIDTH, POSITION)
    numbers = page.get(WIDTH), page.get(POSITION), page.get(BASE)
    left, right = page.columns(1, 1)
    with left:
        page.show(matrices.matrix(*numbers, page.t), matrices.matrix)
    with right:
        page.show(matrices.three_forms(*numbers, page.t), matrices.three_forms, demo.three_ways)


def backward(page: Frame) -> None:
    """Draw the gradient, turned the other way."""
    numbers = page.get(WIDTH), page.get(POSITION), page.get(BASE)
    page.show(matrices.backward(*numbers, page.t), matrices.backward)


def yours(page: Frame) -> None:
    """Draw the reader's own rotation, graded."""
    page.grade("rotate")


def body(page: Frame) -> None:
    """Draw the page, part by part."""
    page.live(circle)
    page.live(tasks)
    page.prose("questions")
    page.deeper("must")
    page.deeper("why")
    page.deeper("matrix", matrix)
    page.deeper("backward", backward)
    page.deeper("yours", yours)
