"""The Transformer block around RoPE: every choice of it, drawn and switchable, and where the rotation sits."""

from rope_core.hf import catalogue
from rope_core.theory import block, challenges
from rope_core.theory.block import choices, demo
from ui.figures.block import diagram as figures
from ui.figures.block import drawn as drifting
from ui.figures.block import norm as block_norm
from ui.figures.block import rotary as block_rope
from ui.figures.block import unit as block_unit
from ui.figures.block import way
from ui.page.fields import DIM, GEOMETRY, MODEL, beats
from ui.page.frame import Frame
from ui.page.state import Field
from ui.page.tasks import Challenge, Drawn, Question
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

TOKEN = Field("token", "int", 1, 0, way.LAST)
LATER = Field("later", "int", 20, 1, way.LATER)
MOVED = Field("moved", "int", 5, 0, way.SHIFTS)
BEAT = beats(3)
LINE = Field("line", "int", None, 1, len(challenges.STEPS), optional=True)
TURNED = Question("turned", "b", ((BEAT, 2), (LATER, way.LATER)))
STALE = Question("stale", "c", ((TIMES, 4.0),))
EXTRA = Challenge("extra", (LINE,), challenges.extra_line)
DRIFT = Drawn("drift")
TASKS = (TURNED, DRIFT, STALE, EXTRA)
LAYER = """1  q, k, v = x @ W_q, x @ W_k, x @ W_v
2  q = rotate(q, position)
3  k = rotate(k, position)
4  v = rotate(v, position)
5  cache.append(k, v)
6  out = attention(q, cache)"""

FIELDS = (
    *(BEAT, TOKEN, LATER, MOVED, ROW, NORM, PLACE, ORDER, UNIT, MEAN, SIZE, FUSED, STACKED, LAYERS, DRAW, WRITES),
    *(CURVE, AT, GATE, VALUE),
    *(TRICK, SCALE, CAP, LOGIT, SHIFT, WEIGHT, POSITION, MULTIPLIER, LAYOUT, PAIR, TIMES, RANK, HEADS, START),
    *GEOMETRY,
)


def row_name(page: Frame, choice: str) -> str:
    """How the menu names a row of the table; the model's own one by what it is."""
    row = figures.row_of(page.get(MODEL), choice)
    name = figures.row_name(row) if row else page.t("row.none")
    return page.t("row.model", row=name) if choice == "model" else name


def drawn(page: Frame) -> tuple[str, choices.Choices | None, choices.Choices]:
    """Return the name of what is drawn, what the table says of it, and the block with what was switched.

    A model is called by its own name: its row may be that of a sibling, as Llama 2's is of the 70B.
    """
    row = figures.row_of(page.get(MODEL), page.get(ROW))
    switched = figures.chosen(row, page.get(NORM), page.get(PLACE), page.get(ORDER), page.get(UNIT))
    other = row is not None and page.get(ROW) != ROW.default
    name = row_name(page, page.get(ROW)) if other else page.controls.model_name(page.get(MODEL))
    return name, choices.choices_of(row) if row else None, switched


def whole(page: Frame) -> None:
    """Draw a word's query, key and value, the cache, and the block of a model."""
    film = figures.diagram(*drawn(page), page.store.rope(), page.t)
    page.show(film, figures.diagram, choices.choices_of, block.attention_output)
    page.bar()
    page.symbols()
    page.predict(TURNED)


def switches(page: Frame) -> None:
    """Each choice of the block, beside what the source prints about it."""
    page.controls.select(ROW, lambda choice: row_name(page, choice))
    page.controls.beside(NORM, PLACE, draw=page.controls.select)
    page.controls.beside(ORDER, UNIT, draw=page.controls.select)
    row = figures.row_of(page.get(MODEL), page.get(ROW))
    if row is None:
        page.note(page.t("no_row", model=page.controls.model_name(page.get(MODEL))))
    else:
        page.write(markdown_table(figures.cells(row, page.t)))
        for sentence in figures.corrections(row, page.t):
            page.write(sentence)
    page.goto("models")


def ledger(page: Frame) -> None:
    """Draw the formulas of source 004."""
    page.goto("ledger")


def tasks(page: Frame) -> None:
    """Have the reader draw how far the output moves where v turns, and find the one line of six that is too many."""
    left, right = page.columns(1, 1)
    with left:
        page.show(drifting.drift(page.store.rope(), page.t), drifting.drift, demo.output_drift)
    with right:
        page.code(LAYER, "python")
        page.challenge(EXTRA, page.store.rope())


