"""The block page's figures."""

from rope_core.theory.block.choices import Choices
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.block import diagram, drawn, rotary

MADE = Choices("RMSNorm", "pre", True, "swiglu", True)


ROWS = [
    Row("block", rotary.commute, (ROPE, 9, 1.2, "half")),
    Row("block", rotary.cache, (ROPE, 2.5)),
    Row("block", rotary.latent, (32, 8, 9)),
]
FILMS = [
    FilmRow("block", diagram.diagram, ("X", None, MADE, ROPE), {"token": 5, "later": 9, "moved": 5, "beat": 3}),
    FilmRow("block", drawn.drift, (ROPE,), {}, to_draw),
]
