"""What a number format costs: phases, scores, positions that fall together, and the exact ways out."""

from rope_core.theory import challenges, precision
from ui.figures.precision import expected as drawing_hand
from ui.figures.precision import formats as figures
from ui.figures.precision import phase as film
from ui.figures.precision import position
from ui.page.fields import GEOMETRY, SCHEME_FIELDS, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

CLAIM_IN_FILM = True
STEPS = beat_field(3)
NEAR = Field("near", "int", position.START, position.FIRST, position.LAST)
DTYPE = Field("dtype", "choice", "bfloat16", choices=figures.DTYPES)
AT = Field("at", "int", 1001, 1, 1_048_576, steps=tuple(figures.STOPS))
STAGE = Field("stage", "choice", "all", choices=precision.STAGES)
DISTANCE = Field("distance", "int", 10, 0, 4096, steps=(0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4096))
UP_TO = Field("up_to", "int", 4096, 256, 1_048_576, steps=tuple(figures.STOPS[8:]))
TABLE_FROM = Field("table_from", "int", 131_072, 0, 16_777_216, steps=(0, *figures.STOPS, *figures.FAR_STOPS))
CAST = Field("cast", "choice", "inv_freq", choices=figures.SINGLE)

DRAWN = SketchQuestion("expected")
ROUNDED = Field("rounded", "int", None, 1, 1_048_576, optional=True)
WHOLE = ChoiceQuestion("whole", "c", ((STEPS, 1), (DTYPE, "float32")))
SAME = ChoiceQuestion("same", "b", ((STAGE, "inv_freq"),))
HOLD = Challenge("hold", (ROUNDED,), challenges.check_rounded_position)
TASKS = (WHOLE, DRAWN, SAME, HOLD)

FIELDS = (STEPS, NEAR, DTYPE, AT, STAGE, DISTANCE, UP_TO, TABLE_FROM, CAST, *GEOMETRY, *SCHEME_FIELDS)


def phase(page: PageFrame) -> None:
    """How far the angle is off, by stage."""
    drawing = film.phase_error_film(page.store.request(), page.get(DTYPE), film.position_stops(page.get(AT)), page.t)
    page.show(drawing, film.phase_error_film, precision.phase_error, precision.round_to_dtype, ask=WHOLE)
    page.controls.segments(DTYPE, str)


def table(page: PageFrame) -> None:
    """Have the reader draw the error of a frequency in another format, and find a position it does not hold."""
    left, right = page.columns(1, 1)
    with left:
        drawing = drawing_hand.rounding_error_sketch(page.store.request(), page.get(DTYPE), page.t)
        page.show(drawing, drawing_hand.rounding_error_sketch, precision.phase_error)
    with right:
        page.draw_challenge(HOLD, DTYPE.default)
    page.write_section("why")


def relative(page: PageFrame) -> None:
    """Draw what rounding leaves of the dependence on the distance alone."""
    page.write_section("drift")
    if page.ask_prediction(SAME):
        drift(page)


def drift(page: PageFrame) -> None:
    """Draw a score that should not know its position."""
    page.controls.segments(STAGE, lambda stage: page.t(f"stage.{stage}"))
    page.controls.beside(DISTANCE, UP_TO)
    drawing = figures.score_drift_chart(
        page.store.request(), page.get(STAGE), page.get(DISTANCE), page.get(UP_TO), page.t
    )
    page.show(drawing, figures.score_drift_chart, precision.score_under_rounding)


def distinct(page: PageFrame) -> None:
    """Positions that fall together."""
    drawing = figures.distinct_positions_chart(page.store.rope().train_len, page.t)
    page.show(
        drawing,
        figures.distinct_positions_chart,
        precision.exact_and_distinct_position_counts,
        precision.first_rounded_position,
    )


def ways(page: PageFrame) -> None:
    """Exact tables and their price."""
    page.controls.slider(TABLE_FROM)
    drawing = figures.table_error_and_time_chart(page.store.request(), page.get(TABLE_FROM), page.t)
    page.show(drawing, figures.table_error_and_time_chart, *precision.WAYS.values(), precision.compare_table_methods)


def real(page: PageFrame) -> None:
    """Draw the models of the catalogue at the end of their own contexts."""
    page.controls.segments(CAST, lambda stage: page.t(f"stage.{stage}"))
    page.show(
        figures.model_phase_error_chart(page.get(CAST), page.t),
        figures.model_phase_error_chart,
        precision.phase_error_curve,
    )
    page.draw_page_link("models")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(phase)
    page.draw_live_part(table)
    page.draw_live_part(relative)
    page.draw_folded_section_below("stages")
    page.draw_folded_section_below("distinct", distinct)
    page.draw_folded_section_below("ways", ways)
    page.draw_folded_section_below("real", real)
