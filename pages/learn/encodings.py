"""Position encodings compared: who breaks the tie, whose scores are relative, digits and axes."""

import streamlit as st

from rope_core.lab import view
from rope_core.theory import encodings, extension
from ui.figures.encodings import additive as parts
from ui.figures.encodings import digits as digit_figures
from ui.figures.encodings import scores as figures
from ui.figures.extrapolation import models as lab_figures
from ui.figures.extrapolation import words as lab_words
from ui.page.fields import FACTOR
from ui.page.frame import Page
from ui.page.language import language
from ui.page.reasons import reason
from ui.page.state import Field
from ui.page.store import Store
from ui.text.words import Words
from ui.work import extrapolated

PAIR = Field("sentences", "choice", "chinese", choices=("chinese", "english", "own"))
FIRST = Field("first", "text", "the dog chased the cat")
SECOND = Field("second", "text", "the cat chased the dog")
ENCODING = Field("encoding", "choice", "rope", choices=tuple(encodings.ENCODINGS))
SHIFT = Field("shift", "int", 0, 0, 1000)
DELTA = Field("delta", "int", 5, 0, 64)
NOISE = Field("noise", "float", 0.2, 0.0, 1.0, step=0.05)
GAP = Field("gap", "float", 0.0, 0.0, 1.0, step=0.1)
NUMBER = Field("number", "int", 123_456, 0, 9_999_999)
BETA = Field("digit_base", "int", 10, 2, 16)
SECTIONS = (
    Field("sec_t", "int", 24, 1, 64),
    Field("sec_h", "int", 20, 1, 64),
    Field("sec_w", "int", 20, 1, 64),
)
VIDEO = (Field("frames", "int", 3, 1, 8), Field("height", "int", 3, 1, 8), Field("width", "int", 4, 1, 8))
ROW, COLUMN = Field("row", "int", 7, 0, 14), Field("column", "int", 7, 0, 14)


def sentences(store: Store) -> figures.Sentences:
    """The two sentences in force, as tokens."""
    kind = store.get(PAIR)
    if kind == "own":
        return figures.tokens(store.get(FIRST)), figures.tokens(store.get(SECOND))
    return figures.tokens(page.t(f"{kind}.first")), figures.tokens(page.t(f"{kind}.second"))


def stretched(store: Store) -> tuple[list[extension.Extension], dict[str, str]]:
    """The schemes that stretch by a factor alone, at that factor, and the refusals."""
    rope = store.rope()
    params = {name: store.params(name) for name in digit_figures.by_factor()}
    return extension.extensions(rope, params, extension.reach(rope, store.get(FACTOR)))


def fits(store: Store) -> None:
    """Refuse sentences that are no reordering of one another, and factors past the longest context."""
    own = figures.tokens(store.get(FIRST)), figures.tokens(store.get(SECOND))
    if store.get(PAIR) == "own" and not figures.reordered(*own):
        raise ValueError(Words(language(), "encodings")("not_reordered"))
    stretched(store)


OWN = (PAIR, FIRST, SECOND, ENCODING, SHIFT, DELTA, NOISE, GAP, NUMBER, BETA, *SECTIONS, *VIDEO, ROW, COLUMN)
page = Page("encodings", *OWN, scheme=True, fits=fits)
get, slide, t = page.get, page.controls.slider, page.t


def row(*fields: Field) -> None:
    """Sliders beside each other."""
    for column, field in zip(st.columns(len(fields)), fields, strict=True):
        with column:
            slide(field)


def order() -> None:
    """Two sentences of the same tokens, told apart or not."""
    page.bar()
    page.controls.segments(PAIR)
    if get(PAIR) == "own":
        for column, field in zip(st.columns(2), (FIRST, SECOND), strict=True):
            with column:
                page.controls.text(field)
    first, second = sentences(page.store)
    st.caption(t("same_set", first=figures.multiset(first, t), second=figures.multiset(second, t)))
    drawing = figures.order((first, second), page.store.rope().base, t)
    page.show(drawing, figures.order, encodings.order_gap, encodings.pooled)


