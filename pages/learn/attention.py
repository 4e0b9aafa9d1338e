"""What rotation does to attention: decay, the base a context needs, interpolation's theorem, softmax against length."""

from rope_core.errors import ArgumentError
from rope_core.schemes import UNSCALED
from rope_core.theory import attention, challenges, extension, interpolation
from rope_core.theory import limits as limits_core
from rope_core.theory import softmax as softmax_core
from ui.figures.attention import decay as film
from ui.figures.attention import expected as drawing_hand
from ui.figures.attention import limits as failing
from ui.figures.attention import scores as figures
from ui.figures.attention import softmax as temperature
from ui.figures.attention import spread
from ui.page.fields import BASE, FACTOR, GEOMETRY, LEN_STEPS, SCHEME, SCHEME_FIELDS, beats, stops
from ui.page.frame import Frame
from ui.page.sentences import show_refusals
from ui.page.state import Field
from ui.page.store import Store
from ui.page.tasks import Challenge, Drawn, Question

STEPS = beats(3)
KEYS = Field("keys", "int", None, 2, 2_147_483_647, optional=True)
VECTORS = Field("vectors", "choice", "equal", choices=figures.KINDS)
AT = Field("at", "int", 100, 1, 131_072, steps=tuple(figures.STOPS))
REACH = Field("reach", "int", 16_384, 64, 1_048_576, steps=tuple(stop for stop in LEN_STEPS if stop <= 1_048_576))
DRAW = Field("draw", "int", 0, 0, 99)
OWN_Q = Field("q", "text", "1, 0")
OWN_K = Field("k", "text", "1, 0")
CONTEXT = Field("context", "int", 4096, 64, 131_072, steps=tuple(stop for stop in LEN_STEPS if stop <= 131_072))
SIGNAL = Field("signal", "float", 4.0, 0.0, 12.0, step=0.5)


def pairing(store: Store) -> figures.Pairing:
    """Return the query and key in force; raises ValueError on text that is no vector."""
    return figures.vectors(store.get(VECTORS), store.rope().dim, store.get(DRAW), store.get(OWN_Q), store.get(OWN_K))


def extensions_of(store: Store) -> tuple[list[extension.Extension], dict[str, ArgumentError], int]:
    """Return the schemes, the model's own included, at the factor in force, the refusals, and the extended length."""
    length = extension.reach(store.rope(), store.get(FACTOR))
    params = {name: store.params(name) for name in (UNSCALED, *extension.kinds(store.get(SCHEME)))}
    return *extension.extensions(store.rope(), params, length), length


def fits(store: Store) -> None:
    """Refuse vectors that are none, and factors past the longest context."""
    pairing(store)
    extensions_of(store)


SERVES = Field("serves", "float", None, 2.0, 1e9, optional=True)
WIDTH, LENGTH, MOST = 128, 32_768, 1.7e6
"""A head's width, a context and the largest base that the challenge takes."""
FADE = Question("fade", "b", ((VECTORS, "random"), (DRAW, 5), (STEPS, 1)))
WEIGHT = Question("weight", "a", ((SIGNAL, 4.0),))
SERVE = Challenge("serve", (SERVES,), challenges.stays_positive)
DRAWN = Drawn("expected")
TASKS = (FADE, DRAWN, WEIGHT, SERVE)

FIELDS = (STEPS, KEYS, VECTORS, AT, REACH, DRAW, OWN_Q, OWN_K, CONTEXT, SIGNAL, *GEOMETRY, *SCHEME_FIELDS)


def refuse(page: Frame, error: ValueError) -> None:
    """Say that values set on other pages leave nothing to draw here."""
    page.note(page.sentence("no_picture", {"error": error}), "warning")


