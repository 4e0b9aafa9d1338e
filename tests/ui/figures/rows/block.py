"""The block page's figures."""

import math

from rope_core.theory.block.choices import Choices
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.block import diagram, drawn, rotary, way
from ui.text.words import Words

MADE = Choices("RMSNorm", "pre", True, "swiglu", True)


def output_words(t: Words) -> str:
    """Write the turn by five words of the drawn pair, whose speed is a power of the base."""
    degrees = math.degrees(5 * ROPE.base ** (-2 * (ROPE.pairs // way.ONE) / ROPE.dim))
    return t("output_finding", moved="5", plain="0", turned=f"{degrees:,.0f}")


ROWS = [
    Row("block", rotary.commute, (ROPE, 9, 1.2, "half")),
    Row("block", rotary.cache, (ROPE, 2.5)),
    Row("block", rotary.latent, (32, 8, 9)),
]
FILMS = [
    FilmRow(
        "block", diagram.diagram, ("X", None, MADE, ROPE), {"token": 5, "later": 9, "moved": 5, "beat": 3}, output_words
    ),
    FilmRow("block", drawn.drift, (ROPE,), {}, to_draw),
]
