"""The Transformer block around RoPE: every choice of it, drawn and switchable, and where the rotation sits."""

import streamlit as st

from rope_core.hf import catalogue
from rope_core.theory import block
from rope_core.theory.block import choices, demo
from ui.figures.block import diagram as figures
from ui.figures.block import norm as block_norm
from ui.figures.block import rotary as block_rope
from ui.figures.block import unit as block_unit
from ui.page.fields import DIM, MODEL
from ui.page.frame import Page
from ui.page.state import Field
from ui.text.words import markdown_table

ROWS = ("model", *(row.id for row in catalogue.architectures()))
ROW = Field("row", "choice", "model", choices=ROWS)
NORM = Field("norm", "choice", "row", choices=("row", *choices.NORMS))
PLACE = Field("place", "choice", "row", choices=("row", *choices.PLACES))
ORDER = Field("order", "choice", "row", choices=("row", "serial", "parallel"))
UNIT = Field("unit", "choice", "row", choices=("row", *choices.UNITS))
MEAN = Field("mean", "float", 2.0, -5.0, 5.0, step=0.25)
SIZE = Field("size", "float", 1.0, 0.25, 4.0, step=0.25)
FUSED = Field("fused", "bool", False)
STACKED = Field("stacked", "choice", "pre", choices=block.ARRANGEMENTS)
LAYERS = Field("layers", "int", 24, 2, 48, step=2)
DRAW = Field("draw", "int", 0, 0, 99)
WRITES = Field("writes", "float", 1.0, 0.01, 10.0, steps=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0))
CURVE = Field("curve", "choice", "silu", choices=block_unit.CURVES)
AT = Field("z", "float", -1.0, -4.0, 4.0, step=0.05)
GATE = Field("gate", "choice", "swiglu", choices=block_unit.UNITS)
VALUE = Field("value", "float", 2.0, -4.0, 4.0, step=0.25)
TRICK = Field("trick", "choice", "qk", choices=("qk", "cap", "z"))
SCALE = Field("scale", "float", 8.0, 0.25, 64.0, steps=(0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0))
CAP = Field("cap", "float", 50.0, 10.0, 150.0, step=5.0)
LOGIT = Field("logit", "float", 80.0, -200.0, 200.0, step=5.0)
SHIFT = Field("shift", "float", 30.0, -60.0, 60.0, step=1.0)
WEIGHT = Field("weight", "float", 1e-4, 0.0, 0.01, steps=(0.0, 1e-5, 1e-4, 1e-3, 1e-2))
POSITION = Field("position", "int", 100, 0, 100_000, steps=(0, 1, 10, 100, 1000, 10_000, 100_000))
MULTIPLIER = Field("multiplier", "float", 1.0, 0.5, 2.0, step=0.05)
LAYOUT = Field("layout", "choice", "interleaved", choices=("interleaved", "half"))
PAIR = Field("pair", "int", 4, 0, 511)
TIMES = Field("times", "float", 4.0, 1.0, 16.0, step=0.5)
RANK = Field("rank", "int", 512, 16, 1024, step=16)
START = Field("start", "int", 100, 0, 100_000, steps=(0, 1, 10, 100, 1000, 10_000, 100_000))
HEADS = Field("heads", "int", 128, 1, 128)

page = Page(
    "block",
    *(ROW, NORM, PLACE, ORDER, UNIT, MEAN, SIZE, FUSED, STACKED, LAYERS, DRAW, WRITES, CURVE, AT, GATE, VALUE),
    *(TRICK, SCALE, CAP, LOGIT, SHIFT, WEIGHT, POSITION, MULTIPLIER, LAYOUT, PAIR, TIMES, RANK, HEADS, START),
)
get, slide, menu = page.get, page.controls.slider, page.controls.select


def in_columns(*fields: Field) -> None:
    """The sliders of ``fields`` beside each other."""
    for column, field in zip(st.columns(len(fields)), fields, strict=True):
        with column:
            slide(field)


def row_name(choice: str) -> str:
    """How the menu names a row of the table."""
    return page.t("row.model") if choice == "model" else figures.row_name(catalogue.architecture(choice))


