"""The Transformer block around RoPE: every choice of it, drawn and switchable, and where the rotation sits."""

from rope_core.hf import catalogue
from rope_core.theory import challenges
from rope_core.theory.block import choices, demo, logit, norm
from rope_core.theory.block.cache import attention_output, decode_logits
from ui.figures.block import diagram as figures
from ui.figures.block import drawn as drifting
from ui.figures.block import key_cache, value_sum, vectors, word_vectors
from ui.figures.block import rotary as block_rope
from ui.page.fields import GEOMETRY, MODEL, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion
from ui.text.words import markdown_table

CLAIM_IN_FILM = True
ROWS = ("model", *(row.id for row in catalogue.architecture_rows()))
ROW = Field("row", "choice", "model", choices=ROWS)
NORM = Field("norm", "choice", "row", choices=("row", *choices.NORMS))
PLACE = Field("place", "choice", "row", choices=("row", *choices.PLACES))
ORDER = Field("order", "choice", "row", choices=("row", "serial", "parallel"))
UNIT = Field("unit", "choice", "row", choices=("row", *choices.UNITS))
POSITION = Field("position", "int", 100, 0, 100_000, steps=(0, 1, 10, 100, 1000, 10_000, 100_000))
MULTIPLIER = Field("multiplier", "float", 1.0, 0.5, 2.0, step=0.05)
LAYOUT = Field("layout", "choice", "interleaved", choices=("interleaved", "half"))
TIMES = Field("times", "float", 4.0, 1.0, 16.0, step=0.5)
RANK = Field("rank", "int", 512, 16, 1024, step=16)
START = Field("start", "int", 100, 0, 100_000, steps=(0, 1, 10, 100, 1000, 10_000, 100_000))
HEADS = Field("heads", "int", 128, 1, 128)

TOKEN = Field("token", "int", vectors.START, vectors.FIRST, vectors.LAST)
LATER = Field("later", "int", key_cache.FIRST_LATER, 1, key_cache.LATER)
MOVED = Field("moved", "int", value_sum.FIRST_FRONT, 0, value_sum.FRONT)
BEAT = beat_field(3)
LINE = Field("line", "int", None, 1, len(challenges.STEPS), optional=True)
TURNED = ChoiceQuestion("turned", "b", ((BEAT, 2), (LATER, key_cache.LATER)))
STALE = ChoiceQuestion("stale", "c", ((TIMES, 4.0),))
EXTRA = Challenge("extra", (LINE,), challenges.check_superfluous_step)
DRIFT = SketchQuestion("drift")
TASKS = (TURNED, DRIFT, STALE, EXTRA)
LAYER = """1  q, k, v = x @ W_q, x @ W_k, x @ W_v
2  q = rotate(q, position)
3  k = rotate(k, position)
4  v = rotate(v, position)
5  cache.append(k, v)
6  out = attention(q, cache)"""

FIELDS = (
    *(BEAT, TOKEN, LATER, MOVED, ROW, NORM, PLACE, ORDER, UNIT),
    *(POSITION, MULTIPLIER, LAYOUT, TIMES, RANK, HEADS, START),
    *GEOMETRY,
)


def row_name(page: PageFrame, choice: str) -> str:
    """How the menu names a row of the table; the model's own one by what it is."""
    row = figures.architecture_row_of_model(page.get(MODEL), choice)
    name = figures.architecture_row_name(row) if row else page.t("row.none")
    return page.t("row.model", row=name) if choice == "model" else name


def drawn(page: PageFrame) -> tuple[str, choices.BlockChoices | None, choices.BlockChoices]:
    """Return the name of what is drawn, what the table says of it, and the block with what was switched.

    A model is called by its own name: its row may be that of a sibling, as Llama 2's is of the 70B.
    """
    row = figures.architecture_row_of_model(page.get(MODEL), page.get(ROW))
    switched = figures.switched_block_choices(row, page.get(NORM), page.get(PLACE), page.get(ORDER), page.get(UNIT))
    other = row is not None and page.get(ROW) != ROW.default
    name = row_name(page, page.get(ROW)) if other else page.controls.model_name(page.get(MODEL))
    return name, choices.block_choices(row) if row else None, switched


