"""The front door: one picture, three entries, the learning path."""

import streamlit as st

from ui.figures import home as figures
from ui.page.frame import Page
from ui.page.state import Field

POSITION = Field("position", "int", 20, 0, 4095)

page = Page("home", POSITION)


def picture() -> None:
    """A dial per pair, turning with the position."""
    page.bar()
    page.controls.slider(POSITION)
    page.show(figures.dials(page.store.rope(), page.get(POSITION), page.t), figures.dials)


page.live(picture)
for column, entry in zip(st.columns(3), ("learn", "check", "measure"), strict=True):
    with column, st.container(border=True, height="stretch"):
        page.prose(entry)
        page.goto(page.t(f"entry.{entry}"))
page.prose("why")
page.prose("path")
for name in page.t("path").split():
    page.goto(name, page.t(f"step.{name}"))
