"""The clock analogy: every way to extend a context slows hands down, and they differ in which."""

import streamlit as st

from rope_core import schemes
from rope_core.theory import clock, extension
from ui.figures.clock import hands as figures
from ui.figures.clock import schemes as comparison
from ui.page import fields
from ui.page.fields import FACTOR, SCHEME, SEQ_LEN
from ui.page.frame import Page
from ui.page.reasons import reason
from ui.page.state import Field
from ui.page.store import Store

AXIS = Field("axis", "choice", "log", choices=("log", "even"))
ERROR = Field("error", "float", 3.0, 0.5, 10.0, step=0.5)
SLOWER = Field("slower", "float", 4.0, 1.0, 16.0, step=0.5)


def length_of(store: Store) -> int:
    """The length in use: the visitor's, else factor times the trained length."""
    given = store.get(SEQ_LEN)
    return extension.reach(store.rope(), store.get(FACTOR)) if given is None else given


def params_of(store: Store) -> dict[str, dict[str, object]]:
    """The parameters in force of every scheme on this page."""
    return {name: store.params(name) for name in extension.compared(store.get(SCHEME))}


page = Page("clock", AXIS, ERROR, SLOWER, scheme=True, fits=length_of)
get, slide = page.get, page.controls.slider


def schemes_parameters() -> None:
    """The other parameters of the schemes shown, each once, when the visitor opens them."""
    with st.popover(page.t("parameters"), on_change="rerun", key="clock.parameters", width="stretch") as box:
        if box.open:
            page.controls.number(SEQ_LEN)
            names = extension.compared(get(SCHEME))
            declared = {param.name: param for name in names for param in schemes.SCHEMES[name].params}
            for name, param in declared.items():
                if name in fields.PARAMS and name != FACTOR.name:
                    page.controls.param(param)


def hands() -> None:
    """All schemes at one factor as clocks, and the controls."""
    page.bar()
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        slide(FACTOR)
    with right:
        schemes_parameters()
    slowed, refused = extension.clocks(
        clock.WALL, params_of(page.store), length_of(page.store), page.store.rope().train_len
    )
    page.show(figures.hands(slowed, get(FACTOR), page.t), figures.hands, extension.clocks, clock.Clock)
    say(refused)


def say(refused: dict[str, str]) -> None:
    """Why a scheme is not drawn."""
    for name, sentence in refused.items():
        st.caption(page.t("refused", scheme=page.t(f"scheme.{name}"), reason=reason(sentence, page.t)))


def compared() -> None:
    """The same schemes as slow-downs, as numbers and as heatmaps."""
    rope, length = page.store.rope(), length_of(page.store)
    found, refused = extension.extensions(rope, params_of(page.store), length)
    page.prose("slowdowns")
    formulas = [schemes.SCHEMES[one.scheme].rescale for one in found]
    page.show(comparison.slowdowns(rope, found, page.t), comparison.slowdowns, *formulas)
    say(refused)
    st.markdown(comparison.summary(rope, found, length, page.t))
    page.prose("heatmaps")
    page.controls.segments(AXIS)
    drawing = comparison.heatmaps(rope, found, length, get(AXIS) == "log", page.t)
    page.show(drawing, comparison.heatmaps, extension.mean_cos, extension.unseen_pairs)


def readers() -> None:
    """What a reader of the hands can tell apart, and source 003's number."""
    page.prose("reading")
    for column, field in zip(st.columns(2), (ERROR, SLOWER), strict=True):
        with column:
            slide(field)
    page.show(figures.reading(get(ERROR), get(SLOWER), page.t), figures.reading, clock.Clock.finest, clock.Clock.shows)
    page.prose("quoted")
    page.show(figures.quoted(get(ERROR), page.t), figures.quoted, clock.claims)


page.live(hands)
page.live(compared)
page.prose("why")
page.prose("questions")
page.live(readers, shared=False)
