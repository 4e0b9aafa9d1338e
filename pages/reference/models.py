"""The catalogue: what real models turn by, with sources, and the way into every other page with one of them."""

import streamlit as st

from rope_core.hf import survey
from ui.figures import models as figures
from ui.page import models
from ui.page.fields import LEN_STEPS
from ui.page.frame import Page
from ui.page.state import Field

ANY = "any"
FILTERS = tuple(
    Field(name, "choice", ANY, choices=(ANY, *survey.values(name)))
    for name in ("family", "scheme", "layout", "confidence")
)
CONTEXT = Field("context", "int", 4096, 64, 16_777_216, steps=LEN_STEPS)
PICK = Field("pick", "choice", models.DEFAULT, choices=models.ids())
OPENS = ("rotation", "layouts", "frequencies", "clock", "attention", "precision", "config")
page = Page("models", *FILTERS, CONTEXT, PICK, geometry=False)
get = page.get


def label(field: Field, choice: str) -> str:
    """How a filter names one of its values."""
    if choice == ANY:
        return page.t("any")
    key = f"{field.name}.{choice}"
    return page.t(key) if page.t.has(key) else choice


def shown() -> tuple[survey.Row, ...]:
    """The rows that pass the filters."""
    return survey.chosen(**{field.name: None if get(field) == ANY else get(field) for field in FILTERS})


def spans() -> None:
    """The wavelengths of the models shown, cut at the context that the slider asks for."""
    page.controls.slider(CONTEXT)
    page.show(figures.spans(shown(), get(CONTEXT), get(PICK), page.t), figures.spans, survey.rows, survey.Row)


def take() -> None:
    """Make the table's selected row the picked model."""
    for index in st.session_state["models.table"].selection.rows:
        page.store.try_put(PICK, shown()[index].model.id, page.fits)


def catalogue() -> None:
    """Filters, wavelengths, table, and the picked model's card with its doors."""
    page.bar()
    for column, field in zip(st.columns(4), FILTERS, strict=True):
        with column:
            page.controls.select(field, lambda choice, field=field: label(field, choice))
    rows = shown()
    if not rows:
        st.info(page.t("nothing"))
        return
    page.live(spans, shared=False)
    page.prose("table")
    config = st.column_config
    st.dataframe(
        figures.listing(rows, page.t),
        key="models.table",
        hide_index=True,
        height=380,
        on_select=take,
        selection_mode="single-row",
        column_config={
            page.t("col.name"): config.TextColumn(pinned=True),
            page.t("col.year"): config.NumberColumn(format="%d"),
            page.t("col.source"): config.TextColumn(width="small"),
        }
        | {
            page.t(f"col.{key}"): config.NumberColumn(format="localized")
            for key in ("base", "trained", "context", "longest")
        },
    )
    page.controls.select(PICK, models.name)
    st.markdown(figures.card([row for row in survey.rows() if row.model.id == get(PICK)], page.t))
    with st.container(horizontal=True):
        for name in OPENS:
            page.goto(name, model=get(PICK))


page.live(catalogue, shared=False)
page.prose("why")
page.prose("questions")
page.prose("architectures")
page.show(figures.encodings(page.t), figures.encodings, survey.encodings_by_year)
page.prose("errata")
st.dataframe(
    figures.mistakes(page.t), hide_index=True, column_config={page.t("col.source"): st.column_config.LinkColumn()}
)
