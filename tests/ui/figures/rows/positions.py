"""The figures of the page "Which position?"."""

from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.positions import axes, expected, patches, which
from ui.text.words import Words


def corner(t: Words) -> str:
    """Write what the last patch of the first row is: the time of the image, its first row and its last column."""
    last = patches.WIDE - 1
    first, after = patches.BEFORE, patches.BEFORE + patches.WIDE
    numbers = {"n0": first, "n1": first, "n2": first + last, "d0": after - first, "d1": after - first, "d2": 1}
    where = t("patch_at", row=1, column=last + 1)
    return t("patch_finding", where=where, after=after, plain=first + patches.HIGH * patches.WIDE, **numbers)


ROWS = [
    Row("positions", axes.sections, ((24, 20, 20),)),
]
FILMS = [
    FilmRow(
        "positions",
        which.which,
        (ROPE,),
        {"cut": 3, "dropped": 2, "patch": patches.WIDE - 1, "beat": 3},
        corner,
    ),
    FilmRow("positions", expected.slipped, (ROPE,), {}, to_draw),
]
