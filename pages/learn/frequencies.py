"""Which pairs are fast, what the base does to them, and what the three open questions of the sources come to."""

from rope_core.hf.types import YARN
from rope_core.theory import challenges, frequency_demo
from rope_core.theory.encodings.digits import beta_digits, digit_phases
from ui.figures.frequencies import digits as numerals
from ui.figures.frequencies import drawn, spans, stripes
from ui.figures.frequencies import heat as figures
from ui.page.fields import BASE, DIM, GEOMETRY, TRAIN_LEN, beat_field, film_stops
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

CLAIM_IN_FILM = True
STEPS = beat_field(3)
COMPARED = Field("compared", "float", 1e5, 1.0, 1e12, low_open=True)
CONTEXT = Field("context", "int", 4096, 256, 1_048_576, steps=(2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072))
PAIR = Field("pair", "int", stripes.START, 0, 511)
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 2718, 0, 1_000_000)
TRIED = Field("tried", "float", None, 1.0, 1e12, low_open=True, optional=True)

LONGER = ChoiceQuestion("longer", "a", ((TRAIN_LEN, 8192), (STEPS, 1)))
MIDDLE = ChoiceQuestion("middle", "c", ((COMPARED, 1e6), (STEPS, 2)))
UNFINISHED = SketchQuestion("unfinished")
LEAST = Challenge("least", (TRIED,), challenges.check_slowest_pair_base)
TASKS = (LONGER, MIDDLE, UNFINISHED, LEAST)
LENGTH, SLACK = 32_768, 1.1
"""The challenge's length, and how many times too large a base may be."""

FIELDS = (STEPS, COMPARED, CONTEXT, PAIR, WIDTH, POSITION, *GEOMETRY)


def spectrum(page: PageFrame) -> None:
    """Draw all pairs over the positions, the same with a larger base, and which base fits which training."""
    bases = film_stops(BASE, page.get(COMPARED), 1e4, 1e7)
    lengths = film_stops(CONTEXT, page.get(CONTEXT))
    film = figures.frequency_film(
        page.store.rope(), figures.pair_stops(page.get(DIM), page.get(PAIR)), bases, lengths, page.t
    )
    page.show(
        film,
        figures.frequency_film,
        frequency_demo.cosine_stripes_and_contrast,
        frequency_demo.incomplete_pair_mask,
        ask=LONGER,
    )
    page.ask_prediction(MIDDLE)


def tasks(page: PageFrame) -> None:
    """Have the reader draw the number of pairs that never finish a turn, and find a base that is just large enough."""
    left, right = page.columns(1, 1)
    with left:
        film = drawn.unfinished_pairs_sketch(page.get(DIM), page.get(TRAIN_LEN), page.t)
        page.show(film, drawn.unfinished_pairs_sketch, frequency_demo.incomplete_pair_mask)
    with right:
        page.draw_challenge(LEAST, page.get(DIM), LENGTH, SLACK)


def base_choice(page: PageFrame) -> None:
    """Link to the base that a context needs."""
    page.draw_page_link("attention", open="base_bound")


def cycles(page: PageFrame) -> None:
    """Draw whether all pairs together come back."""
    page.show(
        spans.code_similarity_chart(page.store.rope(), page.t),
        spans.code_similarity_chart,
        frequency_demo.mean_cosine_by_distance,
    )


def digits(page: PageFrame) -> None:
    """Draw the position as a number in base beta."""
    page.controls.slider(WIDTH)
    film = numerals.position_digits_film(
        page.get(WIDTH), page.get(BASE), numerals.position_stops(page.get(POSITION)), page.t
    )
    page.show(film, numerals.position_digits_film, beta_digits, digit_phases)


def yours(page: PageFrame) -> None:
    """Draw the reader's own frequencies, graded."""
    page.draw_graded_exercise("spectrum")
    page.draw_graded_exercise(YARN)


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(spectrum)
    page.write_section("why")
    page.draw_live_part(tasks)
    page.draw_folded_section_below("base", base_choice)
    page.draw_folded_section_below("meaning", cycles)
    page.draw_folded_section_below("variation")
    page.draw_folded_section_below("digits", digits)
    page.draw_folded_section_below("yours", yours)
