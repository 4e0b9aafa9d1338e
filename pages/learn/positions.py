"""Which position is it: what decides the number by which RoPE turns a word, and what a wrong one does."""

import rope_core as rc
from rope_core.theory import challenges, position_demo
from rope_core.theory.encodings import rotary
from ui.figures.positions import axes, expected, fillers, moved_keys, packing, patches
from ui.figures.positions import which as figures
from ui.page.fields import GEOMETRY, beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion

CLAIM_IN_FILM = True
BEAT = beat_field(3)
FILLERS = Field("fillers", "int", fillers.START, 0, fillers.MOST)
CUT = Field("cut", "int", packing.FIRST_CUT, packing.CUTS[0], packing.CUTS[-1])
DROPPED = Field("dropped", "int", moved_keys.FIRST_DROPPED, 0, moved_keys.MOST)
PATCH = Field("patch", "int", 9, 0, patches.LAST)
SECTIONS = (
    Field("sec_t", "int", 24, 1, 64),
    Field("sec_h", "int", 20, 1, 64),
    Field("sec_w", "int", 20, 1, 64),
)
PLACE = Field("place", "int", None, 0, challenges.LAST_PLACE, optional=True)
COUNTED = ChoiceQuestion("counted", "b", ((BEAT, 1), (FILLERS, fillers.MOST)))
RENUMBERED = ChoiceQuestion("renumbered", "b", ((BEAT, 3), (DROPPED, 4)))
SLIPPED = SketchQuestion("slipped")
WRONG = Challenge("wrong", (PLACE,), challenges.check_wrong_position)
TASKS = (COUNTED, RENUMBERED, SLIPPED, WRONG)
FIELDS = (BEAT, FILLERS, CUT, DROPPED, PATCH, *SECTIONS, *GEOMETRY)
PACKED_ROW = """place     0   1   2   3  |  4   5   6   7   8   9  | 10
text      A   A   A   A  |  B   B   B   B   B   B  |  C
position  0   1   2   3  |  0   1   2   2   4   5  |  0"""
TOOLS = """rope positions batch.json --config config.json
rope cache config.json
rope verify --kernel mine.py:rotate"""
VERIFY = """import rope_core as rc
findings = rc.verify(model, config)
print(findings, findings.coverage_sentence())"""


def whole(page: PageFrame) -> None:
    """Draw fillers before a text, a row of two texts, and a cache that drops words."""
    film = figures.padding_and_packing_film(page.store.rope(), page.t)
    sources = position_demo.last_token_distances, position_demo.cached_key_distances_by_mode
    page.show(film, figures.padding_and_packing_film, position_demo.stored_and_new_positions, *sources, ask=COUNTED)
    page.ask_prediction(RENUMBERED)


def tasks(page: PageFrame) -> None:
    """Have the reader draw how the nearest word's score slips, and find a wrong position in a packed row."""
    left, right = page.columns(1, 1)
    with left:
        page.show(
            expected.renumbered_key_score_sketch(page.store.rope(), page.t),
            expected.renumbered_key_score_sketch,
            position_demo.cached_key_distances_by_mode,
        )
    with right:
        page.code(PACKED_ROW)
        page.draw_challenge(WRONG)


def tools(page: PageFrame) -> None:
    """Name the commands that check positions and caches."""
    page.code(TOOLS, "bash")
    page.code(VERIFY, "python")


def image(page: PageFrame) -> None:
    """Draw an image among words."""
    page.write_section("image")
    page.show(patches.image_text_film(page.t), patches.image_text_film, rc.multimodal_positions, rotary.mrope_axes)
    page.draw_page_link("models", open="axes")


def sections(page: PageFrame) -> None:
    """Three axes: which pair follows which."""
    page.controls.beside(*SECTIONS)
    drawing = axes.mrope_section_chart(tuple(map(page.get, SECTIONS)), page.t)
    page.show(drawing, axes.mrope_section_chart, rotary.mrope_axes)


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(whole)
    page.draw_live_part(tasks)
    page.draw_live_part(image)
    page.write_section("packed")
    page.draw_folded_section_below("padding")
    page.draw_folded_section_below("ranks")
    page.draw_folded_section_below("moving")
    page.draw_folded_section_below("pieces")
    page.draw_folded_section_below("sections", sections)
    page.draw_folded_section_below("video")
    page.draw_folded_section_below("threads")
    page.draw_folded_section_below("tools", tools)
