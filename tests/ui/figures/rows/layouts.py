"""The layouts page's figures and the class's answers."""

import numpy as np

import rope_core as rc
from rope_core.theory import layout_demo
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures import tally
from ui.figures.layouts import drawn, seats
from ui.figures.layouts import weights as layouts
from ui.text.words import Words

SHAPES = layout_demo.Shapes(16, 2, 2)


def permutation(t: Words) -> str:
    three = layout_demo.three_matrices(10, 9, 77.0)
    assert three.permuted == 0 and list(three.order).index(1) == 5
    return t("permutation_finding", m=9, pairs=5, seat=5, difference="0")


def matrices(t: Words) -> str:
    three = layout_demo.three_matrices(6, 5, 77.0)
    order = rc.convert(6, "interleaved", "half")
    moved = np.abs(three.from_zero[np.ix_(order, order)] - three.half).max()
    counted = np.abs(three.paper - three.from_zero).max()
    return t("matrices_finding", m=5, renumbered=f"{counted:.2g}", permuted=f"{moved:.2g}")


def wrong(name: str) -> layout_demo.LayoutError:
    return layout_demo.layout_error(SHAPES, name, np.arange(layouts.DISTANCES), ROPE.theta)


def one_head(t: Words) -> str:
    return t("one_finding", right=f"{wrong('both').largest:.1e}", wrong=f"{wrong('none').largest:.3g}")


def errors(t: Words) -> str:
    share = 100 * wrong("none").relative
    at_zero = 100 * wrong("query_heads").relative[0]
    text = t("errors_finding", zero=f"{share[0]:.1f}", one=f"{share[1]:.0f}", late=f"{share.max():.0f}")
    return text + t("count_wrong", heads=4, kv_heads=2, zero=f"{at_zero:.0f}")


def key_rows(t: Words) -> str:
    right, counted = (layout_demo.key_rows(SHAPES, heads) for heads in (2, 4))
    return t("rows_finding", n=int((right != counted).sum()), rows=32, kv_heads=2)


def answers(t: Words) -> str:
    each = t("tally.comma").join(("A 3", "B 5"))
    return t("tally.many", total=8, each=each) + t("tally.right", letter="B", count=5, total=8, share="62")


HEADS = (ROPE, 2, 2)
ROWS = [
    Row("layouts", layouts.matrices, (6, 5, 77.0), {}, matrices),
    Row("layouts", layouts.one_head, HEADS, {"x": "distance", "y": "score_axis"}, one_head),
    Row("layouts", layouts.errors, HEADS, {"x": "distance", "y": "error_axis"}, errors),
    Row("layouts", layouts.key_rows, (16, 2, 2), {"x": "new_row", "y": "old_row"}, key_rows),
    Row("predict", tally.tally, ((3, 5), ("a", "b"), 1), {}, answers),
]
FILMS = [
    FilmRow("layouts", seats.permutation, (10, 77.0, tuple(range(65))), {"order": 7, "position": 9}, permutation),
    FilmRow("layouts", drawn.wrong, (77.0,), {}, to_draw),
]
