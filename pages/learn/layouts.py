"""Paper, 0-based and LLaMA layouts: one rotation in two orders, and what a wrong conversion does to the scores."""

from rope_core.layout import convert, convert_projection
from rope_core.theory import challenges, layout_demo
from ui.figures import catalogue as models
from ui.figures.layouts import drawn, threads
from ui.figures.layouts import weights as figures
from ui.page.fields import BASE, CUSTOM, GEOMETRY, MODEL, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

KV_HEADS = Field("kv_heads", "int", 2, 1, 4, steps=(1, 2, 4))
GROUP = Field("group", "int", 4, 1, 8, steps=(1, 2, 4, 8))
GIVEN = Field("given", "int", 0, 0, 1)
MENDED = Field("mended", "int", 0, 0, 1)
CHECKPOINT = Field("checkpoint", "choice", "", choices=("", *challenges.CHECKPOINTS))

CLAIM_IN_FILM = True
BEATS = beat_field(2)
FIRST_TOKEN = ChoiceQuestion("first_token", "b", ((BEATS, 2), (MENDED, 0)))
WRONG = SketchQuestion("wrong")
WHICH = Challenge("which", (CHECKPOINT,), challenges.check_wrong_layout_choice)
TASKS = (FIRST_TOKEN, WRONG, WHICH)

FIELDS = (BEATS, GIVEN, MENDED, KV_HEADS, GROUP, *GEOMETRY)


def same_rotation(page: PageFrame) -> None:
    """One rotation, its dimensions in two orders, and what mends mixed ones."""
    film = threads.layout_permutation_film(page.store.rope(), page.t)
    page.show(
        film,
        threads.layout_permutation_film,
        convert,
        layout_demo.rotations_in_both_layouts,
        layout_demo.mixed_layout_score_error,
        ask=FIRST_TOKEN,
    )
    if page.get(MODEL) != CUSTOM:
        page.write(page.t(f"of_model.{models.model_layout(page.get(MODEL))}", name=models.model_name(page.get(MODEL))))


def tested(page: PageFrame) -> None:
    """What a test sees of the wrong layout, and four checkpoints of which one has it."""
    page.show(
        drawn.layout_error_sketch(page.get(BASE), page.t), drawn.layout_error_sketch, layout_demo.conversion_scores
    )
    page.table(figures.checkpoint_scores_by_distance_table(page.t))
    page.draw_challenge(WHICH, figures.CHECKED, figures.CHECKED_BASE)


def conversion(page: PageFrame) -> None:
    """Interleaved weights in half-split code: converted rightly, not at all, and by the wrong head count."""
    page.controls.beside(KV_HEADS, GROUP)
    drawing = figures.conversion_error_chart(page.store.rope(), page.get(KV_HEADS), page.get(GROUP), page.t)
    page.show(
        drawing,
        figures.conversion_error_chart,
        layout_demo.conversion_scores,
        layout_demo.grouped_head_scores,
        convert_projection,
    )


def yours(page: PageFrame) -> None:
    """Draw the reader's own conversion, graded."""
    page.draw_graded_exercise("convert")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(same_rotation)
    page.write_section("answer")
    page.write_section("why")
    page.draw_live_part(tested)
    page.draw_folded_section_below("matrices")
    page.draw_folded_section_below("bug", conversion)
    page.draw_folded_section_below("heads")
    page.draw_folded_section_below("yours", yours)
    for section in ("recognise", "who", "threads"):
        page.draw_folded_section_below(section)
