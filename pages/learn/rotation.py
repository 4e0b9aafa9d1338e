"""What RoPE does to a query and a key, and why the score depends on their distance only."""

from rope_core.rotation import rotation_matrix
from rope_core.theory import challenges, demo
from rope_core.theory.encodings import compare
from ui.figures.rotation import drawn, score
from ui.figures.rotation import matrix as matrices
from ui.figures.rotation.places import MOST_APART
from ui.film.scene import integer_window
from ui.page.fields import BASE, GEOMETRY, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

BEFORE = Field("before", "int", 0, 0, score.MOST_BEFORE)
M = Field("m", "int", 5, 0, 1_000_000)
APART = Field("apart", "int", 4, 0, MOST_APART)
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 3, 0, 4095)

FIRST = Field("first", "int", None, 0, 4095, optional=True)
SECOND = Field("second", "int", None, 0, 4095, optional=True)
PLACES = 12, 5
"""Where the query and the key of the drawn score begin."""
NEAR = 0.02
"""How near two angles must be to pass for the same, rad."""

CLAIM_IN_FILM = True
BEATS = beat_field(3)
LEFT = ChoiceQuestion("left", "c", ((BEATS, 1), (BEFORE, 6)))
KNOWN = ChoiceQuestion("known", "a", ((BEATS, 3), (APART, 4)))
SHIFTED = SketchQuestion("shifted")
TWINS = Challenge("twins", (FIRST, SECOND), challenges.check_equal_angles)
TASKS = (LEFT, KNOWN, SHIFTED, TWINS)

FIELDS = (BEATS, BEFORE, M, APART, WIDTH, POSITION, *GEOMETRY)


def circle(page: PageFrame) -> None:
    """Move a sentence, a word and a distance by hand: the score depends on the distance."""
    drawing = score.rotation_score_film(page.store.rope(), integer_window(page.get(M)), page.t)
    page.show(
        drawing, score.rotation_score_film, rotation_matrix, demo.rotation_forms, compare.position_only_logits, ask=LEFT
    )
    page.ask_prediction(KNOWN)


def tasks(page: PageFrame) -> None:
    """Have the reader draw the score while both move, and find two positions that the first pair cannot tell apart."""
    left, right = page.columns(1, 1)
    with left:
        page.show(
            drawn.shifted_score_sketch(page.store.rope(), *PLACES, page.t),
            drawn.shifted_score_sketch,
            demo.shifted_scores,
        )
    with right:
        page.draw_challenge(TWINS, page.store.rope(), 0, NEAR)


def backward(page: PageFrame) -> None:
    """Draw the gradient, turned the other way."""
    page.controls.beside(WIDTH, POSITION)
    numbers = page.get(WIDTH), page.get(POSITION), page.get(BASE)
    page.show(matrices.rotated_gradient_chart(*numbers, page.t), matrices.rotated_gradient_chart)


def yours(page: PageFrame) -> None:
    """Draw the reader's own rotation, graded."""
    page.draw_graded_exercise("rotate")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(circle)
    page.draw_live_part(tasks)
    page.write_section("questions")
    page.draw_folded_section_below("must")
    page.draw_folded_section_below("why")
    page.draw_folded_section_below("matrix")
    page.draw_folded_section_below("backward", backward)
    page.draw_folded_section_below("yours", yours)
