"""The front door: one picture, three entries, the learning path."""

from rope_core.theory import attention, challenges, frequency_demo
from ui.figures import home as figures
from ui.page.fields import GEOMETRY, beats, stops
from ui.page.frame import Frame
from ui.page.state import Field
from ui.page.tasks import Challenge, Drawn, Question

BEAT = beats(3)
POSITION = Field("position", "int", 5, 0, figures.LAST, steps=figures.POSITIONS)
WORDS = Field("words", "text", "")
FAR = Field("far", "int", None, 0, 1_000_000, optional=True)

SLOW = Question("slow", "c", ((BEAT, 2), (POSITION, figures.LAST)))
FINISHED = Drawn("finished")
BELOW = Challenge("below", (FAR,), challenges.negative_score)
TASKS = (SLOW, FINISHED, BELOW)

FIELDS = (BEAT, POSITION, WORDS, *GEOMETRY)


def picture(page: Frame) -> None:
    """Draw a token that is dragged along a text, and the hands of its pairs."""
    words = figures.words_of(page.get(WORDS), page.t)
    film = figures.dials(page.store.rope(), stops(POSITION, page.get(POSITION)), words, page.t)
    page.show(film, figures.dials, attention.score_curve)
    page.bar()
    page.predict(SLOW)
    page.controls.text(WORDS)


def tasks(page: Frame) -> None:
    """Have the reader draw how many hands have gone round, and find a position with a negative score."""
    left, right = page.columns(1, 1)
    with left:
        page.show(figures.finished(page.store.rope(), page.t), figures.finished, frequency_demo.incomplete)
    with right:
        page.challenge(BELOW, page.store.rope(), figures.PARTNER)


def path(page: Frame) -> None:
    """Draw the links to all pages, with what each is for."""
    for name in page.t("path").split():
        page.goto(name, page.t(f"step.{name}"))


def body(page: Frame) -> None:
    """Draw the page, part by part."""
    page.live(picture)
    page.live(tasks)
    for column, entry in zip(page.columns(1, 1, 1), ("learn", "check", "measure"), strict=True):
        with column, page.card(stretch=True):
            page.prose(entry)
            page.goto(page.t(f"entry.{entry}"))
    page.prose("why")
    page.deeper("path", path)
