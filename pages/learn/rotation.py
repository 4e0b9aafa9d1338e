"""What RoPE does to a query and a key, and why the score depends on their distance only."""

from rope_core.theory import demo
from ui.figures import rotation as figures
from ui.page.fields import BASE, GEOMETRY
from ui.page.frame import Frame
from ui.page.state import Field

M = Field("m", "int", 12, 0, 4095)
N = Field("n", "int", 5, 0, 4095)
SHIFT = Field("shift", "int", 0, 0, 100_000)
PAIR = Field("pair", "int", 4, 0, 511)
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 3, 0, 4095)

FIELDS = (M, N, SHIFT, PAIR, WIDTH, POSITION, *GEOMETRY)


def circle(page: Frame) -> None:
    """Two vectors turn together; the score stays."""
    page.bar()
    page.controls.beside(M, N, SHIFT)
    rope = page.store.rope()
    drawing = figures.circle(
        rope, figures.shown_pair(rope, page.get(PAIR)), page.get(M), page.get(N), page.get(SHIFT), page.t
    )
    page.show(drawing, figures.circle, demo.scores_under_shift, demo.score)
    page.controls.slider(PAIR)


def matrix(page: Frame) -> None:
    """The same rotation as a matrix, element by element and as complex numbers."""
    page.prose("matrix")
    page.controls.beside(WIDTH, POSITION)
    numbers = page.get(WIDTH), page.get(POSITION), page.get(BASE)
    left, right = page.columns(1, 1)
    with left:
        page.show(figures.matrix(*numbers, page.t), figures.matrix)
    with right:
        page.show(figures.three_forms(*numbers, page.t), figures.three_forms, demo.three_ways)
    page.prose("backward")
    page.show(figures.backward(*numbers, page.t), figures.backward)


def body(page: Frame) -> None:
    """The page, part by part."""
    page.live(circle)
    page.prose("why")
    page.prose("questions")
    page.live(matrix)
