"""Position encodings compared: who breaks the tie, and whose scores are relative."""

from rope_core.lab import view
from rope_core.theory import challenges
from rope_core.theory.encodings import additive, compare
from ui.figures.encodings import additive as parts
from ui.figures.encodings import drawn, exchange, moved, swapping, terms
from ui.figures.encodings import scores as figures
from ui.figures.extrapolation import models as lab_figures
from ui.figures.extrapolation import words as lab_words
from ui.page.fields import GEOMETRY, beat_field, field_with_default
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion
from ui.text.words import PageTexts
from ui.work import extrapolated
from ui.work.session import IncompatibleValues

PAIR = Field("sentences", "choice", "", choices=("chinese", "english", "own"))
FIRST = Field("first", "text", "the dog chased the cat")
SECOND = Field("second", "text", "the cat chased the dog")
ENCODING = Field("encoding", "choice", "rope", choices=tuple(compare.ENCODINGS))
SHIFT = Field("shift", "int", 0, 0, 1000)
DELTA = Field("delta", "int", 5, 0, 64)
AT = Field("i", "int", 0, 0, 32)
CLAIM_IN_FILM = True
BEATS = beat_field(2)
ORDER = Field("order", "int", 0, 0, 1)
SWAPPED = Field("swapped", "float", 0.0, 0.0, 1.0)
QUERY = Field("query_at", "int", None, 0, 100_000, optional=True)
KEY = Field("key_at", "int", None, 0, 100_000, optional=True)
PLACES = 40, 33
"""Where the query and the key of the challenge stand."""
WITHOUT = ChoiceQuestion("without", "c", ((SWAPPED, 1.0),))
SHIFTED = ChoiceQuestion("shifted", "a", ((BEATS, 2), (SHIFT, moved.FAR)))
OFF = Field("off", "float", 0.0, 0.0, 1.0)
SAME = Challenge("same", (QUERY, KEY), challenges.check_same_distance)
ADDED = SketchQuestion("added")
TASKS = (WITHOUT, SHIFTED, ADDED, SAME)
FIELDS = (BEATS, ORDER, OFF, SWAPPED, PAIR, FIRST, SECOND, ENCODING, SHIFT, DELTA, AT, *GEOMETRY)


def pair(page: PageFrame) -> Field:
    """Return the choice of sentences, which begins with those in the reader's language."""
    return field_with_default(PAIR, page.t("reader"))


def sentences(page: PageFrame) -> figures.SentencePair:
    """Return the two sentences in force, as tokens."""
    kind = page.get(pair(page))
    if kind == "own":
        return figures.split_tokens(page.get(FIRST)), figures.split_tokens(page.get(SECOND))
    return figures.split_tokens(page.t(f"{kind}.first")), figures.split_tokens(page.t(f"{kind}.second"))


def fits(store: PageValues) -> None:
    """Refuse sentences that are no reordering of one another."""
    own = figures.split_tokens(store.get(FIRST)), figures.split_tokens(store.get(SECOND))
    if store.get(PAIR) == "own" and not figures.has_same_tokens(*own):
        raise IncompatibleValues("not_reordered")


def order(page: PageFrame) -> None:
    """Two words that change places, and what attention hands to a third."""
    film = exchange.word_exchange_film(page.store.rope().base, moved.shift_stops(page.get(SHIFT)), page.t)
    page.show(film, exchange.word_exchange_film, compare.attention_outputs, compare.encoding_logits, ask=WITHOUT)


def reordering(page: PageFrame) -> None:
    """Two sentences of the same tokens, one on its way to the other; after the question under a causal mask too."""
    page.controls.segments(pair(page))
    if page.get(PAIR) == "own":
        page.controls.beside(FIRST, SECOND, draw=page.controls.text)
    given = sentences(page), page.store.rope().base
    page.show(
        swapping.sentence_reordering_film(*given, False, page.t),
        swapping.sentence_reordering_film,
        compare.mean_attention_output,
    )
    if page.get(WITHOUT.field):
        page.show(
            swapping.sentence_reordering_film(*given, True, page.t),
            swapping.sentence_reordering_film,
            compare.mean_attention_output,
        )
        page.write_section("why")


def adding(page: PageFrame) -> None:
    """Draw a sentence that moves: what was added to its words shows where it is."""
    page.ask_prediction(SHIFTED)
    left, right = page.columns(1, 1)
    with left:
        film = drawn.added_score_sketch(sentences(page)[0], page.store.rope().base, page.t)
        page.show(film, drawn.added_score_sketch, compare.encoding_logits)
    with right:
        page.draw_challenge(SAME, *PLACES)


def turning(page: PageFrame) -> None:
    """Draw the linear map from one position to a later one, drawn as a rotation."""
    film = parts.sinusoidal_rotation_film(tuple(range(65)), tuple(range(33)), page.store.rope().base, page.t)
    page.show(
        film, parts.sinusoidal_rotation_film, additive.sinusoidal_shift_matrix, additive.sinusoidal_shift_residual
    )


def chooser(page: PageFrame) -> None:
    """One encoding: its formula and its scores."""
    page.controls.select(ENCODING)
    name, base = page.get(ENCODING), page.store.rope().base
    page.write_section(name)
    left, right = page.columns(1, 1)
    with left:
        page.show(
            figures.score_map_chart(name, base, page.get(SHIFT), page.t),
            figures.score_map_chart,
            compare.position_only_logits,
        )
    with right:
        page.show(
            figures.score_by_offset_chart(name, base, page.get(SHIFT), page.t),
            figures.score_by_offset_chart,
            compare.relative_residual,
        )


def crossing(page: PageFrame) -> None:
    """Draw the four terms of an additive encoding's score while the sentence moves."""
    film = terms.score_terms_film(page.store.rope().base, moved.shift_stops(page.get(SHIFT)), page.t)
    page.show(film, terms.score_terms_film, additive.additive_score_terms)
    page.draw_page_link("ledger", page.t("to_ledger"), entry="004-cross-not-relative")


def hessian(page: PageFrame) -> None:
    """Draw the Taylor expansion's second-order term, from a diagonal H to a general one."""
    page.show(terms.hessian_term_film(page.store.rope().base, page.t), terms.hessian_term_film, additive.hessian_term)
    page.draw_page_link("ledger", entry="004-hessian-general")


def measured(page: PageFrame) -> None:
    """Models that differ in their encoding alone, past the length that they were trained on."""
    lab = PageTexts(page.t.lang, "extrapolation")
    seen = extrapolated.shipped_results("encodings")
    if seen is None:
        page.note(lab("not_recorded"))
        page.code(extrapolated.measure_command("encodings"), "bash")
    else:
        page.show(
            lab_figures.encoding_perplexity_chart(seen, extrapolated.first_model_trained_length(seen), lab),
            lab_figures.encoding_perplexity_chart,
            view.read_cells,
        )
        page.caption(lab_words.results_provenance(seen, lab))
    page.draw_page_link("extrapolation")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(order)
    page.draw_live_part(reordering)
    page.draw_live_part(adding)
    page.draw_folded_section_below("shift_map", turning)
    page.draw_folded_section_below("chooser", chooser)
    page.draw_folded_section_below("measured", measured)
    page.draw_folded_section_below("crossing", crossing)
    page.draw_folded_section_below("hessian", hessian)
