"""A look inside the small model while it reads: where its heads look, what position gives them, and what breaks."""

from rope_core.lab import inside
from rope_core.lab.lines import scheme_lines
from rope_core.schemes import UNSCALED
from ui.figures.inside import change
from ui.figures.inside import reading as figures
from ui.page.fields import beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import ChoiceQuestion

CLAIM_IN_FILM = True
WEIGHTS = inside.rotary_model_names()
STEPS = beat_field(3)
LINES = {line.key: line.scheme for line in scheme_lines() if not line.sliding and line.times == 1}
TEXT = Field("text", "text", "for name in names: print(na", 2)
MODEL = Field("weights", "choice", WEIGHTS[0] if WEIGHTS else "", choices=WEIGHTS or ("",))
LAYER = Field("layer_no", "int", 4, 1, 4)
HEAD = Field("head_no", "int", 2, 1, 6)
QUERY = Field("query", "int", 20, 0, inside.MOST_BYTES)
KEY = Field("key", "int", 25, 0, inside.MOST_BYTES)
LINE = Field("line", "choice", UNSCALED, choices=tuple(LINES))
FACTOR = Field("stretch", "float", 8.0, 1.0, 64.0, steps=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0))
SHIFT = Field("shift", "int", 0, 0, 1000, step=100)
GAP = Field("gap", "int", 0, 0, 4096, steps=(0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096))
KIND = Field("kind", "choice", inside.KINDS[0], choices=inside.KINDS)
STILL = Field("still", "int", 3, 0, 16)
SLOWEST = ChoiceQuestion("slowest", "c", ((STEPS, 1), (STILL, 12)))
TASKS = (SLOWEST,)
FIELDS = (STEPS, TEXT, MODEL, LAYER, HEAD, QUERY, KEY, LINE, FACTOR, SHIFT, GAP, KIND, STILL)


def text_of(store: PageValues) -> bytes:
    """Return the bytes that are read: the visitor's first ones, one space where there is no text."""
    return inside.utf8_prefix(store.get(TEXT))


def positions_of(store: PageValues) -> inside.TracePositions:
    """Return where the bytes are: the visitor's scheme, shift, and gap in the middle."""
    middle = inside.second_half_start(text_of(store))
    return inside.TracePositions(store.get(LINE), store.get(FACTOR), store.get(SHIFT), store.get(GAP), middle)


def broken(page: PageFrame, text: bytes, positions: inside.TracePositions) -> None:
    """Pairs stopped and positions changed under the model."""
    film = change.stopped_pairs_film(page.get(MODEL), text, positions, page.get(KIND), page.t)
    page.show(film, change.stopped_pairs_film, inside.previous_byte_attention, inside.attention_change, ask=SLOWEST)
    page.write_section("break")
    page.controls.segments(KIND)
    page.controls.text(TEXT)
    places = page.columns(1, 1, 1, 1, level=True)
    with places[0]:
        page.controls.select(LINE, lambda line: page.t(f"scheme.{LINES[line]}"))
    for place, field in zip(places[1:], (FACTOR, SHIFT, GAP), strict=True):
        with place:
            page.controls.slider(field)


def looks(page: PageFrame, text: bytes, positions: inside.TracePositions) -> None:
    """One head reads the visitor's text, pair by pair."""
    given = page.get(MODEL), text, positions, page.get(LAYER), page.get(HEAD)
    page.write_section("looks")
    page.show(
        figures.head_attention_film(*given, page.t),
        figures.head_attention_film,
        inside.ForwardTrace.pair_score_shares,
        inside.trace_forward,
    )
    places = page.columns(1, 1, 1, level=True)
    with places[0]:
        page.controls.slider(LAYER)
    with places[1]:
        page.controls.slider(HEAD)
    with places[2]:
        page.controls.select(MODEL, str)
    page.draw_folded_section("pairs", lambda page: pairs(page, text, positions))
    page.draw_folded_section("sizes", lambda page: sizes(page, text, positions))


def pairs(page: PageFrame, text: bytes, positions: inside.TracePositions) -> None:
    """Draw the pairs of one query's score."""
    given = page.get(MODEL), text, positions, page.get(LAYER), page.get(HEAD)
    page.show(
        figures.pair_score_share_film(*given, page.get(QUERY), page.t),
        figures.pair_score_share_film,
        inside.ForwardTrace.pair_score_shares,
    )


def sizes(page: PageFrame, text: bytes, positions: inside.TracePositions) -> None:
    """Draw how large each pair of queries and keys is."""
    page.show(
        figures.pair_size_chart(page.get(MODEL), text, positions, page.t),
        figures.pair_size_chart,
        inside.ForwardTrace.relative_pair_sizes,
    )


def model(page: PageFrame) -> None:
    """Draw the model at work on the visitor's text; one part, because every figure follows the text."""
    if not WEIGHTS:
        page.note(page.t("no_weights"))
        return
    text, positions = text_of(page.store), positions_of(page.store)
    broken(page, text, positions)
    looks(page, text, positions)


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(model)
    page.draw_folded_section_below("questions")
    page.draw_page_link("extrapolation")
