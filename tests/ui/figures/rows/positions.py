"""The figures of the page "Which position?"."""

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.positions import axes, expected, patches, which

ROWS = [
    Row("positions", axes.sections, ((24, 20, 20),)),
]
FILMS = [
    FilmRow(
        "positions",
        which.which,
        (ROPE,),
        {"cut": 3, "dropped": 2, "patch": patches.WIDE - 1, "beat": 3},
    ),
    FilmRow("positions", expected.slipped, (ROPE,), {}, to_draw),
]