def one_score(page: Frame) -> None:
    """Draw one score over the distance and the base, and attention as the text grows."""
    try:
        vectors = pairing(page.store)
    except ValueError as error:
        refuse(page, error)
    else:
        rope, kind, reach = page.store.rope(), page.get(VECTORS), page.get(REACH)
        bases, at = stops(BASE, page.get(BASE), film.LOW, film.HIGH), film.distances(page.get(AT), reach)
        words = spread.lengths(rope.train_len, page.get(KEYS))
        drawing = film.decaying(rope, kind, vectors, reach, bases, at, words, page.t)
        page.show(drawing, film.decaying, attention.score_curve, softmax_core.expected_attention)
    page.bar()
    page.controls.segments(VECTORS)
    if page.get(VECTORS) == "random":
        page.controls.slider(DRAW)
    if page.get(VECTORS) == "own":
        page.controls.beside(OWN_Q, OWN_K, draw=page.controls.text)
    page.predict(FADE)
    page.symbols()


def larger_base(page: Frame) -> None:
    """Draw what a larger base makes of the curve, drawn by the reader, and the base that a context needs."""
    page.prose("bases")
    left, right = page.columns(1, 1)
    with left:
        page.show(drawing_hand.expected(page.store.rope(), page.t), drawing_hand.expected, attention.score_curve)
    with right:
        page.challenge(SERVE, WIDTH, LENGTH, MOST)


def softmax(page: Frame) -> None:
    """Sharpness against length."""
    page.prose("softmax")
    if not page.predict(WEIGHT):
        return
    page.controls.slider(SIGNAL)
    trained = page.store.rope().train_len
    drawing = temperature.softmax(trained, page.get(SIGNAL), page.t)
    page.show(drawing, temperature.softmax, softmax_core.expected_attention, softmax_core.attention_over)


def base_bound(page: Frame) -> None:
    """Draw the base that a context needs."""
    page.controls.slider(CONTEXT)
    drawing = figures.base_bound(page.store.rope(), page.get(CONTEXT), page.t)
    page.show(drawing, figures.base_bound, attention.served_contexts, attention.cosine_sums)


def bound(page: Frame) -> None:
    """RoFormer's bound beside the score."""
    page.controls.slider(REACH)
    drawing = figures.bound(page.store.rope(), page.get(VECTORS), pairing(page.store), page.get(REACH), page.t)
    page.show(drawing, figures.bound, attention.decay_bound, attention.score_bound)


def pairs(page: Frame) -> None:
    """Draw the pairs that make one score."""
    drawing = figures.pairs(page.store.rope(), pairing(page.store), page.get(AT), page.t)
    page.show(drawing, figures.pairs, attention.pair_contributions, attention.mean_turn)


def widths(page: Frame) -> None:
    """Draw the same score for several widths."""
    page.show(figures.widths(page.store.rope().base, page.t), figures.widths, attention.oscillation)


def schemes(page: Frame) -> None:
    """Draw the same score under several schemes."""
    page.controls.slider(FACTOR)
    try:
        extended, refused, length = extensions_of(page.store)
    except ValueError as error:
        refuse(page, error)
        return
    show_refusals(page, refused)
    page.show(figures.schemes(page.store.rope(), extended, length, page.t), figures.schemes, attention.score_curve)


def limits(page: Frame) -> None:
    """How often order and locality fail, against base and length."""
    drawing = failing.limits(page.store.rope(), page.t)
    page.show(drawing, failing.limits, limits_core.order_failure, limits_core.locality_failure)


def theorem(page: Frame) -> None:
    """Interpolation against extrapolation."""
    drawing = temperature.theorem(page.store.rope(), page.t)
    page.show(
        drawing,
        temperature.theorem,
        interpolation.extrapolation_bound,
        interpolation.interpolation_bound,
        interpolation.compare_bounds,
    )


def scales(page: Frame) -> None:
    """Draw what models multiply logits by."""
    page.show(
        temperature.scales(page.store.rope().train_len, page.t),
        temperature.scales,
        softmax_core.factor_scale,
        softmax_core.log_length_scale,
        softmax_core.floor_log_scale,
    )
    page.goto("ledger")


def body(page: Frame) -> None:
    """Draw the page, part by part."""
    page.live(one_score)
    page.live(larger_base)
    page.live(softmax)
    page.deeper("why")
    page.deeper("base_bound", base_bound)
    page.deeper("limits", limits)
    page.deeper("bound", bound)
    page.deeper("pairs", pairs)
    page.deeper("widths", widths)
    page.deeper("schemes", schemes)
    page.deeper("theorem", theorem)
    page.deeper("weight")
    page.deeper("scales", scales)
