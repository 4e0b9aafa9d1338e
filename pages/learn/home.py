"""The front door: one picture, three entries, the learning path."""

from rope_core.theory import attention
from ui.figures import home as figures
from ui.page.fields import GEOMETRY, stops
from ui.page.frame import Frame
from ui.page.state import Field

POSITION = Field("position", "int", 20, 0, figures.LAST, steps=figures.POSITIONS)

FIELDS = (POSITION, *GEOMETRY)


def picture(page: Frame) -> None:
    """A token that is dragged along a text, and the hands of its pairs."""
    page.bar()
    film = figures.dials(page.store.rope(), stops(POSITION, page.get(POSITION)), page.t)
    page.show(film, figures.dials, attention.score_curve)


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
