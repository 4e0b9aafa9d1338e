"""The front door: one picture, three entries, the learning path."""

from ui.figures import home as figures
from ui.page.fields import GEOMETRY
from ui.page.frame import Frame
from ui.page.state import Field

POSITION = Field("position", "int", 20, 0, 4095)

FIELDS = (POSITION, *GEOMETRY)


def picture(page: Frame) -> None:
    """A dial per pair, turning with the position."""
    page.bar()
    page.controls.slider(POSITION)
    page.show(figures.dials(page.store.rope(), page.get(POSITION), page.t), figures.dials)


def body(page: Frame) -> None:
    """The page, part by part."""
    page.live(picture)
    for column, entry in zip(page.columns(1, 1, 1), ("learn", "check", "measure"), strict=True):
        with column, page.card(stretch=True):
            page.prose(entry)
            page.goto(page.t(f"entry.{entry}"))
    page.prose("why")
    page.prose("path")
    for name in page.t("path").split():
        page.goto(name, page.t(f"step.{name}"))
