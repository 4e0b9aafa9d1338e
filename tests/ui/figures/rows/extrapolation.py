"""The extrapolation page's film."""

import numpy as np

from rope_core.lab import records
from tests.support.films import FilmRow, to_draw
from ui.figures.extrapolation import letters, longer
from ui.text.words import Words
from ui.work import extrapolated

AT = 1500
FOUND = extrapolated.seen_shipped("sweep"), extrapolated.seen_shipped("bytes")
assert FOUND[0] and FOUND[1]
TEXT = letters.read(FOUND[0], FOUND[1])


def chances(t: Words) -> str:
    """Bytes 1500 of the shipped record, from their losses."""
    percent = [100 * float(np.exp(-each["nats"][AT - 1])) for each in records.shipped("bytes").results]
    plain, best = (f"{each:.0f}" if each >= 9.5 else f"{each:.2g}" for each in percent)
    return t("letters_finding", at="1,500", plain=plain, best=best, name="YaRN")


FILMS = [
    FilmRow(
        "extrapolation",
        letters.letters,
        (TEXT.letters, TEXT.path, TEXT.curves, TEXT.chances, 256, letters.places(AT, TEXT.letters)),
        {"byte": AT},
        chances,
    ),
    FilmRow("extrapolation", longer.longer, (FOUND[0], "yarn"), {}, to_draw),
]
