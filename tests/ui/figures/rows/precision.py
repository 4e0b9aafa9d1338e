"""The precision page's figures."""

import rope_core as rc
from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures.precision import expected, phase
from ui.figures.precision import formats as rounding
from ui.text.words import Words

REQUEST = rc.Request(rc.Rope(16, 900.0, 512))


ROWS = [
    Row("precision", rounding.drift, (REQUEST, "angle", 37, 5000)),
    Row("precision", rounding.distinct, (3000,)),
    Row("precision", rounding.ways, (REQUEST, 4096)),
    Row("precision", rounding.real, ("angle",)),
]


def question(t: Words) -> str:
    return t("expected_ask", dtype="float16", asked="float32")


FILMS = [
    FilmRow("precision", phase.drifting, (REQUEST, "bfloat16", phase.stops(3000)), {"at": 3000, "beat": 2}),
    FilmRow("precision", expected.expected, (REQUEST, "float16"), {}, question),
]
