"""The front door: one picture, three entries, the learning path."""

from rope_core.theory import challenges, frequency_demo
from ui.figures import home as figures
from ui.page.fields import GEOMETRY, beat_field, film_stops
from ui.page.frame import PageFrame
from ui.page.menu import menu_summaries
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

CLAIM_IN_FILM = True
BEAT = beat_field(2)
POSITION = Field("position", "int", figures.START, figures.FIRST, figures.LAST)
DISTANCE = Field("distance", "int", 24, 1, figures.FARTHEST, steps=figures.DISTANCES)
FAR = Field("far", "int", None, 0, 1_000_000, optional=True)

BOTH = ChoiceQuestion("both", "b", ((BEAT, 1), (POSITION, figures.START)))
SLOW = ChoiceQuestion("slow", "c", ((BEAT, 2), (DISTANCE, 4096)))
FINISHED = SketchQuestion("finished")
BELOW = Challenge("below", (FAR,), challenges.check_negative_score)
TASKS = (BOTH, SLOW, FINISHED, BELOW)

FIELDS = (BEAT, POSITION, DISTANCE, *GEOMETRY)


def picture(page: PageFrame) -> None:
    """Draw two words whose arrows have their distance between them, then all arrows by the distance."""
    at = film_stops(DISTANCE, page.get(DISTANCE))
    film = figures.angle_of_distance_film(page.store.rope(), page.get(POSITION), at, page.t)
    page.show(film, figures.angle_of_distance_film, ask=BOTH)


def tasks(page: PageFrame) -> None:
    """Have the reader draw how many hands have gone round, and find a position with a negative score."""
    page.ask_prediction(SLOW)
    left, right = page.columns(1, 1)
    with left:
        page.show(
            figures.finished_pairs_sketch(page.store.rope(), page.t),
            figures.finished_pairs_sketch,
            frequency_demo.incomplete_pair_mask,
        )
    with right:
        page.draw_challenge(BELOW, page.store.rope(), figures.KEY_POSITION)


def path(page: PageFrame) -> None:
    """Draw the links to all pages, with what each is for."""
    for name, text in menu_summaries(page.t.lang).items():
        page.draw_page_link(name, text)


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(picture)
    page.draw_live_part(tasks)
    for column, entry in zip(page.columns(1, 1, 1), ("learn", "check", "measure"), strict=True):
        with column, page.card(stretch=True):
            page.write_section(entry)
            page.draw_page_link(page.t(f"entry.{entry}"))
    page.write_section("why")
    page.draw_folded_section_below("path", path)