def norms(page: Frame) -> None:
    """LayerNorm and RMSNorm: numbers."""
    page.controls.beside(MEAN, SIZE)
    page.show(block_norm.norms(page.get(MEAN), page.get(SIZE), page.t), block.layer_norm, block.rms_norm)


def cost(page: Frame) -> None:
    """LayerNorm and RMSNorm: passes over memory."""
    page.controls.toggle(FUSED)
    page.show(block_norm.cost(page.get(FUSED), page.t), block.norm_cost)


def stack(page: Frame) -> None:
    """Draw where the norm is, and the gradient of each layer."""
    page.controls.segments(STACKED, lambda choice: page.t(f"place.{choice}"))
    page.controls.beside(LAYERS, DRAW)
    drawing = block_norm.stack(page.get(STACKED), page.get(LAYERS), page.get(DRAW), page.t)
    page.show(drawing, demo.stack_gradients, block.gradient_norms)


def parallel(page: Frame) -> None:
    """Draw serial and parallel sub-layers."""
    page.controls.slider(WRITES)
    drawing = block_norm.parallel(page.get(WRITES), page.t)
    page.show(drawing, demo.parallel_difference, block.serial_block, block.parallel_block)


def activations(page: Frame) -> None:
    """Activations and their derivatives."""
    page.controls.segments(CURVE, lambda choice: page.t(f"unit.{choice}"))
    page.controls.slider(AT)
    page.show(block_unit.activations(page.get(CURVE), page.get(AT), page.t), block_unit.activations, block.activate)


def gates(page: Frame) -> None:
    """Gated units."""
    page.controls.segments(GATE, lambda choice: page.t(f"unit.{choice}"))
    page.controls.slider(VALUE)
    page.show(block_unit.gates(page.get(GATE), page.get(VALUE), page.t), block.gated, block.gated_width)


def logits(page: Frame) -> None:
    """QK-norm, soft-capping and the z-loss."""
    page.controls.segments(TRICK)
    if page.get(TRICK) == "qk":
        page.controls.slider(SCALE)
        page.show(block_unit.qk_norm(page.get(DIM), page.get(SCALE), page.t), block.qk_norm_logits, block.qk_norm_bound)
    elif page.get(TRICK) == "cap":
        page.controls.beside(CAP, LOGIT)
        page.show(block_unit.capped(page.get(CAP), page.get(LOGIT), page.t), block.soft_cap)
    else:
        page.controls.beside(SHIFT, WEIGHT)
        page.show(block_unit.z_loss(page.get(SHIFT), page.get(WEIGHT), page.t), demo.pulled_logits, block.z_loss)


def commute(page: Frame) -> None:
    """Which norms may change places with RoPE."""
    page.controls.segments(LAYOUT)
    page.controls.beside(POSITION, MULTIPLIER)
    drawing = block_rope.commute(page.store.rope(), page.get(POSITION), page.get(MULTIPLIER), page.get(LAYOUT), page.t)
    page.show(drawing, demo.commuting, block.rotation_gap)


def values(page: Frame) -> None:
    """Draw one pair of the output, with v as it is and with v rotated."""
    page.controls.slider(PAIR)
    drawing = block_rope.values(page.store.rope(), page.get(PAIR), page.t)
    page.show(drawing, demo.shifted_outputs, block.attention_output)


def cache(page: Frame) -> None:
    """Draw the cache of rotated keys."""
    if not page.predict(STALE):
        return
    page.controls.slider(TIMES)
    if block_rope.cacheable(page.store.rope()):
        page.show(block_rope.cache(page.store.rope(), page.get(TIMES), page.t), demo.stale_logits, block.decode_logits)
    else:
        page.note(page.t("cache_none"))


def latent(page: Frame) -> None:
    """MLA's split."""
    page.controls.beside(RANK, HEADS, START)
    drawing = block_rope.latent(page.get(RANK), page.get(HEADS), page.get(START), page.t)
    page.show(drawing, demo.latent_attention, block.mla_scores, block.mla_cache)


def body(page: Frame) -> None:
    """Draw the page, part by part."""
    page.live(whole)
    page.live(tasks)
    page.prose("values")
    page.deeper("undone", values)
    page.deeper("cache", cache)
    page.deeper("switch", switches)
    page.deeper("commute", commute)
    page.deeper("latent", latent)
    page.deeper("norms", norms)
    page.deeper("cost", cost)
    page.deeper("stack", stack)
    page.deeper("parallel", parallel)
    page.deeper("activations", activations)
    page.deeper("gates", gates)
    page.deeper("logits", logits)
    page.deeper("limits", ledger)