def chooser() -> None:
    """One encoding: its formula, its scores, and what happens when the sentence moves."""
    page.prose("chooser")
    page.controls.select(ENCODING)
    slide(SHIFT)
    name, base = get(ENCODING), page.store.rope().base
    left, right = st.columns(2)
    with left:
        page.show(figures.score_map(name, base, get(SHIFT), t), figures.score_map, encodings.score_matrix)
    with right:
        page.show(figures.score_lines(name, base, get(SHIFT), t), figures.score_lines, encodings.relative_residual)
    page.prose(name)
    first = sentences(page.store)[0]
    page.show(
        figures.translation(name, first, base, get(SHIFT), t),
        figures.translation,
        encodings.translation_gap,
        encodings.logits,
    )


def shift_map() -> None:
    """The linear map from one position to a later one, drawn as a rotation."""
    page.prose("shift_map")
    slide(DELTA)
    drawing = parts.rotation(get(DELTA), page.store.rope().base, t)
    page.show(drawing, parts.rotation, encodings.shift_map, encodings.shift_residual)


def hessian() -> None:
    """The Taylor expansion's second-order term."""
    page.prose("hessian")
    row(NOISE, GAP)
    numbers = get(NOISE), get(GAP), page.store.rope().base
    left, right = st.columns(2)
    with left:
        page.show(parts.hessian_map(*numbers, t), parts.hessian_map, encodings.hessian_term)
    with right:
        page.show(parts.hessian_curve(*numbers, t), parts.hessian_curve, encodings.random_hessian)


def crossing() -> None:
    """The four terms of an additive encoding's score."""
    page.prose("crossing")
    drawing = parts.crossing(sentences(page.store)[0], page.store.rope().base, t)
    page.show(drawing, parts.crossing, encodings.cross_terms)
    page.goto("ledger", t("to_ledger"), entry="004-cross-not-relative")


def measured() -> None:
    """Models that differ in their encoding alone, past the length that they were trained on."""
    page.prose("measured")
    lab = Words(language(), "extrapolation")
    seen = extrapolated.seen_shipped("encodings")
    if seen is None:
        st.info(lab("not_recorded"))
        st.code(extrapolated.command("encodings"), language="bash", wrap_lines=True)
    else:
        page.show(lab_figures.encodings(seen, extrapolated.trained(seen), lab), lab_figures.encodings, view.cells)
        st.caption(lab_words.provenance(seen, lab))
    page.goto("extrapolation")


def digits() -> None:
    """A number in base beta, beside the cosines and sines of its position."""
    page.prose("digits")
    left, right = st.columns(2)
    with left:
        page.controls.number(NUMBER)
    with right:
        slide(BETA)
    drawing = digit_figures.digits(get(NUMBER), get(BETA), t)
    page.show(drawing, digit_figures.digits, encodings.beta_digits, encodings.digit_phases)


def stretching() -> None:
    """What extending the context does to the digits."""
    page.prose("stretching")
    slide(FACTOR)
    found, refused = stretched(page.store)
    for name, sentence in refused.items():
        st.caption(t("refused", scheme=t(f"scheme.{name}"), reason=reason(sentence, t)))
    drawing = digit_figures.stretched(page.store.rope(), get(FACTOR), found, t)
    page.show(drawing, digit_figures.stretched, encodings.extended_digits, encodings.changed_base)


def image() -> None:
    """Two axes: the score over an image."""
    page.prose("image")
    row(ROW, COLUMN)
    drawing = digit_figures.image(get(ROW), get(COLUMN), page.store.rope().base, t)
    page.show(drawing, digit_figures.image, encodings.axial_angles)


def sections() -> None:
    """Three axes: which pair follows which."""
    page.prose("sections")
    row(*SECTIONS)
    drawing = digit_figures.sections(tuple(map(get, SECTIONS)), t)
    page.show(drawing, digit_figures.sections, encodings.mrope_axes)


def video() -> None:
    """The three positions of text, a video, and the text after it."""
    page.prose("video")
    row(*VIDEO)
    page.show(digit_figures.video(*map(get, VIDEO), t), digit_figures.video, encodings.mrope_positions)


page.live(order)
page.prose("why")
for part in (chooser, shift_map, hessian, crossing):
    page.live(part)
page.live(measured, shared=False)
for part in (digits, stretching, image, sections, video):
    page.live(part)
