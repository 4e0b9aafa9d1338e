"""Paper, 0-based and LLaMA layouts: one rotation in two orders, and what a wrong conversion does to the scores."""

import streamlit as st

from rope_core.layout import convert, convert_projection
from rope_core.theory import layout_demo
from ui.figures import layouts as figures
from ui.page import models
from ui.page.fields import BASE, CUSTOM, DIM, MODEL
from ui.page.frame import Page
from ui.page.state import Field

WIDTH = Field("width", "int", 8, 4, 12, step=2, even=True)
POSITION = Field("position", "int", 3, 0, 4095)
KV_HEADS = Field("kv_heads", "int", 2, 1, 4, steps=(1, 2, 4))
GROUP = Field("group", "int", 4, 1, 8, steps=(1, 2, 4, 8))

page = Page("layouts", WIDTH, POSITION, KV_HEADS, GROUP)
get, slide = page.get, page.controls.slider


def same_rotation() -> None:
    """One rotation, its dimensions in two orders."""
    page.bar()
    for column, field in zip(st.columns(2), (WIDTH, POSITION), strict=True):
        with column:
            slide(field)
    page.show(figures.permutation(get(WIDTH), page.t), figures.permutation, convert)
    if get(MODEL) != CUSTOM:
        st.info(page.t(f"of_model.{models.layout(get(MODEL))}", name=models.name(get(MODEL))))
    page.prose("answer")
    drawing = figures.matrices(get(WIDTH), get(POSITION), get(BASE), page.t)
    page.show(drawing, figures.matrices, layout_demo.three_matrices)


def conversion() -> None:
    """Interleaved weights in half-split code: converted rightly, not at all, and by the wrong head count."""
    page.prose("bug")
    for column, field in zip(st.columns(2), (KV_HEADS, GROUP), strict=True):
        with column:
            slide(field)
    heads = get(KV_HEADS), get(GROUP)
    rope = page.store.rope()
    left, right = st.columns(2)
    with left:
        drawing = figures.one_head(rope, *heads, page.t)
        page.show(drawing, figures.one_head, layout_demo.rotated_scores, convert_projection)
    with right:
        drawing = figures.errors(rope, *heads, page.t)
        page.show(drawing, figures.errors, layout_demo.layout_error, layout_demo.head_scores)
    page.prose("heads")
    page.show(figures.key_rows(get(DIM), *heads, page.t), figures.key_rows, layout_demo.key_rows)


page.live(same_rotation)
page.prose("why")
page.live(conversion)
page.prose("recognise")
page.prose("who")
page.prose("threads")
