"""The frequencies page's figures."""

import math

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.frequencies import digits as digits_
from ui.figures.frequencies import drawn, spans, tables
from ui.text.words import Words


def digits(t: Words) -> str:
    beta = 300.0 ** (2 / 8)
    own = [math.floor(77 / beta**m) % beta for m in range(4)]
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    return t("digits_finding", position="77", beta=f"{beta:.3g}", digits=shown, d=8)


ROWS = [
    Row("frequencies", spans.repeats, (ROPE,)),
]
STOPS = (100.0, 700.0, 5e4), 300
AT = {"base": 700, "pair": 3, "beat": 2}
FILMS = [
    FilmRow("frequencies", tables.heat, (16, *STOPS, (0, 3, 7), "sin", 9000, 700.0), AT),
    FilmRow("frequencies", digits_.digits, (8, 300.0, digits_.positions(77)), {"position": 77}, digits),
    FilmRow("frequencies", drawn.unfinished, (16, 500), {}, to_draw),
]
