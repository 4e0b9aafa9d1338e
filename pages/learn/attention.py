"""What rotation does to attention: decay, the base a context needs, interpolation's theorem, softmax against length."""

from rope_core.errors import ArgumentError
from rope_core.theory import attention, extension, interpolation
from rope_core.theory import limits as limits_core
from rope_core.theory import softmax as softmax_core
from ui.figures.attention import decay as film
from ui.figures.attention import expected as drawing_hand
from ui.figures.attention import limits as failing
from ui.figures.attention import scores as figures
from ui.figures.attention import softmax as temperature
from ui.page.fields import BASE, FACTOR, GEOMETRY, LEN_STEPS, SCHEME, SCHEME_FIELDS, stops
from ui.page.frame import Frame
from ui.page.sentences import show_refusals
from ui.page.state import Field
from ui.page.store import Store

VECTORS = Field("vectors", "choice", "equal", choices=figures.KINDS)
AT = Field("at", "int", 100, 1, 131_072, steps=tuple(figures.STOPS))
REACH = Field("reach", "int", 16_384, 64, 1_048_576, steps=tuple(stop for stop in LEN_STEPS if stop <= 1_048_576))
DRAW = Field("draw", "int", 0, 0, 99)
OWN_Q = Field("q", "text", "1, 0")
OWN_K = Field("k", "text", "1, 0")
CONTEXT = Field("context", "int", 4096, 64, 131_072, steps=tuple(stop for stop in LEN_STEPS if stop <= 131_072))
DRAWN = Field("drawn", "text", "")
SIGNAL = Field("signal", "float", 4.0, 0.0, 12.0, step=0.5)


def pairing(store: Store) -> figures.Pairing:
    """The query and key in force; raises ValueError on text that is no vector."""
    return figures.vectors(store.get(VECTORS), store.rope().dim, store.get(DRAW), store.get(OWN_Q), store.get(OWN_K))


def found(store: Store) -> tuple[list[extension.Extension], dict[str, ArgumentError], int]:
    """The schemes, the model's own included, at the factor in force, the refusals, and the extended length."""
    length = extension.reach(store.rope(), store.get(FACTOR))
    params = {name: store.params(name) for name in extension.compared(store.get(SCHEME))}
    return *extension.extensions(store.rope(), params, length), length


def fits(store: Store) -> None:
    """Refuse vectors that are none, and factors past the longest context."""
    pairing(store)
    found(store)


FIELDS = (VECTORS, AT, REACH, DRAW, OWN_Q, OWN_K, CONTEXT, DRAWN, SIGNAL, *GEOMETRY, *SCHEME_FIELDS)


def refuse(page: Frame, error: ValueError) -> None:
    """Say that values set on other pages leave nothing to draw here."""
    page.note(page.sentence("no_picture", {"error": error}), "warning")


def one_score(page: Frame) -> None:
    """One score over the distance, and the pairs that make it."""
    page.bar()
    page.controls.segments(VECTORS)
    if page.get(VECTORS) == "random":
        page.controls.slider(DRAW)
    if page.get(VECTORS) == "own":
        page.controls.beside(OWN_Q, OWN_K, draw=page.controls.text)
    try:
        vectors = pairing(page.store)
    except ValueError as error:
        refuse(page, error)
        return
    rope, kind, reach = page.store.rope(), page.get(VECTORS), page.get(REACH)
    bases, at = stops(BASE, page.get(BASE), film.LOW, film.HIGH), film.distances(page.get(AT), reach)
    page.show(film.decaying(rope, kind, vectors, reach, bases, at, page.t), film.decaying, attention.score_curve)
    page.controls.slider(REACH)
    page.prose("why")
    page.prose("bound")
    drawing = figures.bound(rope, kind, vectors, reach, page.t)
    page.show(drawing, figures.bound, attention.decay_bound, attention.score_bound)
    page.prose("pairs")
    page.show(
        figures.pairs(rope, vectors, page.get(AT), page.t),
        figures.pairs,
        attention.pair_contributions,
        attention.mean_turn,
    )


def families(page: Frame) -> None:
    """The same score for several bases, widths and schemes."""
    page.prose("bases")
    page.show(drawing_hand.expected(page.store.rope(), page.t), drawing_hand.expected, attention.score_curve)
    page.show(figures.bases(page.store.rope(), page.t), figures.bases, attention.first_negative)
    page.prose("widths")
    page.show(figures.widths(page.store.rope().base, page.t), figures.widths, attention.oscillation)
    page.prose("schemes")
    page.controls.slider(FACTOR)
    try:
        schemes, refused, length = found(page.store)
    except ValueError as error:
        refuse(page, error)
        return
    show_refusals(page, refused)
    page.show(figures.schemes(page.store.rope(), schemes, length, page.t), figures.schemes, attention.score_curve)


def base_bound(page: Frame) -> None:
    """The base that a context needs."""
    page.prose("base_bound")
    page.controls.slider(CONTEXT)
    drawing = figures.base_bound(page.store.rope(), page.get(CONTEXT), page.t)
    page.show(drawing, figures.base_bound, attention.served_contexts, attention.cosine_sums)


def limits(page: Frame) -> None:
    """How often order and locality fail, against base and length."""
    page.prose("limits")
    drawing = failing.limits(page.store.rope(), page.t)
    page.show(drawing, failing.limits, limits_core.order_failure, limits_core.locality_failure)
    page.prose("limits_paper")


def theorem(page: Frame) -> None:
    """Interpolation against extrapolation."""
    page.prose("theorem")
    drawing = temperature.theorem(page.store.rope(), page.t)
    page.show(
        drawing,
        temperature.theorem,
        interpolation.extrapolation_bound,
        interpolation.interpolation_bound,
        interpolation.compare_bounds,
    )


def softmax(page: Frame) -> None:
    """Sharpness against length, and what models multiply logits by."""
    page.prose("softmax")
    page.controls.slider(SIGNAL)
    trained = page.store.rope().train_len
    drawing = temperature.softmax(trained, page.get(SIGNAL), page.t)
    page.show(drawing, temperature.softmax, softmax_core.expected_attention, softmax_core.attention_over)
    page.prose("scales")
    page.show(
        temperature.scales(trained, page.t),
        temperature.scales,
        softmax_core.factor_scale,
        softmax_core.log_length_scale,
        softmax_core.floor_log_scale,
    )
    page.goto("ledger")


def body(page: Frame) -> None:
    """The page, part by part."""
    for part in (one_score, families, base_bound, limits, theorem, softmax):
        page.live(part)
