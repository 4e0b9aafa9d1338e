"""The LRPE page's figures."""

from rope_core.lrpe.demo import Case
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.lrpe import drawn, op, turning
from ui.figures.lrpe import linear as second

CASE = Case("silu", base=77.0, width=12, offset=9, front=2, behind=4)
ROWS = [
    Row("lrpe", op.thetas, (CASE, 1)),
    Row("lrpe", op.decode, (CASE, 1)),
    Row("lrpe", op.backward, (CASE, 1, 4, 1)),
    Row("lrpe", second.attention, (ROPE, "relu")),
]
FILMS = [
    FilmRow("lrpe", turning.stages, (CASE, 1, 1, (0, 9, 40)), {"length": 9, "offset": 9, "token": 4, "beat": 2}),
    FilmRow("lrpe", drawn.negative, (8, 77.0), {}, to_draw),
]
