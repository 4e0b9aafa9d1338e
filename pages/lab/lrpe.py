"""LRPE rotate opened up: activation, rotation, decoding, backward, and what linear attention does with the op."""

from rope_core import lrpe
from rope_core.lrpe import demo, explain, linear
from rope_core.theory import challenges
from ui.figures.lrpe import activation_order, cost, drawn, order, running_sum, turning
from ui.figures.lrpe import linear as lrpe_linear
from ui.figures.lrpe import op as figures
from ui.page.fields import BASE, GEOMETRY, beat_field, unrotated_dims_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

ACT = Field("act", "choice", "relu", choices=lrpe.ACTIVATIONS)
ALONG = Field("along", "choice", "head", choices=("head", "sequence"))
AXES = {"head": -1, "sequence": 1}
THETA = Field("theta", "choice", "geometric", choices=demo.KINDS)
OFFSET = Field("offset", "int", 16, 0, 4096)
WIDTH = Field("width", "int", 16, 4, 64, step=2, even=True)
FRONT = Field("front", "int", 0, 0, 62, step=2, even=True)
BEHIND = Field("behind", "int", 0, 0, 62, step=2, even=True)
HEAD = Field("head", "int", 0, 0, 3)
PLACE = Field("place", "int", activation_order.FIRST_PLACE, 0, activation_order.LAST)
LENGTH = Field("length", "int", cost.FIRST_LENGTH, 16, 16_384, steps=cost.LENGTHS)
CAT = Field("cat", "int", order.FIRST, order.FIRST, order.LAST, steps=(order.FIRST, order.LAST))
TOKEN = Field("token", "int", 0, 0, 11)
PAIR = Field("pair", "int", 2, 0, 31)
PHI = Field("phi", "choice", "1+elu", choices=explain.NON_NEGATIVE)


def case_of(store: PageValues, offset: int | None = None) -> demo.LrpeExample:
    """Return the call that the controls describe, at their own offset where none is given.

    Raises ValueError where their values do not go together.
    """
    act = store.get(ACT)
    dim = AXES[store.get(ALONG)] if act == "softmax" else None
    start = store.get(OFFSET) if offset is None else offset
    rest = (store.get(field) for field in (FRONT, BEHIND))
    return demo.LrpeExample(act, dim, store.get(THETA), store.rope().base, store.get(WIDTH), start, *rest)


CLAIM_IN_FILM = True
BEAT = beat_field(3)
STEP_OFFSET = Field("step_offset", "int", None, 0, 4096, optional=True)
PROMPT, STEP = 12, 3
"""A prompt's length, and the step of the decoding that the challenge asks for, the first being 1."""
ON = ChoiceQuestion("on", "b", ((BEAT, 1), (CAT, order.LAST)))
AFTER = ChoiceQuestion("after", "b", ((ACT, "sigmoid"), (OFFSET, 100)))
TOGETHER = ChoiceQuestion("together", "c", ((ACT, "softmax"), (ALONG, "sequence")))
DECODE = Challenge("decoding", (STEP_OFFSET,), challenges.check_decode_offset)
NEGATIVE = SketchQuestion("negative")
TASKS = (ON, AFTER, NEGATIVE, TOGETHER, DECODE)

fits = case_of
FIELDS = (BEAT, CAT, PLACE, LENGTH, ACT, ALONG, THETA, OFFSET, WIDTH, FRONT, BEHIND, HEAD, TOKEN, PAIR, PHI, *GEOMETRY)


def settings(page: PageFrame) -> None:
    """Draw the op's arguments: activation and its axis, theta, the pair shown, and behind a button the rotary slice."""
    act, theta, pair, rest = page.columns(1.1, 1.1, 1.2, 1.1, level=True)
    with act:
        page.controls.select(ACT)
    with theta:
        page.controls.select(THETA)
    with pair:
        page.controls.slider(PAIR)
    with rest, page.details(figures.rotary_slice_text(case_of(page.store), page.t), "lrpe.slice", lazy=False):
        page.controls.slider(HEAD)
        page.controls.slider(WIDTH)
        for field in (FRONT, BEHIND):
            page.controls.slider(unrotated_dims_field(field.name, page.get(WIDTH)))
    if page.get(ACT) == "softmax":
        page.controls.segments(ALONG)


def first_picture(page: PageFrame) -> None:
    """Draw how a sum keeps the order of words, why the activation comes first, and what a running sum saves."""
    film = running_sum.running_sum_film(page.store.rope().dim, cost.length_stops(page.get(LENGTH)), page.t)
    page.show(film, running_sum.running_sum_film, lrpe.lrpe_rotate, linear.multiplication_counts, ask=ON)


def the_op(page: PageFrame) -> None:
    """Draw the op forward, with its arguments."""
    page.write_section("forward")
    page.ask_prediction(AFTER)
    settings(page)
    marked = page.get(HEAD), page.get(PAIR), turning.offset_stops(page.get(OFFSET))
    film = turning.lrpe_stages_film(case_of(page.store, 0), *marked, page.t)
    page.show(film, turning.lrpe_stages_film, lrpe.lrpe_rotate, explain.forward_stages)


def tasks(page: PageFrame) -> None:
    """Have the reader draw how many numbers the turn makes negative, and the offset of a decoding step."""
    left, right = page.columns(1, 1)
    with left:
        page.show(
            drawn.negative_share_sketch(page.get(WIDTH), page.get(BASE), page.t),
            drawn.negative_share_sketch,
            demo.negative_output_share,
        )
    with right:
        page.write_section("decode")
        page.draw_challenge(DECODE, page.get(OFFSET), PROMPT, STEP)


def decode(page: PageFrame) -> None:
    """Draw the op token by token."""
    if not page.ask_prediction(TOGETHER):
        return
    case, head = case_of(page.store), page.get(HEAD)
    page.show(figures.decoding_chart(case, head, page.t), figures.decoding_chart, explain.compare_decoding)


def shapes(page: PageFrame) -> None:
    """Draw theta in the shape that it comes in."""
    page.show(
        figures.head_frequency_chart(case_of(page.store), page.get(HEAD), page.t),
        figures.head_frequency_chart,
        explain.sample_theta,
    )


def backward(page: PageFrame) -> None:
    """Draw the backward, step by step."""
    if not explain.has_torch():
        page.note(page.t("needs_torch"))
        return
    marked = page.get(HEAD), page.get(TOKEN), page.get(PAIR)
    page.show(
        figures.backward_pass_chart(case_of(page.store), *marked, page.t),
        figures.backward_pass_chart,
        demo.backward_steps,
        lrpe.lrpe_rotate_backward,
        explain.compare_backward,
    )


def slips(page: PageFrame) -> None:
    """Link to what document 001 prints wrong, with what holds."""
    page.draw_page_link("ledger", open="errata", errata="001")


def linear_attention(page: PageFrame) -> None:
    """Non-negative features, turned: scores and their decay."""
    page.controls.segments(PHI)
    numbers = page.store.rope(), page.get(PHI), page.t
    page.show(
        lrpe_linear.linear_attention_chart(*numbers),
        lrpe_linear.linear_attention_chart,
        linear.linear_attention,
        explain.linear_scores,
    )


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(first_picture)
    page.draw_live_part(the_op)
    page.write_section("why")
    page.draw_live_part(tasks)
    page.draw_folded_section_below("strip", decode)
    page.draw_folded_section_below("op")
    page.draw_folded_section_below("matrix", shapes)
    page.draw_folded_section_below("backward", backward)
    page.draw_folded_section_below("linear", linear_attention)
    page.draw_folded_section_below("errata", slips)
