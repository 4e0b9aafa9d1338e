"""The layouts page's figures and the class's answers."""

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import tally
from ui.figures.layouts import drawn, seats
from ui.figures.layouts import weights as layouts

HEADS = (ROPE, 2, 2)
ROWS = [
    Row("layouts", layouts.matrices, (6, 5, 77.0)),
    Row("layouts", layouts.one_head, HEADS),
    Row("layouts", layouts.errors, HEADS),
    Row("layouts", layouts.key_rows, (16, 2, 2)),
    Row("predict", tally.tally, ((3, 5), ("a", "b"), 1)),
]
FILMS = [
    FilmRow("layouts", seats.permutation, (10, 77.0, tuple(range(65))), {"order": 7, "position": 9}),
    FilmRow("layouts", drawn.wrong, (77.0,), {}, to_draw),
]
