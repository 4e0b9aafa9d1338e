"""What RoPE does to a query and a key, and why the score depends on their distance only."""

import streamlit as st

from rope_core.theory import demo
from ui.figures import rotation as figures
from ui.page.fields import BASE
from ui.page.frame import Page
from ui.page.state import Field

M = Field("m", "int", 12, 0, 4095)
N = Field("n", "int", 5, 0, 4095)
SHIFT = Field("shift", "int", 0, 0, 100_000)
PAIR = Field("pair", "int", 4, 0, 511)
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 3, 0, 4095)

page = Page("rotation", M, N, SHIFT, PAIR, WIDTH, POSITION)
get, slide = page.get, page.controls.slider


def circle() -> None:
    """Two vectors turn together; the score stays."""
    page.bar()
    for column, field in zip(st.columns(3), (M, N, SHIFT), strict=True):
        with column:
            slide(field)
    rope = page.store.rope()
    drawing = figures.circle(rope, figures.shown_pair(rope, get(PAIR)), get(M), get(N), get(SHIFT), page.t)
    page.show(drawing, figures.circle, demo.scores_under_shift, demo.score)
    slide(PAIR)


def matrix() -> None:
    """The same rotation as a matrix, element by element and as complex numbers."""
    page.prose("matrix")
    for column, field in zip(st.columns(2), (WIDTH, POSITION), strict=True):
        with column:
            slide(field)
    numbers = get(WIDTH), get(POSITION), get(BASE)
    left, right = st.columns(2)
    with left:
        page.show(figures.matrix(*numbers, page.t), figures.matrix)
    with right:
        page.show(figures.three_forms(*numbers, page.t), figures.three_forms, demo.three_ways)
    page.prose("backward")
    page.show(figures.backward(*numbers, page.t), figures.backward)


page.live(circle)
page.prose("why")
page.prose("questions")
page.live(matrix)
