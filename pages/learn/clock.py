"""The clock analogy: every way to extend a context slows hands down, and they differ in which."""

from rope_core import schemes
from rope_core.lab import view
from rope_core.theory import challenges, clock, extension
from ui.figures.clock import dials as figures
from ui.figures.clock import measured as figure
from ui.figures.clock import reading
from ui.figures.clock import schemes as comparison
from ui.figures.frequencies.heat import pair_stops
from ui.page import columns, fields
from ui.page.fields import FACTOR, GEOMETRY, SCHEME, SCHEME_FIELDS, SEQ_LEN, film_stops
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion
from ui.work import extrapolated

CLAIM_IN_FILM = True
STEPS = fields.beat_field(2)
HAND = Field("hand", "int", 0, 0, 511)
AXIS = Field("axis", "choice", "log", choices=("log", "even"))
ERROR = Field("error", "float", 3.0, 0.5, 10.0, step=0.5)
DISTANCE = Field("distance", "float", 2.0, 0.0, 32.0, steps=figures.SPANS)
FARTHEST = 8.0
"""The greatest factor to drag to."""
SLOWER = Field("slower", "float", 4.0, 1.0, 16.0, step=0.5)

WITH = Field("with", "choice", "", choices=("", *schemes.KINDS))
BY = Field("by", "float", None, 1.0, 64.0, optional=True)
TIMES, SLACK = 8, 1.1
"""How many times the trained length the challenge asks for, and how many times too large a factor may be."""

COVERED = ChoiceQuestion("covered", "a", ((STEPS, 1), (DISTANCE, 4.0)))
WORST = ChoiceQuestion("worst", "a", ((FACTOR, FARTHEST), (STEPS, 2)))
MEASURED = SketchQuestion("measured")
EXTEND = Challenge("extend", (WITH, BY), challenges.check_extension_choice)
TASKS = (COVERED, WORST, MEASURED, EXTEND)


def length_of(store: PageValues) -> int:
    """Return the length in use: the visitor's, else factor times the trained length, which the film shows of both."""
    extended, given = extension.extended_length(store.rope(), store.get(FACTOR)), store.get(SEQ_LEN)
    return extended if given is None else given


def params_of(store: PageValues) -> dict[str, dict[str, object]]:
    """Return the parameters in force of every scheme on this page."""
    return {name: store.params(name) for name in extension.compared_schemes(store.get(SCHEME))}


def unmoved(store: PageValues, scheme: str) -> dict[str, object]:
    """Return the parameters in force of a scheme without the factor, which moves in the film."""
    return {name: value for name, value in store.params(scheme).items() if name != FACTOR.name}


fits = length_of
FIELDS = (STEPS, DISTANCE, HAND, AXIS, ERROR, SLOWER, *GEOMETRY, *SCHEME_FIELDS)


def hands(page: PageFrame) -> None:
    """Draw a clock, a slow hand past its trained length, and what the schemes do to slow and fast hands."""
    rope, names = page.store.rope(), extension.length_independent_schemes(page.get(SCHEME))
    params = {name: unmoved(page.store, name) for name in names}
    extended, refused = extension.scheme_spectra(rope, params, page.get(SEQ_LEN))
    requests = tuple(each.request for each in extended)
    factors = film_stops(FACTOR, page.get(FACTOR), high=FARTHEST)
    spans = film_stops(DISTANCE, page.get(DISTANCE))
    film = figures.clock_hands_film(rope, requests, factors, spans, pair_stops(rope.dim, page.get(HAND)), page.t)
    page.show(
        film,
        figures.clock_hands_film,
        extension.reached_untrained_angle_mask,
        extension.untrained_angle_mask,
        ask=COVERED,
    )
    page.write_scheme_refusals(refused)
    page.write_section("ideas")
    if page.ask_prediction(WORST):
        page.write_section("linear")


def measured(page: PageFrame) -> None:
    """Have the reader draw NTK on a small model that was never fine-tuned, and find a scheme that reaches further."""
    left, right = page.columns(1, 1)
    with left:
        seen = extrapolated.shipped_results("sweep")
        if seen is not None:
            page.show(
                figure.measured_perplexity_sketch(seen, extrapolated.first_model_trained_length(seen), page.t),
                figure.measured_perplexity_sketch,
                view.read_cells,
            )
        page.draw_page_link("extrapolation", page.t("measured"))
    with right:
        page.draw_challenge(EXTEND, page.store.rope(), TIMES, SLACK)


def schemes_parameters(page: PageFrame) -> None:
    """Draw the other parameters of the schemes shown, each once, when the visitor opens them."""
    with page.details(page.t("parameters"), "clock.parameters") as wanted:
        if wanted:
            page.controls.select(SCHEME, lambda name: page.t(f"scheme.{name}"))
            page.controls.number(SEQ_LEN)
            names = extension.compared_schemes(page.get(SCHEME))
            declared = {param.name: param for name in names for param in schemes.SCHEMES[name].params}
            for name, param in declared.items():
                if name in fields.PARAMS and name != FACTOR.name:
                    page.controls.draw_parameter_control(param)


def slowdowns(page: PageFrame) -> None:
    """Draw the same schemes as slow-downs and as numbers."""
    schemes_parameters(page)
    rope, length = page.store.rope(), length_of(page.store)
    extended, refused = extension.scheme_spectra(rope, params_of(page.store), length)
    formulas = [schemes.SCHEMES[each.scheme].rescale for each in extended]
    page.show(comparison.slowdown_chart(rope, extended, page.t), comparison.slowdown_chart, *formulas)
    page.write_scheme_refusals(refused)
    page.write(comparison.schemes_markdown_table(rope, extended, length, page.t))


def heatmaps(page: PageFrame) -> None:
    """Draw the cosine of every pair's angle under each scheme."""
    rope, length = page.store.rope(), length_of(page.store)
    extended, _ = extension.scheme_spectra(rope, params_of(page.store), length)
    page.controls.segments(AXIS)
    drawing = comparison.scheme_cosine_heatmaps(rope, extended, length, page.get(AXIS) == "log", page.t)
    page.show(drawing, comparison.scheme_cosine_heatmaps, extension.mean_cosine_per_bin, extension.untrained_pair_count)


def after(page: PageFrame) -> None:
    """Link to the schemes published after YaRN, pair by pair."""
    page.write(f"[{page.t('view.newer')}]({columns.schemes_page_address(page, 'newer')})")


def readers(page: PageFrame) -> None:
    """Draw what a reader of the hands can tell apart."""
    page.controls.beside(ERROR, SLOWER)
    page.show(
        reading.clock_reading_chart(page.get(ERROR), page.get(SLOWER), page.t),
        reading.clock_reading_chart,
        clock.Clock.finest_difference,
        clock.Clock.is_distinguishable,
    )


def quoted(page: PageFrame) -> None:
    """Source 003's number."""
    page.show(
        reading.quoted_duration_chart(page.get(ERROR), page.t), reading.quoted_duration_chart, clock.clock_readings
    )


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(hands)
    page.draw_live_part(measured)
    page.draw_folded_section_below("questions")
    page.draw_folded_section_below("slowdowns", slowdowns)
    page.draw_folded_section_below("heatmaps", heatmaps)
    page.draw_folded_section_below("after", after)
    page.draw_folded_section_below("late")
    page.draw_folded_section_below("reading", readers)
    page.draw_folded_section_below("quoted", quoted)
