"""The clock analogy: every way to extend a context slows hands down, and they differ in which."""

from rope_core import schemes
from rope_core.theory import clock, extension
from ui.figures.clock import after as newest
from ui.figures.clock import dials as figures
from ui.figures.clock import reading
from ui.figures.clock import schemes as comparison
from ui.page import fields
from ui.page.fields import FACTOR, GEOMETRY, SCHEME, SCHEME_FIELDS, SEQ_LEN, stops
from ui.page.frame import Frame
from ui.page.sentences import show_refusals
from ui.page.state import Field
from ui.page.store import Store

AXIS = Field("axis", "choice", "log", choices=("log", "even"))
ERROR = Field("error", "float", 3.0, 0.5, 10.0, step=0.5)
DISTANCE = Field("distance", "float", 4.0, 0.0, 32.0, steps=figures.SPANS)
SLOWER = Field("slower", "float", 4.0, 1.0, 16.0, step=0.5)


def length_of(store: Store) -> int:
    """The length in use: the visitor's, else factor times the trained length."""
    given = store.get(SEQ_LEN)
    return extension.reach(store.rope(), store.get(FACTOR)) if given is None else given


def params_of(store: Store) -> dict[str, dict[str, object]]:
    """The parameters in force of every scheme on this page."""
    return {name: store.params(name) for name in extension.compared(store.get(SCHEME))}


def unmoved(store: Store, scheme: str) -> dict[str, object]:
    """The parameters in force of a scheme without the factor, which moves in the film."""
    return {name: value for name, value in store.params(scheme).items() if name != FACTOR.name}


fits = length_of
FIELDS = (DISTANCE, AXIS, ERROR, SLOWER, *GEOMETRY, *SCHEME_FIELDS)


def schemes_parameters(page: Frame) -> None:
    """The other parameters of the schemes shown, each once, when the visitor opens them."""
    with page.details(page.t("parameters"), "clock.parameters") as wanted:
        if wanted:
            page.controls.select(SCHEME, lambda name: page.t(f"scheme.{name}"))
            page.controls.number(SEQ_LEN)
            names = extension.compared(page.get(SCHEME))
            declared = {param.name: param for name in names for param in schemes.SCHEMES[name].params}
            for name, param in declared.items():
                if name in fields.PARAMS and name != FACTOR.name:
                    page.controls.param(param)


def hands(page: Frame) -> None:
    """Three schemes as dials, at a factor and a distance that are dragged."""
    page.bar()
    rope, names = page.store.rope(), extension.kinds(page.get(SCHEME))
    found, refused = extension.extensions(rope, {name: unmoved(page.store, name) for name in names}, page.get(SEQ_LEN))
    requests = tuple(each.request for each in found)
    factors = stops(FACTOR, page.get(FACTOR), high=DISTANCE.high)
    spans = stops(DISTANCE, page.get(DISTANCE))
    film = figures.dials(rope, requests, factors, spans, page.t)
    page.show(film, figures.dials, extension.past_training, extension.at_unseen_angle)
    show_refusals(page, refused)
    page.prose("ideas")
    page.goto("extrapolation", page.t("measured"))
    schemes_parameters(page)


def compared(page: Frame) -> None:
    """The same schemes as slow-downs, as numbers and as heatmaps."""
    rope, length = page.store.rope(), length_of(page.store)
    found, refused = extension.extensions(rope, params_of(page.store), length)
    page.prose("slowdowns")
    formulas = [schemes.SCHEMES[one.scheme].rescale for one in found]
    page.show(comparison.slowdowns(rope, found, page.t), comparison.slowdowns, *formulas)
    show_refusals(page, refused)
    page.write(comparison.summary(rope, found, length, page.t))
    page.prose("heatmaps")
    page.controls.segments(AXIS)
    drawing = comparison.heatmaps(rope, found, length, page.get(AXIS) == "log", page.t)
    page.show(drawing, comparison.heatmaps, extension.mean_cos, extension.unseen_pairs)


def after(page: Frame) -> None:
    """The schemes published after YaRN."""
    rope = page.store.rope()
    params = {name: page.store.params(name) for name in extension.newer()}
    found, refused = extension.extensions(rope, params, length_of(page.store))
    page.prose("after")
    page.show(newest.after(rope, found, page.t), newest.after, *[schemes.SCHEMES[n].rescale for n in params])
    show_refusals(page, refused)


def readers(page: Frame) -> None:
    """What a reader of the hands can tell apart, and source 003's number."""
    page.prose("reading")
    page.controls.beside(ERROR, SLOWER)
    page.show(
        reading.reading(page.get(ERROR), page.get(SLOWER), page.t),
        reading.reading,
        clock.Clock.finest,
        clock.Clock.shows,
    )
    page.prose("quoted")
    page.show(reading.quoted(page.get(ERROR), page.t), reading.quoted, clock.claims)


def body(page: Frame) -> None:
    """The page, part by part."""
    page.live(hands)
    page.live(compared)
    page.live(after)
    page.prose("why")
    page.prose("questions")
    page.live(readers, shared=False)