def whole() -> None:
    """The block of a model, each choice switchable, beside what the source prints about it."""
    page.bar()
    row = figures.row_of(get(MODEL), get(ROW))
    left, right = st.columns([3, 2])
    with right:
        menu(ROW, row_name)
        for pair in ((NORM, PLACE), (ORDER, UNIT)):
            for column, field in zip(st.columns(2), pair, strict=True):
                with column:
                    menu(field)
        if row is None:
            st.info(page.t("no_row", model=page.controls.model_name(get(MODEL))))
        else:
            st.markdown(markdown_table(figures.cells(row, page.t)))
            for sentence in figures.corrections(row, page.t):
                st.markdown(sentence)
    with left:
        made = figures.chosen(row, get(NORM), get(PLACE), get(ORDER), get(UNIT))
        name = figures.row_name(row) if row else page.controls.model_name(get(MODEL))
        told = choices.choices_of(row) if row else None
        page.show(figures.diagram(name, told, made, page.t), figures.diagram, choices.choices_of)
    page.goto("models")


def norms() -> None:
    """LayerNorm and RMSNorm: numbers."""
    page.prose("norms")
    in_columns(MEAN, SIZE)
    page.show(block_norm.norms(get(MEAN), get(SIZE), page.t), block.layer_norm, block.rms_norm)


def cost() -> None:
    """LayerNorm and RMSNorm: passes over memory."""
    page.prose("cost")
    page.controls.toggle(FUSED)
    page.show(block_norm.cost(get(FUSED), page.t), block.norm_cost)


def stack() -> None:
    """Where the norm stands, and the gradient of each layer."""
    page.prose("stack")
    page.controls.segments(STACKED, lambda choice: page.t(f"place.{choice}"))
    in_columns(LAYERS, DRAW)
    drawing = block_norm.stack(get(STACKED), get(LAYERS), get(DRAW), page.t)
    page.show(drawing, demo.stack_gradients, block.gradient_norms)


def parallel() -> None:
    """Serial and parallel sub-layers."""
    page.prose("parallel")
    slide(WRITES)
    drawing = block_norm.parallel(get(WRITES), page.t)
    page.show(drawing, demo.parallel_difference, block.serial_block, block.parallel_block)


def activations() -> None:
    """Activations and their derivatives."""
    page.prose("activations")
    page.controls.segments(CURVE, lambda choice: page.t(f"unit.{choice}"))
    slide(AT)
    page.show(block_unit.activations(get(CURVE), get(AT), page.t), block_unit.activations, block.activate)


def gates() -> None:
    """Gated units."""
    page.prose("gates")
    page.controls.segments(GATE, lambda choice: page.t(f"unit.{choice}"))
    slide(VALUE)
    page.show(block_unit.gates(get(GATE), get(VALUE), page.t), block.gated, block.gated_width)


def logits() -> None:
    """QK-norm, soft-capping and the z-loss."""
    page.prose("logits")
    page.controls.segments(TRICK)
    if get(TRICK) == "qk":
        slide(SCALE)
        page.show(block_unit.qk_norm(get(DIM), get(SCALE), page.t), block.qk_norm_logits, block.qk_norm_bound)
    elif get(TRICK) == "cap":
        in_columns(CAP, LOGIT)
        page.show(block_unit.capped(get(CAP), get(LOGIT), page.t), block.soft_cap)
    else:
        in_columns(SHIFT, WEIGHT)
        page.show(block_unit.z_loss(get(SHIFT), get(WEIGHT), page.t), demo.pulled_logits, block.z_loss)


def commute() -> None:
    """Which norms may change places with RoPE."""
    page.prose("commute")
    page.controls.segments(LAYOUT)
    in_columns(POSITION, MULTIPLIER)
    drawing = block_rope.commute(page.store.rope(), get(POSITION), get(MULTIPLIER), get(LAYOUT), page.t)
    page.show(drawing, demo.commuting, block.rotation_gap)


def values() -> None:
    """Why v is not rotated."""
    page.prose("values")
    slide(PAIR)
    drawing = block_rope.values(page.store.rope(), get(PAIR), page.t)
    page.show(drawing, demo.shifted_outputs, block.attention_output)


def cache() -> None:
    """The cache of rotated keys."""
    page.prose("cache")
    slide(TIMES)
    if block_rope.cacheable(page.store.rope()):
        page.show(block_rope.cache(page.store.rope(), get(TIMES), page.t), demo.stale_logits, block.decode_logits)
    else:
        st.info(page.t("cache_none"))


def latent() -> None:
    """MLA's split."""
    page.prose("latent")
    in_columns(RANK, HEADS, START)
    drawing = block_rope.latent(get(RANK), get(HEADS), get(START), page.t)
    page.show(drawing, demo.latent_attention, block.mla_scores, block.mla_cache)


page.live(whole)
page.prose("why")
for part in (commute, values, cache):
    page.live(part)
for part in (latent, norms, cost, stack, parallel, activations, gates):
    page.live(part, shared=False)
page.live(logits)
page.prose("limits")
page.goto("ledger")
