"""What rotation does to attention: decay, the base a context needs, softmax against length."""

from rope_core.theory import attention, challenges
from rope_core.theory import limits as limits_core
from rope_core.theory import softmax as softmax_core
from ui.figures.attention import bases, spread
from ui.figures.attention import decay as film
from ui.figures.attention import expected as drawing_hand
from ui.figures.attention import limits as failing
from ui.figures.attention import scores as figures
from ui.figures.attention import softmax as temperature
from ui.page.fields import GEOMETRY, LEN_STEPS, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

CLAIM_IN_FILM = True
STEPS = beat_field(3)
KEYS = Field("keys", "int", None, 2, 2_147_483_647, optional=True)
VECTORS = Field("vectors", "choice", "equal", choices=figures.KINDS)
AT = Field("at", "int", 4, 1, 131_072, steps=tuple(figures.STOPS))
REACH = Field("reach", "int", 16_384, 64, 1_048_576, steps=tuple(stop for stop in LEN_STEPS if stop <= 1_048_576))
DRAW = Field("draw", "int", 0, 0, 99)
OWN_Q = Field("q", "text", "1, 0")
OWN_K = Field("k", "text", "1, 0")
CONTEXT = Field("context", "int", 4096, 64, 131_072, steps=tuple(stop for stop in LEN_STEPS if stop <= 131_072))
SIGNAL = Field("signal", "float", 4.0, 0.0, 12.0, step=0.5)


def pairing(store: PageValues) -> figures.QueryAndKey:
    """Return the query and key in force; raises ValueError on text that is no vector."""
    return figures.query_and_key(
        store.get(VECTORS), store.rope().dim, store.get(DRAW), store.get(OWN_Q), store.get(OWN_K)
    )


fits = pairing
SERVES = Field("serves", "float", None, 2.0, 1e9, optional=True)
WIDTH, LENGTH, MOST = 128, 32_768, 1.7e6
"""A head's width, a context and the largest base that the challenge takes."""
FADE = ChoiceQuestion("fade", "b", ((VECTORS, "random"), (DRAW, 5), (STEPS, 1)))
WEIGHT = ChoiceQuestion("weight", "a", ((SIGNAL, 4.0),))
SERVE = Challenge("serve", (SERVES,), challenges.check_positive_base)
DRAWN = SketchQuestion("expected")
TASKS = (FADE, DRAWN, WEIGHT, SERVE)

FIELDS = (STEPS, KEYS, VECTORS, AT, REACH, DRAW, OWN_Q, OWN_K, CONTEXT, SIGNAL, *GEOMETRY)


def refuse(page: PageFrame, error: ValueError) -> None:
    """Say that values set on other pages leave nothing to draw here."""
    page.note(page.filled_label("no_picture", {"error": error}), "warning")


def one_score(page: PageFrame) -> None:
    """Draw one score over the distance, four bases, and attention as the text grows."""
    try:
        vectors = pairing(page.store)
    except ValueError as error:
        refuse(page, error)
    else:
        rope, kind, reach = page.store.rope(), page.get(VECTORS), page.get(REACH)
        at, texts = film.distance_stops(page.get(AT), reach), bases.text_length_stops(page.get(CONTEXT))
        words = spread.text_length_stops(rope.train_len, page.get(KEYS))
        drawing = film.score_decay_film(rope, kind, vectors, reach, at, texts, words, page.t)
        page.show(
            drawing, film.score_decay_film, attention.score_curve, softmax_core.expected_entropy_and_weight, ask=FADE
        )
    page.controls.segments(VECTORS)
    if page.get(VECTORS) == "random":
        page.controls.slider(DRAW)
    if page.get(VECTORS) == "own":
        page.controls.beside(OWN_Q, OWN_K, draw=page.controls.text)


def larger_base(page: PageFrame) -> None:
    """Draw what a larger base makes of the curve, drawn by the reader, and the base that a context needs."""
    page.write_section("bases")
    left, right = page.columns(1, 1)
    with left:
        page.show(
            drawing_hand.score_at_larger_base_sketch(page.store.rope(), page.t),
            drawing_hand.score_at_larger_base_sketch,
            attention.score_curve,
        )
    with right:
        page.draw_challenge(SERVE, WIDTH, LENGTH, MOST)


def softmax(page: PageFrame) -> None:
    """Sharpness against length."""
    page.write_section("softmax")
    if not page.ask_prediction(WEIGHT):
        return
    page.controls.slider(SIGNAL)
    trained = page.store.rope().train_len
    drawing = temperature.attention_entropy_chart(trained, page.get(SIGNAL), page.t)
    page.show(
        drawing,
        temperature.attention_entropy_chart,
        softmax_core.expected_entropy_and_weight,
        softmax_core.random_attention_means,
    )


def base_bound(page: PageFrame) -> None:
    """Draw the base that a context needs."""
    page.controls.beside(CONTEXT, REACH)
    drawing = figures.base_bound_chart(page.store.rope(), page.get(CONTEXT), page.t)
    page.show(drawing, figures.base_bound_chart, attention.bases_and_served_contexts, attention.cosine_sums)


def limits(page: PageFrame) -> None:
    """How often order and locality fail, against base and length."""
    drawing = failing.failure_rate_chart(page.store.rope(), page.t)
    page.show(
        drawing,
        failing.failure_rate_chart,
        limits_core.order_failure_probability,
        limits_core.locality_failure_probability,
    )


def theorem(page: PageFrame) -> None:
    """Link to the claim of a bound that is 600 times smaller."""
    page.draw_page_link("ledger", entry="003-600")


def ledger(page: PageFrame) -> None:
    """Link to the formulas of the sources."""
    page.draw_page_link("ledger")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(one_score)
    page.draw_live_part(larger_base)
    page.draw_live_part(softmax)
    page.draw_folded_section_below("why")
    page.draw_folded_section_below("base_bound", base_bound)
    page.draw_folded_section_below("limits", limits)
    page.draw_folded_section_below("bound")
    page.draw_folded_section_below("theorem", theorem)
    page.draw_folded_section_below("weight")
    page.draw_folded_section_below("scales", ledger)