def vectors_of_a_word(page: PageFrame) -> None:
    """Draw a word's query, key and value, stored keys with a later query, and the sum of values."""
    film = word_vectors.word_vectors_film(page.store.rope(), page.t)
    page.show(film, word_vectors.word_vectors_film, attention_output, ask=TURNED)


def parts(page: PageFrame) -> None:
    """Draw one layer, each choice of which can be switched."""
    page.write_section("switch")
    page.controls.select(ROW, lambda choice: row_name(page, choice))
    page.controls.beside(NORM, PLACE, draw=page.controls.select)
    page.controls.beside(ORDER, UNIT, draw=page.controls.select)
    page.show(
        figures.transformer_layer_film(*drawn(page), page.t), figures.transformer_layer_film, choices.block_choices
    )


def source_table(page: PageFrame) -> None:
    """Write what source 004 prints about the model, and what its own paper or code says."""
    row = figures.architecture_row_of_model(page.get(MODEL), page.get(ROW))
    if row is None:
        page.note(page.t("no_row", model=page.controls.model_name(page.get(MODEL))))
    else:
        page.write(markdown_table(figures.architecture_row_table(row, page.t)))
        for sentence in figures.correction_sentences(row, page.t):
            page.write(sentence)
    page.draw_page_link("models")


def ledger(page: PageFrame) -> None:
    """Draw the formulas of source 004."""
    page.draw_page_link("ledger")


def tasks(page: PageFrame) -> None:
    """Have the reader draw how far the output moves where v turns, and find the one line of six that is too many."""
    left, right = page.columns(1, 1)
    with left:
        page.show(
            drifting.output_change_sketch(page.store.rope(), page.t),
            drifting.output_change_sketch,
            demo.shifted_output_errors,
        )
    with right:
        page.code(LAYER, "python")
        page.draw_challenge(EXTRA, page.store.rope())


def commute(page: PageFrame) -> None:
    """Which norms may change places with RoPE."""
    page.controls.segments(LAYOUT)
    page.controls.beside(POSITION, MULTIPLIER)
    drawing = block_rope.norm_commutation_chart(
        page.store.rope(), page.get(POSITION), page.get(MULTIPLIER), page.get(LAYOUT), page.t
    )
    page.show(drawing, demo.norm_rotation_errors, norm.norm_rotation_error)


def cache(page: PageFrame) -> None:
    """Draw the cache of rotated keys."""
    if not page.ask_prediction(STALE):
        return
    page.controls.slider(TIMES)
    if block_rope.has_two_pairs(page.store.rope()):
        page.show(
            block_rope.stale_cache_logits_chart(page.store.rope(), page.get(TIMES), page.t),
            demo.stale_logits,
            decode_logits,
        )
    else:
        page.note(page.t("cache_none"))


def latent(page: PageFrame) -> None:
    """MLA's split."""
    page.controls.beside(RANK, HEADS, START)
    drawing = block_rope.mla_error_and_cache_chart(page.get(RANK), page.get(HEADS), page.get(START), page.t)
    page.show(drawing, demo.mla_absorption_errors, logit.mla_scores, logit.mla_cache_sizes)


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(vectors_of_a_word)
    page.draw_live_part(tasks)
    page.write_section("values")
    page.draw_live_part(parts)
    page.draw_folded_section_below("printed", source_table)
    page.draw_folded_section_below("undone")
    page.draw_folded_section_below("cache", cache)
    page.draw_folded_section_below("commute", commute)
    page.draw_folded_section_below("latent", latent)
    for section in ("norms", "stack", "parallel", "activations", "logits"):
        page.draw_folded_section_below(section)
    page.draw_folded_section_below("limits", ledger)
